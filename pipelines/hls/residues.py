"""Which residue modulo the interval each contended operation takes: an exact search.

Bounded by a count of relaxed constraints, never by time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from pipelines.hls.difference import Budget, ConstraintGraph
from pipelines.hls.schedule import BlockGraph, Resource

SEARCH_BUDGET = 100_000
"""Constraints and slots the search may look at, at one interval (about a tenth of a second)."""

Slot = tuple[Resource, int]


class Verdict(Enum):
    """What is known of an interval when no schedule was found."""

    INFEASIBLE = "no schedule exists"
    UNKNOWN = "none was found"


def contended(graph: BlockGraph) -> list[int]:
    """Operations that share a resource with more others than it has room for in one cycle."""
    groups: dict[Resource, list[int]] = defaultdict(list)
    for index, resource in enumerate(graph.resources):
        if resource is not None:
            groups[resource].append(index)
    found: list[int] = []
    for resource, members in groups.items():
        if len(members) > graph.capacity(resource):
            found += members
    return sorted(found)


def slots_of(graph: BlockGraph, index: int, start: int, interval: int) -> list[Slot]:
    """What an operation holds when it starts in a cycle: its resource in some residues."""
    resource = graph.resources[index]
    if resource is None:
        return []
    busy = graph.timings[index].busy_cycles
    return [(resource, (start + k) % interval) for k in range(busy)]


@dataclass(slots=True)
class Reservations:
    """How often each slot is taken."""

    graph: BlockGraph
    interval: int
    taken: dict[Slot, int] = field(default_factory=dict[Slot, int])

    def fits(self, index: int, start: int) -> bool:
        """Whether an operation may start in a cycle."""
        slots = slots_of(self.graph, index, start, self.interval)
        if len(set(slots)) < len(slots):
            return False
        return all(self.taken.get(s, 0) < self.graph.capacity(s[0]) for s in slots)

    def change(self, index: int, start: int, by: int) -> None:
        """Take (1) or give back (-1) what an operation holds."""
        for slot in slots_of(self.graph, index, start, self.interval):
            self.taken[slot] = self.taken.get(slot, 0) + by


@dataclass(slots=True)
class ResidueSearch:
    """Depth-first search for a residue of every contended operation.

    The operation with the longest path behind it is placed first, in the earliest residue that is free;
    each choice moves the earliest starts of all others, and a choice without a solution is taken back.
    Because the least solution is found for every set of residues, a search that ends within its budget
    without an answer proves that there is none.
    """

    graph: BlockGraph
    constraints: ConstraintGraph
    interval: int
    budget: Budget = field(default_factory=lambda: Budget(SEARCH_BUDGET))
    residues: dict[int, int] = field(default_factory=dict[int, int])

    def run(self) -> list[int] | Verdict:
        """Starts of all operations, least for the residues found, or why there are none."""
        earliest = self.constraints.earliest(self.interval)
        if earliest is None:
            return Verdict.INFEASIBLE
        heights = self.constraints.heights(self.interval)
        order = sorted(contended(self.graph), key=lambda i: (-heights[i], i))
        found = self._place(order, 0, earliest, Reservations(graph=self.graph, interval=self.interval))
        if found is None:
            return Verdict.UNKNOWN if self.budget.exhausted else Verdict.INFEASIBLE
        return found

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
            found = None if moved is None else self._place(order, depth + 1, moved, reserved)
            if found is not None:
                return found
            del self.residues[index]
            reserved.change(index, start, -1)
        return None
