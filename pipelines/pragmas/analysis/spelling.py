"""Expressions as a reader of the C text knows them, for messages."""

from __future__ import annotations

from pipelines.hls import ir

_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "rem": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}


def spelled(expression: ir.Expression) -> str:
    """Text of an expression; conversions are left out."""
    match expression:
        case ir.Constant():
            return str(expression.number)
        case ir.Read():
            return expression.variable.name
        case ir.Load():
            return spelled_element(expression.array, expression.indices)
        case ir.Cast():
            return spelled(expression.operand)
        case ir.Unary(operator="neg"):
            return f"-{_inner(expression.operand)}"
        case ir.Unary():
            return f"{expression.operator}({spelled(expression.operand)})"
        case ir.Binary():
            sign = _SIGNS[expression.operator]
            return f"{_inner(expression.left)} {sign} {_inner(expression.right)}"
        case ir.Select():
            parts = (expression.condition, expression.if_true, expression.if_false)
            condition, if_true, if_false = (_inner(p) for p in parts)
            return f"{condition} ? {if_true} : {if_false}"


def spelled_element(array: ir.Array, indices: tuple[ir.Expression, ...]) -> str:
    """Text of an array element."""
    return array.name + "".join(f"[{spelled(i)}]" for i in indices)


def _inner(expression: ir.Expression) -> str:
    while isinstance(expression, ir.Cast):
        expression = expression.operand
    text = spelled(expression)
    return f"({text})" if isinstance(expression, ir.Binary | ir.Select) else text
