"""Expressions of C to values, and their side effects to statements.

Belongs here: operators, conversions, order of evaluation. Does not: assignments (`effects`), calls (`calls`).

A value is read without statements where the expression has no side effects; then `&&`, `||` and `?:` are
selections, and array elements behind them are loaded under a predicate. Side effects become statements of
the body being read, from left to right; behind `&&`, `||` and `?:` they stand in a condition. A value that
later side effects would change is saved in a variable before them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_cast, make_select, make_unary, negated, truth_value
from pipelines.hls.reading.ctypes import (
    SIZE,
    ArrayOf,
    CType,
    Pointer,
    Scalar,
    Struct,
    Void,
    common_type,
    promoted,
    size_of,
    spelled,
)
from pipelines.hls.reading.declarators import Declarators
from pipelines.hls.reading.literals import read_character, read_floating, read_integer, read_string
from pipelines.hls.reading.places import Address, Memory, Place, Places, PointerSlot, same_object
from pipelines.hls.reading.session import Session, TypeName, Value, affected
from pipelines.interface import INT64, ScalarType

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

_INTEGER_ONLY = ("rem", "and", "or", "xor", "shl", "shr")
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

    call: Callable[[c_ast.FuncCall, bool], Result] = field(init=False)
    assignment: Callable[[c_ast.Node, bool], Result] = field(init=False)
    global_symbol: Callable[[c_ast.ID], Value | Place | Address | None] = field(init=False)
    literal_object: Callable[[c_ast.CompoundLiteral], Place] = field(init=False)
    string_table: Callable[[tuple[int, ...], c_ast.Node], Place] = field(init=False)
    copy: Callable[[Place, Place, c_ast.Node], None] = field(init=False)
    new_object: Callable[[CType, str, c_ast.Node], Place] = field(init=False)
    is_operator: Callable[[str], bool] = field(init=False)


@dataclass(slots=True, kw_only=True)
class Expressions:
    """Reads expressions.

    Attributes:
        guard: condition under which the expression being read is evaluated.
    """

    session: Session
    places: Places
    types: Declarators
    hooks: Hooks
    guard: ir.Expression | None = None
    _effects: dict[int, bool] = field(default_factory=dict[int, bool])

    # ---- what statements ask for ------------------------------------------------------------------

    def number(self, node: c_ast.Node) -> ir.Expression:
        """The value of an arithmetic expression."""
        return self.as_number(self.read(node), node)

    def as_number(self, value: Result, node: c_ast.Node) -> ir.Expression:
        """A result that must be a number."""
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
        """The truth of an expression, 0 or 1."""
        value = self.read(node)
        if isinstance(value, Address):
            return ir.Constant(value=int(value.storage is not None))
        return truth_value(self.as_number(value, node))

    def constant(self, node: c_ast.Node) -> ir.Constant | None:
        """The value of a constant expression, None when it is not constant."""
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
        """The value of an expression.

        Raises: HlsError: the expression is outside the accepted subset.
        """
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
                return self._ternary(node)
            case c_ast.Cast():
                return self._cast(node)
            case c_ast.Assignment():
                return self.hooks.assignment(node, True)
            case c_ast.FuncCall():
                return self.hooks.call(node, True)
            case c_ast.ExprList():
                for part in node.exprs[:-1]:
                    self.discard(part)
                return self.read(node.exprs[-1])
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
        """What a name stands for.

        Raises: HlsError: it is not declared, or a type or a function.
        """
        found = self.session.find(node.name) or self.hooks.global_symbol(node)
        if isinstance(found, TypeName):
            raise self.session.refuse(node, "an expression must not be a type", repr(node.name))
        if found is not None:
            return found
        if node.name in self.types.file_scope.functions or node.name in self.types.file_scope.prototypes:
            rule = "a function must be called by its name (write a switch over the functions)"
            raise self.session.refuse(node, rule, f"{node.name!r} without a call")
        raise self.session.refuse(node, "a name must be declared", repr(node.name))

    def value_at(self, place: Place, node: c_ast.Node) -> Result:
        """The value of a place: an array is the address of its first element."""
        match place.kind:
            case ArrayOf():
                return self.places.decayed(place)
            case Struct():
                return place
            case Pointer():
                return self.pointer_at(place, node)
            case _:
                return self.places.load(place, node, self.guard)

    def pointer_at(self, place: Place, node: c_ast.Node) -> Address:
        """The value of a pointer variable."""
        slot = place.storage
        if not isinstance(slot, PointerSlot) or slot.base is None:
            got = slot.name if isinstance(slot, PointerSlot) else "another object"
            raise self.session.refuse(node, "a pointer must point to an object before it is used", got)
        return replace(slot.base, indices=slot.indices)

    # ---- places -----------------------------------------------------------------------------------

    def place(self, node: c_ast.Node) -> Place:
        """What an expression names: a variable, an array element, a member."""
        match node:
            case c_ast.ID():
                symbol = self.symbol(node)
                if isinstance(symbol, Place):
                    return symbol
            case c_ast.ArrayRef():
                base, index = self.sequence(lambda: self.read(node.name), lambda: self.read(node.subscript))
                if isinstance(index, Address):
                    base, index = index, base
                offset = self._integer(index, node)
                return self.places.target(self.places.moved(self._address(base, node), offset, node), node)
            case c_ast.StructRef():
                value = self.read(node.name)
                if node.type == "->":
                    value = self.places.target(self._address(value, node), node)
                if isinstance(value, Place):
                    return self.places.member(value, node.field.name, node)
                raise self.session.refuse(node, "only a structure has members", "a number or a pointer")
            case c_ast.UnaryOp() if node.op == "*":
                return self.places.target(self._address(self.read(node.expr), node), node)
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

    def _address(self, value: Result, node: c_ast.Node) -> Address:
        if isinstance(value, Address):
            return value
        raise self.session.refuse(node, "only an array or a pointer can be indexed", "another value")

    def _integer(self, value: Result, node: c_ast.Node) -> ir.Expression:
        number = self.as_number(value, node)
        if ir.type_of(number).floating:
            raise self.session.refuse(node, "an index must be an integer", "a floating number")
        return number

    # ---- order of evaluation ----------------------------------------------------------------------

    def sequence(self, *readers: Callable[[], Result]) -> list[Result]:
        """Values read one after the other, each as it was before the side effects of the next."""
        values: list[Result] = []
        for read in readers:
            mark = len(self.session.buffer)
            value = read()
            emitted = self.session.buffer[mark:]
            if emitted:
                values = [self._kept(v, emitted, mark) for v in values]
            values.append(value)
        return values

    def _kept(self, value: Result, emitted: list[ir.Statement], mark: int) -> Result:
        """A value as it is before statements, which begin at a position of the body."""
        line = emitted[0].line
        match value:
            case None | Place():
                return value
            case Address():
                kept = (
                    self.session.saved(i, "index", line, mark) if affected(i, emitted) else i
                    for i in value.indices
                )
                return replace(value, indices=tuple(kept))
            case _:
                return self.session.saved(value, "kept", line, mark) if affected(value, emitted) else value

    def has_effects(self, node: c_ast.Node) -> bool:
        """Whether an expression contains an assignment or a call of a function."""
        if id(node) not in self._effects:
            own = isinstance(node, c_ast.Assignment | c_ast.CompoundLiteral)
            own = own or (isinstance(node, c_ast.UnaryOp) and node.op in UPDATES)
            if isinstance(node, c_ast.FuncCall):
                own = not (isinstance(node.name, c_ast.ID) and self.hooks.is_operator(node.name.name))
            self._effects[id(node)] = own or any(self.has_effects(child) for _, child in node.children())
        return self._effects[id(node)]

    @contextmanager
    def under(self, condition: ir.Expression) -> Iterator[None]:
        """What is read inside is evaluated only when a condition holds, too."""
        outer = self.guard
        self.guard = condition if outer is None else make_binary("and", outer, condition)
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
            case "sizeof":
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
            return self._address(self.read(node.expr.expr), node)
        if isinstance(node.expr, c_ast.ArrayRef) or not isinstance(node.expr, c_ast.ID):
            return self.places.address_of(self.place(node.expr))
        symbol = self.symbol(node.expr)
        if isinstance(symbol, Place) and not isinstance(symbol.storage, PointerSlot):
            return self.places.address_of(symbol)
        raise self.session.refuse(node, "an address must be that of a variable or an array", "a pointer's")

    def _not(self, node: c_ast.UnaryOp) -> ir.Expression:
        value = self.read(node.expr)
        if isinstance(value, Address):
            return ir.Constant(value=int(value.storage is None))
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
        kind = self.types.read(node.expr, node) if _is_typename(node.expr) else self.kind_of(node.expr)
        size = size_of(kind)
        if size is None:
            raise self.session.refuse(node, "sizeof must be of a complete type", spelled(kind))
        return ir.Constant(value=size, type=SIZE)

    def kind_of(self, node: c_ast.Node) -> CType:
        """The type of an expression, which is not evaluated."""
        with self.session.collect():
            if isinstance(node, c_ast.ArrayRef | c_ast.StructRef | c_ast.CompoundLiteral | c_ast.Constant):
                if not isinstance(node, c_ast.Constant) or str(node.value).startswith('"'):
                    return self.place(node).kind
            if isinstance(node, c_ast.UnaryOp) and node.op == "*":
                return self.place(node).kind
            if isinstance(node, c_ast.ID):
                symbol = self.symbol(node)
                if isinstance(symbol, Place):
                    return symbol.kind
            value = self.read(node)
        match value:
            case None:
                return Void()
            case Address():
                return Pointer(target=value.kind)
            case Place():
                return value.kind
            case _:
                return Scalar(type=ir.type_of(value))

    def _binary(self, node: c_ast.BinaryOp) -> Result:
        if node.op in ("&&", "||"):
            return self._logical(node)
        left, right = self.sequence(lambda: self.read(node.left), lambda: self.read(node.right))
        return self.combine(BINARY[node.op], left, right, node)

    def combine(self, operator: str, left: Result, right: Result, node: c_ast.Node) -> Result:
        """A binary operator of two values: arithmetic, or arithmetic of pointers."""
        if isinstance(left, Address) or isinstance(right, Address):
            return self._pointer_arithmetic(operator, left, right, node)
        return self.arithmetic(operator, self.as_number(left, node), self.as_number(right, node), node)

    def arithmetic(
        self, operator: str, left: ir.Expression, right: ir.Expression, node: c_ast.Node
    ) -> ir.Expression:
        """A binary operator of two numbers, converted as C converts them (C11 6.5.5 to 6.5.12)."""
        kind = common_type(ir.type_of(left), ir.type_of(right))
        if operator in _INTEGER_ONLY and kind.floating:
            raise self.session.refuse(node, f"{node.op} must have integer operands", kind.c_name)
        if operator in ("shl", "shr"):
            kind = promoted(ir.type_of(left))
        zero = isinstance(right, ir.Constant) and right.number == 0
        if operator in ("div", "rem") and zero and not kind.floating:
            raise self.session.refuse(node, "a divisor must not be zero", "0")
        return make_binary(operator, make_cast(left, kind), make_cast(right, kind))

    def _pointer_arithmetic(self, operator: str, left: Result, right: Result, node: c_ast.Node) -> Result:
        if isinstance(left, Address) and isinstance(right, Address):
            return self._pointer_pair(operator, left, right, node)
        pointer, other = (left, right) if isinstance(left, Address) else (right, left)
        assert isinstance(pointer, Address)
        if operator in ("eq", "ne") and isinstance(other, ir.Constant) and other.value == 0:
            return ir.Constant(value=int((pointer.storage is None) == (operator == "eq")))
        if operator == "add" or (operator == "sub" and pointer is left):
            return self.places.moved(pointer, self._integer(other, node), node, operator)
        raise self.session.refuse(node, "a pointer can be moved and compared", f"the operator {operator}")

    def _pointer_pair(self, operator: str, left: Address, right: Address, node: c_ast.Node) -> ir.Expression:
        if left.storage is None or right.storage is None:
            equal = left.storage is right.storage
            if operator in ("eq", "ne"):
                return ir.Constant(value=int(equal == (operator == "eq")))
        same = same_object(left, right) and left.indices[:-1] == right.indices[:-1]
        if not same or operator not in ("sub", *ir.COMPARISONS):
            rule = "two pointers must be into one array, and be subtracted or compared"
            raise self.session.refuse(node, rule, "pointers into different objects")
        if not left.indices:
            zero = ir.Constant(value=0)
            return make_binary(operator, zero, zero)
        value = make_binary(operator, left.indices[-1], right.indices[-1])
        return make_cast(value, INT64) if operator == "sub" else value

    def _logical(self, node: c_ast.BinaryOp) -> ir.Expression:
        """`&&` and `||`: the right operand is evaluated only when it matters."""
        left = self.condition(node.left)
        conjunction = node.op == "&&"
        if isinstance(left, ir.Constant):
            if bool(left.value) != conjunction:
                return ir.Constant(value=int(not conjunction))
            return self.condition(node.right)
        needed = left if conjunction else negated(left)
        if not self.has_effects(node.right):
            with self.under(needed):
                right = self.condition(node.right)
            if conjunction:
                return make_select(left, right, ir.Constant(value=0))
            return make_select(left, ir.Constant(value=1), right)
        line = self.session.line_of(node)
        found = self.session.saved(left, "condition", line)
        with self.session.collect() as body:
            right = self.condition(node.right)
            self.session.emit(ir.Assign(variable=found.variable, value=right, line=line), node)
        chosen: ir.Expression = found if conjunction else negated(found)
        self.session.emit(ir.If(condition=chosen, then=tuple(body), otherwise=(), line=line), node)
        return found

    # ---- ?: and casts -----------------------------------------------------------------------------

    def _ternary(self, node: c_ast.TernaryOp) -> Result:
        condition = self.condition(node.cond)
        if isinstance(condition, ir.Constant):
            return self._chosen(node, bool(condition.value))
        if self.has_effects(node.iftrue) or self.has_effects(node.iffalse):
            return self._branches(node, condition)
        with self.under(condition):
            if_true = self.read(node.iftrue)
        with self.under(negated(condition)):
            if_false = self.read(node.iffalse)
        if isinstance(if_true, Place) or isinstance(if_false, Place):
            return self._branches(node, condition)
        if isinstance(if_true, Address) and isinstance(if_false, Address):
            self._require_same(if_true, if_false, node)
            pairs = zip(if_true.indices, if_false.indices, strict=True)
            return replace(if_true, indices=tuple(make_select(condition, a, b) for a, b in pairs))
        if if_true is None and if_false is None:
            return None
        first, second = self._balanced(if_true, if_false, node)
        return make_select(condition, first, second)

    def _chosen(self, node: c_ast.TernaryOp, first: bool) -> Result:
        """The operand of `?:` whose condition is known, with the type both have together."""
        value = self.read(node.iftrue if first else node.iffalse)
        if value is None or isinstance(value, Address | Place):
            return value
        other = self.kind_of(node.iffalse if first else node.iftrue)
        if not isinstance(other, Scalar):
            return value
        return make_cast(value, common_type(ir.type_of(value), other.type))

    def _balanced(
        self, if_true: Result, if_false: Result, node: c_ast.Node
    ) -> tuple[ir.Expression, ir.Expression]:
        first, second = self.as_number(if_true, node), self.as_number(if_false, node)
        kind = common_type(ir.type_of(first), ir.type_of(second))
        return make_cast(first, kind), make_cast(second, kind)

    def _require_same(self, first: Address, second: Address, node: c_ast.Node) -> None:
        if not same_object(first, second):
            rule = "a pointer must always point into one array (write the access in both branches)"
            raise self.session.refuse(node, rule, "a choice between two arrays")

    def _branches(self, node: c_ast.TernaryOp, condition: ir.Expression) -> Result:
        """`?:` with side effects: a condition statement that leaves the value in a variable."""
        line = self.session.line_of(node)
        with self.session.collect() as then:
            if_true = self.read(node.iftrue)
        with self.session.collect() as otherwise:
            if_false = self.read(node.iffalse)
        result: Result = None
        if isinstance(if_true, Place) and isinstance(if_false, Place):
            result = self.hooks.new_object(if_true.kind, "choice", node)
            for body, value in ((then, if_true), (otherwise, if_false)):
                self._into(body, lambda r=result, v=value: self.hooks.copy(r, v, node))
        elif isinstance(if_true, Address) and isinstance(if_false, Address):
            self._require_same(if_true, if_false, node)
            names = [self.session.unique("index") for _ in if_true.indices]
            variables = [ir.Variable(name=n) for n in names]
            self._assign_all(then, variables, if_true.indices, line)
            self._assign_all(otherwise, variables, if_false.indices, line)
            result = replace(if_true, indices=tuple(ir.Read(variable=v) for v in variables))
        elif if_true is not None and if_false is not None:
            first, second = self._balanced(if_true, if_false, node)
            variable = ir.Variable(name=self.session.unique("choice"), type=ir.type_of(first))
            self._assign_all(then, [variable], (first,), line)
            self._assign_all(otherwise, [variable], (second,), line)
            result = ir.Read(variable=variable)
        self.session.emit(
            ir.If(condition=condition, then=tuple(then), otherwise=tuple(otherwise), line=line), node
        )
        return result

    def _into(self, body: list[ir.Statement], emit: Callable[[], None]) -> None:
        with self.session.collect() as more:
            emit()
        body.extend(more)

    def _assign_all(
        self,
        body: list[ir.Statement],
        variables: list[ir.Variable],
        values: tuple[ir.Expression, ...],
        line: int,
    ) -> None:
        for variable, value in zip(variables, values, strict=True):
            body.append(ir.Assign(variable=variable, value=value, line=line))

    def _cast(self, node: c_ast.Cast) -> Result:
        kind = self.types.read(node.to_type, node)
        if isinstance(kind, Void):
            self.discard(node.expr)
            return None
        return self.converted(self.read(node.expr), kind, node)

    def converted(self, value: Result, kind: CType, node: c_ast.Node) -> Result:
        """A value converted to a type, as assignment and casts do."""
        match kind:
            case Scalar():
                return convert(self.as_number(value, node), kind)
            case Pointer():
                return self.pointed(value, kind, node)
            case Struct():
                if isinstance(value, Place) and value.kind is kind:
                    return value
                raise self.session.refuse(node, f"a value must be a {spelled(kind)}", "another type")
            case ArrayOf() | Void():
                raise self.session.refuse(node, "a value must not be converted", f"to {spelled(kind)}")

    def pointed(self, value: Result, kind: Pointer, node: c_ast.Node) -> Address:
        """A value as a pointer of a type: the same object, seen as elements of the same width."""
        if isinstance(value, ir.Constant) and value.value == 0:
            return Address(kind=kind.target, storage=None)
        if not isinstance(value, Address):
            raise self.session.refuse(node, f"a value must be a {spelled(kind)}", "no pointer")
        target = kind.target
        if value.storage is None or isinstance(target, Void) or _compatible(value.kind, target):
            return value if isinstance(target, Void) else replace(value, kind=_sized(value.kind, target))
        if isinstance(value.kind, ArrayOf) and isinstance(value.storage, Memory):
            inner = self.places.decayed(self.places.target(value, node))
            return self.pointed(inner, kind, node)
        rule = f"a pointer must keep the type of its array, {spelled(value.kind)}"
        raise self.session.refuse(node, rule, spelled(kind))


def _compatible(own: CType, other: CType) -> bool:
    """Whether memory of one type can be seen as another without moving bits."""
    match own, other:
        case (Scalar(), Scalar()):
            return own.type.width_bits == other.type.width_bits
        case (ArrayOf(), ArrayOf()):
            sizes = own.size == other.size or other.size is None
            return sizes and _compatible(own.element, other.element)
        case _:
            return own == other


def _sized(own: CType, other: CType) -> CType:
    """The other type, with sizes that it leaves open."""
    if isinstance(own, ArrayOf) and isinstance(other, ArrayOf):
        size = own.size if other.size is None else other.size
        return ArrayOf(element=_sized(own.element, other.element), size=size)
    return other


def _is_typename(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Typename)


_EXPRESSION_NAMES = {
    "FuncCall": "a function call",
    "InitList": "an initialiser list",
    "Compound": "a statement expression",
    "GenericSelection": "_Generic",
    "Constant": "a constant",
    "BinaryOp": "an operator's value",
    "TernaryOp": "an operator's value",
    "Cast": "a cast",
}
