"""Which values of variables are still needed: backward data flow over structured programs.

One walk backward keeps the set of names whose value may be read later. At a loop's head that set is what is
needed after the loop, what its body reads before it assigns it (`exposed`, computed once a loop, inner
loops first), and what is needed where a statement inside leaves to. That is exact for structured loops, so
nothing is iterated.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.hls import ir
from pipelines.hls.transforms.copying import Body, leaves_outward
from pipelines.hls.transforms.counting import exact_trips


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
    """The walk; `after` gets, by `id` of each condition, loop and block, the names it may change that are
    needed after it. The statements must stay alive as long as the ids are used."""

    record: bool = True
    after: dict[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])
    labels: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    exposed_by_loop: dict[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])

    def body(self, body: Body, live: set[str]) -> None:
        """Turn the names needed after a body into those needed before it."""
        for statement in reversed(body):
            self.statement(statement, live)

    def statement(self, statement: ir.Statement, live: set[str]) -> None:
        """The same for one statement."""
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
        """The same for a loop, its body walked once."""
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
        """Names of the variables an iteration reads before it assigns them, the loop's own included."""
        if id(loop) not in self.exposed_by_loop:
            inner = Liveness(record=False, exposed_by_loop=self.exposed_by_loop)
            needed: set[str] = set()
            if isinstance(loop, ir.While):
                add_reads(loop.condition, needed)
            inner.body(loop.body, needed)
            self.exposed_by_loop[id(loop)] = frozenset(needed)
        return self.exposed_by_loop[id(loop)]


def live_after(function: ir.Function) -> Liveness:
    """The walk over a whole function, done."""
    walk = Liveness()
    walk.body(function.body, set())
    return walk


def exposed_reads(body: Body) -> frozenset[str]:
    """Names of the variables a body may read before it assigns them."""
    needed: set[str] = set()
    Liveness(record=False).body(body, needed)
    return frozenset(needed)


def private_variables(walk: Liveness, loop: ir.For | ir.While) -> frozenset[str]:
    """Variables of a loop's body that carry nothing from one iteration to another or out of the loop.

    Args:    walk: over the function that the loop, this very object, is in.
    """
    kept = walk.exposed(loop) | walk.after[id(loop)]
    for label in leaves_outward(loop.body):
        kept |= walk.labels[label]
    return ir.assigned_variables(loop.body) - kept
