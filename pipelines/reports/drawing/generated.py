"""What each stage of generation gave: a section of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pipelines.reports.content import Report
from pipelines.reports.drawing.histograms import slug
from pipelines.reports.drawing.markup import Element, element
from pipelines.reports.drawing.sections import note, panel, section
from pipelines.reports.drawing.strips import depth_chart, range_chart
from pipelines.reports.drawing.tabulation import TEXT, Cell, Column, tabulate
from pipelines.reports.drawing.wording import NOTHING, count, figure, percent, plural
from pipelines.reports.generation import LOGARITHMIC, SHARES, Generation


def generation(report: Report) -> Element:
    """Programs asked and generated, and their distributions by stage against the evaluation programs."""
    found, title = report.generation, "Generation"
    if found is None:
        return section("generation", title, note("These tables hold no report on the stages of generation."))
    charts = [
        panel(
            quantity.title,
            quantity.unit,
            range_chart(
                f"range-{slug(quantity.column)}",
                f"{quantity.title} by stage",
                spreads,
                logarithmic=quantity.column in LOGARITHMIC,
                as_percent=quantity.column in SHARES,
            ),
        )
        for quantity, spreads in found.spreads
    ]
    depths = panel("Deepest loop", "share of programs", depth_chart(found.depths)) if found.depths else None
    return section(
        "generation",
        title,
        _outcomes(found),
        note(
            "Thin lines run from the 5th to the 95th percentile of a stage's programs, bars over the middle "
            "half, the dot is the median. The distance is the area between a stage's distribution and that "
            "of the evaluation programs, over the range of both: 0 for equal ones."
        ),
        element("div", depths, charts, class_="panels"),
        element(
            "div",
            _kinds("Kinds of operations, mean share in a program", found, found.kinds, "operations"),
            _kinds("Operators, programs that have each", found, found.operators, "operators"),
            class_="columns",
        ),
    )


def _outcomes(found: Generation) -> Element:
    compared = sorted({measure for _, measure in found.distances})
    statuses = sorted({status for o in found.outcomes for status in o.failed})
    rows = [
        (
            Cell(shown=o.stage, key=f"stage-{slug(o.stage)}"),
            Cell(shown=count(o.asked), sort=o.asked),
            Cell(shown=count(o.ok), sort=o.ok),
            *(Cell(shown=count(o.failed.get(s, 0)), sort=o.failed.get(s, 0)) for s in statuses),
            Cell(shown=count(o.duplicates), sort=o.duplicates),
            *(
                NOTHING if v is None else Cell(shown=figure(v), sort=v)
                for v in (found.distances.get((o.stage, measure)) for measure in compared)
            ),
        )
        for o in found.outcomes
    ]
    columns = [
        Column(title="Stage", kind=TEXT),
        *(Column(title=t) for t in ("Asked", "Ok", *(s.replace("_", " ").capitalize() for s in statuses))),
        Column(title="Duplicates"),
        *(Column(title=f"Distance of {measure}") for measure in compared),
    ]
    caption = "Programs of each stage"
    caption += "; distances to the evaluation programs are total variations, 0 to 1" if compared else ""
    return tabulate(caption, columns, rows)


def _kinds(
    caption: str, found: Generation, rows: Sequence[tuple[str, Mapping[str, float]]], measure: str
) -> Element | None:
    """A row a kind, a column a stage."""
    if not rows:
        return None
    stages = [s for s in found.stages if any(s in values for _, values in rows)]
    is_share = measure == "operations"
    cells = [(name, *(_amount(values.get(s), is_share=is_share) for s in stages)) for name, values in rows]
    columns = [Column(title="Kind", kind=TEXT), *(Column(title=s) for s in stages)]
    hidden = found.hidden_kinds if measure == "operations" else found.hidden_operators
    more = note(f"And {plural(hidden, 'rarer one')}.") if hidden else None
    return element("div", tabulate(caption, columns, cells), more)


def _amount(value: float | None, *, is_share: bool) -> Cell:
    if value is None or not math.isfinite(value):
        return Cell(shown=NOTHING, sort=0.0)
    return Cell(shown=percent(value) if is_share else count(int(value)), sort=value)
