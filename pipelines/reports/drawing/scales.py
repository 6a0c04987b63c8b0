"""Axes: from values to places, and where their ticks are."""

from __future__ import annotations

import math
from dataclasses import dataclass

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

    def place(self, value: float) -> float:
        """Where a value is, kept between start and end."""
        low, high = self._inner(self.low), self._inner(self.high)
        share = (self._inner(max(value, self.low)) - low) / (high - low) if high > low else 0.5
        return self.start + min(share, 1.0) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """At most TICK_LIMIT round values between low and high, ascending."""
        found = _log_ticks(self.low, self.high) if self.logarithmic else _linear_ticks(self.low, self.high)
        return [t for t in found if self.low * (1 - 1e-9) <= t <= self.high * (1 + 1e-9)]

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
