"""What expressions give, and what their readers ask of one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_cast, truth_value
from pipelines.hls.reading.ctypes import CType, Scalar
from pipelines.hls.reading.session import Address, Place, Value
from pipelines.interface import ScalarType

Result = ir.Expression | Address | Place | None
"""A number, a pointer, a structure, or nothing."""

BINARY = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "rem",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "shl",
    ">>": "shr",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
}

UPDATES = {"++": "add", "--": "sub", "p++": "add", "p--": "sub"}


def convert(value: ir.Expression, kind: Scalar) -> ir.Expression:
    """The value converted to a scalar type; widening that is undone at once disappears."""
    if kind.boolean:
        return make_cast(truth_value(value), kind.type)
    while isinstance(value, ir.Cast) and not value.bits and _undone(value, kind.type):
        value = value.operand
    return make_cast(value, kind.type)


def _undone(value: ir.Cast, kind: ScalarType) -> bool:
    """Whether an integer conversion does not matter for the low bits that the next one keeps."""
    source = ir.type_of(value.operand)
    if source.floating or value.type.floating or kind.floating:
        return False
    return value.type.width_bits >= kind.width_bits


@dataclass(slots=True, kw_only=True)
class Hooks:
    """What other readers do for expressions; set when all of them exist."""

    choose: Callable[[c_ast.TernaryOp], Result] = field(init=False)
    connect: Callable[[c_ast.BinaryOp], ir.Expression] = field(init=False)
    call: Callable[[c_ast.FuncCall, bool], Result] = field(init=False)
    assignment: Callable[[c_ast.Node, bool], Result] = field(init=False)
    global_symbol: Callable[[c_ast.ID], Value | Place | Address | None] = field(init=False)
    literal_object: Callable[[c_ast.CompoundLiteral], Place] = field(init=False)
    string_table: Callable[[tuple[int, ...], c_ast.Node], Place] = field(init=False)
    copy: Callable[[Place, Place, c_ast.Node], None] = field(init=False)
    new_object: Callable[[CType, str, c_ast.Node], Place] = field(init=False)
    is_operator: Callable[[str], bool] = field(init=False)
