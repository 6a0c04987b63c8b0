"""How wrong a prediction is: percentage errors, MSE, R² and rank correlation, with bootstrap intervals.

A metric that has no value on well-formed input (a correlation with a constant) is NaN. Input that
is not well-formed (empty, unequal lengths, not finite, an actual value of zero for MAPE) is an
error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Metric = Callable[[Vector, Vector], float]


class MetricError(ValueError):
    """A metric was asked of values it is not defined for."""


def mape(actual: Vector, predicted: Vector) -> float:
    """Return the mean absolute percentage error, as a fraction: mean of |actual - predicted| / |actual|.

    Args:    actual, predicted: (rows,).
    Raises:  MetricError: an actual value is zero, or the input is malformed.
    Source:  Hyndman and Koehler 2006, section 2.2 (there times 100).
    """
    _check(actual, predicted)
    if np.any(actual == 0):
        row = int(np.flatnonzero(actual == 0)[0])
        raise MetricError(f"an actual value must not be zero for MAPE, got 0 in row {row}")
    return float(np.mean(np.abs(actual - predicted) / np.abs(actual)))


def median_ape(actual: Vector, predicted: Vector) -> float:
    """Return the median absolute percentage error, as a fraction; see `mape`.

    Raises: MetricError: an actual value is zero, or the input is malformed.
    """
    _check(actual, predicted)
    if np.any(actual == 0):
        raise MetricError("an actual value must not be zero for a percentage error, got 0")
    return float(np.median(np.abs(actual - predicted) / np.abs(actual)))


def mse(actual: Vector, predicted: Vector) -> float:
    """Return the mean squared error, in the squared unit of the values.

    Raises: MetricError: the input is malformed.
    """
    _check(actual, predicted)
    return float(np.mean((actual - predicted) ** 2))


def r_squared(actual: Vector, predicted: Vector) -> float:
    """Return the coefficient of determination: 1 - sum (actual - predicted)² / sum (actual - mean actual)².

    1 is perfect, 0 is as good as the mean of these rows, and there is no lower bound.

    Args:    actual, predicted: (rows,).
    Returns: the coefficient, NaN when the actual values are all equal.
    Raises:  MetricError: the input is malformed.
    Source:  scikit-learn `r2_score`; differs for equal actual values (there 1 or 0).
    """
    _check(actual, predicted)
    total = float(np.sum((actual - np.mean(actual)) ** 2))
    if np.all(actual == actual[0]):
        return float("nan")
    return 1.0 - float(np.sum((actual - predicted) ** 2)) / total


def spearman(actual: Vector, predicted: Vector) -> float:
    """Compute the rank correlation: Pearson's correlation of the ranks, tied values sharing their mean rank.

    Args:    actual, predicted: (rows,).
    Returns: -1 to 1, NaN when either side is constant.
    Raises:  MetricError: the input is malformed.
    Source:  scipy.stats.spearmanr, which treats ties the same way.
    """
    _check(actual, predicted)
    x, y = (mean_ranks(values) - (len(actual) + 1) / 2 for values in (actual, predicted))
    scale = float(np.sqrt(np.sum(x * x) * np.sum(y * y)))
    return float(np.sum(x * y)) / scale if scale > 0 else float("nan")


def mean_ranks(values: Vector) -> Vector:
    """Return the ranks from 1; equal values have the mean of theirs, as in `scipy.stats.rankdata`. (rows,)"""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places].astype(np.float64)


METRICS: Mapping[str, Metric] = {
    "mape": mape,
    "median_ape": median_ape,
    "mse": mse,
    "r2": r_squared,
    "spearman": spearman,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A metric with the ends of its 95 % bootstrap interval; all NaN where it has no value."""

    value: float
    low: float
    high: float


def bootstrap(
    metric: Metric,
    actual: Vector,
    predicted: Vector,
    groups: Sequence[str],
    *,
    resamples: int,
    seed: int,
) -> Interval:
    """Return a metric and its 95 % percentile interval over resampled groups.

    Whole groups are drawn with replacement, as many as there are, because rows of one kernel are
    not independent: drawing rows would promise an interval for kernels like these instead of for
    the next kernel. With few groups the interval is coarse, and with one it is the value itself.
    Resamples where the metric is NaN are left out.

    Args:    actual, predicted: (rows,). groups: one name a row. resamples: at least 1.
    Raises:  MetricError: the input is malformed or the metric undefined for it.
    Source:  percentile interval, Efron and Tibshirani 1993, chapter 13; groups as units, Field and
             Welsh 2007.
    """
    (interval,) = bootstrap_all([metric], actual, predicted, groups, resamples=resamples, seed=seed)
    return interval


def bootstrap_all(
    metrics: Sequence[Metric],
    actual: Vector,
    predicted: Vector,
    groups: Sequence[str],
    *,
    resamples: int,
    seed: int,
) -> list[Interval]:
    """Return several metrics with their intervals over the same resamples; see `bootstrap`."""
    values = [metric(actual, predicted) for metric in metrics]
    if len(groups) != len(actual):
        raise MetricError(f"groups must be one a row, got {len(groups)} for {len(actual)} rows")
    if resamples < 1:
        raise MetricError(f"resamples must be at least 1, got {resamples}")
    names = sorted(set(groups))
    rows = [np.flatnonzero(np.asarray(groups) == name) for name in names]
    draws = np.random.default_rng(seed).integers(len(names), size=(resamples, len(names)))
    draws.sort(axis=1)
    drawn: list[list[float]] = [[] for _ in metrics]
    for draw, count in sorted(Counter(map(tuple, draws.tolist())).items()):
        chosen = np.concatenate([rows[g] for g in draw])
        for own, metric in zip(drawn, metrics, strict=True):
            own += [metric(actual[chosen], predicted[chosen])] * count
    return [_interval(value, own) for value, own in zip(values, drawn, strict=True)]


def _interval(value: float, drawn: Sequence[float]) -> Interval:
    defined = np.asarray([v for v in drawn if not np.isnan(v)])
    if np.isnan(value) or not len(defined):
        return Interval(value=value, low=float("nan"), high=float("nan"))
    low, high = np.percentile(defined, [2.5, 97.5])
    return Interval(value=value, low=float(low), high=float(high))


def _check(actual: Vector, predicted: Vector) -> None:
    if actual.ndim != 1 or actual.shape != predicted.shape:
        raise MetricError(
            f"actual and predicted must have one equal length, got shapes {actual.shape} "
            f"and {predicted.shape}"
        )
    if not len(actual):
        raise MetricError("a metric must have at least one row, got 0")
    for name, values in (("actual", actual), ("predicted", predicted)):
        if not np.all(np.isfinite(values)):
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise MetricError(f"{name} values must be finite, got {values[row]} in row {row}")
