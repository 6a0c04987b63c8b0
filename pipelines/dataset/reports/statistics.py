"""Distributions of labels by stage, estimates against labels, and rank correlations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from pipelines.dataset.reports.samples import (
    DESIGN_FEATURES,
    LABELS,
    PROGRAM_FEATURES,
    Quantity,
    finite_values,
    in_stage_order,
)
from pipelines.dataset.reports.tables import ReportError, finite

NARROW_SPAN = 1.25
"""A logarithmic axis reaches at least this far beyond the data to both sides, as a factor of their root."""

BINS = 36
ESTIMATES = (
    ("area", Quantity(column="estimated_area_um2", title="Estimated area", unit="µm²"), LABELS[0]),
    ("path", Quantity(column="critical_path_ns", title="Estimated longest path", unit="ns"), LABELS[3]),
)
"""Name, estimate, and the label that it estimates."""

WITHIN = (0.10, 0.25)
"""The page says which share of the designs deviates by at most these fractions."""

_LEVELS = {"minimum": 0.0, "p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "maximum": 1.0}


# ---- quantiles and histograms ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Where the finite values of a sample lie; percentiles interpolate linearly."""

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
        shares: of the positive values, one per bin; their sum is 1.
    """

    low: float
    high: float
    shares: tuple[float, ...]


def quantiles(values: pl.Expr) -> pl.Expr:
    """Return the fields of `Quantiles` as a struct, null where there is no finite value."""
    known = values.filter(values.is_finite())
    levels = [known.quantile(level, "linear").alias(name) for name, level in _LEVELS.items()]
    return pl.struct(known.len().alias("count"), *levels)


def quantiles_of(values: pl.Series) -> Quantiles:
    """Return the quantiles of the finite values.

    Raises: ReportError: there is none.
    """
    row = pl.DataFrame({"v": values}).select(quantiles(pl.col("v"))).item()
    if not row["count"]:
        raise ReportError(f"a sample must have a finite value, got {values.len()} without one")
    return Quantiles(**row)


def log_range(samples: Sequence[pl.Series]) -> tuple[float, float] | None:
    """Return ends of a logarithmic axis for the positive values of all samples; None when there is none."""
    positive = pl.concat([_positive(s) for s in samples]) if samples else pl.Series(dtype=pl.Float64)
    if positive.is_empty():
        return None
    low, high = float(positive.min()), float(positive.max())  # pyright: ignore[reportArgumentType]
    if high / low < NARROW_SPAN**2:
        middle = math.sqrt(low * high)
        return middle / NARROW_SPAN, middle * NARROW_SPAN
    return low, high


def log_histogram(values: pl.Series, low: float, high: float, bins: int) -> LogHistogram:
    """Return the shares of the positive values in bins of equal ratio from low to high."""
    positive = _positive(values)
    width = math.log(high / low) / bins
    places = ((positive / low).log() / width).floor().clip(0, bins - 1).cast(pl.Int64)
    counts = dict(places.value_counts().iter_rows())
    total = max(positive.len(), 1)
    return LogHistogram(low=low, high=high, shares=tuple(counts.get(k, 0) / total for k in range(bins)))


def _positive(values: pl.Series) -> pl.Series:
    return values.filter(values.is_finite() & (values > 0)).cast(pl.Float64)


# ---- distributions ---------------------------------------------------------------------------------


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


def label_distributions(designs: pl.DataFrame) -> list[Distribution]:
    """Return the distribution of every label that some design has."""
    stages = in_stage_order(designs["stage"])
    ok = designs.filter("is_ok")
    by_stage = {stage: ok.filter(pl.col("stage") == stage) for stage in stages}
    distributions = [
        distribution(label, {stage: finite_values(own, label) for stage, own in by_stage.items()})
        for label in LABELS
        if label.is_in(designs)
    ]
    return [d for d in distributions if d.stages]


def distribution(quantity: Quantity, samples: Mapping[str, pl.Series]) -> Distribution:
    """Return distribution of finite values by stage, on shared bins; stages without values are left out."""
    kept = [(stage, values) for stage, values in samples.items() if values.len()]
    span = log_range([values for _, values in kept])
    stages = tuple(_stage_distribution(stage, values, span) for stage, values in kept)
    return Distribution(quantity=quantity, stages=stages)


def _stage_distribution(stage: str, values: pl.Series, span: tuple[float, float] | None) -> StageDistribution:
    zero_count = int((values <= 0).sum())
    histogram = log_histogram(values, *span, bins=BINS) if span and zero_count < values.len() else None
    return StageDistribution(
        stage=stage, quantiles=quantiles_of(values), histogram=histogram, zero_count=zero_count
    )


# ---- estimates -------------------------------------------------------------------------------------


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
        points: (stage, measured, estimated) values, both positive, of one length.
        deviations: by stage, all stages first.
    """

    name: str
    estimate: Quantity
    label: Quantity
    points: tuple[tuple[str, pl.Series, pl.Series], ...]
    deviations: tuple[Deviation, ...]


def compare_estimates(designs: pl.DataFrame) -> list[EstimateComparison]:
    """Return the estimates of high-level synthesis against labels, where designs have both."""
    comparisons: list[EstimateComparison] = []
    for name, estimate, label in ESTIMATES:
        if not (estimate.is_in(designs) and label.is_in(designs)):
            continue
        pairs = designs.filter("is_ok").select("stage", measured=label.values(), estimated=estimate.values())
        pairs = pairs.filter((pl.col("measured") > 0) & (pl.col("estimated") > 0))
        if pairs.is_empty():
            continue
        points = [(s, pairs.filter(pl.col("stage") == s)) for s in in_stage_order(pairs["stage"])]
        groups = [("all", pairs), *points] if len(points) > 1 else [("all", pairs)]
        comparisons.append(
            EstimateComparison(
                name=name,
                estimate=estimate,
                label=label,
                points=tuple((stage, own["measured"], own["estimated"]) for stage, own in points),
                deviations=tuple(_deviation(stage, own) for stage, own in groups),
            )
        )
    return comparisons


def _deviation(stage: str, pairs: pl.DataFrame) -> Deviation:
    fractions = pairs["estimated"] / pairs["measured"] - 1.0
    within = tuple(float((fractions.abs() <= limit).sum() / fractions.len()) for limit in WITHIN)
    return Deviation(stage=stage, quantiles=quantiles_of(fractions), within=within)


# ---- correlations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationRow:
    """One column against all labels.

    Attributes:
        group: labels, design or program.
        values: Spearman's coefficient by label, None where there is none.
    """

    group: str
    quantity: Quantity
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlations:
    """Spearman's coefficients over the designs that are ok."""

    labels: tuple[Quantity, ...]
    rows: tuple[CorrelationRow, ...]
    design_count: int


def spearman(one: pl.Expr, other: pl.Expr) -> pl.Expr:
    """Return Spearman's rank correlation over the rows where both columns have a finite value.

    Returns: -1 to 1; null below three such rows or when a side is constant.
    Source:  Spearman 1904; ties by mean ranks, Pearson's coefficient of the ranks.
    """
    both = one.is_finite() & other.is_finite()
    coefficient = pl.corr(one.filter(both), other.filter(both), method="spearman")
    return finite(pl.when(both.sum() >= 3).then(coefficient))


def correlate(designs: pl.DataFrame) -> Correlations | None:
    """Correlate every label and feature that designs have; None when fewer than three designs are ok."""
    labels = [q for q in LABELS if q.is_in(designs)]
    ok = designs.filter("is_ok")
    if ok.height < 3 or not labels:
        return None
    groups = (("labels", LABELS), ("design", DESIGN_FEATURES), ("program", PROGRAM_FEATURES))
    known = [(group, q) for group, quantities in groups for q in quantities if q.is_in(designs)]
    coefficients = ok.select(
        spearman(pl.col(q.column), pl.col(label.column)).alias(f"{q.column} {label.column}")
        for _, q in known
        for label in labels
    ).row(0, named=True)
    rows = [
        CorrelationRow(
            group=group,
            quantity=quantity,
            values=tuple(coefficients[f"{quantity.column} {label.column}"] for label in labels),
        )
        for group, quantity in known
    ]
    return Correlations(labels=tuple(labels), rows=tuple(rows), design_count=ok.height)
