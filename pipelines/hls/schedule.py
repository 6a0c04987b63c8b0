"""Start cycles: the constraints of a block and list scheduling.

All cycles are counted from the start of the block (or of the iteration).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

from pipelines.c.cdfg import MEMORY_OPCODES, Block, Branch, Finish, Operation
from pipelines.c.signature import INT32
from pipelines.hls.dependence import memory_dependences
from pipelines.hls.operators import FREE, Timing, TimingModel, unit_class
from pipelines.hls.units.catalogue import FunctionalUnit

Resource = tuple[str, str]
"""A shared resource: `("load", array)`, `("store", array)`, `("unit", class)` or, for one unit, `("unit",
class#number)`."""

INSTANCE = "#"
"""Separator between the class and the number of a unit that is a resource of its own."""

NANOSECONDS_PER_CYCLE = 1000
"""Scale of delays in priorities: far less than a cycle, so that they only break ties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """`start[target] + distance * interval >= start[source] + latency_cycles`."""

    source: int
    target: int
    latency_cycles: int
    distance: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockGraph:
    """Constraints on the schedules of a block.

    Attributes:
        block: the block.
        live: operations whose value hardware needs, see `live_operations`; the others are not constrained.
        timings, units: of each operation; None when it runs on no functional unit.
        edges: precedences, within an iteration (from a smaller index to a larger one) and between
            iterations.
        resources: resource of each operation, None when nothing is shared.
        capacities: instances of a resource when it has more than one.
        forwarded: reads that may take their variable's value in the cycle in which the previous iteration
            writes it, without the register.
    """

    block: Block
    live: frozenset[int]
    timings: tuple[Timing, ...]
    units: tuple[FunctionalUnit | None, ...]
    edges: tuple[Edge, ...]
    resources: tuple[Resource | None, ...]
    capacities: Mapping[Resource, int] = field(default_factory=dict[Resource, int])
    forwarded: frozenset[int] = frozenset()

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Operations of the block."""
        return self.block.operations

    def capacity(self, resource: Resource) -> int:
        """Return the operations that may hold a resource in one cycle."""
        return self.capacities.get(resource, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSchedule:
    """When each operation of a block starts.

    Attributes:
        starts: start cycle of every operation, >= 0.
        length_cycles: cycles of the block, of one iteration when pipelined.
        interval_cycles: initiation interval of a pipelined loop, None otherwise.
        conflict_cycles: cycles by which ports delay memory accesses.
        bound: reason for the interval, for reports.
    """

    graph: BlockGraph
    starts: tuple[int, ...]
    length_cycles: int
    interval_cycles: int | None
    conflict_cycles: int
    bound: str = ""

    def ready(self, index: int) -> int:
        """Return the first cycle in which the value of an operation can be used."""
        return self.starts[index] + self.graph.timings[index].latency_cycles

    @property
    def forwards(self) -> dict[int, int]:
        """Reads that start in the cycle in which the previous iteration writes their variable, with that
        write.

        Hardware uses the written value instead of the register's when the write happens in that cycle, in
        every iteration except the first.
        """
        interval, operations = self.interval_cycles, self.graph.operations
        if interval is None:
            return {}
        written = {o.name: o.index for o in operations if o.opcode == "write"}
        pairs = {read: written[operations[read].name] for read in sorted(self.graph.forwarded)}
        return {r: w for r, w in pairs.items() if self.starts[r] + interval == self.starts[w]}


def build_graph(block: Block, model: TimingModel) -> BlockGraph:
    """Build dependences, timings and resources of a block.

    Operations that only serve dependence tests need no time and no unit, and are not constrained.
    """
    operations, live = block.operations, live_operations(block)
    timings = tuple(model.of(o, operations) if o.index in live else FREE for o in operations)
    units = tuple(model.unit_of(o, operations) if o.index in live else None for o in operations)
    edges = [*_data_edges(operations, timings), *_memory_edges(block, model), *_variable_edges(block)]
    edges = [e for e in edges if e.target in live and e.source in live]
    resources = _resources(block, units, live, model)
    return BlockGraph(
        block=block,
        live=live,
        timings=timings,
        units=units,
        edges=tuple(edges),
        resources=resources,
        capacities={("unit", name): count for name, count in sorted(model.unit_limits.items())},
    )


def _resources(
    block: Block, units: Sequence[FunctionalUnit | None], live: AbstractSet[int], model: TimingModel
) -> tuple[Resource | None, ...]:
    """Return ports, and units of limited classes.

    In a pipelined loop each unit with several busy cycles is a resource of its own, and operations are
    assigned to them in turn. Otherwise the operations may not fit on the units although the sum of cycles
    does (arcs of a circle).
    """
    resources: list[Resource | None] = []
    uses: Counter[str] = Counter()
    for operation, unit in zip(block.operations, units, strict=True):
        resource: Resource | None = None
        if operation.index in live and operation.opcode in MEMORY_OPCODES:
            resource = (operation.opcode, operation.name)
        elif unit is not None and unit_class(unit) in model.unit_limits:
            name = unit_class(unit)
            if block.interval is not None and unit.busy_cycles > 1:
                resource = ("unit", f"{name}{INSTANCE}{uses[name] % model.unit_limits[name]}")
                uses[name] += 1
            else:
                resource = ("unit", name)
        resources.append(resource)
    return tuple(resources)


def instance_number(resource: Resource | None) -> int | None:
    """Return the number of the unit that a resource stands for, None when it stands for any of its class."""
    if resource is None or INSTANCE not in resource[1]:
        return None
    return int(resource[1].split(INSTANCE)[1])


def forwardable(graph: BlockGraph) -> dict[int, int]:
    """Map reads of variables that the block also writes to their writes."""
    operations = graph.operations
    reads = {o.name: o.index for o in operations if o.opcode == "read"}
    return {reads[o.name]: o.index for o in operations if o.opcode == "write" and o.name in reads}


def forward(
    graph: BlockGraph, reads: AbstractSet[int], model: TimingModel, *, free: bool = False
) -> BlockGraph:
    """Return the graph with some of the `forwardable` reads forwarded.

    Args:    free: the selection between old and new value takes no time, a relaxation. A block without a
             schedule under all free forwards has none with any of them.
    """
    writes = {write: read for read, write in forwardable(graph).items() if read in reads}
    edges = tuple(
        replace(e, latency_cycles=0) if e.distance == 1 and writes.get(e.source) == e.target else e
        for e in graph.edges
    )
    timings = list(graph.timings)
    for read in writes.values():
        width = (graph.operations[read].type or INT32).width_bits
        selection_ns = 0.0 if free else model.library.selection_ns(2, width)
        timings[read] = Timing(latency_cycles=0, delay_ns=selection_ns)
    return replace(graph, edges=edges, timings=tuple(timings), forwarded=frozenset(writes.values()))


def _data_edges(operations: Sequence[Operation], timings: Sequence[Timing]) -> list[Edge]:
    return [
        Edge(
            source=source,
            target=operation.index,
            latency_cycles=timings[source].latency_cycles,
            distance=0,
            kind="data",
        )
        for operation in operations
        for source in dict.fromkeys(operation.inputs)
    ]


def _memory_edges(block: Block, model: TimingModel) -> list[Edge]:
    """Return the memory edges: a load sees a store after its write delay; stores stay in order."""
    edges: list[Edge] = []
    for dependence in memory_dependences(block):
        source = block.operations[dependence.source]
        target = block.operations[dependence.target]
        if source.opcode == "store":
            latency = model.store_visible_cycles(source) if target.opcode == "load" else 1
        else:
            latency = 0
        edges.append(
            Edge(
                source=dependence.source,
                target=dependence.target,
                latency_cycles=latency,
                distance=dependence.distance,
                kind="memory",
            )
        )
    return edges


def _variable_edges(block: Block) -> list[Edge]:
    """Return a variable is written after its last read started and before the next iteration reads it.

    A write of another variable's value may come later than that variable's write: the value is then held in a
    register.
    """
    reads = {o.name: o.index for o in block.operations if o.opcode == "read"}
    users: dict[int, list[int]] = {index: [] for index in reads.values()}
    for operation in block.operations:
        for source in dict.fromkeys(operation.inputs):
            if source in users and operation.opcode != "write":
                users[source].append(operation.index)
    edges: list[Edge] = []
    for write in (o for o in block.operations if o.opcode == "write" and o.name in reads):
        read = reads[write.name]
        readers = [read, *users[read]] if block.interval is None else [read]
        edges += [
            Edge(source=r, target=write.index, latency_cycles=0, distance=0, kind="data") for r in readers
        ]
        if block.index in block.successors:
            edges.append(Edge(source=write.index, target=read, latency_cycles=1, distance=1, kind="data"))
    return edges


def closing_values(block: Block) -> tuple[int, ...]:
    """Return the values that the terminator uses in the block's last cycle."""
    match block.terminator:
        case Branch():
            return (block.terminator.condition,)
        case Finish() if block.terminator.value is not None:
            return (block.terminator.value,)
        case _:
            return ()


def live_operations(block: Block) -> frozenset[int]:
    """Return the operations whose value hardware needs; those that only serve dependence tests are not."""
    needed = set(closing_values(block))
    for operation in reversed(block.operations):
        if operation.opcode in ("store", "write"):
            needed.add(operation.index)
        if operation.index in needed:
            needed.update(operation.inputs)
    return frozenset(needed)


@dataclass(slots=True)
class _Occupancy:
    """The cycles in which a resource of one block is taken.

    Attributes:
        capacity: operations per cycle.
        used: cycle -> operations that hold it.
        following: for a full cycle, a later one that may be free; chains are shortened when followed.
    """

    capacity: int
    used: dict[int, int] = field(default_factory=dict[int, int])
    following: dict[int, int] = field(default_factory=dict[int, int])

    def _free_from(self, cycle: int) -> int:
        passed: list[int] = []
        while cycle in self.following:
            passed.append(cycle)
            cycle = self.following[cycle]
        for full in passed:
            self.following[full] = cycle
        return cycle

    def take(self, cycle: int, busy_cycles: int) -> int:
        """Reserve the resource for consecutive cycles as early as possible; returns the first one."""
        cycle = self._free_from(cycle)
        held = 1
        while held < busy_cycles:
            if cycle + held in self.following:
                cycle, held = self._free_from(cycle + held), 0
            held += 1
        for taken in range(cycle, cycle + busy_cycles):
            self.used[taken] = self.used.get(taken, 0) + 1
            if self.used[taken] == self.capacity:
                self.following[taken] = taken + 1
        return cycle


@dataclass(slots=True)
class _ListScheduler:
    """List scheduler of one block.

    Attributes:
        starts, ready: start cycle and first cycle with the value of placed operations; -1 otherwise.
        settled_ns: when a placed operation's value settles within its ready cycle.
        earliest: first cycle that placed operations allow.
    """

    graph: BlockGraph
    budget_ns: float
    starts: list[int] = field(init=False)
    ready: list[int] = field(init=False)
    settled_ns: list[float] = field(init=False)
    earliest: list[int] = field(init=False)
    occupied: dict[Resource, _Occupancy] = field(default_factory=dict[Resource, _Occupancy])
    conflict_cycles: int = 0

    def __post_init__(self) -> None:
        count = len(self.graph.operations)
        self.starts, self.ready, self.earliest = [-1] * count, [-1] * count, [0] * count
        self.settled_ns = [0.0] * count

    def run(self) -> None:
        waiting = [0] * len(self.starts)
        following = successors(self.graph)
        for edges in following:
            for target, _ in edges:
                waiting[target] += 1
        rank = _priorities(self.graph, following)
        queue = [(rank[i], i) for i, count in enumerate(waiting) if not count]
        heapify(queue)
        while queue:
            _, index = heappop(queue)
            self._place(index)
            for target, latency in following[index]:
                self.earliest[target] = max(self.earliest[target], self.starts[index] + latency)
                waiting[target] -= 1
                if not waiting[target]:
                    heappush(queue, (rank[target], target))

    def _arrival_ns(self, operation: Operation, cycle: int) -> float:
        """Return the latest time within a cycle at which the inputs of an operation settle."""
        latest = 0.0
        for source in operation.inputs:
            settled = self.settled_ns[source]
            if settled > latest and self.ready[source] == cycle:
                latest = settled
        return latest

    def _place(self, index: int) -> None:
        operation, timing = self.graph.operations[index], self.graph.timings[index]
        cycle = self.earliest[index]
        arrival = self._arrival_ns(operation, cycle)
        if arrival > 0 and arrival + timing.delay_ns > self.budget_ns:
            cycle, arrival = cycle + 1, 0.0
        resource = self.graph.resources[index]
        if resource is not None:
            if resource not in self.occupied:
                self.occupied[resource] = _Occupancy(capacity=self.graph.capacity(resource))
            taken = self.occupied[resource].take(cycle, timing.busy_cycles)
            if operation.opcode in ("load", "store"):
                self.conflict_cycles += taken - cycle
            cycle, arrival = taken, arrival if taken == cycle else 0.0
        self.starts[index], self.ready[index] = cycle, cycle + timing.latency_cycles
        self.settled_ns[index] = timing.output_ns if timing.latency_cycles else arrival + timing.delay_ns


def successors(graph: BlockGraph) -> list[list[tuple[int, int]]]:
    """List for each operation (target, latency) of the edges within an iteration that leave it."""
    following: list[list[tuple[int, int]]] = [[] for _ in graph.operations]
    for edge in graph.edges:
        if edge.distance == 0:
            following[edge.source].append((edge.target, edge.latency_cycles))
    return following


def _priorities(graph: BlockGraph, following: Sequence[Sequence[tuple[int, int]]]) -> list[float]:
    """Return negated longest path in cycles (delays as fractions) from each operation to the block's end."""
    heights = [t.latency_cycles + t.delay_ns / NANOSECONDS_PER_CYCLE for t in graph.timings]
    for index in reversed(range(len(heights))):
        own = graph.timings[index].delay_ns / NANOSECONDS_PER_CYCLE
        for target, latency in following[index]:
            heights[index] = max(heights[index], heights[target] + latency + own)
    return [-height for height in heights]


def list_schedule(graph: BlockGraph, model: TimingModel) -> BlockSchedule:
    """Schedule a block that is not pipelined.

    Operations are placed in priority order (longest remaining path first among those whose predecessors
    are placed), each in the first cycle its inputs, the clock and its memory port or unit allow.

    Returns: start cycles; the length covers every result and every store that must be waited for.
    """
    scheduler = _ListScheduler(graph=graph, budget_ns=model.budget_ns)
    scheduler.run()
    starts = tuple(scheduler.starts)
    return BlockSchedule(
        graph=graph,
        starts=starts,
        length_cycles=block_length(graph, starts, model),
        interval_cycles=None,
        conflict_cycles=scheduler.conflict_cycles,
    )


def block_length(graph: BlockGraph, starts: Sequence[int], model: TimingModel) -> int:
    """Return the cycles of a block until all values are available and all stores loaded later are visible."""
    closing = set(closing_values(graph.block))
    final = isinstance(graph.block.terminator, Finish)
    last = max(1, model.write_delay_cycles - 1) if final and model.unwaited_stores else 1
    for operation, timing, start in zip(graph.operations, graph.timings, starts, strict=True):
        if operation.opcode == "store":
            waited = final or operation.name in model.waited_arrays
            end = start + (timing.latency_cycles if waited else 1)
        elif operation.index in closing:
            end = start + timing.latency_cycles + 1
        else:
            end = start + max(1, timing.latency_cycles)
        last = max(last, end)
    return last
