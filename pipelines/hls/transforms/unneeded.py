"""Removal of what nobody needs: values of variables, elements of local arrays, empty statements.

Needed are the operands of stores to external arrays, of conditions, bounds and the result; then whatever
is assigned to a needed variable or stored to a needed local array. The order of statements plays no part,
so that a variable that only ever feeds itself goes, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pipelines.hls import ir
from pipelines.hls.transforms.copying import Body


def remove_unneeded(function: ir.Function) -> ir.Function:
    """Remove assignments, stores to local arrays, empty conditions and loops that have no effect.

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
    """What each variable and local array is made from, and which are needed."""

    external: frozenset[str]
    sources: defaultdict[str, list[ir.Expression]] = field(
        default_factory=lambda: defaultdict[str, list[ir.Expression]](list)
    )
    needed: set[str] = field(default_factory=set[str])
    pending: list[str] = field(default_factory=list[str])

    def need(self, expression: ir.Expression) -> None:
        """Mark everything an expression reads."""
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
        """Note what a statement makes, or mark what it needs in any case."""
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
    """Names of the variables and arrays whose values have an effect."""
    external = frozenset(a.name for a in function.arrays if a.external)
    marker = _Marker(external=external)
    for statement in ir.walk_statements(function.body):
        marker.statement(statement)
    while marker.pending:
        marker.need_all(tuple(marker.sources[marker.pending.pop()]))
    return marker.needed | external


def _swept(body: Body, needed: set[str]) -> Body:
    """The body without what is not needed; the very same one when all is."""
    found: list[ir.Statement] = []
    for statement in body:
        found.extend(_kept(statement, needed))
    if len(found) == len(body) and all(a is b for a, b in zip(found, body, strict=True)):
        return body
    return tuple(found)


def _kept(statement: ir.Statement, needed: set[str]) -> Iterator[ir.Statement]:
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
