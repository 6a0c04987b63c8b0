"""Estimated against measured, and programs on a plane: many points, one path a stage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from pipelines.reports.coverage import Projection
from pipelines.reports.distributions import EstimateComparison
from pipelines.reports.drawing.histograms import slug
from pipelines.reports.drawing.marks import SMALL, WIDTH, bottom_axis, chart, left_axis, line, text
from pipelines.reports.drawing.markup import Element, element, number
from pipelines.reports.drawing.scales import Scale
from pipelines.reports.drawing.wording import percent, signed_percent
from pipelines.reports.samples import EVALUATION

Places: TypeAlias = Iterable[tuple[float, float]]

LEFT, RIGHT, TOP, BOTTOM = 44.0, 12.0, 24.0, 40.0
SIDE = WIDTH - LEFT - RIGHT
MANY_POINTS = 600
BAND = 0.25
"""Deviation that the band around the diagonal shows."""


def estimate_chart(comparison: EstimateComparison) -> Element:
    """Draw every design, the diagonal where the estimate is right, and a band of 25 % around it."""
    values = [
        float(v) for _, xs, ys in comparison.points for side in (xs, ys) for v in (side.min(), side.max())
    ]
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
                (stage, zip(map(across.place, xs.tolist()), map(up.place, ys.tolist()), strict=True))
                for stage, xs, ys in comparison.points
            ],
            many=sum(xs.size for _, xs, _ in comparison.points) > MANY_POINTS,
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
                    zip(map(across.place, p[:, 0].tolist()), map(up.place, p[:, 1].tolist()), strict=True),
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
    """Points of all stages, smaller ones when there are many; those of the stage `hollow` as diamonds."""
    paths = [_points(stage, places, hollow=stage == hollow) for stage, places in stages]
    return element("g", paths, class_="many" if many else None)


def _points(stage: str, places: Places, *, hollow: bool) -> Element:
    """All points of a stage as one path of strokes without length; points on one place are drawn once."""
    distinct = dict.fromkeys((round(x * 2) / 2, round(y * 2) / 2) for x, y in places)
    if hollow:
        path = "".join(f"M{number(x - 3)} {number(y)}l3-3l3 3l-3 3z" for x, y in distinct)
        return element("path", d=path, class_=f"diamonds stage-{slug(stage)}")
    path = "".join(f"M{number(x)} {number(y)}h0" for x, y in distinct)
    return element("path", d=path, class_=f"dots stage-{slug(stage)}")


def _band(across: Scale, up: Scale) -> Element:
    """The area of estimates within BAND of the measurement, cut at the frame."""
    steps = [
        math.exp(math.log(across.low) + (math.log(across.high / across.low)) * k / 40) for k in range(41)
    ]
    upper = [(across.place(v), up.place(min(v * (1 + BAND), up.high))) for v in steps]
    lower = [(across.place(v), up.place(max(v * (1 - BAND), up.low))) for v in reversed(steps)]
    path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in (*upper, *lower)) + "z"
    return element("path", d=path, class_="band")
