"""Sums of floats with the same bits on every version of Python."""

from __future__ import annotations

from collections.abc import Iterable


def ordered_sum(values: Iterable[float]) -> float:
    """Add numbers from left to right.

    The builtin `sum` does the same up to Python 3.11. Since 3.12 it compensates rounding errors of floats, so
    the last bits of a table would depend on the interpreter.
    """
    total: float = 0
    for value in values:
        total += value
    return total
