"""Parameters of the top function: the scalars and external arrays of the design."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.reading.ctypes import (
    ArrayOf,
    CType,
    Pointer,
    Scalar,
    Struct,
    Void,
    layout_of,
    spelled,
)
from pipelines.hls.reading.objects import Objects, check_shape
from pipelines.hls.reading.session import Address, Cell, Memory, Place, Record, Session, Storage

Parameter = ir.Variable | ir.Array


def declare_parameters(objects: Objects, nodes: list[c_ast.Decl]) -> tuple[Parameter, ...]:
    """Declare the top function's parameters.

    Returns: the design's arguments in order: a variable for a scalar; an array for an array, for an array of
             structures of one scalar type (its last dimension runs over their members), and, of one
             element, for a pointer.
    Raises:  HlsError: an argument of another type, or an array without a constant size.
    """
    return tuple(_Parameter(objects=objects, node=node, name=str(node.name)).declare() for node in nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parameter:
    objects: Objects
    node: c_ast.Decl
    name: str

    @property
    def session(self) -> Session:
        return self.objects.session

    def declare(self) -> Parameter:
        kind = self.objects.expressions.types.read(self.node.type, self.node)
        match kind:
            case Scalar():
                return self._scalar(kind)
            case ArrayOf():
                return self._array(kind, single=False)
            case Pointer() if isinstance(kind.target, Scalar | Struct):
                return self._array(ArrayOf(element=kind.target, size=1), single=True)
            case Pointer() if isinstance(kind.target, ArrayOf):
                rule = f"an array argument must have a constant size (write {self.name}[N][M])"
                raise self.session.refuse(self.node, rule, f"a pointer {self.name}")
            case Struct():
                rule = "an argument must be a number or an array (write the members as arguments)"
                raise self.session.refuse(self.node, rule, f"{spelled(kind)} {self.name}")
            case _:
                rule = "an argument must be a number or an array"
                raise self.session.refuse(self.node, rule, f"{spelled(kind)} {self.name}")

    def _scalar(self, kind: Scalar) -> ir.Variable:
        variable = ir.Variable(name=self.session.unique(self.name), type=kind.type)
        if self.name in self.session.frame.exposed:
            self.session.exposed.add(variable.name)
        self.session.declare(self.name, Place(kind=kind, storage=Cell(variable=variable)), self.node)
        return variable

    def _array(self, kind: ArrayOf, *, single: bool) -> ir.Array:
        element, sizes = self._element(kind)
        storage: Storage
        check_shape(self.session, self.node, sizes)
        if isinstance(element, Struct):
            storage, array = self._packed(element, sizes)
        else:
            assert isinstance(element, Scalar)
            array = self.session.new_array(self.name, element.type, sizes, external=True)
            storage = Memory(array=array, single=single)
        address = Address(kind=kind.element, storage=storage, indices=(ir.Constant(value=0),), moving=True)
        frame = self.session.frame
        if self.name in frame.changed | frame.exposed:
            self._variable(kind, address)
        else:
            self.session.declare(self.name, address, self.node)
        return array

    def _variable(self, kind: ArrayOf, address: Address) -> None:
        """A parameter that is moved: a pointer variable that starts at the array."""
        pointer = Pointer(target=kind.element)
        place = self.objects.new_object(pointer, self.name, self.node)
        self.objects.effects.assign(place, address, self.node)
        self.session.declare(self.name, place, self.node)

    def _element(self, kind: ArrayOf) -> tuple[CType, tuple[int, ...]]:
        """Element type and shape of an array argument."""
        sizes: list[int] = []
        inner: CType = kind
        while isinstance(inner, ArrayOf):
            if inner.size is None:
                rule = f"an array must have a constant size (write {self.name}[N])"
                raise self.session.refuse(self.node, rule, f"{self.name}[]")
            sizes.append(inner.size)
            inner = inner.element
        if isinstance(inner, Pointer | Void):
            rule = f"an array argument must be an array of numbers (write {self.name}[N][M])"
            raise self.session.refuse(self.node, rule, f"an array of {spelled(inner)}")
        return inner, tuple(sizes)

    def _packed(self, kind: Struct, sizes: tuple[int, ...]) -> tuple[Storage, ir.Array]:
        """An array of structures whose scalars all have one type, as they lie in memory."""
        layout = kind.layout
        types = [] if layout is None else sorted(layout.number_types, key=lambda t: t.c_name)
        if layout is None or len(types) != 1:
            rule = "an array of structures must have members of one type (write one array a member)"
            raise self.session.refuse(self.node, rule, " and ".join(t.c_name for t in types) or spelled(kind))
        shape = (*sizes, layout.numbers)
        check_shape(self.session, self.node, (prod(shape),))
        array = self.session.new_array(self.name, types[0], shape, external=True)
        return _packed_part(kind, array, len(sizes), 0, ()), array


def _packed_part(kind: CType, array: ir.Array, outer: int, first: int, strides: tuple[int, ...]) -> Storage:
    """Storage of a part of packed structures.

    Args: outer: dimensions around the structures; first: scalars before the part in its structure; strides:
          scalars from one element to the next, for each array around the part inside the structure.
    """
    match kind:
        case ArrayOf():
            inner = (*strides, _numbers(kind.element))
            return _packed_part(kind.element, array, outer, first, inner)
        case Struct():
            members: dict[str, Storage] = {}
            for name, member in kind.members.items():
                members[name] = _packed_part(member, array, outer, first, strides)
                first += _numbers(member)
            return Record(members=members)
        case _:
            return Memory(array=array, packed=(outer, first, strides))


def _numbers(kind: CType) -> int:
    layout = layout_of(kind)
    return 0 if layout is None else layout.numbers
