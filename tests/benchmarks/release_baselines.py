"""Baselines of a release: median of training, the engine's own estimates, boosted trees at each level.

    python -m tests.benchmarks.release_baselines [--release releases/v2] [--split by_kernel_v2] [--out FOLDER]
                                                 [--publish]

Each is trained as `simfoundry train` does; a training in FOLDER that was done before is read. Errors are
absolute percentage errors of designs on the parts test and evaluation, with 95 % intervals over groups of
programs. Cycles are given apart where all trip counts are known and elsewhere. At level run the cycles are
known, so they have no row there; trees at that level learn from designs with power alone. `--publish` adds
the errors to the release, as `baselines.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from models.base import TrainOutcome
from models.catalogue import predictor_named
from models.labelled import LabelledDesign, Selection, load_labelled_designs
from models.leaderboard import Prediction, leaderboard_rows, paired
from models.model_files import PREDICTIONS_FILE
from models.scoring.score import KNOWN, METRICS, UNKNOWN, split_cycles
from pipelines.dataset.releases import Baseline, publish_baselines
from pipelines.schemas import LeaderboardRow, scan_table, table_spec
from tests.benchmarks.harness import options_parser, table_text

PARTS = ("test", "evaluation")
TARGETS = ("power_mw", "area_um2", "flip_flop_count", "delay_ns", "latency_cycles")
PREDICTORS = (
    *("engine-estimate-hls", "engine-estimate-run"),
    *("lightgbm-text", "lightgbm-static", "lightgbm-hls", "lightgbm-run"),
)
MEDIAN = "median of training"


def trained(name: str, release: Path, split: str, out: Path) -> TrainOutcome:
    """The outcome of a training on a release."""
    spec = predictor_named(name)
    return spec.train(release, spec.options(split=split), folder=out / name)


def medians(designs: Sequence[LabelledDesign]) -> list[Prediction]:
    """The median of the training part as the answer to every design, by target."""
    values: dict[str, float] = {}
    for target in TARGETS:
        known = [d.labels[target] for d in designs if d.part == "train" and target in d.labels]
        if known:
            values[target] = float(np.median(known))
    return paired(designs, [values] * len(designs))


def rows_of(name: str, predictions: Iterable[Prediction], split: str) -> list[LeaderboardRow]:
    """Every metric of predictions."""
    return leaderboard_rows(
        list(predictions), predictor=name, version="", level="", split=split, resamples=1000, seed=0
    )


def table(rows: Mapping[str, Sequence[LeaderboardRow]]) -> str:
    """Markdown: a row per target and predictor."""
    head = ["target", "predictor", *(f"{part}: designs | mean % | median % | rank" for part in PARTS)]
    lines: list[list[str]] = []
    for target in (*TARGETS, KNOWN, UNKNOWN):
        for name, own in rows.items():
            cells: list[str] = []
            for part in PARTS:
                metrics = {row.metric: row for row in own if (row.target, row.part) == (target, part)}
                cells += _cells(metrics)
            is_known = target.startswith("latency") and name.endswith("-run")
            if any(cells) and not is_known:
                lines.append([target, name, *cells])
    return table_text(head, lines)


def baselines(rows: Mapping[str, Sequence[LeaderboardRow]]) -> list[Baseline]:
    """Rows for the release: those of the table."""
    columns = [name for name in Baseline.model_fields if name != "predictor"]
    return [
        Baseline(predictor=name, **{column: getattr(row, column) for column in columns})
        for name, own in rows.items()
        for row in own
        if row.part in PARTS and row.metric in METRICS
        if not (row.target.startswith("latency") and name.endswith("-run"))
    ]


def _cells(found: Mapping[str, LeaderboardRow]) -> list[str]:
    if not found:
        return [""] * 4
    rank = found["spearman"].value
    return [
        str(found["mape"].row_count),
        _percent(found["mape"]),
        _percent(found["median_ape"]),
        "" if rank is None else f"{rank:.2f}",
    ]


def _percent(row: LeaderboardRow) -> str:
    if row.value is None or row.interval_low is None or row.interval_high is None:
        return ""
    return f"{100 * row.value:.1f} ({100 * row.interval_low:.1f} to {100 * row.interval_high:.1f})"


def cycles_where_known(release: Path, designs: Sequence[LabelledDesign]) -> str:
    """Deviation of the estimated cycles where no branch depends on data."""
    columns = ("design_id", "estimated_cycles")
    rows = scan_table(release, table_spec("features")).filter(pl.col("trips_known")).select(columns)
    known: dict[str, float] = dict(rows.collect().iter_rows())
    own = [abs(known[d.design_id] / d.labels["latency_cycles"] - 1) for d in designs if d.design_id in known]
    return (
        f"estimated cycles: {len(own)} of {len(designs)} designs known, "
        f"largest deviation {max(own, default=0.0):.2%}\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of a release."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--split", default="by_kernel_v2")
    parser.add_argument("--out", type=Path, default=Path("data/baselines"))
    parser.add_argument("--publish", action="store_true", help="add the errors to the release")
    options = parser.parse_args(arguments)
    designs = load_labelled_designs(options.release, Selection(split=options.split))
    sizes = {
        part: {target: sum(d.part == part and target in d.labels for d in designs) for target in TARGETS}
        for part in ("train", "validation", *PARTS)
    }
    rows = {MEDIAN: rows_of(MEDIAN, split_cycles(medians(designs), options.release), options.split)}
    for name in PREDICTORS:
        outcome = trained(name, options.release, options.split, options.out)
        stored = json.loads((outcome.folder / PREDICTIONS_FILE).read_bytes())
        predictions = split_cycles((Prediction(**row) for row in stored), options.release)
        rows[name] = rows_of(name, predictions, options.split)
    sys.stdout.write(f"designs: {sizes}\n{cycles_where_known(options.release, designs)}{table(rows)}")
    if options.publish:
        publish_baselines(options.release, baselines(rows))


if __name__ == "__main__":
    main()
