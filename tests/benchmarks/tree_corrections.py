"""How far trees may correct the engine's estimates: area and flip-flops at level hls, power at level run.

    python -m tests.benchmarks.tree_corrections releases/v2 [--level run]
    python -m tests.benchmarks.tree_corrections FOLDER          # of tests.benchmarks.joined_releases

Mean absolute percentage errors by part of: the estimate, trees, trees that give each suite the same weight,
small trees, and half of the trees' correction. `unseen suites` are the training designs, each predicted by
trees that were trained without its suite. `deviation of the estimate` is the mean signed relative error.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from models.labelled import training_designs
from models.lightgbm import TrainOptions
from models.lightgbm.trees import STARTS, fit_trees, static_features
from models.scheduled import table_features
from pipelines.schemas import scan_table, table_spec

TARGETS = {"hls": ("area_um2", "flip_flop_count"), "run": ("power_mw",)}
SMALL = TrainOptions(leaves=5, leaf_designs=40, feature_share=0.4)
PARTS = ("validation", "test", "evaluation")
Floats = NDArray[np.float64]


def repeated(suites: NDArray[Any], where: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows, those of small suites several times, so that suites have about the same number."""
    counts = Counter(suites[where])
    most = max(counts.values())
    return np.concatenate([[row] * max(1, round(most / counts[suites[row]])) for row in where])


def corrections(
    features: Floats, logs: Floats, suites: NDArray[Any], is_training: NDArray[np.bool_]
) -> Mapping[str, Floats]:
    """Logarithms that each variant adds to the estimate. (rows,)"""
    options = TrainOptions()
    where = np.flatnonzero(is_training)
    trees = fit_trees(features[where], logs[where], options, 0)
    even = repeated(suites, where)
    weighted = fit_trees(features[even], logs[even], options, 0)
    apart = np.full(len(logs), np.nan)
    for suite in sorted(set(suites[where])):
        rest, own = where[suites[where] != suite], where[suites[where] == suite]
        apart[own] = np.asarray(fit_trees(features[rest], logs[rest], options, 0).predict(features[own]))
    small = fit_trees(features[where], logs[where], SMALL, 0)
    whole = np.asarray(trees.predict(features))
    return {
        "estimate": np.zeros(len(logs)),
        "trees": whole,
        "trees, same weight of suites": np.asarray(weighted.predict(features)),
        "small trees": np.asarray(small.predict(features)),
        "half of the correction": whole / 2,
        "unseen suites": apart,
        "unseen suites, half": apart / 2,
    }


def main() -> None:
    """Print a row a target and variant."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tables", type=Path)
    parser.add_argument("--level", choices=TARGETS, default="hls")
    arguments = parser.parse_args()
    folder, level = arguments.tables, arguments.level
    targets = TARGETS[level]
    designs = [d for d in training_designs([folder], TrainOptions()) if set(targets) <= d.labels.keys()]
    scheduled = table_features(folder, designs, level)
    rows = [{**static_features(d.query), **more} for d, more in zip(designs, scheduled, strict=True)]
    names = list(rows[0])
    features = np.array([[row[name] for name in names] for row in rows], np.float64)
    known = scan_table(folder, table_spec("programs")).select("program_id", "suite").collect()
    by_program = dict(known.iter_rows())
    suites = np.array([by_program[design.program_id] for design in designs])
    parts = np.array([design.part for design in designs])
    lines = [
        f"| target | variant | {' | '.join(PARTS)} | training, unseen suites |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for target in targets:
        start = features[:, names.index(STARTS[level][target])]
        logs = np.log([design.labels[target] for design in designs]) - start
        signed = np.exp(-logs) - 1
        bias = [f"{signed[parts == part].mean():+.1%}" for part in PARTS]
        lines.append(f"| `{target}` | deviation of the estimate | {' | '.join(bias)} | |")
        for name, added in corrections(features, logs, suites, parts == "train").items():
            errors = np.abs(np.exp(added - logs) - 1)
            is_apart = name.startswith("unseen")
            shown = ["train"] if is_apart else PARTS
            cells = [f"{errors[parts == part].mean():.1%}" for part in shown]
            cells = ["", "", "", *cells] if is_apart else [*cells, ""]
            lines.append(f"| `{target}` | {name} | {' | '.join(cells)} |")
    sys.stdout.write(f"{pl.Series(parts).value_counts().to_dicts()}\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
