"""When each operation starts: the constraints of a block and list scheduling.

Belongs here: the dependence graph with latencies, chaining against the clock, list scheduling of blocks
that run once at a time. Does not: pipelined loops (`modulo.py`), hardware.

All cycles are counted from the start of the block (or of the iteration).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.hls.cdfg import Block, Branch, Finish, Operation
from pipelines.hls.dependence import memory_dependences
from pipelines.hls.operators import Timing, TimingModel, uses_unit


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
    """What a schedule of a block must keep.

    Attributes:
        block: the block.
        timings: of each operation.
        edges: precedences, within an iteration and between iterations.
        resources: resource of each operation, None when it has one of its own. Memory ports are
            `("load", array)` and `("store", array)`, dividers `("div", "")`.
    """

    block: Block
    timings: tuple[Timing, ...]
    edges: tuple[Edge, ...]
    resources: tuple[tuple[str, str] | None, ...]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Operations of the block."""
        return self.block.operations


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSchedule:
    """When each operation of a block starts.

    Attributes:
        starts: start cycle of every operation, >= 0.
        length_cycles: cycles from the block's first cycle to its last, both counted; of one iteration
            when pipelined.
        interval_cycles: initiation interval of a pipelined loop, None otherwise.
        conflict_cycles: cycles by which memory accesses start later than dependences alone allow.
        bound: what set the interval, for reports.
    """

    graph: BlockGraph
    starts: tuple[int, ...]
    length_cycles: int
    interval_cycles: int | None
    conflict_cycles: int
    bound: str = ""

    def ready(self, index: int) -> int:
        """First cycle in which the value of an operation can be used."""
        return self.starts[index] + self.graph.timings[index].latency_cycles


def build_graph(block: Block, model: TimingModel) -> BlockGraph:
    """Dependences, timings and resources of a block."""
    operations = block.operations
    timings = tuple(model.of(o, operations) for o in operations)
    edges = [*_data_edges(operations, timings), *_memory_edges(block, model)]
    edges += _variable_edges(block)
    resources = tuple(_resource(o, operations) for o in operations)
    return BlockGraph(block=block, timings=timings, edges=tuple(edges), resources=resources)


def _resource(operation: Operation, operations: tuple[Operation, ...]) -> tuple[str, str] | None:
    if operation.opcode in ("load", "store"):
        return (operation.opcode, operation.name)
    if uses_unit(operation, operations) == "div":
        return ("div", "")
    return None


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
    """A load sees a store after its write delay; a store may overtake no load; stores keep order."""
    found: list[Edge] = []
    for dependence in memory_dependences(block):
        source = block.operations[dependence.source]
        target = block.operations[dependence.target]
        if source.opcode == "store":
            latency = model.store_visible_cycles(source) if target.opcode == "load" else 1
        else:
            latency = 0
        found.append(
            Edge(
                source=dependence.source,
                target=dependence.target,
                latency_cycles=latency,
                distance=dependence.distance,
                kind="memory",
            )
        )
    return found


def _variable_edges(block: Block) -> list[Edge]:
    """A variable is written after its last reader started, and before the next iteration reads it."""
    reads = {o.name: o.index for o in block.operations if o.opcode == "read"}
    users: dict[int, list[int]] = defaultdict(list)
    for operation in block.operations:
        for source in dict.fromkeys(operation.inputs):
            users[source].append(operation.index)
    found: list[Edge] = []
    for write in (o for o in block.operations if o.opcode == "write" and o.name in reads):
        read = reads[write.name]
        readers = [read, *users[read]] if block.interval is None else [read]
        found += [
            Edge(source=r, target=write.index, latency_cycles=0, distance=0, kind="data")
            for r in readers
            if r != write.index
        ]
        if block.index in block.successors:
            found.append(Edge(source=write.index, target=read, latency_cycles=1, distance=1, kind="data"))
    return found


def closing_values(block: Block) -> tuple[int, ...]:
    """Values the terminator uses in the block's last cycle."""
    match block.terminator:
        case Branch():
            return (block.terminator.condition,)
        case Finish() if block.terminator.value is not None:
            return (block.terminator.value,)
        case _:
            return ()


def _arrival(operation: Operation, cycle: int, ready: dict[int, tuple[int, float]]) -> float:
    """Latest time within `cycle` at which the inputs of an operation settle."""
    latest = 0.0
    for source in operation.inputs:
        source_cycle, time = ready[source]
        if source_cycle == cycle:
            latest = max(latest, time)
    return latest


def list_schedule(graph: BlockGraph, model: TimingModel) -> BlockSchedule:
    """Schedule a block that is not pipelined.

    Operations are placed in priority order (longest remaining path first among those that are ready), each
    in the first cycle its inputs, the clock and its memory port or unit allow.

    Returns: start cycles; the length covers every result and every store that must be waited for.
    """
    operations = graph.operations
    predecessors: dict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        if edge.distance == 0:
            predecessors[edge.target].append(edge)
    heights = _heights(graph)
    starts: dict[int, int] = {}
    ready: dict[int, tuple[int, float]] = {}
    busy: set[tuple[tuple[str, str], int]] = set()
    conflicts = 0
    pending = sorted(range(len(operations)), key=lambda i: (-heights[i], i))
    while pending:
        index = next(i for i in pending if all(e.source in starts for e in predecessors[i]))
        pending.remove(index)
        operation, timing = operations[index], graph.timings[index]
        cycle = max((starts[e.source] + e.latency_cycles for e in predecessors[index]), default=0)
        arrival = _arrival(operation, cycle, ready)
        cycle += int(arrival > 0 and arrival + timing.delay_ns > model.budget_ns)
        resource = graph.resources[index]
        if resource is not None:
            wanted = cycle
            while any((resource, cycle + k) in busy for k in range(timing.busy_cycles)):
                cycle += 1
            busy.update((resource, cycle + k) for k in range(timing.busy_cycles))
            conflicts += cycle - wanted if operation.opcode in ("load", "store") else 0
        starts[index] = cycle
        out = _arrival(operation, cycle, ready) + timing.delay_ns
        ready[index] = (cycle + timing.latency_cycles, out if timing.latency_cycles == 0 else 0.0)
    ordered = tuple(starts[i] for i in range(len(operations)))
    return BlockSchedule(
        graph=graph,
        starts=ordered,
        length_cycles=block_length(graph, ordered, model),
        interval_cycles=None,
        conflict_cycles=conflicts,
    )


def _heights(graph: BlockGraph) -> list[float]:
    """Longest path in cycles (delays as fractions) from each operation to the end of the block."""
    heights = [t.latency_cycles + t.delay_ns / 1000 for t in graph.timings]
    successors: dict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        if edge.distance == 0:
            successors[edge.source].append(edge)
    done: set[int] = set()

    def visit(index: int) -> float:
        if index not in done:
            done.add(index)
            own = graph.timings[index].delay_ns / 1000
            below = [visit(e.target) + e.latency_cycles + own for e in successors[index]]
            heights[index] = max([heights[index], *below])
        return heights[index]

    for index in reversed(range(len(heights))):
        visit(index)
    return heights


def block_length(graph: BlockGraph, starts: Sequence[int], model: TimingModel) -> int:
    """Cycles a block lasts: until every value is there and every store that someone loads is visible."""
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
