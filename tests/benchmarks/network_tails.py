"""Distances of the distributions of round trips over flows, of the model from long simulated runs.

    python -m tests.benchmarks.network_tails [--hosts 16,128] [--arrivals poisson,ge] [--only-times]

The grid of table 5.3 at 16 hosts, and at 128 of which a quarter talk all to all: three patterns at loads of
25, 50 and 75 %, links of 100 Mbit/s, 500 B, UDP with acknowledgements. Each run is simulated under two seeds
for at least `--seconds` (30, as the chapter's) and until it has `--packets`, at most 1,000 s, for a flow of
incast or broadcast has few packets a second. Routes and packet seeds are none of the release's. Runs are kept
in `--folder`, so that a killed or second run of the benchmark simulates only what is missing.

A distance is the Wasserstein distance w1 between the distribution over flows of an estimated figure and that
of the simulated figure of one seed, over the mean of the simulated figure. This is w1(estimated, simulated) /
w1(zeros, simulated), the normalisation of DeepQueueNet (Yang et al. 2022) whose figures table 5.6 repeats;
chapter 5 does not define its own. A figure is a flow's mean, median or 99th percentile of the round trip.

`two seeds` is the distance between the two simulations. A flow's simulated percentile is itself noisy, which
widens its distribution over flows; two seeds are widened alike, an estimate without noise is not, so that
even a perfect one is off by something that `two seeds` does not show. `pooled` compares with the mean of both
seeds' figures by flow, of which there is less noise. `gamma` is `rtt_quantile_s`, `law` the law of
`models/queue_correction/tails.py` and `learned` that with what was learned of its error, all with corrected
waits. Means and worst runs are of those whose busiest queue is offered less than 95 %. Errors by queues are
those of the three estimates' percentiles, mean over flows with so many queues on the way there and back.

`random 60 %` is chapter 5's protocol: a regression tree of depth 12 learns what 99th percentiles are beyond
the law from 60 % of the flows of all cells of one size and arrivals, drawn evenly, and the distance is over
the other flows of each cell. MAPE is of means of flows, by equation 5.1 and by `corrected` from one seed, and
of one seed from the other; `worse` counts runs where `corrected` is further off than equation 5.1.

`--only-times` measures what quantiles of all flows take and simulates nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from models.queue_correction.correction import Correction, corrected_waits, shipped_correction
from models.queue_correction.data import SimulatedRun, simulated_run
from models.queue_correction.tails import flow_law, law_quantile_s, rtt_quantiles_s
from pipelines.base.cache import ContentCache
from pipelines.network.queueing import flow_latency, model_network, rtt_quantile_s, stream_waits
from pipelines.network.queueing.latency import QUANTILES
from pipelines.network.runs import NetworkTables, RunGroup, runs_of, simulate_runs
from pipelines.network.topology import FatTree, fat_tree
from pipelines.network.traffic import Pattern, traffic_of
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row
from tests.benchmarks.network_measures import Vector, distance, relative_error

PODS = {16: (4, 1.0), 128: (8, 0.25), 432: (12, 0.1), 1024: (16, 0.06)}
"""Pods and share of hosts in all-to-all traffic, as in the release's grid."""
PATTERNS = ("all_to_all", "incast", "broadcast")
LOADS = (0.25, 0.5, 0.75)
ROUTING_SEED, SEEDS = 2001, (201, 202)
MOST_S = 1000.0
NEARLY_FULL = 0.95
SEEN = 0.6
"""Share of flows that a tree learns from."""
FIGURES = ("mean", "p50", "p99")
ESTIMATES = ("gamma", "law", "learned")


def cell(hosts: int, pattern: str, load: float, arrivals: str, seconds: float, packets: float) -> RunGroup:
    """Two runs of one cell of the grid, as long as asked for."""
    pods, density = PODS[hosts]
    group = RunGroup(
        name="tails",
        pods=pods,
        density=density,
        patterns=(pattern,),
        loads=(load,),
        arrivals=(arrivals,),
        sizes=("fixed",),
        seeds=SEEDS,
        routing_seeds=(ROUTING_SEED,),
        duration_s=seconds,
    )
    run = runs_of(group)[0]
    rate = float(run.traffic(run.topology()).rates_per_s.sum())
    duration = float(np.ceil(np.clip(packets / rate, seconds, max(seconds, MOST_S))))
    content = {name: getattr(group, name) for name in group.__slots__} | {"duration_s": duration}
    return RunGroup(**content)


def simulated(group: RunGroup, cache: ContentCache) -> list[SimulatedRun]:
    """The two runs, simulated or remembered, by seed."""
    made = simulate_runs(group, cache=cache, workers=1, timeout_s=3600, on_progress=lambda _: None)
    failed = [row.reason for row in made.runs if row.reason is not None]
    if failed:
        raise SystemExit(f"a run failed: {failed[0]}")
    runs = [
        simulated_run(row, *(table.filter(pc.equal(table["run_id"], row.run_id)) for table in _tables(made)))
        for row in made.runs
    ]
    return sorted(runs, key=lambda run: run.row.seed)


def _tables(made: NetworkTables) -> tuple[pa.Table, pa.Table]:
    return made.flows, made.hops


def estimates(run: SimulatedRun, correction: Correction) -> dict[str, dict[str, Vector]]:
    """Figures of round trips by the gamma law, by the law alone, and with what was learned."""
    waits = corrected_waits(run.model, correction)
    latency = flow_latency(run.model, waits)
    law = flow_law(run.model, waits, latency)
    learned = rtt_quantiles_s(run.model, waits, latency, correction.tails)
    found: dict[str, dict[str, Vector]] = {name: {"mean": latency.rtt_s} for name in ESTIMATES}
    for number, probability in enumerate(QUANTILES):
        name = f"p{round(100 * probability)}"
        found["gamma"][name] = rtt_quantile_s(latency, probability)
        found["law"][name] = latency.base_s + law_quantile_s(law, probability)
        found["learned"][name] = learned[number]
    return found


def figures(run: SimulatedRun) -> dict[str, Vector]:
    """Of the simulated round trip of every flow."""
    return {
        name: np.asarray(run.flows.column(f"rtt_{name}_ns").to_numpy(zero_copy_only=False), np.float64) / 1e9
        for name in FIGURES
    }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlowRows:
    """What a tree learns from: features of flows (flows, features), their law's 99th percentile of the round
    trip, the unit of its error, and the simulated one. (flows,)"""

    features: NDArray[np.float32]
    law_s: Vector
    unit_s: Vector
    truth_s: Vector


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """Distances of one cell of the grid: of each estimate by figure, from one seed and from both.

    Attributes: mape: of means in %, by equation 5.1 and corrected from one seed, and one seed from the other.
    """

    hosts: int
    arrivals: str
    one: dict[str, dict[str, float]]
    pooled: dict[str, dict[str, float]]
    noise: dict[str, float]
    mape: tuple[float, float, float]
    flows: FlowRows


def measure(runs: list[SimulatedRun], correction: Correction) -> Cell:
    found = estimates(runs[0], correction)
    first, second = (figures(run) for run in runs)
    both = {name: (first[name] + second[name]) / 2 for name in FIGURES}
    return Cell(
        hosts=runs[0].row.hosts,
        arrivals=runs[0].row.arrivals,
        one={n: {f: distance(v, first[f]) for f, v in values.items()} for n, values in found.items()},
        pooled={n: {f: distance(v, both[f]) for f, v in values.items()} for n, values in found.items()},
        noise={name: distance(second[name], first[name]) for name in FIGURES},
        mape=(
            mape(flow_latency(runs[0].model, stream_waits(runs[0].model)).rtt_s, first["mean"]),
            mape(found["learned"]["mean"], first["mean"]),
            mape(second["mean"], first["mean"]),
        ),
        flows=flow_rows(runs[0], correction, first["p99"]),
    )


def mape(estimate: Vector, truth: Vector) -> float:
    """Return the mean error in percent."""
    return 100.0 * relative_error(estimate, truth)


def flow_rows(run: SimulatedRun, correction: Correction, truth_s: Vector) -> FlowRows:
    waits = corrected_waits(run.model, correction)
    latency = flow_latency(run.model, waits)
    law = flow_law(run.model, waits, latency)
    known = np.isfinite(truth_s) & (law.unit_s > 0)
    quantile_s = latency.base_s + law_quantile_s(law, QUANTILES[-1])
    return FlowRows(
        features=law.features[known],
        law_s=quantile_s[known],
        unit_s=law.unit_s[known],
        truth_s=truth_s[known],
    )


def by_random_flows(cells: list[Cell]) -> list[float]:
    """Distances over the flows of each cell that a tree has not seen, which learned from the others."""
    stream = np.random.Generator(np.random.Philox(key=0))
    rows = [cell.flows for cell in cells]
    seen = [stream.random(len(row.law_s)) < SEEN for row in rows]
    tree = DecisionTreeRegressor(max_depth=12, random_state=0)
    tree.fit(
        np.concatenate([row.features[mask] for row, mask in zip(rows, seen, strict=True)]),
        np.concatenate(
            [((row.truth_s - row.law_s) / row.unit_s)[mask] for row, mask in zip(rows, seen, strict=True)]
        ),
    )
    estimates = [row.law_s + tree.predict(row.features) * row.unit_s for row in rows]
    return [
        distance(estimate[~mask], row.truth_s[~mask])
        for estimate, row, mask in zip(estimates, rows, seen, strict=True)
    ]


def by_queues(runs: list[SimulatedRun], correction: Correction) -> Iterator[str]:
    """Error of percentiles, mean over flows with so many queues on their way there and back."""
    found, truth = estimates(runs[0], correction), [figures(run)["p99"] for run in runs]
    model = runs[0].model
    queues = (model.data.routes >= 0).sum(axis=1)
    if model.acks is not None:
        queues = queues + (model.acks.routes >= 0).sum(axis=1)
    for count in np.unique(queues):
        chosen = queues == count
        ratios = [
            float(np.nanmean(found[n]["p99"][chosen] / np.mean(truth, axis=0)[chosen])) for n in ESTIMATES
        ]
        yield f"{count} queues: " + ", ".join(f"{r - 1:+.2%}" for r in ratios)


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--hosts", default="16,128", help="with commas, of 16, 128, 432, 1024")
    parser.add_argument("--arrivals", default="poisson,ge", help="with commas")
    parser.add_argument("--seconds", type=float, default=30.0, help="simulated, at least")
    parser.add_argument(
        "--packets", type=float, default=4e6, help="of a run, at least, when 1,000 s are enough"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path("data/network_tails"), help="keeps simulated runs"
    )
    parser.add_argument("--only-times", action="store_true")
    chosen = parser.parse_args()
    print_machine()
    correction = shipped_correction()
    times(correction)
    if chosen.only_times:
        return
    kinds = [
        (int(hosts), arrivals) for hosts in chosen.hosts.split(",") for arrivals in chosen.arrivals.split(",")
    ]
    cache, cells = ContentCache(folder=chosen.folder), []
    print("w1 of 99th percentiles of the round trip, from one seed; the busiest queue's utilisation\n")
    print_header(
        "hosts | traffic | arrivals | load | s | busiest | gamma | law | learned | pooled | two seeds "
        "| MAPE of means: 5.1 | corrected | two seeds | error by queues"
    )
    for hosts, arrivals in kinds:
        for pattern in PATTERNS:
            for load in LOADS:
                group = cell(hosts, pattern, load, arrivals, chosen.seconds, chosen.packets)
                runs = simulated(group, cache)
                busiest = float(runs[0].row.offered_utilisation or 0.0)
                found = measure(runs, correction)
                values = [found.one[name]["p99"] for name in ESTIMATES]
                values += [found.pooled["learned"]["p99"], found.noise["p99"]]
                parts = "; ".join(by_queues(runs, correction))
                print_row(
                    f"{hosts} | {pattern} | {arrivals} | {load:.0%} | {group.duration_s:.0f} | {busiest:.2f}",
                    *(f"{value:.4f}" for value in values),
                    *(f"{value:.2f}" for value in found.mape),
                    parts,
                )
                if busiest < NEARLY_FULL:
                    cells.append(found)
    summary(kinds, cells)


def summary(kinds: list[tuple[int, str]], cells: list[Cell]) -> None:
    print("\nMean over runs, and the worst run\n")
    print_header("hosts | arrivals | runs | figure | gamma | law | learned | learned, pooled | two seeds")
    for hosts, arrivals in kinds:
        chosen = [one for one in cells if (one.hosts, one.arrivals) == (hosts, arrivals)]
        for name in FIGURES:
            columns = [[one.one[estimate][name] for one in chosen] for estimate in ESTIMATES]
            columns += [[one.pooled["learned"][name] for one in chosen], [one.noise[name] for one in chosen]]
            values = " | ".join(f"{np.mean(column):.4f}, {np.max(column):.4f}" for column in columns)
            print_row(hosts, arrivals, len(chosen), name, values)
    print("\nMean over runs, and the worst: w1 of 99th percentiles by random 60 %; MAPE of means, %\n")
    print_header("hosts | arrivals | random 60 % | equation 5.1 | corrected | two seeds | worse")
    for hosts, arrivals in kinds:
        chosen = [one for one in cells if (one.hosts, one.arrivals) == (hosts, arrivals)]
        columns = [by_random_flows(chosen), *zip(*(one.mape for one in chosen), strict=True)]
        shown = [f"{np.mean(columns[0]):.4f}, {np.max(columns[0]):.4f}"]
        shown += [f"{np.mean(column):.2f}, {np.max(column):.2f}" for column in columns[1:]]
        shown.append(str(sum(one.mape[1] > one.mape[0] for one in chosen)))
        print_row(hosts, arrivals, *shown)


def times(correction: Correction) -> None:
    print("Seconds from flows to mean latencies, and to both quantiles besides, least of 5\n")
    print_header("hosts | flows | means | means and quantiles | `rtt_quantile_s` twice")
    for pods in (4, 4, 8, 12, 16):  # the first compiles
        tree = fat_tree(FatTree(pods=pods))
        traffic = traffic_of(tree, Pattern(load=0.5))
        spent: list[tuple[float, float, float]] = []
        for _ in range(5):
            start = time.perf_counter()
            model = model_network(tree, traffic)
            waits = corrected_waits(model, correction)
            latency = flow_latency(model, waits)
            middle = time.perf_counter()
            rtt_quantiles_s(model, waits, latency, correction.tails)
            end = time.perf_counter()
            for probability in QUANTILES:
                rtt_quantile_s(latency, probability)
            spent.append((middle - start, end - start, time.perf_counter() - end))
        cells = " | ".join(f"{value:.4f} s" for value in np.min(spent, axis=0))
        print_row(tree.host_count, len(traffic.sources), cells)
    print()


if __name__ == "__main__":
    main()
