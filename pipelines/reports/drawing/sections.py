"""What was made: the first sections of the page, from rows to failures."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.reports.content import Report
from pipelines.reports.correlations import CorrelationRow, Correlations
from pipelines.reports.distributions import WITHIN, Distribution, EstimateComparison
from pipelines.reports.drawing.histograms import histogram_chart, slug
from pipelines.reports.drawing.marks import legend
from pipelines.reports.drawing.markup import Child, Element, element
from pipelines.reports.drawing.scatter import estimate_chart
from pipelines.reports.drawing.strips import status_chart
from pipelines.reports.drawing.tabulation import PROSE, TEXT, Cell, Column, Value, tabulate
from pipelines.reports.drawing.wording import (
    NOTHING,
    coefficient,
    count,
    figure,
    percent,
    plural,
    signed_percent,
)
from pipelines.reports.inventory import ATTEMPT_TABLES, REASONS_SHOWN, SuiteCount
from pipelines.schemas import OK, STATUSES

GROUP_TITLES = {"labels": "Labels", "design": "Of the design", "program": "Of the program"}


def section(name: str, title: str, *children: Child) -> Element:
    """A section with its heading; the navigation points to its name."""
    return element("section", element("h2", title, id=f"{name}-heading"), *children, id=name)


def note(*words: str) -> Element:
    """A paragraph that explains."""
    return element("p", *words, class_="note")


def panel(title: str, unit: str, *children: Child) -> Element:
    """A chart with its heading and what belongs to it."""
    heading = element("h3", title, element("span", f" {unit}", class_="unit") if unit else None)
    return element("article", heading, *children, class_="panel")


def tiles(report: Report) -> Element:
    """The numbers that matter most."""
    inventory, timing, coverage = report.inventory, report.timing, report.coverage
    shown = [
        (count(inventory.program_count), "programs"),
        (count(inventory.design_count), "designs"),
        (count(inventory.labelled_count), "fully labelled"),
        (percent(inventory.labelled_count / max(inventory.design_count, 1), digits=1), "of the designs ok"),
    ]
    if timing is not None:
        shown.append((figure(timing.designs_per_core_hour), "designs a core-hour"))
    if coverage is not None:
        shown.append((percent(1 - coverage.beyond), "of evaluation programs near training"))
    if report.networks is not None:
        shown.append((count(sum(r.runs for r in report.networks.runs)), "network runs"))
    entries = [element("div", element("dt", what), element("dd", value)) for value, what in shown]
    return element("dl", entries, class_="tiles")


def made(report: Report) -> Element:
    """Rows by table, by suite and stage; versions."""
    inventory = report.inventory
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
    problems = element("ul", [element("li", p) for p in report.problems], class_="problems")
    damaged = [element("p", "Files that could not be read and are left out:"), problems]
    return section(
        "made",
        "What was made",
        damaged if report.problems else None,
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


def labels(report: Report) -> Element:
    """Label distributions by stage."""
    panels = [distribution_panel(d) for d in report.distributions]
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
    """A histogram a stage, their quantiles, and remarks below."""
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


def estimates(report: Report) -> Element:
    """What high-level synthesis foretells against what logic synthesis finds."""
    title = "Estimated against measured"
    if not report.estimates:
        return section("estimates", title, note("No design has both an estimate and a label."))
    stages = list(dict.fromkeys(stage for e in report.estimates for stage, _, _ in e.points))
    return section(
        "estimates",
        title,
        note(
            "Estimates are made before logic synthesis. On the diagonal the estimate is right; the band is "
            "25 % to both sides. A deviation is estimate over measurement less one."
        ),
        legend([(f"stage-{slug(s)}", s) for s in stages]),
        element("div", [_estimate_panel(e) for e in report.estimates], class_="panels two"),
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


def correlations(report: Report) -> Element:
    """Rank correlations as a table of shades."""
    found = report.correlations
    if found is None:
        return section("correlations", "Correlations", note("Fewer than three designs are fully labelled."))
    return section(
        "correlations",
        "Correlations",
        note(
            f"Spearman's rank correlation over {plural(found.design_count, 'fully labelled design')}: of "
            "labels with each other and with what is known before synthesis. Blue rises with the label, "
            "orange falls; a dash stands where one side never changes."
        ),
        _heat_map(found),
    )


def _heat_map(found: Correlations) -> Element:
    head = [element("td")] + [element("th", element("span", q.title), scope="col") for q in found.labels]
    groups: list[Element] = []
    for group, title in GROUP_TITLES.items():
        rows = [_heat_row(row) for row in found.rows if row.group == group]
        if rows:
            heading = element("th", title, scope="rowgroup", colspan=len(found.labels) + 1)
            groups.append(element("tbody", element("tr", heading, class_="group"), rows))
    caption = element("caption", element("span", "Spearman's rank correlation with each label"))
    table = element("table", caption, element("thead", element("tr", head)), groups, class_="heat")
    return element("div", table, class_="table narrow")


def _heat_row(row: CorrelationRow) -> Element:
    cells = [
        element(
            "td",
            element("span", coefficient(value)),
            class_=None if value is None else "rises" if value > 0 else "falls",
            style=None if value is None else f"--strength:{abs(value):.2f}",
        )
        for value in row.values
    ]
    return element("tr", element("th", row.quantity.title, scope="row"), cells)


def failures(report: Report) -> Element:
    """Statuses by table and stage, and the commonest reasons."""
    inventory = report.inventory
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
        panel(name.capitalize(), "", status_chart(name, found))
        for name in ATTEMPT_TABLES
        for found in [[s for s in inventory.statuses if s.table == name]]
        if found
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
