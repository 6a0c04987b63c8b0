"""The compiled simulator against closed forms and against a reference that steps through every cycle."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.fabric import FabricError, Flow, Problem, simulate
from tests.fabric.reference_simulator import reference_finish


def chain(services: tuple[int, ...], duration: int = 1, samples: int = 40) -> Problem:
    count = len(services)
    flows = tuple(Flow(source=n, target=n + 1, links=(n,), durations=(duration,)) for n in range(count - 1))
    return Problem(
        services=services, delays=(3,) * count, flows=flows, latencies=(2,) * (count - 1), samples=samples
    )


@pytest.mark.parametrize("services", [(50, 20, 30), (20, 90, 30), (10, 20, 70, 5)])
def test_a_chain_is_as_fast_as_its_slowest_stage(services: tuple[int, ...], engine_folder: Path) -> None:
    [result] = simulate([chain(services)], engine_folder=engine_folder)
    assert not result.is_deadlocked
    assert result.interval_cycles == max(services)


def test_a_slow_link_is_the_slowest_stage(engine_folder: Path) -> None:
    [result] = simulate([chain((10, 10, 10), duration=9)], engine_folder=engine_folder)
    assert result.interval_cycles == 9 * 8


@pytest.mark.parametrize("sharers", [1, 2, 3])
def test_a_shared_link_divides(sharers: int, engine_folder: Path) -> None:
    flows = tuple(
        Flow(source=2 * n, target=2 * n + 1, links=(n + 1, 0, sharers + n + 1), durations=(1, 5, 1))
        for n in range(sharers)
    )
    problem = Problem(
        services=(10,) * (2 * sharers),
        delays=(0,) * (2 * sharers),
        flows=flows,
        latencies=(1,) * (2 * sharers + 1),
        samples=60,
    )
    [result] = simulate([problem], engine_folder=engine_folder)
    assert result.interval_cycles == pytest.approx(sharers * 5 * 8, rel=0.02)
    assert result.link_cycles[0] == 60 * sharers * 5 * 8


def test_a_cycle_of_operations_is_a_deadlock(engine_folder: Path) -> None:
    flows = tuple(
        Flow(source=a, target=b, links=(n,), durations=(1,))
        for n, (a, b) in enumerate([(0, 1), (1, 0), (1, 2)])
    )
    problem = Problem(services=(1, 1, 1), delays=(0, 0, 0), flows=flows, latencies=(0, 0, 0))
    [result] = simulate([problem], engine_folder=engine_folder)
    assert result.is_deadlocked
    assert result.finished == (0,) * 16
    with pytest.raises(FabricError, match="deadlock after"):
        _ = result.interval_cycles


def random_problem(draw: random.Random) -> Problem:
    count, links = draw.randint(2, 7), draw.randint(2, 6)
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count) if draw.random() < 0.5]
    flows: list[Flow] = []
    for source, target in pairs or [(0, 1)]:
        route = draw.sample(range(links), draw.randint(1, links))
        durations = tuple(draw.randint(1, 4) for _ in route)
        flow = Flow(source=source, target=target, links=tuple(route), durations=durations)
        flows.append(replace(flow, output_samples=draw.randint(1, 2), input_samples=draw.randint(1, 3)))
    return Problem(
        services=tuple(draw.randint(1, 30) for _ in range(count)),
        delays=tuple(draw.randint(0, 5) for _ in range(count)),
        flows=tuple(flows),
        latencies=tuple(draw.randint(0, 3) for _ in range(links)),
        samples=draw.randint(2, 6),
        packets=draw.randint(1, 4),
        hop_packets=draw.randint(1, 3),
    )


def test_random_graphs_equal_the_reference_cycle_by_cycle(engine_folder: Path) -> None:
    draw = random.Random(7)
    problems = [random_problem(draw) for _ in range(200)]
    for problem, result in zip(problems, simulate(problems, engine_folder=engine_folder), strict=True):
        assert list(result.finished) == reference_finish(problem, last_cycle=result.cycles), problem


def test_a_problem_rejects_a_link_that_is_not_there() -> None:
    flow = Flow(source=0, target=1, links=(3,), durations=(1,))
    with pytest.raises(FabricError, match="unknown link: \\(3,\\); accepted: 0 to 0"):
        Problem(services=(1, 1), delays=(0, 0), flows=(flow,), latencies=(0,))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"delays": (0, -1)}, "negative delay or latency; accepted: 0 cycles or more"),
        ({"packets": 0}, "too small: packets 0; accepted: 1 or more"),
        ({"samples": 1}, "too few samples: 1; accepted: 2 or more"),
        ({"services": (0, 1)}, "service time of 1 cycle or more"),
    ],
)
def test_a_problem_rejects_values_that_mean_nothing(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FabricError, match=message):
        replace(chain((1, 1)), **changes)


@pytest.mark.parametrize("services", [(50, 20, 30), (20, 90, 30), (30, 31, 32, 33)])
def test_a_steady_chain_ends_early_with_the_interval_of_a_long_batch(
    services: tuple[int, ...], engine_folder: Path
) -> None:
    whole = chain(services, samples=2000)
    early, long = simulate([replace(whole, window=24), whole], engine_folder=engine_folder)
    assert early.is_steady
    assert early.complete < 200
    assert not long.is_steady
    assert early.interval_cycles == pytest.approx(long.interval_cycles, rel=1e-3)
    assert early.finished[: early.complete] == long.finished[: early.complete]
    assert not any(early.finished[early.complete :])


def test_a_window_waits_for_full_buffers(engine_folder: Path) -> None:
    """The last operation is the slowest: until the buffers are full, the first ones run ahead."""
    slow_end = replace(chain((10, 10, 12), samples=4000), window=24)
    deep = replace(slow_end, flows=tuple(replace(flow, input_samples=100) for flow in slow_end.flows))
    shallow, filling = simulate([slow_end, deep], engine_folder=engine_folder)
    assert shallow.complete < 100 < 400 < filling.complete < 4000
    assert filling.interval_cycles == shallow.interval_cycles == 12


@pytest.mark.parametrize("window", [-2, 3, 40, 42])
def test_a_problem_rejects_a_window_that_is_odd_or_too_long(window: int) -> None:
    with pytest.raises(
        FabricError, match=f"window of {window} samples; accepted: 0, or an even number below 40"
    ):
        replace(chain((1, 1)), window=window)
