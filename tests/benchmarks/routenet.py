"""RouteNet beside queueing theory and its correction, on networks larger than it was trained on.

    python -m tests.benchmarks.routenet --tables releases/network-v2/tables [--predictor FILE]

Trains on drawn runs of 16 and 54 hosts and of trees of two tiers, answers for the grid of chapter 5's
experiments, whose seeds, routes and sizes it has not seen. With --predictor FILE it reads a trained one that
is there, and else writes what it trained.

Errors: mean absolute percentage error over flows of the mean round trip, and w1, the Wasserstein distance of
flows' means over the mean of the simulated ones, averaged over runs in which no queue is offered 95 % or
more. The correction is the one that comes with the project, if it does. Times: on one core, reading tables
apart; of answers the least of three, with features, from a modelled network.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from models.model_files import model_bytes, write_folder
from models.queue_correction.correction import corrected_waits, shipped_correction
from models.queue_correction.data import SimulatedRun, read_runs
from models.routenet import PREDICTOR, FitOptions
from models.routenet.network import RouteNetPredictor
from models.routenet.train import fit_routenet, training_examples
from pipelines.network.queueing import ESTIMATES, flow_latency, stream_waits
from tests.benchmarks.harness import options_parser, print_header, print_row, repeated, table_text, timed
from tests.benchmarks.network_measures import distance, relative_error

TRAINED_ON = ("sampled-16", "sampled-54", "sampled-two-tier")
ASKED = ("grid-16", "grid-128", "grid-432")
BUSY = 0.95


def train(tables: Path, options: FitOptions, seed: int) -> RouteNetPredictor:
    """A predictor, with a line on what it took."""
    examples = training_examples(read_runs(tables, TRAINED_ON))
    about = f"{len(examples)} runs of {', '.join(TRAINED_ON)}, seed {seed}"
    predictor, spent = timed(lambda: fit_routenet(examples, options, seed=seed, about=about))
    print(
        f"{predictor.parameter_count} parameters; {predictor.about}; {options.epochs} epochs: "
        f"{spent.processor_s:.0f} s of one core, {spent.wall_s:.0f} s elapsed.\n",
        flush=True,
    )
    return predictor


def answers(run: SimulatedRun, predictor: RouteNetPredictor) -> dict[str, NDArray[np.float64]]:
    """Mean round trips by every means there is."""
    found = {name: flow_latency(run.model, stream_waits(run.model, name)).rtt_s for name in ESTIMATES}
    found["corrected"] = flow_latency(run.model, corrected_waits(run.model, shipped_correction())).rtt_s
    return found | {"RouteNet": predictor.predict(run.model)}


def errors(tables: Path, groups: Sequence[str], predictor: RouteNetPredictor) -> list[tuple[object, ...]]:
    """Print the table of errors; rows of the table of times."""
    means = [*ESTIMATES, "corrected", "RouteNet"]
    print_header("group | arrivals | load | runs", *means)
    times: list[tuple[object, ...]] = []
    for group in groups:
        found: dict[tuple[str, str], list[list[tuple[float, float]]]] = defaultdict(list)
        largest: SimulatedRun | None = None
        for run in read_runs(tables, [group]):
            if largest is None or len(run.truth_s) > len(largest.truth_s):
                largest = run
            if float(run.model.queues.utilisation.max()) >= BUSY:
                continue
            given = answers(run, predictor)
            wrong = [
                (relative_error(given[name], run.truth_s), distance(given[name], run.truth_s))
                for name in means
            ]
            for load in (f"{run.row.load:.0%}", "all"):
                found[run.row.arrivals, load].append(wrong)
        for (arrivals, load), rows in sorted(found.items()):
            columns = " | ".join(f"{error:.2%}, {w1:.4f}" for error, w1 in np.mean(rows, axis=0))
            print_row(group, arrivals, load, len(rows), columns)
        if largest is not None:
            times.append((group, len(largest.truth_s), f"{answer_s(predictor, largest):.4f} s"))
    return times


def answer_s(predictor: RouteNetPredictor, run: SimulatedRun) -> float:
    """Elapsed time of an answer, the least of three."""
    return repeated(lambda: predictor.predict(run.model), 3)[1].wall_s


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--tables", type=Path, required=True, help="folder with a folder of files a table")
    parser.add_argument("--groups", nargs="*", default=ASKED, help="to answer for")
    parser.add_argument("--predictor", type=Path, help="trained before, or where to write it")
    parser.add_argument("--epochs", type=int, default=FitOptions().epochs)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.predictor is not None and chosen.predictor.is_dir():
        predictor = PREDICTOR.load(chosen.predictor)
        print(f"{predictor.parameter_count} parameters; {predictor.about}.\n", flush=True)
    else:
        predictor = train(chosen.tables, FitOptions(epochs=chosen.epochs), chosen.seed)
        if chosen.predictor is not None:
            write_folder(chosen.predictor, model_bytes(PREDICTOR.name, predictor.files))
    times = errors(chosen.tables, chosen.groups, predictor)
    print()
    print(table_text(["group | flows of the largest run | answer"], times), end="")


if __name__ == "__main__":
    main()
