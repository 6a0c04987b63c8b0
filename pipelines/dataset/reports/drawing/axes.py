"""Axes, grids and legends, which all charts share.

Charts are drawn for a width of WIDTH units, about that of a telephone, so that their letters keep one size
there and in a column of a desktop. Colours come from the style sheet by class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipelines.dataset.reports.drawing.markup import Child, Element, element, tick

TICK_LIMIT = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An axis from value `low` at place `start` to value `high` at place `end`.

    Attributes:
        logarithmic: equal ratios take equal room; low and high are positive.
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = True

    def coordinate(self, value: float) -> float:
        """Map a value to a coordinate between start and end."""
        low, high = self._inner(self.low), self._inner(self.high)
        share = (self._inner(max(value, self.low)) - low) / (high - low) if high > low else 0.5
        return self.start + min(share, 1.0) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return at most TICK_LIMIT round values between low and high, ascending."""
        ticks = _log_ticks(self.low, self.high) if self.logarithmic else _linear_ticks(self.low, self.high)
        return [t for t in ticks if self.low * (1 - 1e-9) <= t <= self.high * (1 + 1e-9)]

    def _inner(self, value: float) -> float:
        return math.log10(value) if self.logarithmic else value


def _log_ticks(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = [10.0**k for k in range(first, last + 1)]
    inside = [t for t in decades if low <= t <= high]
    if len(inside) > TICK_LIMIT:
        step = math.ceil(len(inside) / TICK_LIMIT)
        return inside[::step]
    if len(inside) >= 3:
        return inside
    for factors in ((1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        fine = [d * f for d in decades for f in factors if low <= d * f <= high]
        if len(fine) >= 3:
            return fine if len(fine) <= TICK_LIMIT else fine[:: math.ceil(len(fine) / TICK_LIMIT)]
    return _linear_ticks(low, high)


def _linear_ticks(low: float, high: float) -> list[float]:
    if not math.isfinite(high - low) or high <= low:
        return [low]
    rough = (high - low) / (TICK_LIMIT - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * f for f in (1, 2, 2.5, 5, 10) if power * f >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


# ---- marks -----------------------------------------------------------------------------------------


WIDTH = 360.0
SMALL, NORMAL = 10.5, 11.5
"""Sizes of letters in units."""

LETTER_WIDTH = 0.61
"""Mean advance of a letter over its size in the sans-serif faces of the style sheet, rounded up."""

GAP_BETWEEN_TICKS = 8.0


def text_width(content: str, size: float) -> float:
    """Return the room a text needs, estimated from its length."""
    return len(content) * size * LETTER_WIDTH


def shortened(content: str, size: float, room: float) -> str:
    """Return the text, or what of it fits into the room with an ellipsis."""
    if text_width(content, size) <= room:
        return content
    return content[: max(1, int(room / (size * LETTER_WIDTH)) - 1)] + "…"


def text(
    x: float,
    y: float,
    content: str,
    *,
    anchor: str = "start",
    size: float = NORMAL,
    class_: str | None = None,
) -> Element:
    """Return one line of text on the base line y."""
    return element("text", content, x=x, y=y, text_anchor=anchor, font_size=size, class_=class_)


def chart(name: str, title: str, description: str, height: float, *marks: Child) -> Element:
    """Return a drawing with what a screen reader says instead of it.

    Args: name: unique on the page, letters, digits and hyphens. title, description: plain text.
    """
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", description, id=f"{name}-desc"),
        *marks,
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="chart",
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Element:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def bottom_axis(
    scale: Scale, top: float, bottom: float, *, shown: Callable[[float], str] = tick
) -> list[Element]:
    """Return the vertical grid lines and their values below."""
    marks: list[Element] = []
    taken = -1.0
    for value in scale.ticks():
        x, label = scale.coordinate(value), shown(value)
        marks.append(line(x, top, x, bottom, "grid"))
        half = text_width(label, SMALL) / 2
        middle = min(max(x, half), WIDTH - half)
        if middle - half >= taken:
            marks.append(text(middle, bottom + 15, label, anchor="middle", size=SMALL, class_="soft"))
            taken = middle + half + GAP_BETWEEN_TICKS
    return marks


def left_axis(scale: Scale, left: float, right: float) -> list[Element]:
    """Return the horizontal grid lines and their values at the left."""
    marks: list[Element] = []
    for value in scale.ticks():
        y = scale.coordinate(value)
        marks.append(line(left, y, right, y, "grid"))
        marks.append(text(left - 6, y + 3.5, tick(value), anchor="end", size=SMALL, class_="soft"))
    return marks


def legend(stages: Sequence[tuple[str, str]]) -> Element:
    """Return the names of the colours, as a list: (class of the colour, name)."""
    entries = [
        element("li", element("span", class_=f"key {colour}", aria_hidden="true"), name)
        for colour, name in stages
    ]
    return element("ul", entries, class_="legend")
