"""Sections of grouped rows: charts of ranges, and tables."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.dataset.reports.drawing.charts import range_chart
from pipelines.dataset.reports.drawing.markup import (
    NOTHING,
    TEXT,
    Cell,
    Column,
    Element,
    coefficient,
    count,
    deviation,
    element,
    figure,
    note,
    panel,
    percent,
    plural,
    section,
    slug,
    tabulate,
)
from pipelines.dataset.reports.grouped import (
    COEFFICIENT,
    COUNT,
    DEVIATION,
    FIGURE,
    SHARE,
    GroupRows,
    GroupSpreads,
    SectionFigures,
)

_WRITTEN: dict[str, Callable[[float], str]] = {
    COUNT: lambda value: count(round(value)),
    FIGURE: figure,
    SHARE: percent,
    DEVIATION: deviation,
    COEFFICIENT: coefficient,
}


def grouped(figures: SectionFigures) -> Element:
    """Draw a section of grouped rows."""
    charts = [_chart(figures.name, chart) for chart in figures.charts]
    return section(
        figures.name,
        figures.title,
        note(figures.words),
        element("div", charts, class_="panels") if charts else None,
        *(_table(table) for table in figures.tables),
    )


def _chart(name: str, chart: GroupSpreads) -> Element:
    drawn = range_chart(
        f"{name}-{slug(chart.title)}",
        f"{chart.title}{f' in {chart.unit}' if chart.unit else ''} by group",
        chart.spreads,
        logarithmic=not chart.is_share,
        as_percent=chart.is_share,
        begin=min(spread.quantiles.p5 for spread in chart.spreads) if not chart.is_share else None,
    )
    return panel(chart.title, chart.unit, drawn)


def _table(table: GroupRows) -> list[Element]:
    columns = [
        *(Column(title=title, kind=TEXT) for title in table.titles),
        *(Column(title=title) for title, _ in table.columns),
    ]
    kinds = [kind for _, kind in table.columns]
    rows = [
        (*keys, *(_cell(number, kind) for number, kind in zip(numbers, kinds, strict=True)))
        for keys, numbers in table.rows
    ]
    more = [note(f"And {plural(table.hidden, 'more group')}.")] if table.hidden else []
    return [tabulate(table.caption, columns, rows), *more]


def _cell(number: float | None, kind: str) -> Cell:
    if number is None:
        return Cell(shown=NOTHING)
    return Cell(shown=_WRITTEN[kind](number), sort=number)
