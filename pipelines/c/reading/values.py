"""Values of expressions: numbers, conversions, and pointer arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NoReturn

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.arithmetic import make_binary, make_cast, make_select, negated, truth_value
from pipelines.c.errors import BytesNeeded, HlsError
from pipelines.c.reading.addressing import Places, are_apart, bits_of, number_count, same_object
from pipelines.c.reading.ctypes import (
    ArrayOf,
    CType,
    Pointer,
    Scalar,
    Struct,
    Void,
    layout_of,
    spelled,
)
from pipelines.c.reading.session import (
    Address,
    Allocation,
    Chosen,
    Place,
    Session,
    Value,
    cases_of,
    chosen,
    parts_of,
    selected,
)
from pipelines.c.signature import INT64, ScalarType

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
    """Return the value converted to a scalar type; a widening that the conversion undoes is dropped."""
    if kind.boolean:
        return make_cast(truth_value(value), kind.type)
    if kind.bits:
        return bits_of(convert(value, Scalar(type=kind.type)), kind, 0)
    while isinstance(value, ir.Cast) and not value.bits and _undone(value, kind.type):
        value = value.operand
    return make_cast(value, kind.type)


def _undone(value: ir.Cast, kind: ScalarType) -> bool:
    """Tell whether an integer conversion does not change the low bits that the next one keeps."""
    source = ir.type_of(value.operand)
    if source.floating or value.type.floating or kind.floating:
        return False
    return value.type.width_bits >= kind.width_bits


@dataclass(slots=True, kw_only=True)
class Hooks:
    """Functions of other readers that expressions call; set after construction."""

    choose: Callable[[c_ast.TernaryOp], Result] = field(init=False)
    connect: Callable[[c_ast.BinaryOp], ir.Expression] = field(init=False)
    zero: Callable[[Place, c_ast.Node], None] = field(init=False)
    call: Callable[[c_ast.FuncCall, bool], Result] = field(init=False)
    assignment: Callable[[c_ast.Node, bool], Result] = field(init=False)
    global_symbol: Callable[[c_ast.ID], Value | Place | Address | None] = field(init=False)
    literal_object: Callable[[c_ast.CompoundLiteral], Place] = field(init=False)
    string_table: Callable[[tuple[int, ...], c_ast.Node], Place] = field(init=False)
    copy: Callable[[Place, Place, c_ast.Node], None] = field(init=False)
    new_object: Callable[[CType, str, c_ast.Node], Place] = field(init=False)
    is_operator: Callable[[str], bool] = field(init=False)
    block_value: Callable[[c_ast.Compound], Result] = field(init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointers:
    """Operators of pointers."""

    session: Session
    places: Places
    hooks: Hooks

    def integer(self, value: Result, node: c_ast.Node) -> ir.Expression:
        """Return an integer operand: an index or an offset."""
        if value is None or isinstance(value, Address | Place) or ir.type_of(value).floating:
            raise self.session.refuse(node, "an index must be an integer", "another value")
        return value

    def address(self, value: Result, node: c_ast.Node) -> Address:
        """Return a value as a pointer."""
        if isinstance(value, Address):
            return value
        raise self.session.refuse(node, "only an array or a pointer can be indexed", "another value")

    def combine(self, operator: str, left: Result, right: Result, node: c_ast.Node) -> Result:
        """Return a binary operator of which at least one operand is a pointer."""
        if isinstance(left, Address) and isinstance(right, Address):
            return self._pair(operator, left, right, node)
        pointer, other = (left, right) if isinstance(left, Address) else (right, left)
        assert isinstance(pointer, Address)
        if operator in ("eq", "ne") and isinstance(other, ir.Constant) and other.value == 0:
            null = self.is_null(pointer)
            return null if operator == "eq" else negated(null)
        if operator == "add" or (operator == "sub" and pointer is left):
            return self.places.moved(pointer, self.integer(other, node), node, operator)
        raise self.session.refuse(node, "a pointer can be moved and compared", f"the operator {operator}")

    def is_null(self, pointer: Address) -> ir.Expression:
        """Return an expression that is 1 if a pointer is null, else 0."""
        *some, (_, last) = cases_of(pointer)
        null: ir.Expression = ir.Constant(value=int(last.storage is None))
        for condition, one in reversed(some):
            own = ir.Constant(value=int(one.storage is None))
            if isinstance(null, ir.Constant) and null.value != own.value:
                null = condition if own.value else negated(condition)
            else:
                null = make_select(condition, own, null)
        return null

    def _pairs(self, operator: str, left: Address, right: Address, node: c_ast.Node) -> ir.Expression:
        """Return an operator of pointers of which one may point into several objects, or be null."""
        cases: list[tuple[ir.Expression, ir.Expression]] = []
        lefts, rights = cases_of(left), cases_of(right)
        for first_number, (first_condition, first) in enumerate(lefts):
            for second_number, (second_condition, second) in enumerate(rights):
                lasts = first_number == len(lefts) - 1, second_number == len(rights) - 1
                conditions = [
                    own
                    for own, last in zip((first_condition, second_condition), lasts, strict=True)
                    if not last
                ]
                both = conditions[0] if conditions else ir.Constant(value=1)
                for other in conditions[1:]:
                    both = make_binary("and", both, other)
                is_undefined = operator not in ("eq", "ne") and are_apart(first, second)
                is_null = first.storage is None or second.storage is None
                if not is_undefined or (not is_null and 1 in (len(lefts), len(rights))):
                    cases.append((both, self._pair(operator, first, second, node)))
        if not cases:
            return self._refuse_pair(node)
        return selected(cases)

    def _pair(self, operator: str, left: Address, right: Address, node: c_ast.Node) -> ir.Expression:
        if isinstance(left.storage, Chosen) or isinstance(right.storage, Chosen):
            return self._pairs(operator, left, right, node)
        if left.storage is None or right.storage is None:
            equal = left.storage is right.storage
            if operator in ("eq", "ne"):
                return ir.Constant(value=int(equal == (operator == "eq")))
        elif operator in ("eq", "ne") and are_apart(left, right):
            self.session.later_forms = True
            return ir.Constant(value=int(operator == "ne"))
        same = same_object(left, right) and left.indices[:-1] == right.indices[:-1]
        if not same or operator not in ("sub", *ir.COMPARISONS):
            return self._refuse_pair(node)
        if not left.indices:
            zero = ir.Constant(value=0)
            return make_binary(operator, zero, zero)
        value = make_binary(operator, left.indices[-1], right.indices[-1])
        if operator != "sub":
            return value
        if left.flat:
            value = make_binary("div", value, ir.Constant(value=number_count(left.kind)))
        layout = layout_of(left.kind)
        if left.bytewise and layout is not None:
            value = make_binary("div", value, ir.Constant(value=layout.size))
        return make_cast(value, INT64)

    def _refuse_pair(self, node: c_ast.Node) -> NoReturn:
        rule = "two pointers must be into one array, and be subtracted or compared"
        raise self.session.refuse(node, rule, "pointers into different objects")

    def pointed(self, value: Result, kind: Pointer, node: c_ast.Node) -> Address:
        """Return a value as a pointer of a type: the same object with elements of the same width."""
        if isinstance(value, ir.Constant) and value.value == 0:
            return Address(kind=kind.target, storage=None)
        if not isinstance(value, Address):
            raise self.session.refuse(node, f"a value must be a {spelled(kind)}", "no pointer")
        target = kind.target
        if isinstance(value.storage, Chosen):
            return chosen([(own, self.pointed(one, kind, node)) for own, one in value.storage.cases])
        if isinstance(value.storage, Allocation):
            return value if isinstance(target, Void) else self._allocated(value.storage, kind, node)
        if value.bytewise and isinstance(target, Struct) and value.kind is target:
            return value
        if value.bytewise and not isinstance(target, Void):
            return self.places.in_bytes(value, target) or value
        if value.storage is None or isinstance(target, Void) or _compatible(value.kind, target):
            return value if isinstance(target, Void) else replace(value, kind=_sized(value.kind, target))
        flat = self.places.flattened(value, target) or self.places.in_bytes(value, target)
        if flat is not None:
            return flat
        rule = f"a pointer must keep the type of its array, {spelled(value.kind)}"
        refusal = self.session.refuse(node, rule, spelled(kind))
        raise self.bytes_needed(value.kind, refusal) if isinstance(target, Scalar) else refusal

    def bytes_needed(self, kind: CType, refusal: HlsError) -> HlsError:
        """Return error for a structure that is used as bytes: one that lets it be stored so, unless it is."""
        if not isinstance(kind, Struct) or kind.union or kind.as_bytes or kind.key == 0:
            return refusal
        return BytesNeeded(kind.key, refusal)

    def _allocated(self, memory: Allocation, kind: Pointer, node: c_ast.Node) -> Address:
        """Return a pointer to allocated memory, which becomes an object of the first type of its uses."""
        if memory.place is not None:
            place = memory.place
            whole = self.places.decayed(place) if isinstance(place.kind, ArrayOf) else None
            return self.pointed(whole or self.places.address_of(place), kind, node)
        layout = layout_of(kind.target)
        count = 0 if layout is None else memory.size_bytes // max(layout.size, 1)
        if count < 1:
            rule = f"allocated memory must hold a {spelled(kind.target)}"
            raise self.session.refuse(node, rule, f"{memory.size_bytes} bytes")
        own = kind.target if count == 1 else ArrayOf(element=kind.target, size=count)
        memory.place = self.hooks.new_object(own, "memory", node)
        for storage in parts_of(memory.place.storage):
            self.session.allocated[storage] = memory.loops
        if memory.zero:
            self.hooks.zero(memory.place, node)
        return self._allocated(memory, kind, node)


def _compatible(own: CType, other: CType) -> bool:
    """Tell whether memory of one type can be reinterpreted as another without moving bits."""
    match own, other:
        case (Scalar(), Scalar()):
            return own.type.width_bits == other.type.width_bits
        case (ArrayOf(), ArrayOf()):
            sizes = own.size == other.size or other.size is None
            return sizes and _compatible(own.element, other.element)
        case _:
            return own == other


def _sized(own: CType, other: CType) -> CType:
    """Return the other type with its open sizes filled in."""
    if isinstance(own, ArrayOf) and isinstance(other, ArrayOf):
        size = own.size if other.size is None else other.size
        return ArrayOf(element=_sized(own.element, other.element), size=size)
    return other
