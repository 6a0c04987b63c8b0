"""Arithmetic of whole numbers in text, without running any of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

MOST_CHARACTERS = 200
MOST_MAGNITUDE = 1 << 63
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left // right,
}


def whole_number(text: str, names: Mapping[str, int] | None = None) -> int | None:
    """Return the value of sums, products and quotients of whole numbers and names, as C has them.

    Args:    text: at most MOST_CHARACTERS are read; `/` is of numbers that are not negative.
    Returns: None for anything else, an unknown name, a division by 0, and a number of more than 63 bits.
    """
    try:
        return _value(ast.parse(text.strip()[:MOST_CHARACTERS], mode="eval").body, names or {})
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def number_problem(text: str, names: Mapping[str, int]) -> str:
    """Tell why `whole_number` has no value for a text, by its first unknown name or division by 0."""
    try:
        tree = ast.parse(text.strip()[:MOST_CHARACTERS], mode="eval").body
        nodes = list(ast.walk(tree))
        unknown = [node.id for node in nodes if isinstance(node, ast.Name) and node.id not in names]
        divisors = [n.right for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
        by_zero = any(_value(divisor, names) == 0 for divisor in divisors)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "no arithmetic"
    return f"unknown macro {unknown[0]}" if unknown else "division by 0" if by_zero else "no whole number"


def _value(node: ast.expr, names: Mapping[str, int]) -> int | None:
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _value(node.operand, names)
        return None if inner is None else -inner
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATORS:
        return None
    left, right = _value(node.left, names), _value(node.right, names)
    if left is None or right is None or (isinstance(node.op, ast.Div) and (right <= 0 or left < 0)):
        return None
    value = _OPERATORS[type(node.op)](left, right)
    return value if abs(value) < MOST_MAGNITUDE else None
