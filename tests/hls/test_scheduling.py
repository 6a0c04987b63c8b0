"""Schedules keep every dependence, port and clock; intervals are the smallest there are."""

from __future__ import annotations

from itertools import product

import pytest
from hls_support import options_for

from pipelines.hls import CompiledDesign, Directive, HlsOptions, compile_program
from pipelines.hls.cdfg import Block, Branch
from pipelines.hls.dependence import memory_dependences
from pipelines.hls.modulo import check_modulo, recurrence_bound, resource_bound, solve_interval
from pipelines.hls.operators import TimingModel
from pipelines.hls.schedule import BlockGraph, BlockSchedule
from pipelines.programs import SUITES, kernel_programs

HEADER = "int f(int n, int x, int A[64], int B[64], int M[32][32])"


def compiled_loop(loop: str, *, delay: int = 2, pipeline: bool = True) -> CompiledDesign:
    source = f"{HEADER} {{ {loop} return x; }}"
    return compile_program(source, top="f", options=options_for(source, "f", pipeline=pipeline, delay=delay))


def loop_block(loop: str) -> Block:
    blocks = compiled_loop(loop).scheduled.graph.blocks
    return next(b for b in blocks if b.index in b.successors)


def broken_by(schedule: BlockSchedule, model: TimingModel) -> list[str]:
    """Every rule a schedule breaks, written independently of the scheduler."""
    graph, starts, interval = schedule.graph, schedule.starts, schedule.interval_cycles
    found = [
        f"dependence {e}"
        for e in graph.edges
        if (interval or e.distance == 0)
        and starts[e.target] + e.distance * (interval or 0) < starts[e.source] + e.latency_cycles
    ]
    slots: set[tuple[object, int]] = set()
    settled: dict[int, float] = {}
    for operation, timing, start in zip(graph.operations, graph.timings, starts, strict=True):
        resource = graph.resources[operation.index]
        for k in range(timing.busy_cycles if resource else 0):
            slot = (resource, (start + k) % interval if interval else start + k)
            found += [f"port {slot}"] if slot in slots else []
            slots.add(slot)
        chained = [
            settled[i]
            for i in operation.inputs
            if starts[i] == start and graph.timings[i].latency_cycles == 0
        ]
        settled[operation.index] = max(chained, default=0.0) + timing.delay_ns
        if max(chained, default=0.0) > 0 and settled[operation.index] > model.budget_ns + 1e-9:
            found.append(f"clock at operation {operation.index}: {settled[operation.index]:.2f} ns")
    return found


@pytest.mark.parametrize(("pipeline", "delay", "period"), list(product((False, True), (1, 7), (3.5, 10.0))))
def test_no_schedule_of_a_kernel_breaks_a_rule(pipeline: bool, delay: int, period: float) -> None:
    for program in kernel_programs(suites=SUITES, sizes=("medium",)):
        options = options_for(program.source, program.top, pipeline=pipeline, delay=delay, period=period)
        scheduled = compile_program(program.source, top=program.top, options=options).scheduled
        for schedule in scheduled.schedules:
            assert broken_by(schedule, scheduled.model) == [], program.name


def test_intervals_of_kernels_are_proven_smallest() -> None:
    for program in kernel_programs(suites=SUITES, sizes=("small",)):
        options = options_for(program.source, program.top, pipeline=True, delay=5)
        scheduled = compile_program(program.source, top=program.top, options=options).scheduled
        for schedule in (s for s in scheduled.schedules if s.interval_cycles):
            bounds = resource_bound(schedule.graph)[0], recurrence_bound(schedule.graph, scheduled.model)
            assert schedule.interval_cycles == max(bounds), program.name


def smallest_interval(graph: BlockGraph, horizon: int) -> int:
    """Smallest interval by trying every start of every operation."""
    terminator = graph.block.terminator
    assert isinstance(terminator, Branch)
    free = [o.index for o in graph.operations if o.opcode != "const"]
    for interval in range(1, horizon + 1):
        for chosen in product(range(horizon), repeat=len(free)):
            starts = [0] * len(graph.operations)
            for index, start in zip(free, chosen, strict=True):
                starts[index] = start
            known = starts[terminator.condition] + graph.timings[terminator.condition].latency_cycles
            if known < interval and not check_modulo(graph, starts, interval):
                return interval
    raise AssertionError("no interval within the horizon")


@pytest.mark.parametrize(
    ("loop", "delay", "interval"),
    [
        ("do { x = x - 1; } while (x > 0);", 1, 1),
        ("do { x = A[x]; } while (x > 0);", 1, 2),
        ("do { x = A[x]; } while (x > 0);", 2, 3),
        ("do { A[3] = x; x = A[3]; } while (x > 0);", 1, 3),
    ],
)
def test_interval_equals_brute_force(loop: str, delay: int, interval: int) -> None:
    compiled = compiled_loop(loop, delay=delay)
    schedule = next(s for s in compiled.scheduled.schedules if s.interval_cycles)
    assert schedule.interval_cycles == interval
    assert smallest_interval(schedule.graph, interval + 1) == interval
    model = compiled.scheduled.model
    bound = max(resource_bound(schedule.graph)[0], recurrence_bound(schedule.graph, model))
    assert bound <= interval
    assert all(solve_interval(schedule.graph, model, smaller) is None for smaller in range(1, interval))


@pytest.mark.parametrize(
    ("statement", "distances"),
    [
        ("A[i] = A[i] + 1;", set()),
        ("A[i + 1] = A[i];", {1}),
        ("A[i + 3] = A[i];", {3}),
        ("A[2 * i] = A[2 * i + 1];", set()),
        ("A[0] = A[0] + i;", {1}),
        ("A[B[i]] = A[i];", {1}),
        ("M[i][2] = M[i][3];", set()),
        ("M[i][n] = M[i + 1][n];", set()),
        ("M[i + 1][n] = M[i][n];", {1}),
        ("M[n][i + 2] = M[n][i];", {2}),
        ("M[i + 1][i + 2] = M[i][i];", set()),
    ],
)
def test_distance_from_store_to_load(statement: str, distances: set[int]) -> None:
    block = loop_block(f"for (int i = 0; i < 20; i++) {statement}")
    opcodes = [o.opcode for o in block.operations]
    found = {
        d.distance
        for d in memory_dependences(block)
        if (opcodes[d.source], opcodes[d.target]) == ("store", "load") and d.distance
    }
    assert found == distances


def test_distance_beyond_the_last_iteration_is_no_dependence() -> None:
    block = loop_block("for (int i = 0; i < 3; i++) A[i + 3] = A[i];")
    assert not [d for d in memory_dependences(block) if d.distance]


@pytest.mark.parametrize("delay", [1, 2, 10])
def test_accumulation_in_memory_costs_both_delays(delay: int) -> None:
    compiled = compiled_loop("for (int i = 0; i < 9; i++) A[3] = A[3] + i;", delay=delay)
    assert compiled.intervals == {"L0": 2 * delay}


def test_a_requested_interval_is_a_lower_bound() -> None:
    source = "void f(int A[64]) { for (int i = 0; i < 9; i++) A[i] = i; }"
    options = HlsOptions(directives=(Directive(kind="pipeline", loop="L0", value=3),))
    assert compile_program(source, top="f", options=options).intervals == {"L0": 3}


def test_loads_of_one_array_wait_for_its_port() -> None:
    compiled = compiled_loop("x = A[0] + A[1] + A[2];", pipeline=False)
    (schedule,) = compiled.scheduled.schedules
    loads = [schedule.starts[o.index] for o in schedule.graph.operations if o.opcode == "load"]
    assert sorted(loads) == [0, 1, 2]
    assert schedule.conflict_cycles == 3


def test_products_share_a_unit_across_states_but_not_within_one() -> None:
    apart = compiled_loop("x = n * x; if (n) { x = x * A[0]; }", pipeline=False)
    together = compiled_loop("x = (n * x) ^ (n * A[n]) ^ (x * x);", pipeline=False)
    assert len(apart.scheduled.units) == 1
    assert len(together.scheduled.units) == 2
