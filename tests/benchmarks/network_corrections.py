"""Latency by theory, by chapter 5's regression trees and by the correction, beside packet-level simulation.

    python -m tests.benchmarks.network_corrections --tables releases/network-v2/tables

Errors are mean absolute percentage errors over flows of the mean round trip, of a run of the grid of table
5.3, and then the mean over runs. `5.1` is equation 5.1; `trees` the estimate for trees of queues; `random
60 %` chapter 5's regression trees trained on 60 % of all rows of the grid, whichever run they are of;
`boosted, random 60 %` gradient-boosted trees of what waits are over the estimate for trees, by the
correction's features, trained on the same rows; `corrected` the shipped correction, which has seen no run,
seed or route of the grid, and no network of 432 or 1,024 hosts; `from 16` the same trained on 16 hosts alone;
`two seeds` the error of one simulation as the estimate of another, where there are two. Below: the number of
runs in which the correction is worse than equation 5.1; Wasserstein distances of flows' mean and of their
99th percentile of the round trip, over the mean of the simulated ones, of the correction and between two
seeds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from models.queue_correction.correction import Correction, corrected_waits, shipped_correction
from models.queue_correction.data import SimulatedRun, read_runs
from models.queue_correction.features import SMALL_WAIT
from models.queue_correction.tails import rtt_quantiles_s
from models.queue_correction.train import train_correction
from pipelines.network.queueing import FlowLatency, flow_latency, stream_waits
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, timed
from tests.benchmarks.network_measures import Vector, distance, relative_error
from tests.models.paper_trees import PaperTrees, Rows, fit_trees, random_rows

GRID = ("grid-16", "grid-128", "grid-432", "grid-1024")
LONG_16 = ("long-16", "long-16-one-sided", "long-16-incast")
COLUMNS = ("5.1", "trees", "random 60 %", "boosted, random 60 %", "corrected", "from 16", "two seeds")
NEARLY_FULL = 0.95

Truth = tuple[Vector, Vector]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boosted:
    """Trees of a wait over theory's, with a logarithm as link, so that few packets do not bias them."""

    trees: HistGradientBoostingRegressor

    def latency_s(self, run: SimulatedRun) -> Vector:
        """Mean round trip of every flow, delay without acknowledgements. (flows,)"""
        small_s = SMALL_WAIT * run.service_s
        waits = self.trees.predict(run.features) * (run.theory_s + small_s) - small_s
        base_s = run.flows.column("base_ns").to_numpy().astype(np.float64) / 1e9
        waits = np.maximum(0.0, waits)[run.hop_sample]
        return base_s + np.bincount(run.hop_flow, waits, len(base_s))


def fit_boosted(runs: list[SimulatedRun], *, rows: Rows) -> Boosted:
    """Args: rows: which of so many rows of a run are used, of flows at a queue."""
    parts: list[tuple[NDArray[np.float32], Vector, Vector]] = []
    for run in runs:
        measured, sent, dropped = (
            np.asarray(run.hops.column(name).to_numpy(zero_copy_only=False), np.float64)
            for name in ("wait_mean_ns", "packet_count", "drop_count")
        )
        used = rows(len(measured)) & (sent > dropped)
        sample, packets = run.hop_sample[used], (sent - dropped)[used]
        # Rows of one stream have the same features: their mean stands for them.
        count = np.bincount(sample, packets, len(run.features))
        waits = np.bincount(sample, packets * measured[used] / 1e9, len(run.features))
        known = np.flatnonzero(count > 0)
        small_s = SMALL_WAIT * run.service_s[known]
        theory_s = run.theory_s[known] + small_s
        weights = count[known] * theory_s
        ratio = (waits[known] / count[known] + small_s) / theory_s
        parts.append((run.features[known], ratio, weights / weights.sum()))
    features, ratios, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    trees = HistGradientBoostingRegressor(
        loss="poisson", max_iter=600, learning_rate=0.1, max_leaf_nodes=63, random_state=0
    )
    return Boosted(trees=trees.fit(features, ratios, sample_weight=weights * len(weights)))


def estimates(
    run: SimulatedRun, paper: PaperTrees, boosted: Boosted, shipped: Correction, small: Correction
) -> dict[str, Vector]:
    def of(latency: FlowLatency) -> Vector:
        return latency.rtt_s if run.model.acks is not None else latency.delay_s

    return {
        "5.1": of(flow_latency(run.model, stream_waits(run.model, "maximum_entropy"))),
        "trees": of(flow_latency(run.model, stream_waits(run.model, "tree"))),
        "random 60 %": paper.latency_s(run),
        "boosted, random 60 %": boosted.latency_s(run),
        "corrected": of(flow_latency(run.model, corrected_waits(run.model, shipped))),
        "from 16": of(flow_latency(run.model, corrected_waits(run.model, small))),
    }


def grid_runs(tables: Path, group: str) -> Iterator[tuple[SimulatedRun, Truth | None]]:
    """Runs of a group, each with the truth of the same run under another seed when there is one."""
    truths: dict[tuple[str, int], Truth] = {}
    for run in read_runs(tables, [group]):
        truths[_workload(run), run.row.seed] = run.truth_s, tails(run)
    for run in read_runs(tables, [group]):
        others = [
            t for (workload, seed), t in truths.items() if workload == _workload(run) and seed != run.row.seed
        ]
        yield run, others[0] if others else None


def _workload(run: SimulatedRun) -> str:
    row = run.row
    return f"{row.network} {row.pattern} {row.load} {row.arrivals} {row.sizes} {row.is_acknowledged}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """Normalised Wasserstein distances of flows' means and 99th percentiles; NaN without a second seed."""

    arrivals: str
    mean: float
    tail: float
    noise_mean: float
    noise_tail: float


def tails(run: SimulatedRun) -> Vector:
    return np.asarray(run.flows.column("rtt_p99_ns").to_numpy(zero_copy_only=False), np.float64) / 1e9


def distances_of(run: SimulatedRun, other: Truth | None, shipped: Correction) -> Distances:
    waits = corrected_waits(run.model, shipped)
    latency = flow_latency(run.model, waits)
    return Distances(
        arrivals=run.row.arrivals,
        mean=distance(latency.rtt_s, run.truth_s),
        tail=distance(rtt_quantiles_s(run.model, waits, latency, shipped.tails)[1], tails(run)),
        noise_mean=float("nan") if other is None else distance(other[0], run.truth_s),
        noise_tail=float("nan") if other is None else distance(other[1], tails(run)),
    )


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--tables", type=Path, required=True, help="folder of the tables of simulated runs")
    parser.add_argument(
        "--long",
        type=Path,
        default=Path("releases/network-long-v1/tables"),
        help="folder of the tables of long runs",
    )
    parser.add_argument("--groups", default=",".join(GRID), help="with commas")
    chosen = parser.parse_args()
    groups = chosen.groups.split(",")
    print_machine()
    of_small = [*read_runs(chosen.tables, ["sampled-16"]), *read_runs(chosen.long, LONG_16)]
    small, small_spent = timed(lambda: train_correction(of_small, ["sampled-16", *LONG_16]))
    grid = list(read_runs(chosen.tables, groups))
    paper, paper_spent = timed(lambda: fit_trees(grid, rows=random_rows(0), seed=0))
    boosted, boosted_spent = timed(lambda: fit_boosted(grid, rows=random_rows(0)))
    print(
        f"correction from 16 hosts {small_spent.wall_s:.0f} s, regression trees {paper_spent.wall_s:.0f} s, "
        f"boosted trees {boosted_spent.wall_s:.0f} s"
    )
    shipped = shipped_correction()
    print(f"shipped correction: {shipped.about}\n")
    print_header("hosts | traffic | arrivals | load | runs | busiest", *COLUMNS)
    for group in groups:
        report(chosen.tables, group, paper, boosted, shipped, small)


def report(
    tables: Path, group: str, paper: PaperTrees, boosted: Boosted, shipped: Correction, small: Correction
) -> None:
    cells: dict[tuple[object, ...], list[dict[str, float]]] = defaultdict(list)
    worse: list[bool] = []
    distances: list[Distances] = []
    for run, other in grid_runs(tables, group):
        row = run.row
        found = {
            name: relative_error(value, run.truth_s)
            for name, value in estimates(run, paper, boosted, shipped, small).items()
        }
        found["two seeds"] = relative_error(other[0], run.truth_s) if other is not None else float("nan")
        found["busiest"] = float(row.offered_utilisation or 0.0)
        cells[row.hosts, row.pattern, row.arrivals, row.load].append(found)
        if found["busiest"] < NEARLY_FULL:
            worse.append(found["corrected"] > found["5.1"])
            distances.append(distances_of(run, other, shipped))
    for key, runs in sorted(cells.items(), key=str):
        means = {name: float(np.mean([run[name] for run in runs])) for name in (*COLUMNS, "busiest")}
        hosts, pattern, arrivals, load = key
        where = f"{hosts} | {pattern} | {arrivals} | {load:.0%} | {len(runs)} | {means['busiest']:.2f}"
        print_row(where, _cells(means))
    everything = [run for runs in cells.values() for run in runs]
    below = [run for run in everything if run["busiest"] < NEARLY_FULL]
    for kind, part in (("all", everything), ("below 95 %", below)):
        means = {name: float(np.mean([run[name] for run in part])) for name in COLUMNS}
        print_row(group, kind, "", "", len(part), "", _cells(means))
    print(f"\n{group}: corrected worse than 5.1 in {sum(worse)} of {len(worse)} runs below 95 %")
    for kind in sorted({found.arrivals for found in distances}):
        chosen = [found for found in distances if found.arrivals == kind]
        names = ("mean", "tail", "noise_mean", "noise_tail")
        values = [float(np.mean([getattr(found, name) for found in chosen])) for name in names]
        print(
            f"{group}, {kind}: w1 of means {values[0]:.4f}, of 99th percentiles {values[1]:.4f}; "
            f"between two seeds {values[2]:.4f} and {values[3]:.4f}"
        )
    print(flush=True)


def _cells(means: Mapping[str, float]) -> str:
    return " | ".join("" if np.isnan(means[name]) else f"{means[name]:.2%}" for name in COLUMNS)


if __name__ == "__main__":
    main()
