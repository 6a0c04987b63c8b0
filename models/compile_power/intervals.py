"""Intervals that widen with the distance from what was labelled.

Half the width of an interval, in logarithms, is a + b near + c size with positive weights, so that
it never shrinks on the way outwards. Weights are the 95 % quantile of errors on left-out labels by linear
programming, times the factor that conformal prediction gives (Papadopoulos et al. 2008, normalised scores).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.compile_power.data import Pair
from models.intervals import covering_score

Vector = NDArray[np.float64]
Value = float | str
COVERED = 0.95
"""Share of labels that an interval is to hold."""
DISTANCES = ("constant", "near", "size")
"""What a half-width is a weighted sum of."""
_LEAST_GROWTH = 0.1
"""Least weight of a distance, of the constant's: no growth within an octave says nothing about ten."""


def hardware_columns(pair: Pair) -> dict[str, Value]:
    """Return the parameters of hardware; of a pipeline, its reuse factor."""
    if pair.hardware is None:
        return {"reuse_factor": float(pair.interval_cycles)}
    values = pair.hardware.model_dump().items()
    return {n: str(v).lower() if isinstance(v, bool | str) else float(v) for n, v in values}


def size_columns(pair: Pair) -> dict[str, float]:
    """Return the size of a network; it does not depend on the hardware."""
    sizes = {"parameters": sum(pair.parameters), "layers": len(pair.kinds)}
    further = (
        {"stages": len(pair.counts)} if pair.hardware is None else {"multiplications": pair.multiplications}
    )
    return {name: float(value) for name, value in (sizes | further).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """A column of a question outside what was labelled; labelled: least and largest, or all words."""

    column: str
    value: float | int | str
    labelled: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """What the labels of a model cover.

    Attributes:
        hardware, sizes: least and largest labelled value of each column, or its words.
        configurations: (configurations, hardware columns) octaves of values, or numbers of words; columns in
            the order of `hardware_columns`, whatever that of `hardware` is.
    """

    hardware: Mapping[str, tuple[Any, ...]]
    sizes: Mapping[str, tuple[Any, ...]]
    configurations: Vector

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> Labelled:
        """Return the ranges and configurations of labelled pairs."""
        hardware = _ranges([hardware_columns(pair) for pair in pairs])
        sizes = _ranges([size_columns(pair) for pair in pairs])
        rows = {tuple(_coordinates(hardware_columns(pair), hardware)) for pair in pairs}
        return cls(hardware=hardware, sizes=sizes, configurations=np.array(sorted(rows), np.float64))

    def outside(self, pair: Pair) -> list[Outside]:
        """Return the columns outside of what was labelled, hardware first."""
        asked = {**hardware_columns(pair), **size_columns(pair)}
        return [
            Outside(column=name, value=_plain(asked[name]), labelled=tuple(map(_plain, known)))
            for name, known in ((name, {**self.hardware, **self.sizes}[name]) for name in asked)
            if _excess(asked[name], known) > 0
        ]

    def distances(self, pair: Pair) -> Vector:
        """Return the values of `DISTANCES`.

        near: to the nearest labelled configuration; a labelled range (at least an octave) or another word is
        1, summed over columns. size: octaves beyond the labelled range of the column that is farthest out.
        """
        own, sizes = hardware_columns(pair), size_columns(pair)
        apart = np.abs(self.configurations - np.array(_coordinates(own, self.hardware)))
        for place, known in enumerate(self.hardware[name] for name in own):
            if _is_words(known):
                apart[:, place] = apart[:, place] > 0
            else:
                apart[:, place] /= max(1.0, _octave(known[1]) - _octave(known[0]))
        size = max(_excess(sizes[name], known) for name, known in self.sizes.items())
        return np.array([1.0, apart.sum(axis=1).min(), size])


def half_widths(labelled: Labelled, weights: Vector, pairs: Sequence[Pair]) -> Vector:
    """Return (pairs, 2) of logarithms of power and energy. weights: (2, distances)."""
    return np.array([labelled.distances(pair) for pair in pairs]).reshape(-1, len(DISTANCES)) @ weights.T


def fit_weights(distances: Vector, errors: Vector, kinds: Sequence[str], groups: Sequence[str]) -> Vector:
    """Return (2, distances) weights of left-out rows.

    Args:
        distances: (rows, distances). errors: (rows, 2) absolute errors of logarithms.
        kinds: what was left out with a row: intervals hold `COVERED` of the rows of every kind.
        groups: rows that are alike and count once.
    """
    weights = np.array([_quantile_weights(distances, errors[:, target]) for target in range(2)])
    scores = errors / np.maximum(distances @ weights.T, 1e-9)
    for target in range(2):
        weights[target] *= max(
            covering_score(
                [
                    (group, score)
                    for group, own, score in zip(groups, kinds, scores[:, target].tolist(), strict=True)
                    if own == kind
                ],
                COVERED,
            )
            for kind in sorted(set(kinds))
        )
    return weights


def _quantile_weights(distances: Vector, errors: Vector) -> Vector:
    """Return weights, none negative, of least pinball loss (Koenker and Bassett 1978) as a linear program."""
    from scipy.optimize import linprog  # lazy import: a query has its weights
    from scipy.sparse import eye, hstack

    rows, columns = distances.shape
    costs = np.concatenate([np.zeros(columns), np.full(rows, COVERED), np.full(rows, 1.0 - COVERED)])
    equal = hstack([distances, eye(rows), -eye(rows)], format="csr")
    least = float(np.median(errors)) / 4  # of the constant: where nothing is far, errors are not 0
    bounds = [(least, None), *[(0.0, None)] * (columns - 1 + 2 * rows)]
    found = linprog(costs, A_eq=equal, b_eq=errors, bounds=bounds, method="highs")
    weights = np.asarray(found.x[:columns], np.float64)
    return np.maximum(weights, [0.0, *[_LEAST_GROWTH * weights[0]] * (columns - 1)])


def _octave(value: float) -> float:
    return log2(1.0 + value)


def _is_words(values: Sequence[Any]) -> bool:
    return isinstance(values[0], str)


def _ranges(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
    ranges: dict[str, tuple[Any, ...]] = {}
    for name, first in rows[0].items():
        values = sorted({row[name] for row in rows})
        ranges[name] = tuple(values) if isinstance(first, str) else (values[0], values[-1])
    return ranges


def _coordinates(own: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]) -> list[float]:
    """Return the octaves of numbers, numbers of words; -1 of a word that was not labelled."""
    return [
        _octave(value)
        if not _is_words(columns[name])
        else float(columns[name].index(value) if value in columns[name] else -1)
        for name, value in own.items()
    ]


def _excess(value: Any, values: Sequence[Any]) -> float:
    """Return the octaves outside of a range; 1 for a word that was not labelled."""
    if _is_words(values):
        return float(value not in values)
    low, high = values
    return max(0.0, _octave(value) - _octave(high), _octave(low) - _octave(value))


def _plain(value: Any) -> Any:
    """Return a whole number without a fraction."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
