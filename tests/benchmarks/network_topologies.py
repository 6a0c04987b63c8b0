"""Networks of drawn topologies: errors of the estimate beside the noise of two seeds, by family.

    python -m tests.benchmarks.network_topologies [--samples 60] [--seconds 10] [--seed 900] [--record]
    python -m tests.benchmarks.network_topologies --left-out [--epochs 100] [--record]

Leaf-spine, three tiers, stars, chains and rings of 6 to 36 hosts, half of them with links between switches
that are faster than those of hosts; patterns of table 5.3 and permutations, Poisson and GE arrivals with a
squared coefficient of variation of 1.5 to 8, one size of packets, the busiest link at 10 to 85 %; the
project's simulator, a tenth of the seconds before it counts. Errors are mean absolute percentage errors over
flows of the mean round trip, of theory (trees) and of the shipped correction; `seen` is what the estimate
says of itself.

`--left-out` trains corrections without the runs of one family, and with all runs in as many epochs,
and judges both on that family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from assets.engines import ROOT
from models.queue_correction import FitOptions
from models.queue_correction.correction import Correction, correct, shipped_correction
from models.queue_correction.data import SimulatedRun, groups_of, read_runs
from models.queue_correction.train import DRAWN_GROUPS, LONG_GROUPS, fit_correction, training_samples
from pipelines.network.queueing import NetworkModel, flow_latency
from pipelines.network.runs import NetworkRun, RunGroup, model_of, runs_of
from pipelines.network.topology import FAMILIES, DrawnNetwork
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row
from tests.benchmarks.network_experiments import latencies, truth_of
from tests.benchmarks.network_measures import relative_error
from tests.benchmarks.recording import add_record_option, record, unmeasured

RELEASES = ("network-v2", "network-long-v1")
GROUP = RunGroup(
    name="drawn",
    network="drawn",
    unequal=True,
    patterns=("all_to_all", "incast", "broadcast", "permutation"),
    loads=(0.1, 0.85),
    scvs=(1.5, 8.0),
    sizes=("fixed",),
    routing_seeds=tuple(range(2001, 2021)),
)


def measure(run: NetworkRun, folder: Path, correction: Correction) -> dict[str, float]:
    one = truth_of(run, folder)
    other = truth_of(replace(run, seed=run.seed + 1), folder)
    model = model_of(run)
    corrected = correct(model, correction)
    return {
        "theory": relative_error(latencies(model, correction)[1].rtt_s, one.rtt_s),
        "corrected": relative_error(flow_latency(model, corrected.waits).rtt_s, one.rtt_s),
        "noise": relative_error(other.rtt_s, one.rtt_s),
        "seen": corrected.seen,
    }


def family_of(model: NetworkModel) -> str:
    """The family of a drawn network, by its name; that of others is none of FAMILIES."""
    return model.topology.name.rsplit("-", 1)[0].replace("-", "_")


def fitted(runs: Sequence[SimulatedRun], epochs: int) -> Correction:
    options = replace(FitOptions(), epochs=epochs)
    return fit_correction(training_samples(runs, seed=0), options, seed=0, about="")


def left_out(runs: Sequence[NetworkRun], folder: Path, epochs: int, is_recorded: bool) -> None:
    """Print the errors of each family, with and without its runs in training."""
    learned = [
        run
        for release in RELEASES
        for tables in (ROOT / "releases" / release / "tables",)
        for run in read_runs(tables, [g for g in (*DRAWN_GROUPS, *LONG_GROUPS) if g in groups_of(tables)])
    ]
    everything = fitted(learned, epochs)
    print_header("family | runs | theory | learned from all | left out | two seeds | within 2 times | seen")
    cells: dict[str, str] = {}
    for family in FAMILIES:
        without = fitted([run for run in learned if family_of(run.model) != family], epochs)
        own = [run for run in runs if isinstance(run.network, DrawnNetwork) and run.network.family == family]
        whole = [measure(run, folder, everything) for run in own]
        rows = [measure(run, folder, without) for run in own]
        within = f"{sum(_is_within(row) for row in rows)} of {len(rows)}"
        mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        learned_error = float(np.mean([row["corrected"] for row in whole]))
        print_row(
            family,
            len(rows),
            f"{mean['theory']:.2%}",
            f"{learned_error:.2%}",
            f"{mean['corrected']:.2%}",
            f"{mean['noise']:.2%}",
            within,
            f"{mean['seen']:.2f}",
        )
        cells[family] = f"{mean['corrected']:.2%} ({learned_error:.2%}; noise {mean['noise']:.2%}), {within}"
    if is_recorded:
        name = "a family left out of training (learned from; noise), runs within twice the noise"
        new = unmeasured(
            area="network",
            section="Any topology",
            figure=name,
            goal="all",
            command="python -m tests.benchmarks.network_topologies --left-out",
            engines=("network", "queue_correction"),
        )
        record("network", name, cells, missed=True, new=new)


def _is_within(row: dict[str, float]) -> bool:
    return row["corrected"] <= max(2 * row["noise"], 0.005)


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated, of each run")
    parser.add_argument("--seed", type=int, default=900, help="of the drawn runs")
    parser.add_argument("--folder", type=Path, default=Path("data/benchmarks/network-topologies"))
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("--epochs", type=int, default=100, help="of corrections without a family")
    add_record_option(parser)
    chosen = parser.parse_args()
    print_machine()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    correction = shipped_correction()
    group = replace(
        GROUP,
        samples=chosen.samples,
        sample_seed=chosen.seed,
        duration_s=chosen.seconds,
        warm_up_s=chosen.seconds / 10,
    )
    if chosen.left_out:
        left_out(list(runs_of(group)), chosen.folder, chosen.epochs, chosen.record)
        return
    rows: dict[tuple[str, bool, str], list[dict[str, float]]] = {}
    for run in runs_of(group):
        assert isinstance(run.network, DrawnNetwork)
        key = run.network.family, run.network.unequal, run.arrivals.kind
        rows.setdefault(key, []).append(measure(run, chosen.folder, correction))
    print_header("family | speeds | arrivals | runs | theory | corrected | two seeds | within 2 times | seen")
    for family in FAMILIES:
        for (own, unequal, arrivals), found in sorted(rows.items()):
            if own != family:
                continue
            means = {name: float(np.mean([row[name] for row in found])) for name in found[0]}
            within = sum(_is_within(row) for row in found)
            print_row(
                family,
                "unequal" if unequal else "equal",
                arrivals,
                len(found),
                *(f"{means[name]:.2%}" for name in ("theory", "corrected", "noise")),
                f"{within} of {len(found)}",
                f"{means['seen']:.2f}",
            )
    whole = [row for found in rows.values() for row in found]
    means = {name: float(np.mean([row[name] for row in whole])) for name in ("theory", "corrected", "noise")}
    within = sum(_is_within(row) for row in whole)
    cells = {name: f"{value:.2%}" for name, value in means.items()}
    print_row("all", "", "", len(whole), *cells.values(), f"{within} of {len(whole)}", "")
    if chosen.record:
        name = "networks of drawn families, runs within twice the noise"
        new = unmeasured(
            area="network",
            section="Any topology",
            figure=name,
            goal="all",
            command="python -m tests.benchmarks.network_topologies",
            engines=("network", "queue_correction"),
        )
        count = {"within twice": f"{within} of {len(whole)}"}
        record("network", name, cells | count, missed=within < len(whole), new=new)


if __name__ == "__main__":
    main()
