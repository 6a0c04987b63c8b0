"""Declared variables and arrays: storage, initial values, file-scope and static objects, parameters.

A table (an array that is never stored to) has its values in `Array.initial`; statements at the declaration
fill every other initialised array. Objects of static storage are constants or ports, see `statics`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.errors import HlsError, StaticObjectError
from pipelines.c.reading.ctypes import (
    CHAR,
    ArrayOf,
    CType,
    Function,
    Layout,
    Pointer,
    Scalar,
    Struct,
    Void,
    has_pointer,
    has_union,
    layout_of,
    memory_members,
    memory_unit,
    spelled,
)
from pipelines.c.reading.effects import Effects
from pipelines.c.reading.expressions import Expressions
from pipelines.c.reading.initialisers import (
    ByTemplate,
    Filler,
    Initial,
    Initialisers,
    Leaf,
    Path,
    Template,
    by_template,
)
from pipelines.c.reading.session import (
    Address,
    Cell,
    Memory,
    Place,
    PointerSlot,
    Port,
    Record,
    Session,
    Storage,
    TypeName,
    Value,
    parts_of,
    storage_key,
)
from pipelines.c.reading.statics import (
    StaticUse,
    declaration_end,
    is_changed_pointer,
    memory_of,
    object_key,
)
from pipelines.c.reading.values import convert
from pipelines.c.signature import UINT8, StaticObject, Structure
from pipelines.c.text.number_lists import MAXIMUM_NUMBERS, TABLE_RULE, NumberList
from pipelines.c.text.preprocess import is_own_header

MAXIMUM_DIMENSIONS = 5
MAXIMUM_ELEMENTS = 1 << 24


@dataclass(slots=True, kw_only=True)
class Objects:
    """Allocates and initialises objects.

    Attributes:
        statics: objects of static storage, by identity of declaration or content.
        uses: of these the ones that may be written.
    """

    session: Session
    expressions: Expressions
    effects: Effects
    initialisers: Initialisers
    filler: Filler
    statics: dict[object, Value | Place] = field(default_factory=dict[object, Value | Place])
    uses: list[StaticUse] = field(default_factory=list[StaticUse])

    # ---- declarations -----------------------------------------------------------------------------

    def declare(self, node: c_ast.Node) -> None:
        """Read a declaration in a function."""
        if isinstance(node, c_ast.Typedef):
            kind = self.expressions.types.read(node.type, node)
            alignment = self.expressions.types.typedef_alignment(node)
            self.session.declare(node.name, TypeName(kind=kind, alignment=alignment), node)
            return
        if isinstance(node.type, c_ast.FuncDecl):
            return
        if node.name is None:
            self.expressions.types.read(node.type, node)
            return
        if "extern" in node.storage:
            symbol = self.global_symbol(c_ast.ID(node.name, node.coord))
            if symbol is None:
                raise self.session.refuse(node, "an extern name must be defined in the file", repr(node.name))
            self.session.declare(node.name, symbol, node)
            return
        self._local(node)

    def _local(self, node: c_ast.Decl) -> None:
        """Declare an object of a function; its initialiser may use its own name."""
        kind = self._kind(node)
        known = self._constant(node, kind)
        if known is None and "static" in node.storage:
            known = self._static(node, kind)
        if known is not None:
            self.session.declare(node.name, known, node)
            return
        frame = self.session.frame
        place = self.new_object(kind, node.name, node, exposed=node.name in frame.exposed)
        if isinstance(place.storage, PointerSlot):
            place.storage.fixed = node.name not in frame.changed | frame.exposed
        self.session.declare(node.name, place, node)
        if node.init is not None:
            self.initialise(place, node.init, node)

    def _kind(self, node: c_ast.Decl) -> CType:
        kind = self.expressions.types.read(node.type, node)
        if isinstance(node.init, NumberList) and node.init.count > MAXIMUM_NUMBERS:
            raise self.session.refuse(node, TABLE_RULE, f"more in {node.name}")
        return kind if node.init is None else self.initialisers.completed(kind, node.init)

    def global_symbol(self, node: c_ast.ID) -> Value | Place | Address | None:
        """Return an object or enumerator of the file, None when none has that name."""
        scope = self.expressions.types.file_scope
        declaration = scope.objects.get(node.name)
        if declaration is None:
            value = self.expressions.types.enumerator(node.name)
            return None if value is None else Value(expression=value)
        if "extern" in declaration.storage and declaration.init is None:
            rule = "an extern name must be defined in the file"
            raise self.session.refuse(node, rule, f"the extern {node.name}")
        if id(declaration) not in self.statics:
            with self.expressions.types.at_file_scope():
                kind = self._kind(declaration)
                symbol = self._constant(declaration, kind) or self._static(declaration, kind)
            self.statics[id(declaration)] = symbol
        return self.statics[id(declaration)]

    def _static(self, node: c_ast.Decl, kind: CType) -> Value | Place:
        """Return the object of a declaration with static storage, shared by all uses."""
        if id(node) in self.statics:
            return self.statics[id(node)]
        of_file = self.expressions.types.file_scope.objects.get(node.name) is node
        port = self.session.outside.get(object_key(node))
        if port is not None:
            place = self._outside(node, kind, port, of_file=of_file)
        else:
            place = self.new_object(kind, node.name, node, exposed=True)
            moves = of_file and has_pointer(kind) and self._moves(node)
            self.session.file_pointers_move |= moves
            for slot in parts_of(place.storage) if moves else ():
                if isinstance(slot, PointerSlot):
                    self.session.later_forms = True
                    self.session.expose(slot)
        self.statics[id(node)] = place
        if not is_own_header(str(node.coord.file if node.coord else "")):
            self.uses.append(StaticUse(declaration=node, place=place, of_file=of_file))
        if port is not None:
            return place
        if of_file:
            self.session.homes.update(
                (key, str(node.name)) for key in map(storage_key, parts_of(place.storage)) if key is not None
            )
        outer, self.session.buffer = self.session.buffer, self.session.prologue
        try:
            if node.init is not None:
                self.initialise(place, node.init, node)
            else:
                self.filler.fill(place, [], node)
                if of_file:
                    self.filler.fill_null(place, node)
        finally:
            self.session.buffer = outer
        return place

    def _moves(self, node: c_ast.Decl) -> bool:
        """Tell whether a pointer of the file changes, or has no initialiser."""
        scope = self.expressions.types.file_scope
        return node.init is None or is_changed_pointer(node.name, scope)

    def _refuse_static(self, node: c_ast.Decl, rule: str, got: str) -> StaticObjectError:
        refusal = self.session.refuse(node, rule, got)
        return StaticObjectError(rule, refusal.got, file=refusal.file, line=refusal.line)

    def _outside(self, node: c_ast.Decl, kind: CType, port: Port, *, of_file: bool) -> Place:
        """Return the port of an object of static storage: an array, of one element for a single number or
        structure, or a number that the design reads at its start.
        """
        session, name = self.session, str(node.name)
        end = None if of_file else declaration_end(session.source, node)
        if end is None and not of_file:
            rule = "a static variable that a function changes must be declared outside macros"
            raise self._refuse_static(node, rule, repr(name))
        place: Place
        if port == Port.NUMBER and isinstance(kind, Scalar):
            made: Parameter = ir.Variable(name=session.unique(name), type=kind.type)
            session.exposed.add(made.name)
            place = Place(kind=kind, storage=Cell(variable=made))
            session.register(place.storage)
        else:
            whole = kind if isinstance(kind, ArrayOf) else ArrayOf(element=kind, size=1)
            storage, made = _Parameter(objects=self, node=node, name=name).allocate(whole, single=False)
            session.register(storage)
            bytewise = made.structure is not None
            is_first = bytewise or whole is not kind
            place = Place(
                kind=kind,
                storage=storage,
                indices=(ir.Constant(value=0),) if is_first else (),
                element=is_first,
                bytewise=bytewise,
            )
        session.ports.append(made)
        session.objects[made.name] = StaticObject(name=name, initial=self._memory(node, kind), end=end)
        return place

    def _memory(self, node: c_ast.Decl, kind: CType) -> bytes:
        """Return the memory of an object before the program starts."""
        if node.init is None:
            return b""
        constants: list[tuple[Path, ir.Constant]] = []
        for item in self.initialisers.plan(kind, node.init):
            value = self.filler.folded(item)
            if value is None:
                rule = "an object that a function changes must have an initialiser of constants"
                raise self._refuse_static(node, rule, repr(node.name))
            constants.append((item.path, value))
        return memory_of(kind, constants)

    def _constant(self, node: c_ast.Decl, kind: CType) -> Value | Place | None:
        """Return a const object of constants only, as a value or a table; None otherwise."""
        if "const" not in node.quals or node.init is None or not isinstance(kind, Scalar | ArrayOf):
            return None
        if has_union(kind):
            return None
        if id(node) in self.statics:
            return self.statics[id(node)]
        if isinstance(kind, Scalar):
            return self._constant_scalar(node, kind)
        values = self._constants(self.initialisers.plan(kind, node.init))
        if values is None:
            return None
        place = self.new_object(kind, node.name, node, tables=values)
        self.statics[id(node)] = place
        return place

    def _constant_scalar(self, node: c_ast.Decl, kind: Scalar) -> Value | None:
        if node.name in self.session.frame.exposed or isinstance(node.init, c_ast.InitList):
            return None
        if self.expressions.has_effects(node.init):
            return None
        with self.session.collect() as emitted:
            value = convert(self.expressions.number(node.init), kind)
        return Value(expression=value) if isinstance(value, ir.Constant) and not emitted else None

    def _constants(self, plan: list[Initial]) -> dict[Path, ir.Constant] | None:
        """Return the constants of a plan, None when some value is not constant."""
        constants: dict[Path, ir.Constant] = {}
        for item in plan:
            value = self.filler.constant(item)
            if value is None:
                return None
            constants[item.path] = value
        return constants

    # ---- allocation -------------------------------------------------------------------------------

    def result_type(self, definition: c_ast.FuncDef) -> CType | None:
        """Return the type that a function returns, None for void."""
        kind = self.expressions.types.read(definition.decl.type.type, definition.decl)
        return None if isinstance(kind, Void) else kind

    def new_object(
        self,
        kind: CType,
        name: str,
        node: c_ast.Node,
        *,
        exposed: bool = False,
        tables: dict[Path, ir.Constant] | None = None,
    ) -> Place:
        """Return the storage for an object of a type.

        Args:    exposed: called functions may change it; tables: values of an object that never changes.
        Raises:  HlsError: an incomplete type, an array of pointers, too many dimensions or elements.
        """
        layout = layout_of(kind)
        self.session.count(node, 1 if layout is None else layout.parts)
        templates = None if tables is None else by_template(tables)
        allocation = _Allocation(session=self.session, node=node, exposed=exposed, tables=templates)
        storage = allocation.storage(kind, name, (), ())
        self.session.register(storage)
        return Place(kind=kind, storage=storage)

    def string_table(self, values: tuple[int, ...], node: c_ast.Node) -> Place:
        """Return the array of a string literal."""
        if values not in self.statics:
            kind = ArrayOf(element=CHAR, size=len(values))
            tables: dict[Path, ir.Constant] = {
                (i,): ir.Constant(value=v, type=CHAR.type) for i, v in enumerate(values)
            }
            self.statics[values] = self.new_object(kind, "text", node, tables=tables)
        place = self.statics[values]
        assert isinstance(place, Place)
        return place

    def literal_object(self, node: c_ast.CompoundLiteral) -> Place:
        """Return the object of a compound literal."""
        kind = self.expressions.types.read(node.type, node)
        kind = self.initialisers.completed(kind, node.init)
        place = self.new_object(kind, "literal", node)
        self.initialise(place, node.init, node)
        return place

    # ---- initial values ---------------------------------------------------------------------------

    def initialise(self, place: Place, init: c_ast.Node, node: c_ast.Node) -> None:
        """Set an object to its initialiser; parts that a list omits become zero."""
        if not isinstance(place.kind, ArrayOf | Struct) or _is_copy(place.kind, init):
            inner = init
            while isinstance(inner, c_ast.InitList):
                if len(inner.exprs or []) != 1:
                    raise self.session.refuse(node, "a variable must have one initialiser", "a list")
                inner = inner.exprs[0]
            self.effects.assign(place, self.expressions.read(inner), node)
            return
        self.filler.fill(place, self.initialisers.plan(place.kind, init), node)


def _is_copy(kind: CType, init: c_ast.Node) -> bool:
    return isinstance(kind, Struct) and not isinstance(init, c_ast.InitList)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Allocation:
    """Allocates the parts of one object."""

    session: Session
    node: c_ast.Node
    exposed: bool
    tables: ByTemplate | None

    def storage(self, kind: CType, name: str, sizes: tuple[int, ...], template: Template) -> Storage:
        """Return the storage of a part inside arrays of `sizes`."""
        match kind:
            case Scalar():
                return self._array(kind, name, sizes, template) if sizes else self._cell(kind, name)
            case ArrayOf():
                if kind.size is None or kind.size < 1:
                    rule = "an array must have a constant size (write float a[N])"
                    raise self.session.refuse(self.node, rule, f"{name}[]")
                return self.storage(kind.element, name, (*sizes, kind.size), (*template, None))
            case Struct() if kind.union or kind.as_bytes:
                return self._union(kind, name, sizes)
            case Struct():
                return self._record(kind, name, sizes, template)
            case Pointer():
                if sizes:
                    check_shape(self.session, self.node, sizes)
                    return self.session.new_pointer_table(name, self.node, sizes)
                return self.session.new_pointer(name, self.node)
            case Void() | Function():
                got = f"{spelled(kind)} {name}"
                raise self.session.refuse(self.node, "a variable must have a type", got)

    def _cell(self, kind: Scalar, name: str) -> Cell:
        variable = ir.Variable(name=self.session.unique(name), type=kind.type)
        if self.exposed:
            self.session.exposed.add(variable.name)
        return Cell(variable=variable)

    def _union(self, kind: Struct, name: str, sizes: tuple[int, ...]) -> Storage:
        """Return a variable or an array of the narrowest numbers that the members have."""
        if kind.layout is None:
            raise self.session.refuse(self.node, "a union must be defined", f"union {kind.tag}")
        if kind.as_bytes and has_pointer(kind):
            rule = "a structure with pointers must not be used as bytes (write the members)"
            raise self.session.refuse(self.node, rule, spelled(kind))
        unit = memory_unit(kind)
        numbers = 8 * kind.layout.size // unit.width_bits
        if not sizes and numbers == 1:
            return self._cell(Scalar(type=unit), name)
        shape = (*sizes, numbers)
        check_shape(self.session, self.node, shape)
        return Memory(array=self.session.new_array(name, unit, shape))

    def _record(self, kind: Struct, name: str, sizes: tuple[int, ...], template: Template) -> Record:
        if kind.layout is None:
            raise self.session.refuse(self.node, "a structure must be defined", f"struct {kind.tag}")
        members = {m: self.storage(t, f"{name}_{m}", sizes, (*template, m)) for m, t in kind.members.items()}
        return Record(members=members)

    def _array(self, kind: Scalar, name: str, sizes: tuple[int, ...], template: Template) -> Memory:
        check_shape(self.session, self.node, sizes)
        initial = None
        if self.tables is not None:
            self.session.count_values(self.node, prod(sizes))
            leaf = Leaf(template=template, sizes=sizes, kind=kind)
            initial = tuple(value.value for value in leaf.values(self.tables))
        return Memory(array=self.session.new_array(name, kind.type, sizes, initial=initial))


def check_shape(session: Session, node: c_ast.Node, sizes: tuple[int, ...]) -> None:
    """Refuse too many dimensions or elements.

    Raises: HlsError: more than 5 dimensions or 2^24 elements.
    """
    if len(sizes) > MAXIMUM_DIMENSIONS:
        rule = f"an array must have 1 to {MAXIMUM_DIMENSIONS} dimensions"
        raise session.refuse(node, rule, str(len(sizes)))
    if prod(sizes) > MAXIMUM_ELEMENTS:
        rule = f"an array must have at most {MAXIMUM_ELEMENTS} elements"
        raise session.refuse(node, rule, str(prod(sizes)))


Parameter = ir.Variable | ir.Array


def declare_parameters(objects: Objects, nodes: list[c_ast.Decl]) -> tuple[Parameter, ...]:
    """Declare the top function's parameters.

    Returns: the design's arguments in order: a variable for a scalar; an array for an array, for an array of
             structures of one scalar type (its last dimension runs over the members), and of one element for
             a pointer whose size nobody gives.
    Raises:  HlsError: an argument of another type, an array without a constant size, or a size of no
             argument.
    """
    names = [str(node.name) for node in nodes]
    for name in objects.session.sizes:
        if name not in names:
            rule = f"a size must be of an argument (there: {', '.join(names) or 'none'})"
            raise HlsError(rule, repr(name), file=objects.session.file)
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
        types = self.objects.expressions.types
        inner = self.node.type
        if isinstance(inner, c_ast.ArrayDecl) and inner.dim is not None and types.constant(inner.dim) is None:
            return self._pointer(types.read(inner.type, self.node))  # A[n] is a pointer in C
        kind = types.read(self.node.type, self.node)
        match kind:
            case Scalar():
                return self._scalar(kind)
            case ArrayOf() if kind.size is not None:
                return self._array(kind, single=False)
            case ArrayOf():
                return self._pointer(kind.element)
            case Pointer() if isinstance(kind.target, Scalar | Struct | ArrayOf):
                return self._pointer(kind.target)
            case Pointer() if isinstance(kind.target, Void):
                return self._pointer(Scalar(type=UINT8))
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
        place = Place(kind=kind, storage=Cell(variable=variable))
        self.session.register(place.storage)
        self.session.declare(self.name, place, self.node)
        return variable

    def _pointer(self, target: CType) -> ir.Array:
        """Return a pointer to as many elements as the program or its user says, else to one."""
        size = self.session.sizes.get(self.name)
        return self._array(ArrayOf(element=target, size=size or 1), single=size is None)

    def _array(self, kind: ArrayOf, *, single: bool) -> ir.Array:
        storage, array = self.allocate(kind, single=single)
        self.session.register(storage)
        bytewise = array.structure is not None
        address = Address(
            kind=kind.element,
            storage=storage,
            indices=(ir.Constant(value=0),),
            moving=not (bytewise and single),
            bytewise=bytewise,
        )
        frame = self.session.frame
        if self.name in frame.changed | frame.exposed:
            self._variable(kind, address)
        else:
            self.session.declare(self.name, address, self.node)
        return array

    def allocate(self, kind: ArrayOf, *, single: bool) -> tuple[Storage, ir.Array]:
        """Return the external array of an array, and what is stored in it."""
        element, sizes = self._element(kind)
        check_shape(self.session, self.node, sizes)
        if isinstance(element, Struct):
            return self._packed(element, sizes, single=single)
        assert isinstance(element, Scalar)
        array = self.session.new_array(self.name, element.type, sizes, external=True)
        return Memory(array=array, single=single), array

    def _variable(self, kind: ArrayOf, address: Address) -> None:
        """Declare a parameter that is assigned: a pointer variable that starts at the array."""
        pointer = Pointer(target=kind.element)
        place = self.objects.new_object(pointer, self.name, self.node)
        self.objects.effects.assign(place, address, self.node)
        self.session.declare(self.name, place, self.node)

    def _element(self, kind: ArrayOf) -> tuple[CType, tuple[int, ...]]:
        """Return the element type and shape of an array argument."""
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

    def _packed(self, kind: Struct, sizes: tuple[int, ...], *, single: bool) -> tuple[Storage, ir.Array]:
        """Return an array of structures in memory order: of their scalars when these all have one type, else
        of unsigned numbers of the narrowest width.
        """
        layout = kind.layout
        if layout is None or has_pointer(kind) or not layout.number_types:
            got = "a pointer in it" if has_pointer(kind) else spelled(kind)
            rule = "a structure must hold numbers to be an argument (write what it points to as an argument)"
            raise self.session.refuse(self.node, rule, f"{got} ({self.name})")
        has_gaps = 8 * layout.size != sum(layout.numbers * t.width_bits for t in layout.number_types)
        if has_union(kind) or len(layout.number_types) > 1 or has_gaps:
            return self._memory(kind, layout, prod(sizes), single=single)
        shape = (*sizes, layout.numbers)
        check_shape(self.session, self.node, (prod(shape),))
        (number_type,) = layout.number_types
        array = self.session.new_array(self.name, number_type, shape, external=True)
        return _packed_part(kind, Memory(array=array, single=single), len(sizes), 0, ()), array

    def _memory(self, kind: Struct, layout: Layout, count: int, *, single: bool) -> tuple[Storage, ir.Array]:
        """Return the memory of structures, which is used bytewise."""
        unit = memory_unit(kind)
        shape = (count * layout.size * 8 // unit.width_bits,)
        check_shape(self.session, self.node, shape)
        array = replace(
            self.session.new_array(self.name, unit, shape, external=True),
            structure=Structure(size_bytes=layout.size, members=tuple(memory_members(kind))),
        )
        self.session.arrays[-1] = array
        return Memory(array=array, single=single), array


def _packed_part(kind: CType, whole: Memory, outer: int, first: int, strides: tuple[int, ...]) -> Storage:
    """Return the storage of a part of packed structures.

    Args: outer: dimensions around the structures; first: scalars before the part in its structure; strides:
          scalars from one element to the next, for each array around the part inside the structure.
    """
    match kind:
        case ArrayOf():
            inner = (*strides, _numbers(kind.element))
            return _packed_part(kind.element, whole, outer, first, inner)
        case Struct():
            members: dict[str, Storage] = {}
            for name, member in kind.members.items():
                members[name] = _packed_part(member, whole, outer, first, strides)
                first += _numbers(member)
            return Record(members=members)
        case _:
            return replace(whole, packed=(outer, first, strides))


def _numbers(kind: CType) -> int:
    layout = layout_of(kind)
    return 0 if layout is None else layout.numbers
