"""Initialisers: which scalar each expression of a braced list sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from pycparser import c_ast

from pipelines.hls.reading.ctypes import ArrayOf, CType, Scalar, Struct, spelled
from pipelines.hls.reading.literals import read_string
from pipelines.hls.reading.session import Session

Step = int | str
Path = tuple[Step, ...]
"""Indices and member names from an object to a part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Initial:
    """One part of an object and what it is set to: an expression, or the value of a character."""

    path: Path
    kind: CType
    node: c_ast.Node
    character: int | None = None


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
        """The parts an initialiser sets, in the order it sets them; a later one wins."""
        return list(self._whole(kind, node, ()))

    def completed(self, kind: CType, node: c_ast.Node) -> CType:
        """An array type with the size its initialiser gives it, when its own is open."""
        if not isinstance(kind, ArrayOf) or kind.size is not None:
            return kind
        plan = self.plan(kind, node)
        largest = max((i.path[0] for i in plan if isinstance(i.path[0], int)), default=-1)
        return ArrayOf(element=kind.element, size=largest + 1)

    def _whole(self, kind: CType, node: c_ast.Node, path: Path) -> Iterator[Initial]:
        """An object with an initialiser of its own."""
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
            if cursor.items[cursor.position :]:
                raise self.session.refuse(node, f"an initialiser must fit {spelled(kind)}", "more values")
        elif len(items) == 1:
            yield from self._whole(kind, items[0], path)
        elif items:
            raise self.session.refuse(node, "a number must have one initialiser", f"{len(items)} values")

    def _members(self, kind: CType, cursor: _Cursor, path: Path, *, braced: bool) -> Iterator[Initial]:
        """The parts of an aggregate, from a list; without braces it takes only what it needs."""
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
            position += 1
            yield from self._next(inner, cursor, (*path, name))

    def _designated(self, kind: CType, item: c_ast.NamedInitializer, path: Path) -> tuple[int, CType, Path]:
        """Position after the outermost designator, and type and path of what all of them name."""
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
        """A part that a designator names; without braces its own parts may take what follows."""
        whole = isinstance(kind, Scalar) or isinstance(node, c_ast.InitList)
        if whole or self._characters(kind, node) is not None:
            yield from self._whole(kind, node, path)
            return
        cursor.items = [*cursor.items[: cursor.position], node, *cursor.items[cursor.position :]]
        yield from self._next(kind, cursor, path)

    def _next(self, kind: CType, cursor: _Cursor, path: Path) -> Iterator[Initial]:
        """One part: a value of its own, or, when it is an aggregate without braces, parts of it."""
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
        """Characters of a string that initialises an array of bytes; the final zero may not fit."""
        if isinstance(node, c_ast.InitList) and len(node.exprs or []) == 1:
            node = node.exprs[0]
        if not (isinstance(kind, ArrayOf) and isinstance(kind.element, Scalar)):
            return None
        if kind.element.type.width_bits != 8 or not isinstance(node, c_ast.Constant):
            return None
        return read_string(str(node.value)) if str(node.value).startswith('"') else None


@dataclass(slots=True, kw_only=True)
class _Cursor:
    items: list[c_ast.Node] = field(default_factory=list[c_ast.Node])
    position: int = 0


def _step(kind: CType, position: int) -> tuple[Step, CType] | None:
    """The part of an aggregate at a position, None past its end."""
    if isinstance(kind, ArrayOf):
        inside = position >= 0 and (kind.size is None or position < kind.size)
        return (position, kind.element) if inside else None
    if isinstance(kind, Struct) and 0 <= position < len(kind.members):
        return next(islice(kind.members.items(), position, None))
    return None
