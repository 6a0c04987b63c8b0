"""How well training programs cover the evaluation programs.

A program is a point: its features, log(1 + x), less the median of the training programs, over their distance
from the 5th to the 95th percentile (a feature that is the same for nearly all of them is left out). A missing
value counts as the median. Nothing here is random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.dataset.reports.samples import (
    DESIGN_FEATURES,
    EVALUATION,
    LABELS,
    PROGRAM_FEATURES,
    Quantity,
    in_stage_order,
)
from pipelines.dataset.reports.statistics import Distribution, Quantiles, distribution, quantiles_of
from pipelines.dataset.reports.tables import FloatArray

NEIGHBOUR_LIMIT = 2000
"""Training programs whose own nearest neighbour is computed: evenly spaced by id when there are more."""

TRAINING = "training"

BLOCK = 256
"""Programs whose distances are in memory at a time."""

ROUNDING = 1e-12
"""Squared distances below this share of the points' own squares are rounding, and the points the same."""


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


def measure_coverage(programs: pl.DataFrame, designs: pl.DataFrame) -> Coverage | None:
    """Compare evaluation with training programs; None without three of the one and one of the other.

    Args: programs, designs: as `sample_programs` and `sample_designs` return them. Features of a program's
          designs are medians over them; labels over those that are ok.
    """
    points = _program_points(programs, designs).filter("is_ok")
    is_training = pl.col("stage") != EVALUATION
    training, evaluation = points.filter(is_training), points.filter(~is_training)
    if training.height < 3 or evaluation.is_empty():
        return None
    features = [_feature(group, q, training, evaluation) for group, q in _quantities() if q.is_in(points)]
    space, names = _space(points, training)
    if not names:
        return None
    sides = points.select(is_training).to_series().to_numpy()
    own = pl.Series(_nearest(_thinned(space[sides]), space[sides], another=True))
    others = pl.Series(_nearest(space[~sides], space[sides], another=False))
    samples = {TRAINING: own, EVALUATION: others}
    return Coverage(
        training_count=training.height,
        evaluation_count=evaluation.height,
        features=tuple(feature for feature in features if feature is not None),
        distances=distribution(Quantity(column="distance", title="Distance to the nearest"), samples),
        beyond=float((others > quantiles_of(own).p95).sum() / others.len()),
        feature_names=tuple(names),
        projection=project(space, points["stage"], names),
    )


def _quantities() -> list[tuple[str, Quantity]]:
    """Return the quantities that programs are compared by; the memory delay is chosen, so none."""
    chosen = [q for q in DESIGN_FEATURES if q.column != "memory_read_delay_cycles"]
    groups = (("program", PROGRAM_FEATURES), ("design", chosen), ("labels", LABELS))
    return [(group, quantity) for group, quantities in groups for quantity in quantities]


def _program_points(programs: pl.DataFrame, designs: pl.DataFrame) -> pl.DataFrame:
    """Return every program with its row's quantities and the medians of its designs', in page units."""
    own = [q for group, q in _quantities() if group == "program" and q.column in programs.columns]
    medians = [
        (q.values().filter("is_ok") if group == "labels" else q.values()).median().alias(q.column)
        for group, q in _quantities()
        if group != "program" and q.column in designs.columns
    ]
    of_designs = designs.lazy().group_by("program_id").agg(medians)
    kept = programs.lazy().select("program_id", "stage", "is_ok", *(q.column for q in own))
    # In order of the program, for the projection and the thinning depend on it.
    return kept.join(of_designs, on="program_id", how="left", maintain_order="left").collect()


def _feature(
    group: str, quantity: Quantity, training: pl.DataFrame, evaluation: pl.DataFrame
) -> FeatureCoverage | None:
    of_training, of_evaluation = (side[quantity.column].drop_nulls() for side in (training, evaluation))
    if of_training.is_empty() or of_evaluation.is_empty():
        return None
    at = quantiles_of(of_training)
    return FeatureCoverage(
        group=group,
        quantity=quantity,
        inside=float(of_evaluation.is_between(at.p5, at.p95).sum() / of_evaluation.len()),
        training=at,
        evaluation=quantiles_of(of_evaluation),
    )


def _space(points: pl.DataFrame, training: pl.DataFrame) -> tuple[FloatArray, list[str]]:
    """Return the coordinates of every program, shape (programs, features), by program and design features."""
    axes: list[pl.Expr] = []
    names: list[str] = []
    for group, quantity in _quantities():
        if group == "labels" or not quantity.is_in(training):
            continue
        at = quantiles_of(training.select(_logarithm(quantity)).to_series())
        if at.p95 > at.p5:
            axes.append(((_logarithm(quantity) - at.median) / (at.p95 - at.p5)).fill_null(0.0))
            names.append(quantity.title)
    shape = (points.height, 0)
    return (points.select(axes).to_numpy(order="c") if axes else np.zeros(shape)), names


def _logarithm(quantity: Quantity) -> pl.Expr:
    return pl.col(quantity.column).clip(lower_bound=0.0).log1p()


def _thinned(points: FloatArray) -> FloatArray:
    if len(points) <= NEIGHBOUR_LIMIT:
        return points
    return points[np.linspace(0, len(points) - 1, NEIGHBOUR_LIMIT).astype(np.int64)]


def _nearest(points: FloatArray, training: FloatArray, *, another: bool) -> FloatArray:
    """Return the distance of each point to its nearest training point; the second nearest for one of them."""
    squares = (training**2).sum(axis=1)
    nearest: list[FloatArray] = []
    for start in range(0, len(points), BLOCK):
        block = points[start : start + BLOCK]
        sums = (block**2).sum(axis=1)[:, None] + squares[None, :]
        distances = sums - 2.0 * block @ training.T
        distances[distances < ROUNDING * sums] = 0.0
        place = 1 if another else 0
        nearest.append(np.partition(distances, place, axis=1)[:, place])
    return np.sqrt(np.maximum(np.concatenate(nearest), 0.0) / points.shape[1])


def project(space: FloatArray, stages: pl.Series, names: list[str]) -> Projection | None:
    """Return the principal components of the training programs; each axis points where its largest weight is
    positive.

    Args:    space: coordinates, shape (programs, features); stages: of the programs.
    Returns: None with fewer than two features or without variance.
    Source:  Pearson 1901; computed as the eigenvectors of the covariance.
    """
    if len(names) < 2:
        return None
    training = space[(stages != EVALUATION).to_numpy()]
    centre = training.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((training - centre).T))
    axes = vectors[:, ::-1][:, :2]
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.sign(axes[largest, [0, 1]])
    total = float(values.sum())
    if total <= 0:
        return None
    plane = (space - centre) @ axes
    order = sorted(in_stage_order(stages), key=lambda stage: stage == EVALUATION)
    first, second = (
        tuple(
            f"{'+' if axes[i, k] > 0 else '−'} {names[i]}"
            for i in np.argsort(-np.abs(axes[:, k]))[:3].tolist()
        )
        for k in (0, 1)
    )
    return Projection(
        points=tuple((stage, plane[(stages == stage).to_numpy()]) for stage in order),
        explained=(float(values[-1]) / total, float(values[-2]) / total),
        leading=(first, second),
    )
