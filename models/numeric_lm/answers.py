"""Numbers as sequences of classes: digits from the highest down, or sign, exponent and mantissa.

A form says how many steps an answer has and how many classes each step chooses from. A prefix of an answer
stands for the interval of all values that begin with it; the search over digits relies on that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError

Classes = NDArray[np.int64]
Values = NDArray[np.float64]


class AnswerForm(Protocol):
    """A way to write non-negative numbers as classes."""

    @property
    def choices(self) -> tuple[int, ...]:
        """Number of classes of each step."""
        ...

    def encode(self, value: float) -> tuple[int, ...]:
        """Return the classes of a value. Raises: PredictorError: negative, not finite, or too large."""
        ...

    def intervals(self, prefixes: Classes) -> tuple[Values, Values]:
        """Return lower and upper ends, (rows,), of the values that begin with each prefix, (rows, steps).

        Those of a whole answer are one step wide, with its value in the middle.
        """
        ...

    def value(self, classes: Sequence[int]) -> float:
        """Return the value of a whole answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedDigits:
    """Digits of one place each, from the highest down (LLMulator section 4.2).

    Attributes:
        base: of the digits. places: how many. step: value of the lowest place.
    """

    base: int
    places: int
    step: float

    @property
    def choices(self) -> tuple[int, ...]:
        """`base` classes at each place."""
        return (self.base,) * self.places

    def encode(self, value: float) -> tuple[int, ...]:
        """Return the digits of a value, rounded half to even to the lowest place."""
        _require_number(value)
        number = round(value / self.step)
        if number >= self.base**self.places:
            raise PredictorError(f"value too large: {value:g}; accepted: below {self._end:g}")
        digits: list[int] = []
        for _ in range(self.places):
            number, digit = divmod(number, self.base)
            digits.append(digit)
        return tuple(reversed(digits))

    def intervals(self, prefixes: Classes) -> tuple[Values, Values]:
        """Return the values that begin with some digits; a whole answer reaches half a step to each side."""
        width = self.base ** (self.places - prefixes.shape[1])
        low = _numbers(prefixes, self.base) * width
        return np.maximum(0.0, (low - 0.5) * self.step), (low + width - 0.5) * self.step

    def value(self, classes: Sequence[int]) -> float:
        """Return the value of all digits."""
        return float(_numbers(np.array([classes]), self.base)[0] * self.step)

    @property
    def _end(self) -> float:
        return (self.base**self.places - 0.5) * self.step


@dataclass(frozen=True, slots=True, kw_only=True)
class Scientific:
    """Sign, exponent, and digits of the mantissa, the first of which is not 0 (regression language models).

    The sign is always positive for labels; its step stays, so that answers have the published form. Zero is
    the smallest value.

    Attributes:
        base: of exponent and mantissa. mantissa: digits. lowest, highest: exponents of the first digit.
    """

    base: int
    mantissa: int
    lowest: int
    highest: int

    @property
    def choices(self) -> tuple[int, ...]:
        """Two signs, the exponents, `base` - 1 first digits, `base` others."""
        return (2, self.highest - self.lowest + 1, self.base - 1, *(self.base,) * (self.mantissa - 1))

    def encode(self, value: float) -> tuple[int, ...]:
        """Return the classes of a value, rounded to the digits of the mantissa."""
        _require_number(value)
        exponent = self.lowest
        if value > 0:
            exponent = max(self.lowest, math.floor(math.log(value, self.base)))
        most = self.base**self.mantissa
        number = round(value / self._step(exponent))
        while number >= most:
            exponent += 1
            number = round(value / self._step(exponent))
        while number < most // self.base and exponent > self.lowest:  # log rounded up
            exponent -= 1
            number = round(value / self._step(exponent))
        if exponent > self.highest:
            raise PredictorError(f"value too large: {value:g}; accepted: below {self.base**self.highest:g}")
        number = max(number, most // self.base)
        digits: list[int] = []
        for _ in range(self.mantissa):
            number, digit = divmod(number, self.base)
            digits.append(digit)
        digits.reverse()
        return (0, exponent - self.lowest, digits[0] - 1, *digits[1:])

    def intervals(self, prefixes: Classes) -> tuple[Values, Values]:
        """Return the range of values that begin with some classes; 0 to 0 for a negative sign."""
        rows, steps = prefixes.shape
        if steps < 2:
            low, high = np.zeros(rows), np.full(rows, float(self.base) ** (self.highest + 1))
        else:
            digits = prefixes[:, 2:].astype(np.float64)
            digits[:, :1] += 1
            step = float(self.base) ** (self.lowest + prefixes[:, 1] - self.mantissa + 1)
            width = self.base ** (self.mantissa - digits.shape[1])
            number = _numbers(digits, self.base) * width
            if steps == 2:  # no digit is known, and the first is not 0
                number[:] = width // self.base
            end = width if steps == 2 else number + width
            low, high = (number - 0.5) * step, (end - 0.5) * step
        negative = prefixes[:, :1].any(axis=1)
        return np.where(negative, 0.0, low), np.where(negative, 0.0, high)

    def value(self, classes: Sequence[int]) -> float:
        """Return the value of a whole answer; 0 for a negative sign."""
        if classes[0] == 1:
            return 0.0
        digits = np.array([[classes[2] + 1, *classes[3:]]])
        return float(_numbers(digits, self.base)[0] * self._step(self.lowest + classes[1]))

    def _step(self, exponent: int) -> float:
        return float(self.base) ** (exponent - self.mantissa + 1)


def _numbers(digits: NDArray[Any], base: int) -> Values:
    """Return the values of rows of digits, highest first: (rows, digits) to (rows,)."""
    return digits.astype(np.float64) @ float(base) ** np.arange(digits.shape[1] - 1, -1, -1)


def _require_number(value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise PredictorError(f"value is no label: {value}; accepted: finite, at least 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A label and its range.

    Attributes:
        dynamic: it depends on run-time data (LLMulator section 5.2).
        largest: the values end below it. step: resolution.
    """

    target: str
    dynamic: bool
    largest: float
    step: float


METRICS = (
    Metric(target="power_mw", dynamic=True, largest=1e5, step=1e-4),
    Metric(target="area_um2", dynamic=False, largest=1e8, step=1e-1),
    Metric(target="flip_flop_count", dynamic=False, largest=1e7, step=1.0),
    Metric(target="latency_cycles", dynamic=True, largest=1e9, step=1.0),
    Metric(target="delay_ns", dynamic=False, largest=1e4, step=1e-3),
)
"""Ranges as in the records (`pipelines.dataset.records.QUANTITIES`). The order of the metric prompts."""
TARGETS = tuple(metric.target for metric in METRICS)
RATIO = Metric(target="ratio", dynamic=False, largest=1e4, step=1e-4)
_MANTISSA = {2: 14, 10: 4, 16: 4}


def classes_of(form: AnswerForm, value: float) -> tuple[int, ...]:
    """Return the classes of a value; one beyond the range of fixed digits counts as its end."""
    largest = math.inf
    if isinstance(form, FixedDigits):
        largest = form.value([form.base - 1] * form.places)
    return form.encode(min(value, largest))


def form_of(metric: Metric, *, base: int, answer: str) -> AnswerForm:
    """Return the form of a metric's answers, with at least its range and resolution."""
    if answer == "scientific":
        lowest, highest = (round(math.log(end, base)) for end in (metric.step, metric.largest))
        return Scientific(base=base, mantissa=_MANTISSA[base], lowest=lowest, highest=highest)
    places = math.ceil(round(math.log(metric.largest / metric.step, base), 9))
    return FixedDigits(base=base, places=places, step=metric.step)


def forms_of(*, base: int, answer: str, ratios: Sequence[str]) -> dict[str, AnswerForm]:
    """Return the form by target; targets in `ratios` are answered by the ratio to their estimate."""
    return {
        metric.target: form_of(RATIO if metric.target in ratios else metric, base=base, answer=answer)
        for metric in METRICS
    }
