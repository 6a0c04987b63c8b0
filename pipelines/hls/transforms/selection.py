"""Choosing one of many values by an index: trees of selections."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_select, truth_value


def equals(index: ir.Expression, number: int) -> ir.Expression:
    """1 when an INT32 index is a number, else 0."""
    return make_binary("eq", index, ir.Constant(value=number))


def both(first: ir.Expression, second: ir.Expression | None) -> ir.Expression:
    """A predicate that holds when two do; None holds always."""
    if second is None:
        return first
    return make_binary("and", truth_value(first), truth_value(second))


def is_power_of_two(number: int) -> bool:
    """Whether a positive number is a power of two."""
    return number & (number - 1) == 0


def quotient(index: ir.Expression, divisor: int) -> ir.Expression:
    """An INT32 index that is not negative divided by a constant; by a shift when that does it."""
    if is_power_of_two(divisor):
        return make_binary("shr", index, ir.Constant(value=divisor.bit_length() - 1))
    return make_binary("div", index, ir.Constant(value=divisor))


def remainder(index: ir.Expression, divisor: int) -> ir.Expression:
    """An INT32 index that is not negative modulo a constant; by a mask when that does it."""
    if divisor == 1:
        return ir.Constant(value=0)
    if is_power_of_two(divisor):
        return make_binary("and", index, ir.Constant(value=divisor - 1))
    return make_binary("rem", index, ir.Constant(value=divisor))


def choose(index: ir.Expression, choices: Sequence[tuple[int, ir.Expression]]) -> ir.Expression:
    """The value whose number the index is, by a balanced tree.

    Args:    index: INT32; choices: (number, value) in increasing order of number, at least one.
    Returns: anything among the values when the index is none of the numbers. A node tests one bit of the
             index where that tells its halves apart, and compares otherwise.
    """
    if len(choices) == 1:
        return choices[0][1]
    middle = _split(choices)
    low, high = choices[:middle], choices[middle:]
    difference = low[-1][0] ^ high[0][0]
    bit = 1 << (difference.bit_length() - 1)
    if all(not n & bit for n, _ in low) and all(n & bit for n, _ in high):
        test = make_binary("and", index, ir.Constant(value=bit))
        return make_select(test, choose(index, high), choose(index, low))
    test = make_binary("lt", index, ir.Constant(value=high[0][0]))
    return make_select(test, choose(index, low), choose(index, high))


def _split(choices: Sequence[tuple[int, ir.Expression]]) -> int:
    """Where the highest bit in which the numbers differ changes, unless that is far from the middle."""
    first, last = choices[0][0], choices[-1][0]
    bit = 1 << ((first ^ last).bit_length() - 1)
    middle = sum(1 for n, _ in choices if not n & bit)
    depth = (len(choices) - 1).bit_length()
    longest = max(middle, len(choices) - middle)
    return middle if (longest - 1).bit_length() < depth else len(choices) // 2
