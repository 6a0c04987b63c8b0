"""Deliberate mistakes in the scheduler, each noticed by the checker of schedules or an expected figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from schedule_blocks import A1, A2, LoopBuilder, broken_by, model_of
from test_scheduling import random_block

from pipelines.c.cdfg import Block
from pipelines.c.signature import FLOAT
from pipelines.hls import design, difference, modulo, residues, schedule
from pipelines.hls.operators import TimingModel
from pipelines.hls.schedule import BlockGraph, BlockSchedule, build_graph, list_schedule

MODEL = model_of(read=2, write=3, period=6.0, limits={"mul_32": 1, "div_32": 1})


def products_and_quotients() -> Block:
    builder = LoopBuilder()
    x, y = builder.read("x"), builder.read("y")
    total = builder.add("mul", builder.add("mul", x, y), builder.add("mul", y, y))
    for _ in range(6):
        total = builder.add("add", total, builder.add("xor", total, y))
    quotient = builder.add("div", total, builder.add("div", x, y))
    builder.store(A1, builder.load(A1, builder.load(A1, x)), quotient)
    builder.write("y", quotient)
    return builder.block(builder.counted())


def recurrence_in_memory() -> Block:
    builder = LoopBuilder()
    i = builder.read("i")
    loaded = builder.load(A1, builder.affine({i: 1}, 0))
    builder.load(A1, builder.affine({i: 1}, 9))
    builder.store(A1, builder.add("add", loaded, i), builder.affine({i: 1}, 2))
    builder.store(A2, loaded, i, i)
    step = builder.add("add", i, builder.constant(1))
    builder.write("i", step)
    return builder.block(builder.add("lt", step, builder.constant(32)))


def condition_in_memory() -> Block:
    builder = LoopBuilder()
    x = builder.load(A1, builder.read("x"))
    builder.write("x", builder.read("y"))
    return builder.block(x)


def independent_units() -> Block:
    builder = LoopBuilder()
    x, y = builder.read("x"), builder.read("y")
    a, b = builder.read("a", FLOAT), builder.read("b", FLOAT)
    for number, (left, right) in enumerate(((a, b), (b, a))):
        builder.write(f"f{number}", builder.add("add", left, right, type=FLOAT), FLOAT)
    for number, (left, right) in enumerate(((x, y), (y, x))):
        builder.write(f"q{number}", builder.add("div", left, right))
    return builder.block(builder.counted())


BLOCKS = (
    products_and_quotients(),
    recurrence_in_memory(),
    condition_in_memory(),
    independent_units(),
    random_block(5, 30),
)


@dataclass(frozen=True)
class Expected:
    """Result of the unmodified scheduler for a block, plain or pipelined."""

    graph: BlockGraph
    interval: int | None
    length: int


def scheduled(block: Block) -> BlockSchedule | None:
    graph = build_graph(block, MODEL)
    return list_schedule(graph, MODEL) if block.interval is None else modulo.modulo_schedule(graph, MODEL, 1)


def expected_results() -> list[Expected]:
    results: list[Expected] = []
    for block in (*BLOCKS, *(replace(b, interval=None) for b in BLOCKS)):
        result = scheduled(block)
        assert result is not None
        results.append(Expected(build_graph(block, MODEL), result.interval_cycles, result.length_cycles))
    return results


def complaints(expected: list[Expected]) -> list[str]:
    """Problems of the schedules of all blocks, judged by the graphs of the unmodified scheduler."""
    problems: list[str] = []
    for case in expected:
        result = scheduled(case.graph.block)
        if result is None:
            problems.append("no schedule")
            continue
        honest = schedule.forward(case.graph, result.graph.forwarded, MODEL)
        problems += broken_by(replace(result, graph=honest), MODEL)
        if result.interval_cycles != case.interval:
            problems.append(f"interval {result.interval_cycles}")
        if case.interval is None and result.length_cycles != case.length:
            problems.append(f"length {result.length_cycles}")
        problems += shared_at_once(result)
    return problems


def shared_at_once(result: BlockSchedule) -> list[str]:
    problems: list[str] = []
    for bound in design.bind_units((result,)):
        taken: set[int] = set()
        for use in bound.uses:
            for k in range(bound.unit.busy_cycles):
                cycle = result.starts[use.operation] + k
                slot = cycle % result.interval_cycles if result.interval_cycles else cycle
                problems += [f"{bound.name} twice in cycle {slot}"] if slot in taken else []
                taken.add(slot)
    return problems


def altered(original: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: change(original(*args, **kwargs))


def nothing(*_: object, **__: object) -> tuple[object, ...]:
    return ()


def unlimited(block: Block, *_: object) -> tuple[None, ...]:
    return (None,) * len(block.operations)


def sooner(edges: list[schedule.Edge]) -> list[schedule.Edge]:
    return [replace(e, latency_cycles=max(0, e.latency_cycles - 1)) for e in edges]


def farther(dependences: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(replace(d, distance=d.distance + 1) if d.distance else d for d in dependences)


MUTATIONS: dict[str, tuple[object, str, object]] = {
    "values are used a cycle too early": (schedule, "_data_edges", altered(schedule._data_edges, sooner)),
    "stores are seen a cycle too early": (schedule, "_memory_edges", altered(schedule._memory_edges, sooner)),
    "memory orders nothing": (schedule, "memory_dependences", nothing),
    "distances are one too large": (
        schedule,
        "memory_dependences",
        altered(schedule.memory_dependences, farther),
    ),
    "variables order nothing": (schedule, "_variable_edges", nothing),
    "ports and units have no limit": (schedule, "_resources", unlimited),
    "a plain block ignores what is taken": (schedule._Occupancy, "take", lambda _, cycle, __: cycle),
    "a plain block ignores the clock": (schedule._ListScheduler, "_arrival_ns", lambda *_: 0.0),
    "a pipelined block ignores the clock": (difference._Chains, "constraints", nothing),
    "the loop's condition may come late": (difference, "closing_values", nothing),
    "ports take two at a time": (residues.Reservations, "fits", lambda *_: True),
    "RecMII is one too large": (
        modulo,
        "recurrence_bound",
        altered(modulo.recurrence_bound, lambda r: replace(r, interval=r.interval + 1)),
    ),
    "ResMII is one too large": (
        modulo,
        "resource_bound",
        altered(modulo.resource_bound, lambda r: replace(r, interval=r.interval + 1)),
    ),
    "dividers are free at once": (
        TimingModel,
        "_on_unit",
        altered(TimingModel._on_unit, lambda t: replace(t, busy_cycles=1)),
    ),
    "one unit does everything": (design._Pool, "free_number", lambda *_: 0),
}


def test_the_scheduler_as_it_is_has_no_complaints() -> None:
    assert complaints(expected_results()) == []


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_of_the_scheduler_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = expected_results()
    target, attribute, replacement = MUTATIONS[name]
    monkeypatch.setattr(target, attribute, replacement)
    assert complaints(expected) != []
