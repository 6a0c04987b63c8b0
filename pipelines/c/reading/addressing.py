"""Steps between places: members, elements, pointers, loads and stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.arithmetic import make_binary, make_bit_cast, make_cast, make_unary
from pipelines.c.reading.ctypes import (
    UNNAMED,
    ArrayOf,
    CType,
    Scalar,
    Struct,
    layout_of,
    member_offset,
    memory_unit,
    spelled,
)
from pipelines.c.reading.session import (
    Address,
    Cell,
    Chosen,
    Memory,
    Place,
    Record,
    Session,
    Storage,
    cases_of,
    chosen,
    selected,
)
from pipelines.c.signature import INT32, ScalarType


def as_index(value: ir.Expression) -> ir.Expression:
    """Return an integer as an array index: INT32, with conversions moved to the leaves where the result is
    equal.

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
        """Return `place[index]` of an array."""
        if isinstance(place.storage, Chosen):
            return self._in_each(place, lambda one: self.element(one, index, node), node)
        if not isinstance(place.kind, ArrayOf):
            raise self.session.refuse(node, "only an array or a pointer can be indexed", spelled(place.kind))
        inner = place.kind.element
        if place.bytewise:
            return replace(place, kind=inner, indices=_ahead(place.indices, index, inner), element=True)
        if place.flat:
            *outer, last = place.indices
            steps = make_binary("mul", as_index(index), ir.Constant(value=number_count(inner)))
            indices = (*outer, make_binary("add", last, steps))
        else:
            indices = (*place.indices, as_index(index))
        return replace(place, kind=inner, indices=indices, element=True)

    def member(self, place: Place, name: str, node: c_ast.Node) -> Place:
        """Return `place.name`."""
        if isinstance(place.storage, Chosen):
            return self._in_each(place, lambda one: self.member(one, name, node), node)
        if not isinstance(place.kind, Struct):
            raise self.session.refuse(node, "only a structure has members", spelled(place.kind))
        kind = place.kind.members.get(name)
        if kind is None:
            unnamed = next((m for m, k in place.kind.members.items() if _holds(m, k, name)), None)
            if unnamed is not None:
                return self.member(self.member(place, unnamed, node), name, node)
        if kind is not None and (place.kind.union or place.kind.as_bytes or place.bytewise):
            self._require_near_words(place, place.kind, node)
            return self._member_bytes(place, place.kind, name)
        if kind is None or not isinstance(place.storage, Record):
            known = ", ".join(place.kind.members) or "none"
            raise self.session.refuse(node, f"a member must be one of {known}", repr(name))
        return replace(place, kind=kind, storage=place.storage.members[name], element=False)

    def _require_near_words(self, place: Place, structure: Struct, node: c_ast.Node) -> None:
        """Refuse a packed structure in memory of numbers that its own may cross."""
        storage = place.storage
        words = storage.variable.type if isinstance(storage, Cell) else None
        words = storage.array.type if isinstance(storage, Memory) else words
        unit = memory_unit(structure).width_bits
        if words is not None and structure.packed and words.width_bits > unit:
            rule = f"a packed structure must lie in memory of at most {unit} bits per element"
            raise self.session.refuse(node, rule, f"{spelled(structure)} in elements of {words.width_bits}")

    def _member_bytes(self, place: Place, structure: Struct, name: str) -> Place:
        """Return a member of a union, or of a structure that is seen as bytes."""
        indices = place.indices if place.bytewise else (*place.indices, ir.Constant(value=0))
        *outer, last = indices
        position = make_binary("add", last, ir.Constant(value=member_offset(structure, name)))
        kind = structure.members[name]
        return replace(place, kind=kind, indices=(*outer, position), element=False, bytewise=True)

    def byte_at(self, place: Place, offset: int, kind: Scalar) -> Place:
        """Return a number at a byte of an object that is seen as bytes."""
        *outer, last = place.indices
        position = make_binary("add", last, ir.Constant(value=offset))
        return replace(place, kind=kind, indices=(*outer, position), bytewise=True)

    def decayed(self, place: Place) -> Address:
        """Return the address of the first element of an array."""
        assert isinstance(place.kind, ArrayOf)
        if isinstance(place.storage, Chosen):
            cases = place.storage.cases
            return chosen([(own, self.decayed(_place(one))) for own, one in cases])
        counted = place.flat or place.bytewise
        return Address(
            kind=place.kind.element,
            storage=place.storage,
            indices=place.indices if counted else (*place.indices, ir.Constant(value=0)),
            moving=True,
            flat=place.flat,
            bytewise=place.bytewise,
        )

    def address_of(self, place: Place) -> Address:
        """Return `&place`; the address of an array element can move."""
        return Address(
            kind=place.kind,
            storage=place.storage,
            indices=place.indices,
            moving=place.element,
            flat=place.flat,
            bytewise=place.bytewise,
        )

    def target(self, address: Address, node: c_ast.Node) -> Place:
        """Return `*address`."""
        cases = [case for case in cases_of(address) if case[1].storage is not None]
        if not cases and self.session.unevaluated:
            return self.session.stand_in(address.kind, node)
        if not cases:
            raise self.session.unset(node)
        if isinstance(address.storage, Chosen):
            address = chosen(cases)
        return _place(address)

    def _in_each(self, place: Place, step: Callable[[Place], Place], node: c_ast.Node) -> Place:
        """Return a step from each of the places that a pointer may point to."""
        assert isinstance(place.storage, Chosen)
        cases = [(own, self.address_of(step(_place(one)))) for own, one in place.storage.cases]
        return self.target(chosen(cases), node)

    def moved(
        self, address: Address, offset: ir.Expression, node: c_ast.Node, operator: str = "add"
    ) -> Address:
        """Return `address + offset`, or `address - offset` with the operator `sub`."""
        if isinstance(offset, ir.Constant) and offset.value == 0:
            return address
        if isinstance(address.storage, Chosen):
            return chosen(
                [
                    (own, one if one.storage is None else self.moved(one, offset, node, operator))
                    for own, one in address.storage.cases
                ]
            )
        if address.storage is None:
            raise self.session.unset(node)
        if not address.moving:
            if isinstance(address.storage, Memory) and address.storage.single:
                raise self.session.unsized(node, address.storage.array.name)
            raise self.session.refuse(
                node,
                "a pointer to a single object must not be moved (write an array of known size, float a[N])",
                "pointer arithmetic",
            )
        if address.bytewise:
            return replace(address, indices=_ahead(address.indices, offset, address.kind, operator))
        *outer, last = address.indices
        steps = as_index(offset)
        if address.flat:
            steps = make_binary("mul", steps, ir.Constant(value=number_count(address.kind)))
        return replace(address, indices=(*outer, make_binary(operator, last, steps)))

    def flattened(self, address: Address, kind: CType) -> Address | None:
        """Return a pointer into an array with elements of another shape; None for numbers of another width.

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

    def in_bytes(self, address: Address, kind: CType) -> Address | None:
        """Return a pointer to the same memory with elements of any width; None where the memory is no plain
        array.

        The last index of the result counts bytes.
        """
        if layout_of(kind) is None:
            return None
        if address.bytewise:
            return replace(address, kind=kind, moving=True)
        own, memory = layout_of(address.kind), address.storage
        if isinstance(memory, Memory):
            plain = memory.packed is None and (_number(address.kind) is not None or _is_memory(address.kind))
        else:
            plain = isinstance(memory, Cell)
        if not plain or own is None:
            return None
        outer, position = address.indices, ir.Constant(value=0)
        if address.moving and not _is_union(address.kind):
            *outer, last = address.indices
            size = own.size // number_count(address.kind) if address.flat else own.size
            position = make_binary("mul", last, ir.Constant(value=size))
        return replace(address, kind=kind, indices=(*outer, position), moving=True, flat=False, bytewise=True)

    # ---- values -----------------------------------------------------------------------------------

    def load(self, place: Place, node: c_ast.Node, guard: ir.Expression | None) -> ir.Expression:
        """Load the value of a scalar place."""
        if isinstance(place.storage, Chosen):
            return self._load_chosen(place.storage, node, guard)
        if isinstance(place.kind, Scalar) and place.kind.bits:
            value = self.load(replace(place, kind=Scalar(type=place.kind.type)), node, guard)
            value = bits_of(value, place.kind, place.kind.shift) if place.bytewise else value
            return make_cast(value, place.kind.value_type)
        if place.bytewise:
            return self._load_bytes(place, node, guard)
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
        if isinstance(place.storage, Chosen):
            self._store_chosen(place.storage, value, node)
            return
        if place.bytewise and isinstance(place.kind, Scalar) and place.kind.bits:
            self._store_bits(place, place.kind, value, node)
            return
        if place.bytewise:
            self._store_bytes(place, value, node)
            return
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

    def _load_chosen(self, storage: Chosen, node: c_ast.Node, guard: ir.Expression | None) -> ir.Expression:
        """Load the value of the present one of several places; each is read only when it is that one."""
        values: list[tuple[ir.Expression, ir.Expression]] = []
        for (condition, one), own in zip(storage.cases, storage.guards(), strict=True):
            both = own if guard is None else make_binary("and", guard, own)
            values.append((condition, self.load(_place(one), node, both)))
        return selected(values)

    def _store_chosen(self, storage: Chosen, value: ir.Expression, node: c_ast.Node) -> None:
        """Store to the present one of several places."""
        line = self.session.line_of(node)
        if not isinstance(value, ir.Constant | ir.Read):
            value = self.session.saved(value, "stored", line)
        rest: tuple[ir.Statement, ...] = ()
        for number, (condition, one) in enumerate(reversed(storage.cases)):
            with self.session.collect() as body:
                self.store(_place(one), value, node)
            choice = ir.If(condition=condition, then=tuple(body), otherwise=rest, line=line)
            rest = tuple(body) if number == 0 else (choice,)
        for statement in rest:
            self.session.emit(statement, node)

    def _load_bytes(self, place: Place, node: c_ast.Node, guard: ir.Expression | None) -> ir.Expression:
        """Load a number of another width than the numbers of its memory, lowest byte first."""
        kind, words = self._words(place, node)
        line = self.session.line_of(node)
        bits = _unsigned(kind.width_bits)
        if kind.width_bits <= words.type.width_bits:
            word_type = _unsigned(words.type.width_bits)
            word = _viewed(words.read(0, line, guard), word_type)
            return _viewed(make_cast(make_binary("shr", word, make_cast(words.shift, word_type)), bits), kind)
        value: ir.Expression = ir.Constant(value=0, type=bits)
        for number in range(kind.width_bits // words.type.width_bits):
            word = _viewed(words.read(number, line, guard), _unsigned(words.type.width_bits))
            shift = ir.Constant(value=number * words.type.width_bits, type=bits)
            value = make_binary("or", value, make_binary("shl", make_cast(word, bits), shift))
        return _viewed(value, kind)

    def _store_bits(self, place: Place, kind: Scalar, value: ir.Expression, node: c_ast.Node) -> None:
        """Store to a bit-field in memory: the other bits of the number that holds it stay."""
        bits, whole = _unsigned(kind.type.width_bits), replace(place, kind=Scalar(type=kind.type))
        ones = (1 << kind.bits) - 1
        shift = ir.Constant(value=kind.shift, type=bits)
        old = _viewed(self.load(whole, node, None), bits)
        others = ir.Constant(value=(1 << kind.type.width_bits) - 1 - (ones << kind.shift), type=bits)
        own = make_binary(
            "and", _viewed(make_cast(value, kind.type), bits), ir.Constant(value=ones, type=bits)
        )
        new = make_binary("or", make_binary("and", old, others), make_binary("shl", own, shift))
        self.store(whole, _viewed(new, kind.type), node)

    def _store_bytes(self, place: Place, value: ir.Expression, node: c_ast.Node) -> None:
        kind, words = self._words(place, node)
        line = self.session.line_of(node)
        bits, wide = _unsigned(kind.width_bits), _unsigned(words.type.width_bits)
        value = _viewed(value, bits)
        if kind.width_bits == words.type.width_bits:
            self.session.emit(words.write(0, value, line), node)
        elif kind.width_bits < words.type.width_bits:
            old = _viewed(words.read(0, line, None), wide)
            shift = make_cast(words.shift, wide)
            hole = ir.Constant(value=(1 << kind.width_bits) - 1, type=wide)
            kept = make_binary("and", old, make_unary("not", make_binary("shl", hole, shift)))
            own = make_binary("shl", make_cast(value, wide), shift)
            self.session.emit(words.write(0, make_binary("or", kept, own), line), node)
        else:
            value = self.session.saved(value, "bytes", line)
            for number in range(kind.width_bits // words.type.width_bits):
                shift = ir.Constant(value=number * words.type.width_bits, type=bits)
                part = make_cast(make_binary("shr", value, shift), wide)
                self.session.emit(words.write(number, part, line), node)

    def _words(self, place: Place, node: c_ast.Node) -> tuple[ScalarType, _Words]:
        """Return the type of a scalar place that is seen as bytes, and the words that hold it."""
        if not isinstance(place.kind, Scalar):
            raise self.session.refuse(node, "a value must be a number", spelled(place.kind))
        *outer, position = place.indices
        match place.storage:
            case Cell():
                return place.kind.type, _Words(cell=place.storage.variable, position=position)
            case Memory():
                array, memory = place.storage.array, place.storage
                words = _Words(array=array, outer=tuple(outer), position=position)
                indices = words.indices(0)
                if memory.single and array.shape[0] == 1 and indices[0] != ir.Constant(value=0):
                    raise self.session.unsized(node, array.name)
                for index, size in zip(indices, array.shape, strict=True):
                    if isinstance(index, ir.Constant) and not 0 <= index.value < size:
                        rule = f"an index of {array.name} must be 0 to {size - 1}"
                        raise self.session.refuse(node, rule, str(index.value))
                return place.kind.type, words
            case _:
                rule = "memory must be used as the type it was declared with, or one of the same width"
                raise self.session.refuse(node, rule, f"another object used as {spelled(place.kind)}")

    def scalar_kind(self, place: Place, node: c_ast.Node) -> Scalar:
        """Return the type of a scalar place with storage of the same width.

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
        """Return the array and indices of a scalar place in memory.

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
        if memory.single and indices[0] != ir.Constant(value=0):
            raise self.session.unsized(node, array.name)
        for index, size in zip(indices, array.shape, strict=True):
            if isinstance(index, ir.Constant) and not 0 <= index.value < size:
                rule = f"an index of {array.name} must be 0 to {size - 1}"
                raise self.session.refuse(node, rule, str(index.value))
        return array, indices


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """The numbers of an array, or the one of a variable, from the one that holds a byte.

    Attributes:
        position: of the byte, over all dimensions but the outer ones.
    """

    position: ir.Expression
    cell: ir.Variable | None = None
    array: ir.Array | None = None
    outer: tuple[ir.Expression, ...] = ()

    @property
    def type(self) -> ScalarType:
        """Type of one number."""
        owner = self.array if self.cell is None else self.cell
        assert owner is not None
        return owner.type

    @property
    def shift(self) -> ir.Expression:
        """Bits of the number before the byte."""
        inside = make_binary("and", self.position, ir.Constant(value=self.type.width_bits // 8 - 1))
        return make_binary("shl", inside, ir.Constant(value=3))

    def indices(self, number: int) -> tuple[ir.Expression, ...]:
        """Return the indices of a number of the array."""
        assert self.array is not None
        log = (self.type.width_bits // 8).bit_length() - 1
        first = make_binary("shr", self.position, ir.Constant(value=log))
        position = make_binary("add", first, ir.Constant(value=number))
        return _unflattened((*self.outer, position), self.array.shape)

    def read(self, number: int, line: int, guard: ir.Expression | None) -> ir.Expression:
        if self.array is None:
            assert self.cell is not None
            return ir.Read(variable=self.cell)
        return ir.Load(array=self.array, indices=self.indices(number), line=line, predicate=guard)

    def write(self, number: int, value: ir.Expression, line: int) -> ir.Statement:
        own = _viewed(value, self.type)
        if self.array is None:
            assert self.cell is not None
            return ir.Assign(variable=self.cell, value=own, line=line)
        return ir.Store(array=self.array, indices=self.indices(number), value=own, line=line)


def bits_of(value: ir.Expression, kind: Scalar, shift: int) -> ir.Expression:
    """Return the bits of a bit-field, from a bit of a number of its declared type on, as such a number."""
    width_bits = kind.type.width_bits
    left = ir.Constant(value=width_bits - kind.bits - shift, type=kind.type)
    right = ir.Constant(value=width_bits - kind.bits, type=kind.type)
    return make_binary("shr", make_binary("shl", value, left), right)


def _place(address: Address) -> Place:
    return Place(
        kind=address.kind,
        storage=_held(address.storage),
        indices=address.indices,
        element=address.moving,
        flat=address.flat,
        bytewise=address.bytewise,
    )


def _held(storage: Storage | None) -> Storage:
    assert storage is not None
    return storage


def _unsigned(width_bits: int) -> ScalarType:
    return ScalarType(width_bits=width_bits, signed=False)


def _is_union(kind: CType) -> bool:
    return isinstance(kind, Struct) and kind.union


def _is_memory(kind: CType) -> bool:
    return isinstance(kind, Struct) and (kind.union or kind.as_bytes)


def _holds(member: str, kind: CType, name: str) -> bool:
    """Tell whether an unnamed member of a structure has a member of that name."""
    if not member.startswith(UNNAMED) or not isinstance(kind, Struct):
        return False
    return name in kind.members or any(_holds(m, k, name) for m, k in kind.members.items())


def _ahead(
    indices: tuple[ir.Expression, ...], offset: ir.Expression, kind: CType, operator: str = "add"
) -> tuple[ir.Expression, ...]:
    """Return the indices whose last counts bytes, moved by a number of elements."""
    layout = layout_of(kind)
    *outer, last = indices
    size = ir.Constant(value=0 if layout is None else layout.size)
    return (*outer, make_binary(operator, last, make_binary("mul", as_index(offset), size)))


def _packed_indices(
    indices: tuple[ir.Expression, ...], packed: tuple[int, int, tuple[int, ...]]
) -> tuple[ir.Expression, ...]:
    """Return a packed member's indices: the structure's, then the position in the structure."""
    outer, first, strides = packed
    position: ir.Expression = ir.Constant(value=first)
    for index, stride in zip(indices[outer:], strides, strict=True):
        position = make_binary("add", make_binary("mul", index, ir.Constant(value=stride)), position)
    return (*indices[:outer], position)


def _unflattened(indices: tuple[ir.Expression, ...], shape: tuple[int, ...]) -> tuple[ir.Expression, ...]:
    """Return one index per dimension from indices whose last counts numbers over the remaining dimensions."""
    *outer, position = indices
    remainders: list[ir.Expression] = []
    for size in reversed(shape[len(outer) + 1 :]):
        remainders.insert(0, make_binary("rem", position, ir.Constant(value=size)))
        position = make_binary("div", position, ir.Constant(value=size))
    return (*outer, position, *remainders)


def number_count(kind: CType) -> int:
    """Return numbers in a number or an array of them."""
    return number_count(kind.element) * (kind.size or 0) if isinstance(kind, ArrayOf) else 1


def _number(kind: CType) -> int | None:
    """Return the width of an array's numbers, None when its elements are not numbers."""
    while isinstance(kind, ArrayOf):
        kind = kind.element
    return kind.type.width_bits if isinstance(kind, Scalar) else None


def _viewed(value: ir.Expression, kind: ScalarType) -> ir.Expression:
    """Reinterpret bits as another type of the same width."""
    source = ir.type_of(value)
    if source == kind:
        return value
    return make_bit_cast(value, kind) if source.floating or kind.floating else make_cast(value, kind)


def same_object(first: Address, second: Address) -> bool:
    """Tell whether two pointers point into one object with equally many indices."""
    alike = len(first.indices) == len(second.indices) and first.flat == second.flat
    alike = alike and first.bytewise == second.bytewise
    return alike and first.storage is second.storage


def are_apart(first: Address, second: Address) -> bool:
    """Tell whether two pointers are into different objects, or one is null."""
    if first.storage is None or second.storage is None:
        return True
    if isinstance(first.storage, Memory) and isinstance(second.storage, Memory):
        return first.storage.array is not second.storage.array
    return type(first.storage) is type(second.storage) and first.storage is not second.storage
