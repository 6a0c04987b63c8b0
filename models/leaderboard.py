"""Rows of the leaderboard, and errors by workload, from predictions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.base import PASSES
from models.intervals import Residual
from models.labelled import PARTS, LabelledDesign
from models.metrics import METRICS, Interval, bootstrap_all, mape
from models.query import TARGETS
from pipelines.dataset.splits import EVALUATION
from pipelines.schemas import LeaderboardRow, WorkloadErrorRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One target of one design, as measured and as predicted, in the target's unit.

    Attributes: samples: answers that a predictor draws, for pass_at_5; empty where it draws none.
    """

    design_id: str
    group: str
    part: str
    target: str
    actual: float
    predicted: float
    samples: tuple[float, ...] = ()


def predictions_of(
    designs: Sequence[LabelledDesign], predicted: NDArray[np.float64], targets: Sequence[str] = TARGETS
) -> list[Prediction]:
    """Return one record per design and target that the design has. Args: predicted: (designs, targets)."""
    return paired(designs, [dict(zip(targets, row, strict=True)) for row in predicted.tolist()])


def paired(designs: Sequence[LabelledDesign], values: Sequence[Mapping[str, float]]) -> list[Prediction]:
    """Return one record per design and target that both the design and its values have."""
    return [
        Prediction(
            design_id=design.design_id,
            group=design.group,
            part=design.part,
            target=target,
            actual=design.labels[target],
            predicted=value,
        )
        for design, own in zip(designs, values, strict=True)
        for target, value in own.items()
        if target in design.labels
    ]


def residuals_of(predictions: Sequence[Prediction], families: Mapping[str, str]) -> list[Residual]:
    """Return residuals of predictions of which nothing more is known. families: by identity of the design."""
    return [
        Residual(
            target=p.target,
            family=families.get(p.design_id, ""),
            group=p.group,
            part=p.part,
            actual=p.actual,
            predicted=p.predicted,
        )
        for p in predictions
    ]


def leaderboard_rows(
    predictions: Sequence[Prediction],
    *,
    predictor: str,
    version: str,
    level: str,
    split: str,
    resamples: int,
    seed: int,
) -> list[LeaderboardRow]:
    """Return every metric of every target on every part that has predictions, intervals over groups.

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
            for name, interval in _intervals(chosen, resamples=resamples, seed=seed).items():
                rows.append(
                    LeaderboardRow(
                        predictor=predictor,
                        version=version,
                        level=level,
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


def _intervals(chosen: Sequence[Prediction], *, resamples: int, seed: int) -> dict[str, Interval]:
    """Return every metric that is defined for some predictions."""
    actual = np.array([p.actual for p in chosen])
    groups = [p.group for p in chosen]
    predicted = np.array([p.predicted for p in chosen])
    metrics = tuple(METRICS.values())
    errors = bootstrap_all(metrics, actual, predicted, groups, resamples=resamples, seed=seed)
    intervals = dict(zip(METRICS, errors, strict=True))
    if all(len(p.samples) >= PASSES for p in chosen):
        best = np.array([_nearest(p.actual, p.samples[:PASSES]) for p in chosen])
        (own,) = bootstrap_all([mape], actual, best, groups, resamples=resamples, seed=seed)
        intervals["pass_at_5"] = own
    return intervals


def _nearest(actual: float, samples: Sequence[float]) -> float:
    return min(samples, key=lambda sample: abs(sample - actual))


def workload_rows(
    predictions: Sequence[Prediction],
    names: Mapping[str, str],
    *,
    predictor: str,
    version: str,
    level: str,
    split: str,
) -> list[WorkloadErrorRow]:
    """Return the mean errors by target and program of the evaluation part. names: program name by design."""
    errors: dict[tuple[str, str], list[float]] = defaultdict(list)
    for p in predictions:
        if p.part == EVALUATION:
            errors[p.target, names[p.design_id]].append(abs(p.predicted / p.actual - 1.0))
    return [
        WorkloadErrorRow(
            predictor=predictor,
            version=version,
            level=level,
            target=target,
            split=split,
            workload=workload,
            value=float(np.mean(own)),
            row_count=len(own),
        )
        for (target, workload), own in sorted(errors.items())
    ]


def _defined(figure: float) -> float | None:
    return None if math.isnan(figure) else figure
