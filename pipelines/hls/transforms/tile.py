"""Tiling: a loop over pieces of a counted loop's iterations, and a loop over one piece inside it."""

from __future__ import annotations

from dataclasses import replace

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_select, value_range
from pipelines.hls.errors import NotApplicable
from pipelines.hls.transforms.copying import (
    Body,
    Copier,
    FreshNames,
    find_loop,
    fresh_names,
    leaves_outward,
    replace_statement,
)
from pipelines.hls.transforms.counting import (
    constant_like,
    exact_trips,
    full_groups_bound,
    held,
    held_bound,
    ordered,
    value_at,
)
from pipelines.hls.transforms.folding import plus_constant
from pipelines.hls.transforms.liveness import live_after


def tile_loop(function: ir.Function, loop: str, factor: int) -> ir.Function:
    """Split a counted loop in pieces of `factor` iterations.

    Args:    loop: its name, which the loop over one piece keeps, with its directives; the loop over
             pieces is called `<loop>_tile`.
    Returns: an equivalent function. When the factor divides a constant trip count both loops have a
             constant one; when it does not, the inner loop ends at the minimum of the end of the piece and
             of the whole. When the trip count is not constant, the inner loop has a constant one and a
             loop `<loop>_epilogue` does the last, incomplete piece.
    Raises:  NotApplicable: no such counted loop, or a factor that is not at least 2 and less than the
             trip count.
    """
    found = find_loop(function, loop)
    if isinstance(found, ir.While):
        raise NotApplicable(f"loop {loop} runs while a condition holds; only counted loops are tiled")
    trips = exact_trips(found)
    if factor < 2 or (trips is not None and factor >= trips):
        most = "" if trips is None else f" and less than the trip count of loop {loop}, {trips}"
        raise NotApplicable(f"a tile factor must be at least 2{most}, got {factor}")
    if abs(found.step) * factor > value_range(found.variable.type)[1]:
        raise NotApplicable(f"{factor} steps of loop {loop} are more than its variable can hold")
    names = fresh_names(function)
    walk = live_after(function)
    assigned = any(found.variable.name in walk.labels[label] for label in leaves_outward(found.body))
    if trips is None:
        return replace_statement(function, found, _open_tiles(found, factor, names, assigned))
    if trips % factor == 0:
        tiles = _full_tiles(found, factor, found.upper, names, assigned)
        last = ir.Assign(variable=found.variable, value=value_at(found, trips), line=found.line)
        return replace_statement(function, found, (tiles, last))
    return replace_statement(function, found, _clipped_tiles(found, factor, trips, names))


def _full_tiles(loop: ir.For, factor: int, upper: ir.Expression, names: FreshNames, assigned: bool) -> ir.For:
    """Pieces that are all whole: the inner loop counts from 0.

    Args: upper: of the loop over pieces; assigned: whether the body must keep the source's variable.
    """
    name, kind = loop.variable.name, loop.variable.type
    start, inside = names.variable(f"{name}_tile", kind), names.variable(f"{name}_in", kind)
    operator = "add" if loop.step > 0 else "sub"  # counting up, because an unsigned one has nothing below 0
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
    """Pieces of a constant number of iterations that the factor does not divide."""
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
    """Whole pieces while there are some, then the rest."""
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
