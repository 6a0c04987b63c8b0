"""Errors and intervals of the predictors of labels that come with weights, as their trainings measured them.

    python -m tests.benchmarks.shipped_predictors [--record NAME...]

An interval reaches from the value divided by a factor of its question to the value times it; the table has
the median factor. The reference errors are those of the gate. `by workload` is the mean over the evaluation's
workloads, each the mean of its programs. `--record` writes the rows of some predictors: those that were
trained since.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from assets.figures import Value
from models.base import TrainOutcome
from models.catalogue import PredictorSpec, predictors
from models.gate import ReferenceErrors
from models.model_files import read_outcome
from models.query import POWER, TARGETS
from models.registry import REFERENCE_FILE
from pipelines.programs import EVALUATION_WORKLOADS
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.benchmarks.recording import record

PARTS = ("test", "evaluation")
MEDIAN_TARGETS = (*TARGETS, POWER)
WORKLOADS = frozenset(workload.name for workload in EVALUATION_WORKLOADS)


def shipped() -> Iterator[tuple[PredictorSpec, TrainOutcome]]:
    """Predictors of labels with weights, by name."""
    for spec in sorted(predictors(), key=lambda spec: spec.name):
        outcome = read_outcome(spec.shipped_folder) if spec.task.name.startswith("labels") else None
        if outcome is not None:
            yield spec, outcome


def errors_of(outcome: TrainOutcome, metric: str) -> dict[tuple[str, str], str]:
    """A metric in percent by target and part."""
    rows = [row for row in outcome.leaderboard if row.metric == metric]
    return {(row.target, row.part): f"{row.value:.1%}" for row in rows}


def errors_by_workload(outcome: TrainOutcome) -> dict[str, str]:
    """Mean over workloads in percent, by target."""
    known: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in outcome.workloads:
        names = (row.workload, row.workload.rpartition("-")[0])
        for name in [name for name in names if name in WORKLOADS][:1]:
            known[row.target][name].append(row.value)
    return {
        target: f"{np.mean([np.mean(own) for own in by_name.values()]):.1%}"
        for target, by_name in known.items()
    }


def _medians(known: ReferenceErrors, column: int) -> str:
    """Medians of the evaluation, of the predictor (0) or of a constant (1), by target."""
    medians = (known.medians.get(f"{target} of {PARTS[1]}") for target in MEDIAN_TARGETS)
    return ", ".join(f"{own[column]:.0%}" if own else "-" for own in medians)


MEDIANS = f"medians of the evaluation, not capped: {', '.join(MEDIAN_TARGETS)}"
COLUMNS = ("source", "error, capped", "trivial baseline", "programs", MEDIANS, "of a constant")
TARGET_COLUMNS = (
    *("mean error: test", "mean error: evaluation", "by workload", "median: test", "median: evaluation"),
    *("factor", "inside: test", "inside: evaluation"),
)


def predictor_row(spec: PredictorSpec, outcome: TrainOutcome) -> list[object]:
    """What COLUMNS say of a predictor."""
    text = json.loads((spec.shipped_folder / REFERENCE_FILE).read_bytes())
    known = ReferenceErrors.of_json(text["content"])
    errors = (f"{known.error:.1%}", f"{known.baseline_error:.1%}", len(known.programs))
    return [outcome.source, *errors, _medians(known, 0), _medians(known, 1)]


def target_rows(outcome: TrainOutcome) -> Iterator[tuple[str, list[object]]]:
    """What TARGET_COLUMNS say of each target of a predictor."""
    means, medians = errors_of(outcome, "mape"), errors_of(outcome, "median_ape")
    by_workload = errors_by_workload(outcome)
    for target, interval in sorted(outcome.intervals.items()):
        mean, median = ([errors.get((target, part), "") for part in PARTS] for errors in (means, medians))
        inside = [f"{interval[part]:.0%}" if part in interval else "" for part in PARTS]
        factor = f"{interval['factor']:.2f}"
        yield target, [*mean, by_workload.get(target, ""), *median, factor, *inside]


def main() -> None:
    """Print both tables; record the rows of the named predictors."""
    parser = options_parser(__doc__)
    parser.add_argument("--record", nargs="+", default=[], metavar="NAME")
    recorded: list[str] = parser.parse_args().record
    print_header("predictor", *COLUMNS)
    for spec, outcome in shipped():
        row = predictor_row(spec, outcome)
        print_row(f"`{spec.name}`", *row)
        if spec.name in recorded:
            record("predictor", f"`{spec.name}`", _values(COLUMNS, row))
    print()
    print_header("predictor", "target", *TARGET_COLUMNS)
    for spec, outcome in shipped():
        for target, row in target_rows(outcome):
            print_row(f"`{spec.name}`", f"`{target}`", *row)
            if spec.name in recorded:
                record("predictor", f"`{spec.name}`, `{target}`", _values(TARGET_COLUMNS, row))


def _values(columns: Sequence[str], row: Sequence[object]) -> dict[str, Value]:
    """Return the cells of a row by column; numbers as numbers."""
    return {
        column: cell if isinstance(cell, int) or column != "factor" else float(str(cell))
        for column, cell in zip(columns, row, strict=True)
        if isinstance(cell, str | int)
    }


if __name__ == "__main__":
    main()
