"""Quantiles, histograms and rank correlation of columns with holes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from pipelines.reports.errors import ReportError
from pipelines.reports.tables import FloatArray

NARROW_SPAN = 1.25
"""A logarithmic axis reaches at least this far beyond the data to both sides, as a factor of their root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Where the values of a sample lie; percentiles interpolate linearly (NumPy's default)."""

    count: int
    minimum: float
    p5: float
    p25: float
    median: float
    p75: float
    p95: float
    maximum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHistogram:
    """Shares of a sample in bins of equal ratio.

    Attributes:
        low, high: ends of the first and the last bin, both positive.
        shares: of the positive values, one a bin; their sum is 1.
    """

    low: float
    high: float
    shares: tuple[float, ...]


def present(values: FloatArray) -> FloatArray:
    """The finite values of an array."""
    return values[np.isfinite(values)]


def quantiles_of(values: FloatArray) -> Quantiles:
    """Quantiles of the finite values.

    Raises: ReportError: there is none.
    """
    found = present(values)
    if not found.size:
        raise ReportError(f"a sample must have a finite value, got {values.size} without one")
    at = [float(q) for q in np.percentile(found, [0, 5, 25, 50, 75, 95, 100])]
    return Quantiles(
        count=int(found.size),
        minimum=at[0],
        p5=at[1],
        p25=at[2],
        median=at[3],
        p75=at[4],
        p95=at[5],
        maximum=at[6],
    )


def median_of(values: Sequence[float]) -> float:
    """The median of the finite ones of a few values; NaN when there is none."""
    finite = [value for value in values if math.isfinite(value)]
    return median(finite) if finite else math.nan


def log_range(samples: Sequence[FloatArray]) -> tuple[float, float] | None:
    """Ends of a logarithmic axis for the positive values of all samples; None when there is none."""
    positive = [found for s in samples for found in [present(s)[present(s) > 0]] if found.size]
    if not positive:
        return None
    low = min(float(found.min()) for found in positive)
    high = max(float(found.max()) for found in positive)
    if high / low < NARROW_SPAN**2:
        middle = math.sqrt(low * high)
        return middle / NARROW_SPAN, middle * NARROW_SPAN
    return low, high


def log_histogram(values: FloatArray, low: float, high: float, bins: int) -> LogHistogram:
    """Shares of the positive values in bins of equal ratio from low to high."""
    positive = present(values)[present(values) > 0]
    width = math.log(high / low) / bins
    places = np.clip(np.floor(np.log(positive / low) / width).astype(np.int64), 0, bins - 1)
    counts = np.bincount(places, minlength=bins)
    total = max(int(positive.size), 1)
    return LogHistogram(low=low, high=high, shares=tuple(float(c) / total for c in counts))


def ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1; equal values share the mean of their ranks. All values finite."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse].astype(np.float64)


def spearman(one: FloatArray, other: FloatArray) -> float | None:
    """Spearman's rank correlation over the places where both have a value.

    Returns: -1 to 1; None below three such places or when a side is constant.
    Source:  Spearman 1904; ties by mean ranks, Pearson's coefficient of the ranks.
    """
    both = np.isfinite(one) & np.isfinite(other)
    if int(both.sum()) < 3:
        return None
    first, second = ranks(one[both]), ranks(other[both])
    first, second = first - first.mean(), second - second.mean()
    scale = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / scale if scale > 0 else None
