"""Latency of traces by theory beside simulation: a generated trace, and its copies on larger trees.

    python -m tests.benchmarks.network_traces [--seconds 4] [--pods 4 8 12 16] [--kinds thin periodic bulk]

Stands in for table 5.4, whose trace cannot be had: streams of small packets, five a host, at Poisson times or
periodic, and bulk transfers with heavy tails. Mean absolute percentage error over flows of the mean
round trip, by maximum entropy and by the estimate for trees, and normalised Wasserstein distances of flows'
mean and 99th percentile (over the mean of the simulated ones). The first tenth of a run is not counted.
Elapsed times, as table 5.5's rows of traces: of the estimate from flows on, of the project's simulator, and
with `--ns3` of ns-3.
"""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path

import numpy as np

from models.queue_correction.tails import theory_rtt_quantiles_s
from pipelines.network.queueing import ESTIMATES, flow_latency, model_network, stream_waits
from pipelines.network.simulation import SimulationOptions, make_scenario, simulate
from pipelines.network.simulation.ns3 import simulate_in_ns3
from pipelines.network.topology import FatTree, fat_tree
from pipelines.network.traffic import (
    ThinOptions,
    Trace,
    TraceOptions,
    generate_thin_streams,
    generate_trace,
    replicate_trace,
    traffic_of_trace,
)
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, timed
from tests.benchmarks.network_measures import distance

LOADS = (0.02, 0.1, 0.3)


THIN, PERIODIC, BULK = "thin", "periodic", "bulk"


def trace_of(kind: str, load: float, seconds: float) -> Trace:
    if kind == BULK:
        return generate_trace(TraceOptions(duration_s=seconds, load=load), seed=3)
    options = ThinOptions(duration_s=seconds, load=load, periodic=kind == PERIODIC)
    return generate_thin_streams(options, seed=3)


def cells_of(kind: str, pods: int, load: float, seconds: float, folder: Path, has_ns3: bool) -> list[str]:
    """Return a row of the table."""
    tree = fat_tree(FatTree(pods=pods))
    trace = trace_of(kind, load, seconds)
    if tree.host_count > 16:
        trace = replicate_trace(trace, hosts=tree.host_count, seed=3)
    traffic, schedule = traffic_of_trace(trace, tree)
    options = SimulationOptions(warm_up_s=seconds / 10)
    scenario = make_scenario(tree, traffic, schedule, options=options)
    result, simulated = timed(lambda: simulate(scenario, engine_folder=folder))
    ns3_s = timed(lambda: simulate_in_ns3(scenario, engine_folder=folder))[1].wall_s if has_ns3 else None
    counted = (schedule.times_ns >= options.warm_up_s * 1e9) & (result.rtts_ns >= 0)
    flows, times = schedule.flows[counted], result.rtts_ns[counted] / 1e9
    order = np.lexsort((times, flows))
    begins = np.searchsorted(flows[order], np.arange(len(traffic.sources) + 1))
    counts = np.diff(begins)
    known = counts > 0
    means = np.bincount(flows, times, len(counts))[known] / counts[known]
    places = begins[:-1][known] + np.ceil(0.99 * counts[known]).astype(int) - 1
    tails = times[order][places]
    model, modelled = timed(lambda: model_network(tree, traffic))
    _, estimated = timed(lambda: flow_latency(model, stream_waits(model)))
    cells = [kind, f"{tree.host_count}", f"{load:.0%}", f"{len(counts)}", f"{len(times)}"]
    for estimate in ESTIMATES:
        waits = stream_waits(model, estimate)
        latency = flow_latency(model, waits)
        means_by_theory = latency.rtt_s[known]
        tail = theory_rtt_quantiles_s(model, waits, latency, (0.99,), schedule)[0][known]
        cells.append(f"{np.mean(np.abs(means_by_theory / means - 1)):.2%}")
        cells.append(f"{distance(means_by_theory, means):.3f}, {distance(tail, tails):.3f}")
    took = (modelled.wall_s + estimated.wall_s, simulated.wall_s, ns3_s)
    return [*cells, *("" if seconds is None else f"{seconds:.3g} s" for seconds in took)]


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="of the trace")
    parser.add_argument("--pods", type=int, nargs="+", default=[4, 8, 12, 16])
    parser.add_argument("--kinds", nargs="+", choices=(THIN, PERIODIC, BULK), default=[THIN, PERIODIC, BULK])
    parser.add_argument("--loads", type=float, nargs="+", default=LOADS)
    parser.add_argument("--ns3", action="store_true", help="time ns-3 as well")
    chosen = parser.parse_args()
    print_machine()
    print_header(
        "streams | hosts | load | flows | packets | 5.1 | w1 of means, of p99 | trees | "
        "w1 of means, of p99 | estimate | simulator | ns-3"
    )
    with tempfile.TemporaryDirectory() as name:
        for kind, pods, load in product(chosen.kinds, chosen.pods, chosen.loads):
            print_row(*cells_of(kind, pods, load, chosen.seconds, Path(name), chosen.ns3))


if __name__ == "__main__":
    main()
