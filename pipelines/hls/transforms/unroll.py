"""Unrolling: copies of a loop's body replace its iterations.

Each copy has blocks, loops and private variables of its own, named as in the source with `_u1`, `_u2`, …;
directives on inner loops are copied. When the factor does not divide the trip count, a loop `<name>_epilogue`
runs the remaining iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.analysis.copying import (
    Body,
    Copier,
    FreshNames,
    find_loop,
    fresh_names,
    leaves_outward,
    loops_inside,
    replace_statement,
)
from pipelines.c.analysis.counting import (
    exact_trips,
    full_groups_bound,
    held,
    held_bound,
    ordered,
    value_at,
)
from pipelines.c.analysis.folding import plus_constant
from pipelines.c.analysis.liveness import Liveness, live_after, private_variables
from pipelines.c.arithmetic import value_range
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.chains import accumulators, with_selected_extremes
from pipelines.hls.transforms.promote import promote_in_loop


def obstacle_to_jam(function: ir.Function, loop: str, *, unsafe_math: bool = False) -> str | None:
    """Return reason why statements of independent iterations of a loop cannot alternate, None when they can.

    Args:    unsafe_math: floating sums may be reassociated.
    Raises:  NotApplicable: no such loop.
    """
    target = find_loop(function, loop)
    if isinstance(target, ir.While):
        return f"loop {loop} runs while a condition holds"
    sums = accumulators(with_selected_extremes(target.body))
    private = private_variables(live_after(function), target) | {target.variable.name}
    for name in sorted(ir.assigned_variables(target.body) - private):
        if name not in sums:
            return f"{name} has the value of the last iteration after loop {loop}"
        if sums[name].variable.type.floating and not unsafe_math:
            return f"{name} is a sum of floating-point numbers, which has an order"
    _, registers = promote_in_loop(function, loop, "")
    floating = [r for r in registers if r.type.floating]
    if floating and not unsafe_math:
        return f"loop {loop} adds floating-point numbers to one element, which has an order"
    return None


def jam_copies(copies: Sequence[Body]) -> Body:
    """Interleave copies of one body by statement; loops with one header become one loop.

    Without it the inner loops of the copies would follow each other and nothing would run in parallel.

    Args: copies: of the same statements, with private variables renamed.
    """
    statements: list[ir.Statement] = []
    for row in zip(*copies, strict=True):
        first, *others = row
        if isinstance(first, ir.For) and all(_has_header_of(first, o) for o in others):
            statements += _one_loop(first, [o for o in others if isinstance(o, ir.For)])
        else:
            statements += row
    return tuple(statements)


def _has_header_of(loop: ir.For, other: ir.Statement) -> bool:
    return isinstance(other, ir.For) and (
        (loop.lower, loop.comparison, loop.upper, loop.step)
        == (other.lower, other.comparison, other.upper, other.step)
        and loop.variable.type == other.variable.type
        and loop.variable.name != other.variable.name
    )


def _one_loop(first: ir.For, others: Sequence[ir.For]) -> list[ir.Statement]:
    """Return the bodies of several loops in one, then the last values of their variables."""
    bodies = [first.body]
    last: list[ir.Statement] = []
    for other in others:
        copier = Copier()
        copier.rename(other.variable, first.variable)
        bodies.append(copier.body(other.body))
        value = ir.Read(variable=first.variable)
        last.append(ir.Assign(variable=other.variable, value=value, line=other.line))
    return [replace(first, body=jam_copies(bodies)), *last]


MAXIMUM_STATEMENTS = 20_000
"""Largest number of statements of all copies; more would take the later passes minutes."""


def unroll_loop(function: ir.Function, loop: str, factor: int | None, *, jam: bool = False) -> ir.Function:
    """Unroll a loop.

    Args:    loop: its name; factor: iterations per new iteration, at least 1; None = all; jam: merge the
             inner loops of the copies, which `obstacle_to_jam` must allow.
    Returns: an equivalent function. A factor of at least the trip count unrolls fully. A conditional loop
             tests its condition before each copy.
    Raises:  NotApplicable: no such loop, a full unroll without a constant trip count, or more than
             `MAXIMUM_STATEMENTS` statements.
    """
    target = find_loop(function, loop)
    if factor is not None and factor < 1:
        raise NotApplicable(f"an unroll factor must be at least 1, got {factor}")
    if factor == 1:
        return function
    unroller = replace(_unroller(function), jam=jam)
    if isinstance(target, ir.While):
        if factor is None:
            raise NotApplicable(f"loop {loop} runs while a condition holds; a full unroll needs a number")
        return replace_statement(function, target, (unroller.conditional(target, factor),))
    trips = exact_trips(target)
    if trips is not None and (factor is None or factor >= trips):
        return replace_statement(function, target, unroller.fully(target, Copier(), deeply=False))
    if factor is None:
        raise NotApplicable(f"the trip count of loop {loop} is not constant")
    return replace_statement(function, target, unroller.partly(target, factor, trips))


def unroll_inner(function: ir.Function, loop: str) -> ir.Function:
    """Unroll every loop inside a loop fully, outer ones first, so that bounds become constants.

    Returns: an equivalent function in which the loop is innermost.
    Raises:  NotApplicable: no such loop, or an inner one whose trip count is not constant, by name; or
             more than `MAXIMUM_STATEMENTS` statements.
    """
    target = find_loop(function, loop)
    if not loops_inside(target.body):
        return function
    unroller = replace(_unroller(function), context=f"loop {loop} contains loop ")
    body = unroller.deep_copy(target.body, Copier())
    return replace_statement(function, target, (replace(target, body=body),))


def _unroller(function: ir.Function) -> _Unroller:
    return _Unroller(names=fresh_names(function), liveness=live_after(function))


@dataclass(slots=True)
class _Unroller:
    """Creates the copies; `statements` counts theirs; `context` precedes a loop's name in reasons.

    Attributes:
        jam: merge the inner loops of the copies.
    """

    names: FreshNames
    liveness: Liveness
    context: str = "loop "
    jam: bool = False
    statements: int = 0
    private: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def copier(self, loop: ir.For | ir.While, parent: Copier, suffix: str) -> Copier:
        """Return a copier of one iteration with its own blocks, loops and private variables."""
        copier = parent.child()
        if suffix:
            copier.add_suffix(loop.body, self.names, suffix, self.private[loop.name])
        return copier

    def start(self, loop: ir.For | ir.While, copies: int) -> None:
        """Count the statements of copies of a body, nested loops once; know its private variables."""
        if loop.name not in self.private:
            self.private[loop.name] = private_variables(self.liveness, loop)
        self.statements += copies * sum(1 for _ in ir.walk_statements(loop.body))
        if self.statements > MAXIMUM_STATEMENTS:
            raise NotApplicable(f"unrolling loop {loop.name} makes more than {MAXIMUM_STATEMENTS} statements")

    def is_needed_outside(self, loop: ir.For) -> bool:
        """Tell whether the loop's variable is read at the target of an exit of the body."""
        return any(loop.variable.name in self.liveness.labels[label] for label in leaves_outward(loop.body))

    def iteration(self, loop: ir.For, copier: Copier, value: ir.Expression, *, deeply: bool = False) -> Body:
        """Return a copy of the body in which the loop's variable has a value."""
        variable = copier.variable(loop.variable)
        copier.values[loop.variable.name] = value
        body = self.deep_copy(loop.body, copier) if deeply else copier.body(loop.body)
        if self.is_needed_outside(loop):
            return (ir.Assign(variable=variable, value=value, line=loop.line), *body)
        return body

    def joined(self, copies: Sequence[Body]) -> Body:
        return jam_copies(copies) if self.jam else tuple(s for copy in copies for s in copy)

    # ---- all iterations ---------------------------------------------------------------------------

    def fully(self, loop: ir.For, parent: Copier, *, deeply: bool) -> Body:
        """Return every iteration, then the variable's last value.

        Args: loop: as in the source; parent: copier of the names around it; deeply: unroll its inner loops,
                 too.
        """
        header = parent.loop_header(loop)
        trips = exact_trips(header) if isinstance(header, ir.For) else None
        if trips is None or not isinstance(header, ir.For):
            raise NotApplicable(f"{self.context}{loop.name}, whose trip count is not constant")
        self.start(loop, trips)
        copies: list[Body] = []
        for number in range(trips):
            copier = self.copier(loop, parent, f"_u{number}" if number else "")
            copies.append(self.iteration(loop, copier, value_at(header, number), deeply=deeply))
        last = ir.Assign(variable=header.variable, value=value_at(header, trips), line=loop.line)
        return (*self.joined(copies), last)

    def deep_copy(self, body: Body, copier: Copier) -> Body:
        """Return a copy of a body with every loop inside unrolled."""
        statements: list[ir.Statement] = []
        for statement in body:
            if isinstance(statement, ir.While):
                raise NotApplicable(f"{self.context}{statement.name}, which runs while a condition holds")
            if isinstance(statement, ir.For):
                statements += self.fully(statement, copier, deeply=True)
            elif inner := ir.child_bodies(statement):
                copied = copier.statement(ir.with_bodies(statement, tuple(() for _ in inner)))
                bodies = tuple(self.deep_copy(b, copier) for b in inner)
                statements.append(ir.with_bodies(copied, bodies))
            else:
                statements.append(copier.statement(statement))
        return tuple(statements)

    # ---- some iterations --------------------------------------------------------------------------

    def partly(self, loop: ir.For, factor: int, trips: int | None) -> Body:
        """Return the groups of iterations, then the remaining ones in a loop of their own."""
        self.start(loop, factor + 1)
        if abs(loop.step) * factor > value_range(loop.variable.type)[1]:
            raise NotApplicable(f"{factor} steps of loop {loop.name} are more than its variable can hold")
        before: list[ir.Statement] = []
        if trips is None:
            loop = held_bound(ordered(loop), self.names, before)
        main = self.groups(loop, factor, trips, before)
        if trips is not None and trips % factor == 0:
            last = ir.Assign(variable=loop.variable, value=value_at(loop, trips), line=loop.line)
            return (*before, main, last)
        lower = value_at(loop, trips - trips % factor) if trips else ir.Read(variable=main.variable)
        return (*before, main, self.remainder(loop, lower))

    def groups(self, loop: ir.For, factor: int, trips: int | None, before: list[ir.Statement]) -> ir.For:
        """Return the loop over whole groups; a bound that must be computed is added to `before`."""
        comparison, upper = loop.comparison, loop.upper
        if trips is None:
            comparison, bound = full_groups_bound(loop, factor)
            upper = held(bound, f"{loop.variable.name}_groups", self.names, before, loop.line)
        elif trips % factor:
            comparison = "lt" if loop.step > 0 else "gt"
            upper = value_at(loop, trips - trips % factor)
        counter = loop.variable
        if self.is_needed_outside(loop):
            counter = self.names.variable(f"{counter.name}_main", counter.type)
        copies: list[Body] = []
        for number in range(factor):
            copier = self.copier(loop, Copier(), f"_u{number}" if number else "")
            value = plus_constant(ir.Read(variable=counter), number * loop.step)
            copies.append(self.iteration(loop, copier, value))
        return replace(
            loop,
            variable=counter,
            comparison=comparison,
            upper=upper,
            step=loop.step * factor,
            body=self.joined(copies),
            nest=(),
        )

    def remainder(self, loop: ir.For, lower: ir.Expression) -> ir.For:
        """Return the loop over the iterations that remain after the groups."""
        copier = self.copier(loop, Copier(), "_e")
        name = self.names.take(f"{loop.name}_epilogue")
        return replace(loop, name=name, lower=lower, body=copier.body(loop.body), nest=())

    def conditional(self, loop: ir.While, factor: int) -> ir.While:
        """Return a conditional loop over the copies, each after the first under the condition."""
        self.start(loop, factor)
        rest: Body = ()
        for number in range(factor - 1, 0, -1):
            copy = self.copier(loop, Copier(), f"_u{number}").body(loop.body)
            rest = (ir.If(condition=loop.condition, then=(*copy, *rest), otherwise=(), line=loop.line),)
        return replace(loop, body=(*loop.body, *rest), nest=())
