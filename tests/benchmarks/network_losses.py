"""Losses and waits of queues of several capacities: estimated, and counted by the project's simulator.

    python -m tests.benchmarks.network_losses [--packets 300000] [--record]

Fat-tree of 16 hosts, 500 B, acknowledgements, three patterns, Poisson and GE with a squared variation of 4
and 10, the busiest queue at 50, 75 and 90 %, queues of 8, 32, 128 packets and without end. `lost` is the
share of the packets of data; errors are mean absolute percentage errors over flows of the mean round trip and
of its 99th percentile. `128` is the estimate of the correction that knows no other capacity, `capacity` the
one with losses. Two seeds of one run differ by `noise`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from models.queue_correction.correction import corrected_waits, shipped_correction
from models.queue_correction.tails import corrected_latency
from pipelines.network.queueing import flow_latency
from pipelines.network.queueing.latency import QUANTILES
from pipelines.network.request import CAPACITY_LIMIT
from pipelines.network.runs import NetworkRun, RunGroup, runs_of
from pipelines.network.runs.tables import sum_packets
from pipelines.network.simulation import make_scenario, simulate
from pipelines.network.traffic import draw_schedule
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row
from tests.benchmarks.network_measures import Vector, relative_error
from tests.benchmarks.network_utilisation import at_utilisation, model_of
from tests.benchmarks.recording import add_record_option, record, unmeasured

CAPACITIES = (8, 32, 128, None)
UTILISATIONS = (0.5, 0.75, 0.9)
SEEDS = (901, 902)
GROUP = RunGroup(name="losses", sizes=("fixed",), loads=(0.5,), scvs=(4.0, 10.0), seeds=SEEDS[:1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a simulation counted: share of data lost; mean and percentiles of round trips. (flows,)"""

    lost: float
    mean_s: Vector
    p50_s: Vector
    p99_s: Vector


def count(run: NetworkRun, seed: int, packets: int, folder: Path) -> Counted:
    topology = run.topology()
    traffic = run.traffic(topology)
    duration_s = packets / float(traffic.rates_per_s.sum())
    schedule = draw_schedule(traffic, duration_s=duration_s, seed=seed)
    options = replace(run.options, warm_up_s=duration_s / 10)
    scenario = make_scenario(topology, traffic, schedule, routing=run.routing, options=options)
    result = simulate(scenario, engine_folder=folder)
    flows = sum_packets(scenario, result).flows
    mean_s, p50_s, p99_s = (
        flows.column(f"rtt_{name}_ns").to_numpy().astype(np.float64) / 1e9 for name in ("mean", "p50", "p99")
    )
    return Counted(lost=float((result.delays_ns < 0).mean()), mean_s=mean_s, p50_s=p50_s, p99_s=p99_s)


def runs() -> Iterator[tuple[int | None, float, NetworkRun]]:
    for capacity, utilisation, run in product(CAPACITIES, UTILISATIONS, list(runs_of(GROUP))):
        options = replace(run.options, queue_capacity=capacity or CAPACITY_LIMIT)
        yield capacity, utilisation, at_utilisation(replace(run, options=options), utilisation)


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--packets", type=int, default=300_000)
    parser.add_argument("--folder", type=Path, default=Path("data/benchmarks/network-losses"))
    add_record_option(parser)
    chosen = parser.parse_args()
    print_machine()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    correction = shipped_correction()
    print_header(
        "capacity | traffic | arrivals | busiest | lost | estimated | mean: 128 | own | noise | p50 | p99"
    )
    errors: dict[str, list[tuple[float, ...]]] = {}
    lost: list[tuple[float, float]] = []
    for capacity, utilisation, run in runs():
        one, other = (count(run, seed, chosen.packets, chosen.folder) for seed in SEEDS)
        model = replace(model_of(run), capacity=capacity)
        plain = replace(run, options=replace(run.options, queue_capacity=128))
        learned = model_of(plain)
        without = flow_latency(learned, corrected_waits(learned, correction)).rtt_s
        answer = corrected_latency(model, correction, QUANTILES)
        estimated = float(np.average(answer.lost_share, weights=model.traffic.rates_per_s))
        of_means = [relative_error(mean_s, one.mean_s) for mean_s in (without, answer.latency.rtt_s)]
        percentiles = zip(answer.rtt_quantiles_s, (one.p50_s, one.p99_s), strict=True)
        tails = [relative_error(estimated_s, counted_s) for estimated_s, counted_s in percentiles]
        name = "without end" if capacity is None else str(capacity)
        errors.setdefault(name, []).append((*of_means, *tails))
        lost.append((estimated, one.lost))
        print_row(
            name,
            run.pattern.kind,
            f"{run.arrivals.kind} {run.arrivals.scv:g}",
            f"{utilisation:.0%}",
            *(f"{share:.3%}" for share in (one.lost, estimated)),
            *(f"{error:.2%}" for error in of_means),
            f"{relative_error(other.mean_s, one.mean_s):.2%}",
            *(f"{error:.2%}" for error in tails),
        )
    print()
    print_header("capacity | mean error (most): 128 | capacity | p50 | p99")
    cells: dict[str, str] = {}
    for name, own in errors.items():
        means = [f"{np.mean(column):.1%} ({np.max(column):.0%})" for column in zip(*own, strict=True)]
        cells[name] = f"{means[1]}, p99 {means[3]}"
        print_row(name, *means)
    many = np.array([pair for pair in lost if pair[1] > 1e-3])
    least, ratio, most = np.quantile(many[:, 0] / many[:, 1], (0.0, 0.5, 1.0))
    times = f"{ratio:.2f} ({least:.2f} to {most:.2f})"
    print_row("estimated over counted losses above 0.1 %", times, len(many), "", "")
    if chosen.record:
        name = "queues of 8, 32, 128 packets and without end, mean round trip"
        figure = unmeasured(
            area="network",
            section="Losses",
            figure=name,
            goal="",
            command="python -m tests.benchmarks.network_losses",
            engines=("network", "queue_correction"),
        )
        record("network", name, cells | {"losses, estimated over counted": times}, new=figure)


if __name__ == "__main__":
    main()
