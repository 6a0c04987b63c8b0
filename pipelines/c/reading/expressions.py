"""Expressions of C to values, and their side effects to statements.

An expression without side effects emits no statements: `&&`, `||` and `?:` are selections, and array elements
after them are loaded under a predicate. Side effects become statements of the body being read, from left to
right; after `&&`, `||` and `?:` they stand in a condition. A value that later side effects would change is
saved in a variable before them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.arithmetic import make_binary, make_cast, make_unary, negated, truth_value
from pipelines.c.reading.addressing import Places
from pipelines.c.reading.ctypes import (
    FUNCTION,
    SIZE,
    ArrayOf,
    CType,
    Function,
    Pointer,
    Scalar,
    Struct,
    Void,
    is_later_character,
    layout_of,
    read_character,
    read_floating,
    read_integer,
    read_string,
    spelled,
)
from pipelines.c.reading.declarators import Declarators
from pipelines.c.reading.session import (
    Address,
    Chosen,
    Memory,
    Place,
    PointerSlot,
    PointerTable,
    Session,
    Storage,
    TypeName,
    Value,
    affected,
    chosen,
    merged,
    with_parts,
)
from pipelines.c.reading.values import BINARY, UPDATES, Hooks, Pointers, Result, convert
from pipelines.c.signature import DOUBLE, FLOAT, INT16, INT32, UINT16, UINT32, common_type, promoted

MAXIMUM_REPEATED = 1024
"""Largest condition, in parts, that loads repeat; the suites have at most 263."""

_INTEGER_ONLY = ("rem", "and", "or", "xor", "shl", "shr")


@dataclass(slots=True, kw_only=True)
class Expressions:
    """Reads expressions.

    Attributes:
        guard: condition under which the expression being read is evaluated.
    """

    session: Session
    places: Places
    pointers: Pointers
    types: Declarators
    hooks: Hooks
    guard: ir.Expression | None = None
    _effects: dict[int, bool] = field(default_factory=dict[int, bool])

    # ---- what statements ask for ------------------------------------------------------------------

    def number(self, node: c_ast.Node) -> ir.Expression:
        """Return the value of an arithmetic expression."""
        return self.as_number(self.read(node), node)

    def as_number(self, value: Result, node: c_ast.Node) -> ir.Expression:
        """Return a result as a number."""
        match value:
            case None:
                raise self.session.refuse(node, "an expression must have a value", "a void expression")
            case Address():
                raise self.session.refuse(node, "an expression must be a number", "a pointer")
            case Place():
                raise self.session.refuse(node, "an expression must be a number", spelled(value.kind))
            case _:
                return value

    def condition(self, node: c_ast.Node) -> ir.Expression:
        """Return the truth of an expression, 0 or 1."""
        return self.truth(self.read(node), node)

    def truth(self, value: Result, node: c_ast.Node) -> ir.Expression:
        """Return the truth of a value, 0 or 1."""
        if isinstance(value, Address):
            return negated(self.pointers.is_null(value))
        return truth_value(self.as_number(value, node))

    def constant(self, node: c_ast.Node) -> ir.Constant | None:
        """Return the value of a constant expression, None when it is not constant."""
        with self.session.collect() as emitted:
            value = self.read(node)
        return value if isinstance(value, ir.Constant) and not emitted else None

    def discard(self, node: c_ast.Node) -> None:
        """Evaluate an expression for its side effects."""
        match node:
            case c_ast.Assignment():
                self.hooks.assignment(node, False)
            case c_ast.UnaryOp() if node.op in UPDATES:
                self.hooks.assignment(node, False)
            case c_ast.FuncCall():
                self.hooks.call(node, False)
            case c_ast.ExprList():
                for part in node.exprs:
                    self.discard(part)
            case c_ast.Cast():
                self.discard(node.expr)
            case _:
                self.read(node)

    # ---- dispatch ---------------------------------------------------------------------------------

    def read(self, node: c_ast.Node) -> Result:
        """Read the value of an expression.

        Raises: HlsError: the expression is outside the accepted subset.
        """
        self.session.count(node)
        match node:
            case c_ast.Constant():
                return self._literal(node)
            case c_ast.ID():
                return self._named(node)
            case c_ast.ArrayRef() | c_ast.StructRef() | c_ast.CompoundLiteral():
                return self.value_at(self.place(node), node)
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.TernaryOp():
                return self.hooks.choose(node)
            case c_ast.Cast():
                return self._cast(node)
            case c_ast.Assignment():
                return self.hooks.assignment(node, True)
            case c_ast.FuncCall():
                return self.hooks.call(node, True)
            case c_ast.GenericSelection():
                return self.read(self._selected(node))
            case c_ast.ExprList():
                for part in node.exprs[:-1]:
                    self.discard(part)
                return self.read(node.exprs[-1])
            case c_ast.Compound():
                return self.hooks.block_value(node)
            case _:
                got = _EXPRESSION_NAMES.get(type(node).__name__, type(node).__name__)
                raise self.session.refuse(node, "an expression must be made of C11 operators", got)

    def _literal(self, node: c_ast.Constant) -> Result:
        text = str(node.value)
        if text.startswith('"') or node.type == "string":
            values = read_string(text)
            if values is None:
                raise self.session.refuse(node, "a string must be one of plain characters", text[:40])
            return self.places.decayed(self.hooks.string_table(values, node))
        if "'" in text:
            read = read_character(text)
            self.session.later_constants |= is_later_character(text)
        elif node.type in ("float", "double", "long double"):
            read = read_floating(text)
        else:
            read = read_integer(text)
        if read is None:
            rule = "a constant must be an integer of at most 64 bits, a float, a double or a character"
            raise self.session.refuse(node, rule, text[:40])
        return read

    def _named(self, node: c_ast.ID) -> Result:
        symbol = self.symbol(node)
        match symbol:
            case Value():
                return symbol.expression
            case Place():
                return self.value_at(symbol, node)
            case _:
                return symbol

    def symbol(self, node: c_ast.ID) -> Value | Place | Address:
        """Return the symbol of a name.

        Raises: HlsError: the name is not declared, or names a type or a function.
        """
        symbol = self.session.find(node.name) or self.hooks.global_symbol(node)
        if isinstance(symbol, TypeName):
            raise self.session.refuse(node, "an expression must not be a type", repr(node.name))
        if symbol is not None:
            return symbol
        if node.name in ("__func__", "__FUNCTION__"):
            values = read_string(f'"{self.session.frame.name}"')
            assert values is not None
            return self.hooks.string_table(values, node)
        if node.name in self.types.file_scope.functions or node.name in self.types.file_scope.prototypes:
            return Address(kind=FUNCTION, storage=self.session.function(node.name))
        raise self.session.refuse(node, "a name must be declared", repr(node.name))

    def value_at(self, place: Place, node: c_ast.Node) -> Result:
        """Return the value of a place: an array is the address of its first element."""
        match place.kind:
            case ArrayOf():
                return self.places.decayed(place)
            case Struct():
                return place
            case Function():
                return self.places.address_of(place)
            case Pointer():
                return self.pointer_at(place, node)
            case _:
                return self.places.load(place, node, self.guard)

    def pointer_at(self, place: Place, node: c_ast.Node) -> Address:
        """Return the value of a pointer: of a variable, or of an element of an array of pointers."""
        slot = place.storage
        if isinstance(slot, Chosen):
            values: list[tuple[ir.Expression, Address]] = []
            for (condition, one), guard in zip(slot.cases, slot.guards(), strict=True):
                with self.under(guard, node):
                    values.append((condition, self.pointer_at(self.places.target(one, node), node)))
            return merged(values)
        if isinstance(slot, PointerTable):
            return self._in_table(slot, place, node)
        if isinstance(slot, PointerSlot) and slot.targets:
            assert slot.which is not None
            return self._chosen_at(slot, ir.Read(variable=slot.which), slot.indices, place, node)
        if not isinstance(slot, PointerSlot) or slot.base is None:
            got = slot.name if isinstance(slot, PointerSlot) else "another object"
            raise self.session.unset(node, got)
        return replace(slot.base, indices=slot.indices)

    def _in_table(self, table: PointerTable, place: Place, node: c_ast.Node) -> Address:
        """Return the value of an element of an array of pointers."""
        if not table.targets:
            raise self.session.unset(node, table.name)
        which, *indices = (
            ir.Constant(value=0)
            if array is None
            else self.places.load(table_part(array, place), node, self.guard)
            for array in (table.which, *table.indices)
        )
        return self._chosen_at(table, which, indices, place, node)

    def _chosen_at(
        self,
        slot: PointerSlot | PointerTable,
        which: ir.Expression,
        indices: Sequence[ir.Expression],
        place: Place,
        node: c_ast.Node,
    ) -> Address:
        """Return the value of a pointer that may point into several objects, or be null."""
        assert isinstance(place.kind, Pointer)
        cases: list[tuple[ir.Expression, Address]] = []
        for number, target in enumerate(slot.targets):
            storage = None if target.storage is None else self._storage_of(target.storage, node)
            if storage is None and target.storage is not None:
                rule = (
                    "a pointer must not be read in a loop before the statement that makes its "
                    "object there (write an array of objects before the loop)"
                )
                raise self.session.refuse(node, rule, f"the pointer {slot.name}")
            kind = place.kind.target
            own = Address(
                kind=self.session.void_kinds.get((slot.key, number), kind)
                if isinstance(kind, Void)
                else kind,
                storage=storage,
                indices=tuple(indices[: target.depth]),
                moving=target.moving,
                flat=target.flat,
                bytewise=target.bytewise,
            )
            number_there = ir.Constant(value=number, type=ir.type_of(which))
            cases.append((make_binary("eq", which, number_there), own))
        return chosen(cases)

    def _storage_of(self, key: str, node: c_ast.Node) -> Storage | None:
        """Return the storage of a key; an object or function of the file is looked up for it."""
        name = self.session.homes.get(key)
        known = name is None or key in self.session.storages
        if name is not None and not known and self.hooks.global_symbol(c_ast.ID(name, node.coord)) is None:
            self.session.function(name)
        return self.session.storages.get(key)

    # ---- places -----------------------------------------------------------------------------------

    def place(self, node: c_ast.Node) -> Place:
        """Return the place that an expression names: a variable, an array element, a member."""
        match node:
            case c_ast.ID():
                symbol = self.symbol(node)
                if isinstance(symbol, Place):
                    return symbol
            case c_ast.ArrayRef():
                base, index = self.sequence(lambda: self.read(node.name), lambda: self.read(node.subscript))
                if isinstance(index, Address):
                    base, index = index, base
                offset = self.pointers.integer(index, node)
                return self.places.target(
                    self.places.moved(self.pointers.address(base, node), offset, node), node
                )
            case c_ast.StructRef():
                value = self.read(node.name)
                if node.type == "->":
                    value = self.places.target(self.pointers.address(value, node), node)
                if isinstance(value, Place):
                    return self.places.member(value, node.field.name, node)
                raise self.session.refuse(node, "only a structure has members", "a number or a pointer")
            case c_ast.UnaryOp() if node.op == "*":
                return self.places.target(self.pointers.address(self.read(node.expr), node), node)
            case c_ast.CompoundLiteral():
                return self.hooks.literal_object(node)
            case c_ast.Constant() if str(node.value).startswith('"'):
                values = read_string(str(node.value))
                if values is not None:
                    return self.hooks.string_table(values, node)
            case _:
                pass
        rule = "a place must be a variable, an array element or a member"
        raise self.session.refuse(node, rule, _EXPRESSION_NAMES.get(type(node).__name__, "a value"))

    # ---- order of evaluation ----------------------------------------------------------------------

    def sequence(self, *readers: Callable[[], Result]) -> list[Result]:
        """Return the values read in order, each as it was before the side effects of the next."""
        values: list[Result] = []
        for read in readers:
            mark = len(self.session.buffer)
            value = read()
            emitted = self.session.buffer[mark:]
            if emitted:
                self.session.count(None, len(values))
                values = [self._value_before(v, emitted, mark) for v in values]
            values.append(value)
        return values

    def _value_before(self, value: Result, emitted: list[ir.Statement], mark: int) -> Result:
        """Return the value before emitted statements, saved at their position when they change it."""
        line = emitted[0].line
        match value:
            case None | Place():
                return value
            case Address():
                return with_parts(
                    value,
                    lambda i: self.session.saved(i, "index", line, mark) if affected(i, emitted) else i,
                )
            case _:
                return self.session.saved(value, "kept", line, mark) if affected(value, emitted) else value

    def has_effects(self, node: c_ast.Node) -> bool:
        """Tell whether an expression contains an assignment or a call of a function."""
        if id(node) not in self._effects:
            own = isinstance(node, c_ast.Assignment | c_ast.CompoundLiteral | c_ast.Compound)
            own = own or (isinstance(node, c_ast.UnaryOp) and node.op in UPDATES)
            if isinstance(node, c_ast.FuncCall):
                own = not (isinstance(node.name, c_ast.ID) and self.hooks.is_operator(node.name.name))
            self._effects[id(node)] = own or any(self.has_effects(child) for _, child in node.children())
        return self._effects[id(node)]

    def held(self, value: ir.Expression, node: c_ast.Node) -> ir.Expression:
        """Return a condition that all guarded loads repeat, in a variable when it is large.

        A load in the next condition repeats it again, so each `&&` would double the size.
        """
        if sum(1 for _ in islice(ir.walk_expressions(value), MAXIMUM_REPEATED + 1)) <= MAXIMUM_REPEATED:
            return value
        return self.session.saved(value, "condition", self.session.line_of(node))

    @contextmanager
    def under(self, condition: ir.Expression, node: c_ast.Node) -> Generator[None]:
        """Evaluate the expressions read inside only under an additional condition."""
        outer = self.guard
        both = condition if outer is None else make_binary("and", outer, condition)
        self.guard = self.held(both, node)
        try:
            yield
        finally:
            self.guard = outer

    # ---- operators --------------------------------------------------------------------------------

    def _unary(self, node: c_ast.UnaryOp) -> Result:
        match node.op:
            case "&":
                return self._address_of(node)
            case "*":
                return self.value_at(self.place(node), node)
            case "sizeof" | "_Alignof":
                return self._sizeof(node)
            case "!":
                return self._not(node)
            case "+" | "-" | "~":
                return self._signed(node)
            case _ if node.op in UPDATES:
                return self.hooks.assignment(node, True)
            case _:
                raise self.session.refuse(node, "a unary operator must be one of C11", node.op)

    def _address_of(self, node: c_ast.UnaryOp) -> Address:
        if isinstance(node.expr, c_ast.UnaryOp) and node.expr.op == "*":
            return self.pointers.address(self.read(node.expr.expr), node)
        if isinstance(node.expr, c_ast.ArrayRef) or not isinstance(node.expr, c_ast.ID):
            return self.places.address_of(self.place(node.expr))
        symbol = self.symbol(node.expr)
        if isinstance(symbol, Address) and isinstance(symbol.kind, Function):
            return symbol
        if isinstance(symbol, Place):
            if isinstance(symbol.storage, PointerSlot):
                self.session.later_forms = True
                self.session.expose(symbol.storage)
            return self.places.address_of(symbol)
        raise self.session.refuse(node, "an address must be that of a variable or an array", "a pointer's")

    def _not(self, node: c_ast.UnaryOp) -> ir.Expression:
        value = self.read(node.expr)
        if isinstance(value, Address):
            return self.pointers.is_null(value)
        number = self.as_number(value, node)
        if isinstance(number, ir.Binary) and number.operator in ir.COMPARISONS:
            return negated(number)
        if isinstance(number, ir.Constant):
            return ir.Constant(value=int(number.number == 0))
        return make_binary("eq", number, ir.Constant(value=0, type=ir.type_of(number)))

    def _signed(self, node: c_ast.UnaryOp) -> ir.Expression:
        operand = self.number(node.expr)
        kind = promoted(ir.type_of(operand))
        if node.op == "~" and kind.floating:
            raise self.session.refuse(node, "~ must have an integer operand", kind.c_name)
        operand = make_cast(operand, kind)
        if node.op == "+":
            return operand
        return make_unary("neg" if node.op == "-" else "not", operand)

    def _sizeof(self, node: c_ast.UnaryOp) -> ir.Expression:
        self.session.later_constants |= node.op == "_Alignof"
        kind = self.types.read(node.expr, node) if _is_typename(node.expr) else self.kind_of(node.expr)
        layout = layout_of(kind)
        if layout is None:
            raise self.session.refuse(node, f"{node.op} must be of a complete type", spelled(kind))
        if node.op == "sizeof":
            return ir.Constant(value=layout.size, type=SIZE)
        if self.session.layouts and not _is_typename(node.expr):
            rule = "_Alignof must be of a type in a program with layout attributes"
            raise self.session.refuse(node, rule, "an expression")
        alignment = self.types.type_alignment(node.expr) or layout.alignment
        return ir.Constant(value=alignment, type=SIZE)

    def _selected(self, node: c_ast.GenericSelection) -> c_ast.Node:
        """Return the expression that `_Generic` selects.

        Raises: HlsError: its operand has a type that shares its form with another one (long, long long).
        """
        self.session.later_constants = True
        kind = self.kind_of(node.expr)
        if not isinstance(kind, Scalar) or kind.boolean or kind.type not in _OWN_FORM:
            rule = "_Generic must select by a number of type short, int, float, double or an unsigned one"
            raise self.session.refuse(node, f"{rule} (write the expression of its type)", spelled(kind))
        default: c_ast.GenericAssociation | None = None
        for one in node.associations:
            if one.type is None:
                default = one
            elif self.types.read(one.type, node) == kind:
                return one.expr
        if default is None:
            raise self.session.refuse(
                node, "_Generic must have an association for its operand", spelled(kind)
            )
        return default.expr

    def kind_of(self, node: c_ast.Node) -> CType:
        """Return the type of an expression, without evaluating it."""
        unset = self._unset_pointer(node)
        if unset is not None:
            return unset
        self.session.unevaluated += 1
        try:
            with self.session.collect():
                if _names_place(node):
                    kind = self.place(node).kind
                    return Scalar(type=kind.value_type) if isinstance(kind, Scalar) and kind.bits else kind
                if isinstance(node, c_ast.ID):
                    symbol = self.symbol(node)
                    if isinstance(symbol, Place):
                        return symbol.kind
                value = self.read(node)
        finally:
            self.session.unevaluated -= 1
        match value:
            case None:
                return Void()
            case Address():
                return Pointer(target=value.kind)
            case Place():
                return value.kind
            case _:
                return Scalar(type=ir.type_of(value))

    def _unset_pointer(self, node: c_ast.Node) -> CType | None:
        """Return type of `*p` or `p[i]` of a pointer that has no value yet, as in `p = malloc(sizeof *p)`."""
        match node:
            case c_ast.UnaryOp(op="*", expr=c_ast.ID() | c_ast.StructRef() as inner):
                pass
            case c_ast.ArrayRef(name=c_ast.ID() | c_ast.StructRef() as inner):
                pass
            case _:
                return None
        if isinstance(inner, c_ast.ID):
            symbol = self.session.find(inner.name)
            place = symbol if isinstance(symbol, Place) else None
        else:
            with self.session.collect():
                place = self.place(inner)
        unset = place is not None and isinstance(place.storage, PointerSlot) and place.storage.base is None
        return place.kind.target if place is not None and unset and isinstance(place.kind, Pointer) else None

    def _binary(self, node: c_ast.BinaryOp) -> Result:
        if node.op in ("&&", "||"):
            return self.hooks.connect(node)
        left, right = self.sequence(lambda: self.read(node.left), lambda: self.read(node.right))
        return self.combine(BINARY[node.op], left, right, node)

    def combine(self, operator: str, left: Result, right: Result, node: c_ast.Node) -> Result:
        """Return a binary operator of two values: arithmetic, or arithmetic of pointers."""
        if isinstance(left, Address) or isinstance(right, Address):
            return self.pointers.combine(operator, left, right, node)
        return self.arithmetic(operator, self.as_number(left, node), self.as_number(right, node), node)

    def arithmetic(
        self, operator: str, left: ir.Expression, right: ir.Expression, node: c_ast.Node
    ) -> ir.Expression:
        """Return a binary operator of two numbers, converted as C converts them (C11 6.5.5 to 6.5.12)."""
        kind = common_type(ir.type_of(left), ir.type_of(right))
        if operator in _INTEGER_ONLY and kind.floating:
            raise self.session.refuse(node, f"{node.op} must have integer operands", kind.c_name)
        if operator in ("shl", "shr"):
            kind = promoted(ir.type_of(left))
        zero = isinstance(right, ir.Constant) and right.number == 0
        if operator in ("div", "rem") and zero and not kind.floating:
            raise self.session.refuse(node, "a divisor must not be zero", "0")
        return make_binary(operator, make_cast(left, kind), make_cast(right, kind))

    # ---- casts --------------------------------------------------------------------------------------

    def _cast(self, node: c_ast.Cast) -> Result:
        kind = self.types.read(node.to_type, node)
        if isinstance(kind, Void):
            self.discard(node.expr)
            return None
        return self.converted(self.read(node.expr), kind, node)

    def converted(self, value: Result, kind: CType, node: c_ast.Node) -> Result:
        """Return a value converted to a type, as assignment and casts do."""
        match kind:
            case Scalar():
                return convert(self.as_number(value, node), kind)
            case Pointer():
                return self.pointers.pointed(value, kind, node)
            case Struct():
                if isinstance(value, Place) and value.kind is kind:
                    return value
                raise self.session.refuse(node, f"a value must be a {spelled(kind)}", "another type")
            case ArrayOf() | Void() | Function():
                raise self.session.refuse(node, "a value must not be converted", f"to {spelled(kind)}")


def table_part(array: ir.Array, place: Place) -> Place:
    """Return the place, in an array of a pointer table, of what belongs to the pointer at a place."""
    return Place(kind=Scalar(type=array.type), storage=Memory(array=array), indices=place.indices)


_OWN_FORM = (INT16, INT32, UINT16, UINT32, FLOAT, DOUBLE)
"""Types of numbers that no other type of C has the form of."""


def _names_place(node: c_ast.Node) -> bool:
    """Tell whether an expression other than a name is a place, so that its type may be an array."""
    if isinstance(node, c_ast.Constant):
        return str(node.value).startswith('"')
    if isinstance(node, c_ast.UnaryOp):
        return bool(node.op == "*")
    return isinstance(node, c_ast.ArrayRef | c_ast.StructRef | c_ast.CompoundLiteral)


def _is_typename(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Typename)


_EXPRESSION_NAMES = {
    "FuncCall": "a function call",
    "InitList": "an initialiser list",
    "GenericSelection": "_Generic",
    "Constant": "a constant",
    "BinaryOp": "an operator's value",
    "TernaryOp": "an operator's value",
    "Cast": "a cast",
}
