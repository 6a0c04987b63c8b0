"""Shorter lifetimes: starts of a modulo schedule moved so that values wait less in registers.

Operations that share a port or a unit stay where they are, so the interval and every resource are kept.

Source: Cong and Zhang 2006, "An efficient and versatile scheduling algorithm based on SDC formulation" (the
constraint matrix of differences is totally unimodular, so a vertex of the program is integral).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix

from pipelines.hls.difference import ConstraintGraph
from pipelines.hls.residues import contended
from pipelines.hls.schedule import BlockGraph

PROGRAM_OPERATIONS = 250
"""Largest block whose lifetimes are a linear program (some tens of milliseconds)."""

START_WEIGHT = 0.05
"""Cost of starting a cycle later, relative to one value that waits a cycle longer."""

SLACK_CYCLES = 64
"""How much later than in the schedule given an operation may start."""


def shorten_lifetimes(
    graph: BlockGraph, constraints: ConstraintGraph, interval: int, starts: Sequence[int]
) -> tuple[int, ...]:
    """Move operations that share nothing so that values wait less.

    Args:    starts: a valid schedule, (count + 1,) with the start of the iteration last.
    Returns: (count,) a valid schedule.
    """
    if constraints.count > PROGRAM_OPERATIONS:
        return _sink(graph, constraints, interval, starts)
    found = _solve(graph, constraints, interval, starts)
    return found if found is not None else tuple(starts[: constraints.count])


def keeps(constraints: ConstraintGraph, starts: Sequence[int], interval: int) -> bool:
    """Whether (count + 1,) starts keep every constraint."""
    return min(starts) >= 0 and all(
        starts[c.target] - starts[c.source] >= c.latency - c.distance * interval
        for c in constraints.constraints
    )


def _solve(
    graph: BlockGraph, constraints: ConstraintGraph, interval: int, starts: Sequence[int]
) -> tuple[int, ...] | None:
    """The schedule of least total waiting, None should the program fail.

    Columns: starts, the iteration's start (always 0), then the last use of each value.
    """
    count = constraints.count
    rows = [
        (c.target, c.source, float(c.latency - c.distance * interval))
        for c in constraints.constraints
        if c.source != c.target
    ]
    uses = sorted({(i, o.index) for o in graph.operations for i in o.inputs if o.index in graph.live})
    rows += [(count + 1 + value, user, 0.0) for value, user in uses]
    columns = np.array([(plus, minus) for plus, minus, _ in rows], dtype=np.int64).reshape(-1, 2)
    matrix = coo_matrix(
        (np.tile([1.0, -1.0], len(rows)), (np.repeat(np.arange(len(rows)), 2), columns.ravel())),
        shape=(len(rows), 2 * count + 1),
    ).tocsr()
    low, high = _bounds(graph, starts)
    result = milp(
        _cost(graph, {value for value, _ in uses}),
        constraints=LinearConstraint(matrix, [least for _, _, least in rows], np.inf),
        bounds=Bounds(low, high),
    )
    if result.x is None:
        return None
    found = [round(float(v)) for v in result.x[:count]]
    return tuple(found) if keeps(constraints, [*found, 0], interval) else None


def _cost(graph: BlockGraph, used: set[int]) -> NDArray[np.float64]:
    count = len(graph.operations)
    cost = np.zeros(2 * count + 1)
    for index, operation in enumerate(graph.operations):
        weight = 1.0 if index in used and operation.opcode != "const" else 0.0
        cost[count + 1 + index] += weight
        cost[index] += START_WEIGHT - weight
    return cost


def _bounds(graph: BlockGraph, starts: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    count = len(graph.operations)
    low = np.zeros(2 * count + 1)
    high = np.full(2 * count + 1, float(max(starts) + SLACK_CYCLES))
    high[count] = 0.0
    for index in contended(graph):
        low[index] = high[index] = float(starts[index])
    return low, high


def _sink(
    graph: BlockGraph, constraints: ConstraintGraph, interval: int, starts: Sequence[int]
) -> tuple[int, ...]:
    """Start operations as late as what follows allows, where that makes registers wait less in sum.

    An operation that starts later makes its own value wait less, and those it uses last wait longer.
    """
    found, fixed = list(starts), set(contended(graph))
    last_use = [0] * constraints.count
    for operation in graph.operations:
        for value in operation.inputs if operation.index in graph.live else ():
            last_use[value] = max(last_use[value], found[operation.index])
    for index in sorted(range(constraints.count), key=lambda i: (-found[i], -i)):
        if index in fixed or last_use[index] == 0:
            continue
        later = min(
            (found[t] - latency + d * interval for t, latency, d in constraints.outgoing[index]),
            default=found[index],
        )
        if later > found[index] and _gain(graph, index, found[index], later, last_use) >= 0:
            found[index] = later
            for value in graph.operations[index].inputs:
                last_use[value] = max(last_use[value], later)
    return tuple(found[: constraints.count])


def _gain(graph: BlockGraph, index: int, now: int, later: int, last_use: Sequence[int]) -> int:
    """Bits times cycles that registers save when an operation starts later."""
    operation = graph.operations[index]
    saved = _register_bits(graph, index) * (later - now)
    for value in set(operation.inputs):
        saved -= _register_bits(graph, value) * max(0, later - last_use[value])
    return saved


def _register_bits(graph: BlockGraph, index: int) -> int:
    operation = graph.operations[index]
    return 0 if operation.opcode == "const" or operation.type is None else operation.type.width_bits
