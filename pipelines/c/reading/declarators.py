"""Declared types, from the syntax of declarations to `ctypes`, and the names of the file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.errors import HlsError
from pipelines.c.reading.ctypes import (
    FUNCTION,
    UNNAMED,
    Alignment,
    ArrayOf,
    CType,
    Layout,
    Pointer,
    Scalar,
    Struct,
    attributed_layout,
    bit_field_layout,
    layout_of,
    specified_type,
    spelled,
    structure_layout,
    union_layout,
)
from pipelines.c.reading.recursion import without_tail_calls
from pipelines.c.reading.session import Frame, Session, TypeName, Value
from pipelines.c.signature import INT32, UINT32
from pipelines.c.text.layouts import NO_ATTRIBUTES, Attributes, position_of
from pipelines.c.text.preprocess import is_own_header

MAXIMUM_PARTS = 1 << 16
"""Numbers and arrays into which one structure is split, members included."""


@dataclass(slots=True, kw_only=True)
class FileScope:
    """Declarations of a file by name; each is read when it is first used.

    Attributes:
        pragmas: those outside functions.
    """

    functions: dict[str, c_ast.FuncDef] = field(default_factory=dict[str, c_ast.Node])
    typedefs: dict[str, c_ast.Typedef] = field(default_factory=dict[str, c_ast.Node])
    objects: dict[str, c_ast.Decl] = field(default_factory=dict[str, c_ast.Node])
    prototypes: dict[str, c_ast.Decl] = field(default_factory=dict[str, c_ast.Node])
    tags: dict[str, c_ast.Node] = field(default_factory=dict[str, c_ast.Node])
    pragmas: list[c_ast.Pragma] = field(default_factory=list[c_ast.Node])
    enumerators: dict[str, tuple[c_ast.Enum, int]] = field(default_factory=dict[str, tuple[c_ast.Node, int]])


def file_scope_of(tree: c_ast.FileAST) -> FileScope:
    """Return the names of a file."""
    scope = FileScope()
    for node in tree.ext:
        match node:
            case c_ast.FuncDef():
                scope.functions[node.decl.name] = without_tail_calls(node)
                _collect_tags(node.decl, scope)
            case c_ast.Pragma():
                scope.pragmas.append(node)
            case c_ast.Typedef():
                scope.typedefs[node.name] = node
                _collect_tags(node.type, scope)
            case c_ast.Decl():
                _collect_tags(node.type, scope)
                if isinstance(node.type, c_ast.FuncDecl):
                    scope.prototypes[node.name] = node
                elif node.name is not None:
                    known = scope.objects.get(node.name)
                    kept = known is not None and (known.init or "extern" in node.storage)
                    scope.objects[node.name] = known if kept else node
            case _:
                pass
    return scope


def _collect_tags(node: c_ast.Node, scope: FileScope) -> None:
    """Declare the structures and enumerations inside a declaration."""
    if isinstance(node, c_ast.Struct | c_ast.Union) and node.decls is not None and node.name:
        scope.tags[node.name] = node
    if isinstance(node, c_ast.Enum) and node.values is not None:
        if node.name:
            scope.tags[node.name] = node
        listed = [e for e in node.values.enumerators if isinstance(e, c_ast.Enumerator)]
        scope.enumerators.update({e.name: (node, index) for index, e in enumerate(listed)})
        return
    for _, child in node.children():
        if not isinstance(child, c_ast.InitList):
            _collect_tags(child, scope)


@dataclass(slots=True, kw_only=True)
class Declarators:
    """Reads types.

    Attributes:
        constant: reads a constant expression; None when it is not constant.
    """

    session: Session
    file_scope: FileScope
    constant: Callable[[c_ast.Node], ir.Constant | None]
    _structs: dict[int, Struct] = field(default_factory=dict[int, Struct])
    _enums: dict[int, tuple[Scalar, list[ir.Constant]]] = field(
        default_factory=dict[int, tuple[Scalar, list[ir.Constant]]]
    )
    _typedefs: dict[str, CType] = field(default_factory=dict[str, CType])

    @contextmanager
    def at_file_scope(self) -> Generator[None]:
        """Read with the names of the file only."""
        frame = Frame(
            name="",
            changed=frozenset(),
            exposed=frozenset(),
            uses={},
            exit_label="",
            result=None,
            loop_names={},
            call_line=self.session.frames[-1].call_line if self.session.frames else None,
        )
        self.session.frames.append(frame)
        try:
            yield
        finally:
            self.session.frames.pop()

    def read(self, node: c_ast.Node, owner: c_ast.Node) -> CType:
        """Read the type that a declarator spells.

        Args:    owner: the declaration, for messages.
        Raises:  HlsError: a type outside the accepted subset.
        """
        self.session.count(owner)
        if "volatile" in (getattr(node, "quals", None) or ()):
            rule = "an object must not be volatile, for accesses are merged and reordered (remove volatile)"
            raise self.session.refuse(owner, rule, "volatile")
        match node:
            case c_ast.TypeDecl() | c_ast.Typename():
                return self.read(node.type, owner)
            case c_ast.IdentifierType():
                kind = self._named(node.names, owner)
                return self._in_mode(kind, owner) if self.session.layouts else kind
            case c_ast.PtrDecl():
                return Pointer(target=self.read(node.type, owner))
            case c_ast.ArrayDecl():
                element = self.read(node.type, owner)
                return ArrayOf(element=element, size=self._size(node, owner))
            case c_ast.Struct() | c_ast.Union():
                return self._struct(node, owner)
            case c_ast.Enum():
                return self._enum(node, owner)[0]
            case c_ast.FuncDecl():
                self.session.later_forms = True
                return FUNCTION
            case _:
                got = _TYPE_NAMES.get(type(node).__name__, type(node).__name__)
                raise self.session.refuse(owner, "a type must be " + _ACCEPTED, got)

    def _named(self, names: list[str], owner: c_ast.Node) -> CType:
        if len(names) == 1:
            symbol = self.session.find(names[0]) if self.session.frames else None
            if isinstance(symbol, TypeName):
                return symbol.kind
            if names[0] in self.file_scope.typedefs:
                return self._typedef(names[0])
        kind = specified_type(names)
        if kind is None:
            raise self.session.refuse(owner, "a type must be " + _ACCEPTED, repr(" ".join(names)))
        return kind

    def _in_mode(self, kind: CType, owner: c_ast.Node) -> CType:
        """Return a type in the machine mode that an attribute of its declaration names."""
        own = self.session.layouts.get(position_of(owner) or ("", 0, 0), NO_ATTRIBUTES)
        if not own.mode:
            return kind
        floating = isinstance(kind, Scalar) and kind.type.floating
        width_bits = (_FLOATING_MODES if floating else _INTEGER_MODES).get(own.mode)
        if width_bits is None or not isinstance(kind, Scalar):
            rule = "a mode must be one of " + ", ".join((*_INTEGER_MODES, *_FLOATING_MODES))
            raise HlsError(rule, own.mode, file=self.session.file_of(owner), line=own.line)
        return replace(kind, type=replace(kind.type, width_bits=width_bits))

    def _typedef(self, name: str) -> CType:
        if name not in self._typedefs:
            node = self.file_scope.typedefs[name]
            with self.at_file_scope():
                self._typedefs[name] = self.read(node.type, node)
        return self._typedefs[name]

    def _size(self, node: c_ast.ArrayDecl, owner: c_ast.Node) -> int | None:
        if node.dim is None:
            return None
        size = self.constant(node.dim)
        if size is None or size.type.floating or size.value < 1:
            got = "an expression" if size is None else str(size.number)
            rule = "an array size must be a positive constant (write #define N 64 and float a[N])"
            raise self.session.refuse(owner, rule, got)
        return size.value

    # ---- structures and enumerations --------------------------------------------------------------

    def _struct(self, node: c_ast.Struct | c_ast.Union, owner: c_ast.Node) -> Struct:
        if id(node) in self._structs:
            return self._structs[id(node)]
        if node.decls is None:
            return self._tagged_struct(node, owner)
        structure = Struct(
            tag=node.name or "(unnamed)",
            union=isinstance(node, c_ast.Union),
            key=id(node),
            as_bytes=id(node) in self.session.bytewise,
        )
        self._structs[id(node)] = structure
        if structure.tag == "tm" and is_own_header(str(node.coord.file) if node.coord else ""):
            self.session.later_forms = True
        if node.name and self.session.frames:
            self.session.frame.tags[-1][node.name] = structure
        members = list(self._members(node))
        named = {name: kind for name, kind, _ in members if name}
        has_bits = any(bits is not None for _, _, bits in members)
        positions: dict[str, int] = {}
        if structure.union:
            layout = union_layout(own for own in map(layout_of, named.values()) if own is not None)
        elif has_bits:
            layout, named, positions = bit_field_layout(members)
        else:
            layout = structure_layout(own for own in map(layout_of, named.values()) if own is not None)
        own, alignments = self._attributes(node, owner), self._alignments(node, named)
        natural = {name: known.alignment for name in alignments if (known := layout_of(named[name]))}
        structure.packed = any(at.bytes < natural[name] for name, at in alignments.items())
        moved = any(at.bytes != natural[name] for name, at in alignments.items())
        if has_bits and (moved or own.pack or own.aligned > layout.alignment):
            layout, named, positions = self._attributed_bits(node, members, alignments, own)
        elif moved or own.aligned > layout.alignment:
            parts = ((m, known, alignments[m]) for m, k in named.items() if (known := layout_of(k)))
            layout, structure.offsets = attributed_layout(
                layout, parts, aligned=own.aligned, union=structure.union
            )
        if layout.parts > MAXIMUM_PARTS:
            rule = f"a structure must have at most {MAXIMUM_PARTS} members, those of its members included"
            raise self.session.refuse(owner, rule, str(layout.parts))
        structure.members, structure.layout, structure.positions = named, layout, positions
        return structure

    # ---- attributes -------------------------------------------------------------------------------

    def _attributes(self, node: c_ast.Node, owner: c_ast.Node | None = None) -> Attributes:
        """Return the layout attributes of a type, a member or a typedef.

        Raises: HlsError: one that is not followed.
        """
        position = position_of(node) if self.session.layouts else None
        own = NO_ATTRIBUTES if position is None else self.session.layouts.get(position, NO_ATTRIBUTES)
        if own.unread:
            raise self._unfollowed(owner or node, own)
        return own

    def _unfollowed(self, node: c_ast.Node, own: Attributes) -> HlsError:
        rule = (
            "a layout must be natural, packed, or aligned to a number (write the members one after another)"
        )
        refusal = self.session.refuse(node, rule, own.text)
        return HlsError(rule, own.text, file=refusal.file, line=own.line or refusal.line)

    def _alignments(self, node: c_ast.Struct | c_ast.Union, named: dict[str, CType]) -> dict[str, Alignment]:
        """Return the alignment of each named member of a structure."""
        whole = self._attributes(node)
        alignments: dict[str, Alignment] = {}
        for number, decl in enumerate(node.decls):
            name = getattr(decl, "name", None) or f"{UNNAMED}{number}"
            known = layout_of(named[name]) if name in named else None
            if known is None:
                continue
            own = self._attributes(decl) if decl.name else NO_ATTRIBUTES
            if own.aligned and decl.bitsize is not None:
                raise self._unfollowed(decl, own)
            alignments[name] = Alignment(
                natural=self.type_alignment(decl.type) or known.alignment,
                own=max(own.aligned, self._alignas(decl)),
                packed=whole.packed or own.packed,
                pack=whole.pack,
            )
        return alignments

    def _attributed_bits(
        self,
        node: c_ast.Struct | c_ast.Union,
        members: list[tuple[str, CType, int | None]],
        alignments: dict[str, Alignment],
        own: Attributes,
    ) -> tuple[Layout, dict[str, CType], dict[str, int]]:
        """Return the layout of a structure with bit-fields and attributes."""
        if isinstance(node, c_ast.Union):
            raise self._unfollowed(node, own)
        layout, named, positions = bit_field_layout(
            members, alignments, packed=own.packed, pack=own.pack, aligned=own.aligned
        )
        lost = next((name for name in named if name not in positions), None)
        if lost is not None:
            rule = "a bit-field of a packed structure must lie inside one number (write shifts and masks)"
            raise self.session.refuse(node, rule, lost)
        return layout, named, positions

    def _alignas(self, decl: c_ast.Decl) -> int:
        """Return the bytes that `_Alignas` of a member names; 0 without it."""
        most = 0
        for one in () if self.session.natural else getattr(decl, "align", None) or ():
            if isinstance(one.alignment, c_ast.Typename):
                layout = layout_of(self.read(one.alignment, decl))
                size = 0 if layout is None else layout.alignment
            else:
                value = self.constant(one.alignment)
                if value is None or value.type.floating:
                    raise self.session.refuse(
                        decl, "_Alignas must name a type or a constant", "an expression"
                    )
                size = value.value
            most = max(most, size)
        return most

    def typedef_alignment(self, node: c_ast.Typedef) -> int:
        """Return bytes that attributes of a typedef, or of one it names, align a type to; 0 without them."""
        return self._attributes(node).aligned or self.type_alignment(node.type)

    def type_alignment(self, node: c_ast.Node) -> int:
        """Return the bytes that the typedef in a declared type aligns it to; 0 without one."""
        while isinstance(node, c_ast.TypeDecl | c_ast.ArrayDecl | c_ast.Typename):
            node = node.type
        names = node.names if self.session.layouts and isinstance(node, c_ast.IdentifierType) else ()
        if len(names) != 1:
            return 0
        symbol = self.session.find(names[0]) if self.session.frames else None
        if symbol is not None:
            return symbol.alignment if isinstance(symbol, TypeName) else 0
        known = self.file_scope.typedefs.get(names[0])
        return 0 if known is None else self.typedef_alignment(known)

    def _tagged_struct(self, node: c_ast.Struct | c_ast.Union, owner: c_ast.Node) -> Struct:
        for tags in reversed(self.session.frame.tags) if self.session.frames else ():
            known = tags.get(node.name)
            if isinstance(known, Struct):
                return known
        defined = self.file_scope.tags.get(node.name)
        if not isinstance(defined, c_ast.Struct | c_ast.Union):
            return self._structs.setdefault(id(node), Struct(tag=node.name or ""))
        with self.at_file_scope():
            return self._struct(defined, owner)

    def _members(self, node: c_ast.Struct | c_ast.Union) -> Iterator[tuple[str, CType, int | None]]:
        """Name, type and bits of each member; a bit-field may have no name."""
        for number, decl in enumerate(node.decls):
            if isinstance(decl, c_ast.Pragma | c_ast.StaticAssert):
                continue
            unnamed = isinstance(decl, c_ast.Decl) and isinstance(decl.type, c_ast.Struct | c_ast.Union)
            if isinstance(decl, c_ast.Decl) and decl.bitsize is not None:
                yield self._bit_field(decl, in_union=isinstance(node, c_ast.Union))
                continue
            if not isinstance(decl, c_ast.Decl) or (decl.name is None and not unnamed):
                raise self.session.refuse(node, "a member must have a name", type(decl).__name__)
            kind = self.read(decl.type, decl)
            if isinstance(kind, ArrayOf) and kind.size is None:
                raise self.session.refuse(decl, "a member must have a constant size", f"{decl.name}[]")
            if layout_of(kind) is None:
                raise self.session.refuse(decl, "a member must have a complete type", spelled(kind))
            yield decl.name or f"{UNNAMED}{number}", kind, None

    def _bit_field(self, decl: c_ast.Decl, *, in_union: bool) -> tuple[str, CType, int]:
        """Name, type and bits of a bit-field."""
        self.session.later_forms = True
        kind, size = self.read(decl.type, decl), self.constant(decl.bitsize)
        if not isinstance(kind, Scalar) or kind.type.floating:
            raise self.session.refuse(decl, "a bit-field must be an integer", spelled(kind))
        widest = 1 if kind.boolean else kind.type.width_bits
        if size is None or size.type.floating or not (0 if decl.name is None else 1) <= size.value <= widest:
            got = "an expression" if size is None else str(size.number)
            raise self.session.refuse(decl, f"a bit-field must have 1 to {widest} bits", got)
        if 32 < size.value < 64:
            rule = "a bit-field must have at most 32 bits, or 64 (write two)"
            raise self.session.refuse(decl, rule, f"{decl.name} of {size.value}")
        return decl.name or "", replace(kind, bits=size.value) if in_union else kind, size.value

    def _enum(self, node: c_ast.Enum, owner: c_ast.Node) -> tuple[Scalar, list[ir.Constant]]:
        if node.values is None:
            return self._tagged_enum(node, owner)
        if id(node) not in self._enums:
            self._enums[id(node)] = self._enumerators(node)
        kind, values = self._enums[id(node)]
        listed = [e for e in node.values.enumerators if isinstance(e, c_ast.Enumerator)]
        if self.session.frames:
            scope = self.session.frame.scopes[-1]
            scope.update({e.name: Value(expression=v) for e, v in zip(listed, values, strict=True)})
            if node.name:
                self.session.frame.tags[-1][node.name] = kind
        return kind, values

    def _tagged_enum(self, node: c_ast.Enum, owner: c_ast.Node) -> tuple[Scalar, list[ir.Constant]]:
        for tags in reversed(self.session.frame.tags) if self.session.frames else ():
            known = tags.get(node.name)
            if isinstance(known, Scalar):
                return known, []
        defined = self.file_scope.tags.get(node.name)
        if not isinstance(defined, c_ast.Enum):
            raise self.session.refuse(owner, "an enumeration must be defined", f"enum {node.name}")
        with self.at_file_scope():
            return self._enum(defined, owner)

    def _enumerators(self, node: c_ast.Enum) -> tuple[Scalar, list[ir.Constant]]:
        """Return the type of an enumeration, as gcc chooses it, and the values of its constants."""
        values: list[ir.Constant] = []
        for item in node.values.enumerators:
            if not isinstance(item, c_ast.Enumerator):
                continue
            value = values[-1].value + 1 if values else 0
            if item.value is not None:
                read = self.constant(item.value)
                if read is None or read.type.floating:
                    raise self.session.refuse(item, "an enumerator must be a constant", item.name)
                value = read.value
            if not -(1 << 31) <= value < 1 << 31:
                raise self.session.refuse(item, "an enumerator must fit an int", str(value))
            values.append(ir.Constant(value=value))
            self.session.frame.scopes[-1][item.name] = Value(expression=values[-1])
        negative = any(v.value < 0 for v in values)
        kind = INT32 if negative else UINT32
        own = self._attributes(node)
        if own.packed:
            bits = max((v.value if v.value >= 0 else ~v.value).bit_length() for v in values) + negative
            kind = replace(kind, width_bits=next(width for width in (8, 16, 32) if bits <= width))
        if own.mode:
            raise HlsError(
                "an enumeration must have no mode", own.mode, file=self.session.file_of(node), line=own.line
            )
        return Scalar(type=kind), values

    def enumerator(self, name: str) -> ir.Constant | None:
        """Return the value of an enumerator of the file; None when there is none of that name."""
        if name not in self.file_scope.enumerators:
            return None
        node, index = self.file_scope.enumerators[name]
        with self.at_file_scope():
            return self._enum(node, node)[1][index]


_ACCEPTED = "an integer of 8 to 64 bits, float, double, an enum, or a structure or array of them"

_INTEGER_MODES = {"QI": 8, "HI": 16, "SI": 32, "DI": 64, "byte": 8, "word": 64, "pointer": 64}
_FLOATING_MODES = {"SF": 32, "DF": 64}

_TYPE_NAMES = {
    "TypeOf": "typeof",
    "BitIntType": "_BitInt",
    "InferredType": "auto",
}
