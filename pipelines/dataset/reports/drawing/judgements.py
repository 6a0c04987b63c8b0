"""Sections on coverage, cross-checks, networks, time and the leaderboard."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.dataset.reports.coverage import Coverage
from pipelines.dataset.reports.directives import BestDesign, Directives
from pipelines.dataset.reports.drawing.axes import legend
from pipelines.dataset.reports.drawing.charts import (
    coverage_chart,
    curve_class,
    error_chart,
    projection_chart,
    times_chart,
)
from pipelines.dataset.reports.drawing.markup import (
    NOTHING,
    PROSE,
    TEXT,
    Cell,
    Column,
    Element,
    Value,
    count,
    deviation,
    duration,
    element,
    figure,
    heat_row,
    heat_table,
    note,
    panel,
    percent,
    plural,
    section,
    slug,
    tabulate,
)
from pipelines.dataset.reports.drawing.sections import GROUP_TITLES, distribution_panel
from pipelines.dataset.reports.inventory import PARTS, Check, Entry, Score, Timing, WorkloadError
from pipelines.dataset.reports.networks import (
    ARRIVAL_TITLES,
    FlowTimes,
    NetworkFailure,
    NetworkRuns,
    Networks,
    Utilisation,
    UtilisationRow,
)
from pipelines.dataset.reports.samples import LABELS

_UNIT = re.compile(r"_(um2|ns|mw|cycles|count)$")


def coverage(coverage: Coverage | None) -> Element:
    """Return the training against evaluation programs."""
    title = "Coverage of the evaluation set"
    if coverage is None:
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
                [f for f in coverage.features if f.group == group],
            ),
        )
        for group in ("program", "design", "labels")
        if any(f.group == group for f in coverage.features)
    ]
    return section(
        "coverage",
        title,
        note(
            f"{plural(coverage.evaluation_count, 'evaluation program')} against "
            f"{plural(coverage.training_count, 'training program')}. The band runs from the 5th to the 95th "
            "percentile of training programs, the line and the diamond are the same range and the median of "
            "evaluation programs; at the right, the share of evaluation programs inside the band. Each row "
            "has a logarithmic scale of its own."
        ),
        element("div", charts, class_="panels"),
        element("div", _plane(coverage), _distances(coverage), class_="panels two"),
        _feature_table(coverage),
    )


def _distances(coverage: Coverage) -> Element:
    return distribution_panel(
        coverage.distances,
        note(
            f"{percent(coverage.beyond)} of the evaluation programs are farther from training than 95 % of "
            "the training programs are from each other. A feature counts as log(1 + x), over the distance "
            "from the 5th to the 95th percentile of training; the distance is the root mean square over "
            f"{plural(len(coverage.feature_names), 'feature')} of the program and of its designs."
        ),
    )


def _plane(coverage: Coverage) -> Element | None:
    if coverage.projection is None:
        return None
    stages = [stage for stage, _ in coverage.projection.points]
    first, second = (", ".join(names) for names in coverage.projection.leading)
    return panel(
        "Programs on a plane",
        "",
        projection_chart(coverage.projection),
        legend([(f"stage-{slug(s)}", s) for s in stages]),
        note(
            "Principal components of the training programs, a rotation of the features and nothing random. "
            f"Largest weights of the first: {first}; of the second: {second}."
        ),
    )


def _feature_table(coverage: Coverage) -> Element:
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
        for f in coverage.features
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


def checks(checks: Sequence[Check]) -> Element:
    """Return the figures against other tools."""
    title = "Cross-checks"
    if not checks:
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
        tabulate("Comparisons by figure", columns, [_check_row(check) for check in checks]),
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


BEST_SHOWN = 40


def directives(directives: Directives) -> Element:
    """Return the searches for directives: outcomes of their steps, and the best designs."""
    counts = ("programs", "valid", "failed", "repeated", "pruned", "no_design")
    titles = ("Programs", "Valid", "Failed", "Repeated", "Pruned", "No design")
    searches = tabulate(
        "Steps of the searches by outcome; designs are measured only in the first two kinds",
        [
            Column(title="Target", kind=TEXT),
            Column(title="Method", kind=TEXT),
            *(Column(title=title) for title in (*titles, "Solver (s)")),
        ],
        [
            (
                s.target,
                _words(s.method),
                *(Cell(shown=count(n), sort=n) for n in (getattr(s, name) for name in counts)),
                Cell(shown=figure(s.solver_s), sort=s.solver_s or 0.0),
            )
            for s in directives.searches
        ],
    )
    hidden = len(directives.best) - BEST_SHOWN
    return section(
        "directives",
        "Directives",
        searches,
        tabulate(
            "Best measured design of each search, and its proven lower bound",
            [
                Column(title="Program", kind=TEXT),
                Column(title="Target", kind=TEXT),
                Column(title="Method", kind=TEXT),
                *(Column(title=title) for title in ("Measured", "Cycles", "Bound", "Gap")),
            ],
            [_best_row(best) for best in directives.best[:BEST_SHOWN]],
        ),
        note(f"And {plural(hidden, 'more search', 'more searches')}.") if hidden > 0 else None,
    )


def _best_row(best: BestDesign) -> Sequence[Value]:
    return (
        best.program,
        best.target,
        _words(best.method),
        Cell(shown=count(best.measured), sort=best.measured),
        *(Cell(shown=figure(v), sort=v or 0.0) for v in (best.best_cycles, best.bound_cycles)),
        Cell(shown=NOTHING if best.gap is None else percent(best.gap), sort=best.gap or 0.0),
    )


def timing(timing: Timing | None) -> Element:
    """Return the time by step."""
    if timing is None:
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
        for s in timing.steps
    ]
    columns = [
        Column(title="Step", kind=TEXT),
        *(Column(title=t) for t in ("Share", "Total", "Median (s)", "95 % (s)", "Runs")),
        Column(title="What", kind=PROSE),
    ]
    return section(
        "time",
        "Time",
        _rate(timing) if timing.labelled_count else None,
        tabulate("Time by step, on one core each", columns, rows),
        note(
            "Wall-clock time of the work itself; what came from the cache has the time of its first run, and "
            "a run that several rows share counts once."
        ),
    )


def _rate(timing: Timing) -> Element:
    return element(
        "p",
        element("strong", figure(timing.designs_per_core_hour)),
        f" fully labelled designs a core-hour: {plural(timing.labelled_count, 'design')} in "
        f"{duration(timing.total_s)} of all steps together.",
    )


def leaderboard(entries: Sequence[Entry], workloads: Sequence[WorkloadError]) -> Element:
    """Return the predictors on the frozen splits, and their errors by program of the evaluation suite."""
    if not entries:
        return section("leaderboard", "Leaderboard", note("No predictor was trained on these tables."))
    titles = {q.column: q.title for q in LABELS}
    splits = list(dict.fromkeys(e.split for e in entries))
    charts: list[Element] = []
    for split in splits:
        rows = [
            (titles.get(e.target, e.target), e, score)
            for e in entries
            if e.split == split
            for score in [e.scores.get(("test", "mape"))]
            if score is not None
        ]
        if rows:
            name = f"errors-{slug(split)}"
            charts.append(
                panel("Test error (MAPE)", split, error_chart(name, f"Test error on {split}", rows))
            )
    rows = [_entry_row(e, titles) for e in entries]
    columns = [
        *(Column(title=t, kind=TEXT) for t in ("Predictor", "Level", "Target", "Split")),
        *(Column(title=f"MAPE {part}") for part in PARTS),
        *(Column(title=t) for t in ("Median APE test", "MSE test", "R² test", "Spearman test")),
        *(Column(title=t) for t in ("Test rows", "Parameters", "Training (s)", "One question (s)")),
    ]
    return section(
        "leaderboard",
        "Leaderboard",
        note(
            "Smaller errors are better; lines are 95 % bootstrap intervals over groups of programs. A level "
            "says what a predictor was given: text, static analysis, high-level synthesis, or a run as well. "
            "Compare predictors of one level; each has to beat the engine's own estimate at its level."
        ),
        element("div", charts, class_="panels"),
        tabulate("Predictors by target and level, the smallest test error first", columns, rows),
        _workload_tables(workloads, titles),
    )


def _workload_tables(errors: Sequence[WorkloadError], titles: dict[str, str]) -> list[Element]:
    """Return a table per target: programs of the evaluation suite by predictors."""
    tables: list[Element] = []
    for target in dict.fromkeys(error.target for error in errors):
        own = {(e.workload, e.level, e.predictor): e.value for e in errors if e.target == target}
        asked = list(dict.fromkeys((level, predictor) for _, level, predictor in own))
        columns = [
            Column(title="Program", kind=TEXT),
            *(Column(title=f"{predictor} ({level})") for level, predictor in asked),
        ]
        rows = [
            (workload, *(_error_cell(own.get((workload, *key))) for key in asked))
            for workload in sorted({name for name, _, _ in own})
        ]
        title = f"Evaluation suite: mean error of {titles.get(target, target)} by program"
        tables.append(element("details", element("summary", title), tabulate(title, columns, rows)))
    return tables


def _error_cell(value: float | None) -> Cell:
    return Cell(shown=NOTHING) if value is None else Cell(shown=percent(value), sort=value)


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
        entry.level or NOTHING,
        titles.get(entry.target, entry.target),
        entry.split,
        *(cell(part, "mape", as_percent=True) for part in PARTS),
        cell("test", "median_ape", as_percent=True),
        *(cell("test", metric, as_percent=False) for metric in ("mse", "r2", "spearman")),
        NOTHING if test is None else Cell(shown=count(test.row_count), sort=test.row_count),
        *(_cost_cell(entry, name) for name in ("parameter_count", "training_wall_s", "predict_wall_s")),
    )


def _cost_cell(entry: Entry, name: str) -> Cell:
    value = entry.costs.get(name)
    return Cell(shown=NOTHING) if value is None else Cell(shown=figure(value), sort=value)


# ---- networks --------------------------------------------------------------------------------------


FAILURES_SHOWN = 20
HEAT_MAPS_SHOWN = 8
"""Networks with the most runs, whose utilisation is not folded."""


def networks(networks: Networks) -> Element:
    """Return runs, utilisation of links and times of flows."""
    return section(
        "networks",
        "Networks",
        _runs(networks.runs),
        _failures(networks.failures),
        _links(networks),
        _times(networks),
    )


def _runs(runs: Sequence[NetworkRuns]) -> Element:
    columns = [
        Column(title="Network", kind=TEXT),
        Column(title="Status", kind=TEXT),
        *(Column(title=t) for t in ("Runs", "Flows", "Packets", "Drops", "Dropped")),
    ]
    rows = [
        (
            r.network,
            Cell(shown=r.status.replace("_", " "), key=f"status-{slug(r.status)}"),
            *(Cell(shown=count(v), sort=v) for v in (r.runs, r.flows, r.packets, r.drops)),
            _dropped(r),
        )
        for r in runs
    ]
    return tabulate("Runs by network and status; data packets sent after the warm-up", columns, rows)


def _dropped(runs: NetworkRuns) -> Cell:
    if not runs.packets:
        return Cell(shown=NOTHING, sort=0.0)
    share = runs.drops / runs.packets
    return Cell(shown=percent(share, digits=2), sort=share)


def _failures(failures: Sequence[NetworkFailure]) -> list[Element]:
    if not failures:
        return []
    columns = [
        Column(title="Network", kind=TEXT),
        Column(title="Status", kind=TEXT),
        Column(title="Runs"),
        Column(title="Reason", kind=PROSE),
    ]
    rows = [
        (
            f.network,
            Cell(shown=f.status.replace("_", " "), key=f"status-{slug(f.status)}"),
            Cell(shown=count(f.runs), sort=f.runs),
            f.reason,
        )
        for f in failures[:FAILURES_SHOWN]
    ]
    table = tabulate("Reasons of failed runs; those that differ in numbers only are one", columns, rows)
    hidden = len(failures) - FAILURES_SHOWN
    return [table, *([note(f"And {plural(hidden, 'more reason')}.")] if hidden > 0 else [])]


def _links(networks: Networks) -> list[Element]:
    """Draw one heat map per network."""
    if not networks.utilisations:
        return []
    words = note(
        "Mean utilisation, in percent, that flows and their acknowledgements offer to the queues of a tier, "
        "by pattern and load of the busiest host link. A queue of a run counts once, however many flows go "
        "through it, and queues without flows do not count; a band of loads has its upper end in it."
    )
    most = sorted(networks.utilisations, key=lambda u: -sum(row.runs for row in u.rows))[:HEAT_MAPS_SHOWN]
    others = [u for u in networks.utilisations if u not in most]
    folded = element(
        "details",
        element("summary", plural(len(others), "more network")),
        _heat_maps(others),
    )
    return [words, _heat_maps([u for u in networks.utilisations if u in most]), *([folded] if others else [])]


def _heat_maps(utilisations: Sequence[Utilisation]) -> Element:
    charts = [
        panel(u.network, plural(u.hosts, "host") if u.hosts else "", _heat_map(u)) for u in utilisations
    ]
    return element("div", charts, class_="panels two links")


def _heat_map(utilisation: Utilisation) -> Element:
    groups = [
        (
            _words(pattern),
            [_heat_row(r, utilisation.queue_types) for r in utilisation.rows if r.pattern == pattern],
        )
        for pattern in dict.fromkeys(row.pattern for row in utilisation.rows)
    ]
    return heat_table(
        f"Mean utilisation of queues of {utilisation.network}, percent",
        ["Runs", *(_words(t) for t in utilisation.queue_types)],
        groups,
        class_="table",
    )


def _heat_row(row: UtilisationRow, queue_types: Sequence[str]) -> Element:
    values = [row.values.get(queue_type) for queue_type in queue_types]
    runs = element("td", count(row.runs), class_="soft")
    return heat_row(_loads(row), [(_percents(value), value) for value in values], runs)


def _percents(value: float | None) -> str:
    """Return a share in percent without the sign: 83, 8.3, 0.83."""
    if value is None:
        return NOTHING
    digits = 0 if value >= 0.0995 else 1 if value >= 0.00995 else 2
    return f"{value * 100:.{digits}f}"


def _loads(row: UtilisationRow) -> str:
    if row.loads is None:
        return "no load"
    low, high = row.loads
    return percent(high) if low == high else f"{low * 100:g}–{high * 100:g} %"


def _times(networks: Networks) -> list[Element]:
    if not networks.times:
        return []
    words = note(
        "Cumulative distribution of the mean time of flows, in microseconds: the share of flows whose mean "
        "is at most that. Estimates of theory are of the same flows as the simulation. Of a network and an "
        "arrival process, the run of the highest load that offers less than 95 % to its busiest queue."
    )
    charts = [_times_panel(index, times) for index, times in enumerate(networks.times)]
    return [words, element("div", charts, class_="panels")]


def _times_panel(index: int, times: FlowTimes) -> Element:
    """Return the chart, and a table that is its legend."""
    arrivals = ARRIVAL_TITLES.get(times.arrivals, _words(times.arrivals))
    of = "round trip" if times.is_round_trip else "delay without acknowledgements"
    rows: list[Sequence[Value]] = [
        (
            Cell(shown=c.name, key=curve_class(c)),
            *(Cell(shown=figure(v), sort=v) for v in (c.quantiles.median, c.quantiles.p95)),
        )
        for c in times.curves
    ]
    columns = [Column(title="Mean (µs)", kind=TEXT), Column(title="Median"), Column(title="95 %")]
    load = "" if times.load is None else f", load {percent(times.load)}"
    return panel(
        times.network,
        f"{arrivals}{load}",
        times_chart(f"times-{index}", f"Mean times of flows of {times.network}, {arrivals}", times),
        tabulate("Quantiles over flows of their mean time", columns, rows, sortable=False),
        note(
            f"{_words(times.pattern)}, {plural(times.flows, 'flow')}, {of}; busiest queue "
            f"{_unbroken(percent(times.offered_utilisation))}."
        ),
    )


def _unbroken(shown: str) -> str:
    """Return a number that keeps its unit on its line."""
    return shown.replace(" ", "\u00a0")


def _words(name: str) -> str:
    """Return a name of the tables as words: all_to_all as All to all."""
    return name.replace("_", " ").capitalize()
