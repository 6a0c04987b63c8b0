"""The meaning of every operator on constants: C semantics in two's complement.

Belongs here: evaluation, constant folding and simplification of expressions. Does not: hardware.
"""

from __future__ import annotations

from pipelines.hls.ir import Binary, Constant, Expression, Select, Unary
from pipelines.interface import ScalarType


def wrap(value: int, kind: ScalarType) -> int:
    """The value modulo 2^width, in the range of the type."""
    value &= (1 << kind.width_bits) - 1
    if kind.signed and value >> (kind.width_bits - 1):
        value -= 1 << kind.width_bits
    return value


def evaluate(operator: str, left: int, right: int, kind: ScalarType) -> int | None:
    """Value of a binary operator, None where C leaves it undefined (division by zero, wild shifts).

    Source: ISO C11 6.5.5 (division truncates toward zero), 6.5.7 (shifts).
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


_LEFT_IDENTITY = {"add": 0, "mul": 1, "or": 0, "xor": 0}
_RIGHT_IDENTITY = {"add": 0, "sub": 0, "mul": 1, "div": 1, "or": 0, "xor": 0, "shl": 0, "shr": 0}


def make_binary(operator: str, left: Expression, right: Expression, kind: ScalarType) -> Expression:
    """A binary expression, folded when its operands are constants or an identity element."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        value = evaluate(operator, left.value, right.value, kind)
        if value is not None:
            return Constant(value=value, type=kind)
    if isinstance(right, Constant) and right.value == _RIGHT_IDENTITY.get(operator):
        return left
    if isinstance(left, Constant) and left.value == _LEFT_IDENTITY.get(operator):
        return right
    if isinstance(left, Constant) and operator in ("add", "mul", "and", "or", "xor"):
        left, right = right, left
    return Binary(operator=operator, left=left, right=right, type=kind)


def make_unary(operator: str, operand: Expression, kind: ScalarType) -> Expression:
    """A unary expression, folded when its operand is a constant."""
    if isinstance(operand, Constant):
        return Constant(value=wrap(-operand.value if operator == "neg" else ~operand.value, kind), type=kind)
    return Unary(operator=operator, operand=operand, type=kind)


def make_select(
    condition: Expression, if_true: Expression, if_false: Expression, kind: ScalarType
) -> Expression:
    """A selection, folded when its condition is a constant."""
    if isinstance(condition, Constant):
        return if_true if condition.value else if_false
    return Select(condition=condition, if_true=if_true, if_false=if_false, type=kind)


def truth_value(expression: Expression) -> Expression:
    """The expression as 0 or 1."""
    if isinstance(expression, Binary) and expression.operator in (
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
    ):
        return expression
    if isinstance(expression, Constant):
        return Constant(value=int(expression.value != 0))
    if isinstance(expression, Select) and all(
        (isinstance(b, Constant) and b.value in (0, 1)) or truth_value(b) is b
        for b in (expression.if_true, expression.if_false)
    ):
        return expression
    return Binary(operator="ne", left=expression, right=Constant(value=0))
