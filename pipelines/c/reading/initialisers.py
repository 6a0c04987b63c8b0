"""Initialisers: which scalar each expression of a braced list sets, and the statements that set it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from math import prod

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.arithmetic import make_unary
from pipelines.c.reading.ctypes import (
    VOID,
    ArrayOf,
    CType,
    Pointer,
    Scalar,
    Struct,
    leading_member,
    read_floating,
    read_integer,
    read_string,
    spelled,
)
from pipelines.c.reading.effects import MAXIMUM_COPIED_STATEMENTS, Effects, counting_loop
from pipelines.c.reading.expressions import Expressions
from pipelines.c.reading.folding import ConstantFolder
from pipelines.c.reading.session import (
    Address,
    Chosen,
    Memory,
    Place,
    PointerChoice,
    PointerTable,
    Session,
    target_of,
)
from pipelines.c.reading.values import convert
from pipelines.c.text.number_lists import MAXIMUM_NUMBERS, NumberList

Step = int | str
Path = tuple[Step, ...]
"""Indices and member names from an object to a part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Initial:
    """One part of an object and its initial value: an expression, a character or a constant."""

    path: Path
    kind: CType
    node: c_ast.Node
    character: int | None = None
    value: ir.Constant | None = None


@dataclass(slots=True, kw_only=True)
class Initialisers:
    """Plans initialisers.

    Attributes:
        constant: value of an integer constant expression, for array designators.
        kind_of: type of an expression, to tell a whole structure from its first member.
    """

    session: Session
    constant: Callable[[c_ast.Node], int]
    kind_of: Callable[[c_ast.Node], CType]

    def plan(self, kind: CType, node: c_ast.Node) -> list[Initial]:
        """Return the parts that an initialiser sets, in order; a later one overrides an earlier one."""
        return list(self._whole(kind, node, ()))

    def completed(self, kind: CType, node: c_ast.Node) -> CType:
        """Return an array type completed with the size of its initialiser."""
        if not isinstance(kind, ArrayOf) or kind.size is not None:
            return kind
        plan = self.plan(kind, node)
        largest = max((i.path[0] for i in plan if isinstance(i.path[0], int)), default=-1)
        return ArrayOf(element=kind.element, size=largest + 1)

    def _whole(self, kind: CType, node: c_ast.Node, path: Path) -> Iterator[Initial]:
        """Yield an object with an initialiser of its own."""
        values = _values(kind, node, path) if isinstance(node, NumberList) else None
        if values is not None:
            yield from values
            return
        characters = self._characters(kind, node)
        if characters is not None:
            assert isinstance(kind, ArrayOf)
            for index, value in enumerate(characters[: kind.size]):
                yield Initial(path=(*path, index), kind=kind.element, node=node, character=value)
            return
        if not isinstance(node, c_ast.InitList):
            if isinstance(kind, ArrayOf):
                rule = "an array's initialiser must be a list in braces or a string"
                raise self.session.refuse(node, rule, "an expression")
            yield Initial(path=path, kind=kind, node=node)
            return
        listed: list[c_ast.Node] = list(node.exprs or [])
        items = [i for i in listed if not isinstance(i, c_ast.Pragma)]
        if isinstance(kind, ArrayOf | Struct):
            cursor = _Cursor(items=items)
            yield from self._members(kind, cursor, path, braced=True)
            for surplus in cursor.items[cursor.position :]:
                raise self.session.refuse(surplus, f"an initialiser must fit {spelled(kind)}", "more values")
        elif len(items) == 1:
            yield from self._whole(kind, items[0], path)
        elif items:
            raise self.session.refuse(node, "a number must have one initialiser", f"{len(items)} values")

    def _members(self, kind: CType, cursor: _Cursor, path: Path, *, braced: bool) -> Iterator[Initial]:
        """Yield the parts of an aggregate from a list; without braces only as many items as it needs."""
        position = 0
        while cursor.position < len(cursor.items):
            item = cursor.items[cursor.position]
            if isinstance(item, c_ast.NamedInitializer):
                if not braced:
                    return
                cursor.position += 1
                position, inner, rest = self._designated(kind, item, path)
                yield from self._below(inner, item.expr, rest, cursor)
                continue
            step = _step(kind, position)
            if step is None:
                return
            name, inner = step
            position += len(kind.members) if isinstance(kind, Struct) and kind.union else 1
            yield from self._next(inner, cursor, (*path, name))

    def _designated(self, kind: CType, item: c_ast.NamedInitializer, path: Path) -> tuple[int, CType, Path]:
        """Return the position after the outermost designator, and type and path of the designated part."""
        position = 0
        for number, designator in enumerate(item.name):
            index = self._position(kind, designator)
            step = _step(kind, index)
            if step is None:
                raise self.session.refuse(
                    item, f"a designator must name a part of {spelled(kind)}", "another"
                )
            if number == 0:
                position = index + 1
                if isinstance(kind, Struct) and kind.union:
                    position = len(kind.members)
            name, kind = step
            path = (*path, name)
        return position, kind, path

    def _position(self, kind: CType, designator: c_ast.Node) -> int:
        if isinstance(designator, c_ast.ArrayDesignator):
            return self.constant(designator.expr)
        if isinstance(kind, Struct) and isinstance(designator, c_ast.ID):
            names = list(kind.members)
            if designator.name in names:
                return names.index(designator.name)
        raise self.session.refuse(designator, f"a designator must name a part of {spelled(kind)}", "another")

    def _below(self, kind: CType, node: c_ast.Node, path: Path, cursor: _Cursor) -> Iterator[Initial]:
        """Yield the parts under a designator; without braces they also take following items."""
        whole = isinstance(kind, Scalar) or isinstance(node, c_ast.InitList)
        if whole or self._characters(kind, node) is not None:
            yield from self._whole(kind, node, path)
            return
        cursor.items = [*cursor.items[: cursor.position], node, *cursor.items[cursor.position :]]
        yield from self._next(kind, cursor, path)

    def _next(self, kind: CType, cursor: _Cursor, path: Path) -> Iterator[Initial]:
        """Yield the next part: one value, or the parts of an aggregate without braces."""
        item = cursor.items[cursor.position]
        whole = isinstance(item, c_ast.InitList) or not isinstance(kind, ArrayOf | Struct)
        whole = whole or self._characters(kind, item) is not None
        whole = whole or (isinstance(kind, Struct) and self._is_structure(item))
        if whole:
            cursor.position += 1
            yield from self._whole(kind, item, path)
        else:
            yield from self._members(kind, cursor, path, braced=False)

    def _is_structure(self, node: c_ast.Node) -> bool:
        return not isinstance(node, c_ast.Constant) and isinstance(self.kind_of(node), Struct)

    def _characters(self, kind: CType, node: c_ast.Node) -> tuple[int, ...] | None:
        """Return characters of a string that initialises an array of bytes; the final zero is optional."""
        if isinstance(node, c_ast.InitList) and len(node.exprs or []) == 1:
            node = node.exprs[0]
        if not (isinstance(kind, ArrayOf) and isinstance(kind.element, Scalar)):
            return None
        if kind.element.type.width_bits != 8 or not isinstance(node, c_ast.Constant):
            return None
        return read_string(str(node.value)) if str(node.value).startswith('"') else None


def _values(kind: CType, node: NumberList, path: Path) -> list[Initial] | None:
    """Return numbers of a list for an array of numbers; None where the items must be read as expressions."""
    sizes: list[int | None] = []
    while isinstance(kind, ArrayOf):
        sizes.append(kind.size)
        kind = kind.element
    if not sizes or not isinstance(kind, Scalar) or node.count > MAXIMUM_NUMBERS:
        return None
    values: dict[str, ir.Constant | None] = {}
    initials: list[Initial] = []
    for indices, text in node.elements(len(sizes)) or ():
        if text not in values:
            values[text] = _value(text, kind)
        value = values[text]
        if value is None or any(s is not None and i >= s for i, s in zip(indices, sizes, strict=True)):
            return None
        initials.append(Initial(path=(*path, *indices), kind=kind, node=node, value=value))
    return initials or None


def _value(text: str, kind: Scalar) -> ir.Constant | None:
    """Return a number with its sign, converted to a type; None when that is no constant."""
    digits = text.lstrip("+-").strip()
    floating = digits[:2] not in ("0x", "0X", "0b", "0B") and any(c in digits for c in ".eE")
    value: ir.Expression | None = read_floating(digits) if floating else read_integer(digits)
    if value is None:
        return None
    value = convert(make_unary("neg", value) if text[0] == "-" else value, kind)
    return value if isinstance(value, ir.Constant) else None


@dataclass(slots=True, kw_only=True)
class _Cursor:
    items: list[c_ast.Node] = field(default_factory=list[c_ast.Node])
    position: int = 0


def _step(kind: CType, position: int) -> tuple[Step, CType] | None:
    """Return the path step to the part of an aggregate at a position, None past its end."""
    if isinstance(kind, ArrayOf):
        inside = position >= 0 and (kind.size is None or position < kind.size)
        return (position, kind.element) if inside else None
    if isinstance(kind, Struct) and kind.union and position >= len(kind.members):
        return None
    if isinstance(kind, Struct) and 0 <= position < len(kind.members):
        return next(islice(kind.members.items(), position, None))
    return None


Template = tuple[int | str | None, ...]
"""A path in which None stands for every index of a dimension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A variable or array inside an object: path, dimensions and type."""

    template: Template
    sizes: tuple[int, ...]
    kind: CType

    @property
    def template_path(self) -> Path:
        """Path of the first element."""
        return tuple(0 if step is None else step for step in self.template)

    @property
    def count(self) -> int:
        """Elements of the array; 1 for a variable."""
        return prod(self.sizes)

    def paths(self) -> Iterator[Path]:
        """Yield the path of every element, in C order."""
        for indices in product(*(range(size) for size in self.sizes)):
            remaining = iter(indices)
            yield tuple(next(remaining) if step is None else step for step in self.template)

    def values(self, constants: ByTemplate) -> list[ir.Constant]:
        """Return the value of every element; zero by default."""
        assert isinstance(self.kind, Scalar)
        values = [ir.Constant(value=0, type=self.kind.type)] * self.count
        for path, value in constants.get(self.template, {}).items():
            position = 0
            for size, step in zip(self.sizes, (s for s in path if isinstance(s, int)), strict=True):
                position = position * size + step
            values[position] = value
        return values


ByTemplate = Mapping[Template, Mapping[Path, ir.Constant]]
"""Constants of an object, grouped by variable or array."""


def by_template(constants: Mapping[Path, ir.Constant]) -> ByTemplate:
    """Group constants by variable or array."""
    groups: dict[Template, dict[Path, ir.Constant]] = {}
    for path, value in constants.items():
        template = tuple(None if isinstance(step, int) else step for step in path)
        groups.setdefault(template, {})[path] = value
    return groups


def _leaves(
    kind: CType, template: Template, sizes: tuple[int, ...], of: type[Scalar | Pointer] = Scalar
) -> Iterator[Leaf]:
    """Yield the numbers of a type, or its pointers."""
    match kind:
        case Scalar() | Pointer() if isinstance(kind, of):
            yield Leaf(template=template, sizes=sizes, kind=kind)
        case ArrayOf():
            yield from _leaves(kind.element, (*template, None), (*sizes, kind.size or 0), of)
        case Struct() if kind.union:
            name = leading_member(kind)
            yield from _leaves(kind.members[name], (*template, name), sizes, of)
        case Struct():
            for name, member in kind.members.items():
                yield from _leaves(member, (*template, name), sizes, of)
        case _:
            return


def _index_at(pointer: Address, position: int) -> int:
    """Return a constant index of a pointer, 0 for one that it does not have."""
    index = pointer.indices[position] if position < len(pointer.indices) else None
    return index.value if isinstance(index, ir.Constant) else 0


def _is_led(kind: CType, path: Path) -> bool:
    """Tell whether a path goes through leading members of unions only."""
    for step in path:
        if isinstance(kind, Struct):
            if kind.union and step != leading_member(kind):
                return False
            kind = kind.members[str(step)]
        elif isinstance(kind, ArrayOf):
            kind = kind.element
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Fills objects."""

    expressions: Expressions
    effects: Effects

    def constant(self, item: Initial) -> ir.Constant | None:
        """Return the value of a part, None when it is not a constant number."""
        if not isinstance(item.kind, Scalar):
            return None
        kind = item.kind
        if item.value is not None:
            return item.value
        if item.character is not None:
            value = convert(ir.Constant(value=item.character), kind)
            return value if isinstance(value, ir.Constant) else None
        if self.expressions.has_effects(item.node):
            return None
        with self.expressions.session.collect() as emitted:
            read = self.expressions.read(item.node)
        if not isinstance(read, ir.Constant) or emitted:
            return None
        value = convert(read, kind)
        return value if isinstance(value, ir.Constant) else None

    def folded(self, item: Initial) -> ir.Constant | None:
        """Fold a constant, also one that the program would compute: `1.0 / 0.0`, counts of bits."""
        value = self.constant(item)
        if value is not None or not isinstance(item.kind, Scalar):
            return value
        self.expressions.session.later_constants = True
        folder = ConstantFolder(expressions=self.expressions)
        return folder.converted(folder.value(item.node), item.kind)

    def fill(self, place: Place, plan: list[Initial], node: c_ast.Node) -> None:
        """Set an object to the values of a plan, the rest to zero."""
        constants: dict[Path, ir.Constant] = {}
        computed: dict[Path, Initial] = {}
        for item in plan:
            value = self.constant(item) if _is_led(place.kind, item.path) else None
            constants.pop(item.path, None)
            computed.pop(item.path, None)
            if value is None:
                computed[item.path] = item
            else:
                constants[item.path] = value
        templates = by_template(constants)
        for leaf in _leaves(place.kind, (), ()):
            self._fill_leaf(place, leaf, templates, computed, node)
        for leaf in _leaves(place.kind, (), (), Pointer):
            if leaf.sizes or place.indices:
                self._fill_pointers(place, leaf, computed, node)
        for item in computed.values():
            part = self._part(place, item.path, node)
            self.effects.assign(part, self.expressions.read(item.node), item.node)

    def fill_null(self, place: Place, node: c_ast.Node) -> None:
        """Set the pointers of an object that are in no array to null."""
        for leaf in _leaves(place.kind, (), (), Pointer):
            if not leaf.sizes:
                self._set_null(self._part(place, leaf.template_path, node), node)

    def _set_null(self, part: Place, node: c_ast.Node) -> None:
        assert isinstance(part.kind, Pointer)
        self.effects.assign(part, Address(kind=part.kind.target, storage=None), node)

    def _fill_pointers(
        self, place: Place, leaf: Leaf, computed: dict[Path, Initial], node: c_ast.Node
    ) -> None:
        """Set the pointers of an array: those whose value is known as tables, the others to null."""
        first = self._part(place, leaf.template_path, node)
        table = first.storage
        if place.indices or not isinstance(table, PointerTable):
            for path in leaf.paths():
                if path not in computed:
                    self._set_null(self._part(place, path, node), node)
            return
        known = {path: self._constant_pointer(computed[path]) for path in leaf.paths() if path in computed}
        pointers = [known.get(path) or Address(kind=VOID, storage=None) for path in leaf.paths()]
        targets = tuple(dict.fromkeys(target_of(pointer) for pointer in pointers))
        new = tuple(target for target in targets if target is not None and target not in table.targets)
        if new:
            rule = "a pointer must point into one of few objects"
            raise PointerChoice(table.key, new, self.expressions.session.refuse(node, rule, table.name))
        for path, pointer in known.items():
            if pointer is not None:
                del computed[path]
        numbers = [table.targets.index(target) for target in map(target_of, pointers) if target is not None]
        contents = [] if table.which is None else [(table.which, numbers)]
        for position, array in enumerate(table.indices):
            contents.append((array, [_index_at(pointer, position) for pointer in pointers]))
        for array, content in contents:
            self._fill_array(array, content, node)

    def _constant_pointer(self, item: Initial) -> Address | None:
        """Return the pointer of a part of an object, None when it is no constant."""
        if self.expressions.has_effects(item.node):
            return None
        with self.expressions.session.collect() as emitted:
            value = self.expressions.converted(self.expressions.read(item.node), item.kind, item.node)
        if not isinstance(value, Address) or emitted or target_of(value) is None:
            return None
        if isinstance(value.storage, Chosen):
            return None
        return value if all(isinstance(index, ir.Constant) for index in value.indices) else None

    def _fill_array(self, array: ir.Array, content: list[int], node: c_ast.Node) -> None:
        kind: CType = Scalar(type=array.type)
        for size in reversed(array.shape):
            kind = ArrayOf(element=kind, size=size)
        template: Template = (None,) * len(array.shape)
        leaf = Leaf(template=template, sizes=array.shape, kind=Scalar(type=array.type))
        values = dict(
            zip(leaf.paths(), (ir.Constant(value=v, type=array.type) for v in content), strict=True)
        )
        place = Place(kind=kind, storage=Memory(array=array))
        self._fill_leaf(place, leaf, {template: values}, (), node)

    def _fill_leaf(
        self,
        place: Place,
        leaf: Leaf,
        constants: ByTemplate,
        computed: Collection[Path],
        node: c_ast.Node,
    ) -> None:
        session = self.expressions.session
        session.count_values(node, leaf.count)
        values = leaf.values(constants)
        content = tuple(value.value for value in values)
        with session.collect() as body:
            if leaf.count <= MAXIMUM_COPIED_STATEMENTS:
                for path, value in zip(leaf.paths(), values, strict=True):
                    if not any(path[:length] in computed for length in range(len(path) + 1)):
                        self.expressions.places.store(self._part(place, path, node), value, node)
            elif all(value == content[0] for value in content):
                self._loop(place, leaf, lambda _: values[0], node)
            else:
                self._copy_table(place, leaf, content, node)
        for statement in body:
            session.emit(statement, node)
        if leaf.sizes and not computed:
            part = self._part(place, leaf.template_path, node)
            storage = part.storage
            if isinstance(storage, Memory) and storage.packed is None and not part.bytewise:
                session.fills[storage.array.name] = (content, body)

    def _copy_table(self, place: Place, leaf: Leaf, content: tuple[int, ...], node: c_ast.Node) -> None:
        session = self.expressions.session
        line = session.line_of(node)
        assert isinstance(leaf.kind, Scalar)
        table = session.new_array("initial_values", leaf.kind.type, leaf.sizes, initial=content)
        self._loop(place, leaf, lambda indices: ir.Load(array=table, indices=indices, line=line), node)

    def _loop(
        self,
        place: Place,
        leaf: Leaf,
        value_at: Callable[[tuple[ir.Expression, ...]], ir.Expression],
        node: c_ast.Node,
    ) -> None:
        """Add a nest of loops, one per dimension, that stores a value at each index."""
        session = self.expressions.session
        names = [session.unique_loop("fill") for _ in leaf.sizes]
        variables = [ir.Variable(name=session.unique("filled")) for _ in leaf.sizes]
        indices = tuple(ir.Read(variable=v) for v in variables)
        remaining: Iterator[ir.Expression] = iter(indices)
        target = place
        for step in leaf.template:
            if step is None:
                target = self.expressions.places.element(target, next(remaining), node)
            else:
                target = self.expressions.places.member(target, str(step), node)
        with session.collect() as body:
            self.expressions.places.store(target, value_at(indices), node)
        line = session.line_of(node)
        for name, variable, size in reversed(list(zip(names, variables, leaf.sizes, strict=True))):
            body = [counting_loop(name, variable, size, body, line)]
        session.emit(body[0], node)

    def _part(self, place: Place, path: Path, node: c_ast.Node) -> Place:
        for step in path:
            if isinstance(step, int):
                place = self.expressions.places.element(place, ir.Constant(value=step), node)
            else:
                place = self.expressions.places.member(place, step, node)
        return place
