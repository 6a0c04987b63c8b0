"""What the names of a program stand for: declarations, types, and intervals of values.

A rewriting asks before it changes anything; the next one binds the names anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast

from pipelines.c.signature import (
    DOUBLE,
    FLOAT,
    INT32,
    INT64,
    UINT32,
    UINT64,
    ScalarType,
    common_type,
    promoted,
)
from pipelines.programs.dialects.unit import SPELLINGS, Unit, integer_literal, type_name, walk
from pipelines.programs.errors import ProgramError

Interval = tuple[float, float]
ANY: Interval = (-math.inf, math.inf)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
LOGIC = ("&&", "||")
STEPS = ("++", "--", "p++", "p--")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The header of a loop that counts a variable of its own by a constant; no statement of it writes it."""

    loop: Any
    declaration: Any
    start: Any
    relation: str
    bound: Any
    step: int

    @property
    def name(self) -> str:
        """Name of the counter."""
        return str(self.declaration.name)


class Bindings:
    """The declaration behind every identifier of a program, and types of expressions."""

    def __init__(self, unit: Unit) -> None:
        self.tree = unit.tree
        self.macros = unit.macros
        self.typedefs = dict(SPELLINGS)
        self.declaration: dict[int, Any] = {}
        self.uses: dict[int, list[Any]] = {}
        self.scope_names: dict[int, frozenset[str]] = {}
        self.counted: dict[int, Counted] = {}
        self._counters: dict[int, Counted] = {}
        self._rising: dict[int, bool] = {}
        self._written: dict[int, list[Any]] = {}
        self._returns = {f.decl.name: type_name(f.decl.type.type) for f in unit.functions}
        self._scopes: list[dict[str, Any]] = [{}]
        for node in unit.tree.ext:
            self._bind(node)

    # ---- names ----

    def of(self, node: Any) -> Any:
        """Return the declaration that an identifier names; None for a macro or a function."""
        return self.declaration.get(id(node))

    def visible(self, block: Any) -> frozenset[str]:
        """Return the local names that the statements of a block see, its own among them."""
        return self.scope_names.get(id(block), frozenset())

    def writes(self, declaration: Any) -> list[Any]:
        """Return the assignments and steps of a scalar, its declaration aside."""
        return self._written.get(id(declaration), [])

    def _bind(self, node: Any) -> None:
        if isinstance(node, c_ast.FuncDef):
            self._bind_function(node)
        elif isinstance(node, c_ast.Compound | c_ast.For):
            self._scopes.append({})
            if isinstance(node, c_ast.For):
                self._bind_loop(node)
            else:
                self._bind_children(node)
                names = frozenset(n for scope in self._scopes[1:] for n in scope)
                self.scope_names[id(node)] = names
            self._scopes.pop()
        elif isinstance(node, c_ast.Decl) and node.name is not None:
            if isinstance(node.type, c_ast.FuncDecl):
                return
            self._scopes[-1][node.name] = node
            self.uses.setdefault(id(node), [])
            self._bind_children(node)
        elif isinstance(node, c_ast.ID):
            known = next((s[node.name] for s in reversed(self._scopes) if node.name in s), None)
            if known is not None:
                self.declaration[id(node)] = known
                self.uses[id(known)].append(node)
        elif isinstance(node, c_ast.StructRef):
            self._bind(node.name)
        else:
            self._bind_children(node)
            self._note_write(node)

    def _bind_children(self, node: Any) -> None:
        for _, child in node.children():
            self._bind(child)

    def _bind_function(self, node: Any) -> None:
        self._scopes.append({})
        if node.decl.type.args is not None:
            for parameter in node.decl.type.args.params:
                if isinstance(parameter, c_ast.Decl):
                    self._bind(parameter)
        self._bind(node.body)
        self._scopes.pop()

    def _note_write(self, node: Any) -> None:
        if isinstance(node, c_ast.Assignment):
            target = node.lvalue
        elif isinstance(node, c_ast.UnaryOp) and node.op in (*STEPS, "&"):
            target = node.expr
        else:
            return
        known = self.of(target) if isinstance(target, c_ast.ID) else None
        if known is not None:
            self._written.setdefault(id(known), []).append(node)

    def _bind_loop(self, node: Any) -> None:
        if node.init is not None:
            self._bind(node.init)
        for part in (node.cond, node.next):
            if part is not None:
                self._bind(part)
        header = self._header(node)
        if header is not None:
            self._counters[id(header.declaration)] = header
        self._bind(node.stmt)
        if header is not None and len(self.writes(header.declaration)) > 1:
            del self._counters[id(header.declaration)]
            header = None
        if header is not None:
            self.counted[id(node)] = header

    def _header(self, node: Any) -> Counted | None:
        init, condition, step = node.init, node.cond, node.next
        if not isinstance(init, c_ast.DeclList) or len(init.decls) != 1:
            return None
        own = init.decls[0]
        if not (isinstance(condition, c_ast.BinaryOp) and condition.op in ("<", "<=", ">=", ">")):
            return None
        if not isinstance(condition.left, c_ast.ID) or self.of(condition.left) is not own:
            return None
        size = self._step(step, own)
        if not size or (size > 0) != (condition.op in ("<", "<=")):
            return None
        return Counted(
            loop=node,
            declaration=own,
            start=own.init,
            relation=condition.op,
            bound=condition.right,
            step=size,
        )

    def _step(self, node: Any, own: Any) -> int | None:
        if isinstance(node, c_ast.UnaryOp) and self.of(node.expr) is own:
            return {"++": 1, "p++": 1, "--": -1, "p--": -1}.get(node.op)
        if isinstance(node, c_ast.Assignment) and self.of(node.lvalue) is own and node.op in ("+=", "-="):
            size = self.constant(node.rvalue)
            return None if size is None else size if node.op == "+=" else -size
        return None

    # ---- types ----

    def declared_type(self, declaration: Any) -> ScalarType:
        """Return the scalar or element type of a declaration.

        Raises: ProgramError: a type outside SPELLINGS.
        """
        return self.named_type(type_name(declaration.type))

    def named_type(self, name: str) -> ScalarType:
        """Return the type of a spelling.

        Raises: ProgramError: it is not in SPELLINGS.
        """
        if name not in self.typedefs:
            raise ProgramError(f"unknown type: {name}; accepted: {', '.join(self.typedefs)}")
        return self.typedefs[name]

    def type_of(self, node: Any) -> ScalarType:
        """Return the type of an arithmetic expression.

        Raises: ProgramError: the node is no expression that the generators write.
        """
        match node:
            case c_ast.Constant():
                return _literal_type(node)
            case c_ast.ID():
                declaration = self.of(node)
                return INT32 if declaration is None else self.declared_type(declaration)
            case c_ast.ArrayRef():
                return self.type_of(node.name)
            case c_ast.Cast():
                return self.named_type(type_name(node.to_type))
            case c_ast.UnaryOp():
                if node.op in (*STEPS, "*"):
                    return self.type_of(node.expr)
                return INT32 if node.op == "!" else promoted(self.type_of(node.expr))
            case c_ast.BinaryOp():
                return self._binary_type(node)
            case c_ast.TernaryOp():
                return common_type(self.type_of(node.iftrue), self.type_of(node.iffalse))
            case c_ast.Assignment():
                return self.type_of(node.lvalue)
            case c_ast.FuncCall():
                return self._call_type(node)
            case _:
                raise ProgramError(f"unknown expression: {type(node).__name__}; accepted: arithmetic")

    def _binary_type(self, node: Any) -> ScalarType:
        if node.op in (*COMPARISONS, *LOGIC):
            return INT32
        if node.op in ("<<", ">>"):
            return promoted(self.type_of(node.left))
        return common_type(self.type_of(node.left), self.type_of(node.right))

    def _call_type(self, node: Any) -> ScalarType:
        name = str(node.name.name)
        if name in self._returns:
            return INT32 if self._returns[name] == "void" else self.named_type(self._returns[name])
        if name == "MIN":
            return common_type(*(self.type_of(a) for a in node.args.exprs))
        if name == "abs":
            return INT32
        return FLOAT if name.endswith("f") else DOUBLE

    # ---- values ----

    def constant(self, node: Any) -> int | None:
        """Return the value of a constant integer expression."""
        low, high = self.interval(node)
        return int(low) if low == high else None

    def interval(self, node: Any) -> Interval:
        """Return an interval that holds every value of an integer expression; ANY for other expressions.

        Only conclusions that need no knowledge of overflow are drawn for unsigned arithmetic.
        """
        literal = integer_literal(node)
        if literal is not None:
            return (literal[0], literal[0])
        match node:
            case c_ast.ID():
                return self._name_interval(node)
            case c_ast.ArrayRef() | c_ast.Cast() | c_ast.FuncCall():
                return self._call_interval(node)
            case c_ast.BinaryOp():
                return self._binary_interval(node)
            case _:
                return ANY

    def _name_interval(self, node: Any) -> Interval:
        declaration = self.of(node)
        if declaration is None:
            value = self.macros.get(node.name)
            return ANY if value is None else (value, value)
        header = self._counters.get(id(declaration))
        if header is not None:
            return self._counter_interval(header)
        if self.is_rising(declaration):
            return (0, math.inf)
        return _type_interval(self.declared_type(declaration))

    def _counter_interval(self, header: Counted) -> Interval:
        start, bound = self.interval(header.start), self.interval(header.bound)
        inside = 1 if header.relation in ("<", ">") else 0
        if header.step > 0:
            return (start[0], bound[1] - inside)
        return (bound[0] + inside, start[1])

    def _call_interval(self, node: Any) -> Interval:
        if isinstance(node, c_ast.FuncCall) and node.name.name == "MIN":
            one, other = (self.interval(a) for a in node.args.exprs)
            return (min(one[0], other[0]), min(one[1], other[1]))
        return _type_interval(self.type_of(node))

    def _binary_interval(self, node: Any) -> Interval:
        kind = self.type_of(node)
        if kind.floating:
            return ANY
        left, right = self.interval(node.left), self.interval(node.right)
        value = _combined(node.op, left, right)
        if promoted(kind) == INT32 or kind == INT64:
            return value
        limit = 2**kind.width_bits
        return value if value[0] >= 0 and value[1] < limit else (0, limit - 1)

    def is_rising(self, declaration: Any) -> bool:
        """Tell whether an int is never below 0: it starts there and is only stepped up or set to such values.

        An int that is stepped past 2^31 - 1 would be undefined, which no program of the generators is.
        """
        key = id(declaration)
        if key not in self._rising:
            self._rising[key] = False  # while it is asked for inside itself
            self._rising[key] = self._rises(declaration)
        return self._rising[key]

    def _rises(self, declaration: Any) -> bool:
        if declaration.init is None or not isinstance(declaration.type, c_ast.TypeDecl):
            return False
        if self.declared_type(declaration) != INT32 or not self._is_natural(declaration.init):
            return False
        for node in self.writes(declaration):
            if isinstance(node, c_ast.UnaryOp):
                if node.op not in ("++", "p++"):
                    return False
            elif node.op not in ("=", "+=") or not self._is_natural(node.rvalue):
                return False
        return True

    def _is_natural(self, node: Any) -> bool:
        return promoted(self.type_of(node)) == INT32 and self.interval(node)[0] >= 0


def _combined(operator: str, left: Interval, right: Interval) -> Interval:
    """Return the interval of an operation without overflow."""
    both = left[0] >= 0 and right[0] >= 0
    match operator:
        case "+":
            return (left[0] + right[0], left[1] + right[1])
        case "-":
            return (left[0] - right[1], left[1] - right[0])
        case "*" if both:
            return (left[0] * right[0], _product(left[1], right[1]))
        case "/" if both and right[0] > 0:
            return (0, left[1])
        case "%" if both and right[0] > 0:
            return (0, min(left[1], right[1] - 1))
        case "&" if both:
            return (0, min(left[1], right[1]))
        case "&" if max(left[0], right[0]) >= 0:
            return (0, left[1] if left[0] >= 0 else right[1])
        case ">>" if both:
            return (0, left[1])
        case "|" | "^" | "<<" if both:
            return (0, math.inf)
        case _ if operator in (*COMPARISONS, *LOGIC):
            return (0, 1)
        case _:
            return ANY


def _product(one: float, other: float) -> float:
    return 0 if 0 in (one, other) else one * other


def _type_interval(kind: ScalarType) -> Interval:
    if kind.floating:
        return ANY
    if kind.signed:
        return (-(2 ** (kind.width_bits - 1)), 2 ** (kind.width_bits - 1) - 1)
    return (0, 2**kind.width_bits - 1)


def _literal_type(node: Any) -> ScalarType:
    literal = integer_literal(node)
    if literal is None:
        return FLOAT if str(node.value).lower().endswith("f") else DOUBLE
    value, suffix = literal
    hexadecimal = str(node.value).lower().startswith("0x")
    candidates: Sequence[ScalarType] = (INT32, UINT32, INT64, UINT64) if hexadecimal else (INT32, INT64)
    if "u" in suffix:
        candidates = (UINT32, UINT64)
    if "l" in suffix:
        candidates = [c for c in candidates if c.width_bits == 64]
    return next(c for c in candidates if value <= _type_interval(c)[1])


def has_jump(body: Any, kind: type) -> bool:
    """Tell whether a body has a break or continue that ends or repeats the loop around it."""
    for _, child in body.children():
        if isinstance(child, kind):
            return True
        inner = (c_ast.For, c_ast.While, c_ast.DoWhile) + ((c_ast.Switch,) if kind is c_ast.Break else ())
        if not isinstance(child, inner) and has_jump(child, kind):
            return True
    return False


def is_pure(node: Any) -> bool:
    """Tell whether an expression has no side effect and calls nothing."""
    return not any(
        isinstance(n, c_ast.Assignment | c_ast.FuncCall)
        or (isinstance(n, c_ast.UnaryOp) and n.op in (*STEPS, "&"))
        for n in walk(node)
    )
