"""Hash of a program's normalised syntax tree: programs with equal hashes differ in spelling only.

Ignored: names of variables, functions, members, structures and types; comments, layout and
macros; labels; pragmas (they are mapping parameters); qualifiers and storage classes, but for `static`
objects in functions; how a type or a constant is spelled (`unsigned` and `uint32_t`, `16` and `0x10`); braces
around one statement; functions and objects that the top function does not reach, and the order of the rest.

Significant: operators and the order of operands, types, constants, array sizes, the order of arguments,
declarations and statements, and the names of functions of the headers.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pycparser import c_ast, c_generator, c_parser

from pipelines.c import HlsError, is_own_header, parse_text, preprocess_source

_MARKER = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)"')
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]*)")
_ALIASES = {"__signed__": "signed", "__signed": "signed"}


def ast_hash(source: str, top: str) -> str:
    """Return the hash of the normalised syntax tree of a top function and everything that it uses.

    Args:    source: C text; top: name of the function that becomes hardware.
    Returns: 32 hexadecimal digits; equal for programs that differ in spelling only.
    Raises:  HlsError: the text is not C11, or has no such function. ToolMissing: gcc is not installed.
    """
    text = "\n".join(syntax_words(source, top))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def syntax_words(source: str, top: str) -> Sequence[str]:
    """Return the normalised syntax tree as words, those that `ast_hash` hashes.

    Raises: HlsError: as `ast_hash`.
    """
    try:
        return _Writer(own_tree(source)).write(top)
    except RecursionError:
        raise HlsError("expressions and statements must nest less deeply", "nesting too deep") from None


@lru_cache(maxsize=1024)
def ast_hash_or_none(source: str, top: str) -> str | None:
    """Return the hash of a program, None for text that is not a program."""
    try:
        return ast_hash(source, top)
    except HlsError:
        return None


def own_tree(source: str) -> c_ast.FileAST:
    """Return the program's own syntax tree after the types that its headers declare.

    Raises: HlsError: the text is not C11. ToolMissing: gcc is not installed.
    """
    own, headers = _split(preprocess_source(source, file="program.c"))
    try:
        return parse_text(_declared_types(headers) + own, file="program.c")
    except c_parser.ParseError as error:
        raise HlsError("a program must be C11", " ".join(str(error).split())[:200]) from None


def _split(text: str) -> tuple[str, str]:
    """Return the preprocessed text: the program's part, and the part of this engine's headers."""
    parts: dict[bool, list[str]] = {False: [], True: []}
    inside = False
    for line in text.splitlines():
        marker = _MARKER.match(line)
        if marker is None:
            parts[inside].append(line)
        else:
            inside = is_own_header(marker[1])
    return "\n".join(parts[False]), "\n".join(line for line in parts[True] if line.strip())


@lru_cache(maxsize=64)
def _declared_types(headers: str) -> str:
    """Return the types that headers declare, as C; their functions and objects are known by name alone."""
    if not headers:
        return ""
    nodes: list[c_ast.Node] = list(c_parser.CParser().parse(headers).ext)
    generator = c_generator.CGenerator()
    kept = [n for n in nodes if isinstance(n, c_ast.Typedef) or (isinstance(n, c_ast.Decl) and not n.name)]
    return "".join(f"{generator.visit(node)};\n" for node in kept)


class FileScope:
    """What the declarations of a file name: functions and objects, types, tags and enumerators."""

    def __init__(self, tree: c_ast.FileAST) -> None:
        self._file: dict[str, c_ast.Node] = {}
        self._types: dict[str, c_ast.Node] = {}
        self._tags: dict[str, c_ast.Node] = {}
        self._enumerators: dict[str, c_ast.Node] = {}
        for node in tree.ext:
            self._declare(node)

    def _declare(self, node: c_ast.Node) -> None:
        """Add a file-scope declaration to the tables of names."""
        self._declare_types(node)
        if isinstance(node, c_ast.FuncDef):
            self._file[node.decl.name] = node
        elif isinstance(node, c_ast.Decl) and node.name and not isinstance(node.type, c_ast.FuncDecl):
            known = self._file.get(node.name)
            self._file[node.name] = known if known is not None and known.init else node

    def _declare_types(self, node: c_ast.Node) -> None:
        """Declare the types, structures and enumerators of a declaration."""
        if isinstance(node, c_ast.Typedef):
            self._types[node.name] = node.type
        if isinstance(node, c_ast.Struct | c_ast.Union) and node.decls and node.name:
            self._tags[node.name] = node
        if isinstance(node, c_ast.Enum) and node.values is not None:
            for enumerator in node.values.enumerators:
                self._enumerators[enumerator.name] = node
            if node.name:
                self._tags[node.name] = node
        for _, child in node.children():
            if not isinstance(child, c_ast.Compound | c_ast.InitList):
                self._declare_types(child)


class _Writer(FileScope):
    """Writes the nodes that a function reaches, in order of first occurrence, as words."""

    def __init__(self, tree: c_ast.FileAST) -> None:
        super().__init__(tree)
        self._words: list[str] = []
        self._numbers: dict[object, str] = {}
        self._scopes: list[dict[str, str]] = []
        self._waiting: deque[c_ast.Node] = deque()
        self._visitors: Mapping[str, Callable[[Any], None]] = {
            "ID": self._id,
            "Constant": lambda n: self._words.append(_constant(n)),
            "IdentifierType": self._named_type,
            "TypeDecl": lambda n: self._visit(n.type),
            "Typedef": self._declare_types,
            "Struct": self._structure,
            "Union": self._structure,
            "Enum": self._enumeration,
            "StructRef": self._member,
            "NamedInitializer": self._designated,
            "Decl": self._declaration,
            "FuncDef": self._definition,
            "Compound": self._compound,
            "For": self._scoped,
            "NumberList": lambda n: self._visit(c_ast.InitList(n.exprs)),
            "Label": lambda n: self._visit(n.stmt),
            "Pragma": lambda _: None,
            "EmptyStatement": lambda _: None,
        }

    def write(self, top: str) -> Sequence[str]:
        """Return the words of the top function and of everything that it uses."""
        node = self._file.get(top)
        if not isinstance(node, c_ast.FuncDef):
            raise HlsError("top must be a function of the file", repr(top))
        self._waiting.append(node)
        self._numbers[top] = self._fresh()
        while self._waiting:
            self._visit(self._waiting.popleft())
        return self._words

    def _fresh(self) -> str:
        return f"v{len(self._numbers)}"

    def _number(self, key: object) -> str:
        """Return the canonical name of an object, new at its first occurrence."""
        if key not in self._numbers:
            self._numbers[key] = self._fresh()
        return self._numbers[key]

    def _visit(self, node: c_ast.Node | None) -> None:
        if node is None:
            self._words.append("none")
            return
        kind = type(node).__name__
        visitor = self._visitors.get(kind)
        if visitor is not None:
            visitor(node)
            return
        operator = getattr(node, "op", None)
        children: list[tuple[str, c_ast.Node]] = list(node.children())
        roles = "" if isinstance(node, c_ast.ExprList | c_ast.InitList) else _roles(children)
        self._words.append(f"({kind} {operator or ''} {roles}")
        for _, child in children:
            self._visit(child)
        self._words.append(")")

    def _id(self, node: c_ast.ID) -> None:
        name = str(node.name)
        for scope in reversed(self._scopes):
            if name in scope:
                self._words.append(scope[name])
                return
        if name in self._enumerators and name not in self._file:
            self._words.append(self._number(("enumerator", name)))
            self._reach(self._enumerators[name])
        elif name in self._file:
            if name not in self._numbers:
                self._waiting.append(self._file[name])
            self._words.append(self._number(name))
        else:
            self._words.append(f"external {name}")

    def _reach(self, node: c_ast.Node) -> None:
        key = ("reached", id(node))
        if key not in self._numbers:
            self._numbers[key] = self._fresh()
            self._waiting.append(node)

    def _named_type(self, node: c_ast.IdentifierType) -> None:
        names: list[str] = list(node.names)
        if len(names) == 1 and names[0] in self._types:
            self._visit(self._types[names[0]])
            return
        words = sorted(_ALIASES.get(name, name) for name in names)
        kept = [w for w in words if w != "int"]
        if "char" not in kept:
            kept = [w for w in kept if w != "signed"]
        self._words.append(f"type {' '.join(kept) or 'int'}")

    def _structure(self, node: c_ast.Struct) -> None:
        definition = self._tags.get(node.name, node) if node.name else node
        key = ("type", id(definition))
        seen = key in self._numbers
        self._words.append(f"{type(node).__name__} {self._number(key)}")
        if not seen:
            for member in _nodes(definition.decls):
                self._words.append(self._number(("member", member.name)))
                self._visit(member.type)
            self._words.append(")")

    def _enumeration(self, node: c_ast.Enum) -> None:
        """Write int for the type; the values are written where an enumerator is used."""
        self._words.append("type int")
        if ("reached", id(node)) in self._numbers:
            for enumerator in node.values.enumerators:
                self._words.append(self._number(("enumerator", enumerator.name)))
                self._visit(enumerator.value)

    def _member(self, node: c_ast.StructRef) -> None:
        self._words.append(f"(member {node.type} {self._number(('member', node.field.name))}")
        self._visit(node.name)
        self._words.append(")")

    def _designated(self, node: c_ast.NamedInitializer) -> None:
        self._words.append("(designated")
        for name in node.name:
            if isinstance(name, c_ast.ID):
                self._words.append(self._number(("member", name.name)))
            else:
                self._visit(name)
        self._visit(node.expr)
        self._words.append(")")

    def _declaration(self, node: c_ast.Decl) -> None:
        if isinstance(node.type, c_ast.FuncDecl) or node.name is None:
            self._declare_types(node)
            return
        kept = "static" if self._scopes and "static" in node.storage else ""
        if self._scopes:
            self._declare_types(node.type)
            name = self._number(("object", id(node)))
            self._scopes[-1][str(node.name)] = name
        else:
            name = self._number(node.name)
        self._words.append(f"(declare {kept} {name}")
        self._visit(node.type)
        self._visit(node.init)
        self._words.append(")")

    def _definition(self, node: c_ast.FuncDef) -> None:
        self._scopes = [{}]
        self._words.append(f"(function {self._numbers[node.decl.name]}")
        self._visit(node.decl.type.type)
        for parameter in _nodes(node.decl.type.args.params if node.decl.type.args else None):
            if isinstance(parameter, c_ast.Decl):
                self._declaration(parameter)
        self._visit(node.body)
        self._words.append(")")
        self._scopes = []

    def _compound(self, node: c_ast.Compound) -> None:
        skipped = c_ast.EmptyStatement | c_ast.Pragma
        items = [i for i in _nodes(node.block_items) if not isinstance(i, skipped)]
        if len(items) == 1 and not isinstance(items[0], c_ast.Decl | c_ast.Case | c_ast.Default):
            self._visit(items[0])
            return
        self._scopes.append({})
        self._words.append("{")
        for item in items:
            self._visit(item)
        self._words.append("}")
        self._scopes.pop()

    def _scoped(self, node: c_ast.For) -> None:
        self._scopes.append({})
        self._words.append("(for")
        for part in (node.init, node.cond, node.next, node.stmt):
            self._visit(part)
        self._words.append(")")
        self._scopes.pop()


def _nodes(nodes: list[c_ast.Node] | None) -> list[c_ast.Node]:
    return nodes or []


def _roles(children: Sequence[tuple[str, c_ast.Node]]) -> str:
    """Return the flags of the parts of a node, so that a missing part does not shift the others."""
    return ",".join(name for name, _ in children)


def _constant(node: c_ast.Constant) -> str:
    text = str(node.value)
    if node.type in ("float", "double"):
        hexadecimal = text.lower().startswith("0x")
        try:
            value = float.fromhex(text.rstrip("fFlL")) if hexadecimal else float(text.rstrip("fFlL"))
        except OverflowError:  # of hexadecimal text; decimal text is infinite then
            value = math.inf
        return f"{node.type} {value.hex()}"
    integer = _INTEGER.fullmatch(text)
    if integer is None:
        return f"{node.type} {text}"
    suffix = "".join(sorted(integer[2].lower()))
    octal = len(integer[1]) > 1 and integer[1].isdigit() and integer[1].startswith("0")
    return f"integer {int(integer[1], 8 if octal else 0)}{suffix}"
