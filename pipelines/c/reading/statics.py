"""Objects of static storage that leave the design: which they are, and where they stand in the text.

A program is read again when a reading shows that its function writes such an object, or reads one of the file
whose value the file does not fix: these are ports. An object with an initialiser that nothing in the file
writes stays a constant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.reading.bodies import facts_of
from pipelines.c.reading.ctypes import (
    ArrayOf,
    CType,
    Scalar,
    Struct,
    has_pointer,
    layout_of,
    member_offset,
)
from pipelines.c.reading.declarators import FileScope
from pipelines.c.reading.initialisers import Path
from pipelines.c.reading.session import Cell, Memory, Place, Port, Record, Storage
from pipelines.c.reading.values import UPDATES


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticUse:
    """An object of static storage that the program uses.

    Attributes:
        of_file: it is declared outside functions.
    """

    declaration: c_ast.Decl
    place: Place
    of_file: bool


def object_key(declaration: c_ast.Decl) -> str:
    """Return the identity of an object in any reading of its program."""
    return f"{declaration.coord} {declaration.name}"


def outside_objects(
    uses: Sequence[StaticUse], body: tuple[ir.Statement, ...], scope: FileScope, called: Collection[str]
) -> Mapping[str, Port]:
    """Return the objects that are ports, after a reading.

    Args: body: the statements of the program, without those that set initial values. called: functions that
          it consists of.
    """
    changed = ir.stored_arrays(body) | ir.assigned_variables(body)
    others = frozenset(
        name
        for function, definition in scope.functions.items()
        if function not in called
        for name in _written_names(definition, scope)
    )
    ports: dict[str, Port] = {}
    for use in uses:
        declaration, storage = use.declaration, use.place.storage
        if has_pointer(use.place.kind):
            continue  # state of the design alone: addresses mean nothing outside
        if changed.intersection(_names(storage)):
            ports[object_key(declaration)] = Port.MEMORY
        elif use.of_file and _is_open(declaration, others) and _has_numbers(storage):
            number = isinstance(use.place.kind, Scalar)
            ports[object_key(declaration)] = Port.NUMBER if number else Port.MEMORY
    return ports


def _is_open(declaration: c_ast.Decl, written: Collection[str]) -> bool:
    """Tell whether the file does not fix the value of an object that the program only reads."""
    return "const" not in declaration.quals and (declaration.init is None or declaration.name in written)


def _names(storage: Storage) -> Iterator[str]:
    """Yield the variables and arrays of a storage."""
    match storage:
        case Cell():
            yield storage.variable.name
        case Memory():
            yield storage.array.name
        case Record():
            for member in storage.members.values():
                yield from _names(member)
        case _:
            return


def _has_numbers(storage: Storage) -> bool:
    return next(_names(storage), None) is not None


def is_changed_pointer(name: str, scope: FileScope) -> bool:
    """Tell whether a function of the file may change a pointer of the file."""
    for definition in scope.functions.values():
        facts = facts_of(definition)
        if name in facts.changed | facts.exposed and name not in _declared(definition):
            return True
    return False


# ---- what functions write, by their text ---------------------------------------------------------------


def _written_names(definition: c_ast.FuncDef, scope: FileScope) -> frozenset[str]:
    """Return the names of the file's objects that a function may write."""
    written: set[str] = set()
    for node in _nodes(definition.body):
        match node:
            case c_ast.Assignment():
                written.update(_roots(node.lvalue))
            case c_ast.UnaryOp() if node.op in (*UPDATES, "&"):
                written.update(_roots(node.expr))
            case c_ast.FuncCall() if node.args is not None:
                for position, argument in enumerate(node.args.exprs):
                    if not _is_read_only(node.name, position, scope):
                        written.update(_roots(argument, bare=True))
            case _:
                pass
    return frozenset(written) - _declared(definition)


def _nodes(root: c_ast.Node) -> Iterator[c_ast.Node]:
    yield root
    for _, child in root.children():
        yield from _nodes(child)


def _roots(node: c_ast.Node, *, bare: bool = False) -> Iterator[str]:
    """Yield the object that an expression is a part of; with `bare` only of arrays that decay to pointers."""
    match node:
        case c_ast.ID():
            yield str(node.name)
        case c_ast.BinaryOp() if node.op in ("+", "-"):
            yield from _roots(node.left, bare=bare)
            yield from _roots(node.right, bare=bare)
        case c_ast.Cast():
            yield from _roots(node.expr, bare=bare)
        case c_ast.ArrayRef() | c_ast.StructRef() if not bare:
            yield from _roots(node.name)
        case c_ast.UnaryOp() if node.op == "*" and not bare:
            yield from _roots(node.expr)
        case _:
            return


def _is_read_only(function: c_ast.Node, position: int, scope: FileScope) -> bool:
    """Tell whether a parameter of a function of the file is a number, or points to constants."""
    name = str(function.name) if isinstance(function, c_ast.ID) else ""
    definition = scope.functions.get(name)
    declaration = scope.prototypes.get(name) if definition is None else definition.decl
    listed = getattr(getattr(declaration, "type", None), "args", None)
    parameters: list[c_ast.Node] = [] if listed is None else list(listed.params)
    if position >= len(parameters):
        return False
    kind: c_ast.Node | None = getattr(parameters[position], "type", None)
    inner = getattr(kind, "type", None)
    if isinstance(kind, c_ast.PtrDecl | c_ast.ArrayDecl):
        return "const" in (getattr(inner, "quals", None) or ())
    names: list[str] = getattr(inner, "names", None) or [""]
    typedef = scope.typedefs.get(names[0])
    return typedef is None or isinstance(typedef.type, c_ast.TypeDecl)


def _declared(definition: c_ast.FuncDef) -> frozenset[str]:
    """Return the names that a function declares: its parameters and variables."""
    return frozenset(str(n.name) for n in _nodes(definition) if isinstance(n, c_ast.Decl) and n.name)


# ---- memory and text -----------------------------------------------------------------------------------


def memory_of(kind: CType, constants: Sequence[tuple[Path, ir.Constant]]) -> bytes:
    """Return the memory of an object with some numbers set, later ones last; empty when all of it is zero."""
    layout = layout_of(kind)
    memory = bytearray(0 if layout is None else layout.size)
    for path, value in constants:
        first, own = _part(kind, path)
        count, bits, shift = value.type.width_bits // 8, value.type.width_bits, 0
        if isinstance(own, Scalar) and own.bits:
            bits, shift = own.bits, own.shift
        ones = (1 << bits) - 1
        others = int.from_bytes(memory[first : first + count], "little") & ~(ones << shift)
        memory[first : first + count] = (others | (value.value & ones) << shift).to_bytes(count, "little")
    return bytes(memory) if any(memory) else b""


def _part(kind: CType, path: Path) -> tuple[int, CType]:
    """Return the bytes from the start of an object to a part of it, and the part's type."""
    offset = 0
    for step in path:
        if isinstance(kind, ArrayOf):
            kind = kind.element
            layout = layout_of(kind)
            offset += int(step) * (0 if layout is None else layout.size)
        elif isinstance(kind, Struct):
            offset += member_offset(kind, str(step))
            kind = kind.members[str(step)]
    return offset, kind


_MARKER = re.compile(r'[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?')
_PART = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[{}()\[\];]""", re.DOTALL)


def declaration_end(source: str, declaration: c_ast.Decl) -> int | None:
    """Return the offset in a program's text after the declaration of a variable.

    Returns: None when the declaration cannot be found there, since a macro hides it.
    """
    coord = declaration.coord
    if coord is None:
        return None
    first = _line_start(source, str(coord.file), int(coord.line))
    if first is None:
        return None
    line = source[first:].split("\n", 1)[0]
    name = rf"\b{re.escape(declaration.name)}\b"
    column = coord.column - 1
    if re.match(name, line[column:]) is None:  # macros before it on the line moved it
        moved = [m.end() for m in re.finditer(rf"\bstatic\b[^;{{}}]{{0,200}}?{name}", line)]
        column = moved[0] if len(moved) == 1 else -1
    if column < 0:
        return None
    depth = 0
    for part in _PART.finditer(source, first + column):
        if part[0] in ("{", "(", "["):
            depth += 1
        elif part[0] in (")", "]"):
            depth = max(0, depth - 1)
        elif part[0] == "}":
            depth -= 1
            if depth < 0:
                return None
        elif part[0] == ";" and depth == 0:
            return part.end()
    return None


def _line_start(source: str, file: str, line: int) -> int | None:
    """Return the offset of a line by the file and number that its line markers give it."""
    at_file, at_line, offset = "<stdin>", 1, 0
    for content in source.split("\n"):
        marker = _MARKER.match(content)
        if marker is not None:
            at_line, at_file = int(marker[1]), marker[2] or at_file
        else:
            if (at_file, at_line) == (file, line):
                return offset
            at_line += 1
        offset += len(content) + 1
    return None
