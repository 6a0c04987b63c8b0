"""Chapter 5's experiments beside its grid: TCP, two tiers, full all-to-all, distributions, error reduction.

    python -m tests.benchmarks.network_experiments [--only tcp two-tier full reduction] [--folder FOLDER]

`--seconds` is the simulated time of all-to-all traffic of 128 hosts. Runs are kept in `--folder`, so that a
second time, or another correction, takes little.

Every run has links of 100 Mbit/s, 500 B, queues of 128 packets, acknowledgements, and packet seeds and routes
that the shipped correction has not seen. Errors are mean absolute percentage errors over flows of the
mean round trip: of equation 5.1, of the estimate for trees, corrected; `two seeds` is the error of one
simulation as the estimate of another. GE has a squared coefficient of variation of 4.

tcp: by ns-3, 16 hosts. `UDP` columns are of the same packets at the same times without TCP, by the project's
simulator, with 554 B on the wire as TCP has, but acknowledgements of 30 B in place of 54: what is left of
TCP's error is the protocol's. `slower` is the median over flows of the mean one-way delay of TCP over that of
UDP, less 1, `by model` the same of the corrected estimate, `late` the share of flows in which it is more than
twice that of UDP.

two-tier: 128 hosts, 16 edge and 4 core switches, 2 links between each pair of them.

full: all hosts to all, 16 and 128 of them. Then distributions, as figures 5.6 and 5.7 have them: quantiles of
flows' mean round trips and of packets' round trips. Packets follow a mixture over flows of the law that the
model gives a flow; those of a trace have their own time of sending each. Distances are Wasserstein's, over
the mean of the simulated. Generated traces stand in for the trace of figure 5.7; theirs is the estimate for
trees, for nothing is learned of them.

reduction: what the correction takes off the error of equation 5.1, from a release's runs of the grid.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from models.queue_correction.correction import Correction, shipped_correction
from models.queue_correction.data import read_runs
from models.queue_correction.tails import corrected_latency
from pipelines.base.identity import content_hash
from pipelines.network.queueing import (
    ESTIMATES,
    FlowLatency,
    NetworkModel,
    flow_latency,
    model_network,
    rtt_quantile_s,
    stream_waits,
)
from pipelines.network.queueing.latency import QUANTILES as LEARNED_QUANTILES
from pipelines.network.runs import FAT_TREE, TWO_TIER, NetworkRun, RunGroup, model_of, runs_of
from pipelines.network.simulation import (
    Scenario,
    SimulationOptions,
    SimulationResult,
    engine_version,
    make_scenario,
    simulate,
)
from pipelines.network.simulation.ns3 import build_ns3, find_ns3, simulate_in_ns3
from pipelines.network.simulation.ns3 import engine_version as ns3_version
from pipelines.network.topology import FatTree, fat_tree
from pipelines.network.traffic import (
    HEADER_BYTES,
    TCP,
    UDP,
    Schedule,
    TraceOptions,
    draw_schedule,
    generate_trace,
    replicate_trace,
    traffic_of_trace,
)
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, timed
from tests.benchmarks.network_measures import Vector, flow_means_s, relative_error

SEEDS, ROUTING_SEED = (301, 302), 3001
GROUP = RunGroup(name="experiments", sizes=("fixed",), routing_seeds=(ROUTING_SEED,), seeds=SEEDS)
TCP_SECONDS = {"all_to_all": 1.0, "incast": 6.0, "broadcast": 6.0}
LATE = 2.0
"""Delay of a late flow of TCP over that without TCP."""
LINK_SECONDS = 20.0
"""Simulated time of incast and broadcast, in which one link carries all."""
QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
LAW_POINTS = 200
"""Quantiles by which a flow's law stands in the mixture."""
CURVE_POINTS = 2000
"""Quantiles by which two distributions are compared."""
TRACE_LOAD, TRACE_SECONDS = 0.1, 4.0
GRID = ("grid-16", "grid-128", "grid-432", "grid-1024")

Engine = Callable[[Scenario], SimulationResult]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Truth:
    """What packets sent after the warm-up took, in seconds.

    Attributes:
        rtt_s, delay_s: means by flow; NaN when no packet came. (flows,)
        packets_s: quantiles of round trips of all packets at even probabilities. (CURVE_POINTS,)
        packet_count: of them. drops: packets that full queues refused. wall_s: of simulating.
    """

    rtt_s: Vector
    delay_s: Vector
    packets_s: Vector
    packet_count: int
    drops: int
    wall_s: float


def truth_of(run: NetworkRun, folder: Path) -> Truth:
    """What a run comes to, simulated when the folder does not have it."""
    is_tcp = run.protocol == TCP
    engine = partial(simulate_in_ns3 if is_tcp else simulate, engine_folder=folder)
    version = ns3_version() if is_tcp else engine_version()
    path = folder / f"{content_hash(run.configuration(), version)}.npz"
    if not path.is_file():
        np.savez(path, **asdict(sum_up(scenario_of(run), engine)))
    with np.load(path) as kept:
        numbers = {name: kept[name].item() for name in ("packet_count", "drops", "wall_s")}
        return Truth(**{name: kept[name] for name in ("rtt_s", "delay_s", "packets_s")}, **numbers)


def sum_up(scenario: Scenario, engine: Engine) -> Truth:
    result, spent = timed(lambda: engine(scenario))
    counted = scenario.schedule.times_ns >= scenario.options.warm_up_s * 1e9
    rtts = result.rtts_ns[counted & (result.rtts_ns >= 0)]
    return Truth(
        rtt_s=flow_means_s(scenario, result.rtts_ns),
        delay_s=flow_means_s(scenario, result.delays_ns),
        packets_s=curve(rtts / 1e9),
        packet_count=len(rtts),
        drops=int(result.hops.drops.sum() + result.ack_hops.drops.sum()),
        wall_s=spent.wall_s,
    )


def scenario_of(run: NetworkRun) -> Scenario:
    topology = run.topology()
    traffic = run.traffic(topology)
    schedule = draw_schedule(traffic, duration_s=run.duration_s, seed=run.seed)
    return make_scenario(topology, traffic, schedule, routing=run.routing, options=run.options)


def latencies(model: NetworkModel, correction: Correction) -> list[FlowLatency]:
    """By equation 5.1, by the estimate for trees, corrected."""
    theory = [flow_latency(model, stream_waits(model, name)) for name in ESTIMATES]
    return [*theory, corrected_latency(model, correction, LEARNED_QUANTILES).latency]


def line(*cells: object) -> None:
    shown = [f"{cell:.2%}" if isinstance(cell, float) else str(cell) for cell in cells]
    print_row(*shown)


# ---- TCP -------------------------------------------------------------------------------------------


def tcp(folder: Path, _: float, correction: Correction) -> None:
    """Runs of ns-3 beside theory, and beside the same packets without TCP."""
    if find_ns3() is None:
        print("tcp: there is no ns-3\n")
        return
    build_ns3(folder)
    print_header(
        "traffic | arrivals | load | busiest queue | packets | 5.1 | trees | corrected | delay, corrected",
        "UDP: 5.1 | UDP: corrected | slower | by model | late | drops",
    )
    for pattern, duration_s in TCP_SECONDS.items():
        group = replace(GROUP, protocols=(TCP,), patterns=(pattern,), seeds=SEEDS[:1])
        for run in runs_of(replace(group, duration_s=duration_s, warm_up_s=duration_s / 5)):
            _tcp_line(run, folder, correction)
    print()


def _tcp_line(run: NetworkRun, folder: Path, correction: Correction) -> None:
    larger = run.sizes.mean_bytes + HEADER_BYTES[TCP] - HEADER_BYTES[UDP]
    plain = replace(run, protocol=UDP, sizes=replace(run.sizes, mean_bytes=larger))
    truth, without = truth_of(run, folder), truth_of(plain, folder)
    ratios = truth.delay_s / without.delay_s
    model = model_of(run)
    found, of_plain = latencies(model, correction), latencies(model_of(plain), correction)
    line(
        run.pattern.kind,
        run.arrivals.kind,
        f"{run.pattern.load:.0%}",
        f"{model.queues.utilisation.max():.2f}",
        truth.packet_count,
        *(relative_error(latency.rtt_s, truth.rtt_s) for latency in found),
        relative_error(found[2].delay_s, truth.delay_s),
        *(relative_error(of_plain[place].rtt_s, without.rtt_s) for place in (0, 2)),
        float(np.nanmedian(ratios) - 1.0),
        float(np.median(found[2].delay_s / of_plain[2].delay_s) - 1.0),
        float(np.mean(ratios > LATE)),
        truth.drops,
    )


# ---- networks of two tiers, and of all hosts -------------------------------------------------------


def two_tier(folder: Path, seconds: float, correction: Correction) -> None:
    """128 hosts under trees with parallel links."""
    shape = replace(GROUP, network=TWO_TIER, edges=16, cores=4, hosts_per_edge=8, parallel_links=2)
    _error_header()
    everything: list[list[float]] = []
    for pattern, duration_s in (
        ("all_to_all", seconds),
        ("incast", LINK_SECONDS),
        ("broadcast", LINK_SECONDS),
    ):
        group = replace(shape, patterns=(pattern,), duration_s=duration_s, warm_up_s=duration_s / 10)
        everything += [errors for _, _, errors in pairs(group, folder, correction)]
    line("all", "", "", "", "", *np.mean(everything, axis=0).tolist(), "")
    print()


def _error_header() -> None:
    print_header(
        "hosts | traffic | arrivals | load | busiest queue | 5.1 | trees | corrected | two seeds",
        "packets in simulation, s",
    )


def pairs(
    group: RunGroup, folder: Path, correction: Correction
) -> Iterator[tuple[NetworkRun, tuple[FlowLatency, tuple[Truth, Truth]], list[float]]]:
    """Workloads of a group: a run, its corrected latency, its truth by two seeds, and errors as printed."""
    for run in runs_of(replace(group, seeds=SEEDS[:1])):
        one, other = (truth_of(replace(run, seed=seed), folder) for seed in SEEDS)
        model = model_of(run)
        found = latencies(model, correction)
        errors = [relative_error(latency.rtt_s, one.rtt_s) for latency in found] + [
            relative_error(other.rtt_s, one.rtt_s)
        ]
        line(
            model.topology.host_count,
            run.pattern.kind,
            run.arrivals.kind,
            f"{run.pattern.load:.0%}",
            f"{model.queues.utilisation.max():.2f}",
            *errors,
            f"{one.packet_count}, {one.wall_s:.0f}",
        )
        yield run, (found[2], (one, other)), errors


def full(folder: Path, seconds: float, correction: Correction) -> None:
    """All-to-all traffic of all hosts, and its distributions."""
    shapes: list[Shape] = []
    _error_header()
    for pods, duration_s in ((4, 5 * seconds), (8, seconds)):
        group = replace(GROUP, network=FAT_TREE, pods=pods, patterns=("all_to_all",))
        group = replace(group, duration_s=duration_s, warm_up_s=duration_s / 10)
        for run, (latency, truths), _ in pairs(group, folder, correction):
            name = f"{pods**3 // 4} | {run.arrivals.kind} | {run.pattern.load:.0%}"
            shapes.append(shape_of(name, latency, truths[0], truths[1]))
    shapes += [trace_shape(pods, folder) for pods in (4, 8)]
    print()
    print_header("hosts", "arrivals", "load", "of", "ms", *(f"{q:.0%}" for q in QUANTILES))
    for shape in shapes:
        for of, curves in (("flows", shape.flows), ("packets", shape.packets)):
            for who, curve in zip(("simulated", "model"), curves, strict=False):
                line(shape.name, of, who, *(f"{value * 1e3:.3f}" for value in np.quantile(curve, QUANTILES)))
    print()
    print_header("hosts", "arrivals", "load", "w1 of flows' means", "two seeds", "w1 of packets", "two seeds")
    for shape in shapes:
        line(shape.name, *distances(shape.flows), *distances(shape.packets))
    print()


# ---- distributions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """Distributions of a workload as quantiles at even probabilities: simulated, model, second seed."""

    name: str
    flows: list[Vector]
    packets: list[Vector]


def curve(values: Vector) -> Vector:
    """Quantiles of a sample at even probabilities. (CURVE_POINTS,)"""
    places = (np.arange(CURVE_POINTS) + 0.5) / CURVE_POINTS
    return np.sort(values)[(places * len(values)).astype(np.int64)]


def laws_of_flows(latency: FlowLatency) -> Vector:
    """The model's law of every flow as quantiles at even probabilities. (LAW_POINTS, flows)"""
    places = (np.arange(LAW_POINTS) + 0.5) / LAW_POINTS
    return np.array([rtt_quantile_s(latency, float(place)) for place in places])


def law_of_trace(model: NetworkModel, latency: FlowLatency, schedule: Schedule) -> Vector:
    """The same of the packets of a trace, each with its own time of sending. (CURVE_POINTS,)"""
    flows, data = schedule.flows, model.data
    drawn = np.random.Generator(np.random.Philox(key=SEEDS[0])).integers(0, LAW_POINTS, len(flows))
    more_bytes = schedule.payload_bytes + model.traffic.header_bytes - data.mean_bytes[flows]
    hop_s = 8.0 / model.topology.rates_bps[0]  # of a byte; all links have one rate
    sending_s = more_bytes * hop_s * (data.routes >= 0).sum(axis=1)[flows]
    return curve(laws_of_flows(latency)[drawn, flows] + sending_s)


def shape_of(name: str, latency: FlowLatency, *truths: Truth, law: Vector | None = None) -> Shape:
    """Args: law: of packets; the mixture over flows of one rate without."""
    known = np.isfinite(truths[0].rtt_s)
    law = curve(laws_of_flows(latency).ravel()) if law is None else law
    flows = [truths[0].rtt_s[known], latency.rtt_s[known], *(t.rtt_s[known] for t in truths[1:])]
    simulated = [truth.packets_s for truth in truths]
    return Shape(
        name=name,
        flows=[curve(values[np.isfinite(values)]) for values in flows],
        packets=[simulated[0], law, *simulated[1:]],
    )


def trace_shape(pods: int, folder: Path) -> Shape:
    """A generated trace, or its copies on a larger tree."""
    tree = fat_tree(FatTree(pods=pods))
    trace = generate_trace(TraceOptions(duration_s=TRACE_SECONDS, load=TRACE_LOAD), seed=SEEDS[0])
    if tree.host_count > 16:
        trace = replicate_trace(trace, hosts=tree.host_count, seed=SEEDS[0])
    traffic, schedule = traffic_of_trace(trace, tree)
    options = SimulationOptions(warm_up_s=TRACE_SECONDS / 10)
    scenario = make_scenario(tree, traffic, schedule, options=options)
    truth = sum_up(scenario, partial(simulate, engine_folder=folder))
    model = model_network(tree, traffic)
    latency = flow_latency(model, stream_waits(model, "tree"))
    name = f"{tree.host_count} | trace | {TRACE_LOAD:.0%}"
    return shape_of(name, latency, truth, law=law_of_trace(model, latency, schedule))


def distances(curves: list[Vector]) -> list[str]:
    """Of the model, and between two seeds; empty without a second."""
    found = [f"{np.mean(np.abs(curve - curves[0])) / curves[0].mean():.4f}" for curve in curves[1:]]
    return [*found, *[""] * (2 - len(found))]


# ---- error reduction -------------------------------------------------------------------------------


def reduction(tables: Path, correction: Correction) -> None:
    """Errors of equation 5.1 and of the corrected estimate of the grid's runs."""
    cells: dict[tuple[int, str, str], list[tuple[float, float]]] = defaultdict(list)
    for group in GRID:
        for run in read_runs(tables, [group]):
            first, _, last = latencies(run.model, correction)
            found = relative_error(first.rtt_s, run.truth_s), relative_error(last.rtt_s, run.truth_s)
            cells[int(run.row.hosts), run.row.pattern, run.row.arrivals].append(found)
    print_header("hosts", "traffic", "arrivals", "runs", "5.1", "corrected", "difference", "ratio")
    for key, found in sorted(cells.items()):
        _reduction_line(*key, found=found)
    for hosts in sorted({key[0] for key in cells}):
        _reduction_line(
            hosts, "all", "", found=[one for key in cells if key[0] == hosts for one in cells[key]]
        )
    everything = [one for found in cells.values() for one in found]
    _reduction_line("all", "all", "", found=everything)
    less = np.array([before - after for before, after in everything]) * 100
    print(
        f"\ndifference: mean {less.mean():.1f} points, variance {less.var():.1f}, deviation {less.std():.1f}"
    )


def _reduction_line(*names: object, found: list[tuple[float, float]]) -> None:
    before, after = np.mean(found, axis=0).tolist()
    line(*names, len(found), before, after, before - after, f"{before / after:.1f}")


PARTS = ("tcp", "two-tier", "full", "reduction")


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--folder", type=Path, help="of what was simulated")
    parser.add_argument("--seconds", type=float, default=2.0, help="simulated, of 128 hosts to all")
    parser.add_argument(
        "--tables", type=Path, default=Path("releases/network-v2/tables"), help="of reduction"
    )
    chosen = parser.parse_args()
    print_machine()
    correction = shipped_correction()
    with tempfile.TemporaryDirectory() as name:
        folder = chosen.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        for part, measure in (("tcp", tcp), ("two-tier", two_tier), ("full", full)):
            if part in chosen.only:
                measure(folder, chosen.seconds, correction)
    if "reduction" in chosen.only:
        reduction(chosen.tables, correction)


if __name__ == "__main__":
    main()
