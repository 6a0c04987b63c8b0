"""Estimates of boosted trees at levels text and static, which answers are the ratio to.

The engine's estimates serve so at levels hls and run. Answers in training are ratios to trees that have not
seen the group of the program, as in stacked generalisation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from models.labelled import LabelledDesign
from models.lightgbm import TrainOptions as TreeOptions
from models.lightgbm.trees import TreePredictor, fit_predictor, training_features
from models.lightgbm.trees import load as load_trees
from models.numeric_lm.answers import METRICS
from models.numeric_lm.data import Example
from models.query import Query

__all__ = ["example_estimates", "fit_starts", "load_trees", "tree_estimates"]
FOLDS = 5
_DYNAMIC = tuple(metric.target for metric in METRICS if metric.dynamic)


def tree_estimates(trees: TreePredictor, queries: Sequence[Query]) -> list[dict[str, float]]:
    """Return the estimates by target of each query; static metrics use no data.

    Raises: PredictorError: a query cannot be read; the message names its row, from 0.
    """
    bare = [replace(query, data="") for query in queries]
    once = list(dict.fromkeys(bare))
    static = {query: own.values for query, own in zip(once, trees.predict(once), strict=True)}
    known = trees.predict(queries)
    return [
        {**static[query], **{target: own.values[target] for target in _DYNAMIC if target in own.values}}
        for query, own in zip(bare, known, strict=True)
    ]


def fit_starts(
    data_dir: Path, designs: Sequence[LabelledDesign], level: str, engine: Mapping[str, Any], seed: int
) -> tuple[TreePredictor, dict[str, TreePredictor]]:
    """Return the trees of the whole training part, and by training group those that did not learn from it.

    With one training group there are none that did not. engine: options of high-level synthesis.
    """
    known = [design for design in designs if design.part == "train"]
    learned = list(zip(known, training_features(data_dir, known, level, engine), strict=True))
    groups = sorted({design.group for design, _ in learned})
    whole = fit_predictor(learned, level, TreeOptions(), seed, engine)
    apart: dict[str, TreePredictor] = {}
    for fold in range(min(FOLDS, len(groups)) if len(groups) > 1 else 0):
        held = groups[fold::FOLDS]
        rest = [known for known in learned if known[0].group not in held]
        apart.update(dict.fromkeys(held, fit_predictor(rest, level, TreeOptions(), seed, engine)))
    return whole, apart


def example_estimates(
    examples: Sequence[Example], whole: TreePredictor, apart: dict[str, TreePredictor]
) -> list[dict[str, float]]:
    """Return the estimates of each example by trees that did not learn from its group."""
    rows: dict[int, list[int]] = defaultdict(list)
    trees = {id(own): own for own in (whole, *apart.values())}
    for row, example in enumerate(examples):
        rows[id(apart.get(example.design.group, whole))].append(row)
    estimates: dict[int, dict[str, float]] = {}
    for name, own in rows.items():
        answers = tree_estimates(trees[name], [examples[row].query for row in own])
        estimates.update(zip(own, answers, strict=True))
    return [estimates[row] for row in range(len(examples))]
