"""Initial values as statements: zeros and constants first, then what has to be computed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.reading.ctypes import ArrayOf, CType, Scalar, Struct
from pipelines.hls.reading.effects import MAXIMUM_COPIED_STATEMENTS, Effects, counting_loop
from pipelines.hls.reading.expressions import Expressions
from pipelines.hls.reading.initialisers import Initial, Path
from pipelines.hls.reading.session import Memory, Place
from pipelines.hls.reading.values import convert

Template = tuple[int | str | None, ...]
"""A path in which None stands for every index of a dimension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A variable or array inside an object: where, its dimensions, and its type."""

    template: Template
    sizes: tuple[int, ...]
    kind: Scalar

    @property
    def count(self) -> int:
        """Elements of the array; 1 for a variable."""
        return prod(self.sizes)

    def paths(self) -> Iterator[Path]:
        """Path of every element, in C order."""
        for indices in product(*(range(size) for size in self.sizes)):
            remaining = iter(indices)
            yield tuple(next(remaining) if step is None else step for step in self.template)

    def values(self, constants: ByTemplate) -> list[ir.Constant]:
        """Every element: its constant, else zero."""
        found = [ir.Constant(value=0, type=self.kind.type)] * self.count
        for path, value in constants.get(self.template, {}).items():
            position = 0
            for size, step in zip(self.sizes, (s for s in path if isinstance(s, int)), strict=True):
                position = position * size + step
            found[position] = value
        return found


ByTemplate = Mapping[Template, Mapping[Path, ir.Constant]]
"""Constants of an object by the variable or array that they belong to."""


def by_template(constants: Mapping[Path, ir.Constant]) -> ByTemplate:
    """Constants by the variable or array that they belong to."""
    found: dict[Template, dict[Path, ir.Constant]] = {}
    for path, value in constants.items():
        template = tuple(None if isinstance(step, int) else step for step in path)
        found.setdefault(template, {})[path] = value
    return found


def _leaves(kind: CType, template: Template, sizes: tuple[int, ...]) -> Iterator[Leaf]:
    match kind:
        case Scalar():
            yield Leaf(template=template, sizes=sizes, kind=kind)
        case ArrayOf():
            yield from _leaves(kind.element, (*template, None), (*sizes, kind.size or 0))
        case Struct():
            for name, member in kind.members.items():
                yield from _leaves(member, (*template, name), sizes)
        case _:
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Fills objects."""

    expressions: Expressions
    effects: Effects

    def constant(self, item: Initial) -> ir.Constant | None:
        """The value of a part, None when it is not a constant number."""
        if not isinstance(item.kind, Scalar):
            return None
        kind = item.kind
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

    def fill(self, place: Place, plan: list[Initial], node: c_ast.Node) -> None:
        """Set an object to the values of a plan, all else to zero."""
        constants: dict[Path, ir.Constant] = {}
        computed: dict[Path, Initial] = {}
        for item in plan:
            value = self.constant(item)
            constants.pop(item.path, None)
            computed.pop(item.path, None)
            if value is None:
                computed[item.path] = item
            else:
                constants[item.path] = value
        templates = by_template(constants)
        for leaf in _leaves(place.kind, (), ()):
            self._fill_leaf(place, leaf, templates, computed, node)
        for item in computed.values():
            part = self._part(place, item.path, node)
            self.effects.assign(part, self.expressions.read(item.node), item.node)

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
            first = tuple(0 if step is None else step for step in leaf.template)
            storage = self._part(place, first, node).storage
            if isinstance(storage, Memory) and storage.packed is None:
                session.fills[storage.array.name] = (content, body)

    def _copy_table(self, place: Place, leaf: Leaf, content: tuple[int, ...], node: c_ast.Node) -> None:
        session = self.expressions.session
        line = session.line_of(node)
        table = session.new_array("initial_values", leaf.kind.type, leaf.sizes, initial=content)
        self._loop(place, leaf, lambda indices: ir.Load(array=table, indices=indices, line=line), node)

    def _loop(
        self,
        place: Place,
        leaf: Leaf,
        value_at: Callable[[tuple[ir.Expression, ...]], ir.Expression],
        node: c_ast.Node,
    ) -> None:
        """A nest of loops, one a dimension, that stores a value at each index."""
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
