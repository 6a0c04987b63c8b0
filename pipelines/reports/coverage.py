"""How well training programs cover the evaluation programs.

A program is a point: its features, log(1 + x), less the median of the training programs, over their distance
from the 5th to the 95th percentile (a feature that is the same for nearly all of them is left out). A missing
value counts as the median. Nothing here is random.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.reports.distributions import Distribution, distribution
from pipelines.reports.measures import Quantiles, median_of, present, quantiles_of
from pipelines.reports.samples import (
    DESIGN_FEATURES,
    EVALUATION,
    LABELS,
    PROGRAM_FEATURES,
    Quantity,
    Samples,
    in_stage_order,
)
from pipelines.reports.tables import FloatArray

NEIGHBOUR_LIMIT = 2000
"""Training programs whose own nearest neighbour is looked for: evenly spaced by id when there are more."""

TRAINING = "training"

BLOCK = 256
"""Programs whose distances are held in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureCoverage:
    """One feature of evaluation programs against training programs.

    Attributes:
        inside: share of the evaluation programs within the 5th to 95th percentile of training.
        training, evaluation: quantiles of both.
    """

    group: str
    quantity: Quantity
    inside: float
    training: Quantiles
    evaluation: Quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """Programs on the plane of the two principal components of the training programs.

    Attributes:
        points: (stage, coordinates of shape (programs, 2)).
        explained: share of the training programs' variance along each axis.
        leading: the three features of largest weight on each axis, with the sign of the weight.
    """

    points: tuple[tuple[str, FloatArray], ...]
    explained: tuple[float, float]
    leading: tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Training against evaluation programs.

    Attributes:
        distances: of training and of evaluation programs to the nearest training program (another one, for a
            training program): root mean square over the features.
        beyond: share of the evaluation programs farther than the training programs' 95th percentile.
        feature_names: of the space of the distances.
    """

    training_count: int
    evaluation_count: int
    features: tuple[FeatureCoverage, ...]
    distances: Distribution
    beyond: float
    feature_names: tuple[str, ...]
    projection: Projection | None


def measure_coverage(programs: Samples, designs: Samples, program_of: dict[str, str]) -> Coverage | None:
    """Compare evaluation with training programs; None without three of the one and one of the other.

    Args: program_of: program by design. Features of a program's designs are medians over them; labels over
          those that are ok.
    """
    columns = _program_columns(programs, designs, program_of)
    ok = np.array(programs.is_ok, dtype=np.bool_)
    reserved = np.array([stage == EVALUATION for stage in programs.stages], dtype=np.bool_)
    training, evaluation = ok & ~reserved, ok & reserved
    if int(training.sum()) < 3 or not bool(evaluation.any()):
        return None
    features = [
        found
        for group, quantity in _quantities()
        for found in [_feature(group, quantity, columns[quantity.column], training, evaluation)]
        if found is not None
    ]
    space, names = _space(columns, training)
    if not names:
        return None
    own = _nearest(_thinned(space[training]), space[training], another=True)
    others = _nearest(space[evaluation], space[training], another=False)
    samples = {TRAINING: own, EVALUATION: others}
    return Coverage(
        training_count=int(training.sum()),
        evaluation_count=int(evaluation.sum()),
        features=tuple(features),
        distances=distribution(Quantity(column="distance", title="Distance to the nearest"), samples),
        beyond=float((others > quantiles_of(own).p95).mean()),
        feature_names=tuple(names),
        projection=_project(space, training, ok, programs.stages, names),
    )


def _quantities() -> list[tuple[str, Quantity]]:
    """What a program is compared by; the memory delay is chosen and not the program's."""
    chosen = [q for q in DESIGN_FEATURES if q.column != "memory_read_delay_cycles"]
    groups = (("program", PROGRAM_FEATURES), ("design", chosen), ("labels", LABELS))
    return [(group, quantity) for group, quantities in groups for quantity in quantities]


def _program_columns(
    programs: Samples, designs: Samples, program_of: dict[str, str]
) -> dict[str, FloatArray]:
    rows: dict[str, list[int]] = defaultdict(list)
    for index, design in enumerate(designs.ids):
        rows[program_of.get(design, "")].append(index)
    nothing = np.full(len(programs.ids), np.nan)
    ok = np.array(designs.is_ok, dtype=np.bool_)
    columns: dict[str, FloatArray] = {}
    for group, quantity in _quantities():
        if group == "program":
            columns[quantity.column] = programs.columns.get(quantity.column, nothing)
            continue
        if quantity.column not in designs.columns:
            columns[quantity.column] = nothing
            continue
        values = designs.of(quantity)
        values = np.where(ok, values, np.nan) if group == "labels" else values
        listed = values.tolist()
        medians = [median_of([listed[i] for i in rows.get(key, [])]) for key in programs.ids]
        columns[quantity.column] = np.array(medians, dtype=np.float64)
    return columns


def _feature(
    group: str,
    quantity: Quantity,
    values: FloatArray,
    training: np.ndarray[tuple[int], np.dtype[np.bool_]],
    evaluation: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> FeatureCoverage | None:
    of_training, of_evaluation = present(values[training]), present(values[evaluation])
    if not of_training.size or not of_evaluation.size:
        return None
    training_quantiles = quantiles_of(of_training)
    inside = (of_evaluation >= training_quantiles.p5) & (of_evaluation <= training_quantiles.p95)
    return FeatureCoverage(
        group=group,
        quantity=quantity,
        inside=float(inside.mean()),
        training=training_quantiles,
        evaluation=quantiles_of(of_evaluation),
    )


def _space(
    columns: dict[str, FloatArray], training: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> tuple[FloatArray, list[str]]:
    """Coordinates of every program, shape (programs, features), by program and design features."""
    axes: list[FloatArray] = []
    names: list[str] = []
    for group, quantity in _quantities():
        values = np.log1p(np.maximum(columns[quantity.column], 0.0))
        known = present(values[training])
        if group == "labels" or not known.size:
            continue
        low, middle, high = (float(q) for q in np.percentile(known, [5, 50, 95]))
        if high > low:
            axes.append(np.nan_to_num((values - middle) / (high - low), nan=0.0))
            names.append(quantity.title)
    return (np.stack(axes, axis=1) if axes else np.zeros((training.size, 0))), names


ROUNDING = 1e-12
"""Squared distances below this share of the points' own squares are rounding, and the points the same."""


def _thinned(points: FloatArray) -> FloatArray:
    if len(points) <= NEIGHBOUR_LIMIT:
        return points
    return points[np.linspace(0, len(points) - 1, NEIGHBOUR_LIMIT).astype(np.int64)]


def _nearest(points: FloatArray, training: FloatArray, *, another: bool) -> FloatArray:
    """Distance of each point to its nearest training point; the second nearest for one of them."""
    squares = (training**2).sum(axis=1)
    found: list[FloatArray] = []
    for start in range(0, len(points), BLOCK):
        block = points[start : start + BLOCK]
        sums = (block**2).sum(axis=1)[:, None] + squares[None, :]
        distances = sums - 2.0 * block @ training.T
        distances[distances < ROUNDING * sums] = 0.0
        place = 1 if another else 0
        found.append(np.partition(distances, place, axis=1)[:, place])
    return np.sqrt(np.maximum(np.concatenate(found), 0.0) / points.shape[1])


def _project(
    space: FloatArray,
    training: np.ndarray[tuple[int], np.dtype[np.bool_]],
    ok: np.ndarray[tuple[int], np.dtype[np.bool_]],
    stages: Sequence[str],
    names: Sequence[str],
) -> Projection | None:
    """Principal components of the training programs; each axis points where its largest weight is positive.

    Source: Pearson 1901; computed as the eigenvectors of the covariance.
    """
    if len(names) < 2:
        return None
    centre = space[training].mean(axis=0)
    covariance = np.cov((space[training] - centre).T)
    values, vectors = np.linalg.eigh(covariance)
    axes = vectors[:, ::-1][:, :2]
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.sign(axes[largest, [0, 1]])
    total = float(values.sum())
    if total <= 0:
        return None
    plane = (space - centre) @ axes
    order = sorted(in_stage_order(stages), key=lambda stage: stage == EVALUATION)
    points = [(s, plane[ok & np.array([stage == s for stage in stages])]) for s in order]
    leading = [
        tuple(
            f"{'+' if axes[i, k] > 0 else '−'} {names[i]}"
            for i in np.argsort(-np.abs(axes[:, k]))[:3].tolist()
        )
        for k in (0, 1)
    ]
    return Projection(
        points=tuple((stage, found) for stage, found in points if len(found)),
        explained=(float(values[-1]) / total, float(values[-2]) / total),
        leading=(leading[0], leading[1]),
    )
