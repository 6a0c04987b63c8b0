"""Disagreement of trees that saw different designs: which labels a model would learn most from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from models.lightgbm import TrainOptions
from models.lightgbm.trees import fit_trees
from models.scheduled import STARTS

Matrix = NDArray[np.float64]
TARGETS = ("area_um2", "power_mw")
MEMBERS = 5
_OPTIONS = replace(TrainOptions(), trees=100, learning_rate=0.1, leaf_designs=5)
"""A member learns on few designs, and only the spread of members counts."""


def ensemble_logs(
    features: Matrix,
    names: Sequence[str],
    labels: Mapping[str, Matrix],
    asked: Matrix,
    *,
    seed: int,
    members: int = MEMBERS,
) -> NDArray[np.float64]:
    """Return the logarithms of targets by trees that each learned on a resample of the labelled designs.

    Args:    features: of the labelled designs (designs, features), at level hls. names: of the features.
             labels: of the labelled designs by target, NaN where unknown. asked: features of other designs.
    Returns: (members, other designs, targets).
    """
    draw = np.random.default_rng(seed)
    starts = [names.index(STARTS["hls"][target]) for target in TARGETS]
    answers = np.empty((members, len(asked), len(TARGETS)))
    for member in range(members):
        drawn = draw.integers(0, len(features), len(features))
        for place, (target, start) in enumerate(zip(TARGETS, starts, strict=True)):
            own = drawn[np.isfinite(labels[target][drawn])]
            logs = np.log(labels[target][own]) - features[own, start]
            trees = fit_trees(features[own], logs, _OPTIONS, seed + member)
            answers[member, :, place] = trees.predict(asked) + asked[:, start]
    return answers
