"""Schedules satisfy every dependence, port and clock; intervals are the smallest possible."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hls_support import options_for
from schedule_blocks import (
    A1,
    A2,
    HEADER,
    LoopBuilder,
    broken_by,
    lowered_loop,
    model_of,
    smallest_interval,
)

from pipelines.c.cdfg import Block
from pipelines.c.errors import HlsError
from pipelines.c.ir import Array
from pipelines.c.signature import DOUBLE, FLOAT, INT32, ScalarType
from pipelines.hls import CompiledDesign, compile_program
from pipelines.hls.design import bind_units
from pipelines.hls.difference import constraint_graph, recurrence_bound
from pipelines.hls.modulo import _Solver, check_modulo, modulo_schedule, resource_bound, shorten_lifetimes
from pipelines.hls.operators import TimingModel
from pipelines.hls.residues import PROGRAM_SIZE, ResidueSearch, Verdict, iterative_schedule, solve_program
from pipelines.hls.schedule import BlockGraph, BlockSchedule, build_graph, forward, forwardable, list_schedule
from pipelines.programs import SUITES, kernel_programs


def solve_interval(graph: BlockGraph, model: TimingModel, interval: int) -> tuple[int, ...] | None:
    """Start cycles at one interval with short lifetimes, None when the searches find none."""
    return _Solver(graph=graph, constraints=constraint_graph(graph, model)).solve(interval)


def compiled_statements(text: str) -> CompiledDesign:
    source = f"{HEADER} {{ {text} return x; }}"
    return compile_program(source, top="f", options=options_for(source, "f", pipeline=False))


def pipelined(block: Block, model: TimingModel, requested: int = 1) -> BlockSchedule:
    schedule = modulo_schedule(build_graph(block, model), model, requested)
    assert schedule is not None
    assert broken_by(schedule, model) == []
    return schedule


# ---- whole kernels ----------------------------------------------------------------------------------


@pytest.mark.sample(2)
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
            assert "not proven" not in schedule.bound, program.name


# ---- random blocks ----------------------------------------------------------------------------------


def random_block(seed: int, count: int, **others: object) -> Block:
    """A loop of additions, products, quotients, selections, loads and stores, with two recurrences."""
    random = Random(seed)
    builder = LoopBuilder()
    i, x = builder.read("i"), builder.read("x")
    values = [i, x, builder.read("n")]
    for _ in range(count):
        recent = values[-6:]
        match random.choice(("add", "add", "mul", "select", "load", "load", "store", "lt", "div")):
            case "select":
                values.append(builder.add("select", *(random.choice(recent) for _ in range(3))))
            case "load":
                place = builder.affine({i: 1}, random.randint(0, 3))
                array = random.choice((A1, A2))
                values.append(builder.load(array, *[place] * len(array.shape)))
            case "store":
                place = builder.affine({i: 1}, random.randint(0, 5))
                when = random.choice((None, random.choice(recent)))
                builder.store(A1, random.choice(recent), place, predicate=when)
            case opcode:
                values.append(builder.add(opcode, random.choice(recent), random.choice(recent)))
    builder.write("x", values[-1])
    step = builder.add("add", i, builder.constant(1))
    builder.write("i", step)
    return builder.block(builder.add("lt", step, builder.constant(32)), **others)


@pytest.mark.parametrize("seed", range(12))
def test_no_schedule_of_a_random_block_breaks_a_rule(seed: int) -> None:
    period, limits = (4.0, 10.0)[seed % 2], ({}, {"mul_32": 1, "div_32": 1})[seed % 3 == 0]
    model = model_of(read=1 + seed % 3, write=1 + seed % 4, period=period, limits=limits)
    plain = random_block(seed, 25, interval=None)
    assert broken_by(list_schedule(build_graph(plain, model), model), model) == []
    pipelined(random_block(seed, 25), model)


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(4))
def test_no_schedule_of_a_large_block_breaks_a_rule(seed: int) -> None:
    model = model_of(period=5.0, limits={"mul_32": 3})
    schedule = pipelined(random_block(seed, 500), model)
    assert len(schedule.starts) > 600


# ---- the smallest interval --------------------------------------------------------------------------


def least_interval(graph: BlockGraph, model: TimingModel) -> int:
    """The larger of ResMII and RecMII."""
    recurrence = recurrence_bound(constraint_graph(graph, model)).interval
    assert recurrence is not None
    return max(resource_bound(graph).interval, recurrence)


@pytest.mark.parametrize(
    ("loop", "delay", "interval"),
    [
        ("do { x = x - 1; } while (x > 0);", 1, 1),
        ("do { x = A[x]; } while (x > 0);", 1, 2),
        ("do { x = A[x]; } while (x > 0);", 2, 3),
        ("do { A[3] = x; x = A[3]; } while (x > 0);", 1, 3),
        ("do { A[x] = n; x = A[n]; } while (x > 0);", 1, 3),
    ],
)
def test_interval_equals_brute_force(loop: str, delay: int, interval: int) -> None:
    model = model_of(read=delay, write=delay)
    schedule = pipelined(lowered_loop(loop), model)
    assert schedule.interval_cycles == interval
    assert smallest_interval(schedule.graph, model, interval + 1) == interval
    assert least_interval(schedule.graph, model) <= interval
    assert all(solve_interval(schedule.graph, model, smaller) is None for smaller in range(1, interval))


def small_block(seed: int) -> Block:
    """At most five operations that are not constants, one port or two, one recurrence."""
    random = Random(seed)
    builder = LoopBuilder()
    x = builder.read("x")
    first = builder.load(A1, x)
    array = random.choice((A1, A2))
    second = builder.load(array, *[random.choice((x, first))] * len(array.shape))
    value = random.choice((x, first, second))
    if random.random() < 0.5:
        builder.store(A1, value, random.choice((x, first)))
    builder.write("x", random.choice((first, second)))
    return builder.block(builder.constant(1))


@pytest.mark.parametrize("seed", range(24))
def test_interval_of_a_small_block_equals_brute_force(seed: int) -> None:
    model = model_of(read=1, write=1)
    graph = build_graph(small_block(seed), model)
    schedule = modulo_schedule(graph, model, 1)
    assert schedule is not None
    assert broken_by(schedule, model) == []
    free = forward(graph, set(forwardable(graph)), model)
    assert schedule.interval_cycles == smallest_interval(free, model, 5)
    assert "not proven" not in schedule.bound


def crowded_graph(loads: int, *, gap: int) -> BlockGraph:
    """Loads of one array with one port, each at least `gap` cycles after the previous one."""
    builder = LoopBuilder()
    i = builder.read("i")
    previous = i
    for _ in range(loads):
        previous = builder.load(A1, previous)
    builder.write("x", previous)
    step = builder.add("add", i, builder.constant(1))
    builder.write("i", step)
    block = builder.block(builder.add("lt", step, builder.constant(9)))
    return build_graph(block, model_of(read=gap))


@pytest.mark.parametrize(("loads", "gap"), [(2, 2), (3, 3), (4, 2), (5, 4)])
def test_search_program_and_heuristic_agree_with_one_another(loads: int, gap: int) -> None:
    graph, model = crowded_graph(loads, gap=gap), model_of(read=gap)
    constraints = constraint_graph(graph, model)
    for interval in range(1, loads + 2):
        searched = ResidueSearch(graph=graph, constraints=constraints, interval=interval).run()
        programmed = solve_program(graph, constraints, interval)
        placed = iterative_schedule(graph, constraints, interval)
        feasible = interval >= loads
        for result in (searched, programmed, placed):
            if not feasible:
                assert result in (Verdict.INFEASIBLE, None)
            else:
                assert isinstance(result, list)
                assert not check_modulo(graph, result, interval)


def test_a_large_integer_program_is_left_to_the_heuristic() -> None:
    """At 1,900 slots a hundred nodes took 24 s, at many intervals of a loop: a random program hung."""
    graph, model = crowded_graph(6, gap=2), model_of(read=2)
    constraints = constraint_graph(graph, model)
    interval = PROGRAM_SIZE // 6 + 1
    assert solve_program(graph, constraints, interval) is Verdict.UNKNOWN
    assert isinstance(solve_program(graph, constraints, 6), list)


def test_the_recurrence_that_sets_the_interval_is_named() -> None:
    builder = LoopBuilder()
    x = builder.read("x")
    first = builder.load(A1, x)
    second = builder.load(A1, first)
    builder.store(A2, second, x, x)
    builder.write("x", second)
    model = model_of(read=2, write=1)
    schedule = pipelined(builder.block(builder.constant(1)), model)
    assert schedule.bound.startswith("II 4: ResMII 2 (load A), RecMII 4 (variable x and array A, lines 2, 3)")


def accumulation(kind: ScalarType, *, selected: bool) -> Block:
    builder = LoopBuilder()
    total = builder.read("s", kind)
    term = builder.load(Array(name="F", type=kind, shape=(64,), external=True), builder.read("i"))
    added = builder.add("add", total, term, type=kind)
    if selected:
        added = builder.add("select", builder.read("n"), added, total, type=kind)
    builder.write("s", added, kind)
    return builder.block(builder.counted())


@pytest.mark.parametrize(
    ("kind", "period", "selected", "interval"),
    [
        (INT32, 10.0, False, 1),
        (FLOAT, 10.0, False, 2),
        (FLOAT, 10.0, True, 2),
        (DOUBLE, 12.0, False, 2),
        (FLOAT, 4.0, True, 3),
    ],
)
def test_an_accumulation_takes_as_long_as_its_adder(
    kind: ScalarType, period: float, selected: bool, interval: int
) -> None:
    """The sum goes from the adder's output to its input in one cycle when the clock allows it."""
    schedule = pipelined(accumulation(kind, selected=selected), model_of(period=period))
    assert schedule.interval_cycles == interval
    assert bool(schedule.forwards) == (interval == 2)


# ---- what bounds an interval ------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [1, 2, 10])
def test_accumulation_in_memory_costs_both_delays(delay: int) -> None:
    model = model_of(read=delay, write=delay)
    schedule = pipelined(lowered_loop("for (int i = 0; i < 9; i++) A[3] = A[3] + i;"), model)
    assert schedule.interval_cycles == 2 * delay
    assert "(array A, line 1)" in schedule.bound


def test_the_port_that_sets_the_interval_is_named() -> None:
    schedule = pipelined(
        lowered_loop("for (int i = 0; i < 9; i++) B[i] = A[i] + A[i + 9] + A[i + 18];"), model_of()
    )
    assert schedule.interval_cycles == 3
    assert "ResMII 3 (load A)" in schedule.bound


def test_the_loop_condition_that_sets_the_interval_is_named() -> None:
    schedule = pipelined(lowered_loop("do { x = A[x]; } while (x > 0);"), model_of(read=3))
    assert schedule.interval_cycles == 4
    assert "the loop's condition" in schedule.bound


def test_a_requested_interval_is_a_lower_bound() -> None:
    schedule = pipelined(lowered_loop("for (int i = 0; i < 9; i++) A[i] = i;"), model_of(), requested=3)
    assert schedule.interval_cycles == 3
    assert schedule.bound.endswith("requested 3")


def test_a_divider_takes_no_operation_while_it_is_busy() -> None:
    loop = lowered_loop("for (int i = 0; i < 9; i++) A[i] = x / (i + 1) + n / (i + 2);")
    assert pipelined(loop, model_of()).interval_cycles == 34
    assert pipelined(loop, model_of(limits={"div_32": 1})).interval_cycles == 68


@pytest.mark.parametrize("limit", [2, 3])
def test_limited_dividers_of_a_pipelined_loop_are_as_many_as_allowed(limit: int) -> None:
    terms = " + ".join(f"x / (i + {k})" for k in range(1, 8))
    model = model_of(limits={"div_32": limit})
    schedule = pipelined(lowered_loop(f"for (int i = 0; i < 9; i++) A[i] = {terms};"), model)
    assert schedule.interval_cycles == -(-7 // limit) * 34
    assert len([u for u in bind_units((schedule,)) if u.unit.kind == "div"]) == limit


def test_operations_spread_over_the_interval_to_share_a_unit() -> None:
    builder = products(4, (FLOAT,))
    i = builder.read("i")
    for k in range(4):
        builder.store(A1, i, builder.affine({i: 1}, k))
    schedule = pipelined(builder.block(builder.counted("k")), model_of())
    assert schedule.interval_cycles == 4
    assert [len(u.uses) for u in bind_units((schedule,))] == [4]


# ---- blocks that are not pipelined ------------------------------------------------------------------


def test_loads_of_one_array_wait_for_its_port() -> None:
    compiled = compiled_statements("x = A[0] + A[1] + A[2];")
    (schedule,) = compiled.scheduled.schedules
    loads = [schedule.starts[o.index] for o in schedule.graph.operations if o.opcode == "load"]
    assert sorted(loads) == [0, 1, 2]
    assert schedule.conflict_cycles == 3


def test_variables_may_be_swapped() -> None:
    model = model_of()
    builder = LoopBuilder()
    x, y = builder.read("x"), builder.read("y")
    builder.write("x", y)
    builder.write("y", x)
    block = builder.block(builder.constant(1), interval=None)
    assert list_schedule(build_graph(block, model), model).length_cycles == 1


def test_values_that_only_name_elements_take_no_time() -> None:
    model = model_of()
    builder = LoopBuilder()
    x = builder.read("x")
    named = builder.add("div", x, builder.read("n"))
    builder.add("store", x, x, symbol=A1, subscripts=(named,))
    graph = build_graph(builder.block(builder.constant(1), interval=None), model)
    assert list_schedule(graph, model).length_cycles == model.write_delay_cycles


def test_a_block_of_twenty_thousand_operations_is_scheduled() -> None:
    model = model_of(limits={"mul_32": 4})
    graph = build_graph(random_block(1, 9000, interval=None), model)
    schedule = list_schedule(graph, model)
    assert len(schedule.starts) > 15000
    assert broken_by(schedule, model) == []


# ---- functional units -------------------------------------------------------------------------------


def test_products_share_a_unit_across_states_but_not_within_one() -> None:
    apart = compiled_statements("x = n * x; if (n) { x = x * A[0]; }")
    together = compiled_statements("x = (n * x) ^ (n * A[n]) ^ (x * x);")
    assert len(apart.scheduled.units) == 1
    assert len(together.scheduled.units) == 2


def products(count: int, kinds: tuple[ScalarType, ...] = (INT32,)) -> LoopBuilder:
    builder = LoopBuilder()
    x, y = (builder.read(name, kinds[0]) for name in "xy")
    for number in range(count):
        kind = kinds[number % len(kinds)]
        builder.write(f"v{number}", builder.add("mul", x, y, type=kind), kind)
    return builder


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_limit_holds_in_plain_and_in_pipelined_blocks(limit: int) -> None:
    model = model_of(limits={"mul_32": limit})
    narrow = ScalarType(width_bits=20)
    for interval in (None, 1):
        builder = products(6, (INT32, narrow))
        block = builder.block(builder.counted(), interval=interval)
        graph = build_graph(block, model)
        schedule = list_schedule(graph, model) if interval is None else pipelined(block, model)
        assert broken_by(schedule, model) == []
        assert len(bind_units((schedule,))) == limit
        if interval is not None:
            assert schedule.interval_cycles == 6 // limit


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"adder": 1}, r"a unit limit must be of one of mul_8, .*, dsqrt, got 'adder'"),
        ({"fadd": 0}, r"the limit of fadd must be at least 1, got 0"),
    ],
)
def test_a_limit_rejects_what_is_no_class_or_no_number(limits: dict[str, int], message: str) -> None:
    with pytest.raises(HlsError, match=f"^{message}$"):
        model_of(limits=limits)


def test_units_of_one_class_take_the_widest_of_their_operations() -> None:
    model = model_of(limits={})
    builder = products(2, (ScalarType(width_bits=20), ScalarType(width_bits=24)))
    block = builder.block(builder.counted(), interval=None)
    schedule = list_schedule(build_graph(block, model), model)
    assert sorted(u.unit.ports[0][1] for u in bind_units((schedule, schedule))) == [20, 24]


@pytest.mark.parametrize("seed", range(8))
def test_no_unit_is_used_twice_at_once(seed: int) -> None:
    model = model_of(limits={"mul_32": 2} if seed % 2 else {})
    blocks = [random_block(seed + k, 40, interval=(None, 1)[k % 2]) for k in range(2)]
    schedules = tuple(
        list_schedule(build_graph(b, model), model) if b.interval is None else pipelined(b, model)
        for b in blocks
    )
    for bound in bind_units(schedules):
        taken: set[tuple[int, int]] = set()
        for use in bound.uses:
            schedule = schedules[use.block]
            unit = schedule.graph.units[use.operation]
            assert unit is not None
            assert unit.latency_cycles == bound.unit.latency_cycles
            assert unit.ports[0][1] <= bound.unit.ports[0][1]
            for k in range(unit.busy_cycles):
                cycle = schedule.starts[use.operation] + k
                slot = (use.block, cycle % schedule.interval_cycles if schedule.interval_cycles else cycle)
                assert slot not in taken
                taken.add(slot)
    everything = [index for s in schedules for index, u in enumerate(s.graph.units) if u and u.latency_cycles]
    assert len(everything) == sum(len(u.uses) for u in bind_units(schedules))


# ---- lifetimes --------------------------------------------------------------------------------------


def waiting(graph: BlockGraph, starts: tuple[int, ...] | list[int]) -> int:
    """Cycles that values wait in registers, constants excluded."""
    last: dict[int, int] = {}
    for operation in graph.operations:
        for value in operation.inputs if operation.index in graph.live else ():
            last[value] = max(last.get(value, 0), starts[operation.index])
    return sum(
        cycle - starts[value] - graph.timings[value].latency_cycles
        for value, cycle in last.items()
        if graph.operations[value].opcode != "const"
    )


@pytest.mark.parametrize("size", [20, 300])
def test_lifetimes_become_shorter_and_the_schedule_stays_valid(size: int) -> None:
    model = model_of()
    graph = build_graph(random_block(7, size), model)
    constraints = constraint_graph(graph, model)
    interval = least_interval(graph, model)
    starts = iterative_schedule(graph, constraints, interval)
    assert starts is not None
    shorter = shorten_lifetimes(graph, constraints, interval, starts)
    assert not check_modulo(graph, shorter, interval)
    assert waiting(graph, shorter) < waiting(graph, starts)
