"""Rows of one drawing: coverage of features, statuses of rows, ranges of measures, intervals of errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pipelines.reports.coverage import FeatureCoverage
from pipelines.reports.drawing.histograms import slug
from pipelines.reports.drawing.marks import (
    NORMAL,
    SMALL,
    WIDTH,
    bottom_axis,
    chart,
    line,
    shortened,
    text,
)
from pipelines.reports.drawing.markup import Element, element
from pipelines.reports.drawing.scales import Scale
from pipelines.reports.drawing.wording import count, figure, percent, tick
from pipelines.reports.generation import Spread
from pipelines.reports.inventory import StatusCount
from pipelines.reports.results import Entry, Score
from pipelines.schemas import OK

LABEL, VALUE = 118.0, 46.0
ROW = 24.0


def coverage_chart(name: str, title: str, features: Sequence[FeatureCoverage]) -> Element:
    """A row a feature on a logarithmic scale of its own: band and line from the 5th to the 95th percentile.

    The band is training, the line evaluation; tick and diamond are the medians. At the right the share of
    evaluation programs inside the band.
    """
    marks: list[Element] = []
    for index, feature in enumerate(features):
        marks += _coverage_row(feature, ROW * index)
    said = "; ".join(f"{f.quantity.title}: {percent(f.inside)} inside" for f in features)
    return chart(name, title, said, ROW * len(features), marks)


def _coverage_row(feature: FeatureCoverage, top: float) -> list[Element]:
    middle = top + ROW / 2
    training, evaluation = feature.training, feature.evaluation
    low = min(training.minimum, evaluation.minimum)
    high = max(training.maximum, evaluation.maximum)
    start, end = LABEL + 4, WIDTH - VALUE
    if low == high:
        low, high = low - 0.5, high + 0.5
    # One more than the value, so that zero has a place.
    shift = 1.0 - min(low, 0.0)
    scale = Scale(low=low + shift, high=high + shift, start=start, end=end)
    at = [scale.place(v + shift) for v in (training.p5, training.median, training.p95)]
    on = [scale.place(v + shift) for v in (evaluation.p5, evaluation.median, evaluation.p95)]
    x, y = on[1], middle
    return [
        text(0, middle + 4, shortened(feature.quantity.title, NORMAL, LABEL)),
        line(start, middle, end, middle, "grid"),
        element(
            "rect", x=at[0] - 1, y=middle - 7, width=at[2] - at[0] + 2, height=14, rx=2, class_="training"
        ),
        line(at[1], middle - 7, at[1], middle + 7, "training-median"),
        line(on[0], middle, on[2], middle, "range stage-evaluation"),
        element("path", d=f"M{x - 4:.2f} {y:.2f}l4-4l4 4l-4 4z", class_="median stage-evaluation"),
        text(WIDTH, middle + 4, percent(feature.inside), anchor="end", class_="strong"),
    ]


def status_chart(table: str, statuses: Sequence[StatusCount]) -> Element:
    """A bar of statuses a stage, all of the same length."""
    marks = [mark for index, entry in enumerate(statuses) for mark in _status_row(entry, ROW * index)]
    said = "; ".join(f"{s.stage}: {s.counts[OK]} of {s.total} ok" for s in statuses)
    return chart(f"status-{slug(table)}", f"Rows of {table} by status", said, ROW * len(statuses), marks)


def _status_row(entry: StatusCount, top: float) -> list[Element]:
    left, right = 80.0, WIDTH - 100
    marks = [text(0, top + 14, shortened(entry.stage, NORMAL, left - 4))]
    x = left
    for status, rows in entry.counts.items():
        share = rows / entry.total
        if share > 0:
            width = max(share * (right - left), 1.5)
            width = min(width, right - x)
            shown = element("title", f"{status}: {count(rows)} ({percent(share, digits=1)})")
            marks.append(
                element(
                    "rect", shown, x=x, y=top + 3, width=width, height=14, class_=f"status-{slug(status)}"
                )
            )
            x += width
    told = f"{percent(entry.counts[OK] / entry.total, digits=1)} of {count(entry.total)}"
    marks.append(text(WIDTH, top + 14, told, anchor="end", size=SMALL, class_="soft"))
    return marks


def range_chart(
    name: str, title: str, spreads: Sequence[Spread], *, logarithmic: bool, as_percent: bool
) -> Element:
    """A row a stage on one axis: 5th to 95th percentile, quartiles, median, and the distance at the right."""
    top, bottom = 16.0, 16.0 + 28.0 * len(spreads)
    low = min(s.quantiles.minimum for s in spreads)
    high = max(s.quantiles.maximum for s in spreads)
    # A logarithmic axis begins at one: these are counts.
    scale = Scale(
        low=max(low, 1.0) if logarithmic else min(low, 0.0),
        high=max(high, 2.0) if logarithmic else max(high, 1.0),
        start=80.0,
        end=WIDTH - VALUE - 10,
        logarithmic=logarithmic,
    )
    told: Callable[[float], str] = percent if as_percent else figure
    marks = bottom_axis(scale, top, bottom, shown=percent if as_percent else tick)
    if any(s.distance is not None for s in spreads):
        marks.append(text(WIDTH, 10, "distance", anchor="end", size=SMALL, class_="soft"))
    for index, spread in enumerate(spreads):
        y, quantiles = top + 28.0 * index + 14, spread.quantiles
        at = [
            scale.place(v)
            for v in (quantiles.p5, quantiles.p25, quantiles.median, quantiles.p75, quantiles.p95)
        ]
        row = [
            line(at[0], y, at[4], y, "range"),
            element(
                "rect", x=at[1] - 1, y=y - 5, width=at[3] - at[1] + 2, height=10, rx=2, class_="quartiles"
            ),
            element("circle", cx=at[2], cy=y, r=4, class_="median"),
        ]
        marks += [
            text(0, y + 4, shortened(spread.stage, NORMAL, 76), class_="strong"),
            element("g", row, class_=f"stage-{slug(spread.stage)}"),
        ]
        if spread.distance is not None:
            marks.append(text(WIDTH, y + 4, figure(spread.distance), anchor="end", class_="soft"))
    said = "; ".join(
        f"{s.stage}: median {told(s.quantiles.median)}, 5 to 95 percent from {told(s.quantiles.p5)} to "
        f"{told(s.quantiles.p95)}"
        for s in spreads
    )
    return chart(name, title, said, bottom + 22, marks)


def depth_chart(depths: Mapping[str, Sequence[float]]) -> Element:
    """Columns of shares by loop depth, a row a stage."""
    deepest = max(len(shares) for shares in depths.values())
    left, row = 80.0, 46.0
    step = min((WIDTH - left) / deepest, 44.0)
    marks: list[Element] = []
    for index, (stage, shares) in enumerate(depths.items()):
        base = row * index + 40
        bars: list[Element] = []
        for depth, share in enumerate(shares):
            x = left + step * depth
            height = share * 26
            shown = element("title", f"depth {depth}: {percent(share, digits=1)}")
            bars.append(
                element(
                    "rect", shown, x=x + 3, y=base - height, width=step - 6, height=height, class_="column"
                )
            )
            if share > 0:
                label = percent(share)
                bars.append(
                    text(x + step / 2, base - height - 3, label, anchor="middle", size=8.5, class_="soft")
                )
        marks += [
            text(0, base - 4, shortened(stage, NORMAL, left - 6), class_="strong"),
            line(left, base, left + step * deepest, base, "base"),
            element("g", bars, class_=f"stage-{slug(stage)}"),
        ]
    bottom = row * len(depths)
    for depth in range(deepest):
        marks.append(
            text(
                left + step * (depth + 0.5),
                bottom + 12,
                str(depth),
                anchor="middle",
                size=SMALL,
                class_="soft",
            )
        )
    said = "; ".join(
        f"{stage}: "
        + ", ".join(f"{percent(share)} at {depth}" for depth, share in enumerate(shares) if share)
        for stage, shares in depths.items()
    )
    return chart(
        "loop-depths", "Share of the programs by depth of the deepest loop", said, bottom + 18, marks
    )


def error_chart(name: str, title: str, rows: Sequence[tuple[str, Entry, Score]]) -> Element:
    """A row an entry: error with its 95 % interval on an axis from zero."""
    left, bottom = 132.0, 36.0 * len(rows) + 4
    highest = max([min(score.high, 4 * score.value) for _, _, score in rows] + [0.1])
    scale = Scale(low=0.0, high=highest * 1.04, start=left, end=WIDTH - 14, logarithmic=False)
    marks = bottom_axis(scale, 0, bottom, shown=lambda v: f"{tick(round(v * 100, 6))} %")
    for index, (label, entry, score) in enumerate(rows):
        y = 36.0 * index + 20
        marks += [
            text(0, y - 2, shortened(label, NORMAL, left - 8), class_="strong"),
            text(0, y + 11, shortened(entry.predictor, SMALL, left - 8), size=SMALL, class_="soft"),
            line(scale.place(score.low), y, scale.place(score.high), y, "range"),
            element("circle", cx=scale.place(score.value), cy=y, r=4.5, class_="median"),
        ]
    said = "; ".join(
        f"{label}, {e.predictor}: {percent(s.value)}, interval {percent(s.low)} to {percent(s.high)}"
        for label, e, s in rows
    )
    return chart(name, title, said or figure(None), bottom + 20, marks)
