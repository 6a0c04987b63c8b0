"""Blocks for tests of scheduling: written by hand, or C lowered without any transformation; and a checker of
schedules that shares nothing with the scheduler."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pipelines.c.cdfg import Block, Branch, Operation
from pipelines.c.frontend import read_function
from pipelines.c.ir import Array, Variable
from pipelines.c.signature import INT32, ScalarType
from pipelines.hls.lowering import lower
from pipelines.hls.operators import TimingModel, load_library
from pipelines.hls.schedule import BlockGraph, BlockSchedule, Resource

A1 = Array(name="A", type=INT32, shape=(64,), external=True)
A2 = Array(name="M", type=INT32, shape=(64, 64), external=True)

HEADER = "int f(int n, int x, int A[64], int B[64], int M[32][32])"


def model_of(
    *, read: int = 2, write: int = 2, period: float = 10.0, limits: dict[str, int] | None = None
) -> TimingModel:
    """Timing with memory delays; every array counts as loaded."""
    return TimingModel(
        library=load_library("osu018"),
        clock_period_ns=period,
        read_delay_cycles=read,
        write_delay_cycles=write,
        waited_arrays=frozenset("ABM"),
        unit_limits=limits or {},
    )


@dataclass
class LoopBuilder:
    """Builds the operations of a loop block by hand."""

    operations: list[Operation] = field(default_factory=list)

    def add(self, opcode: str, *operands: int, **others: object) -> int:
        kind = others.pop("type", INT32)
        operation = Operation(
            index=len(self.operations),
            opcode=opcode,
            operands=operands,
            type=None if opcode in ("store", "write") else kind,
            line=len(self.operations) + 1,
            **others,
        )
        self.operations.append(operation)
        return operation.index

    def constant(self, value: int, kind: ScalarType = INT32) -> int:
        return self.add("const", value=value, type=kind)

    def read(self, name: str, kind: ScalarType = INT32) -> int:
        return self.add("read", symbol=Variable(name=name, type=kind), type=kind)

    def write(self, name: str, value: int, kind: ScalarType = INT32) -> int:
        return self.add("write", value, symbol=Variable(name=name, type=kind))

    def load(self, array: Array, *subscripts: int, predicate: int | None = None) -> int:
        others = {"symbol": array, "subscripts": subscripts, "predicate": predicate}
        return self.add("load", subscripts[-1], type=array.type, **others)

    def store(self, array: Array, value: int, *subscripts: int, predicate: int | None = None) -> int:
        others = {"symbol": array, "subscripts": subscripts, "predicate": predicate}
        return self.add("store", subscripts[-1], value, **others)

    def affine(self, terms: dict[int, int], constant: int) -> int:
        total = self.constant(constant)
        for leaf, coefficient in terms.items():
            total = self.add("add", total, self.add("mul", leaf, self.constant(coefficient)))
        return total

    def counted(self, name: str = "i", limit: int = 32) -> int:
        """`i = i + 1; i < limit`, the condition of the loop."""
        update = self.add("add", self.read(name), self.constant(1))
        self.write(name, update)
        return self.add("lt", update, self.constant(limit))

    def block(self, condition: int, **others: object) -> Block:
        return Block(
            index=0,
            operations=tuple(self.operations),
            terminator=Branch(condition=condition, if_true=0, if_false=1),
            loop="L0",
            line=1,
            **({"interval": 1} | others),
        )


def lowered_loop(loop: str) -> Block:
    """The block of the only loop in a C statement, to be pipelined, without transformations."""
    function = read_function(f"{HEADER} {{ {loop} return x; }}", top="f")
    return next(b for b in lower(function, {"L0": 1}).blocks if b.index in b.successors)


def broken_by(schedule: BlockSchedule, model: TimingModel) -> list[str]:
    """Every rule that a schedule breaks."""
    graph, starts, interval = schedule.graph, schedule.starts, schedule.interval_cycles
    broken = [
        f"dependence {e}"
        for e in graph.edges
        if (interval or e.distance == 0)
        and starts[e.target] + e.distance * (interval or 0) < starts[e.source] + e.latency_cycles
    ]
    slots: Counter[tuple[Resource, int]] = Counter()
    settled: dict[int, float] = {}
    for operation, timing, start in zip(graph.operations, graph.timings, starts, strict=True):
        if operation.index not in graph.live:
            continue
        resource = graph.resources[operation.index]
        for k in range(timing.busy_cycles if resource else 0):
            slots[resource, (start + k) % interval if interval else start + k] += 1
        chained = [settled[i] for i in operation.inputs if schedule.ready(i) == start]
        write = schedule.forwards.get(operation.index)
        if write is not None:
            chained.append(written_ns(schedule, graph.operations[write].operands[0], starts[write]))
        arrival = max(chained, default=0.0)
        settled[operation.index] = timing.output_ns if timing.latency_cycles else arrival + timing.delay_ns
        if arrival > 0 and arrival + timing.delay_ns > model.budget_ns + 1e-9:
            broken.append(f"clock at operation {operation.index}: {arrival + timing.delay_ns:.2f} ns")
    broken += [f"port {slot}" for slot, count in slots.items() if count > graph.capacity(slot[0])]
    return broken + broken_by_interval(schedule)


def written_ns(schedule: BlockSchedule, index: int, cycle: int) -> float:
    """When a value settles in a cycle, through all forwarded variables on its path."""
    timing, operation = schedule.graph.timings[index], schedule.graph.operations[index]
    if schedule.ready(index) != cycle:
        return 0.0
    if timing.latency_cycles:
        return timing.output_ns
    before = [written_ns(schedule, i, cycle) for i in operation.inputs]
    write = schedule.forwards.get(index)
    if write is not None:
        source = schedule.graph.operations[write].operands[0]
        before.append(written_ns(schedule, source, schedule.starts[write]))
    return max(before, default=0.0) + timing.delay_ns


def broken_by_interval(schedule: BlockSchedule) -> list[str]:
    """Rules that overlapping iterations break: units still busy, a condition known too late."""
    graph, interval = schedule.graph, schedule.interval_cycles
    if interval is None:
        return []
    broken = [f"busy {t}" for t in graph.timings if t.busy_cycles > interval]
    terminator = graph.block.terminator
    if isinstance(terminator, Branch) and schedule.ready(terminator.condition) >= interval:
        broken.append("the next iteration starts before this one knows that it does")
    return broken


def smallest_interval(graph: BlockGraph, model: TimingModel, horizon: int) -> int:
    """Smallest interval, by trying every start of every operation; constants start at 0.

    Starts that break a dependence on an earlier operation are not extended.
    """
    for interval in range(1, horizon + 1):
        if _some_schedule(graph, model, interval, horizon, []):
            return interval
    raise AssertionError("no interval within the horizon")


def _some_schedule(
    graph: BlockGraph, model: TimingModel, interval: int, horizon: int, starts: list[int]
) -> bool:
    index = len(starts)
    if index == len(graph.operations):
        schedule = BlockSchedule(
            graph=graph,
            starts=tuple(starts),
            length_cycles=horizon,
            interval_cycles=interval,
            conflict_cycles=0,
        )
        return not broken_by(schedule, model)
    edges = [e for e in graph.edges if max(e.source, e.target) == index]
    fixed = graph.operations[index].opcode == "const" or index not in graph.live
    for start in range(1 if fixed else horizon):
        tried = [*starts, start]
        kept = all(
            tried[e.target] + e.distance * interval >= tried[e.source] + e.latency_cycles for e in edges
        )
        if kept and _some_schedule(graph, model, interval, horizon, tried):
            return True
    return False
