"""Residues modulo the interval of contended operations: exact search, integer programming, heuristic.

Each is bounded by a count (relaxed constraints, nodes, placements), never by time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from heapq import heapify, heappop, heappush
from typing import Any

from pipelines.hls.difference import Budget, ConstraintGraph
from pipelines.hls.schedule import BlockGraph, Resource

SEARCH_BUDGET = 100_000
"""Constraints and slots that the search may visit per interval (about a tenth of a second)."""

Slot = tuple[Resource, int]


class Verdict(Enum):
    """Result for an interval without a schedule."""

    INFEASIBLE = "no schedule exists"
    UNKNOWN = "none was found"


def contended(graph: BlockGraph) -> list[int]:
    """Return the operations on a resource that has more users than capacity per cycle."""
    groups: dict[Resource, list[int]] = defaultdict(list)
    for index, resource in enumerate(graph.resources):
        if resource is not None:
            groups[resource].append(index)
    operations: list[int] = []
    for resource, members in groups.items():
        if len(members) > graph.capacity(resource):
            operations += members
    return sorted(operations)


def slots_of(graph: BlockGraph, index: int, start: int, interval: int) -> list[Slot]:
    """Return the slots of an operation that starts in a cycle: its resource in some residues."""
    resource = graph.resources[index]
    if resource is None:
        return []
    busy = graph.timings[index].busy_cycles
    return [(resource, (start + k) % interval) for k in range(busy)]


@dataclass(slots=True)
class Reservations:
    """Number of reservations of each slot."""

    graph: BlockGraph
    interval: int
    taken: dict[Slot, int] = field(default_factory=dict[Slot, int])

    def fits(self, index: int, start: int) -> bool:
        """Tell whether an operation may start in a cycle."""
        slots = slots_of(self.graph, index, start, self.interval)
        if len(set(slots)) < len(slots):
            return False
        return all(self.taken.get(s, 0) < self.graph.capacity(s[0]) for s in slots)

    def change(self, index: int, start: int, by: int) -> None:
        """Reserve (1) or release (-1) the slots of an operation."""
        for slot in slots_of(self.graph, index, start, self.interval):
            self.taken[slot] = self.taken.get(slot, 0) + by


@dataclass(slots=True)
class ResidueSearch:
    """Depth-first search for a residue of every contended operation.

    The operation with the longest path after it is placed first, in its earliest free residue; each choice
    moves the earliest starts of all others, and a choice without a solution is undone. The least solution is
    computed for every set of residues, so a search that ends within its budget without a solution proves that
    none exists.
    """

    graph: BlockGraph
    constraints: ConstraintGraph
    interval: int
    budget: Budget = field(default_factory=lambda: Budget(SEARCH_BUDGET))
    residues: dict[int, int] = field(default_factory=dict[int, int])

    def run(self) -> list[int] | Verdict:
        """Return starts of all operations, least for their residues, or the verdict without a schedule."""
        earliest = self.constraints.earliest(self.interval)
        if earliest is None:
            return Verdict.INFEASIBLE
        heights = self.constraints.heights(self.interval)
        order = sorted(contended(self.graph), key=lambda i: (-heights[i], i))
        starts = self._place(order, 0, earliest, Reservations(graph=self.graph, interval=self.interval))
        if starts is None:
            return Verdict.UNKNOWN if self.budget.exhausted else Verdict.INFEASIBLE
        return starts

    def _place(
        self, order: Sequence[int], depth: int, earliest: list[int], reserved: Reservations
    ) -> list[int] | None:
        if depth == len(order):
            return earliest
        index = order[depth]
        for offset in range(self.interval):
            start = earliest[index] + offset
            self.budget.spend(self.graph.timings[index].busy_cycles)
            if not reserved.fits(index, start):
                continue
            if self.budget.exhausted:
                return None
            self.residues[index] = start % self.interval
            reserved.change(index, start, 1)
            moved = self.constraints.earliest(
                self.interval, self.residues, earliest, changed=[index], budget=self.budget
            )
            starts = None if moved is None else self._place(order, depth + 1, moved, reserved)
            if starts is not None:
                return starts
            del self.residues[index]
            reserved.change(index, start, -1)
        return None


PROGRAM_NODES = 100
"""Nodes of branch and bound per interval."""

PROGRAM_SIZE = 600
"""Largest integer program that is solved, in slots of its operations."""


def solve_program(graph: BlockGraph, constraints: ConstraintGraph, interval: int) -> list[int] | Verdict:
    """Return the starts at one interval by integer programming.

    A contended operation starts at interval * k + sum over r of r x[r], where exactly one of its binaries x
    is 1; in each residue a resource holds at most its capacity. The other starts follow from differences.

    Source: Eichenberger and Davidson 1997, "Efficient formulation for optimal modulo schedulers", for the
            split of starts into multiples and residues.
    """
    members = contended(graph)
    if sum(graph.timings[i].busy_cycles for i in members) * interval > PROGRAM_SIZE:
        return Verdict.UNKNOWN
    from pyscipopt import Model, quicksum  # lazy import: who only asks a predictor has no solver

    model = Model()
    model.hideOutput()
    model.setParam("limits/totalnodes", PROGRAM_NODES)
    model.setParam("limits/solutions", 1)
    horizon = constraints.horizon(interval, len(members))
    starts = [model.addVar(vtype="C", lb=0, ub=horizon) for _ in range(constraints.count)]
    starts.append(model.addVar(vtype="C", lb=0, ub=0))
    for c in constraints.constraints:
        if c.source != c.target:
            model.addCons(starts[c.target] - starts[c.source] >= c.latency - c.distance * interval)
    picks = {i: [model.addVar(vtype="B") for _ in range(interval)] for i in members}
    for index, pick in picks.items():
        multiple = model.addVar(vtype="I", lb=0, ub=horizon // interval + 1)
        model.addCons(quicksum(pick) == 1)
        model.addCons(starts[index] == interval * multiple + quicksum(r * x for r, x in enumerate(pick)))
    _add_room(model, graph, picks, interval)
    model.setObjective(quicksum(starts), "minimize")
    model.optimize()
    if model.getStatus() == "infeasible":
        return Verdict.INFEASIBLE
    if model.getNSols() == 0:
        return Verdict.UNKNOWN
    residues = {
        index: next(r for r, x in enumerate(pick) if model.getVal(x) > 0.5) for index, pick in picks.items()
    }
    return constraints.earliest(interval, residues) or Verdict.UNKNOWN


def _add_room(model: Any, graph: BlockGraph, picks: Mapping[int, Sequence[Any]], interval: int) -> None:
    """Limit the operations on a resource to its capacity in each residue."""
    from pyscipopt import quicksum

    holders: dict[Slot, list[Any]] = defaultdict(list)
    for index, pick in picks.items():
        for residue in range(interval):
            for slot in slots_of(graph, index, residue, interval):
                holders[slot].append(pick[residue])
    for slot, variables in sorted(holders.items()):
        model.addCons(quicksum(variables) <= graph.capacity(slot[0]))


BUDGET_RATIO = 6
"""Placements per operation that an attempt may make."""


@dataclass(slots=True)
class _Attempt:
    """One attempt at one interval.

    Attributes:
        starts: of placed operations; previous: last start of operations that were displaced.
        holders: operations in each slot.
    """

    graph: BlockGraph
    constraints: ConstraintGraph
    interval: int
    floor: list[int]
    deadlines: dict[int, int]
    rank: list[int]
    reserved: Reservations
    starts: dict[int, int] = field(default_factory=dict[int, int])
    previous: dict[int, int] = field(default_factory=dict[int, int])
    holders: dict[Slot, list[int]] = field(default_factory=lambda: defaultdict(list))
    queue: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def run(self) -> list[int] | None:
        count = self.constraints.count
        self.queue = [(self.rank[i], i) for i in range(count)]
        heapify(self.queue)
        for _ in range(BUDGET_RATIO * count):
            if not self.queue:
                break
            _, index = heappop(self.queue)
            start = self._choose(index)
            if start > self.deadlines.get(index, start):
                return None
            self._place(index, start)
        return None if self.queue else [*(self.starts[i] for i in range(count)), 0]

    def _choose(self, index: int) -> int:
        earliest = self.floor[index]
        for source, latency, distance in self.constraints.incoming[index]:
            if source in self.starts:
                earliest = max(earliest, self.starts[source] + latency - distance * self.interval)
        if self.graph.resources[index] is None:
            return earliest
        for start in range(earliest, earliest + self.interval):
            if self.reserved.fits(index, start):
                return start
        return max(earliest, self.previous.get(index, -1) + 1)

    def _place(self, index: int, start: int) -> None:
        if self.graph.resources[index] is not None and not self.reserved.fits(index, start):
            for slot in slots_of(self.graph, index, start, self.interval):
                while len(self.holders[slot]) >= self.graph.capacity(slot[0]):
                    self._displace(max(self.holders[slot], key=lambda i: (self.rank[i], i)))
        self.starts[index] = self.previous[index] = start
        self.reserved.change(index, start, 1)
        for slot in slots_of(self.graph, index, start, self.interval):
            self.holders[slot].append(index)
        for target, latency, distance in self.constraints.outgoing[index]:
            if target != index and self.starts.get(target, start + latency) < (
                start + latency - distance * self.interval
            ):
                self._displace(target)

    def _displace(self, index: int) -> None:
        start = self.starts.pop(index)
        self.reserved.change(index, start, -1)
        for slot in slots_of(self.graph, index, start, self.interval):
            self.holders[slot].remove(index)
        heappush(self.queue, (self.rank[index], index))


def iterative_schedule(graph: BlockGraph, constraints: ConstraintGraph, interval: int) -> list[int] | None:
    """Schedule one interval by iterative modulo scheduling, for blocks of thousands of operations.

    Returns: (count + 1,) starts, or None when the attempt failed.
    Source:  Rau 1994, "Iterative modulo scheduling: an algorithm for software pipelining loops". Differs in
             that the start of the iteration, which the loop's condition must precede, gives deadlines.
    """
    floor = constraints.earliest(interval)
    if floor is None or any(t.busy_cycles > interval for t in graph.timings):
        return None
    heights = constraints.heights(interval)
    order = sorted(range(constraints.count), key=lambda i: (-heights[i], i))
    rank = [0] * constraints.count
    for position, index in enumerate(order):
        rank[index] = position
    attempt = _Attempt(
        graph=graph,
        constraints=constraints,
        interval=interval,
        floor=floor,
        deadlines=constraints.deadlines(interval),
        rank=rank,
        reserved=Reservations(graph=graph, interval=interval),
    )
    return attempt.run()
