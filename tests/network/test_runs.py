"""Groups of runs, sums of packets as rows, and what is remembered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.base.cache import ContentCache
from pipelines.base.tools import CLOCK, PROCESSOR, ToolRun
from pipelines.base.workers import Progress
from pipelines.network.errors import NetworkError
from pipelines.network.queueing import flow_latency, stream_waits
from pipelines.network.runs import NetworkTables, RunGroup, model_of, run_of, runs_of, simulate_runs
from pipelines.network.simulation import engine, make_scenario, simulate
from pipelines.network.simulation.engine import build_simulator
from pipelines.network.topology import DrawnNetwork
from pipelines.network.traffic import draw_schedule
from pipelines.schemas import table_spec

SMALL = RunGroup(
    name="small",
    patterns=("all_to_all", "incast"),
    loads=(0.5,),
    sizes=("bimodal",),
    acknowledged=(True, False),
    duration_s=0.2,
    warm_up_s=0.05,
)
DRAWN = RunGroup(
    name="drawn", samples=40, loads=(0.1, 0.9), scvs=(1.5, 8.0), arrivals=("poisson", "ge", "on_off")
)


def _simulated(folder: Path, seen: list[Progress]) -> NetworkTables:
    cache = ContentCache(folder=folder)
    return simulate_runs(SMALL, cache=cache, workers=2, timeout_s=60.0, on_progress=seen.append)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def made(folder: Path) -> NetworkTables:
    return _simulated(folder, [])


def test_a_grid_has_every_combination_once() -> None:
    runs = runs_of(RunGroup(name="grid", seeds=(1, 2)))
    assert len(runs) == len(set(runs)) == 3 * 3 * 2 * 2 * 2
    assert {run.arrivals.scv for run in runs} == {1.0, 4.0}


def test_draws_are_even_over_loads_and_repeatable() -> None:
    runs = runs_of(DRAWN)
    assert runs == runs_of(DRAWN)
    places = sorted(int((run.pattern.load - 0.1) / 0.8 * 40) for run in runs)
    assert places == list(range(40))
    assert sum(run.pattern.kind == "all_to_all" for run in runs) == 20
    assert len({run.seed for run in runs}) == 40


def test_a_run_is_made_again_from_its_configuration() -> None:
    for run in (*runs_of(DRAWN), *runs_of(RunGroup(name="two", network="two_tier", sizes=("empirical",)))):
        again = run_of(json.loads(run.configuration()))
        assert again.configuration() == run.configuration()
        assert again.network == run.network


def test_rows_are_sums_of_packets(folder: Path, made: NetworkTables) -> None:
    for row in made.runs:
        run = run_of(json.loads(row.configuration))
        topology = run.topology()
        traffic = run.traffic(topology)
        schedule = draw_schedule(traffic, duration_s=run.duration_s, seed=run.seed)
        scenario = make_scenario(topology, traffic, schedule, routing=run.routing, options=run.options)
        result = simulate(scenario, engine_folder=folder / "engines")
        counted = (schedule.times_ns >= 5e7) & (result.delays_ns >= 0)
        assert row.packet_count == np.count_nonzero(schedule.times_ns >= 5e7)
        assert row.delay_mean_ns == pytest.approx(result.delays_ns[counted].mean())
        flows = made.flows.filter(np.asarray(made.flows.column("run_id")) == row.run_id).to_pylist()
        of_flow = np.sort(result.delays_ns[counted & (schedule.flows == 3)])
        assert flows[3]["delay_mean_ns"] == round(of_flow.mean())
        assert flows[3]["delay_p99_ns"] == of_flow[int(np.ceil(0.99 * len(of_flow))) - 1]
        assert (flows[3]["rtt_mean_ns"] is None) != row.is_acknowledged


def test_tables_fit_their_schemas_and_are_sorted(made: NetworkTables) -> None:
    for name, table in (("network_flows", made.flows), ("network_hops", made.hops)):
        assert table_spec(name).violations(table) == []
        assert table_spec(name).is_sorted(table)
    assert sum(row.flow_count for row in made.runs) == made.flows.num_rows


def test_hops_of_a_flow_follow_its_ways_and_add_up(made: NetworkTables) -> None:
    row = next(r for r in made.runs if r.is_acknowledged and r.pattern == "all_to_all")
    model = model_of(run_of(json.loads(row.configuration)))
    hops = [hop for hop in made.hops.to_pylist() if hop["run_id"] == row.run_id and hop["flow"] == 9]
    assert model.acks is not None
    ways = [*model.data.routes[9], *model.acks.routes[9]]
    assert [hop["queue"] for hop in hops] == [queue for queue in ways if queue >= 0]
    assert [hop["hop"] for hop in hops] == list(range(len(hops)))
    assert {hop["packet"] for hop in hops} == {"data", "ack"}
    flow = next(f for f in made.flows.to_pylist() if f["run_id"] == row.run_id and f["flow"] == 9)
    measured = flow["base_ns"] + sum(hop["wait_mean_ns"] for hop in hops)
    assert measured == pytest.approx(
        flow["rtt_mean_ns"], rel=0.2
    )  # sizes of few packets differ from the mean
    estimated = flow["base_ns"] + sum(hop["tree_wait_ns"] for hop in hops)
    assert estimated == pytest.approx(flow["tree_ns"], abs=len(hops))
    assert flow["tree_ns"] == round(flow_latency(model, stream_waits(model, "tree")).rtt_s[9] * 1e9)


def test_a_second_call_simulates_nothing(folder: Path, made: NetworkTables) -> None:
    seen: list[Progress] = []
    again = _simulated(folder, seen)
    assert again.runs == made.runs  # the measured time too
    assert again.hops.equals(made.hops)
    assert [progress.done for progress in seen] == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("limit", "status", "reason"),
    [
        (PROCESSOR, "timeout", "a network simulation took more than 60 s of processor time"),
        (CLOCK, "tool_error", "the network simulation failed: busy"),
    ],
)
def test_a_run_that_fails_is_a_row_with_its_reason(
    limit: str, status: str, reason: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(argv: list[str], *, of_processor: bool, **options: Any) -> ToolRun:
        assert of_processor
        fault = "busy" if limit == CLOCK else None
        return ToolRun(returncode=None, stdout="", stderr="", wall_s=1.0, limit=limit, machine_fault=fault)

    build_simulator(folder / "engines")
    monkeypatch.setattr(engine, "run_tool", stopped)
    made = simulate_runs(
        RunGroup(name="slow", loads=(0.5,), patterns=("incast",), sizes=("fixed",), arrivals=("poisson",)),
        cache=ContentCache(folder=folder),
        workers=1,
        timeout_s=60.0,
        on_progress=lambda _: None,
    )
    assert [(row.status, row.packet_count) for row in made.runs] == [(status, None)]
    assert made.runs[0].reason == reason
    assert made.flows.num_rows == made.hops.num_rows == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "a b"}, "a group's name must be letters, digits, - and _, got 'a b'"),
        ({"network": "ring"}, "unknown network of a group: ring; accepted: fat_tree, two_tier, drawn"),
        ({"loads": ()}, "loads of group g is empty"),
        ({"arrivals": ("x",)}, "unknown value in arrivals: 'x'; accepted: poisson, ge, on_off"),
        ({"samples": 0}, "samples must be 1 to 100000, got 0"),
        ({"warm_up_s": 10.0}, "a warm-up must be shorter than the run, got 10 of 10 s"),
    ],
)
def test_groups_reject(options: dict[str, object], message: str) -> None:
    with pytest.raises(NetworkError) as caught:
        RunGroup(**{"name": "g", **options})  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_runs_of_drawn_networks_have_the_load_on_their_busiest_link() -> None:
    group = RunGroup(
        name="drawn", network="drawn", unequal=True, samples=12, loads=(0.2, 0.8), sizes=("fixed",)
    )
    runs = runs_of(group)
    assert len({run.topology().topology_id for run in runs}) > 8
    assert {run.network.unequal for run in runs if isinstance(run.network, DrawnNetwork)} == {False, True}
    for run in runs:
        assert 0.19 < model_of(run).queues.utilisation.max() < 0.81
        assert run_of(json.loads(run.configuration())) == run


def test_runs_reject_a_configuration_of_another_form() -> None:
    with pytest.raises(NetworkError, match="invalid configuration of a run: KeyError"):
        run_of({"network": {"kind": "ring"}})
