"""Sections on rows, labels, estimates, correlations, failures, generation and records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pipelines.dataset.records import PromptLengths
from pipelines.dataset.reports.drawing.axes import legend
from pipelines.dataset.reports.drawing.charts import (
    depth_chart,
    estimate_chart,
    histogram_chart,
    range_chart,
    status_chart,
)
from pipelines.dataset.reports.drawing.markup import (
    NOTHING,
    PROSE,
    TEXT,
    Cell,
    Column,
    Element,
    Value,
    coefficient,
    count,
    element,
    figure,
    heat_row,
    heat_table,
    note,
    panel,
    percent,
    plural,
    section,
    signed_percent,
    slug,
    tabulate,
)
from pipelines.dataset.reports.generation import LOGARITHMIC, SHARES, Generation
from pipelines.dataset.reports.inventory import ATTEMPT_TABLES, REASONS_SHOWN, Inventory, SuiteCount
from pipelines.dataset.reports.statistics import (
    WITHIN,
    CorrelationRow,
    Correlations,
    Distribution,
    EstimateComparison,
)
from pipelines.schemas import OK, STATUSES

GROUP_TITLES = {"labels": "Labels", "design": "Of the design", "program": "Of the program"}


def row_counts(inventory: Inventory, problems: Sequence[str]) -> Element:
    """Return the rows by table, by suite and stage; versions; files that cannot be read."""
    tables = tabulate(
        "Rows of each table",
        [Column(title="Table", kind=TEXT), Column(title="Rows"), Column(title="One row is", kind=PROSE)],
        [(t.table, Cell(shown=count(t.rows), sort=t.rows), t.meaning) for t in inventory.tables],
    )
    names = [n for n in ATTEMPT_TABLES if any(n in s.counts for s in inventory.suites)]
    suites = tabulate(
        "Rows by suite: ok, and of how many when some failed",
        [Column(title="Suite", kind=TEXT), Column(title="Stage", kind=TEXT)]
        + [Column(title=n.capitalize()) for n in names],
        [_suite_row(s, names) for s in inventory.suites],
    )
    versions = tabulate(
        "Tools and their versions",
        [
            Column(title="Tool", kind=TEXT),
            Column(title="Version", kind=TEXT),
            Column(title="Table", kind=TEXT),
            Column(title="Rows"),
        ],
        [(v.tool, v.version, v.table, Cell(shown=count(v.rows), sort=v.rows)) for v in inventory.versions],
    )
    listed = element("ul", [element("li", p) for p in problems], class_="problems")
    damaged = [element("p", "Files that could not be read and are left out:"), listed]
    return section(
        "made",
        "What was made",
        damaged if problems else None,
        suites,
        element("div", tables, versions, class_="columns"),
    )


def _suite_row(suite: SuiteCount, names: Sequence[str]) -> list[Value]:
    row: list[Value] = [suite.suite, Cell(shown=suite.stage, key=f"stage-{slug(suite.stage)}")]
    for name in names:
        ok, total = suite.counts.get(name, (0, 0))
        shown = NOTHING if not total else count(ok) if ok == total else f"{count(ok)} of {count(total)}"
        row.append(Cell(shown=shown, sort=ok))
    return row


def labels(distributions: Sequence[Distribution]) -> Element:
    """Draw the distributions of labels by stage."""
    panels = [distribution_panel(d) for d in distributions]
    if not panels:
        return section("labels", "Labels", note("No design is fully labelled yet."))
    return section(
        "labels",
        "Labels",
        note(
            "Designs whose synthesis, simulation and comparison with native C are all ok. Bars are shares of "
            "a stage, each stage on its own height; under them the line runs from the 5th to the 95th "
            "percentile, and the dot is the median. A design with several data sets counts once, by "
            "their median."
        ),
        element("div", panels, class_="panels"),
    )


def distribution_panel(distribution: Distribution, *remarks: Element) -> Element:
    """Draw one histogram per stage, their quantiles, and remarks below."""
    quantity = distribution.quantity
    rows = [
        (
            Cell(shown=s.stage, key=f"stage-{slug(s.stage)}"),
            *(
                Cell(shown=figure(v), sort=v)
                for v in (s.quantiles.p5, s.quantiles.median, s.quantiles.p95, s.quantiles.maximum)
            ),
        )
        for s in distribution.stages
    ]
    titles = [Column(title=t) for t in ("5 %", "Median", "95 %", "Max")]
    zeros = sum(s.zero_count for s in distribution.stages)
    return panel(
        quantity.title,
        quantity.unit,
        histogram_chart(distribution),
        tabulate(
            f"{quantity.title} by stage", [Column(title="Stage", kind=TEXT), *titles], rows, sortable=False
        ),
        note(f"{plural(zeros, 'value')} of zero not drawn.") if zeros else None,
        remarks,
    )


def estimates(comparisons: Sequence[EstimateComparison]) -> Element:
    """Return the estimates of high-level synthesis against the results of logic synthesis."""
    title = "Estimated against measured"
    if not comparisons:
        return section("estimates", title, note("No design has both an estimate and a label."))
    stages = list(dict.fromkeys(stage for e in comparisons for stage, _, _ in e.points))
    return section(
        "estimates",
        title,
        note(
            "Estimates are made before logic synthesis. On the diagonal the estimate is right; the band is "
            "25 % to both sides. A deviation is estimate over measurement less one."
        ),
        legend([(f"stage-{slug(s)}", s) for s in stages]),
        element("div", [_estimate_panel(e) for e in comparisons], class_="panels two"),
    )


def _estimate_panel(comparison: EstimateComparison) -> Element:
    rows = [
        (
            Cell(shown=d.stage, key=None if d.stage == "all" else f"stage-{slug(d.stage)}"),
            *(
                Cell(shown=signed_percent(v), sort=v)
                for v in (d.quantiles.p5, d.quantiles.median, d.quantiles.p95)
            ),
            *(Cell(shown=percent(v), sort=v) for v in d.within),
        )
        for d in comparison.deviations
    ]
    titles = ("5 %", "Median", "95 %", *(f"±{limit:.0%}".replace("%", " %") for limit in WITHIN))
    return panel(
        comparison.estimate.title,
        comparison.estimate.unit,
        estimate_chart(comparison),
        tabulate(
            "Deviation: quantiles, and the share of designs within 10 and 25 %",
            [Column(title="Stage", kind=TEXT), *(Column(title=t) for t in titles)],
            rows,
            sortable=False,
        ),
    )


def correlations(correlations: Correlations | None) -> Element:
    """Draw rank correlations as a table of shades."""
    if correlations is None:
        return section("correlations", "Correlations", note("Fewer than three designs are fully labelled."))
    return section(
        "correlations",
        "Correlations",
        note(
            f"Spearman's rank correlation over {plural(correlations.design_count, 'fully labelled design')}: "
            "of labels with each other and with what is known before synthesis. Blue rises with the label, "
            "orange falls; a dash stands where one side never changes."
        ),
        _heat_map(correlations),
    )


def _heat_map(correlations: Correlations) -> Element:
    groups = [
        (title, [_heat_row(row) for row in correlations.rows if row.group == group])
        for group, title in GROUP_TITLES.items()
    ]
    return heat_table(
        "Spearman's rank correlation with each label",
        [label.title for label in correlations.labels],
        [(title, rows) for title, rows in groups if rows],
        class_="table narrow",
    )


def _heat_row(row: CorrelationRow) -> Element:
    return heat_row(row.quantity.title, [(coefficient(value), value) for value in row.values])


def failures(inventory: Inventory) -> Element:
    """Return the statuses by table and stage, and the commonest reasons."""
    shown = inventory.reasons[:REASONS_SHOWN]
    failed = sum(s.total - s.counts[OK] for s in inventory.statuses)
    table = tabulate(
        "Reasons of failed rows; reasons that differ in numbers only are one, shown by its first",
        [
            Column(title="Table", kind=TEXT),
            Column(title="Stage", kind=TEXT),
            Column(title="Status", kind=TEXT),
            Column(title="Rows"),
            Column(title="Reason", kind=PROSE),
        ],
        [
            (
                r.table,
                Cell(shown=r.stage, key=f"stage-{slug(r.stage)}"),
                Cell(shown=r.status, key=f"status-{slug(r.status)}"),
                Cell(shown=count(r.rows), sort=r.rows),
                r.reason,
            )
            for r in shown
        ],
    )
    hidden = len(inventory.reasons) - len(shown)
    charts = [
        panel(name.capitalize().replace("_", " "), "", status_chart(name, statuses))
        for name in dict.fromkeys(s.table for s in inventory.statuses)
        for statuses in [[s for s in inventory.statuses if s.table == name]]
        if statuses
    ]
    return section(
        "failures",
        "Failures",
        note("An attempt that failed is a row with its status and reason; nothing is dropped."),
        legend([(f"status-{slug(s)}", s.replace("_", " ")) for s in STATUSES]),
        element("div", charts, class_="panels"),
        table if failed else element("p", "No row failed."),
        note(f"And {plural(hidden, 'more reason')}.") if hidden > 0 else None,
    )


# ---- generation ------------------------------------------------------------------------------------


def generation(generation: Generation | None) -> Element:
    """Draw programs requested and generated, and their distributions by stage against evaluation programs."""
    title = "Generation"
    if generation is None:
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
        for quantity, spreads in generation.spreads
    ]
    depths = (
        panel("Deepest loop", "share of programs", depth_chart(generation.depths))
        if generation.depths
        else None
    )
    return section(
        "generation",
        title,
        _outcomes(generation),
        note(
            "Thin lines run from the 5th to the 95th percentile of a stage's programs, bars over the middle "
            "half, the dot is the median. The distance is the area between a stage's distribution and that "
            "of the evaluation programs, over the range of both: 0 for equal ones."
        ),
        element("div", depths, charts, class_="panels"),
        element(
            "div",
            _kinds(
                "Kinds of operations, mean share in a program", generation, generation.kinds, "operations"
            ),
            _kinds("Operators, programs that have each", generation, generation.operators, "operators"),
            class_="columns",
        ),
    )


def records(lengths: Sequence[PromptLengths]) -> Element:
    """Return the lengths of the prompts of records, by format, stage and part."""
    columns = [
        *(Column(title=t, kind=TEXT) for t in ("Format", "Stage", "Part")),
        *(Column(title=t) for t in ("Records", "5 %", "Median", "95 %", "Maximum", "Left out")),
    ]
    rows = [
        (
            of.format.replace("_", " "),
            of.stage,
            of.part.replace("_", " "),
            Cell(shown=count(of.records), sort=of.records),
            *(Cell(shown=count(round(v)), sort=v) for v in (of.p5, of.median, of.p95)),
            Cell(shown=count(of.maximum), sort=of.maximum),
            Cell(shown=count(of.left_out), sort=of.left_out),
        )
        for of in lengths
    ]
    return section(
        "records",
        "Records",
        tabulate("Characters of prompts", columns, rows),
        note("Left out: records that lack elements, comments or bodies because of the context limit."),
    )


def _outcomes(generation: Generation) -> Element:
    compared = sorted({measure for _, measure in generation.distances})
    statuses = sorted({status for o in generation.outcomes for status in o.failed})
    rows = [
        (
            Cell(shown=o.stage, key=f"stage-{slug(o.stage)}"),
            Cell(shown=count(o.asked), sort=o.asked),
            Cell(shown=count(o.ok), sort=o.ok),
            *(Cell(shown=count(o.failed.get(s, 0)), sort=o.failed.get(s, 0)) for s in statuses),
            Cell(shown=count(o.duplicates), sort=o.duplicates),
            *(
                NOTHING if v is None else Cell(shown=figure(v), sort=v)
                for v in (generation.distances.get((o.stage, measure)) for measure in compared)
            ),
        )
        for o in generation.outcomes
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
    caption: str, generation: Generation, rows: Sequence[tuple[str, Mapping[str, float]]], measure: str
) -> Element | None:
    """Draw one row per kind, one column per stage."""
    if not rows:
        return None
    stages = [s for s in generation.stages if any(s in values for _, values in rows)]
    is_share = measure == "operations"
    cells = [(name, *(_amount(values.get(s), is_share=is_share) for s in stages)) for name, values in rows]
    columns = [Column(title="Kind", kind=TEXT), *(Column(title=s) for s in stages)]
    hidden = generation.hidden_kinds if measure == "operations" else generation.hidden_operators
    more = note(f"And {plural(hidden, 'rarer one')}.") if hidden else None
    return element("div", tabulate(caption, columns, cells), more)


def _amount(value: float | None, *, is_share: bool) -> Cell:
    if value is None or not math.isfinite(value):
        return Cell(shown=NOTHING, sort=0.0)
    return Cell(shown=percent(value) if is_share else count(int(value)), sort=value)
