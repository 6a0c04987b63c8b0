"""Simulated networks: a section of the page that is there only when they are."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.reports.content import Report
from pipelines.reports.drawing.curves import curve_class, times_chart
from pipelines.reports.drawing.histograms import slug
from pipelines.reports.drawing.markup import Element, element
from pipelines.reports.drawing.sections import note, panel, section
from pipelines.reports.drawing.tabulation import PROSE, TEXT, Cell, Column, Value, tabulate
from pipelines.reports.drawing.wording import NOTHING, count, figure, percent, plural
from pipelines.reports.networks import (
    FlowTimes,
    NetworkFailure,
    NetworkRuns,
    Networks,
    Utilisation,
    UtilisationRow,
)

FAILURES_SHOWN = 20
ARRIVAL_TITLES = {"poisson": "Poisson", "ge": "GE", "on_off": "ON/OFF"}


def networks(report: Report) -> Element | None:
    """Runs, utilisation of links and times of flows; None when no network was simulated."""
    found = report.networks
    if found is None:
        return None
    return section(
        "networks", "Networks", _runs(found.runs), _failures(found.failures), _links(found), _times(found)
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


def _links(found: Networks) -> list[Element]:
    """A heat map a network."""
    if not found.utilisations:
        return []
    words = note(
        "Mean utilisation, in percent, that flows and their acknowledgements offer to the queues of a tier, "
        "by pattern and load of the busiest host link. A queue of a run counts once, however many flows go "
        "through it, and queues without flows do not count; a band of loads has its upper end in it."
    )
    charts = [
        panel(u.network, plural(u.hosts, "host") if u.hosts else "", _heat_map(u)) for u in found.utilisations
    ]
    return [words, element("div", charts, class_="panels two links")]


def _heat_map(found: Utilisation) -> Element:
    names = ["Runs", *(_words(t) for t in found.queue_types)]
    titles = [element("th", element("span", name), scope="col") for name in names]
    head = element("thead", element("tr", element("td"), titles))
    bodies: list[Element] = []
    for pattern in dict.fromkeys(row.pattern for row in found.rows):
        heading = element("th", _words(pattern), scope="rowgroup", colspan=len(titles) + 1)
        rows = [_heat_row(row, found.queue_types) for row in found.rows if row.pattern == pattern]
        bodies.append(element("tbody", element("tr", heading, class_="group"), rows))
    caption = element("caption", element("span", f"Mean utilisation of queues of {found.network}, percent"))
    return element("div", element("table", caption, head, bodies, class_="heat"), class_="table")


def _heat_row(row: UtilisationRow, queue_types: Sequence[str]) -> Element:
    cells = [
        element(
            "td",
            element("span", _percents(value)),
            class_=None if value is None else "rises",
            style=None if value is None else f"--strength:{min(value, 1.0):.2f}",
        )
        for value in (row.values.get(t) for t in queue_types)
    ]
    return element(
        "tr", element("th", _loads(row), scope="row"), element("td", count(row.runs), class_="soft"), cells
    )


def _percents(value: float | None) -> str:
    """A share in percent without the sign: 83, 8.3, 0.83."""
    if value is None:
        return NOTHING
    digits = 0 if value >= 0.0995 else 1 if value >= 0.00995 else 2
    return f"{value * 100:.{digits}f}"


def _loads(row: UtilisationRow) -> str:
    if row.loads is None:
        return "no load"
    low, high = row.loads
    return percent(high) if low == high else f"{low * 100:g}–{high * 100:g} %"


def _times(found: Networks) -> list[Element]:
    if not found.times:
        return []
    words = note(
        "Cumulative distribution of the mean time of flows, in microseconds: the share of flows whose mean "
        "is at most that. Estimates of theory are of the same flows as the simulation. Of a network and an "
        "arrival process, the run of the highest load that offers less than 95 % to its busiest queue."
    )
    charts = [_times_panel(index, times) for index, times in enumerate(found.times)]
    return [words, element("div", charts, class_="panels")]


def _times_panel(index: int, times: FlowTimes) -> Element:
    """The chart, and a table that is its legend."""
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
    """A number that keeps its unit on its line."""
    return shown.replace(" ", "\u00a0")


def _words(name: str) -> str:
    """A name of the tables as words: all_to_all as All to all."""
    return name.replace("_", " ").capitalize()
