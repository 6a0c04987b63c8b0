"""Difference constraints of a loop block, as a graph, and the recurrence that bounds its interval.

A constraint reads s[target] - s[source] >= latency - distance * interval. The node after the last operation
stands for the first cycle of an iteration; an operation that must precede it has a deadline.

Source: Cong and Zhang 2006, "An efficient and versatile scheduling algorithm based on SDC formulation",
section 3 (chaining as difference constraints). Rau 1994, "Iterative modulo scheduling" (RecMII as the largest
ratio of latency to distance over all cycles).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from pipelines.hls.operators import TimingModel
from pipelines.hls.schedule import BlockGraph, closing_values, forwardable

ITERATIONS_CROSSED = 2
"""Iterations through which a combinational path is followed along forwarded variables."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """`s[target] - s[source] >= latency - distance * interval`."""

    source: int
    target: int
    latency: int
    distance: int


@dataclass(slots=True)
class _Chains:
    """Combinational paths of a block, forwarded variables included.

    Attributes:
        following: for each operation (user of its value, iterations later).
        tails: longest path that begins with each operation's value, its own delay included.
    """

    graph: BlockGraph
    budget_ns: float
    following: list[list[tuple[int, int]]] = field(init=False)
    tails: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.following = [[] for _ in self.graph.operations]
        for operation in self.graph.operations:
            if operation.index in self.graph.live and operation.opcode != "write":
                for source in dict.fromkeys(operation.inputs):
                    self.following[source].append((operation.index, 0))
        for read, write in forwardable(self.graph).items():
            if read in self.graph.forwarded:
                self.following[self.graph.operations[write].operands[0]].append((read, 1))
        self.tails = [self.value_ns(i) for i in range(len(self.following))]
        for _ in range(1 + ITERATIONS_CROSSED * bool(self.graph.forwarded)):
            self.tails = self._longer_tails(self.tails)

    def value_ns(self, index: int) -> float:
        """Return when an operation's value settles within its cycle if nothing is chained before it."""
        timing = self.graph.timings[index]
        return timing.output_ns if timing.latency_cycles else timing.delay_ns

    def _longer_tails(self, before: Sequence[float]) -> list[float]:
        """Return the tails within an iteration, continued by the tails `before` in the next one."""
        tails = [0.0] * len(before)
        for index in reversed(range(len(before))):
            beyond = 0.0
            for target, distance in self.following[index]:
                timing = self.graph.timings[target]
                tail = before[target] if distance else tails[target]
                beyond = max(beyond, timing.delay_ns if timing.latency_cycles else tail)
            tails[index] = self.value_ns(index) + beyond
        return tails

    def constraints(self) -> Iterator[Constraint]:
        """Yield one cycle of distance between the ends of every combinational path that is too long."""
        for start in range(len(self.tails)):
            if self.value_ns(start) > 0 and self.tails[start] > self.budget_ns:
                yield from self._too_long_from(start)

    def _too_long_from(self, start: int) -> Iterator[Constraint]:
        """Yield the constraints on operations that cannot settle in the cycle in which `start` settles."""
        latency = self.graph.timings[start].latency_cycles
        reached = {(0, start): self.value_ns(start)}
        queue = [(0, start)]
        while queue:
            crossed, index = place = heappop(queue)
            for target, distance in self.following[index]:
                there = (crossed + distance, target)
                delay = reached[place] + self.graph.timings[target].delay_ns
                if delay > self.budget_ns:
                    yield Constraint(start, target, latency + 1, there[0])
                elif self.graph.timings[target].latency_cycles == 0 and there[0] <= ITERATIONS_CROSSED:
                    if there not in reached:
                        heappush(queue, there)
                    reached[there] = max(delay, reached.get(there, 0.0))


@dataclass(slots=True)
class ConstraintGraph:
    """The constraints of a block, for any interval.

    Attributes:
        count: operations; node `count` is the start of the iteration, at cycle 0.
        constraints: no two between the same nodes at one distance.
        outgoing: for each node (target, latency, distance).
        incoming: for each node (source, latency, distance).
        total_latency: sum of the latencies that are not negative.
    """

    count: int
    constraints: tuple[Constraint, ...]
    outgoing: list[list[tuple[int, int, int]]] = field(init=False)
    incoming: list[list[tuple[int, int, int]]] = field(init=False)
    total_latency: int = field(init=False)

    def __post_init__(self) -> None:
        self.outgoing = [[] for _ in range(self.count + 1)]
        self.incoming = [[] for _ in range(self.count + 1)]
        self.total_latency = sum(max(0, c.latency) for c in self.constraints)
        for c in self.constraints:
            self.outgoing[c.source].append((c.target, c.latency, c.distance))
            self.incoming[c.target].append((c.source, c.latency, c.distance))

    def horizon(self, interval: int, fixed: int) -> int:
        """Return a cycle that no least solution reaches: every path uses each constraint at most once."""
        return self.total_latency + interval * (fixed + 2)

    def earliest(
        self,
        interval: int,
        residues: Mapping[int, int] | None = None,
        begin: Sequence[int] | None = None,
        changed: Sequence[int] | None = None,
        budget: Budget | None = None,
    ) -> list[int] | None:
        """Return the earliest starts when some operations must start in a given residue modulo the interval.

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
                start = time + latency - distance * interval
                if start <= times[target]:
                    continue
                if target in residues:
                    start += (residues[target] - start) % interval
                if target == self.count or start > horizon:
                    return None
                times[target] = start
                if target not in queued:
                    queued.add(target)
                    heappush(queue, target)
        return times

    def heights(self, interval: int) -> list[int]:
        """Return the longest path from each node to any other, in cycles, at a feasible interval."""
        heights = [0] * (self.count + 1)
        queue = [-n for n in reversed(range(self.count + 1))]
        queued = set(range(self.count + 1))
        while queue:
            node = -heappop(queue)
            queued.discard(node)
            for source, latency, distance in self.incoming[node]:
                height = heights[node] + latency - distance * interval
                if height > heights[source]:
                    heights[source] = height
                    if source not in queued:
                        queued.add(source)
                        heappush(queue, -source)
        return heights

    def deadlines(self, interval: int) -> dict[int, int]:
        """Return latest start of each node that the start of the iteration bounds, at a feasible interval."""
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
    """Remaining work of a search, counted so that results are the same on every machine."""

    left: int

    def spend(self, amount: int) -> None:
        """Subtract some work."""
        self.left -= amount

    @property
    def exhausted(self) -> bool:
        """Whether no work is left."""
        return self.left < 0


def constraint_graph(graph: BlockGraph, model: TimingModel) -> ConstraintGraph:
    """Return dependences, the loop's own condition, and the clock, as constraints on starts."""
    count = len(graph.operations)
    strongest: dict[tuple[int, int, int], int] = {}

    def add(c: Constraint) -> None:
        key = (c.source, c.target, c.distance)
        strongest[key] = max(strongest.get(key, c.latency), c.latency)

    for e in graph.edges:
        add(Constraint(e.source, e.target, e.latency_cycles, e.distance))
    # The next iteration may start only after this one has computed the loop's condition.
    for condition in closing_values(graph.block):
        add(Constraint(condition, count, graph.timings[condition].latency_cycles + 1, 1))
    for c in _Chains(graph=graph, budget_ns=model.budget_ns).constraints():
        add(c)
    constraints = (Constraint(s, t, latency, d) for (s, t, d), latency in strongest.items())
    return ConstraintGraph(count=count, constraints=tuple(constraints))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """RecMII and the cycle that sets it.

    Attributes:
        interval: smallest interval at which the dependences alone can be met; None when there is none.
        cycle: nodes of the critical cycle in order, empty when the bound is 1 without one.
    """

    interval: int | None
    cycle: tuple[int, ...] = ()


def recurrence_bound(constraints: ConstraintGraph) -> Recurrence:
    """Return the RecMII of a block and the cycle of constraints that sets it."""
    interval, cycle = 1, ()
    while True:
        critical = _positive_cycle(constraints, interval)
        if not critical:
            return Recurrence(interval=interval, cycle=tuple(cycle))
        latency, distance = _totals(constraints, critical, interval)
        if distance == 0:
            return Recurrence(interval=None, cycle=tuple(critical))
        interval, cycle = -(-latency // distance), critical


def _totals(constraints: ConstraintGraph, cycle: Sequence[int], interval: int) -> tuple[int, int]:
    """Return the latency and distance around a cycle, by the tightest constraint of each step."""
    latency = distance = 0
    for source, target in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        if source == constraints.count:
            continue  # from the start of the iteration to any operation: 0 cycles
        steps = [(cycles, d) for t, cycles, d in constraints.outgoing[source] if t == target]
        best = max(steps, key=lambda step: step[0] - step[1] * interval)
        latency, distance = latency + best[0], distance + best[1]
    return latency, distance


def _positive_cycle(constraints: ConstraintGraph, interval: int) -> list[int]:
    """Return the nodes of a cycle whose latencies exceed its distances times the interval; empty when there
    is none.

    Longest paths are relaxed in order of the nodes, which most constraints follow; a cycle of parents is a
    cycle of constraints that keeps growing.
    """
    count = constraints.count
    times, parents = [0] * (count + 1), [-1] * (count + 1)
    dirty = set(range(count + 1))
    while dirty:
        changed: set[int] = set()
        for node in sorted(dirty):
            for target, latency, distance in constraints.outgoing[node]:
                start = times[node] + latency - distance * interval
                if start > times[target]:
                    times[target], parents[target] = start, node
                    changed.add(target)
        if times[count] > 0:
            return _path_to_start(parents, count)
        cycle = _cycle_of_parents(parents, changed)
        if cycle:
            return cycle
        dirty = changed
    return []


def _path_to_start(parents: Sequence[int], count: int) -> list[int]:
    """Return the path that moves the start of the iteration: with it, a cycle."""
    path, node = [count], parents[count]
    while node != -1 and node not in path:
        path.append(node)
        node = parents[node]
    if node != -1:  # a separate cycle feeds the path
        path = path[path.index(node) :]
    return path[::-1]


def _cycle_of_parents(parents: Sequence[int], changed: set[int]) -> list[int]:
    state: dict[int, int] = {}
    for root in sorted(changed):
        node, trail = root, list[int]()
        while node != -1 and node not in state:
            state[node] = root
            trail.append(node)
            node = parents[node]
        if node != -1 and state[node] == root and node in trail:
            return trail[trail.index(node) :][::-1]
    return []


def describe_recurrence(graph: BlockGraph, recurrence: Recurrence) -> str:
    """Describe variables, arrays and lines on the critical cycle; empty when there is no cycle."""
    operations = [graph.operations[i] for i in recurrence.cycle if i < len(graph.operations)]
    if not operations:
        return ""
    parts: list[str] = []
    variables = sorted({o.name for o in operations if o.opcode in ("read", "write")})
    arrays = sorted({o.name for o in operations if o.opcode in ("load", "store")})
    if variables:
        parts.append("variable " + ", ".join(variables))
    if arrays:
        parts.append("array " + ", ".join(arrays))
    if len(graph.operations) in recurrence.cycle:
        parts.append("the loop's condition")
    lines = sorted({o.line for o in operations if o.opcode not in ("const", "read", "write")})
    lines = lines or sorted({o.line for o in operations})
    return f"{' and '.join(parts) or 'values'}, line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
