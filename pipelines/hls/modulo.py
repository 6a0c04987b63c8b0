"""Modulo scheduling of a loop block: the smallest initiation interval, then the shortest lifetimes.

Belongs here: the lower bounds on the interval, sharing ports among iterations, the linear program over
lifetimes, the check of the answer. Does not: which loop is pipelined.

For an interval II every operation gets a start cycle s >= 0 with s_j + d II >= s_i + l for every dependence
(latency l, distance d), at most one operation of a port or unit in each residue modulo II, and no
combinational path longer than the clock allows. Which residue each contended operation takes is found by
a search that is complete within its budget of nodes; given the residues, the starts that keep values in
registers as briefly as possible are a linear program over differences, whose vertices are integral.

Source: Rau 1994, "Iterative modulo scheduling", section 2 (bounds ResMII and RecMII); Cong and Zhang 2006,
"An efficient and versatile scheduling algorithm based on SDC formulation", section 3 (chaining as
difference constraints, integrality). Differs in the search for residues, which needs no eviction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix

from pipelines.hls.difference import DifferenceSystem, Integers, system_of
from pipelines.hls.operators import TimingModel
from pipelines.hls.schedule import BlockGraph, BlockSchedule, block_length

MAXIMUM_INTERVAL_CYCLES = 512
NODE_LIMIT = 64
"""Residues the search may try at one interval. A limit in time would make results depend on load."""

LIFETIME_WEIGHT = 1.0
START_WEIGHT = 0.05


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


def recurrence_bound(graph: BlockGraph, model: TimingModel, *, at_least: int = 1) -> int:
    """RecMII: smallest interval at which the dependences alone can be met, `at_least` or more.

    Returns: the interval, or MAXIMUM_INTERVAL_CYCLES + 1 when there is none.
    """
    interval = at_least
    while interval <= MAXIMUM_INTERVAL_CYCLES:
        if system_of(graph, model, interval).earliest({}) is not None:
            return interval
        interval += 1
    return interval


def _contended(graph: BlockGraph) -> list[list[int]]:
    """Operations that share a resource, where there is more than one."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, resource in enumerate(graph.resources):
        if resource is not None:
            groups[resource].append(index)
    return [g for g in groups.values() if len(g) > 1]


@dataclass(slots=True)
class _ResidueSearch:
    """Depth-first search for a residue of every contended operation.

    The operation that can start first is placed first, in the earliest residue that is free; each choice
    moves the earliest starts of all others (`DifferenceSystem.earliest`), and a choice without a solution
    is taken back. Because the least solution is found for every set of residues, a search that ends within
    its budget without an answer proves that there is none.
    """

    graph: BlockGraph
    system: DifferenceSystem
    budget: int = NODE_LIMIT
    residues: dict[int, int] = field(default_factory=dict[int, int])
    taken: set[tuple[tuple[str, str], int]] = field(default_factory=set[tuple[tuple[str, str], int]])

    heights: list[int] = field(default_factory=list[int])

    def run(self) -> Integers | None:
        self.heights = self.system.heights()
        waiting = {i for group in _contended(self.graph) for i in group}
        earliest = self.system.earliest({})
        return None if earliest is None else self._place(waiting, earliest)

    def _slots(self, index: int, residue: int) -> list[tuple[tuple[str, str], int]]:
        resource = self.graph.resources[index]
        busy = self.graph.timings[index].busy_cycles
        return [(resource, (residue + k) % self.system.interval) for k in range(busy) if resource]

    def _place(self, waiting: set[int], earliest: Integers) -> Integers | None:
        if not waiting:
            return earliest
        index = min(waiting, key=lambda i: (-self.heights[i], i))
        for offset in range(self.system.interval):
            residue = (int(earliest[index]) + offset) % self.system.interval
            slots = self._slots(index, residue)
            if self.taken.intersection(slots) or len(set(slots)) < len(slots):
                continue
            if self.budget == 0:
                return None
            self.budget -= 1
            self.residues[index] = residue
            self.taken.update(slots)
            moved = self.system.earliest(self.residues, earliest)
            if moved is not None:
                found = self._place(waiting - {index}, moved)
                if found is not None:
                    return found
            del self.residues[index]
            self.taken.difference_update(slots)
        return None


def solve_interval(graph: BlockGraph, model: TimingModel, interval: int) -> tuple[int, ...] | None:
    """Start cycles at one interval that keep values in registers briefly.

    Returns: starts, or None when there are none (or none was found within NODE_LIMIT nodes).
    """
    system = system_of(graph, model, interval)
    search = _ResidueSearch(graph=graph, system=system)
    earliest = search.run()
    if earliest is None:
        return None
    return _shorten_lifetimes(graph, system, earliest, set(search.residues))


def _shorten_lifetimes(
    graph: BlockGraph, system: DifferenceSystem, earliest: Integers, placed: set[int]
) -> tuple[int, ...]:
    """Move operations that share nothing so that the sum of lifetimes is least.

    Args:    earliest: a valid schedule; placed: operations that stay where they are.
    Returns: a valid schedule; the given one if the program should fail.
    """
    count = system.count
    rows: list[tuple[int, int, float]] = [
        (int(t), int(s), float(w))
        for s, t, w in zip(system.source, system.target, system.weight, strict=True)
        if s != t
    ]
    # Variables: starts, the iteration's start (always 0), then the last use of each value.
    uses = {(i, o.index) for o in graph.operations for i in o.inputs}
    rows += [(count + 1 + value, user, 0.0) for value, user in sorted(uses)]
    entries = [(k, c, v) for k, (plus, minus, _) in enumerate(rows) for c, v in ((plus, 1.0), (minus, -1.0))]
    width = 2 * count + 1
    matrix = coo_matrix(
        ([v for _, _, v in entries], ([k for k, _, _ in entries], [c for _, c, _ in entries])),
        shape=(len(rows), width),
    ).tocsr()
    cost = np.zeros(width)
    used = {value for value, _ in uses}
    for index, operation in enumerate(graph.operations):
        weight = LIFETIME_WEIGHT if index in used and operation.opcode != "const" else 0.0
        cost[count + 1 + index] += weight
        cost[index] += START_WEIGHT - weight
    low, high = np.zeros(width), np.full(width, float(earliest.max() + system.interval + 64))
    high[count] = 0.0
    for index in placed:
        low[index] = high[index] = float(earliest[index])
    result = milp(
        cost,
        constraints=LinearConstraint(matrix, [w for _, _, w in rows], np.inf),
        bounds=Bounds(low, high),
    )
    fallback = tuple(int(t) for t in earliest[:count])
    if result.x is None:
        return fallback
    starts = tuple(round(float(v)) for v in result.x[:count])
    times = np.array([*starts, 0], dtype=np.int64)
    kept = bool(np.all(times[system.target] >= times[system.source] + system.weight))
    return starts if kept else fallback


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
            alone = system_of(graph, model, interval).earliest({})
            return BlockSchedule(
                graph=graph,
                starts=starts,
                length_cycles=block_length(graph, starts, model),
                interval_cycles=interval,
                conflict_cycles=0 if alone is None else _conflicts(graph, starts, alone),
                bound=_explain(interval, requested, resource, culprit, recurrence),
            )
        interval += 1
    return None


def _explain(interval: int, requested: int, resource: int, culprit: str, recurrence: int) -> str:
    parts = [f"ResMII {resource}" + (f" ({culprit})" if culprit else ""), f"RecMII {recurrence}"]
    if requested > 1:
        parts.append(f"requested {requested}")
    return f"II {interval}: " + ", ".join(parts)


def _conflicts(graph: BlockGraph, starts: Sequence[int], alone: Integers) -> int:
    """Cycles by which memory accesses that share a port start later than they could alone."""
    contended = {i for group in _contended(graph) for i in group}
    return sum(
        max(0, starts[i] - int(alone[i]))
        for i in contended
        if graph.operations[i].opcode in ("load", "store")
    )
