"""How good it is: the last sections of the page, from coverage to the leaderboard."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.reports.checks import Check
from pipelines.reports.content import Report
from pipelines.reports.coverage import Coverage
from pipelines.reports.drawing.histograms import slug
from pipelines.reports.drawing.marks import legend
from pipelines.reports.drawing.markup import Element, element
from pipelines.reports.drawing.scatter import projection_chart
from pipelines.reports.drawing.sections import GROUP_TITLES, distribution_panel, note, panel, section
from pipelines.reports.drawing.strips import coverage_chart, error_chart
from pipelines.reports.drawing.tabulation import PROSE, TEXT, Cell, Column, Value, tabulate
from pipelines.reports.drawing.wording import (
    NOTHING,
    count,
    deviation,
    duration,
    figure,
    percent,
    plural,
)
from pipelines.reports.results import PARTS, Entry, Score
from pipelines.reports.samples import LABELS

_UNIT = re.compile(r"_(um2|ns|mw|cycles|count)$")


def coverage(report: Report) -> Element:
    """Training against evaluation programs."""
    found, title = report.coverage, "Coverage of the evaluation set"
    if found is None:
        return section(
            "coverage",
            title,
            note("These tables hold no evaluation programs, or too few others, to compare."),
        )
    charts = [
        panel(
            GROUP_TITLES[group],
            "",
            coverage_chart(
                f"coverage-{group}",
                f"{GROUP_TITLES[group]}: training and evaluation",
                [f for f in found.features if f.group == group],
            ),
        )
        for group in ("program", "design", "labels")
        if any(f.group == group for f in found.features)
    ]
    return section(
        "coverage",
        title,
        note(
            f"{plural(found.evaluation_count, 'evaluation program')} against "
            f"{plural(found.training_count, 'training program')}. The band runs from the 5th to the 95th "
            "percentile of training programs, the line and the diamond are the same range and the median of "
            "evaluation programs; at the right, the share of evaluation programs inside the band. Each row "
            "has a logarithmic scale of its own."
        ),
        element("div", charts, class_="panels"),
        element("div", _plane(found), _distances(found), class_="panels two"),
        _feature_table(found),
    )


def _distances(found: Coverage) -> Element:
    return distribution_panel(
        found.distances,
        note(
            f"{percent(found.beyond)} of the evaluation programs are farther from training than 95 % of the "
            "training programs are from each other. A feature counts as log(1 + x), over the distance from "
            "the 5th to the 95th percentile of training; the distance is the root mean square over "
            f"{plural(len(found.feature_names), 'feature')} of the program and of its designs."
        ),
    )


def _plane(found: Coverage) -> Element | None:
    if found.projection is None:
        return None
    stages = [stage for stage, _ in found.projection.points]
    first, second = (", ".join(names) for names in found.projection.leading)
    return panel(
        "Programs on a plane",
        "",
        projection_chart(found.projection),
        legend([(f"stage-{slug(s)}", s) for s in stages]),
        note(
            "Principal components of the training programs, a rotation of the features and nothing random. "
            f"Largest weights of the first: {first}; of the second: {second}."
        ),
    )


def _feature_table(found: Coverage) -> Element:
    rows = [
        (
            f.quantity.title + (f" ({f.quantity.unit})" if f.quantity.unit else ""),
            Cell(shown=percent(f.inside), sort=f.inside, share=f.inside),
            *(
                Cell(shown=figure(v), sort=v)
                for q in (f.training, f.evaluation)
                for v in (q.p5, q.median, q.p95)
            ),
        )
        for f in found.features
    ]
    titles = [f"{side} {what}" for side in ("Train", "Eval") for what in ("5 %", "median", "95 %")]
    table = tabulate(
        "Ranges of features of training and evaluation programs",
        [
            Column(title="Feature", kind=TEXT),
            Column(title="Inside"),
            *(Column(title=t) for t in titles),
        ],
        rows,
    )
    return element("details", element("summary", "All ranges as a table"), table)


def checks(report: Report) -> Element:
    """Figures against other tools."""
    title = "Cross-checks"
    if not report.checks:
        return section("checks", title, note("These tables hold no comparison with other tools."))
    columns = [
        Column(title="Figure", kind=TEXT),
        Column(title="Against", kind=TEXT),
        *(Column(title=t) for t in ("Passed", "Median", "Worst", "Allowed", "Not made")),
        Column(title="What failed", kind=PROSE),
    ]
    return section(
        "checks",
        title,
        note(
            "Figures of a sample of designs against other tools. A deviation is the project's figure over "
            "the other tool's less one."
        ),
        tabulate("Comparisons by figure", columns, [_check_row(check) for check in report.checks]),
    )


def _check_row(check: Check) -> Sequence[Value]:
    share = check.passed / check.compared if check.compared else None
    passed = f"{count(check.passed)} of {count(check.compared)}"
    median = None if check.deviations is None else check.deviations.median
    return (
        _UNIT.sub("", check.check).replace("_", " ").capitalize(),
        ", ".join(check.tools),
        Cell(shown=passed if check.compared else NOTHING, sort=share or 0.0, share=share),
        *(
            Cell(shown=NOTHING) if v is None else Cell(shown=deviation(v), sort=v)
            for v in (median, check.worst)
        ),
        Cell(
            shown=f"±{deviation(check.allowed).lstrip('+')}" if check.allowed else "equal", sort=check.allowed
        ),
        Cell(shown=count(check.unmade), sort=check.unmade),
        "; ".join(f"{number} × {reason}" if reason else f"{number} ×" for reason, number in check.reasons),
    )


def timing(report: Report) -> Element:
    """Time by step."""
    found = report.timing
    if found is None:
        return section("time", "Time", note("These tables have no wall-clock columns."))
    rows = [
        (
            s.step.replace("_", " "),
            Cell(shown=percent(s.share, digits=1), sort=s.share, share=s.share),
            Cell(shown=duration(s.total_s), sort=s.total_s),
            *(Cell(shown=figure(v), sort=v) for v in (s.seconds.median, s.seconds.p95)),
            Cell(shown=count(s.seconds.count), sort=s.seconds.count),
            s.meaning,
        )
        for s in found.steps
    ]
    columns = [
        Column(title="Step", kind=TEXT),
        *(Column(title=t) for t in ("Share", "Total", "Median (s)", "95 % (s)", "Runs")),
        Column(title="What", kind=PROSE),
    ]
    return section(
        "time",
        "Time",
        element(
            "p",
            element("strong", figure(found.designs_per_core_hour)),
            f" fully labelled designs a core-hour: {plural(found.labelled_count, 'design')} in "
            f"{duration(found.total_s)} of all steps together.",
        ),
        tabulate("Time by step, on one core each", columns, rows),
        note(
            "Wall-clock time of the work itself; what came from the cache has the time of its first run, and "
            "a run that several rows share counts once."
        ),
    )


def leaderboard(report: Report) -> Element:
    """Predictors on the frozen splits."""
    if not report.leaderboard:
        return section("leaderboard", "Leaderboard", note("No predictor was trained on these tables."))
    titles = {q.column: q.title for q in LABELS}
    splits = list(dict.fromkeys(e.split for e in report.leaderboard))
    charts: list[Element] = []
    for split in splits:
        rows = [
            (titles.get(e.target, e.target), e, score)
            for e in report.leaderboard
            if e.split == split
            for score in [e.scores.get(("test", "mape"))]
            if score is not None
        ]
        if rows:
            name = f"errors-{slug(split)}"
            charts.append(
                panel("Test error (MAPE)", split, error_chart(name, f"Test error on {split}", rows))
            )
    rows = [_entry_row(e, titles) for e in report.leaderboard]
    columns = [
        *(Column(title=t, kind=TEXT) for t in ("Predictor", "Target", "Split")),
        *(Column(title=f"MAPE {part}") for part in PARTS),
        Column(title="R² test"),
        Column(title="Spearman test"),
        Column(title="Test rows"),
    ]
    return section(
        "leaderboard",
        "Leaderboard",
        note("Smaller errors are better; lines are 95 % bootstrap intervals."),
        element("div", charts, class_="panels"),
        tabulate("Predictors, the smallest test error of a target first", columns, rows),
    )


def _entry_row(entry: Entry, titles: dict[str, str]) -> Sequence[Value]:
    def cell(part: str, metric: str, *, as_percent: bool) -> Cell:
        score: Score | None = entry.scores.get((part, metric))
        if score is None:
            return Cell(shown=NOTHING)
        shown = percent(score.value) if as_percent else figure(score.value).replace("-", "−")
        return Cell(shown=shown, sort=score.value)

    test = entry.scores.get(("test", "mape"))
    return (
        f"{entry.predictor} {entry.version[:8]}",
        titles.get(entry.target, entry.target),
        entry.split,
        *(cell(part, "mape", as_percent=True) for part in PARTS),
        cell("test", "r2", as_percent=False),
        cell("test", "spearman", as_percent=False),
        NOTHING if test is None else Cell(shown=count(test.row_count), sort=test.row_count),
    )
