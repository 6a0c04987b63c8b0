"""Reductions: an accumulation in one variable is split into several, joined by a balanced tree.

This reorders the operator's applications. Integer results stay the same; floating-point results differ in
their last bits, so they need `unsafe_math`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipelines.c import ir
from pipelines.c.analysis.copying import (
    Body,
    Copier,
    FreshNames,
    find_loop,
    fresh_names,
    leaves_outward,
    replace_statement,
)
from pipelines.c.analysis.counting import exact_trips
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.chains import (
    Accumulator,
    accumulators,
    combine,
    count_reads,
    identity,
    with_selected_extremes,
)
from pipelines.hls.transforms.promote import promote_in_loop
from pipelines.hls.transforms.unroll import unroll_loop

MAXIMUM_COPIES = 1024
"""Largest number of partial accumulators per variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """A function whose loop accumulates in variables.

    Attributes:
        function: the source, with array elements promoted and conditional extremes as selections.
    """

    function: ir.Function
    loop: ir.For | ir.While
    chosen: tuple[Accumulator, ...]


def _prepare(function: ir.Function, loop: str, variable: str, unsafe_math: bool) -> _Prepared:
    """Prepare the loop's accumulators; an empty `variable` stands for all.

    Raises: NotApplicable: the variable is no accumulator, or its operations must not be reordered.
    """
    target = find_loop(function, loop)
    if leaves_outward(target.body):
        raise NotApplicable(f"loop {loop} is left early; its accumulations cannot be reordered")
    registers: tuple[ir.Variable, ...] = ()
    if variable in {a.name for a in function.arrays} or not variable:
        function, registers = promote_in_loop(function, loop, variable)
        target = find_loop(function, loop)
    selected = replace(target, body=with_selected_extremes(target.body))
    function = replace_statement(function, target, (selected,))
    known = accumulators(selected.body)
    if isinstance(selected, ir.While):
        known = {n: a for n, a in known.items() if not count_reads(selected.condition, n)}
    names = {variable, *(r.name for r in registers)} if variable else set(known)
    chosen = tuple(a for name, a in known.items() if name in names)
    if not chosen:
        what = f"{variable} is no reduction" if variable else "there is no reduction"
        raise NotApplicable(
            f"{what} of loop {loop}: an accumulator is combined by one of"
            " +, *, &, |, ^, min, max and read nowhere else in the loop"
        )
    for accumulator in chosen:
        if accumulator.variable.type.floating and not unsafe_math:
            raise NotApplicable(
                f"{accumulator.variable.name} of loop {loop} is a floating-point reduction;"
                " reordering it changes roundings and needs unsafe_math"
            )
    return _Prepared(function=function, loop=selected, chosen=chosen)


def _partials(accumulator: Accumulator, copies: int, names: FreshNames) -> tuple[ir.Variable, ...]:
    """Return the partial accumulators of an accumulator; the first one is itself."""
    variable = accumulator.variable
    others = (names.variable(f"{variable.name}_part", variable.type) for _ in range(copies - 1))
    return (variable, *others)


def _begin(accumulator: Accumulator, partials: tuple[ir.Variable, ...], line: int) -> Body:
    start = identity(accumulator.operator, accumulator.variable.type)
    return tuple(ir.Assign(variable=v, value=start, line=line) for v in partials[1:])


def _join(accumulator: Accumulator, partials: tuple[ir.Variable, ...], names: FreshNames, line: int) -> Body:
    """Return the statements that combine all partial values in the accumulator, a tree level at a time."""
    variable = accumulator.variable
    values = list(partials)
    statements: list[ir.Statement] = []
    while len(values) > 1:
        last = len(values) == 2
        joined: list[ir.Variable] = []
        for left, right in zip(values[::2], values[1::2], strict=False):
            target = variable if last else names.variable(f"{variable.name}_joined", variable.type)
            value = combine(accumulator.operator, ir.Read(variable=left), ir.Read(variable=right))
            statements.append(ir.Assign(variable=target, value=value, line=line))
            joined.append(target)
        values = [*joined, *values[2 * len(joined) :]]
    return tuple(statements)


def reduce_tree(
    function: ir.Function, loop: str, variable: str, factor: int | None, *, unsafe_math: bool = False
) -> ir.Function:
    """Unroll a loop so that the copies accumulate in variables of their own, joined by a tree after it.

    Args:
        variable: the accumulator, or an array with an accumulated element; empty for every accumulator.
        factor: iterations per copy of the body; None = all.
        unsafe_math: floating-point numbers may be reordered.
    Returns: a function that is equivalent but for roundings.
    Raises:  NotApplicable: no such loop or accumulator, floating-point numbers without `unsafe_math`, or
             whatever keeps the loop from being unrolled.
    """
    prepared = _prepare(function, loop, variable, unsafe_math)
    trips = exact_trips(prepared.loop) if isinstance(prepared.loop, ir.For) else None
    copies = trips if factor is None or (trips is not None and factor > trips) else factor
    if copies is None:
        raise NotApplicable(f"the trip count of loop {loop} is not constant")
    if not 1 <= copies <= MAXIMUM_COPIES:
        raise NotApplicable(f"a reduction must have 1 to {MAXIMUM_COPIES} copies, got {copies}")
    if copies == 1:
        return function
    names = fresh_names(prepared.function)
    before: list[ir.Statement] = []
    after: list[ir.Statement] = []
    renames: dict[str, _Renaming] = {}
    for accumulator in prepared.chosen:
        name = accumulator.variable.name
        partials = _partials(accumulator, copies, names)
        ahead = _assignments_before(prepared.function.body, prepared.loop, name)
        renames[name] = _Renaming(partials, accumulator.updates, ahead)
        before += _begin(accumulator, partials, prepared.loop.line)
        after += _join(accumulator, partials, names, prepared.loop.line)
    held = replace_statement(prepared.function, prepared.loop, (*before, prepared.loop, *after))
    unrolled = unroll_loop(held, loop, factor)
    return replace(unrolled, body=_renamed(unrolled.body, renames))


@dataclass(slots=True)
class _Renaming:
    """Assigns the textual updates of one accumulator to the copies' variables.

    Attributes:
        ahead: assignments to the variable in the text before the loop; then each copy has `updates`.
    """

    partials: tuple[ir.Variable, ...]
    updates: int
    ahead: int
    seen: int = 0

    def next(self) -> ir.Variable | None:
        """Return the variable of the next assignment in the text; None when it is outside the copies."""
        position = self.seen - self.ahead
        self.seen += 1
        if not 0 <= position < self.updates * len(self.partials):
            return None
        return self.partials[position // self.updates]


def _assignments_before(body: Body, loop: ir.Statement, name: str) -> int:
    count = 0
    for statement in ir.walk_statements(body):
        if statement is loop:
            return count
        count += isinstance(statement, ir.Assign) and statement.variable.name == name
    return count


def _renamed(body: Body, renames: dict[str, _Renaming]) -> Body:
    statements: list[ir.Statement] = []
    for statement in body:
        if isinstance(statement, ir.Assign) and statement.variable.name in renames:
            other = renames[statement.variable.name].next()
            if other is not None:
                copier = Copier()
                copier.rename(statement.variable, other)
                statement = copier.statement(statement)
        inner = ir.child_bodies(statement)
        if inner:
            statement = ir.with_bodies(statement, tuple(_renamed(b, renames) for b in inner))
        statements.append(statement)
    return tuple(statements)
