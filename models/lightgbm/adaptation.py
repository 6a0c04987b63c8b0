"""Adaptation of trees to another tool: few of its labels correct the logarithms of answers.

Of three corrections, none, a constant factor and small trees for the ratio, a target has the simplest that no
further one beats in cross-validation: in the mean error by a standard error of the gain, and in the median.
Gaussian processes and ridge regression on the answers were worse (`tests/benchmarks/adaptation.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.intervals import CALIBRATING, Difficulty, Residual, trips_of
from models.lightgbm import TrainOptions
from models.lightgbm.trees import Adapted, TreePredictor, fit_trees

Matrix = NDArray[np.float64]
FEWEST = 4
"""Labels of a target that adapt it, at least."""
MOST_SPREAD = 1e9
"""Largest label of a target over its least one."""
_SMALL = TrainOptions(trees=60, leaves=3, leaf_designs=4, learning_rate=0.1)
_FOLDS = 8


def no_correction(features: Matrix, residuals: Matrix) -> Adapted:
    """Return nothing: the answer is that of the predictor."""
    del features, residuals
    return Adapted(constant=0.0)


def constant_correction(features: Matrix, residuals: Matrix) -> Adapted:
    """Return the median of the residuals (rows,)."""
    del features
    return Adapted(constant=float(np.median(residuals)))


def tree_correction(features: Matrix, residuals: Matrix) -> Adapted:
    """Return small trees around the median of the residuals (rows,), on features (rows, features)."""
    middle = float(np.median(residuals))
    return Adapted(constant=middle, trees=fit_trees(features, residuals - middle, _SMALL, 0))


METHODS: Mapping[str, Callable[[Matrix, Matrix], Adapted]] = {
    "none": no_correction,
    "constant": constant_correction,
    "trees": tree_correction,
}
"""Corrections by name, the simplest first, of features (rows, features) and residuals (rows,)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TargetAdaptation:
    """How a target was adapted.

    Attributes:
        labels: count. method: of METHODS. error_before, error_after: median relative error of the labels, by
            a correction that did not learn from their program. residuals: of these answers.
    """

    labels: int
    method: str
    error_before: float
    error_after: float
    residuals: Sequence[Residual]


def adapt(
    predictor: TreePredictor, features: Matrix, labels: Mapping[str, Matrix], groups: Sequence[str]
) -> tuple[TreePredictor, dict[str, TargetAdaptation]]:
    """Adapt a predictor; an earlier adaptation is replaced.

    Args:    features: (rows, features), in the order of its names. labels: by target, NaN for none (rows,).
             groups: program of each row; a correction is judged on programs that it has not learned from.
    Returns: the adapted predictor, and what became of each target with labels.
    Raises:  ValueError: a target has fewer labels than FEWEST, or of fewer than two programs.
    """
    bare = replace(predictor, adapted={})
    before = predictor.predict_matrix(features)
    answers, spreads = bare.predict_with_spread(features)
    outside = bare.outside(features).sum(axis=1)
    adapted: dict[str, Adapted] = {}
    said: dict[str, TargetAdaptation] = {}
    for target, values in labels.items():
        used = np.flatnonzero(np.isfinite(values))
        own = [groups[int(n)] for n in used]
        if len(used) < FEWEST or len(set(own)) < 2:
            raise ValueError(
                f"{target} must have at least {FEWEST} labels of two programs or more, got {len(used)} of "
                f"{len(set(own))}"
            )
        if values[used].max() > MOST_SPREAD * values[used].min():
            raise ValueError(f"labels of {target} must lie within a factor of {MOST_SPREAD:g} of each other")
        column = bare.targets.index(target)
        residuals = np.log(values[used]) - np.log(answers[used, column])
        method, held = chosen_method(features[used], residuals, own)
        adapted[target] = METHODS[method](features[used], residuals)
        said[target] = TargetAdaptation(
            labels=len(used),
            method=method,
            error_before=float(np.median(np.abs(before[used, column] / values[used] - 1.0))),
            error_after=float(np.median(np.abs(np.exp(held - residuals) - 1.0))),
            residuals=[
                Residual(
                    target=target,
                    family="labels",
                    group=own[place],
                    part=CALIBRATING,
                    actual=float(values[n]),
                    predicted=float(answers[n, column] * math.exp(held[place])),
                    difficulty=Difficulty(
                        spread={target: float(spreads[n, column])},
                        outside=int(outside[n]),
                        trips=trips_of(dict(zip(bare.names, features[n].tolist(), strict=True))),
                    ),
                )
                for place, n in enumerate(used)
            ],
        )
    return replace(bare, adapted=adapted), said


def chosen_method(features: Matrix, residuals: Matrix, groups: Sequence[str]) -> tuple[str, Matrix]:
    """Return the method of a target, and its corrections (rows,), learned from other programs."""
    held = {name: _held_out(method, features, residuals, groups) for name, method in METHODS.items()}
    names = list(METHODS)
    best = names[0]
    for name in names[1:]:
        before, after = (np.abs(held[own] - residuals) for own in (best, name))
        gain = before - after
        if gain.mean() > gain.std(ddof=1) / math.sqrt(len(gain)) and np.median(after) <= np.median(before):
            best = name
    return best, held[best]


def _held_out(
    method: Callable[[Matrix, Matrix], Adapted], features: Matrix, residuals: Matrix, groups: Sequence[str]
) -> Matrix:
    """Return corrections (rows,) by a method that learned from other programs."""
    corrections = np.zeros(len(residuals))
    names = np.array(groups)
    order = np.random.default_rng(0).permutation(np.unique(names))
    for fold in np.array_split(order, min(len(order), _FOLDS)):
        left = np.isin(names, fold)
        corrections[left] = method(features[~left], residuals[~left]).values(features[left])
    return corrections
