"""Steps between places: members, elements, pointers, loads and stores."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_bit_cast, make_cast
from pipelines.hls.reading.ctypes import ArrayOf, CType, Scalar, Struct, spelled
from pipelines.hls.reading.session import Address, Cell, Memory, Place, Record, Session
from pipelines.interface import INT32, ScalarType


def as_index(value: ir.Expression) -> ir.Expression:
    """An integer as an array index: INT32, with conversions moved to the leaves where the result is equal.

    An index is in bounds, so only its low 32 bits matter; those of sums and products depend only on the low
    bits of their operands.
    """
    match value:
        case ir.Cast() if not value.bits and _keeps_low_bits(ir.type_of(value.operand), value.type):
            return as_index(value.operand)
        case ir.Binary() if value.operator in ("add", "sub", "mul") and value.type.width_bits >= 32:
            return make_binary(value.operator, as_index(value.left), as_index(value.right))
        case ir.Constant():
            return make_cast(value, INT32)
        case _:
            return make_cast(value, INT32)


def _keeps_low_bits(source: ScalarType, target: ScalarType) -> bool:
    return not source.floating and target.width_bits >= 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Steps between places; refuses pointers that do not resolve to one object."""

    session: Session

    # ---- steps ------------------------------------------------------------------------------------

    def element(self, place: Place, index: ir.Expression, node: c_ast.Node) -> Place:
        """`place[index]` of an array."""
        if not isinstance(place.kind, ArrayOf):
            raise self.session.refuse(node, "only an array or a pointer can be indexed", spelled(place.kind))
        inner = place.kind.element
        if place.flat:
            *outer, last = place.indices
            steps = make_binary("mul", as_index(index), ir.Constant(value=number_count(inner)))
            indices = (*outer, make_binary("add", last, steps))
        else:
            indices = (*place.indices, as_index(index))
        return replace(place, kind=inner, indices=indices, element=True)

    def member(self, place: Place, name: str, node: c_ast.Node) -> Place:
        """`place.name`."""
        if not isinstance(place.kind, Struct):
            raise self.session.refuse(node, "only a structure has members", spelled(place.kind))
        kind = place.kind.members.get(name)
        if kind is None or not isinstance(place.storage, Record):
            known = ", ".join(place.kind.members) or "none"
            raise self.session.refuse(node, f"a member must be one of {known}", repr(name))
        return replace(place, kind=kind, storage=place.storage.members[name], element=False)

    def decayed(self, place: Place) -> Address:
        """The address of the first element of an array."""
        assert isinstance(place.kind, ArrayOf)
        indices = place.indices if place.flat else (*place.indices, ir.Constant(value=0))
        return Address(
            kind=place.kind.element, storage=place.storage, indices=indices, moving=True, flat=place.flat
        )

    def address_of(self, place: Place) -> Address:
        """`&place`; the address of an array element can move."""
        return Address(
            kind=place.kind,
            storage=place.storage,
            indices=place.indices,
            moving=place.element,
            flat=place.flat,
        )

    def target(self, address: Address, node: c_ast.Node) -> Place:
        """`*address`."""
        if address.storage is None:
            raise self.session.refuse(node, "a pointer must point to an object", "a null pointer")
        return Place(
            kind=address.kind,
            storage=address.storage,
            indices=address.indices,
            element=address.moving,
            flat=address.flat,
        )

    def moved(
        self, address: Address, offset: ir.Expression, node: c_ast.Node, operator: str = "add"
    ) -> Address:
        """`address + offset`, or `address - offset` with the operator `sub`."""
        if isinstance(offset, ir.Constant) and offset.value == 0:
            return address
        if not address.moving:
            raise self.session.refuse(
                node,
                "a pointer to a single object must not be moved (write an array of known size, float a[N])",
                "pointer arithmetic",
            )
        *outer, last = address.indices
        steps = as_index(offset)
        if address.flat:
            steps = make_binary("mul", steps, ir.Constant(value=number_count(address.kind)))
        return replace(address, indices=(*outer, make_binary(operator, last, steps)))

    def flattened(self, address: Address, kind: CType) -> Address | None:
        """A pointer into an array with elements of another shape; None for numbers of another width.

        The last index of the result counts numbers; it is split into indices when an element is used.
        """
        memory = address.storage
        if not isinstance(memory, Memory) or memory.packed is not None or memory.single:
            return None
        numbers = _number(address.kind), _number(kind)
        if None in numbers or numbers[0] != numbers[1]:
            return None
        if address.flat:
            return replace(address, kind=kind)
        outer, last = address.indices, ir.Constant(value=0)
        position: ir.Expression = last
        if address.moving:
            outer, stride = address.indices[:-1], ir.Constant(value=number_count(address.kind))
            position = make_binary("mul", address.indices[-1], stride)
        return replace(address, kind=kind, indices=(*outer, position), moving=True, flat=True)

    # ---- values -----------------------------------------------------------------------------------

    def load(self, place: Place, node: c_ast.Node, guard: ir.Expression | None) -> ir.Expression:
        """The value of a scalar place."""
        kind = self.scalar_kind(place, node)
        if isinstance(place.storage, Cell):
            value: ir.Expression = ir.Read(variable=place.storage.variable)
        else:
            array, indices = self.array_element(place, node)
            line = self.session.line_of(node)
            value = ir.Load(array=array, indices=indices, line=line, predicate=guard)
        return _viewed(value, kind.type)

    def store(self, place: Place, value: ir.Expression, node: c_ast.Node) -> None:
        """Store a value of the place's type to a scalar place."""
        self.scalar_kind(place, node)
        line = self.session.line_of(node)
        if isinstance(place.storage, Cell):
            variable = place.storage.variable
            own = _viewed(value, variable.type)
            self.session.emit(ir.Assign(variable=variable, value=own, line=line), node)
            return
        array, indices = self.array_element(place, node)
        own = _viewed(value, array.type)
        self.session.emit(ir.Store(array=array, indices=indices, value=own, line=line), node)

    def scalar_kind(self, place: Place, node: c_ast.Node) -> Scalar:
        """The type of a scalar place with storage of the same width.

        Raises: HlsError: another type, or memory of another width is reinterpreted.
        """
        if not isinstance(place.kind, Scalar):
            raise self.session.refuse(node, "a value must be a number", spelled(place.kind))
        stored = None
        if isinstance(place.storage, Cell):
            stored = place.storage.variable.type
        elif isinstance(place.storage, Memory):
            stored = place.storage.array.type
        if stored is None or stored.width_bits != place.kind.type.width_bits:
            got = "another object" if stored is None else stored.c_name
            rule = "memory must be used as the type it was declared with, or one of the same width"
            raise self.session.refuse(node, rule, f"{got} used as {spelled(place.kind)}")
        return place.kind

    def array_element(self, place: Place, node: c_ast.Node) -> tuple[ir.Array, tuple[ir.Expression, ...]]:
        """Array and indices of a scalar place in memory.

        Raises: HlsError: a constant index outside the array, or too few or too many indices.
        """
        memory = place.storage
        if not isinstance(memory, Memory):
            raise self.session.refuse(node, "only an array can be indexed", "another object")
        indices = place.indices
        if memory.packed is not None:
            indices = _packed_indices(indices, memory.packed)
        array = memory.array
        if place.flat:
            indices = _unflattened(indices, array.shape)
        if len(indices) != len(array.shape):
            rule = f"{array.name} must be indexed in {len(array.shape)} dimensions"
            raise self.session.refuse(node, rule, str(len(indices)))
        for index, size in zip(indices, array.shape, strict=True):
            if memory.single and index != ir.Constant(value=0):
                rule = f"a pointer argument must have a size to be indexed (write {array.name}[N])"
                raise self.session.refuse(node, rule, f"*{array.name}")
            if isinstance(index, ir.Constant) and not 0 <= index.value < size:
                rule = f"an index of {array.name} must be 0 to {size - 1}"
                raise self.session.refuse(node, rule, str(index.value))
        return array, indices


def _packed_indices(
    indices: tuple[ir.Expression, ...], packed: tuple[int, int, tuple[int, ...]]
) -> tuple[ir.Expression, ...]:
    """Indices of a packed member: those of the structure, then its position in the structure."""
    outer, first, strides = packed
    position: ir.Expression = ir.Constant(value=first)
    for index, stride in zip(indices[outer:], strides, strict=True):
        position = make_binary("add", make_binary("mul", index, ir.Constant(value=stride)), position)
    return (*indices[:outer], position)


def _unflattened(indices: tuple[ir.Expression, ...], shape: tuple[int, ...]) -> tuple[ir.Expression, ...]:
    """One index per dimension from indices whose last counts numbers over the remaining dimensions."""
    *outer, position = indices
    remainders: list[ir.Expression] = []
    for size in reversed(shape[len(outer) + 1 :]):
        remainders.insert(0, make_binary("rem", position, ir.Constant(value=size)))
        position = make_binary("div", position, ir.Constant(value=size))
    return (*outer, position, *remainders)


def number_count(kind: CType) -> int:
    """Numbers in a number or an array of them."""
    return number_count(kind.element) * (kind.size or 0) if isinstance(kind, ArrayOf) else 1


def _number(kind: CType) -> int | None:
    """Width of an array's numbers, None when its elements are not numbers."""
    while isinstance(kind, ArrayOf):
        kind = kind.element
    return kind.type.width_bits if isinstance(kind, Scalar) else None


def _viewed(value: ir.Expression, kind: ScalarType) -> ir.Expression:
    """The same bits as another type of the same width."""
    source = ir.type_of(value)
    if source == kind:
        return value
    return make_bit_cast(value, kind) if source.floating or kind.floating else make_cast(value, kind)


def same_object(first: Address, second: Address) -> bool:
    """Whether two pointers point into one object with equally many indices."""
    alike = len(first.indices) == len(second.indices) and first.flat == second.flat
    return alike and first.storage is second.storage
