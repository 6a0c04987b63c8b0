"""Rows of the leaderboard from predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.labelled import PARTS, TARGETS, LabelledDesign
from models.metrics import METRICS, bootstrap
from pipelines.schemas import LeaderboardRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One target of one design, as measured and as predicted, in the target's unit."""

    design_id: str
    group: str
    part: str
    target: str
    actual: float
    predicted: float


def predictions_of(
    designs: Sequence[LabelledDesign], predicted: NDArray[np.float64], targets: Sequence[str] = TARGETS
) -> list[Prediction]:
    """One record per design and target that the design has. Args: predicted: (designs, targets)."""
    return [
        Prediction(
            design_id=design.design_id,
            group=design.group,
            part=design.part,
            target=target,
            actual=design.labels[target],
            predicted=float(predicted[i, j]),
        )
        for i, design in enumerate(designs)
        for j, target in enumerate(targets)
        if target in design.labels
    ]


def leaderboard_rows(
    predictions: Sequence[Prediction],
    *,
    predictor: str,
    version: str,
    split: str,
    resamples: int,
    seed: int,
) -> list[LeaderboardRow]:
    """Every metric of every target on every part that has predictions, intervals over groups.

    Args:    resamples: bootstrap draws a row. seed: of the draws.
    Returns: rows by target, part and metric; an undefined metric is a row without its figures.
    Raises:  MetricError: an actual value is zero, or a value is not finite.
    """
    rows: list[LeaderboardRow] = []
    for target in sorted({p.target for p in predictions}):
        for part in PARTS:
            chosen = [p for p in predictions if p.target == target and p.part == part]
            if not chosen:
                continue
            actual = np.array([p.actual for p in chosen])
            predicted = np.array([p.predicted for p in chosen])
            groups = [p.group for p in chosen]
            for name, metric in METRICS.items():
                interval = bootstrap(metric, actual, predicted, groups, resamples=resamples, seed=seed)
                rows.append(
                    LeaderboardRow(
                        predictor=predictor,
                        version=version,
                        target=target,
                        split=split,
                        part=part,
                        metric=name,
                        value=_defined(interval.value),
                        interval_low=_defined(interval.low),
                        interval_high=_defined(interval.high),
                        row_count=len(chosen),
                    )
                )
    return rows


def _defined(figure: float) -> float | None:
    return None if math.isnan(figure) else figure
