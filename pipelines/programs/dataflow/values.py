"""Element types of tensors and the ranges their values stay in."""

from __future__ import annotations

from dataclasses import dataclass

INT32_MAX = 2**31 - 1


class Unsuitable(Exception):
    """An operator cannot take these tensors; the graph generator draws another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """The type of a program's tensors.

    Attributes:
        name: as in the options.
        c_names: spellings in C.
        bits: of one element.
        limit: magnitude that an operator's results are scaled down to.
        inputs, weights: magnitudes that external data may be drawn with.
    """

    name: str
    c_names: tuple[str, ...]
    bits: int
    limit: int
    inputs: tuple[int, ...]
    weights: tuple[int, ...]

    @property
    def floating(self) -> bool:
        """Whether elements are floating numbers."""
        return self.name == "float"

    @property
    def narrow(self) -> bool:
        """Whether sums need a wider type than elements have."""
        return self.bits < 32


ELEMENTS = {
    e.name: e
    for e in (
        Element(
            name="int8",
            c_names=("int8_t", "signed char"),
            bits=8,
            limit=127,
            inputs=(16, 64, 127),
            weights=(8, 32, 127),
        ),
        Element(
            name="int16",
            c_names=("int16_t", "short"),
            bits=16,
            limit=4095,
            inputs=(16, 100, 1000),
            weights=(4, 16, 100),
        ),
        Element(
            name="int32",
            c_names=("int", "int32_t"),
            bits=32,
            limit=4095,
            inputs=(16, 100, 1000),
            weights=(4, 16, 100),
        ),
        Element(name="float", c_names=("float",), bits=32, limit=4096, inputs=(1, 4), weights=(1, 1)),
    )
}


@dataclass(frozen=True, slots=True)
class Range:
    """An interval that holds every value, ends included."""

    low: float
    high: float

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Range) -> Range:
        return Range(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Range) -> Range:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(min(ends), max(ends))

    def hull(self, other: Range) -> Range:
        """The smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def accumulated(self, count: int) -> Range:
        """Of a sum of at most so many terms, and of all its partial sums."""
        return Range(min(0, self.low * count), max(0, self.high * count))


ZERO = Range(0, 0)


def symmetric(magnitude: float) -> Range:
    """-magnitude .. magnitude."""
    return Range(-magnitude, magnitude)


def require_int32(range_: Range) -> None:
    """Refuse what a 32-bit sum may not hold.

    Raises: Unsuitable: the range passes 2^31 - 1 in magnitude.
    """
    if range_.magnitude > INT32_MAX:
        raise Unsuitable(f"a sum must fit int32, got up to {range_.magnitude}")
