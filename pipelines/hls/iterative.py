"""Iterative modulo scheduling: a heuristic for blocks of thousands of operations.

Source: Rau 1994, "Iterative modulo scheduling: an algorithm for software pipelining loops". Differs in that
the start of the iteration, which the loop's condition must precede, gives deadlines.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from pipelines.hls.difference import ConstraintGraph
from pipelines.hls.residues import Reservations, Slot, slots_of
from pipelines.hls.schedule import BlockGraph

BUDGET_RATIO = 6
"""Placements an attempt may make for each operation."""


@dataclass(slots=True)
class _Attempt:
    """One attempt at one interval.

    Attributes:
        starts: of what is placed; previous: last start of what was placed once.
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
    """Starts at one interval, (count + 1,), or None when the attempt failed."""
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
