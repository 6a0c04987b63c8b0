"""A label's distribution: a row of bars a stage on one logarithmic axis."""

from __future__ import annotations

from pipelines.reports.distributions import Distribution, StageDistribution
from pipelines.reports.drawing.marks import NORMAL, SMALL, WIDTH, bottom_axis, chart, line, shortened, text
from pipelines.reports.drawing.markup import Element, element, number
from pipelines.reports.drawing.scales import Scale
from pipelines.reports.drawing.wording import count, figure

LEFT, RIGHT, TOP = 76.0, 14.0, 6.0
ROW, BARS = 48.0, 32.0
AXIS = 22.0


def histogram_chart(distribution: Distribution) -> Element | None:
    """Draw the stages below each other; None when no value is positive.

    Bars are shares of the stage, each stage on its own height. Below them the line runs from the 5th to the
    95th percentile, and the dot is the median.
    """
    spans = [s.histogram for s in distribution.stages if s.histogram is not None]
    if not spans:
        return None
    scale = Scale(low=spans[0].low, high=spans[0].high, start=LEFT, end=WIDTH - RIGHT)
    bottom = TOP + ROW * len(distribution.stages)
    marks = bottom_axis(scale, TOP, bottom)
    for index, stage in enumerate(distribution.stages):
        marks.append(_row(stage, scale, TOP + ROW * index))
    quantity = distribution.quantity
    said = "; ".join(
        f"{s.stage}: median {figure(s.quantiles.median)}, 5 to 95 percent from {figure(s.quantiles.p5)} "
        f"to {figure(s.quantiles.p95)}"
        for s in distribution.stages
    )
    title = f"{quantity.title}{f' in {quantity.unit}' if quantity.unit else ''} by stage, logarithmic"
    return chart(f"distribution-{slug(quantity.column)}", title, said, bottom + AXIS, marks)


def _row(stage: StageDistribution, scale: Scale, top: float) -> Element:
    base = top + 4 + BARS
    quantiles = stage.quantiles
    marks = [
        text(0, base - 12, shortened(stage.stage, NORMAL, LEFT - 3), class_="strong"),
        text(0, base + 1, f"n = {count(quantiles.count)}", size=SMALL, class_="soft"),
        line(scale.start, base, scale.end, base, "base"),
    ]
    if stage.histogram is not None:
        marks.append(element("path", d=_outline(stage.histogram.shares, scale, base), class_="bars"))
        low, high = scale.place(max(quantiles.p5, scale.low)), scale.place(max(quantiles.p95, scale.low))
        marks.append(line(low, base + 5, high, base + 5, "range"))
        marks.append(
            element(
                "circle",
                cx=scale.place(max(quantiles.median, scale.low)),
                cy=base + 5,
                r=3.2,
                class_="median",
            )
        )
    return element("g", marks, class_=f"stage-{slug(stage.stage)}")


def _outline(shares: tuple[float, ...], scale: Scale, base: float) -> str:
    """The bars as one path; the highest takes all the room."""
    highest = max(shares)
    step = (scale.end - scale.start) / len(shares)
    parts: list[str] = []
    for index, share in enumerate(shares):
        if share > 0:
            height = max(share / highest * BARS, 0.8)
            x = number(scale.start + index * step + 0.3)
            parts.append(f"M{x} {number(base)}v-{number(height)}h{number(step - 0.6)}v{number(height)}z")
    return "".join(parts)


def slug(name: str) -> str:
    """A name as part of a class or an id."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower())
