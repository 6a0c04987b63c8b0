"""Intervals of network estimates: made of runs that nothing was learned from, and measured on others.

    python -m tests.benchmarks.network_intervals [--samples 360] [--seconds 10] [--write] [--record]

Runs of the project's simulator: a third on networks of the drawn families and a third on fat-trees of 16
hosts, with all patterns and arrivals, packets of one and of several sizes, the busiest link at 10 to 95 %; a
third on fat-trees at high loads with packets of one size, Poisson and in batches, which have few runs among
the others. Every second run makes the intervals, the others measure them: the share of runs in which 9 of 10
flows are within. `--write` makes the file that comes with the project, of all runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from models.queue_correction import PREDICTOR
from models.queue_correction.correction import Correction, shipped_correction
from models.queue_correction.intervals import (
    LEAST_SEEN,
    Interval,
    RunErrors,
    error_of_flows,
    group_of,
    intervals_of,
    kind_of,
    write_intervals,
)
from models.queue_correction.tails import corrected_latency
from pipelines.network.queueing.latency import QUANTILES
from pipelines.network.runs import NetworkRun, RunGroup, model_of, runs_of
from pipelines.network.runs.tables import sum_packets
from pipelines.network.simulation import make_scenario, simulate
from pipelines.network.traffic import ARRIVALS, PATTERNS, draw_schedule
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row
from tests.benchmarks.recording import add_record_option, record, unmeasured

DRAWN = RunGroup(
    name="intervals",
    network="drawn",
    unequal=True,
    patterns=PATTERNS,
    loads=(0.1, 0.95),
    arrivals=ARRIVALS,
    scvs=(1.5, 8.0),
    sizes=("fixed", "fixed", "bimodal", "empirical"),
    mean_bytes=(200, 500, 1000),
    routings=("ecmp", "fixed"),
    routing_seeds=tuple(range(4001, 4021)),
)
GROUPS = (
    replace(DRAWN, sample_seed=71),
    replace(DRAWN, network="fat_tree", sample_seed=72, loads=(0.1, 0.75)),
    replace(
        DRAWN,
        network="fat_tree",
        sample_seed=73,
        loads=(0.35, 0.8),
        arrivals=("poisson", "ge"),
        sizes=("fixed",),
    ),
)


LEAST_PACKETS = 1000


def errors_of(run: NetworkRun, folder: Path, correction: Correction) -> tuple[RunErrors, float]:
    """The errors of a run, and how much of it the estimate says was seen in training."""
    topology = run.topology()
    traffic = run.traffic(topology)
    schedule = draw_schedule(traffic, duration_s=run.duration_s, seed=run.seed)
    scenario = make_scenario(topology, traffic, schedule, routing=run.routing, options=run.options)
    flows = sum_packets(scenario, simulate(scenario, engine_folder=folder)).flows
    model = model_of(run)
    corrected = corrected_latency(model, correction, QUANTILES)
    truth = {
        name: flows.column(f"rtt_{name}_ns").to_numpy().astype(np.float64) / 1e9 for name in ("mean", "p99")
    }
    few = flows.column("packet_count").to_numpy() < LEAST_PACKETS
    for times in truth.values():
        times[few] = np.nan  # nothing but noise
    errors = RunErrors(
        kind=kind_of(model),
        utilisation=float(model.queues.utilisation.max()),
        mean=error_of_flows(corrected.latency.rtt_s, truth["mean"]),
        p99=error_of_flows(corrected.rtt_quantiles_s[1], truth["p99"]),
    )
    return errors, corrected.seen


def measured(samples: int, seconds: float, folder: Path) -> Iterator[tuple[RunErrors, float]]:
    correction = shipped_correction()
    for group in GROUPS:
        timed = replace(group, samples=samples // len(GROUPS), duration_s=seconds, warm_up_s=seconds / 10)
        for run in runs_of(timed):
            yield errors_of(run, folder, correction)


def held(intervals: dict[str, Interval], runs: list[RunErrors]) -> dict[str, tuple[int, int, int]]:
    """Runs of each kind and band: their number, those within by the mean, and by the 99th percentile."""
    counts: dict[str, tuple[int, int, int]] = {}
    for name, interval in intervals.items():
        own = [run for run in runs if group_of(run.kind, run.utilisation) == name]
        means = len([1 for run in own if run.mean <= interval.mean])
        counts[name] = (len(own), means, len([1 for run in own if run.p99 <= interval.p99]))
    return counts


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--samples", type=int, default=360)
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated, of each run")
    parser.add_argument("--folder", type=Path, default=Path("data/benchmarks/network-intervals"))
    parser.add_argument("--write", action="store_true", help=f"write {PREDICTOR.shipped_folder.name}")
    add_record_option(parser)
    chosen = parser.parse_args()
    print_machine()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    runs = [
        errors
        for errors, seen in measured(chosen.samples, chosen.seconds, chosen.folder)
        if seen >= LEAST_SEEN and not math.isnan(errors.mean)
    ]
    made, others = runs[::2], runs[1::2]
    intervals = intervals_of(made)
    print_header(
        "kind, utilisation up to | runs | mean within | p99 within | other runs | mean held | p99 held"
    )
    total = np.zeros(3, np.int64)
    for name, counts in held(intervals, others).items():
        own = intervals[name]
        print_row(name, own.runs, f"{own.mean:.1%}", f"{own.p99:.1%}", *counts)
        total += counts
    shares = {"mean": float(total[1] / total[0]), "p99": float(total[2] / total[0])}
    print_row("all", len(made), "", "", total[0], *(f"{share:.0%}" for share in shares.values()))
    if chosen.write:
        write_intervals(intervals_of(runs), PREDICTOR.shipped_folder)
    if chosen.record:
        name = "runs in which 9 of 10 flows are within the interval (90 % said)"
        record(
            "network",
            name,
            {time: f"{share:.0%} of {total[0]}" for time, share in shares.items()},
            missed=not all(0.85 <= share <= 0.95 for share in shares.values()),
            new=unmeasured(
                area="network",
                section="Intervals",
                figure=name,
                goal="85 to 95 %",
                command="python -m tests.benchmarks.network_intervals",
                engines=("network", "queue_correction"),
            ),
        )


if __name__ == "__main__":
    main()
