"""Other types for counters and temporaries of type int, where every use keeps its value.

Conversion to `unsigned` or `size_t` keeps values from 0 on only, so an expression stays in the new type where
all its operands are provably not negative, or where it is a subscript of sums and products, which are exact
modulo 2^32 and 2^64. Elsewhere the variable is cast back to int. `long` needs operands that are ints. A type
that is narrower than int changes no expression; its variable must fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast

from pipelines.c.signature import INT32, ScalarType, common_type, promoted
from pipelines.programs.dialects.bindings import COMPARISONS, LOGIC, STEPS, Bindings, Counted
from pipelines.programs.dialects.unit import (
    SPELLINGS,
    Unit,
    expression,
    integer_literal,
    set_child,
    set_type_name,
    type_name,
    walk,
)

_RING = ("+", "-", "*")
_ARITHMETIC = (*_RING, "/", "%", "&", "|", "^", "<<", ">>")


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterTypes:
    """Types that a dialect gives to counters, with weights.

    Attributes:
        loops: of counted loops; a type that does not hold the counter is left out.
        rising: of variables that start at 0 or above and are stepped up.
        sums: of variables that sums are added to; signed ones of 64 bits.
        most_casts: most casts back to int that a variable may need.
    """

    loops: tuple[tuple[str, float], ...]
    rising: tuple[tuple[str, float], ...]
    sums: tuple[tuple[str, float], ...] = ()
    most_casts: int = 1


def retype_counters(unit: Unit, types: CounterTypes) -> None:
    """Give counters of loops and other local ints a type that is drawn from those that hold their values."""
    favoured = _draw(unit, types.loops)  # an author has one habit
    for declaration in _local_ints(unit):
        bindings = Bindings(unit)
        headers = (h for h in bindings.counted.values() if h.declaration is declaration)
        header = next(headers, None)
        choices = types.loops if header is not None else types.rising
        chosen = favoured if header is not None and unit.chance(0.7) else _draw(unit, choices)
        if header is None and not bindings.is_rising(declaration):
            writes = bindings.writes(declaration)
            summed = any(isinstance(w, c_ast.Assignment) and w.op in ("+=", "-=") for w in writes)
            if not types.sums or not summed or not unit.chance(0.3):
                continue
            chosen = _draw(unit, types.sums)
        _retype(bindings, declaration, header, chosen, types.most_casts)


def _local_ints(unit: Unit) -> list[Any]:
    nodes = [n for function in unit.functions for n in walk(function.body)]
    own = [n for n in nodes if isinstance(n, c_ast.Decl) and isinstance(n.type, c_ast.TypeDecl)]
    return [n for n in own if SPELLINGS.get(type_name(n.type)) == INT32]


def _draw(unit: Unit, choices: Sequence[tuple[str, float]]) -> str:
    return unit.random.choices([c for c, _ in choices], [w for _, w in choices])[0]


def _retype(bindings: Bindings, own: Any, header: Counted | None, chosen: str, most_casts: int) -> None:
    kind = SPELLINGS[chosen]
    if kind == INT32:
        set_type_name(own.type, chosen)
        return
    if kind.width_bits < 32:
        if header is not None and _fits_narrow(bindings, header, kind):
            set_type_name(own.type, chosen)
        return
    falls = header is not None and not kind.signed and not _fits_unsigned(bindings, header)
    if falls and not _may_count_to_zero(bindings, header):
        return
    if not kind.signed and header is None and not bindings.is_rising(own):
        return
    uses = _Uses(bindings, own, kind)
    if not uses.allowed() or uses.casts() > most_casts:
        return
    uses.apply()
    set_type_name(own.type, chosen)
    if falls and header is not None:
        _count_to_zero(header)


def _may_count_to_zero(bindings: Bindings, header: Counted | None) -> bool:
    """Tell whether a loop over start .. 0 in steps of -1 can be `v = start + 1; v-- > 0`."""
    if header is None:
        return False
    down = header.step == -1 and header.relation == ">=" and bindings.constant(header.bound) == 0
    least = -1 if promoted(bindings.type_of(header.start)) == INT32 else 0
    return down and bindings.interval(header.start)[0] >= least


def _count_to_zero(header: Counted) -> None:
    own, start = header.declaration, header.start
    literal = integer_literal(start)
    if literal is not None:
        own.init = expression(str(literal[0] + 1))
    elif isinstance(start, c_ast.BinaryOp) and start.op == "-" and integer_literal(start.right) == (1, ""):
        own.init = start.left
    else:
        own.init = c_ast.BinaryOp("+", start, expression("1"))
    header.loop.cond = expression(f"{own.name}-- > 0")
    header.loop.next = None


def _fits_narrow(bindings: Bindings, header: Counted, kind: ScalarType) -> bool:
    """Tell whether a narrow type holds the counter in and behind its loop."""
    start, bound = bindings.interval(header.start), bindings.interval(header.bound)
    reach = abs(header.step) - (1 if header.relation in ("<", ">") else 0)
    low = min(start[0], bound[0] - reach if header.step < 0 else start[0])
    high = max(start[1], bound[1] + reach if header.step > 0 else start[1])
    least = -(2 ** (kind.width_bits - 1)) if kind.signed else 0
    most = 2 ** (kind.width_bits - 1) - 1 if kind.signed else 2**kind.width_bits - 1
    return least <= low and high <= most


def _fits_unsigned(bindings: Bindings, header: Counted) -> bool:
    """Tell whether the counter never falls below 0, behind its last iteration neither."""
    start, bound = bindings.interval(header.start), bindings.interval(header.bound)
    if header.step > 0:
        return start[0] >= 0
    inside = 1 if header.relation == ">" else 0
    return bound[0] + inside + header.step >= 0


class _Uses:
    """The uses of a variable whose type changes from int to a wider or unsigned one."""

    def __init__(self, bindings: Bindings, own: Any, kind: ScalarType) -> None:
        self._bindings = bindings
        self._own = own
        self._kind = kind
        self._strict: list[tuple[Any, str]] = []
        self._ids = {id(n) for n in bindings.uses[id(own)]}
        self._holders: dict[int, bool] = {}

    def allowed(self) -> bool:
        """Tell whether what is assigned to the variable has the same value in its new type."""
        writes = self._bindings.writes(self._own)
        values = [n.rvalue for n in writes if isinstance(n, c_ast.Assignment)]
        if self._own.init is not None:
            values.append(self._own.init)
        return all(promoted(self._bindings.type_of(v)) == INT32 for v in values)

    def casts(self) -> int:
        """Return how many uses need a cast back to int."""
        self._strict = []
        self._statement(self._bindings.tree)
        return len(self._strict)

    def apply(self) -> None:
        """Put the casts into the tree."""
        for parent, slot in self._strict:
            child = dict(parent.children())[slot]
            cast = expression("(int)x")
            cast.expr = child
            set_child(parent, slot, cast)

    def _has(self, node: Any) -> bool:
        """Tell whether a node contains a use of the variable."""
        key = id(node)
        if key not in self._holders:
            self._holders[key] = key in self._ids or any(self._has(c) for _, c in node.children())
        return self._holders[key]

    # ---- statements ----

    def _statement(self, node: Any) -> None:
        """Visit whatever is no arithmetic: its expressions are converted to the type of their place."""
        for slot, child in node.children():
            if not self._has(child):
                continue
            if _is_expression(child):
                self._expression(node, slot, child, loose=True)
            else:
                self._statement(child)

    # ---- expressions ----

    def _expression(self, parent: Any, slot: str, node: Any, *, loose: bool) -> None:
        """Visit an expression; with `loose` its value matters, not its type."""
        if not self._has(node):
            return
        match node:
            case c_ast.ID():
                if not loose:
                    self._strict.append((parent, slot))
            case c_ast.ArrayRef():
                self._subscripts(node)
            case c_ast.Cast():
                self._expression(node, "expr", node.expr, loose=True)
            case c_ast.FuncCall():
                self._arguments(node, loose)
            case c_ast.Assignment():
                self._assignment(node)
            case c_ast.UnaryOp():
                self._unary(node)
            case c_ast.BinaryOp():
                self._binary(node, loose)
            case c_ast.TernaryOp():
                self._ternary(node, loose)
            case _:
                self._statement(node)

    def _subscripts(self, node: Any) -> None:
        if isinstance(node.name, c_ast.ArrayRef):
            self._subscripts(node.name)
        if self._is_ring(node.subscript):
            self._leaves(node, "subscript", node.subscript, _RING)
        else:
            self._expression(node, "subscript", node.subscript, loose=True)

    def _is_ring(self, node: Any) -> bool:
        """Tell whether a node is made of sums and products of ints, and of numbers of the new type."""
        if isinstance(node, c_ast.BinaryOp) and node.op in _RING:
            return self._is_ring(node.left) and self._is_ring(node.right)
        if not isinstance(node, c_ast.ID | c_ast.Constant | c_ast.ArrayRef) and self._has(node):
            return False
        return promoted(self._bindings.type_of(node)) in (INT32, self._kind)

    def _leaves(self, parent: Any, slot: str, node: Any, operators: Sequence[str]) -> None:
        """Visit what the operators of a tree that stays in the new type work on."""
        if isinstance(node, c_ast.BinaryOp) and node.op in operators:
            self._leaves(node, "left", node.left, operators)
            self._leaves(node, "right", node.right, operators)
        else:
            self._expression(parent, slot, node, loose=True)

    def _arguments(self, node: Any, loose: bool) -> None:
        arguments = node.args.exprs
        is_macro = node.name.name == "MIN"
        stays = is_macro and loose and all(self._is_exact(a) for a in arguments)
        for index, argument in enumerate(arguments):
            self._expression(node.args, f"exprs[{index}]", argument, loose=stays or not is_macro)

    def _assignment(self, node: Any) -> None:
        if not isinstance(node.lvalue, c_ast.ID):
            self._expression(node, "lvalue", node.lvalue, loose=True)
        if node.op == "=" or self._bindings.of(node.lvalue) is self._own:
            self._expression(node, "rvalue", node.rvalue, loose=True)
        else:
            shift = node.op in ("<<=", ">>=")
            self._operand(node, "rvalue", node.rvalue, self._bindings.type_of(node.lvalue), loose=shift)

    def _unary(self, node: Any) -> None:
        if node.op in STEPS:
            if not isinstance(node.expr, c_ast.ID):
                self._expression(node, "expr", node.expr, loose=True)
        else:
            self._expression(node, "expr", node.expr, loose=node.op == "!")

    def _binary(self, node: Any, loose: bool) -> None:
        left, right = node.left, node.right
        if node.op in LOGIC:
            self._expression(node, "left", left, loose=True)
            self._expression(node, "right", right, loose=True)
        elif self._stays(node, loose):
            self._leaves(node, "left", left, _ARITHMETIC)
            self._leaves(node, "right", right, _ARITHMETIC)
        else:
            shift = node.op in ("<<", ">>")
            kinds = self._bindings.type_of(left), self._bindings.type_of(right)
            self._operand(node, "left", left, INT32 if shift else kinds[1], loose=False)
            self._operand(node, "right", right, kinds[0], loose=shift)

    def _stays(self, node: Any, loose: bool) -> bool:
        """Tell whether a binary operation may work on numbers of the new type."""
        if node.op in COMPARISONS:
            return self._is_exact(node.left) and self._is_exact(node.right)
        return loose and node.op in _ARITHMETIC and self._is_exact(node)

    def _operand(self, parent: Any, slot: str, node: Any, other: ScalarType, *, loose: bool) -> None:
        """Visit an operand beside another of a type; its own type may matter to the result's."""
        same = common_type(INT32, other) == common_type(self._kind, other)
        exact = isinstance(node, c_ast.ID) or self._is_exact(node)
        self._expression(parent, slot, node, loose=loose or (same and exact))

    def _ternary(self, node: Any, loose: bool) -> None:
        self._expression(node, "cond", node.cond, loose=True)
        stays = loose and self._is_exact(node.iftrue) and self._is_exact(node.iffalse)
        self._expression(node, "iftrue", node.iftrue, loose=stays)
        self._expression(node, "iffalse", node.iffalse, loose=stays)

    def _is_exact(self, node: Any) -> bool:
        """Tell whether an expression of ints has the same value in the new type."""
        if promoted(self._bindings.type_of(node)) != INT32:
            return False
        if not self._kind.signed and self._bindings.interval(node)[0] < 0:
            return False
        if isinstance(node, c_ast.BinaryOp) and node.op in _ARITHMETIC:
            return self._is_exact(node.left) and self._is_exact(node.right)
        return isinstance(node, c_ast.ID | c_ast.Constant | c_ast.ArrayRef) or not self._has(node)


def _is_expression(node: Any) -> bool:
    kinds = c_ast.ID | c_ast.ArrayRef | c_ast.Cast | c_ast.FuncCall | c_ast.Assignment
    return isinstance(node, kinds | c_ast.UnaryOp | c_ast.BinaryOp | c_ast.TernaryOp)
