"""Networks of drawn topologies: errors of the estimate beside the noise of two seeds, by family.

    python -m tests.benchmarks.network_topologies [--samples 60] [--seconds 10] [--seed 900] [--record]

Leaf-spine, three tiers, stars, chains and rings of 6 to 36 hosts, half of them with links between switches
that are faster than those of hosts; patterns of table 5.3 and permutations, Poisson and GE arrivals with a
squared coefficient of variation of 1.5 to 8, one size of packets, the busiest link at 10 to 85 %; the
project's simulator, a tenth of the seconds before it counts. Errors are mean absolute percentage errors over
flows of the mean round trip, of theory (trees) and of the shipped correction; `seen` is what the estimate
says of itself.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from models.queue_correction.correction import Correction, correct, shipped_correction
from pipelines.network.queueing import flow_latency
from pipelines.network.runs import NetworkRun, RunGroup, model_of, runs_of
from pipelines.network.topology import FAMILIES, DrawnNetwork
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row
from tests.benchmarks.network_experiments import latencies, truth_of
from tests.benchmarks.network_measures import relative_error
from tests.benchmarks.recording import add_record_option, record, unmeasured

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


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated, of each run")
    parser.add_argument("--seed", type=int, default=900, help="of the drawn runs")
    parser.add_argument("--folder", type=Path, default=Path("data/benchmarks/network-topologies"))
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
            within = len([1 for row in found if row["corrected"] <= max(2 * row["noise"], 0.005)])
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
    within = len([1 for row in whole if row["corrected"] <= max(2 * row["noise"], 0.005)])
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
