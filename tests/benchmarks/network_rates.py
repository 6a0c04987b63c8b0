"""Round trips in fat-trees whose hosts and switches have links of different rates, beside simulation.

    python -m tests.benchmarks.network_rates [--packets 1200000]

16 hosts; three patterns at half of a host's link, or at 60 % of the busiest queue where that is above 90 %;
500 B, queues of 128 packets, UDP with acknowledgements, Poisson and generalised exponential arrivals
(squared coefficient of variation of 4). Mean absolute percentage error over flows of the mean round trip, and
in brackets the mean error, of equation 5.1, of the estimate for trees, which supposes links of one rate, and
corrected. Nothing was learned of such networks.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from models.queue_correction.correction import corrected_waits, shipped_correction
from pipelines.network.queueing import flow_latency, model_network, stream_waits
from pipelines.network.simulation import SimulationOptions, make_scenario, simulate
from pipelines.network.topology import FatTree, Topology, fat_tree
from pipelines.network.traffic import PAPER_PATTERNS, Arrivals, Pattern, Traffic, draw_schedule, traffic_of
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.benchmarks.network_measures import Vector, flow_means_s

MBPS = 10**6
RATES = ((100, 1000), (100, 400), (1000, 100))
"""Of hosts' links and of those between switches, in Mbit/s."""
MOST, INSTEAD = 0.9, 0.6
LONGEST_S = 60.0


def network(host_bps: int, switch_bps: int) -> Topology:
    tree = fat_tree(FatTree(pods=4))
    is_host = (tree.sources < tree.host_count) | (tree.targets < tree.host_count)
    return replace(tree, rates_bps=np.where(is_host, host_bps, switch_bps).astype(np.int64))


def simulated_s(topology: Topology, traffic: Traffic, packets: float, folder: Path) -> Vector:
    """Mean round trip of every flow."""
    seconds = min(LONGEST_S, packets / float(traffic.rates_per_s.sum()))
    schedule = draw_schedule(traffic, duration_s=seconds, seed=5)
    options = SimulationOptions(warm_up_s=seconds / 10)
    scenario = make_scenario(topology, traffic, schedule, options=options)
    return flow_means_s(scenario, simulate(scenario, engine_folder=folder).rtts_ns)


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--packets", type=float, default=1.2e6, help="of a run, at most, and at most 60 s")
    chosen = parser.parse_args()
    correction = shipped_correction()
    print_header("hosts, switches, Mbit/s | traffic | arrivals | busiest | equation 5.1 | trees | corrected")
    with tempfile.TemporaryDirectory() as folder:
        for host, switch in RATES:
            topology = network(host * MBPS, switch * MBPS)
            for kind in PAPER_PATTERNS:
                for arrivals in (Arrivals(), Arrivals(kind="ge", scv=4.0)):
                    traffic = traffic_of(topology, Pattern(kind=kind, load=0.5), arrivals=arrivals)
                    busiest = float(model_network(topology, traffic).queues.utilisation.max())
                    if busiest > MOST:
                        traffic = replace(traffic, rates_per_s=traffic.rates_per_s * (INSTEAD / busiest))
                    model = model_network(topology, traffic)
                    truth = simulated_s(topology, traffic, chosen.packets, Path(folder))
                    cells: list[str] = []
                    for waits in (
                        stream_waits(model),
                        stream_waits(model, "tree"),
                        corrected_waits(model, correction),
                    ):
                        errors = 100.0 * (flow_latency(model, waits).rtt_s / truth - 1.0)
                        cells.append(f"{np.abs(errors).mean():.2f} ({errors.mean():+.2f})")
                    where = f"{host}, {switch} | {kind} | {arrivals.kind}"
                    print_row(where, f"{model.queues.utilisation.max():.2f}", *cells)


if __name__ == "__main__":
    main()
