"""Charts: histograms, cumulative distributions, scatter plots, and rows of ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import polars as pl

from pipelines.dataset.reports.coverage import FeatureCoverage, Projection
from pipelines.dataset.reports.drawing.axes import (
    NORMAL,
    SMALL,
    WIDTH,
    Scale,
    bottom_axis,
    chart,
    left_axis,
    line,
    shortened,
    text,
    text_width,
)
from pipelines.dataset.reports.drawing.markup import (
    Element,
    count,
    element,
    figure,
    number,
    percent,
    signed_percent,
    slug,
    tick,
)
from pipelines.dataset.reports.generation import Spread
from pipelines.dataset.reports.inventory import Entry, Score, StatusCount
from pipelines.dataset.reports.networks import Curve, FlowTimes
from pipelines.dataset.reports.samples import EVALUATION
from pipelines.dataset.reports.statistics import (
    NARROW_SPAN,
    Distribution,
    EstimateComparison,
    StageDistribution,
    log_range,
)
from pipelines.schemas import OK

# ---- histograms ------------------------------------------------------------------------------------


BARS_LEFT, BARS_RIGHT, BARS_TOP = 76.0, 14.0, 6.0
BARS_ROW, BARS_HEIGHT = 48.0, 32.0
BARS_AXIS = 22.0


def histogram_chart(distribution: Distribution) -> Element | None:
    """Draw the stages below each other; None when no value is positive.

    Bars are shares of the stage, each stage on its own height. Below them the line runs from the 5th to the
    95th percentile, and the dot is the median.
    """
    spans = [s.histogram for s in distribution.stages if s.histogram is not None]
    if not spans:
        return None
    scale = Scale(low=spans[0].low, high=spans[0].high, start=BARS_LEFT, end=WIDTH - BARS_RIGHT)
    bottom = BARS_TOP + BARS_ROW * len(distribution.stages)
    marks = bottom_axis(scale, BARS_TOP, bottom)
    for index, stage in enumerate(distribution.stages):
        marks.append(_row(stage, scale, BARS_TOP + BARS_ROW * index))
    quantity = distribution.quantity
    said = "; ".join(
        f"{s.stage}: median {figure(s.quantiles.median)}, 5 to 95 percent from {figure(s.quantiles.p5)} "
        f"to {figure(s.quantiles.p95)}"
        for s in distribution.stages
    )
    title = f"{quantity.title}{f' in {quantity.unit}' if quantity.unit else ''} by stage, logarithmic"
    return chart(f"distribution-{slug(quantity.column)}", title, said, bottom + BARS_AXIS, marks)


def _row(stage: StageDistribution, scale: Scale, top: float) -> Element:
    base = top + 4 + BARS_HEIGHT
    quantiles = stage.quantiles
    marks = [
        text(0, base - 12, shortened(stage.stage, NORMAL, BARS_LEFT - 3), class_="strong"),
        text(0, base + 1, f"n = {count(quantiles.count)}", size=SMALL, class_="soft"),
        line(scale.start, base, scale.end, base, "base"),
    ]
    if stage.histogram is not None:
        marks.append(element("path", d=_outline(stage.histogram.shares, scale, base), class_="bars"))
        low, high = (
            scale.coordinate(max(quantiles.p5, scale.low)),
            scale.coordinate(max(quantiles.p95, scale.low)),
        )
        marks.append(line(low, base + 5, high, base + 5, "range"))
        marks.append(
            element(
                "circle",
                cx=scale.coordinate(max(quantiles.median, scale.low)),
                cy=base + 5,
                r=3.2,
                class_="median",
            )
        )
    return element("g", marks, class_=f"stage-{slug(stage.stage)}")


def _outline(shares: tuple[float, ...], scale: Scale, base: float) -> str:
    """Return the bars as one path; the highest takes all the room."""
    highest = max(shares)
    step = (scale.end - scale.start) / len(shares)
    parts: list[str] = []
    for index, share in enumerate(shares):
        if share > 0:
            height = max(share / highest * BARS_HEIGHT, 0.8)
            x = number(scale.start + index * step + 0.3)
            parts.append(f"M{x} {number(base)}v-{number(height)}h{number(step - 0.6)}v{number(height)}z")
    return "".join(parts)


# ---- cumulative distributions ----------------------------------------------------------------------


CURVES_LEFT, CURVES_RIGHT, CURVES_TOP, CURVES_HEIGHT, CURVES_BOTTOM = 40.0, 12.0, 22.0, 170.0, 38.0


def times_chart(name: str, title: str, times: FlowTimes) -> Element | None:
    """Draw the share of flows whose mean time is at most that of the axis; None when no time is positive."""
    ends = log_range([pl.Series(c.values) for c in times.curves])
    if ends is None:
        return None
    across = Scale(low=ends[0] / 1.02, high=ends[1] * 1.02, start=CURVES_LEFT, end=WIDTH - CURVES_RIGHT)
    up = Scale(low=0.0, high=100.0, start=CURVES_TOP + CURVES_HEIGHT, end=CURVES_TOP, logarithmic=False)
    what = "mean round trip" if times.is_round_trip else "mean delay"
    marks = [
        *bottom_axis(across, CURVES_TOP, CURVES_TOP + CURVES_HEIGHT),
        *left_axis(up, CURVES_LEFT, WIDTH - CURVES_RIGHT),
        # The simulated line comes first and lies under the others.
        *(_steps(curve, across, up) for curve in times.curves),
        text(0, 10, "flows (%)", size=SMALL, class_="soft"),
        text(
            WIDTH - CURVES_RIGHT,
            CURVES_TOP + CURVES_HEIGHT + 32,
            f"{what} (µs)",
            anchor="end",
            size=SMALL,
            class_="soft",
        ),
    ]
    said = "; ".join(
        f"{c.name}: median {figure(c.quantiles.median)}, 5 to 95 percent from {figure(c.quantiles.p5)} to "
        f"{figure(c.quantiles.p95)}"
        for c in times.curves
    )
    return chart(name, title, said, CURVES_TOP + CURVES_HEIGHT + CURVES_BOTTOM, marks)


def _steps(curve: Curve, across: Scale, up: Scale) -> Element:
    """Return the distribution as a line of steps from no flow to all of them."""
    path = f"M{number(across.coordinate(curve.values[0]))} {number(up.coordinate(0))}"
    for value, share in zip(curve.values, curve.shares, strict=True):
        path += f"H{number(across.coordinate(value))}V{number(up.coordinate(share * 100))}"
    return element("path", d=path, class_=f"curve {curve_class(curve)}")


def curve_class(curve: Curve) -> str:
    """Return the class of the colour and the dashes of a curve."""
    return f"curve-{slug(curve.name)}"


# ---- scatter plots ---------------------------------------------------------------------------------


Places: TypeAlias = Iterable[tuple[float, float]]

LEFT, RIGHT, TOP, BOTTOM = 44.0, 12.0, 24.0, 40.0
SIDE = WIDTH - LEFT - RIGHT
MANY_POINTS = 600
BAND = 0.25
"""Deviation that the band around the diagonal shows."""


def estimate_chart(comparison: EstimateComparison) -> Element:
    """Draw every design, the diagonal where the estimate is right, and a band of 25 % around it."""
    values = [float(v) for _, xs, ys in comparison.points for side in (xs, ys) for v in side]
    low, high = min(values) / 1.08, max(values) * 1.08
    across = Scale(low=low, high=high, start=LEFT, end=LEFT + SIDE)
    up = Scale(low=low, high=high, start=TOP + SIDE, end=TOP)
    unit = comparison.label.unit
    marks = [
        *bottom_axis(across, TOP, TOP + SIDE),
        *left_axis(up, LEFT, LEFT + SIDE),
        _band(across, up),
        line(LEFT, TOP + SIDE, LEFT + SIDE, TOP, "diagonal"),
        _cloud(
            [
                (stage, zip(map(across.coordinate, xs), map(up.coordinate, ys), strict=True))
                for stage, xs, ys in comparison.points
            ],
            many=sum(xs.len() for _, xs, _ in comparison.points) > MANY_POINTS,
        ),
        text(0, 13, f"estimated ({unit})", size=SMALL, class_="soft"),
        text(LEFT + SIDE, TOP + SIDE + 32, f"measured ({unit})", anchor="end", size=SMALL, class_="soft"),
    ]
    everything = comparison.deviations[0].quantiles
    said = (
        f"{everything.count} designs; estimate over measurement less one: median "
        f"{signed_percent(everything.median)}, 5 to 95 percent from {signed_percent(everything.p5)} to "
        f"{signed_percent(everything.p95)}"
    )
    title = f"{comparison.estimate.title} against {comparison.label.title.lower()} of the synthesised design"
    return chart(f"estimate-{slug(comparison.name)}", title, said, TOP + SIDE + BOTTOM, marks)


def projection_chart(projection: Projection) -> Element:
    """Draw the programs on the plane of the training programs' principal components."""
    xs = [float(v) for _, points in projection.points for v in points[:, 0]]
    ys = [float(v) for _, points in projection.points for v in points[:, 1]]
    across = _padded(min(xs), max(xs), LEFT, LEFT + SIDE)
    up = _padded(min(ys), max(ys), TOP + SIDE, TOP)
    first, second = (percent(share) for share in projection.explained)
    marks = [
        *bottom_axis(across, TOP, TOP + SIDE),
        *left_axis(up, LEFT, LEFT + SIDE),
        _cloud(
            [
                (
                    stage,
                    zip(
                        map(across.coordinate, p[:, 0].tolist()),
                        map(up.coordinate, p[:, 1].tolist()),
                        strict=True,
                    ),
                )
                for stage, p in projection.points
            ],
            many=len(xs) > MANY_POINTS,
            hollow=EVALUATION,
        ),
        text(0, 13, f"second component, {second} of the variance", size=SMALL, class_="soft"),
        text(
            LEFT + SIDE,
            TOP + SIDE + 32,
            f"first component, {first} of the variance",
            anchor="end",
            size=SMALL,
            class_="soft",
        ),
    ]
    said = "; ".join(f"{stage}: {len(points)} programs" for stage, points in projection.points)
    title = "Programs on the two principal components of the training programs"
    return chart("coverage-plane", title, said, TOP + SIDE + BOTTOM, marks)


def _padded(low: float, high: float, start: float, end: float) -> Scale:
    room = (high - low) * 0.05 or 1.0
    return Scale(low=low - room, high=high + room, start=start, end=end, logarithmic=False)


def _cloud(stages: Sequence[tuple[str, Places]], *, many: bool, hollow: str | None = None) -> Element:
    """Draw the points of all stages, smaller if many; the stage `hollow` as diamonds."""
    paths = [_points(stage, places, hollow=stage == hollow) for stage, places in stages]
    return element("g", paths, class_="many" if many else None)


def _points(stage: str, places: Places, *, hollow: bool) -> Element:
    """Return all points of a stage as one path of strokes without length, each place drawn once."""
    distinct = dict.fromkeys((round(x * 2) / 2, round(y * 2) / 2) for x, y in places)
    if hollow:
        path = "".join(f"M{number(x - 3)} {number(y)}l3-3l3 3l-3 3z" for x, y in distinct)
        return element("path", d=path, class_=f"diamonds stage-{slug(stage)}")
    path = "".join(f"M{number(x)} {number(y)}h0" for x, y in distinct)
    return element("path", d=path, class_=f"dots stage-{slug(stage)}")


def _band(across: Scale, up: Scale) -> Element:
    """Return the area of estimates within BAND of the measurement, cut at the frame."""
    steps = [
        math.exp(math.log(across.low) + (math.log(across.high / across.low)) * k / 40) for k in range(41)
    ]
    upper = [(across.coordinate(v), up.coordinate(min(v * (1 + BAND), up.high))) for v in steps]
    lower = [(across.coordinate(v), up.coordinate(max(v * (1 - BAND), up.low))) for v in reversed(steps)]
    path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in (*upper, *lower)) + "z"
    return element("path", d=path, class_="band")


# ---- rows of ranges --------------------------------------------------------------------------------


LABEL, VALUE = 118.0, 46.0
WIDEST_LABEL = 120.0
ROW = 24.0


def coverage_chart(name: str, title: str, features: Sequence[FeatureCoverage]) -> Element:
    """Draw one row per feature, each on a logarithmic scale: band and line from the 5th to the 95th
    percentile.

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
    at = [scale.coordinate(v + shift) for v in (training.p5, training.median, training.p95)]
    on = [scale.coordinate(v + shift) for v in (evaluation.p5, evaluation.median, evaluation.p95)]
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
    """Draw one bar of statuses per stage, all of the same length."""
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
    name: str,
    title: str,
    spreads: Sequence[Spread],
    *,
    logarithmic: bool,
    as_percent: bool,
    begin: float | None = None,
) -> Element:
    """Draw a row per stage on one axis: 5th to 95th percentile, quartiles, median; distance at the right.

    Args: begin: positive, where a logarithmic axis of other than counts begins; it ends at the greatest 95th
          percentile then.
    """
    top, bottom = 16.0, 16.0 + 28.0 * len(spreads)
    low = min(s.quantiles.minimum for s in spreads)
    high = max(s.quantiles.maximum for s in spreads)
    if begin is not None:
        low, high = begin / NARROW_SPAN, max(s.quantiles.p95 for s in spreads) * NARROW_SPAN
    elif logarithmic:  # counts
        low, high = max(low, 1.0), max(high, 2.0)
    else:
        low, high = min(low, 0.0), max(high, 1.0)
    has_distances = any(s.distance is not None for s in spreads)
    end = WIDTH - (VALUE + 10 if has_distances else BARS_RIGHT)
    left = min(max(80.0, *(text_width(s.stage, NORMAL) + 4 for s in spreads)), WIDEST_LABEL)
    scale = Scale(low=low, high=high, start=left, end=end, logarithmic=logarithmic)
    told: Callable[[float], str] = percent if as_percent else figure
    marks = bottom_axis(scale, top, bottom, shown=percent if as_percent else tick)
    if has_distances:
        marks.append(text(WIDTH, 10, "distance", anchor="end", size=SMALL, class_="soft"))
    for index, spread in enumerate(spreads):
        y, quantiles = top + 28.0 * index + 14, spread.quantiles
        at = [
            scale.coordinate(v)
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
            text(0, y + 4, shortened(spread.stage, NORMAL, left - 4), class_="strong"),
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
    """Draw columns of shares by loop depth, one row per stage."""
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
    """Draw one row per entry: error with its 95 % interval on an axis from zero."""
    left, bottom = 132.0, 36.0 * len(rows) + 4
    highest = max([min(score.high, 4 * score.value) for _, _, score in rows] + [0.1])
    scale = Scale(low=0.0, high=highest * 1.04, start=left, end=WIDTH - 14, logarithmic=False)
    marks = bottom_axis(scale, 0, bottom, shown=lambda v: f"{tick(round(v * 100, 6))} %")
    for index, (label, entry, score) in enumerate(rows):
        y = 36.0 * index + 20
        marks += [
            text(0, y - 2, shortened(label, NORMAL, left - 8), class_="strong"),
            text(0, y + 11, shortened(entry.predictor, SMALL, left - 8), size=SMALL, class_="soft"),
            line(scale.coordinate(score.low), y, scale.coordinate(score.high), y, "range"),
            element("circle", cx=scale.coordinate(score.value), cy=y, r=4.5, class_="median"),
        ]
    said = "; ".join(
        f"{label}, {e.predictor}: {percent(s.value)}, interval {percent(s.low)} to {percent(s.high)}"
        for label, e, s in rows
    )
    return chart(name, title, said or figure(None), bottom + 20, marks)
