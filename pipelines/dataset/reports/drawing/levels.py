"""The section on predictors by level of information."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.dataset.reports.drawing.axes import SMALL, WIDTH, Scale, bottom_axis, chart, left_axis, text
from pipelines.dataset.reports.drawing.charts import (
    CURVES_BOTTOM,
    CURVES_HEIGHT,
    CURVES_LEFT,
    CURVES_RIGHT,
    CURVES_TOP,
)
from pipelines.dataset.reports.drawing.markup import (
    NOTHING,
    TEXT,
    Cell,
    Column,
    Element,
    Value,
    element,
    figure,
    note,
    number,
    panel,
    percent,
    section,
    slug,
    tabulate,
)
from pipelines.dataset.reports.inventory import LEVELS
from pipelines.dataset.reports.levels import RISK_PART, Certainty, LevelEntry, Levels
from pipelines.dataset.reports.samples import LABELS

_TITLES = {q.column: q.title for q in LABELS}
SHARES_SHOWN = (0.1, 0.5, 1.0)
"""Shares of answers in the table below a chart."""

LEAST_HIGHEST = 0.05
"""Least error at the upper end of an axis."""


def levels(levels: Levels) -> Element:
    """Draw errors by level and target, and the curves of risk over coverage."""
    targets = list(dict.fromkeys((row.entry.split, row.entry.target) for row in levels.entries))
    own = {at: [r for r in levels.entries if (r.entry.split, r.entry.target) == at] for at in targets}
    curves = [
        _panel(split, target, rows)
        for (split, target), entries in own.items()
        for rows in [[row for row in entries if row.certainty is not None]]
        if rows
    ]
    return section(
        "levels",
        "Predictors by level",
        note(
            "A level says what a predictor reads: text, static analysis, high-level synthesis, or a run as "
            "well. A curve is the median error of the share of answers that the predictor is most certain "
            f"of, on the parts {RISK_PART}: where it falls to the left, certainty says which answers to keep."
        ),
        _best(levels),
        element("div", curves, class_="panels") if curves else None,
        note(*_missing(levels)) if levels.absent or levels.uncertain else None,
        _all(levels),
    )


def _missing(levels: Levels) -> list[str]:
    """Say which levels and curves are not here."""
    words: list[str] = []
    if levels.absent:
        words.append(f"No predictor here has level {', '.join(levels.absent)}. ")
    if levels.uncertain:
        words.append(
            "No confidence is stored with these tables, hence no curve, for "
            f"{', '.join(levels.uncertain)}: rows of the leaderboard are errors over all answers."
        )
    return words


def _best(levels: Levels) -> Element:
    """Return the smallest median error of each level by target."""
    targets = list(dict.fromkeys(row.entry.target for row in levels.entries))
    rows: list[Sequence[Value]] = []
    for level in (level for level in LEVELS if level not in levels.absent):
        own = [row.entry for row in levels.entries if row.entry.level == level]
        cells: list[Value] = []
        for target in targets:
            scores = [e.scores.get(("test", "median_ape")) for e in own if e.target == target]
            values = [score.value for score in scores if score is not None]
            cells.append(Cell(shown=percent(min(values), digits=1), sort=min(values)) if values else NOTHING)
        rows.append((Cell(shown=level, key=f"level-{level}"), *cells))
    columns = [Column(title="Level", kind=TEXT), *(Column(title=_TITLES.get(t, t)) for t in targets)]
    return tabulate("Smallest median test error of a predictor of each level", columns, rows)


def _panel(split: str, target: str, rows: Sequence[LevelEntry]) -> Element:
    """Return the chart of a target, and a table that is its legend."""
    seen: dict[str, int] = {}
    classes: list[str] = []
    for row in rows:
        seen[row.entry.level] = seen.get(row.entry.level, 0) + 1
        classes.append(f"level-{slug(row.entry.level)}" + (" another" if seen[row.entry.level] > 1 else ""))
    drawn = [(row, row.certainty, at) for row, at in zip(rows, classes, strict=True) if row.certainty]
    title = _TITLES.get(target, target)
    legend: list[Sequence[Value]] = [
        (Cell(shown=row.entry.predictor, key=at), *(_risk(certainty, share) for share in SHARES_SHOWN))
        for row, certainty, at in drawn
    ]
    columns = [Column(title="Kept", kind=TEXT), *(Column(title=percent(share)) for share in SHARES_SHOWN)]
    name = f"risk-{slug(split)}-{slug(target)}"
    return panel(
        title,
        split,
        _chart(name, title, [(row.entry.predictor, c, at) for row, c, at in drawn]),
        tabulate(f"Median error of {title} by share of answers kept", columns, legend, sortable=False),
    )


def _risk(certainty: Certainty, share: float) -> Cell:
    value = dict(certainty.curve).get(share)
    return Cell(shown=NOTHING) if value is None else Cell(shown=percent(value, digits=1), sort=value)


def _chart(name: str, title: str, curves: Sequence[tuple[str, Certainty, str]]) -> Element:
    """Draw median errors over the share of answers kept, both in percent."""
    highest = max([risk for _, c, _ in curves for _, risk in c.curve] + [LEAST_HIGHEST])
    bottom = CURVES_TOP + CURVES_HEIGHT
    across = Scale(low=0.0, high=100.0, start=CURVES_LEFT, end=WIDTH - CURVES_RIGHT, logarithmic=False)
    up = Scale(low=0.0, high=highest * 105, start=bottom, end=CURVES_TOP, logarithmic=False)
    lines = [
        element(
            "path",
            d="M"
            + "L".join(
                f"{number(across.coordinate(share * 100))} {number(up.coordinate(risk * 100))}"
                for share, risk in certainty.curve
            ),
            class_=f"curve {at}",
        )
        for _, certainty, at in curves
    ]
    said = "; ".join(
        f"{predictor}: "
        + ", ".join(f"{percent(risk, digits=1)} at {percent(share)}" for share, risk in c.curve)
        for predictor, c, _ in curves
    )
    marks = [
        *bottom_axis(across, CURVES_TOP, bottom),
        *left_axis(up, CURVES_LEFT, WIDTH - CURVES_RIGHT),
        lines,
        text(0, 10, "median error (%)", size=SMALL, class_="soft"),
        text(WIDTH - CURVES_RIGHT, bottom + 32, "answers kept (%)", anchor="end", size=SMALL, class_="soft"),
    ]
    return chart(name, f"Error of {title} by share of answers kept", said, bottom + CURVES_BOTTOM, *marks)


def _all(levels: Levels) -> Element:
    columns = [
        *(Column(title=t, kind=TEXT) for t in ("Target", "Level", "Predictor", "Split")),
        *(
            Column(title=t)
            for t in ("Median APE test", "Median APE evaluation", "MAPE test", "MAPE evaluation")
        ),
        *(Column(title=t) for t in ("Inside 90 % test", "Inside 90 % evaluation", "End over value")),
    ]
    caption = "Errors of all answers, and 90 % intervals: share of labels inside, median of end over value"
    return tabulate(caption, columns, [_row(row) for row in levels.entries])


def _row(row: LevelEntry) -> Sequence[Value]:
    entry, certainty = row.entry, row.certainty
    errors = [
        entry.scores.get((part, metric))
        for metric in ("median_ape", "mape")
        for part in ("test", "evaluation")
    ]
    inside = [None if certainty is None else certainty.inside.get(part) for part in ("test", "evaluation")]
    factor = None if certainty is None else certainty.factor
    return (
        _TITLES.get(entry.target, entry.target),
        entry.level,
        f"{entry.predictor} {entry.version[:8]}".strip(),
        entry.split,
        *(NOTHING if s is None else Cell(shown=percent(s.value, digits=1), sort=s.value) for s in errors),
        *(NOTHING if v is None else Cell(shown=percent(v), sort=v) for v in inside),
        NOTHING if factor is None else Cell(shown=figure(factor), sort=factor),
    )
