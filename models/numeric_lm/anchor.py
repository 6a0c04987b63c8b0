"""An estimate of a program's cycles from profiles: ridge regression of their logarithm on the inputs.

A calibrated model at level hls answers with the ratio to it. The engine's own estimate does not look at data,
so the digits would have to cover every input; digits near 1 occur in training.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from models.labelled import Query
from pipelines.base.identity import content_hash
from pipelines.dataset.records import DATA_SUMMARY

_PENALTIES = tuple(10.0**n for n in range(-4, 3))
_MARGIN = math.log(2.0)
"""How far beyond the profiles an estimate may lie."""

Vector = NDArray[np.float64]


class ProfileAnchor(BaseModel):
    """The regression of one design, as plain numbers.

    Attributes:
        design: see `design_hash`. names: of the inputs' features. centre, scale: of each feature.
        weights: of the standardised features. intercept: mean logarithm of the cycles.
        low, high: bounds of the logarithm.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    design: str
    names: list[str]
    centre: list[float]
    scale: list[float]
    weights: list[float]
    intercept: float
    low: float
    high: float

    def cycles(self, summary: str) -> float:
        """Return the estimated cycles of an input, from what `summarise_data` says of it."""
        known = dict(_features(summary))
        row = np.array([known.get(name, 0.0) for name in self.names])
        standard = (row - np.array(self.centre)) / np.array(self.scale)
        logarithm = self.intercept + float(standard @ np.array(self.weights))
        return math.exp(min(max(logarithm, self.low), self.high))


def design_hash(query: Query) -> str:
    """Return the identity of a question but for its data."""
    delays = (query.memory_read_delay_cycles, query.memory_write_delay_cycles)
    return content_hash(query.source, query.top, *delays, query.clock_period_ns, query.directives)


def fit_anchor(query: Query, summaries: Sequence[str], cycles: Sequence[float]) -> ProfileAnchor:
    """Fit the cycles of some inputs of a question's design, the penalty by leaving one out."""
    known = [dict(_features(summary)) for summary in summaries]
    names = sorted({name for row in known for name in row})
    rows = np.array([[row.get(name, 0.0) for name in names] for row in known])
    logarithms = np.log(np.array(cycles))
    centre, scale = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1e-9)
    scale[rows.std(axis=0) == 0] = 1.0
    weights = _ridge((rows - centre) / scale, logarithms - logarithms.mean())
    return ProfileAnchor(
        design=design_hash(query),
        names=names,
        centre=centre.tolist(),
        scale=scale.tolist(),
        weights=weights.tolist(),
        intercept=float(logarithms.mean()),
        low=float(logarithms.min()) - _MARGIN,
        high=float(logarithms.max()) + _MARGIN,
    )


def _ridge(rows: Vector, targets: Vector) -> Vector:
    """Return the weights with the penalty of the least error when each row is left out in turn."""
    left, singular, right = np.linalg.svd(rows, full_matrices=False)
    best, least = np.zeros(rows.shape[1]), math.inf
    for penalty in _PENALTIES:
        shrunk = singular**2 / (singular**2 + penalty * len(rows))
        fitted = left @ (shrunk * (left.T @ targets))
        leverage = np.minimum((left**2 * shrunk).sum(axis=1) + 1.0 / len(rows), 1 - 1e-6)
        error = float((((targets - fitted) / (1.0 - leverage)) ** 2).mean())
        if error < least:
            factors = np.divide(shrunk, singular, out=np.zeros_like(singular), where=singular > 1e-9)
            best, least = right.T @ (factors * (left.T @ targets)), error
    return best


def _features(summary: str) -> Iterator[tuple[str, float]]:
    """Yield numbers of a summary by name; sizes as logarithms."""
    parsed: dict[str, Any] = json.loads(summary or "{}")
    for argument, value in parsed.items():
        if not isinstance(value, dict):
            yield argument, float(value)
            yield f"log {argument}", _log(float(value))
            continue
        for name in DATA_SUMMARY:
            figure = float(value[name])
            yield f"{argument} {name}", figure if name in ("zero_share", "is_sorted") else _log(figure)


def _log(value: float) -> float:
    return math.copysign(math.log1p(abs(value)), value)
