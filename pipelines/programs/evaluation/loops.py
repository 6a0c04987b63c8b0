"""The loop nest of an operator's C text, with trip counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pycparser import c_ast, c_parser

Loops = list[list[Any]]


def loops_of(text: str, sizes: Mapping[str, int]) -> Loops:
    """Loops of a C function as nested `[variable, trips, step, loops inside]`.

    Args:    text: C without directives; sizes: value of names in bounds, the largest of each.
    Returns: trips at most, None where data decides; `while` has no variable.
    """
    tree = c_parser.CParser().parse(text)
    return [loop for node in tree.ext for loop in _inside(node.body, sizes)]


def _inside(node: c_ast.Node, sizes: Mapping[str, int]) -> Loops:
    found: Loops = []
    for _, child in node.children():
        if isinstance(child, c_ast.For):
            found.append([*_header(child, sizes), _inside(child.stmt, sizes)])
        elif isinstance(child, c_ast.While | c_ast.DoWhile):
            found.append([None, None, None, _inside(child.stmt, sizes)])
        else:
            found += _inside(child, sizes)
    return found


def _header(loop: c_ast.For, sizes: Mapping[str, int]) -> tuple[str, int | None, str]:
    declared = loop.init.decls[0]
    first, last = _number(declared.init, sizes), _number(loop.cond.right, sizes)
    step = 1 if isinstance(loop.next, c_ast.UnaryOp) else _number(loop.next.rvalue, sizes)
    if first is None or last is None or step is None:
        return str(declared.name), None, str(step or "")
    return str(declared.name), max(0, -(-(last - first) // step)), str(step)


def _number(node: c_ast.Node | None, sizes: Mapping[str, int]) -> int | None:
    """Value of a bound, None when it is not known."""
    match node:
        case c_ast.Constant():
            return int(node.value)
        case c_ast.ID():
            return sizes.get(node.name)
        case c_ast.BinaryOp():
            return _combined(str(node.op), _number(node.left, sizes), _number(node.right, sizes))
        case _:
            return None


def _combined(op: str, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    return {"+": left + right, "-": left - right, "*": left * right, "/": left // max(right, 1)}.get(op)
