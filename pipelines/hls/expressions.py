"""C expressions to the structured intermediate representation.

Belongs here: operators, constants, array elements, short-circuit evaluation. Does not: statements.
Expressions have no side effects: an assignment or `++` inside one is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_select, make_unary, truth_value
from pipelines.hls.errors import HlsError

Symbol = ir.Variable | ir.Array

_BINARY = {
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

ASSIGNMENT_OPERATORS: dict[str, str | None] = {
    "=": None,
    **{f"{spelling}=": _BINARY[spelling] for spelling in "+-*/%&|^"},
    "<<=": "shl",
    ">>=": "shr",
}

_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionReader:
    """Reads expressions in one scope; `guard` is the condition under which they are evaluated."""

    lookup: Callable[[c_ast.ID], Symbol]
    refuse: Callable[[c_ast.Node | None, str, str], HlsError]
    guard: ir.Expression | None = None

    def read(self, node: c_ast.Node) -> ir.Expression:
        """The value of a C expression."""
        match node:
            case c_ast.Constant():
                return self._constant(node)
            case c_ast.ID():
                symbol = self.lookup(node)
                if isinstance(symbol, ir.Array):
                    raise self.refuse(node, "an array must be indexed in every dimension", repr(node.name))
                return ir.Read(variable=symbol)
            case c_ast.ArrayRef():
                return self._element(node)
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.TernaryOp():
                condition = self.read_condition(node.cond)
                if_true = self._under(condition).read(node.iftrue)
                if_false = self._under(_negate(condition)).read(node.iffalse)
                return make_select(condition, if_true, if_false)
            case c_ast.Cast() if _names_int(node):
                return self.read(node.expr)
            case _:
                raise self.refuse(
                    node,
                    "an expression must be made of integer constants, variables, array elements and "
                    "operators without side effects",
                    _EXPRESSION_NAMES.get(type(node).__name__, type(node).__name__),
                )

    def read_condition(self, node: c_ast.Node) -> ir.Expression:
        """The value of a C expression as 0 or 1."""
        return truth_value(self.read(node))

    def read_place(self, node: c_ast.Node) -> ir.Read | ir.Load:
        """What an assignment changes: a variable or an array element."""
        if not isinstance(node, c_ast.ID | c_ast.ArrayRef):
            raise self.refuse(
                node,
                "an assignment must change a variable or an array element",
                type(node).__name__,
            )
        place = self.read(node)
        if not isinstance(place, ir.Read | ir.Load):
            raise self.refuse(node, "an assignment must change a variable or an array element", "a value")
        return place

    def _under(self, condition: ir.Expression) -> ExpressionReader:
        guard = condition
        if self.guard is not None:
            guard = make_binary("and", self.guard, condition)
        return ExpressionReader(lookup=self.lookup, refuse=self.refuse, guard=guard)

    def _constant(self, node: c_ast.Constant) -> ir.Expression:
        text = node.value
        if node.type == "char":
            inner = text[1:-1]
            if len(inner) == 1:
                return ir.Constant(value=ord(inner))
            if len(inner) == 2 and inner[0] == "\\" and inner[1] in _ESCAPES:
                return ir.Constant(value=_ESCAPES[inner[1]])
            raise self.refuse(node, "a character constant must be one plain character", text)
        if node.type != "int":
            raise self.refuse(node, "a constant must be of type int", text)
        value = _integer(text)
        if value > 2**31 - 1:
            raise self.refuse(node, "an int constant must be at most 2147483647", text)
        return ir.Constant(value=value)

    def _element(self, node: c_ast.ArrayRef) -> ir.Expression:
        indices: list[ir.Expression] = []
        base: c_ast.Node = node
        while isinstance(base, c_ast.ArrayRef):
            indices.insert(0, self.read(base.subscript))
            base = base.name
        symbol = self.lookup(base) if isinstance(base, c_ast.ID) else None
        if not isinstance(symbol, ir.Array):
            raise self.refuse(node, "only an array can be indexed", "another expression")
        if len(indices) != len(symbol.shape):
            raise self.refuse(
                node,
                f"{symbol.name} must be indexed in {len(symbol.shape)} dimensions",
                str(len(indices)),
            )
        for index, size in zip(indices, symbol.shape, strict=True):
            if isinstance(index, ir.Constant) and not 0 <= index.value < size:
                raise self.refuse(
                    node, f"an index of {symbol.name} must be 0 to {size - 1}", str(index.value)
                )
        line = node.coord.line if node.coord else 0
        return ir.Load(array=symbol, indices=tuple(indices), line=line, predicate=self.guard)

    def _unary(self, node: c_ast.UnaryOp) -> ir.Expression:
        if node.op in ("++", "--", "p++", "p--"):
            raise self.refuse(
                node,
                "an update must be a statement of its own",
                f"{node.op.strip('p')} in an expression",
            )
        if node.op not in ("+", "-", "~", "!"):
            raise self.refuse(node, "a unary operator must be one of + - ~ !", node.op)
        operand = self.read(node.expr)
        if node.op == "+":
            return operand
        if node.op == "!":
            return make_binary("eq", operand, ir.Constant(value=0))
        return make_unary("neg" if node.op == "-" else "not", operand)

    def _binary(self, node: c_ast.BinaryOp) -> ir.Expression:
        if node.op in ("&&", "||"):
            return self._short_circuit(node)
        left, right = self.read(node.left), self.read(node.right)
        if node.op in ("/", "%") and isinstance(right, ir.Constant) and right.value == 0:
            raise self.refuse(node, "a divisor must not be zero", "0")
        return make_binary(_BINARY[node.op], left, right)

    def _short_circuit(self, node: c_ast.BinaryOp) -> ir.Expression:
        left = self.read_condition(node.left)
        zero, one = ir.Constant(value=0), ir.Constant(value=1)
        if node.op == "&&":
            return make_select(left, self._under(left).read_condition(node.right), zero)
        return make_select(left, one, self._under(_negate(left)).read_condition(node.right))


_EXPRESSION_NAMES = {
    "FuncCall": "a function call",
    "Assignment": "an assignment in an expression",
    "ExprList": "the comma operator",
    "StructRef": "a structure member",
    "Cast": "a cast to another type",
    "InitList": "an initialiser list",
    "CompoundLiteral": "a compound literal",
}


def _integer(text: str) -> int:
    """Value of a C integer constant without suffix."""
    if len(text) > 1 and text[0] == "0" and text[1] in "01234567":
        return int(text, 8)
    return int(text, 0)


def _negate(condition: ir.Expression) -> ir.Expression:
    return make_binary("eq", condition, ir.Constant(value=0))


def _names_int(node: c_ast.Cast) -> bool:
    kind = node.to_type.type
    return isinstance(kind, c_ast.TypeDecl) and getattr(kind.type, "names", None) in (
        ["int"],
        ["int32_t"],
    )
