"""Expected cycles of a design, without a compiler: executions of blocks follow from mean trip counts.

Blocks are in an order in which only the jumps back to a loop's header lead to an earlier block. So executions
are the sum over the ways in, times the mean trips at a header. A loop of mean trips T is left with
probability 1 / T in each iteration, and any other branch takes both ways equally often.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pipelines.c import cdfg, ir
from pipelines.cyclemodel.control import (
    UNKNOWN_TRIPS,
    ControlEstimate,
    Loop,
    LoopCount,
    control_of,
    has_constant_trips,
    natural_loops,
)
from pipelines.hls import CompiledDesign


def expected_cycles(
    compiled: CompiledDesign,
    *,
    scalars: Mapping[str, float] | None = None,
    trips: Mapping[str, float] | None = None,
) -> ControlEstimate:
    """Return the expected cycles of a design: block lengths times expected executions.

    Args:    scalars: values of scalar arguments that are known. trips: mean iterations per entry of loops of
             the design, by name, where the data that decide them are known.
    Returns: the estimate; it takes some milliseconds. A loop of constant bounds has its trips, one whose
             bounds depend on other loops' variables those at their means, any other `UNKNOWN_TRIPS`.
             `trips_known`: the mean trips of every loop are known, and nothing but the loops branches. The
             cycles are exact then with constant trips, and not in nests of three with varying ones.
    """
    design, known = compiled.scheduled, trips or {}
    blocks = design.graph.blocks
    loops = natural_loops(blocks)
    means = {**mean_trips(compiled.transformed.body, scalars or {}), **known}
    trips_of = {loop.header: means.get(blocks[loop.header].loop or "") for loop in loops}
    trips_of = {h: own or blocks[h].trip_count for h, own in trips_of.items()}
    counts = {header: max(1.0, float(own or UNKNOWN_TRIPS)) for header, own in trips_of.items()}
    visits, entries = expected_visits(blocks, loops, counts)
    cycles = 1.0  # the first state
    for schedule, executed, entered in zip(design.schedules, visits, entries, strict=True):
        interval = schedule.interval_cycles
        if interval is None:
            cycles += executed * schedule.length_cycles
        else:
            cycles += entered * schedule.length_cycles + (executed - entered) * interval
    control = control_of(design, scalars or {})
    exits = {loop.header: _exits(blocks, loop) for loop in loops}
    ends = {index for own in exits.values() for index in own}
    other = [b for b in blocks if len(b.successors) == 2 and b.index not in ends]
    is_counted = (
        not control.unknown
        and all(trips_of[loop.header] is not None and len(exits[loop.header]) == 1 for loop in loops)
        and all(any(way in trips_of for way in block.successors) for block in other)
    )
    return ControlEstimate(
        cycles=max(1, round(cycles)),
        trips_known=is_counted,
        visits=tuple(map(round, visits)),
        loops=tuple(
            LoopCount(
                loop=blocks[loop.header].loop or "",
                header=loop.header,
                depth=sum(loop.body <= other.body for other in loops),
                entries=max(1, round(entries[loop.header])),
                iterations=max(1, round(visits[loop.header])),
                body=tuple(sorted(loop.body)),
                depends_on_data=(blocks[loop.header].loop or "") not in known
                and (
                    not exits[loop.header]
                    or any(i in control.unknown or i in control.fed for i in exits[loop.header])
                ),
                is_constant=has_constant_trips(design, loop, exits[loop.header]),
            )
            for loop in loops
        ),
    )


def expected_visits(
    blocks: Sequence[cdfg.Block], loops: Sequence[Loop], trips: Mapping[int, float]
) -> tuple[list[float], list[float]]:
    """Return expected executions of each block, and entries from outside of those that are loop headers.

    Args: trips: mean iterations per entry, by header.
    """
    arriving = [1.0, *(0.0 for _ in blocks[1:])]
    entries = [0.0] * len(blocks)
    exits = {loop.header: len(_exits(blocks, loop)) for loop in loops}
    around = {b.index: [loop for loop in loops if b.index in loop.body] for b in blocks}
    visits: list[float] = []
    for block in blocks:
        executed = entries[block.index] = arriving[block.index]
        executed *= trips.get(block.index, 1.0)
        visits.append(executed)
        ways = block.successors
        shares = _shares(ways, around[block.index], exits, trips) if len(ways) == 2 else [1.0] * len(ways)
        for target, share in zip(ways, shares, strict=True):
            if target > block.index:
                arriving[target] += executed * share
    return visits, entries


def _shares(
    ways: Sequence[int], around: Sequence[Loop], exits: Mapping[int, int], trips: Mapping[int, float]
) -> list[float]:
    """Return how often a branch takes each of its two ways."""
    leaving = [loop for loop in around if (ways[0] in loop.body) != (ways[1] in loop.body)]
    if leaving:
        loop = min(leaving, key=lambda own: len(own.body))
        out = 1.0 / (trips[loop.header] * exits[loop.header])
        return [1.0 - out, out] if ways[0] in loop.body else [out, 1.0 - out]
    entered = [way in trips and not any(loop.header == way for loop in around) for way in ways]
    if entered[0] != entered[1]:
        return [float(own) for own in entered]
    return [0.5, 0.5]


def _exits(blocks: Sequence[cdfg.Block], loop: Loop) -> list[int]:
    return [i for i in sorted(loop.body) if any(t not in loop.body for t in blocks[i].successors)]


def mean_trips(body: Sequence[ir.Statement], scalars: Mapping[str, float]) -> dict[str, float]:
    """Return the mean iterations per entry of the counted loops whose bounds have a known mean, by name."""
    means: dict[str, float] = {}
    values = dict(scalars)
    for statement in ir.walk_statements(tuple(body)):
        if not isinstance(statement, ir.For):
            continue
        low, high = _mean(statement.lower, values), _mean(statement.upper, values)
        trips = statement.trip_count
        if trips is None and low is not None and high is not None:
            last = math.copysign(1.0, statement.step) if statement.comparison in ("le", "ge") else 0.0
            trips = (high - low + last) / statement.step
        if trips is not None:
            means[statement.name] = max(0.0, trips)
        if low is not None and trips is not None:
            values[statement.variable.name] = low + statement.step * (max(1.0, trips) - 1.0) / 2.0
    return means


def _mean(expression: ir.Expression, values: Mapping[str, float]) -> float | None:
    """Return the value of an expression at the means of variables, None where one is unknown."""
    match expression:
        case ir.Constant():
            return float(expression.number)
        case ir.Read():
            return values.get(expression.variable.name)
        case ir.Cast():
            return _mean(expression.operand, values)
        case ir.Select():
            yes, no = _mean(expression.if_true, values), _mean(expression.if_false, values)
            return None if yes is None or no is None else min(yes, no)
        case ir.Binary():
            left, right = _mean(expression.left, values), _mean(expression.right, values)
            return None if left is None or right is None else _result(expression.operator, left, right)
        case _:
            return None


def _result(operator: str, left: float, right: float) -> float | None:
    match operator:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "div" if right:
            return left / right
        case "shl" if 0 <= right < 32:
            return left * 2.0**right
        case "shr" if 0 <= right < 32:
            return left / 2.0**right
        case _:
            return None
