"""Modulo scheduling of a loop block: the smallest initiation interval, by integer programming.

Belongs here: the lower bounds on the interval, the integer program, the check of its answer. Does not:
which loop is pipelined.

For an interval II every operation gets a start cycle s >= 0 with s_j + d II >= s_i + l for every dependence
(latency l, distance d), at most one operation of a port or unit in each residue modulo II, and no
combinational path longer than the clock allows. Source: Rau 1994, "Iterative modulo scheduling", section 2
(bounds ResMII and RecMII); Cong and Zhang 2006, "An efficient and versatile scheduling algorithm based on
SDC formulation", section 3 (chaining as difference constraints); the residue variables follow Eichenberger
and Davidson 1997.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix

from pipelines.hls.cdfg import Block
from pipelines.hls.operators import TimingModel
from pipelines.hls.schedule import BlockGraph, BlockSchedule, block_length, closing_values

MAXIMUM_INTERVAL_CYCLES = 512
NODE_LIMIT = 2000
"""Branch-and-bound nodes an integer program may use. A limit in time would make results depend on load."""

LIFETIME_GAP = 0.25
"""How far the lifetimes may be from their least sum. The interval is proven either way; on jacobi-2d a gap of
0.02 took 2 s for 1182 bits of registers, this one 0.07 s for 1188."""

LIFETIME_WEIGHT = 1.0
START_WEIGHT = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class _Constraint:
    """`s[target] - s[source] >= latency - distance * interval`."""

    source: int
    target: int
    latency: int
    distance: int


def _chain_constraints(graph: BlockGraph, model: TimingModel) -> list[_Constraint]:
    """One cycle of distance between the ends of every combinational path that is too long."""
    successors: dict[int, list[int]] = defaultdict(list)
    for operation in graph.operations:
        for source in dict.fromkeys(operation.inputs):
            if graph.timings[source].latency_cycles == 0:
                successors[source].append(operation.index)
    found: list[_Constraint] = []
    for start in range(len(graph.operations)):
        if not successors[start] or graph.timings[start].delay_ns == 0.0:
            continue
        reached = {start: graph.timings[start].delay_ns}
        for index in range(start, len(graph.operations)):
            if index not in reached:
                continue
            for target in successors[index]:
                delay = reached[index] + graph.timings[target].delay_ns
                if delay > model.budget_ns:
                    cycles = max(1, int(np.ceil(delay / model.budget_ns)) - 1)
                    found.append(_Constraint(source=start, target=target, latency=cycles, distance=0))
                elif delay > reached.get(target, -1.0):
                    reached[target] = delay
    return found


def _constraints(graph: BlockGraph, model: TimingModel) -> list[_Constraint]:
    found = [
        _Constraint(source=e.source, target=e.target, latency=e.latency_cycles, distance=e.distance)
        for e in graph.edges
    ]
    # The next iteration may start only when this one knows that it does.
    for condition in closing_values(graph.block):
        latency = graph.timings[condition].latency_cycles + 1
        found.append(_Constraint(source=condition, target=-1, latency=latency, distance=1))
    return found + _chain_constraints(graph, model)


def resource_bound(graph: BlockGraph) -> tuple[int, str]:
    """ResMII and the resource that sets it."""
    load: dict[tuple[str, str], int] = defaultdict(int)
    for resource, timing in zip(graph.resources, graph.timings, strict=True):
        if resource is not None:
            load[resource] += timing.busy_cycles
    if not load:
        return 1, ""
    worst = max(load, key=lambda r: (load[r], r))
    return max(1, load[worst]), " ".join(worst).strip()


def _positive_cycle(constraints: Sequence[_Constraint], count: int, interval: int) -> bool:
    """Whether the difference constraints contradict each other at an interval (Bellman-Ford)."""
    source = np.array([c.source % (count + 1) for c in constraints])
    target = np.array([c.target % (count + 1) for c in constraints])
    weight = np.array([c.latency - c.distance * interval for c in constraints], dtype=np.int64)
    longest = np.zeros(count + 1, dtype=np.int64)
    for _ in range(count + 2):
        updated = longest.copy()
        np.maximum.at(updated, target, longest[source] + weight)
        # Node `count` stands for the start of the iteration: nothing may push it beyond cycle 0.
        if updated[count] > 0:
            return True
        if np.array_equal(updated, longest):
            return False
        longest = updated
    return True


def recurrence_bound(graph: BlockGraph, model: TimingModel, *, at_least: int = 1) -> int:
    """RecMII: smallest interval at which the dependences alone can be met, `at_least` or more.

    Returns: the interval, or MAXIMUM_INTERVAL_CYCLES + 1 when there is none.
    """
    constraints = _constraints(graph, model)
    count = len(graph.operations)
    interval = at_least
    while interval <= MAXIMUM_INTERVAL_CYCLES and _positive_cycle(constraints, count, interval):
        interval += 1
    return interval


@dataclass(slots=True)
class _Program:
    """Rows of an integer program under construction."""

    rows: list[int]
    columns: list[int]
    values: list[float]
    low: list[float]
    high: list[float]

    def add(self, terms: Sequence[tuple[int, float]], low: float, high: float = np.inf) -> None:
        row = len(self.low)
        for column, value in terms:
            self.rows.append(row)
            self.columns.append(column)
            self.values.append(value)
        self.low.append(low)
        self.high.append(high)


def _contended(graph: BlockGraph) -> list[list[int]]:
    """Operations that share a resource, where there is more than one."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, resource in enumerate(graph.resources):
        if resource is not None:
            groups[resource].append(index)
    return [g for g in groups.values() if len(g) > 1]


def solve_interval(graph: BlockGraph, model: TimingModel, interval: int) -> tuple[int, ...] | None:
    """Start cycles at one interval that keep values in registers as briefly as possible.

    Returns: starts, or None when there are none (or none was found within NODE_LIMIT nodes).
    """
    count = len(graph.operations)
    program = _Program([], [], [], [], [])
    constraints = _constraints(graph, model)
    for c in constraints:
        bound = c.latency - c.distance * interval
        if c.target == -1:  # s[source] + latency <= interval
            program.add([(c.source, -1.0)], bound)
        elif c.source == c.target:
            if bound > 0:
                return None
        else:
            program.add([(c.target, 1.0), (c.source, -1.0)], bound)
    width = 2 * count  # starts, then the last use of each value
    for operation in graph.operations:
        for source in dict.fromkeys(operation.inputs):
            program.add([(count + source, 1.0), (operation.index, -1.0)], 0.0)
    width = _add_residues(graph, program, interval, width)
    if width is None:
        return None
    return _solve(program, count, width, graph)


def _add_residues(graph: BlockGraph, program: _Program, interval: int, width: int) -> int | None:
    """One binary an operation and residue; a busy unit takes neighbouring residues too."""
    for group in _contended(graph):
        column: dict[int, int] = {}
        for index in group:
            column[index] = width
            program.add([(width + k, 1.0) for k in range(interval)], 1.0, 1.0)
            quotient = width + interval
            residue = [(width + k, -float(k)) for k in range(1, interval)]
            program.add([(index, 1.0), (quotient, -float(interval)), *residue], 0.0, 0.0)
            width += interval + 1
        busy = graph.timings[group[0]].busy_cycles
        if busy * len(group) > interval:
            return None
        for slot in range(interval):
            terms = [
                (column[index] + (slot - back) % interval, 1.0) for index in group for back in range(busy)
            ]
            program.add(terms, -np.inf, 1.0)
    return width


def _solve(program: _Program, count: int, width: int, graph: BlockGraph) -> tuple[int, ...] | None:
    cost = np.zeros(width)
    used = {i for o in graph.operations for i in o.inputs}
    for index, operation in enumerate(graph.operations):
        weight = LIFETIME_WEIGHT if index in used and operation.opcode != "const" else 0.0
        cost[count + index] += weight
        cost[index] += START_WEIGHT - weight
    upper: NDArray[np.float64] = np.full(width, 1.0)
    horizon = sum(t.latency_cycles + 1 for t in graph.timings) + 64
    upper[: 2 * count] = horizon
    integral = np.ones(width)
    integral[count : 2 * count] = 0
    for group_start in _quotients(graph, width, count):
        upper[group_start] = horizon
    matrix = coo_matrix(
        (program.values, (program.rows, program.columns)), shape=(len(program.low), width)
    ).tocsr()
    result = milp(
        cost,
        constraints=LinearConstraint(matrix, program.low, program.high),
        integrality=integral,
        bounds=Bounds(0, upper),
        options={"node_limit": NODE_LIMIT, "mip_rel_gap": LIFETIME_GAP},
    )
    if result.x is None:
        return None
    return tuple(round(float(v)) for v in result.x[:count])


def _quotients(graph: BlockGraph, width: int, count: int) -> list[int]:
    """Columns of the quotient variables: the last of each contended operation's columns."""
    contended = sum(len(g) for g in _contended(graph))
    if not contended:
        return []
    step = (width - 2 * count) // contended
    return [2 * count + step * (k + 1) - 1 for k in range(contended)]


def check_modulo(graph: BlockGraph, starts: Sequence[int], interval: int) -> list[str]:
    """Every dependence or resource a modulo schedule breaks; empty for a valid one."""
    broken = [
        f"operation {e.target} starts before {e.source} allows"
        for e in graph.edges
        if starts[e.target] + e.distance * interval < starts[e.source] + e.latency_cycles
    ]
    used: dict[tuple[tuple[str, str], int], int] = {}
    for index, resource in enumerate(graph.resources):
        if resource is None:
            continue
        for k in range(graph.timings[index].busy_cycles):
            slot = (resource, (starts[index] + k) % interval)
            if slot in used:
                broken.append(f"operations {used[slot]} and {index} share {resource} in one cycle")
            used[slot] = index
    return broken


def modulo_schedule(graph: BlockGraph, model: TimingModel, requested: int) -> BlockSchedule | None:
    """Schedule a loop block with the smallest feasible interval, `requested` or more.

    Args:    requested: the interval asked for; 1 asks for the smallest.
    Returns: the schedule, or None when no interval up to MAXIMUM_INTERVAL_CYCLES is feasible.
    """
    resource, culprit = resource_bound(graph)
    recurrence = recurrence_bound(graph, model)
    interval = max(requested, resource, recurrence)
    while interval <= MAXIMUM_INTERVAL_CYCLES:
        starts = solve_interval(graph, model, interval)
        if starts is not None and not check_modulo(graph, starts, interval):
            alone = _unconstrained_starts(graph, model, interval)
            return BlockSchedule(
                graph=graph,
                starts=starts,
                length_cycles=block_length(graph, starts, model),
                interval_cycles=interval,
                conflict_cycles=_conflicts(graph, starts, alone),
                bound=_explain(interval, requested, resource, culprit, recurrence),
            )
        interval += 1
    return None


def _explain(interval: int, requested: int, resource: int, culprit: str, recurrence: int) -> str:
    parts = [f"ResMII {resource}" + (f" ({culprit})" if culprit else ""), f"RecMII {recurrence}"]
    if requested > 1:
        parts.append(f"requested {requested}")
    return f"II {interval}: " + ", ".join(parts)


def _unconstrained_starts(graph: BlockGraph, model: TimingModel, interval: int) -> list[int]:
    """Earliest starts at an interval when ports and units were free."""
    count = len(graph.operations)
    starts = [0] * count
    constraints = [c for c in _constraints(graph, model) if c.target >= 0]
    for _ in range(count + 1):
        changed = False
        for c in constraints:
            earliest = starts[c.source] + c.latency - c.distance * interval
            if earliest > starts[c.target]:
                starts[c.target], changed = earliest, True
        if not changed:
            break
    return starts


def _conflicts(graph: BlockGraph, starts: Sequence[int], alone: Sequence[int]) -> int:
    contended = {i for group in _contended(graph) for i in group}
    return sum(
        max(0, starts[i] - alone[i]) for i in contended if graph.operations[i].opcode in ("load", "store")
    )


def is_pipelinable(block: Block) -> bool:
    """Whether a block is one iteration of a loop."""
    return block.index in block.successors
