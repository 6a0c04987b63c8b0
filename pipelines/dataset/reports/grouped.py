"""Sections of grouped rows: a declaration per section, and the figures computed from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from pipelines.dataset.reports.generation import Spread
from pipelines.dataset.reports.statistics import Quantiles, quantiles
from pipelines.dataset.reports.tables import TableSet, finite

ROWS_SHOWN = 40
"""Most groups of one table on the page; the page says how many more there are."""

SPREADS_SHOWN = 16

COUNT, FIGURE, SHARE, DEVIATION, COEFFICIENT = "count", "figure", "share", "deviation", "coefficient"
"""How a number is written."""

Rows: TypeAlias = Callable[[TableSet], pl.LazyFrame]


# ---- declarations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A column of a table on the page: one number per group, null where there is none."""

    title: str
    value: pl.Expr
    kind: str = FIGURE


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedTable:
    """A table on the page. rows: of all groups. keys: title on the page by column that groups them."""

    caption: str
    rows: Rows
    keys: Mapping[str, str]
    measures: Sequence[Measure]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeChart:
    """A chart of the distribution of a value by group, on a logarithmic axis unless it is a share."""

    title: str
    unit: str
    rows: Rows
    key: str
    value: pl.Expr
    is_share: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedSection:
    """A section that is on the page where its rows are.

    Attributes:
        counted: rows that the section is about; the section is left out when there is none.
        tile: what these rows are, at the head of the page.
        words: sentences above the charts.
    """

    name: str
    title: str
    counted: Rows
    tile: str
    words: str
    charts: Sequence[RangeChart] = ()
    tables: Sequence[GroupedTable] = ()


def spread_measures(title: str, value: pl.Expr, kind: str = FIGURE) -> list[Measure]:
    """Return the 5th percentile, the median and the 95th percentile of a value."""
    levels = {"5 %": 0.05, "median": 0.5, "95 %": 0.95}
    known = value.drop_nulls()
    return [
        Measure(title=f"{title} {name}", value=known.quantile(level, "linear"), kind=kind)
        for name, level in levels.items()
    ]


# ---- figures ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRows:
    """The groups of a table. titles: of the keys. columns: (title, kind) of the numbers. hidden: groups."""

    caption: str
    titles: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[tuple[str, ...], tuple[float | None, ...]], ...]
    hidden: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpreads:
    """Distributions of a value by group."""

    title: str
    unit: str
    is_share: bool
    spreads: tuple[Spread, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFigures:
    """The figures of a section. count: rows that it is about."""

    name: str
    title: str
    tile: str
    count: int
    words: str
    charts: tuple[GroupSpreads, ...]
    tables: tuple[GroupRows, ...]


def read_sections(tables: TableSet, declared: Sequence[GroupedSection]) -> list[SectionFigures]:
    """Compute the sections whose tables have rows, in the order of their declarations."""
    counts = [(section, _height(section.counted(tables))) for section in declared]
    return [_section(tables, section, count) for section, count in counts if count]


def _height(rows: pl.LazyFrame) -> int:
    return rows.select(pl.len()).collect().item()


def _section(tables: TableSet, section: GroupedSection, count: int) -> SectionFigures:
    charts = [_spreads(tables, chart) for chart in section.charts]
    groups = [_groups(tables, table) for table in section.tables]
    return SectionFigures(
        name=section.name,
        title=section.title,
        tile=section.tile,
        count=count,
        words=section.words,
        charts=tuple(chart for chart in charts if chart.spreads),
        tables=tuple(table for table in groups if table.rows),
    )


def _groups(tables: TableSet, table: GroupedTable) -> GroupRows:
    keys = tuple(table.keys)
    values = [
        finite(measure.value.cast(pl.Float64)).alias(f"measure {n}")
        for n, measure in enumerate(table.measures)
    ]
    grouped = table.rows(tables).group_by(keys).agg(values).sort(keys).collect()
    rows = [(row[: len(keys)], row[len(keys) :]) for row in grouped.head(ROWS_SHOWN).iter_rows()]
    return GroupRows(
        caption=table.caption,
        titles=tuple(table.keys.values()),
        columns=tuple((measure.title, measure.kind) for measure in table.measures),
        rows=tuple((tuple(str(key) for key in group), numbers) for group, numbers in rows),
        hidden=max(0, grouped.height - ROWS_SHOWN),
    )


def _spreads(tables: TableSet, chart: RangeChart) -> GroupSpreads:
    """Return the distributions by group; values that are not positive have no place on a logarithmic axis."""
    value = pl.col("value")
    known = value.is_finite() if chart.is_share else value.is_finite() & (value > 0)
    rows = chart.rows(tables).select(key=pl.col(chart.key), value=chart.value.cast(pl.Float64)).filter(known)
    grouped = (
        rows.group_by("key")
        .agg(quantiles=quantiles(value), mean=value.sort().mean())
        .sort("key")
        .head(SPREADS_SHOWN)
        .collect()
    )
    spreads = [
        Spread(stage=str(key), quantiles=Quantiles(**at), mean=mean, distance=None)
        for key, at, mean in grouped.iter_rows()
    ]
    return GroupSpreads(title=chart.title, unit=chart.unit, is_share=chart.is_share, spreads=tuple(spreads))
