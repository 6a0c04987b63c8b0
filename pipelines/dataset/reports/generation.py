"""Programs by stage of generation, and their distributions against the evaluation programs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.base.summation import ordered_sum
from pipelines.dataset.reports.samples import Quantity, in_stage_order
from pipelines.dataset.reports.statistics import Quantiles
from pipelines.dataset.reports.tables import TableSet

MEASURES = (
    Quantity(column="loop_depth", title="Loop depth"),
    Quantity(column="array_operation_share", title="Share of array operations"),
    Quantity(column="source_lines", title="Length", unit="lines"),
    Quantity(column="source_tokens", title="Length", unit="tokens"),
    Quantity(column="loop_count", title="Loops"),
    Quantity(column="operator_count", title="Operators of the graph"),
)
LOGARITHMIC = ("source_lines", "source_tokens", "loop_count", "operator_count")
SHARES = ("array_operation_share",)
KINDS_SHOWN = 24
LEADERS = 8
"""Commonest operators of each stage that are shown: stages hardly share any."""

Figures = Mapping[tuple[str, str, str], float]
"""Value by (measure, statistic, bin)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Programs of a stage.

    Attributes:
        asked: rows of any status. ok: programs that can be used.
        duplicates: ok programs whose normalised syntax tree another one has.
        failed: by status.
    """

    stage: str
    asked: int
    ok: int
    duplicates: int
    failed: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A measure over the programs of a stage.

    Attributes:
        distance: from the evaluation programs' distribution, as the table defines it; None where it has none.
    """

    stage: str
    quantiles: Quantiles
    mean: float
    distance: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The report on generation.

    Attributes:
        spreads: by measure in the order of MEASURES, each by stage.
        depths: share of a stage's programs by loop depth from 0.
        kinds: the KINDS_SHOWN commonest kinds of operations with their mean share by stage.
        operators: names of the LEADERS commonest operators of each stage, with programs by stage.
        hidden_kinds, hidden_operators: how many more there are.
        distances: of kinds and of operators from the evaluation programs, by stage.
    """

    stages: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    spreads: tuple[tuple[Quantity, tuple[Spread, ...]], ...]
    depths: Mapping[str, tuple[float, ...]]
    kinds: tuple[tuple[str, Mapping[str, float]], ...]
    operators: tuple[tuple[str, Mapping[str, float]], ...]
    hidden_kinds: int
    hidden_operators: int
    distances: Mapping[tuple[str, str], float]


def read_generation(tables: TableSet) -> Generation | None:
    """Read the figures of `stage_reports`; None when there are none."""
    by_stage = _by_stage(tables)
    if not by_stage:
        return None
    stages = in_stage_order(by_stage)
    spreads = [
        (quantity, tuple(s for stage in stages for s in _spread(stage, by_stage[stage], quantity.column)))
        for quantity in MEASURES
    ]
    kinds = _commonest(by_stage, "operations", "share")
    operators = _commonest(by_stage, "operators", "count")
    shown = [entry for entry in operators if _leads(entry[0], operators)]
    return Generation(
        stages=tuple(stages),
        outcomes=tuple(_outcome(stage, by_stage[stage]) for stage in stages),
        spreads=tuple((quantity, own) for quantity, own in spreads if own),
        depths={stage: depths for stage in stages for depths in [_depths(by_stage[stage])] if depths},
        kinds=tuple(kinds[:KINDS_SHOWN]),
        operators=tuple(shown),
        hidden_kinds=max(0, len(kinds) - KINDS_SHOWN),
        hidden_operators=len(operators) - len(shown),
        distances={
            (stage, measure): figures[measure, "distance", "total_variation"]
            for stage, figures in by_stage.items()
            for measure in ("operations", "operators")
            if (measure, "distance", "total_variation") in figures
        },
    )


def _by_stage(tables: TableSet) -> dict[str, dict[tuple[str, str, str], float]]:
    rows = tables.scan("stage_reports", texts=("stage", "measure", "statistic", "bin"), numbers=("value",))
    by_stage: dict[str, dict[tuple[str, str, str], float]] = {}
    for stage, measure, statistic, label, value in rows.drop("row").collect().iter_rows():
        by_stage.setdefault(stage, {})[measure, statistic, label] = math.nan if value is None else value
    return by_stage


def _outcome(stage: str, figures: Figures) -> Outcome:
    counts = {
        label: _whole(value)
        for (measure, statistic, label), value in figures.items()
        if (measure, statistic) == ("programs", "count")
    }
    known = ("asked", "ok", "duplicate")
    return Outcome(
        stage=stage,
        asked=counts.get("asked", 0),
        ok=counts.get("ok", 0),
        duplicates=counts.get("duplicate", 0),
        failed={label: value for label, value in sorted(counts.items()) if label not in known},
    )


def _whole(figure: float) -> int:
    return int(figure) if math.isfinite(figure) else 0


def _spread(stage: str, figures: Figures, measure: str) -> list[Spread]:
    """Return one spread, or none when the stage has no figures of the measure."""
    levels = ("0.00", "0.05", "0.25", "0.50", "0.75", "0.95", "1.00")
    at = [figures.get((measure, "quantile", level)) for level in levels]
    known = [value for value in at if value is not None and math.isfinite(value)]
    if len(known) < len(levels):
        return []
    low, p5, p25, median, p75, p95, high = known
    quantiles = Quantiles(
        count=_whole(figures.get((measure, "count", "programs"), 0.0)),
        minimum=low,
        p5=p5,
        p25=p25,
        median=median,
        p75=p75,
        p95=p95,
        maximum=high,
    )
    mean = figures.get((measure, "mean", "all"), float("nan"))
    distance = figures.get((measure, "distance", "wasserstein"))
    return [Spread(stage=stage, quantiles=quantiles, mean=mean, distance=distance)]


def _depths(figures: Figures) -> tuple[float, ...]:
    shares = {
        int(label): value
        for (measure, statistic, label), value in figures.items()
        if (measure, statistic) == ("loop_depth", "share") and label.isdecimal()
    }
    return tuple(shares.get(depth, 0.0) for depth in range(max(shares, default=-1) + 1))


def _commonest(
    by_stage: Mapping[str, Figures], measure: str, statistic: str
) -> list[tuple[str, Mapping[str, float]]]:
    """Return the bins with their value by stage, the greatest sum first."""
    bins: dict[str, dict[str, float]] = {}
    for stage, figures in by_stage.items():
        for (of, how, label), value in figures.items():
            if (of, how) == (measure, statistic):
                bins.setdefault(label, {})[stage] = value
    return sorted(bins.items(), key=lambda entry: (-ordered_sum(entry[1].values()), entry[0]))


def _leads(name: str, operators: Sequence[tuple[str, Mapping[str, float]]]) -> bool:
    """Tell whether an operator is among the commonest of some stage."""
    own = dict(operators)[name]
    return any(
        sum(other.get(stage, 0.0) > value for _, other in operators) < LEADERS for stage, value in own.items()
    )
