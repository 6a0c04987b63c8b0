"""Latency by queueing theory beside packet-level simulation, and what each takes.

    python -m tests.benchmarks.network_estimates [--seconds 10] [--no-ns3] [--record]

Errors: mean absolute percentage error over flows of the mean round trip (of the delay without
acknowledgements), of equation 5.1 and of the estimate for trees, and between two seeds of the simulation; the
first tenth of a run is not counted. Links of 100 Mbit/s, 500 B, queues of 128 packets, UDP.

Times: the model of all flows, from routing to latencies, without imports and compiling, with and without the
shipped correction. What ns-3 takes for chapter 5's 40 simulated seconds at half load is the slope between two
short runs, without set-up, times 40. Last, own simulator and ns-3 on one scenario, processes and files
included, and whether all their numbers are the same.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from models.queue_correction.correction import Correction, corrected_waits, shipped_correction
from pipelines.network.queueing import ESTIMATES, flow_latency, model_network, stream_waits
from pipelines.network.simulation import (
    Scenario,
    SimulationOptions,
    make_scenario,
    simulate,
)
from pipelines.network.simulation.ns3 import build_ns3, find_ns3, simulate_in_ns3
from pipelines.network.topology import FatTree, Topology, fat_tree
from pipelines.network.traffic import PAPER_PATTERNS, Arrivals, Pattern, Traffic, draw_schedule, traffic_of
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, timed
from tests.benchmarks.network_measures import Vector, flow_means_s, relative_error
from tests.benchmarks.recording import add_record_option, record

FIGURES = {
    (4, "all_to_all"): ("all to all, 16 hosts", 0.002),
    (16, "all_to_all"): ("all to all, 1,024 hosts, 1,047,552 flows", 1.0),
}
"""Recorded times of `model_times`, and their goals in seconds."""
GE = Arrivals(kind="ge", scv=4.0)
WORKLOADS = [
    (4, kind, load, arrivals, has_acks)
    for kind in ("all_to_all", "incast", "broadcast")
    for arrivals in (Arrivals(), GE)
    for load in (0.25, 0.5, 0.75)
    for has_acks in (True,)
]
WORKLOADS += [(4, "all_to_all", load, a, False) for a in (Arrivals(), GE) for load in (0.25, 0.5, 0.7)]
WORKLOADS += [(8, "all_to_all", 0.5, arrivals, True) for arrivals in (Arrivals(), GE)]


def scenario_of(tree: Topology, traffic: Traffic, seconds: float, seed: int, *, has_acks: bool) -> Scenario:
    schedule = draw_schedule(traffic, duration_s=seconds, seed=seed)
    options = SimulationOptions(warm_up_s=seconds / 10, has_acks=has_acks)
    return make_scenario(tree, traffic, schedule, options=options)


def errors(seconds: float, folder: Path) -> None:
    print_header(
        "hosts | traffic | load | arrivals | acks | busiest queue | equation 5.1 | trees | two seeds"
    )
    for pods, kind, load, arrivals, has_acks in WORKLOADS:
        tree = fat_tree(FatTree(pods=pods))
        traffic = traffic_of(tree, Pattern(kind=kind, load=load), arrivals=arrivals)
        means: list[Vector] = []
        for seed in (1, 2):
            scenario = scenario_of(tree, traffic, seconds, seed, has_acks=has_acks)
            result = simulate(scenario, engine_folder=folder)
            means.append(flow_means_s(scenario, result.rtts_ns if has_acks else result.delays_ns))
        model = model_network(tree, traffic, has_acks=has_acks)
        found: list[float] = []
        for estimate in ESTIMATES:
            latency = flow_latency(model, stream_waits(model, estimate))
            found.append(relative_error(latency.rtt_s, means[0]))
        noise = relative_error(means[1], means[0])
        print_row(
            f"{tree.host_count} | {kind} | {load:.0%} | {arrivals.kind} | {'yes' if has_acks else 'no'}",
            f"{model.queues.utilisation.max():.2f} | {found[0]:.2%} | {found[1]:.2%} | {noise:.2%}",
        )
    print()


def model_times() -> dict[tuple[int, str], float]:
    correction = shipped_correction()
    times: dict[tuple[int, str], float] = {}
    print_header("hosts | traffic | flows | theory alone, least of 5 | corrected, least of 5")
    answer(fat_tree(FatTree(pods=4)), "all_to_all", correction)  # compiles
    for pods in (4, 8, 12, 16):
        tree = fat_tree(FatTree(pods=pods))
        for kind in PAPER_PATTERNS:
            plain = min(answer(tree, kind, None)[0] for _ in range(5))
            taken, flows = min(answer(tree, kind, correction) for _ in range(5))
            times[pods, kind] = taken
            print_row(tree.host_count, kind, flows, f"{plain:.4f} s", f"{taken:.4f} s")
    print()
    return times


def answer(tree: Topology, kind: str, correction: Correction | None) -> tuple[float, int]:
    """Seconds from flows to their latencies, routes included, and the number of flows."""
    traffic = traffic_of(tree, Pattern(kind=kind, load=0.5))
    start = time.perf_counter()
    model = model_network(tree, traffic)
    waits = stream_waits(model) if correction is None else corrected_waits(model, correction)
    flow_latency(model, waits)
    return time.perf_counter() - start, len(traffic.sources)


SHORT_RUNS = {"all_to_all": 60_000, "incast": 15_000, "broadcast": 15_000}
"""Packets of the longer of two runs of ns-3."""
CHAPTER_S = 40.0
"""Simulated time of table 5.5, warm-up included."""


def ns3_times(folder: Path, times: Mapping[tuple[int, str], float]) -> None:
    print_header("hosts | traffic | ns-3, 40 s simulated | corrected theory | ratio")
    build_ns3(folder)
    for (pods, kind), model_s in times.items():
        tree = fat_tree(FatTree(pods=pods))
        traffic = traffic_of(tree, Pattern(kind=kind, load=0.5))
        long_s = SHORT_RUNS[kind] / float(traffic.rates_per_s.sum())
        spent = [ns3_seconds(tree, traffic, simulated, folder) for simulated in (long_s / 4, long_s)]
        whole = (spent[1] - spent[0]) / (long_s * 0.75) * CHAPTER_S
        ratio = whole / model_s
        print_row(f"{tree.host_count} | {kind} | {whole:.0f} s | {model_s:.4f} s | {ratio:.0f}")
    print()


def ns3_seconds(tree: Topology, traffic: Traffic, simulated_s: float, folder: Path) -> float:
    scenario = scenario_of(tree, traffic, simulated_s, 1, has_acks=True)
    return timed(lambda: simulate_in_ns3(scenario, engine_folder=folder))[1].wall_s


def simulator_times(folder: Path) -> None:
    tree = fat_tree(FatTree(pods=4))
    scenario = scenario_of(tree, traffic_of(tree, Pattern(load=0.5)), 1.5, 1, has_acks=True)
    build_ns3(folder)
    simulate(scenario, engine_folder=folder)
    ours, own = timed(lambda: simulate(scenario, engine_folder=folder))
    truth, ns3 = timed(lambda: simulate_in_ns3(scenario, engine_folder=folder))
    same = np.array_equal(ours.delays_ns, truth.delays_ns) and np.array_equal(ours.rtts_ns, truth.rtts_ns)
    print(f"{len(ours.delays_ns)} packets and their acknowledgements: ours {own.wall_s:.2f} s,")
    times = ns3.wall_s / own.wall_s
    print(f"ns-3 {ns3.wall_s:.2f} s, {times:.0f} times; delays identical: {same}")


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated, of each run")
    parser.add_argument("--no-ns3", action="store_true")
    parser.add_argument("--only-times", action="store_true", help="no errors")
    add_record_option(parser)
    chosen = parser.parse_args()
    print_machine()
    with tempfile.TemporaryDirectory() as name:
        times = model_times()
        if chosen.record:
            for run, (figure, goal_s) in FIGURES.items():
                record("network", figure, round(times[run], 4), missed=times[run] > goal_s)
        if find_ns3() is not None and not chosen.no_ns3:
            ns3_times(Path(name), times)
            simulator_times(Path(name))
        if chosen.only_times:
            return
        errors(chosen.seconds, Path(name))


if __name__ == "__main__":
    main()
