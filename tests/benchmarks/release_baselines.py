"""Baselines of a release: median, the engine's own estimates, and boosted trees at each level of information.

    python -m tests.benchmarks.release_baselines [--release releases/v1] [--features FOLDER] [--designs N]

Errors are absolute percentage errors of designs on the parts test and evaluation of a split; mean, median and
Spearman with 95 % intervals over groups of programs. An earlier release without the tables `features` and
`run_features` gets them from FOLDER/tables, made there when absent (some 2 s per design on one core). With N,
only the first N designs of each part by identity are used.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import polars as pl
from numpy.typing import NDArray

from models.labelled import LabelledDesign, Selection, load_labelled_designs
from models.lightgbm import TrainOptions
from models.lightgbm.trees import fit_trees, static_features, text_features
from models.metrics import Interval, bootstrap, mape, median_ape, spearman
from models.scheduled import STARTS, knowledge_features, report_features
from pipelines.cache import ContentCache
from pipelines.features import extract_design_features, extract_run_features
from pipelines.labelling import LabelOptions
from pipelines.schemas import OK, read_table, scan_table, table_spec, write_table

PARTS = ("test", "evaluation")
TARGETS = ("power_mw", "area_um2", "flip_flop_count", "delay_ns", "latency_cycles")
ESTIMATES = {
    "estimate hls": {
        "power_mw": "estimated_power_mw",
        "area_um2": "estimated_area_um2",
        "flip_flop_count": "estimated_flip_flop_count",
        "delay_ns": "critical_path_ns",
        "latency_cycles": "estimated_cycles",
    },
    "estimate run": {"power_mw": "run estimated_power_mw"},
}
METRICS = {"mean": mape, "median": median_ape, "rank": spearman}
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Labelled designs with all that is known of them.

    Attributes:
        labels: value by target, NaN where it is unknown.
        known: row of table features, and the columns of run_features after `run `.
    """

    designs: Sequence[LabelledDesign]
    labels: Mapping[str, Vector]
    known: Sequence[Mapping[str, Any]]
    runs: Sequence[Mapping[str, Any]]

    def rows(self, part: str, target: str) -> NDArray[np.intp]:
        """Designs of a part that have the label."""
        is_part = np.array([design.part == part for design in self.designs])
        return np.flatnonzero(is_part & np.isfinite(self.labels[target]))


def make_tables(release: Path, folder: Path, designs: Sequence[Any]) -> None:
    """Make the tables of features of designs of a release; finished ones are kept in FOLDER/cache."""
    programs = read_table(release, table_spec("programs"))
    cache, options = ContentCache(folder=folder / "cache"), LabelOptions(workers=1)
    features, loops = extract_design_features(programs, designs, cache=cache, options=options)
    runs = read_table(release, table_spec("runs"))
    counted = extract_run_features(programs, designs, runs, cache=cache, options=options)
    for name, rows in {"features": features, "loop_profiles": loops, "run_features": counted}.items():
        write_table(folder, table_spec(name), rows, "all")


def judged(release: Path, features: Path, split: str) -> Judged:
    """The labelled designs that have rows of features."""
    designs = load_labelled_designs(release, Selection(split=split))
    known = _by_design(features, "features")
    runs = _by_design(features, "run_features")
    chosen = [d for d in designs if d.design_id in known and d.design_id in runs]
    delays = scan_table(release, table_spec("labels")).filter(pl.col("status") == OK).collect()
    delay = dict(zip(delays["design_id"], delays["delay_ns"], strict=True))
    labels = {
        target: np.array([float(_label(d, target, delay)) for d in chosen], np.float64) for target in TARGETS
    }
    return Judged(
        designs=chosen,
        labels=labels,
        known=[known[d.design_id] for d in chosen],
        runs=[runs[d.design_id] for d in chosen],
    )


def _label(design: LabelledDesign, target: str, delay: Mapping[str, float]) -> float:
    value = delay.get(design.design_id) if target == "delay_ns" else design.labels.get(target)
    return value or float("nan")


def _by_design(folder: Path, table: str) -> dict[str, Mapping[str, Any]]:
    rows = scan_table(folder, table_spec(table)).filter(pl.col("status") == OK).collect()
    return {row["design_id"]: row for row in rows.iter_rows(named=True)}


# ---- predictors ------------------------------------------------------------------------------------


def level_features(data: Judged, release: Path, level: str) -> tuple[tuple[str, ...], Vector]:
    """Names and matrix of features of all designs at a level."""
    count = text_features if level == "text" else static_features
    rows = [count(design.query) for design in data.designs]
    if level in STARTS:
        graphs = report_features(release, data.designs)
        run_rows: Sequence[Mapping[str, Any] | None] = data.runs if level == "run" else [None] * len(rows)
        rows = [
            {**row, **graph, **knowledge_features(known, run)}
            for row, graph, known, run in zip(rows, graphs, data.known, run_rows, strict=True)
        ]
    names = tuple(rows[0])
    return names, np.array([[row[name] for name in names] for row in rows], np.float64)


def tree_predictions(data: Judged, names: Sequence[str], matrix: Vector, level: str) -> dict[str, Vector]:
    """Predictions of trees trained on the part train, by target."""
    predictions: dict[str, Vector] = {}
    for target in TARGETS:
        starts = {**STARTS.get(level, {}), **({"delay_ns": "delay"} if level in STARTS else {})}
        start = np.zeros(len(matrix))
        if target == "delay_ns" and level in STARTS:
            start = np.log([max(1e-3, known["critical_path_ns"]) for known in data.known])
        elif target in starts:
            start = matrix[:, list(names).index(starts[target])]
        used = data.rows("train", target)
        logs = np.log(data.labels[target][used]) - start[used]
        trees: lightgbm.Booster = fit_trees(matrix[used], logs, TrainOptions(), 1)
        predictions[target] = np.exp(np.asarray(trees.predict(matrix, num_threads=1)) + start)
    return predictions


def medians(data: Judged) -> dict[str, Vector]:
    """Median of the part train, by target."""
    return {
        target: np.full(len(data.designs), np.median(data.labels[target][data.rows("train", target)]))
        for target in TARGETS
    }


def estimates(data: Judged, columns: Mapping[str, str]) -> dict[str, Vector]:
    """The engine's own estimates, by target."""
    rows = [
        {**k, **{f"run {n}": v for n, v in r.items()}} for k, r in zip(data.known, data.runs, strict=True)
    ]
    return {
        target: np.array([float(row[column]) for row in rows], np.float64)
        for target, column in columns.items()
    }


# ---- the table -------------------------------------------------------------------------------------


def figures(data: Judged, part: str, target: str, predicted: Vector, resamples: int) -> list[Interval]:
    """Every metric with its interval over groups."""
    rows = data.rows(part, target)
    groups = [data.designs[n].group for n in rows]
    actual = data.labels[target][rows]
    return [
        bootstrap(metric, actual, predicted[rows], groups, resamples=resamples, seed=0)
        for metric in METRICS.values()
    ]


def _cell(interval: Interval, *, percent: bool) -> str:
    scale, digits = (100.0, 1) if percent else (1.0, 2)
    value, low, high = (f"{scale * v:.{digits}f}" for v in (interval.value, interval.low, interval.high))
    return f"{value} ({low} to {high})"


def table(data: Judged, predictors: Mapping[str, Mapping[str, Vector]], resamples: int) -> str:
    """Markdown: a row per target, predictor and part."""
    lines = [
        "| target | predictor | part | mean % | median % | rank |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for target in TARGETS:
        for name, predictions in predictors.items():
            if target not in predictions:
                continue
            for part in PARTS:
                if not len(data.rows(part, target)):
                    continue
                mean, median, rank = figures(data, part, target, predictions[target], resamples)
                cells = (_cell(mean, percent=True), _cell(median, percent=True), _cell(rank, percent=False))
                lines.append(f"| {target} | {name} | {part} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cycles_where_known(data: Judged) -> str:
    """Deviation of the estimated cycles where no branch depends on data."""
    rows = [
        abs(known["estimated_cycles"] / run["cycles"] - 1)
        for known, run in zip(data.known, data.runs, strict=True)
        if known["trips_known"]
    ]
    known = f"{len(rows)} of {len(data.known)} designs known"
    return f"estimated cycles: {known}, largest deviation {max(rows, default=0.0):.2%}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of a release."""
    parser = argparse.ArgumentParser(description="Baselines of a release.")
    parser.add_argument("--release", type=Path, default=Path("releases/v1"))
    parser.add_argument("--features", type=Path, help="folder for the tables that the release lacks")
    parser.add_argument("--split", default="by_kernel_v1")
    parser.add_argument("--designs", type=int, help="designs of each part, all by default")
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args(arguments)
    folder = options.release
    if not list((folder / "tables").glob("features/*.parquet")):
        folder = options.features
        if folder is None:
            parser.error("the release lacks the table features: name a folder with --features")
        if not list((folder / "tables").glob("run_features/*.parquet")):
            make_tables(
                options.release, folder, chosen_designs(options.release, options.split, options.designs)
            )
    data = judged(options.release, folder, options.split)
    predictors: dict[str, Mapping[str, Vector]] = {"median of training": medians(data)}
    predictors |= {name: estimates(data, columns) for name, columns in ESTIMATES.items()}
    for level in ("text", "static", "hls", "run"):
        names, matrix = level_features(data, options.release, level)
        predictors[f"LightGBM {level}"] = tree_predictions(data, names, matrix, level)
    sizes = {part: sum(d.part == part for d in data.designs) for part in ("train", *PARTS)}
    sys.stdout.write(
        f"designs: {sizes}\n{cycles_where_known(data)}{table(data, predictors, options.resamples)}"
    )


def chosen_designs(release: Path, split: str, limit: int | None) -> list[Any]:
    """Designs of the parts train, test and evaluation, at most a number of each, by identity."""
    parts = {
        row.program_id: row.part for row in read_table(release, table_spec("splits")) if row.split == split
    }
    chosen: list[Any] = []
    designs = sorted(read_table(release, table_spec("designs")), key=lambda d: d.design_id)
    for part in ("train", *PARTS):
        chosen += [d for d in designs if parts.get(d.program_id) == part][:limit]
    return chosen


if __name__ == "__main__":
    main()
