"""Cumulative distributions as lines in one frame."""

from __future__ import annotations

import numpy as np

from pipelines.reports.drawing.histograms import slug
from pipelines.reports.drawing.marks import SMALL, WIDTH, bottom_axis, chart, left_axis, text
from pipelines.reports.drawing.markup import Element, element, number
from pipelines.reports.drawing.scales import Scale
from pipelines.reports.drawing.wording import figure
from pipelines.reports.measures import log_range
from pipelines.reports.networks import Curve, FlowTimes

LEFT, RIGHT, TOP, HEIGHT, BOTTOM = 40.0, 12.0, 22.0, 170.0, 38.0


def times_chart(name: str, title: str, times: FlowTimes) -> Element | None:
    """Draw the share of flows whose mean time is at most that of the axis; None when no time is positive."""
    ends = log_range([np.array(c.values) for c in times.curves])
    if ends is None:
        return None
    across = Scale(low=ends[0] / 1.02, high=ends[1] * 1.02, start=LEFT, end=WIDTH - RIGHT)
    up = Scale(low=0.0, high=100.0, start=TOP + HEIGHT, end=TOP, logarithmic=False)
    what = "mean round trip" if times.is_round_trip else "mean delay"
    marks = [
        *bottom_axis(across, TOP, TOP + HEIGHT),
        *left_axis(up, LEFT, WIDTH - RIGHT),
        # The simulated line comes first and lies under the others.
        *(_steps(curve, across, up) for curve in times.curves),
        text(0, 10, "flows (%)", size=SMALL, class_="soft"),
        text(WIDTH - RIGHT, TOP + HEIGHT + 32, f"{what} (µs)", anchor="end", size=SMALL, class_="soft"),
    ]
    said = "; ".join(
        f"{c.name}: median {figure(c.quantiles.median)}, 5 to 95 percent from {figure(c.quantiles.p5)} to "
        f"{figure(c.quantiles.p95)}"
        for c in times.curves
    )
    return chart(name, title, said, TOP + HEIGHT + BOTTOM, marks)


def _steps(curve: Curve, across: Scale, up: Scale) -> Element:
    """The distribution as a line of steps from no flow to all of them."""
    path = f"M{number(across.place(curve.values[0]))} {number(up.place(0))}"
    for value, share in zip(curve.values, curve.shares, strict=True):
        path += f"H{number(across.place(value))}V{number(up.place(share * 100))}"
    return element("path", d=path, class_=f"curve {curve_class(curve)}")


def curve_class(curve: Curve) -> str:
    """Class of the colour and the dashes of a curve."""
    return f"curve-{slug(curve.name)}"
