"""Constant expressions of initialisers as gcc folds them: division by zero, built-in functions of bits.

Expressions of a program keep what does not fold to a finite number, and inline functions. An object that the
program writes needs the value, because its memory starts with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.arithmetic import make_unary
from pipelines.c.reading.ctypes import Scalar
from pipelines.c.reading.expressions import Expressions
from pipelines.c.reading.values import BINARY, convert
from pipelines.c.signature import (
    DOUBLE,
    INT32,
    UINT16,
    UINT32,
    UINT64,
    ScalarType,
    common_type,
    promoted,
)


def _swapped(value: int, width_bits: int) -> int:
    return int.from_bytes(value.to_bytes(width_bits // 8, "little"), "big")


_Bits = Callable[[int, int], int | None]
_COUNTS: Mapping[str, _Bits] = {
    "popcount": lambda value, _: value.bit_count(),
    "parity": lambda value, _: value.bit_count() & 1,
    "clz": lambda value, width_bits: width_bits - value.bit_length() if value else None,
    "ctz": lambda value, _: (value & -value).bit_length() - 1 if value else None,
    "ffs": lambda value, _: (value & -value).bit_length(),
}
_BUILTINS: Mapping[str, tuple[_Bits, ScalarType, ScalarType]] = {
    **{f"__builtin_{name}": (bits, UINT32, INT32) for name, bits in _COUNTS.items()},
    **{f"__builtin_{name}{end}": (b, UINT64, INT32) for name, b in _COUNTS.items() for end in ("l", "ll")},
    **{f"__builtin_bswap{k.width_bits}": (_swapped, k, k) for k in (UINT16, UINT32, UINT64)},
}
"""By name, a function of the bits of its argument and their number, and the types of argument and result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantFolder:
    """Folds constant expressions."""

    expressions: Expressions

    def value(self, node: c_ast.Node) -> ir.Constant | None:
        """Return the value of an expression, None when it is not a constant number."""
        match node:
            case c_ast.FuncCall() if isinstance(node.name, c_ast.ID) and node.name.name in _BUILTINS:
                return self._builtin(*_BUILTINS[node.name.name], list(node.args.exprs if node.args else ()))
            case c_ast.UnaryOp() if node.op in ("+", "-", "~"):
                return self._signed(node)
            case c_ast.UnaryOp(op="!"):
                operand = self.value(node.expr)
                return None if operand is None else ir.Constant(value=int(operand.number == 0))
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.TernaryOp():
                return self._chosen(node)
            case c_ast.Cast():
                kind = self.expressions.types.read(node.to_type, node)
                return self.converted(self.value(node.expr), kind) if isinstance(kind, Scalar) else None
            case _:
                return self.expressions.constant(node)

    def converted(self, value: ir.Constant | None, kind: Scalar) -> ir.Constant | None:
        """Return a constant in a type, None when that is not defined."""
        if value is None:
            return None
        if kind.boolean:
            return ir.Constant(value=int(value.number != 0), type=kind.type)
        if kind.type.floating and value.type.floating and math.isnan(value.number):
            return _not_a_number(kind.type, is_negative=bool(value.value >> (value.type.width_bits - 1)))
        converted = convert(value, kind)
        return converted if isinstance(converted, ir.Constant) else None

    def _builtin(
        self, bits: _Bits, argument: ScalarType, result: ScalarType, nodes: list[c_ast.Node]
    ) -> ir.Constant | None:
        value = self.converted(self.value(nodes[0]), Scalar(type=argument)) if len(nodes) == 1 else None
        number = None if value is None else bits(value.value, argument.width_bits)
        return None if number is None else ir.Constant(value=number, type=result)

    def _signed(self, node: c_ast.UnaryOp) -> ir.Constant | None:
        operand = self.value(node.expr)
        kind = None if operand is None else promoted(operand.type)
        operand = None if kind is None else self.converted(operand, Scalar(type=kind))
        if operand is None or (node.op == "~" and operand.type.floating):
            return None
        value = operand if node.op == "+" else make_unary("neg" if node.op == "-" else "not", operand)
        return value if isinstance(value, ir.Constant) else None

    def _binary(self, node: c_ast.BinaryOp) -> ir.Constant | None:
        left = self.value(node.left)
        if node.op in ("&&", "||") and left is not None and (left.number != 0) is (node.op == "||"):
            return ir.Constant(value=int(left.number != 0))
        right = self.value(node.right)
        if left is None or right is None:
            return self.expressions.constant(node)
        if node.op in ("&&", "||"):
            return ir.Constant(value=int(right.number != 0))
        kind = common_type(left.type, right.type)
        if kind.floating and node.op in _IEEE:
            pair = [self.converted(operand, Scalar(type=kind)) for operand in (left, right)]
            return None if pair[0] is None or pair[1] is None else _ieee(node.op, pair[0], pair[1], kind)
        value = self.expressions.arithmetic(BINARY[node.op], left, right, node)
        return value if isinstance(value, ir.Constant) else None

    def _chosen(self, node: c_ast.TernaryOp) -> ir.Constant | None:
        condition = self.value(node.cond)
        if condition is None:
            return None
        kind = self.expressions.kind_of(node)
        chosen = self.value(node.iftrue if condition.number != 0 else node.iffalse)
        return self.converted(chosen, kind) if isinstance(kind, Scalar) else None


_IEEE: Mapping[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else math.copysign(1, a) * math.copysign(math.inf, b) if a else math.nan,
}


def _ieee(operator: str, left: ir.Constant, right: ir.Constant, kind: ScalarType) -> ir.Constant:
    """Return an operator of IEEE 754, with the sign that gcc gives to what is not a number.

    Source: gcc/real.c, do_add, do_multiply, do_divide.
    """
    a, b = float(left.number), float(right.number)
    result = _IEEE[operator](a, b)
    if not math.isnan(result):
        return ir.float_constant(result, kind)
    signs = [bool(operand.value >> (kind.width_bits - 1)) for operand in (left, right)]
    if operator in "*/":
        return _not_a_number(kind, is_negative=signs[0] != signs[1])
    inherited = signs[1] if math.isnan(b) else signs[0]
    return _not_a_number(kind, is_negative=inherited and (math.isnan(a) or math.isnan(b)))


def _not_a_number(kind: ScalarType, *, is_negative: bool) -> ir.Constant:
    exponent, fraction = (11, 52) if kind == DOUBLE else (8, 23)
    quiet = ((1 << (exponent + 1)) - 1) << (fraction - 1)
    return ir.Constant(value=quiet | is_negative << (kind.width_bits - 1), type=kind)
