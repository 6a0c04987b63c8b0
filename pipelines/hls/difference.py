"""Difference constraints of a loop block: what every modulo schedule must keep, as a graph.

Belongs here: gathering the constraints of a block, its earliest starts and the cycle that bounds its interval
from below. Does not: choosing between operations that share a port (`residues.py`, `iterative.py`).

A constraint reads s[target] - s[source] >= latency - distance * interval. The node after the last operation
stands for the first cycle of an iteration: what it must not follow has a deadline.

Source: Cong and Zhang 2006, "An efficient and versatile scheduling algorithm based on SDC formulation",
section 3 (chaining as difference constraints).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from pipelines.hls.operators import TimingModel
from pipelines.hls.schedule import BlockGraph, closing_values


@dataclass(frozen=True, slots=True)
class Constraint:
    """`s[target] - s[source] >= latency - distance * interval`."""

    source: int
    target: int
    latency: int
    distance: int


def _chain_constraints(graph: BlockGraph, budget_ns: float) -> Iterator[Constraint]:
    """One cycle of distance between the ends of every combinational path that is too long."""
    following: list[list[int]] = [[] for _ in graph.operations]
    for operation in graph.operations:
        if operation.index in graph.live:
            for source in dict.fromkeys(operation.inputs):
                following[source].append(operation.index)
    tails = _longest_tails(graph, following)
    for start, timing in enumerate(graph.timings):
        own = timing.delay_ns if timing.latency_cycles == 0 else timing.output_ns
        if own > 0 and tails[start] > budget_ns:
            yield from _too_long_from(start, own, graph, following, budget_ns)


def _longest_tails(graph: BlockGraph, following: Sequence[Sequence[int]]) -> list[float]:
    """Longest combinational path that begins with each operation's value, its own delay included."""
    tails = [t.delay_ns if t.latency_cycles == 0 else t.output_ns for t in graph.timings]
    reach = [0.0] * len(tails)
    for index in reversed(range(len(tails))):
        beyond = max((reach[t] for t in following[index]), default=0.0)
        tails[index] += beyond
        timing = graph.timings[index]
        reach[index] = timing.delay_ns if timing.latency_cycles else tails[index]
    return tails


def _too_long_from(
    start: int, own: float, graph: BlockGraph, following: Sequence[Sequence[int]], budget_ns: float
) -> Iterator[Constraint]:
    """Constraints on what cannot settle in the cycle in which the value of `start` is made."""
    latency = graph.timings[start].latency_cycles
    reached = {start: own}
    queue = [start]
    while queue:
        index = heappop(queue)
        for target in following[index]:
            delay = reached[index] + graph.timings[target].delay_ns
            if delay > budget_ns:
                yield Constraint(start, target, latency + 1, 0)
            elif graph.timings[target].latency_cycles == 0 and delay > reached.get(target, -1.0):
                if target not in reached:
                    heappush(queue, target)
                reached[target] = delay


@dataclass(slots=True)
class ConstraintGraph:
    """The constraints of a block, ready to be asked about any interval.

    Attributes:
        count: operations; node `count` is the start of the iteration, at cycle 0.
        constraints: no two between the same nodes at one distance.
        outgoing: for each node (target, latency, distance).
        incoming: for each node (source, latency, distance).
    """

    count: int
    constraints: tuple[Constraint, ...]
    outgoing: list[list[tuple[int, int, int]]] = field(init=False)
    incoming: list[list[tuple[int, int, int]]] = field(init=False)

    def __post_init__(self) -> None:
        self.outgoing = [[] for _ in range(self.count + 1)]
        self.incoming = [[] for _ in range(self.count + 1)]
        for c in self.constraints:
            self.outgoing[c.source].append((c.target, c.latency, c.distance))
            self.incoming[c.target].append((c.source, c.latency, c.distance))

    def horizon(self, interval: int, fixed: int) -> int:
        """A cycle that no least solution reaches: every path takes each constraint once at most."""
        latencies = sum(max(0, c.latency) for c in self.constraints)
        return latencies + interval * (fixed + 2)

    def earliest(
        self,
        interval: int,
        residues: Mapping[int, int] | None = None,
        begin: Sequence[int] | None = None,
        changed: Sequence[int] | None = None,
        budget: Budget | None = None,
    ) -> list[int] | None:
        """Earliest starts when some operations must start in a given residue modulo the interval.

        Args:    residues: operation -> residue; begin: (count + 1,) lower bounds to begin from;
                 changed: nodes whose bounds or residues are new since `begin` was a solution.
        Returns: (count + 1,) the least solution, or None when there is none.
        """
        residues = residues or {}
        times = [0] * (self.count + 1) if begin is None else list(begin)
        horizon = self.horizon(interval, len(residues))
        queue = list(range(self.count + 1)) if changed is None else sorted(changed)
        queued = set(queue)
        for node in queue:
            if node in residues:
                times[node] += (residues[node] - times[node]) % interval
        while queue:
            node = heappop(queue)
            queued.discard(node)
            time = times[node]
            if budget is not None:
                budget.spend(len(self.outgoing[node]))
            for target, latency, distance in self.outgoing[node]:
                wanted = time + latency - distance * interval
                if wanted <= times[target]:
                    continue
                if target in residues:
                    wanted += (residues[target] - wanted) % interval
                if target == self.count or wanted > horizon:
                    return None
                times[target] = wanted
                if target not in queued:
                    queued.add(target)
                    heappush(queue, target)
        return times

    def heights(self, interval: int) -> list[int]:
        """Longest path from each node to any other, in cycles, at a feasible interval."""
        found = [0] * (self.count + 1)
        queue = [-n for n in reversed(range(self.count + 1))]
        queued = set(range(self.count + 1))
        while queue:
            node = -heappop(queue)
            queued.discard(node)
            for source, latency, distance in self.incoming[node]:
                height = found[node] + latency - distance * interval
                if height > found[source]:
                    found[source] = height
                    if source not in queued:
                        queued.add(source)
                        heappush(queue, -source)
        return found

    def deadlines(self, interval: int) -> dict[int, int]:
        """Latest start of each node that the start of the iteration bounds, at a feasible interval."""
        latest = {self.count: 0}
        queue = [self.count]
        while queue:
            node = queue.pop()
            for source, latency, distance in self.incoming[node]:
                bound = latest[node] - latency + distance * interval
                if bound < latest.get(source, bound + 1):
                    latest[source] = bound
                    queue.append(source)
        return latest


@dataclass(slots=True)
class Budget:
    """Work that a search may still do; counted, so that results are the same on every machine."""

    left: int

    def spend(self, amount: int) -> None:
        """Take some of it."""
        self.left -= amount

    @property
    def exhausted(self) -> bool:
        """Nothing is left."""
        return self.left < 0


def constraint_graph(graph: BlockGraph, model: TimingModel) -> ConstraintGraph:
    """Dependences, the loop's own condition, and the clock, as constraints on starts."""
    count = len(graph.operations)
    strongest: dict[tuple[int, int, int], int] = {}

    def add(c: Constraint) -> None:
        key = (c.source, c.target, c.distance)
        strongest[key] = max(strongest.get(key, c.latency), c.latency)

    for e in graph.edges:
        add(Constraint(e.source, e.target, e.latency_cycles, e.distance))
    # The next iteration may start only when this one knows that it does.
    for condition in closing_values(graph.block):
        add(Constraint(condition, count, graph.timings[condition].latency_cycles + 1, 1))
    for c in _chain_constraints(graph, model.budget_ns):
        add(c)
    found = (Constraint(s, t, latency, d) for (s, t, d), latency in strongest.items())
    return ConstraintGraph(count=count, constraints=tuple(found))
