"""The meaning of every operator on constants: C semantics, two's complement and IEEE-754.

Floating results are folded only where they are exact to the last bit on any machine: binary32 operations
are done in binary64 and rounded once, which gives the correctly rounded result for add, sub, mul, div and
sqrt (binary64 has more than 2 p + 2 bits).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pipelines.c import ir
from pipelines.c.ir import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expression,
    Select,
    Unary,
    bits_of_float,
    float_constant,
    type_of,
)
from pipelines.c.signature import INT32, ScalarType


def wrap(value: int, kind: ScalarType) -> int:
    """Return the value modulo 2^width, in the range of the integer type."""
    value &= (1 << kind.width_bits) - 1
    if kind.signed and value >> (kind.width_bits - 1):
        value -= 1 << kind.width_bits
    return value


def value_range(kind: ScalarType) -> tuple[int, int]:
    """Return the smallest and largest value of an integer type."""
    if kind.signed:
        return -(1 << (kind.width_bits - 1)), (1 << (kind.width_bits - 1)) - 1
    return 0, (1 << kind.width_bits) - 1


def evaluate(operator: str, left: int, right: int, kind: ScalarType) -> int | None:
    """Return the value of a binary integer operator, None where C leaves it undefined (division by zero, wild
    shifts).

    Args:    left, right: within the operands' type; kind: type of the result.
    Source:  ISO C11 6.5.5 (division truncates toward zero), 6.5.7 (shifts).
    """
    if operator in ("div", "rem"):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return wrap(quotient if operator == "div" else left - quotient * right, kind)
    if operator in ("shl", "shr") and not 0 <= right < kind.width_bits:
        return None
    table = {
        "add": lambda: left + right,
        "sub": lambda: left - right,
        "mul": lambda: left * right,
        "and": lambda: left & right,
        "or": lambda: left | right,
        "xor": lambda: left ^ right,
        "shl": lambda: left << right,
        "shr": lambda: left >> right,
        "lt": lambda: int(left < right),
        "le": lambda: int(left <= right),
        "gt": lambda: int(left > right),
        "ge": lambda: int(left >= right),
        "eq": lambda: int(left == right),
        "ne": lambda: int(left != right),
    }
    return wrap(table[operator](), kind)


def _compare(operator: str, left: float, right: float) -> int:
    table = {
        "lt": left < right,
        "le": left <= right,
        "gt": left > right,
        "ge": left >= right,
        "eq": left == right,
        "ne": left != right,
    }
    return int(table[operator])


def _fold_float(operator: str, left: Constant, right: Constant) -> Constant | None:
    """Return a floating operator on constants; None when the result is not a finite number."""
    a, b = float(left.number), float(right.number)
    if operator in COMPARISONS:
        return Constant(value=_compare(operator, a, b))
    if operator == "div":
        if b == 0.0:
            return None
        result = a / b
    else:
        result = {"add": a + b, "sub": a - b, "mul": a * b}[operator]
    if not math.isfinite(result):
        return None
    folded = float_constant(result, left.type)
    return folded if math.isfinite(float(folded.number)) else None


_LEFT_IDENTITY = {"add": 0, "mul": 1, "or": 0, "xor": 0}
_RIGHT_IDENTITY = {"add": 0, "sub": 0, "mul": 1, "div": 1, "or": 0, "xor": 0, "shl": 0, "shr": 0}


def make_binary(operator: str, left: Expression, right: Expression) -> Expression:
    """Make a binary expression of operands of one type, folded when they are constants or an identity
    element.

    Raises: ValueError: the operands have different types.
    """
    kind = type_of(left)
    if type_of(right) != kind:
        raise ValueError(f"operands of {operator} must have one type, got {kind} and {type_of(right)}")
    result = INT32 if operator in COMPARISONS else kind
    if kind.floating:
        folded = None
        if isinstance(left, Constant) and isinstance(right, Constant):
            folded = _fold_float(operator, left, right)
        return folded or Binary(operator=operator, left=left, right=right, type=result)
    if isinstance(left, Constant) and isinstance(right, Constant):
        value = evaluate(operator, left.value, right.value, result)
        if value is not None:
            return Constant(value=value, type=result)
    if isinstance(right, Constant) and right.value == _RIGHT_IDENTITY.get(operator):
        return left
    if isinstance(left, Constant) and left.value == _LEFT_IDENTITY.get(operator):
        return right
    if isinstance(left, Constant) and operator in ("add", "mul", "and", "or", "xor"):
        left, right = right, left
    return Binary(operator=operator, left=left, right=right, type=result)


def make_unary(operator: str, operand: Expression) -> Expression:
    """Make a unary expression (`neg`, `not`, `abs`, `sqrt`), folded when its operand is a constant."""
    kind = type_of(operand)
    if isinstance(operand, Constant) and not kind.floating:
        return Constant(value=wrap(-operand.value if operator == "neg" else ~operand.value, kind), type=kind)
    if isinstance(operand, Constant):
        sign = 1 << (kind.width_bits - 1)
        if operator == "neg":
            return Constant(value=operand.value ^ sign, type=kind)
        if operator == "abs":
            return Constant(value=operand.value & ~sign, type=kind)
        if operator == "sqrt" and operand.number >= 0 and math.isfinite(operand.number):
            return float_constant(math.sqrt(operand.number), kind)
    return Unary(operator=operator, operand=operand, type=kind)


def _converted(operand: Constant, kind: ScalarType) -> Constant | None:
    if kind.floating:
        number = operand.number
        if isinstance(number, int):
            return Constant(value=_bits_of_integer(number, kind), type=kind)
        return None if math.isnan(number) else float_constant(number, kind)
    if not operand.type.floating:
        return Constant(value=wrap(operand.value, kind), type=kind)
    number = operand.number
    if not math.isfinite(number):
        return None
    low, high = value_range(kind)
    truncated = int(number)
    return Constant(value=truncated, type=kind) if low <= truncated <= high else None


def _bits_of_integer(number: int, kind: ScalarType) -> int:
    """Return bits of an integer rounded once to a floating type (Python's own rounding is to binary64)."""
    if kind.width_bits == 64 or abs(number) < 1 << 53:
        return bits_of_float(float(number), kind)
    magnitude, sticky = abs(number), 0
    shift = magnitude.bit_length() - 40
    sticky = int(magnitude & ((1 << shift) - 1) != 0)
    rounded = float(((magnitude >> shift) | sticky) << shift)
    return bits_of_float(-rounded if number < 0 else rounded, kind)


def make_cast(operand: Expression, kind: ScalarType) -> Expression:
    """Make the value converted to a type as C converts it; the value itself when it already has the type."""
    if type_of(operand) == kind:
        return operand
    if isinstance(operand, Constant):
        converted = _converted(operand, kind)
        if converted is not None:
            return converted
    return Cast(operand=operand, type=kind)


def make_bit_cast(operand: Expression, kind: ScalarType) -> Expression:
    """Reinterpret bits as a value of another type of the same width."""
    if type_of(operand) == kind:
        return operand
    if isinstance(operand, Constant):
        mask = (1 << kind.width_bits) - 1
        bits = operand.value & mask
        return Constant(value=bits if kind.floating else wrap(bits, kind), type=kind)
    return Cast(operand=operand, type=kind, bits=True)


def make_select(condition: Expression, if_true: Expression, if_false: Expression) -> Expression:
    """Make a selection between values of one type, folded when its condition is a constant.

    Raises: ValueError: the values have different types.
    """
    kind = type_of(if_true)
    if type_of(if_false) != kind:
        raise ValueError(f"both values of a selection must have one type, got {kind}, {type_of(if_false)}")
    if isinstance(condition, Constant):
        return if_true if condition.value else if_false
    if if_true == if_false:
        return if_true
    return Select(condition=condition, if_true=if_true, if_false=if_false, type=kind)


def truth_value(expression: Expression) -> Expression:
    """Return the expression as 0 or 1 of type INT32; a floating value is true when it does not equal zero."""
    if isinstance(expression, Binary) and expression.operator in COMPARISONS:
        return expression
    kind = type_of(expression)
    if isinstance(expression, Constant):
        return Constant(value=int(expression.number != 0))
    if isinstance(expression, Select) and all(
        (isinstance(b, Constant) and b.value in (0, 1) and b.type == INT32) or truth_value(b) is b
        for b in (expression.if_true, expression.if_false)
    ):
        return expression
    return Binary(operator="ne", left=expression, right=Constant(value=0, type=kind))


def negated(condition: Expression) -> Expression:
    """Return 1 when an INT32 condition is 0, else 0."""
    return make_binary("eq", condition, Constant(value=0))


def equals(index: ir.Expression, number: int) -> ir.Expression:
    """Return 1 when an INT32 index is a number, else 0."""
    return make_binary("eq", index, ir.Constant(value=number))


def both(first: ir.Expression, second: ir.Expression | None) -> ir.Expression:
    """Return the conjunction of two predicates; None stands for one that always holds."""
    if second is None:
        return first
    return make_binary("and", truth_value(first), truth_value(second))


def is_power_of_two(number: int) -> bool:
    """Tell whether a positive number is a power of two."""
    return number & (number - 1) == 0


def quotient(index: ir.Expression, divisor: int) -> ir.Expression:
    """Return a non-negative INT32 index divided by a constant; by a shift if that is a power of two."""
    if is_power_of_two(divisor):
        return make_binary("shr", index, ir.Constant(value=divisor.bit_length() - 1))
    return make_binary("div", index, ir.Constant(value=divisor))


def remainder(index: ir.Expression, divisor: int) -> ir.Expression:
    """Return a non-negative INT32 index modulo a constant; a mask when the constant is a power of two."""
    if divisor == 1:
        return ir.Constant(value=0)
    if is_power_of_two(divisor):
        return make_binary("and", index, ir.Constant(value=divisor - 1))
    return make_binary("rem", index, ir.Constant(value=divisor))


def choose(index: ir.Expression, choices: Sequence[tuple[int, ir.Expression]]) -> ir.Expression:
    """Select a value by its number, the index, through a balanced tree.

    Args:    index: INT32; choices: (number, value) in increasing order of number, at least one.
    Returns: the selected value, any of them when the index is none of the numbers. A node tests one bit of
             the index where that separates its halves, and compares otherwise.
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
    """Return position where the numbers' highest differing bit changes, unless it is far from the middle."""
    first, last = choices[0][0], choices[-1][0]
    bit = 1 << ((first ^ last).bit_length() - 1)
    middle = sum(1 for n, _ in choices if not n & bit)
    depth = (len(choices) - 1).bit_length()
    longest = max(middle, len(choices) - middle)
    return middle if (longest - 1).bit_length() < depth else len(choices) // 2
