"""Nests of counted loops: tiling one loop into two, flattening a nest into one loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from pipelines.c import ir
from pipelines.c.analysis.copying import (
    Body,
    Copier,
    FreshNames,
    find_loop,
    fresh_names,
    leaves_outward,
    loops_inside,
    read_variables,
    replace_statement,
)
from pipelines.c.analysis.counting import (
    constant_like,
    exact_trips,
    full_groups_bound,
    held,
    held_bound,
    ordered,
    value_at,
)
from pipelines.c.analysis.folding import plus_constant
from pipelines.c.analysis.liveness import live_after
from pipelines.c.arithmetic import make_binary, make_select, value_range
from pipelines.c.errors import NotApplicable
from pipelines.c.signature import INT32


def tile_loop(function: ir.Function, loop: str, factor: int) -> ir.Function:
    """Split a counted loop into tiles of `factor` iterations.

    Args:    loop: its name, which the loop over one tile keeps, with its directives; the loop over tiles is
             named `<loop>_tile`.
    Returns: an equivalent function. When the factor divides a constant trip count, both loops have constant
             trip counts; otherwise the inner loop ends at the minimum of the tile's end and the loop's end.
             When the trip count is not constant, the inner loop has a constant one and a loop
             `<loop>_epilogue` runs the last, incomplete tile.
    Raises:  NotApplicable: no such counted loop, or a factor that is not at least 2 and less than the
             trip count.
    """
    target = find_loop(function, loop)
    if isinstance(target, ir.While):
        raise NotApplicable(f"loop {loop} runs while a condition holds; only counted loops are tiled")
    trips = exact_trips(target)
    if factor < 2 or (trips is not None and factor >= trips):
        most = "" if trips is None else f" and less than the trip count of loop {loop}, {trips}"
        raise NotApplicable(f"a tile factor must be at least 2{most}, got {factor}")
    if abs(target.step) * factor > value_range(target.variable.type)[1]:
        raise NotApplicable(f"{factor} steps of loop {loop} are more than its variable can hold")
    names = fresh_names(function)
    liveness = live_after(function)
    assigned = any(target.variable.name in liveness.labels[label] for label in leaves_outward(target.body))
    if trips is None:
        return replace_statement(function, target, _open_tiles(target, factor, names, assigned))
    if trips % factor == 0:
        tiles = _full_tiles(target, factor, target.upper, names, assigned)
        last = ir.Assign(variable=target.variable, value=value_at(target, trips), line=target.line)
        return replace_statement(function, target, (tiles, last))
    return replace_statement(function, target, _clipped_tiles(target, factor, trips, names))


def _full_tiles(loop: ir.For, factor: int, upper: ir.Expression, names: FreshNames, assigned: bool) -> ir.For:
    """Complete tiles: the inner loop counts from 0.

    Args: upper: bound of the loop over tiles; assigned: whether the body must keep the source's variable.
    """
    name, kind = loop.variable.name, loop.variable.type
    start, inside = names.variable(f"{name}_tile", kind), names.variable(f"{name}_in", kind)
    operator = "add" if loop.step > 0 else "sub"  # counting up: an unsigned variable cannot go below 0
    value = make_binary(operator, ir.Read(variable=start), ir.Read(variable=inside))
    body = Copier(values={name: value}).body(loop.body)
    if assigned:
        body = (ir.Assign(variable=loop.variable, value=value, line=loop.line), *body)
    inner = replace(
        loop,
        variable=inside,
        lower=constant_like(loop, 0),
        comparison="lt",
        upper=constant_like(loop, abs(loop.step) * factor),
        step=abs(loop.step),
        body=body,
        nest=(),
    )
    return _over_tiles(loop, start, upper, factor, names, (inner,))


def _over_tiles(
    loop: ir.For, start: ir.Variable, upper: ir.Expression, factor: int, names: FreshNames, body: Body
) -> ir.For:
    return replace(
        loop,
        name=names.take(f"{loop.name}_tile"),
        variable=start,
        upper=upper,
        step=loop.step * factor,
        body=body,
        directives=(),
        nest=(),
    )


def _clipped_tiles(loop: ir.For, factor: int, trips: int, names: FreshNames) -> Body:
    """Return the tiles of a constant trip count that the factor does not divide."""
    up = loop.step > 0
    start = names.variable(f"{loop.variable.name}_tile", loop.variable.type)
    end = value_at(loop, trips)
    low, high = value_range(loop.variable.type)
    pieces = -(-trips // factor)
    if not low <= value_at(loop, pieces * factor).value <= high:
        raise NotApplicable(
            f"the end of the last tile of loop {loop.name} is more than its variable can hold"
        )
    ahead = plus_constant(ir.Read(variable=start), loop.step * factor)
    within = make_binary("lt" if up else "gt", ahead, end)
    comparison = "lt" if up else "gt"
    inner = replace(
        loop,
        lower=ir.Read(variable=start),
        comparison=comparison,
        upper=make_select(within, ahead, end),
        nest=(),
    )
    return (_over_tiles(replace(loop, comparison=comparison), start, end, factor, names, (inner,)),)


def _open_tiles(loop: ir.For, factor: int, names: FreshNames, assigned: bool) -> Body:
    """Complete tiles of a variable trip count, then the remaining iterations."""
    before: list[ir.Statement] = []
    loop = held_bound(ordered(loop), names, before)
    comparison, bound = full_groups_bound(loop, factor)
    upper = held(bound, f"{loop.variable.name}_tiles", names, before, loop.line)
    tiles = _full_tiles(replace(loop, comparison=comparison), factor, upper, names, assigned)
    copier = Copier()
    copier.add_suffix(loop.body, names, "_e", frozenset())
    rest = replace(
        loop,
        name=names.take(f"{loop.name}_epilogue"),
        lower=ir.Read(variable=tiles.variable),
        body=copier.body(loop.body),
        nest=(),
    )
    return (*before, tiles, rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """One loop of the nest, with the statements of its body before and after the inner loop."""

    loop: ir.For
    trips: int
    before: Body = ()
    after: Body = ()

    @property
    def first(self) -> ir.Expression:
        """Whether the variable has its first value."""
        return make_binary("eq", ir.Read(variable=self.loop.variable), value_at(self.loop, 0))

    @property
    def last(self) -> ir.Expression:
        """Whether the variable has its last value."""
        return make_binary("eq", ir.Read(variable=self.loop.variable), value_at(self.loop, self.trips - 1))


def flatten_nest(
    function: ir.Function, loop: str, *, perfect_only: bool = False, outermost: str | None = None
) -> ir.Function:
    """Flatten a loop and as many of the counted loops around it as possible into one loop.

    The loop variables step like an odometer at the end of each iteration: the innermost one adds its step or
    starts again, the next one steps when it starts again, and so on. Whether a variable has its last value is
    a comparison of the present value with a constant, so the longest cycle through registers is a comparison,
    one or two conjunctions and a selection. Statements before an inner loop are conditional on the first
    iteration of all loops inside, those after it on their last.

    Args:
        loop: name of an innermost loop; the flattened loop keeps it, with its directives.
        perfect_only: stop at a loop whose body has other statements beside the loop inside.
        outermost: name of the outermost loop that may be flattened; None = no limit.
    Returns: an equivalent function; `Loop.nest` of the loop describes the nest.
    Raises:  NotApplicable: no such loop, or the reason why the loop directly around it cannot be flattened.
    """
    innermost = find_loop(function, loop)
    trips = _trips(innermost)
    if loops_inside(innermost.body):
        raise NotApplicable(f"loop {loop} contains a loop; a nest is flattened into its innermost loop")
    assert isinstance(innermost, ir.For)
    levels = [_Level(loop=innermost, trips=trips)]
    around = _loops_around(function.body, innermost)
    reason = f"no loop is around loop {loop}"
    for outer in reversed(around[:0] if outermost == loop else around):
        try:
            levels.insert(0, _level_around(outer, levels, perfect_only))
        except NotApplicable as error:
            reason = str(error)
            break
        if isinstance(outer, ir.For) and outer.name == outermost:
            break
    if len(levels) == 1:
        raise NotApplicable(reason)
    return replace_statement(function, levels[0].loop, _flattened(levels, fresh_names(function)))


def _trips(loop: ir.For | ir.While) -> int:
    trips = exact_trips(loop) if isinstance(loop, ir.For) else None
    if trips is None:
        raise NotApplicable(f"the trip count of loop {loop.name} is not constant")
    if trips < 1:
        raise NotApplicable(f"loop {loop.name} never runs")
    if loop.nest:
        raise NotApplicable(f"loop {loop.name} is a flattened nest already")
    return trips


def _loops_around(body: Body, target: ir.For) -> list[ir.Statement]:
    """Return the compound statements around a loop, outermost first."""
    for statement in body:
        if statement is target:
            return []
        for inner in ir.child_bodies(statement):
            if any(s is target for s in ir.walk_statements(inner)):
                return [statement, *_loops_around(inner, target)]
    return []


def _level_around(outer: ir.Statement, levels: list[_Level], perfect_only: bool) -> _Level:
    """Return the next level of a nest.

    Raises: NotApplicable: the loop cannot be flattened.
    """
    inner = levels[0].loop
    if not isinstance(outer, ir.For | ir.While):
        what = "a condition" if isinstance(outer, ir.If) else "a block that is left early"
        raise NotApplicable(f"loop {inner.name} is inside {what} (line {outer.line})")
    trips = _trips(outer)
    assert isinstance(outer, ir.For)
    if trips * prod(level.trips for level in levels) > value_range(INT32)[1]:
        raise NotApplicable(f"the iterations of loop {outer.name} are more than a counter can hold")
    position = next(i for i, s in enumerate(outer.body) if s is inner)
    before, after = outer.body[:position], outer.body[position + 1 :]
    if perfect_only and (before or after):
        raise NotApplicable(f"loop {outer.name} has other statements beside loop {inner.name}")
    _check_between(before, after, outer, levels)
    ends: dict[str, ir.Expression] = {
        level.loop.variable.name: value_at(level.loop, level.trips) for level in levels
    }
    after = Copier(values=ends).body(after)
    return _Level(loop=outer, trips=trips, before=before, after=after)


def _check_between(before: Body, after: Body, outer: ir.For, levels: list[_Level]) -> None:
    """Check that statements between two loops are plain and do not use the variables of inner loops.

    Statements after a loop may read its variable, which then has its last value.
    """
    for statement in ir.walk_statements((*before, *after)):
        if isinstance(statement, ir.For | ir.While):
            raise NotApplicable(
                f"loop {outer.name} contains loop {statement.name} beside {levels[0].loop.name}"
            )
    if leaves_outward((*before, *after)):
        raise NotApplicable(f"loop {outer.name} is left beside loop {levels[0].loop.name}")
    read = {n for e in ir.all_expressions(before) for n in read_variables(e)}
    touched = read | ir.assigned_variables((*before, *after))
    for level in levels:
        name = level.loop.variable.name
        if name in touched:
            raise NotApplicable(f"{name} of loop {level.loop.name} is used beside it, in loop {outer.name}")


def _flattened(levels: list[_Level], names: FreshNames) -> Body:
    """Return the first values, the flattened loop, and the last values."""
    innermost = levels[-1].loop
    counter = names.variable(f"{innermost.variable.name}_flat")
    flags = _Flags.of(levels, names)
    starts = [_assign(level, value_at(level.loop, 0)) for level in levels]
    ends = [_assign(level, value_at(level.loop, level.trips)) for level in levels]
    flat = ir.For(
        name=innermost.name,
        body=(*flags.statements, *_one_iteration(levels, flags), *_odometer(levels, flags)),
        line=innermost.line,
        directives=innermost.directives,
        nest=tuple(_nest_level(level) for level in levels),
        variable=counter,
        lower=ir.Constant(value=0),
        comparison="lt",
        upper=ir.Constant(value=prod(level.trips for level in levels)),
        step=1,
    )
    return (*starts, flat, *ends)


def _assign(level: _Level, value: ir.Expression) -> ir.Assign:
    return ir.Assign(variable=level.loop.variable, value=value, line=level.loop.line)


def _nest_level(level: _Level) -> ir.NestLevel:
    first = value_at(level.loop, 0).value
    return ir.NestLevel(
        variable=level.loop.variable, lower=first, step=level.loop.step, trip_count=level.trips
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flags:
    """Flags per level: whether all inner levels have their first, or their last, values.

    Attributes:
        statements: that set the flags; first, last: the conditions, None for the innermost level.
    """

    statements: Body
    first: tuple[ir.Expression | None, ...]
    last: tuple[ir.Expression | None, ...]

    @classmethod
    def of(cls, levels: list[_Level], names: FreshNames) -> _Flags:
        statements: list[ir.Statement] = []
        first: list[ir.Expression | None] = [None]
        last: list[ir.Expression | None] = [None]
        for level in reversed(levels[1:]):
            for conditions, test, stem in ((first, level.first, "first"), (last, level.last, "last")):
                inner = conditions[0]
                value = test if inner is None else make_binary("and", test, inner)
                flag = names.variable(f"{level.loop.variable.name}_{stem}")
                statements.append(ir.Assign(variable=flag, value=value, line=level.loop.line))
                conditions.insert(0, ir.Read(variable=flag))
        return cls(statements=tuple(statements), first=tuple(first), last=tuple(last))


def _one_iteration(levels: list[_Level], flags: _Flags) -> Body:
    before: list[ir.Statement] = []
    after: list[ir.Statement] = []
    for level, first, last in zip(levels, flags.first, flags.last, strict=True):
        line = level.loop.line
        if level.before and first is not None:
            before.append(ir.If(condition=first, then=level.before, otherwise=(), line=line))
        if level.after and last is not None:
            after.insert(0, ir.If(condition=last, then=level.after, otherwise=(), line=line))
    return (*before, *levels[-1].loop.body, *after)


def _odometer(levels: list[_Level], flags: _Flags) -> Body:
    """Return the variables' next values; the outermost variable never starts again."""
    steps: list[ir.Statement] = []
    for number, (level, carried) in enumerate(zip(levels, flags.last, strict=True)):
        present = ir.Read(variable=level.loop.variable)
        value = plus_constant(present, level.loop.step)
        if number > 0:
            value = make_select(level.last, value_at(level.loop, 0), value)
        if carried is not None:
            value = make_select(carried, value, present)
        steps.append(_assign(level, value))
    return tuple(steps)
