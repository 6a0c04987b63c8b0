"""Typed expressions: the type that C gives a result, and its interval.

Integer conversions that change a value wrap, as gcc defines them. Floating bounds are widened by `_SLACK` at
each operation, more than rounding to nearest can add.
"""

from __future__ import annotations

from math import sqrt

from pipelines.c.signature import FLOAT, INT32, INT64, UINT32, UINT64, ScalarType, common_type, promoted
from pipelines.programs.ast.tree import (
    Array,
    Binary,
    Call,
    Cast,
    Constant,
    Element,
    Expression,
    Extent,
    Number,
    Read,
    Select,
    Unary,
    Variable,
)

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
FLOAT_LIMIT = 1e30
"""Largest magnitude of a floating value, well inside float."""

_SLACK = 1e-6
_SMALLEST_DIVISOR = 1e-3


def type_range(kind: ScalarType) -> tuple[Number, Number]:
    """Return the smallest and largest value of an integer type; limits of programs for a floating one."""
    if kind.floating:
        return -FLOAT_LIMIT, FLOAT_LIMIT
    if kind.signed:
        return -(1 << (kind.width_bits - 1)), (1 << (kind.width_bits - 1)) - 1
    return 0, (1 << kind.width_bits) - 1


# ---- leaves ----------------------------------------------------------------------------------------


def constant(value: Number, kind: ScalarType, text: str = "") -> Constant:
    """Return a literal; an integer one has the type int unless it does not fit or the type is unsigned."""
    return Constant(type=kind, low=value, high=value, value=value, text=text)


def integer(value: int) -> Constant:
    """Return a literal of type int, or of int64_t when it needs it."""
    low, high = type_range(INT32)
    return constant(value, INT32 if low <= value <= high else INT64)


def extent_value(extent: Extent) -> Constant:
    """Return a length as an expression of type int."""
    return constant(extent.value, INT32, extent.text)


def read(variable: Variable) -> Read:
    """Return the value of a variable."""
    return Read(type=variable.type, low=variable.low, high=variable.high, variable=variable)


def element(array: Array, subscripts: tuple[Expression, ...]) -> Element:
    """Return an element whose subscripts are in range.

    Raises: IndexError: a subscript may be out of range: a fault of the generator.
    """
    for subscript, extent in zip(subscripts, array.shape, strict=True):
        if subscript.low < 0 or subscript.high >= extent.value:
            raise IndexError(f"a subscript of {array.name} must be in range, got {subscript}")
    return Element(type=array.type, low=array.low, high=array.high, array=array, subscripts=subscripts)


# ---- conversions -----------------------------------------------------------------------------------


def converted_range(low: Number, high: Number, kind: ScalarType) -> tuple[Number, Number]:
    """Return the interval after a conversion to a type; all of it when an integer may wrap."""
    if kind.floating:
        return float(low), float(high)
    least, most = type_range(kind)
    low, high = int(low), int(high)
    return (low, high) if least <= low and high <= most else (least, most)


def cast(operand: Expression, kind: ScalarType) -> Expression | None:
    """Return a conversion; None when a floating value may lie outside an integer type."""
    if operand.type == kind:
        return operand
    if operand.type.floating and not kind.floating:
        least, most = type_range(kind)
        if operand.low <= least or operand.high >= most:
            return None
    low, high = converted_range(operand.low, operand.high, kind)
    return Cast(type=kind, low=low, high=high, operand=operand)


# ---- operators -------------------------------------------------------------------------------------


def negate(operand: Expression) -> Expression | None:
    """Return `-operand`, of a signed type."""
    kind = promoted(operand.type)
    low, high = -operand.high, -operand.low
    if not kind.signed or high > type_range(kind)[1]:
        return None
    return Unary(type=kind, low=low, high=high, operator="-", operand=operand)


def complement(operand: Expression) -> Expression | None:
    """Return `~operand`, of an integer."""
    kind = promoted(operand.type)
    if kind.floating:
        return None
    low, high = (~int(operand.high), ~int(operand.low)) if kind.signed else type_range(kind)
    return Unary(type=kind, low=low, high=high, operator="~", operand=operand)


def opposite(condition: Expression) -> Expression:
    """Return `!condition`."""
    return Unary(type=INT32, low=0, high=1, operator="!", operand=condition)


def binary(operator: str, left: Expression, right: Expression) -> Expression | None:
    """Return an arithmetic or bit operator, a comparison, or logic.

    Returns: None where the result may be undefined, of a signed integer type out of range, the same for all
             values, or not a finite number.
    """
    if operator in COMPARISONS:
        return compare(operator, left, right)
    if operator in ("&&", "||"):
        return Binary(type=INT32, low=0, high=1, operator=operator, left=left, right=right)
    kind = promoted(left.type) if operator in ("<<", ">>") else common_type(left.type, right.type)
    if kind.floating:
        bounds = _floating_bounds(operator, left, right)
    else:
        bounds = _integer_bounds(operator, left, right, kind)
    if bounds is None or (bounds[0] == bounds[1] and not isinstance(left, Constant)):
        return None
    return Binary(type=kind, low=bounds[0], high=bounds[1], operator=operator, left=left, right=right)


def wrapped(operator: str, left: Expression, right: Expression) -> Expression | None:
    """Return `+`, `-` or `*` of two integers that wraps in their type: it is computed in the unsigned one."""
    kind = common_type(left.type, right.type)
    if kind.floating:
        return None
    unsigned = UINT64 if kind.width_bits == INT64.width_bits else UINT32
    result = binary(operator, possible(cast(left, unsigned)), possible(cast(right, unsigned)))
    return None if result is None else cast(result, kind)


def compare(operator: str, left: Expression, right: Expression) -> Expression | None:
    """Return a comparison of two values of one signedness; None when its result is constant."""
    apart = left.high < right.low or right.high < left.low
    known = {
        "<": left.low >= right.high,
        ">=": left.low >= right.high,
        ">": left.high <= right.low,
        "<=": left.high <= right.low,
    }
    if left == right or apart or known.get(operator, False):
        return None
    if _mixed_signs(left, right):
        return None
    return Binary(type=INT32, low=0, high=1, operator=operator, left=left, right=right)


def select(condition: Expression, then: Expression, otherwise: Expression) -> Expression | None:
    """Return `condition ? then : otherwise`."""
    if then == otherwise or _mixed_signs(then, otherwise):
        return None
    kind = common_type(then.type, otherwise.type)
    low, high = converted_range(min(then.low, otherwise.low), max(then.high, otherwise.high), kind)
    return Select(type=kind, low=low, high=high, condition=condition, then=then, otherwise=otherwise)


def smaller(left: Expression, right: Expression, *, larger: bool = False) -> Expression | None:
    """Return the smaller (or larger) of two values, as a selection."""
    condition = compare(">" if larger else "<", left, right)
    if condition is None:
        return None
    both = select(condition, left, right)
    if both is None:
        return None
    pick = max if larger else min
    low, high = converted_range(pick(left.low, right.low), pick(left.high, right.high), both.type)
    return Select(type=both.type, low=low, high=high, condition=condition, then=left, otherwise=right)


def magnitude(operand: Expression) -> Expression | None:
    """Return the absolute value: fabs of a floating operand, a selection of a signed integer."""
    largest = max(abs(operand.low), abs(operand.high))
    smallest = 0 if operand.low <= 0 <= operand.high else min(abs(operand.low), abs(operand.high))
    if operand.type.floating:
        name = "fabsf" if operand.type == FLOAT else "fabs"
        return Call(type=operand.type, low=float(smallest), high=largest, function=name, arguments=(operand,))
    negative = negate(operand)
    condition = compare("<", operand, integer(0))
    if negative is None or condition is None:
        return None
    kind = promoted(operand.type)
    return Select(
        type=kind, low=smallest, high=largest, condition=condition, then=negative, otherwise=operand
    )


def root(operand: Expression) -> Expression | None:
    """Return the square root of a floating value that is not negative."""
    if not operand.type.floating or operand.low < 0:
        return None
    name = "sqrtf" if operand.type == FLOAT else "sqrt"
    low, high = sqrt(operand.low) * (1 - _SLACK), sqrt(operand.high) * (1 + _SLACK)
    return Call(type=operand.type, low=low, high=high, function=name, arguments=(operand,))


def possible(expression: Expression | None) -> Expression:
    """Return the expression, which is never None here.

    Raises: ArithmeticError: it is None: a fault of the generator.
    """
    if expression is None:
        raise ArithmeticError("internal error: an operation that is always possible was refused")
    return expression


# ---- intervals -------------------------------------------------------------------------------------


def _mixed_signs(left: Expression, right: Expression) -> bool:
    """Tell whether one operand is unsigned and the other may be negative, or gcc would warn that it may."""
    kinds = promoted(left.type), promoted(right.type)
    if any(k.floating for k in kinds) or kinds[0].signed == kinds[1].signed:
        return False
    signed = left if kinds[0].signed else right
    return not (isinstance(signed, Constant) and signed.value >= 0)


def _floating_bounds(operator: str, left: Expression, right: Expression) -> tuple[Number, Number] | None:
    a, b = (float(left.low), float(left.high)), (float(right.low), float(right.high))
    match operator:
        case "+":
            ends = [a[0] + b[0], a[1] + b[1]]
        case "-":
            ends = [a[0] - b[1], a[1] - b[0]]
        case "*":
            ends = [x * y for x in a for y in b]
        case "/" if b[0] >= _SMALLEST_DIVISOR or b[1] <= -_SMALLEST_DIVISOR:
            ends = [x / y for x in a for y in b]
        case _:
            return None
    reach = max(abs(v) for v in ends) * _SLACK
    low, high = min(ends), max(ends)
    low, high = (low if low == 0 else low - reach), high + reach
    return (low, high) if max(abs(low), abs(high)) < FLOAT_LIMIT else None


def _integer_bounds(
    operator: str, left: Expression, right: Expression, kind: ScalarType
) -> tuple[Number, Number] | None:
    """Return interval of the exact result if the type holds it; of an unsigned type that wraps, all of it."""
    a = _int_range(left, kind)
    b = _int_range(right, promoted(right.type) if operator in ("<<", ">>") else kind)
    bounds = _exact(operator, a, b, kind)
    if bounds is None:
        return None
    least, most = type_range(kind)
    if least <= bounds[0] and bounds[1] <= most:
        return bounds
    return None if kind.signed else (least, most)


def _int_range(operand: Expression, kind: ScalarType) -> tuple[int, int]:
    low, high = converted_range(operand.low, operand.high, kind)
    return int(low), int(high)


def _exact(operator: str, a: tuple[int, int], b: tuple[int, int], kind: ScalarType) -> tuple[int, int] | None:
    match operator:
        case "+":
            return a[0] + b[0], a[1] + b[1]
        case "-":
            return a[0] - b[1], a[1] - b[0]
        case "*":
            return _hull([x * y for x in a for y in b])
        case "/":
            return None if b[0] <= 0 <= b[1] else _hull([_quotient(x, y) for x in a for y in b])
        case "%":
            return None if b[0] <= 0 <= b[1] else _remainder(a, b)
        case "<<" | ">>":
            return _shifted(operator, a, b, kind)
        case _:
            return _bitwise(operator, a, b)


def _quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _remainder(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    largest = max(abs(b[0]), abs(b[1])) - 1
    return max(a[0], -largest) if a[0] < 0 else 0, min(a[1], largest) if a[1] > 0 else 0


def _shifted(
    operator: str, a: tuple[int, int], b: tuple[int, int], kind: ScalarType
) -> tuple[int, int] | None:
    if b[0] < 0 or b[1] >= kind.width_bits:
        return None
    if operator == ">>":
        return _hull([x >> y for x in a for y in b])
    return None if a[0] < 0 else _hull([x << y for x in a for y in b])


def _bitwise(operator: str, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    bits = max(v.bit_length() for v in (*a, *b))
    if a[0] >= 0 and b[0] >= 0:
        return 0, min(a[1], b[1]) if operator == "&" else (1 << bits) - 1
    if operator == "&" and (a[0] >= 0 or b[0] >= 0):
        return 0, a[1] if a[0] >= 0 else b[1]
    return -(1 << bits), (1 << bits) - 1


def _hull(values: list[int]) -> tuple[int, int]:
    return min(values), max(values)
