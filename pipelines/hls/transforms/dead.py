"""Removal of assignments whose value is never read before the variable is assigned again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pipelines.hls import ir
from pipelines.hls.transforms.copying import Body, leaves_outward
from pipelines.hls.transforms.liveness import Liveness, add_reads


@dataclass(slots=True)
class _Sweeper:
    walk: Liveness = field(default_factory=lambda: Liveness(record=False))

    def body(self, body: Body, live: set[str]) -> Body:
        """The body without dead assignments; `live` turns from what is needed after it to before it."""
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
                self.walk.labels[statement.label] = frozenset(live)
                bodies = (self.body(statement.body, live),)
            case ir.For() | ir.While():
                inner = self.needed_in(statement, live)
                self.walk.statement(statement, live)
                bodies = (self.body(statement.body, inner),)
            case _:
                self.walk.statement(statement, live)
                return statement
        if all(a is b for a, b in zip(bodies, ir.child_bodies(statement), strict=True)):
            return statement
        return ir.with_bodies(statement, bodies)

    def needed_in(self, loop: ir.For | ir.While, live: set[str]) -> set[str]:
        """Names needed at the end of a loop's body."""
        inner = live | self.walk.exposed(loop)
        for label in leaves_outward(loop.body):
            inner |= self.walk.labels.get(label, frozenset())
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
