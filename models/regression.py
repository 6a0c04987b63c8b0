"""What regressions of labels share: scaled log targets, how typical a query is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from models.base import Estimate
from models.intervals import trips_of
from models.query import ALL_TARGETS

if TYPE_CHECKING:
    from models.labelled import LabelledDesign

Matrix = NDArray[np.float64]
OUTPUT_LIMIT = 8.0  # standard deviations of a log target; keeps exp finite far from the data
NEIGHBOURS_KEPT = 512
"""Training rows that a predictor keeps to say how near a query is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetScale:
    """Natural logarithms of targets with mean 0 and deviation 1 over the training part.

    Attributes: names: of targets that the training part has. mean, scale: of their logarithms.
    """

    names: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]

    @classmethod
    def measure(cls, designs: Sequence[LabelledDesign]) -> TargetScale:
        """Return the scale of training designs."""
        names = tuple(t for t in ALL_TARGETS if any(t in d.labels for d in designs))
        logs = {t: np.log([d.labels[t] for d in designs if t in d.labels]) for t in names}
        return cls(
            names=names,
            mean=tuple(float(logs[t].mean()) for t in names),
            scale=tuple(float(logs[t].std()) or 1.0 for t in names),
        )

    def normalise(self, designs: Sequence[LabelledDesign]) -> NDArray[np.float32]:
        """Return the scaled logarithms, NaN where a label is unknown: (designs, targets)."""
        labels = np.array([[d.labels.get(t, np.nan) for t in self.names] for d in designs], np.float64)
        logs = np.log(labels.reshape(len(designs), len(self.names)))
        return ((logs - np.array(self.mean)) / np.array(self.scale)).astype(np.float32)

    def restore(self, outputs: NDArray[Any]) -> Matrix:
        """Return the targets in their own units from outputs: (rows, targets)."""
        bounded = np.clip(np.asarray(outputs, np.float64), -OUTPUT_LIMIT, OUTPUT_LIMIT)
        return np.exp(bounded * np.array(self.scale) + np.array(self.mean))

    def card(self) -> dict[str, Any]:
        """Return the plain JSON."""
        return {"names": list(self.names), "mean": list(self.mean), "scale": list(self.scale)}

    @classmethod
    def of_card(cls, card: Mapping[str, Any]) -> TargetScale:
        """Return the scale that `card` gave."""
        return cls(**{name: tuple(card[name]) for name in ("names", "mean", "scale")})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Typicality:
    """How a query's features compare with training: their ranges, and the distance to the nearest row.

    The distance is the spread of an estimate, so that intervals are wider far from training.

    Attributes:
        names: of features. low, high, mean, scale: in training. (features,)
        rows: standardised features of training rows; none for weights from before. (rows, features)
    """

    names: tuple[str, ...]
    low: Matrix
    high: Matrix
    mean: Matrix
    scale: Matrix
    rows: Matrix

    @classmethod
    def measure(cls, names: Sequence[str], features: Matrix, seed: int) -> Typicality:
        """Return the typicality of training rows. features: (rows, features)."""
        spread = features.std(axis=0)
        mean, scale = features.mean(axis=0), np.where(spread > 0, spread, 1.0)
        chosen = np.random.default_rng(seed).permutation(len(features))[:NEIGHBOURS_KEPT]
        return cls(
            names=tuple(names),
            low=features.min(axis=0),
            high=features.max(axis=0),
            mean=mean,
            scale=scale,
            rows=(features[chosen] - mean) / scale,
        )

    def distances(self, features: Matrix) -> Matrix:
        """Return the distance of every row from the nearest training row: (rows, features) -> (rows,)."""
        if not len(self.rows):
            return np.zeros(len(features))
        scaled = (features - self.mean) / self.scale
        return _distances(scaled, self.rows).min(axis=1) / np.sqrt(len(self.names))

    def outside(self, row: Matrix) -> tuple[str, ...]:
        """Return the names of the features of a row beyond the range seen in training. row: (features,)."""
        beyond = (row < self.low - 1e-9) | (row > self.high + 1e-9)
        return tuple(n for n, b in zip(self.names, beyond, strict=True) if b)

    @classmethod
    def of_ranges(cls, names: Sequence[str], low: Matrix, high: Matrix) -> Typicality:
        """Return the typicality that knows ranges only, of weights that were trained before it was kept."""
        count = len(names)
        return cls(
            names=tuple(names),
            low=low,
            high=high,
            mean=np.zeros(count),
            scale=np.ones(count),
            rows=np.zeros((0, count)),
        )

    def estimates(self, features: Matrix, targets: Sequence[str], values: Matrix) -> list[Estimate]:
        """Return the estimates of queries. features: (rows, features). values: (rows, targets)."""
        return [
            Estimate(
                values=dict(zip(targets, map(float, answer), strict=True)),
                outside_training=self.outside(row),
                spread=dict.fromkeys(targets, float(distance)),
                trips=trips_of(dict(zip(self.names, row.tolist(), strict=True))),
            )
            for answer, row, distance in zip(values, features, self.distances(features), strict=True)
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays for a predictor's files."""
        fields = ("low", "high", "mean", "scale", "rows")
        return {f"typicality_{name}": getattr(self, name) for name in fields}

    @classmethod
    def of_arrays(cls, names: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> Typicality:
        """Return the typicality from the arrays that `arrays` gave."""
        own = {
            k.removeprefix("typicality_"): np.asarray(v, np.float64)
            for k, v in arrays.items()
            if k.startswith("typicality_") and k != "typicality_distances"  # of weights from before
        }
        return cls(names=tuple(names), **own)


def is_of_network(name: str) -> bool:
    """Tell whether an array of a predictor's files is a weight of its network."""
    return not name.startswith("typicality_")


def _distances(left: Matrix, right: Matrix) -> Matrix:
    """Return Euclidean distances: (n, features), (m, features) -> (n, m)."""
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2.0 * left @ right.T
    return np.sqrt(np.maximum(0.0, squares))
