"""Liveness of variables, and removal of assignments, array elements and statements without effect.

One backward pass keeps the set of names whose value may be read later. At a loop's head that set is what is
needed after the loop, what its body reads before assigning it (`exposed`, computed once per loop, inner loops
first), and what is needed where a statement inside leaves to. This is exact for structured loops, so no fixed
point is needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.analysis.copying import Body, leaves_outward
from pipelines.c.analysis.counting import exact_trips


def add_reads(expression: ir.Expression, names: set[str]) -> None:
    """Add the names of the variables an expression reads."""
    match expression:
        case ir.Read():
            names.add(expression.variable.name)
        case ir.Constant():
            pass
        case ir.Binary():
            add_reads(expression.left, names)
            add_reads(expression.right, names)
        case _:
            for child in ir.child_expressions(expression):
                add_reads(child, names)


@dataclass(slots=True)
class Liveness:
    """The backward pass.

    Attributes:
        after: by `id` of each condition, loop and block, the names it may change that are needed after
            it. Keep the statements alive while the ids are used.
    """

    record: bool = True
    after: dict[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])
    labels: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    exposed_by_loop: dict[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])

    def body(self, body: Body, live: set[str]) -> None:
        """Turn the names needed after a body into those needed before it."""
        for statement in reversed(body):
            self.statement(statement, live)

    def statement(self, statement: ir.Statement, live: set[str]) -> None:
        """Turn the names needed after a statement into those needed before it."""
        if self.record and isinstance(statement, ir.If | ir.For | ir.While | ir.Block):
            self.after[id(statement)] = frozenset(live & ir.assigned_variables((statement,)))
        match statement:
            case ir.Assign():
                live.discard(statement.variable.name)
                add_reads(statement.value, live)
            case ir.Store():
                for expression in ir.statement_expressions(statement):
                    add_reads(expression, live)
            case ir.If():
                other = set(live)
                self.body(statement.then, live)
                self.body(statement.otherwise, other)
                live |= other
                add_reads(statement.condition, live)
            case ir.Block():
                self.labels[statement.label] = frozenset(live)
                self.body(statement.body, live)
            case ir.Leave():
                live.clear()
                live |= self.labels.get(statement.label, frozenset())
            case ir.For() | ir.While():
                self.loop(statement, live)
            case ir.Return():
                live.clear()
                if statement.value is not None:
                    add_reads(statement.value, live)

    def loop(self, loop: ir.For | ir.While, live: set[str]) -> None:
        """Turn the names needed after a loop into those needed before it; its body is visited once."""
        live |= self.exposed(loop)
        for label in leaves_outward(loop.body):
            live |= self.labels.get(label, frozenset())
        if isinstance(loop, ir.While):
            add_reads(loop.condition, live)
            runs = not loop.test_first
        else:
            add_reads(loop.upper, live)
            live.add(loop.variable.name)
            runs = bool(exact_trips(loop))
        if runs or self.record:
            inner = set(live)
            self.body(loop.body, inner)
            if runs:
                live.clear()
                live |= inner
        if isinstance(loop, ir.For):
            add_reads(loop.upper, live)
            live.discard(loop.variable.name)
            add_reads(loop.lower, live)

    def exposed(self, loop: ir.For | ir.While) -> frozenset[str]:
        """Return the names of variables that an iteration reads before it assigns them, its own included."""
        if id(loop) not in self.exposed_by_loop:
            inner = Liveness(record=False, exposed_by_loop=self.exposed_by_loop)
            needed: set[str] = set()
            if isinstance(loop, ir.While):
                add_reads(loop.condition, needed)
            inner.body(loop.body, needed)
            self.exposed_by_loop[id(loop)] = frozenset(needed)
        return self.exposed_by_loop[id(loop)]


def live_after(function: ir.Function) -> Liveness:
    """Return the finished pass over a whole function."""
    liveness = Liveness()
    liveness.body(function.body, set())
    return liveness


def exposed_reads(body: Body) -> frozenset[str]:
    """Return the names of the variables that a body may read before it assigns them."""
    needed: set[str] = set()
    Liveness(record=False).body(body, needed)
    return frozenset(needed)


def private_variables(liveness: Liveness, loop: ir.For | ir.While) -> frozenset[str]:
    """Return the variables of a loop's body that carry no value to another iteration or out of the loop.

    Args:    liveness: of the function that contains this loop object.
    """
    kept = liveness.exposed(loop) | liveness.after[id(loop)]
    for label in leaves_outward(loop.body):
        kept |= liveness.labels[label]
    return ir.assigned_variables(loop.body) - kept


@dataclass(slots=True)
class _Sweeper:
    liveness: Liveness = field(default_factory=lambda: Liveness(record=False))

    def body(self, body: Body, live: set[str]) -> Body:
        """Return body without dead assignments; `live` changes from names needed after it to those before."""
        kept: list[ir.Statement] = []
        for statement in reversed(body):
            if isinstance(statement, ir.Assign) and statement.variable.name not in live:
                continue
            kept.append(self.statement(statement, live))
        if len(kept) == len(body) and all(a is b for a, b in zip(kept, reversed(body), strict=True)):
            return body
        return tuple(reversed(kept))

    def statement(self, statement: ir.Statement, live: set[str]) -> ir.Statement:
        match statement:
            case ir.If():
                other = set(live)
                bodies = (self.body(statement.then, live), self.body(statement.otherwise, other))
                live |= other
                add_reads(statement.condition, live)
            case ir.Block():
                self.liveness.labels[statement.label] = frozenset(live)
                bodies = (self.body(statement.body, live),)
            case ir.For() | ir.While():
                inner = self.needed_in(statement, live)
                self.liveness.statement(statement, live)
                bodies = (self.body(statement.body, inner),)
            case _:
                self.liveness.statement(statement, live)
                return statement
        if all(a is b for a, b in zip(bodies, ir.child_bodies(statement), strict=True)):
            return statement
        return ir.with_bodies(statement, bodies)

    def needed_in(self, loop: ir.For | ir.While, live: set[str]) -> set[str]:
        """Return the names needed at the end of a loop's body."""
        inner = live | self.liveness.exposed(loop)
        for label in leaves_outward(loop.body):
            inner |= self.liveness.labels.get(label, frozenset())
        if isinstance(loop, ir.For):
            inner.add(loop.variable.name)
            add_reads(loop.upper, inner)
        else:
            add_reads(loop.condition, inner)
        return inner


def remove_dead_values(function: ir.Function) -> ir.Function:
    """Remove assignments that no read sees.

    Returns: an equivalent function, the same object when there is nothing to remove.
    """
    body = _Sweeper().body(function.body, set())
    return function if body is function.body else replace(function, body=body)


def remove_unneeded(function: ir.Function) -> ir.Function:
    """Remove assignments, stores to local arrays, empty conditions and loops that have no effect.

    Operands of stores to external arrays, of conditions, bounds and the result are needed; then everything
    that is assigned to a needed variable or stored to a needed local array. The order of statements does not
    matter, so a variable that only feeds itself is removed, too.

    Returns: an equivalent function; local arrays without any access are no longer among its arrays.
    """
    while True:
        needed = _needed(function)
        body = _swept(function.body, needed)
        emptied = body is not function.body and any(
            isinstance(s, ir.For) and not s.body for s in ir.walk_statements(body)
        )
        function = replace(function, body=body)
        if not emptied:
            break
    return replace(function, arrays=tuple(a for a in function.arrays if a.external or a.name in needed))


@dataclass(slots=True)
class _Marker:
    """Sources of each variable and local array, and which of them are needed."""

    external: frozenset[str]
    sources: defaultdict[str, list[ir.Expression]] = field(
        default_factory=lambda: defaultdict[str, list[ir.Expression]](list)
    )
    needed: set[str] = field(default_factory=set[str])
    pending: list[str] = field(default_factory=list[str])

    def need(self, expression: ir.Expression) -> None:
        match expression:
            case ir.Constant():
                pass
            case ir.Read():
                self.need_name(expression.variable.name)
            case ir.Binary():
                self.need(expression.left)
                self.need(expression.right)
            case _:
                if isinstance(expression, ir.Load):
                    self.need_name(expression.array.name)
                for child in ir.child_expressions(expression):
                    self.need(child)

    def need_name(self, name: str) -> None:
        if name not in self.needed:
            self.needed.add(name)
            self.pending.append(name)

    def statement(self, statement: ir.Statement) -> None:
        """Record the sources of a statement's result, or mark what it always needs."""
        expressions = ir.statement_expressions(statement)
        match statement:
            case ir.Assign():
                self.sources[statement.variable.name] += expressions
            case ir.Store() if statement.array.name not in self.external:
                self.sources[statement.array.name] += expressions
            case ir.For() if not statement.body:
                self.sources[statement.variable.name] += expressions
            case ir.For():
                self.need_name(statement.variable.name)
                self.need_all(expressions)
            case _:
                self.need_all(expressions)

    def need_all(self, expressions: tuple[ir.Expression, ...]) -> None:
        for expression in expressions:
            self.need(expression)


def _needed(function: ir.Function) -> set[str]:
    """Return the names of the variables and arrays whose values have an effect."""
    external = frozenset(a.name for a in function.arrays if a.external)
    marker = _Marker(external=external)
    for statement in ir.walk_statements(function.body):
        marker.statement(statement)
    while marker.pending:
        marker.need_all(tuple(marker.sources[marker.pending.pop()]))
    return marker.needed | external


def _swept(body: Body, needed: set[str]) -> Body:
    """Return the body without unneeded statements; the same object when all are needed."""
    kept: list[ir.Statement] = []
    for statement in body:
        kept.extend(_needed_statements(statement, needed))
    if len(kept) == len(body) and all(a is b for a, b in zip(kept, body, strict=True)):
        return body
    return tuple(kept)


def _needed_statements(statement: ir.Statement, needed: set[str]) -> Iterator[ir.Statement]:
    match statement:
        case ir.Assign():
            if statement.variable.name in needed:
                yield statement
        case ir.Store():
            if statement.array.name in needed:
                yield statement
        case ir.If() | ir.Block() | ir.For() | ir.While():
            old = ir.child_bodies(statement)
            bodies = tuple(_swept(b, needed) for b in old)
            counts = isinstance(statement, ir.For) and statement.variable.name in needed
            if any(bodies) or counts or isinstance(statement, ir.While):
                same = all(a is b for a, b in zip(bodies, old, strict=True))
                yield statement if same else ir.with_bodies(statement, bodies)
        case _:
            yield statement
