"""Distributions of labels by stage, and how well estimates before synthesis agree with what it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pipelines.reports.measures import (
    LogHistogram,
    Quantiles,
    log_histogram,
    log_range,
    present,
    quantiles_of,
)
from pipelines.reports.samples import LABELS, Quantity, Samples
from pipelines.reports.tables import FloatArray

BINS = 36
ESTIMATES = (
    ("area", Quantity(column="estimated_area_um2", title="Estimated area", unit="µm²"), LABELS[0]),
    ("path", Quantity(column="critical_path_ns", title="Estimated longest path", unit="ns"), LABELS[3]),
)
"""Name, estimate, and the label it foretells."""

WITHIN = (0.10, 0.25)
"""Deviations whose share is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageDistribution:
    """One label of one stage's designs.

    Attributes:
        histogram: over the bins that all stages share; None when no value is positive.
        zero_count: values that are not positive and have no place on a logarithmic axis.
    """

    stage: str
    quantiles: Quantiles
    histogram: LogHistogram | None
    zero_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A label by stage; designs that are ok."""

    quantity: Quantity
    stages: tuple[StageDistribution, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Estimate over measurement less one, as a fraction.

    Attributes:
        within: share of the designs whose deviation is at most that of WITHIN, up or down.
    """

    stage: str
    quantiles: Quantiles
    within: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateComparison:
    """Estimated against measured, design by design.

    Attributes:
        points: (stage, measured, estimated) values, both positive, arrays of one length.
        deviations: by stage, all stages first.
    """

    name: str
    estimate: Quantity
    label: Quantity
    points: tuple[tuple[str, FloatArray, FloatArray], ...]
    deviations: tuple[Deviation, ...]


def label_distributions(designs: Samples) -> list[Distribution]:
    """The distribution of every label that some design has."""
    found: list[Distribution] = []
    for quantity in (q for q in LABELS if designs.has(q)):
        made = distribution(quantity, _by_stage(designs, quantity))
        if made.stages:
            found.append(made)
    return found


def distribution(quantity: Quantity, samples: Mapping[str, FloatArray]) -> Distribution:
    """The distribution of finite values by stage, on bins they share; stages without a value are left out."""
    kept = [(stage, values) for stage, values in samples.items() if values.size]
    span = log_range([values for _, values in kept])
    stages = tuple(_stage_distribution(stage, values, span) for stage, values in kept)
    return Distribution(quantity=quantity, stages=stages)


def _by_stage(designs: Samples, quantity: Quantity) -> dict[str, FloatArray]:
    """Finite values of designs that are ok, by stage in the order of the page."""
    result: dict[str, FloatArray] = {}
    for stage in designs.stage_names():
        keep = [s == stage and ok for s, ok in zip(designs.stages, designs.is_ok, strict=True)]
        result[stage] = present(designs.of(quantity, keep))
    return result


def _stage_distribution(
    stage: str, values: FloatArray, span: tuple[float, float] | None
) -> StageDistribution:
    quantiles = quantiles_of(values)
    positive = bool((values > 0).any())
    histogram = log_histogram(values, *span, bins=BINS) if span is not None and positive else None
    return StageDistribution(
        stage=stage, quantiles=quantiles, histogram=histogram, zero_count=int((values <= 0).sum())
    )


def compare_estimates(designs: Samples) -> list[EstimateComparison]:
    """Estimates of high-level synthesis against labels, where designs have both."""
    found: list[EstimateComparison] = []
    for name, estimate, label in ESTIMATES:
        if not (designs.has(estimate) and designs.has(label)):
            continue
        guessed, measured = designs.of(estimate), designs.of(label)
        usable = np.array(designs.is_ok, dtype=np.bool_) & (guessed > 0) & (measured > 0)
        stages = np.array(designs.stages, dtype=np.str_)
        points = tuple(
            (stage, measured[usable & (stages == stage)], guessed[usable & (stages == stage)])
            for stage in designs.stage_names()
            if bool((usable & (stages == stage)).any())
        )
        if points:
            everything = ("all", measured[usable], guessed[usable])
            groups = [everything, *points] if len(points) > 1 else [everything]
            deviations = tuple(_deviation(*group) for group in groups)
            found.append(
                EstimateComparison(
                    name=name, estimate=estimate, label=label, points=points, deviations=deviations
                )
            )
    return found


def _deviation(stage: str, measured: FloatArray, estimated: FloatArray) -> Deviation:
    fractions = estimated / measured - 1.0
    within = tuple(float((np.abs(fractions) <= limit).mean()) for limit in WITHIN)
    return Deviation(stage=stage, quantiles=quantiles_of(fractions), within=within)
