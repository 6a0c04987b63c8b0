"""A program of the generators as directives and a syntax tree, and how it is written."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any

from pycparser import c_ast, c_generator, c_parser

from pipelines.c.signature import (
    DOUBLE,
    FLOAT,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ScalarType,
)
from pipelines.programs.errors import ProgramError

SPELLINGS: dict[str, ScalarType] = {
    "signed char": INT8,
    "short": INT16,
    "int": INT32,
    "long": INT64,
    "unsigned char": UINT8,
    "unsigned short": UINT16,
    "unsigned": UINT32,
    "unsigned int": UINT32,
    "unsigned long": UINT64,
    "size_t": UINT64,
    "float": FLOAT,
    "double": DOUBLE,
    "bool": UINT8,
} | {t.c_name: t for t in (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)}
"""Names of types that programs have, for a machine with long of 64 bits."""

_TYPEDEFS = "".join(
    f"typedef {base} {name};\n"
    for name, base in {
        "int8_t": "signed char",
        "int16_t": "short",
        "int32_t": "int",
        "int64_t": "long",
        "uint8_t": "unsigned char",
        "uint16_t": "unsigned short",
        "uint32_t": "unsigned",
        "uint64_t": "unsigned long",
        "size_t": "unsigned long",
        "bool": "unsigned char",
    }.items()
)
_TYPEDEF_COUNT = _TYPEDEFS.count("\n")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_INTEGER_MACRO = re.compile(r"#define (\w+) (\d+)$")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)")


class Comment(c_ast.Node):
    """A comment that stands like a statement."""

    __slots__ = ("coord", "text")
    attr_names = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text
        self.coord = None

    def children(self) -> tuple[tuple[str, c_ast.Node], ...]:
        """Return nothing: a comment has no parts."""
        return ()


@dataclass(slots=True, kw_only=True)
class Unit:
    """A program while it is rewritten.

    Attributes:
        random: draws of this program's rewriting.
        includes: headers in angle brackets.
        macros: value of each size macro.
        directives: other macros, whole lines, which stand behind the sizes.
        typedefs: declarations of types, whole text, which stand behind the macros.
        tree: functions and objects of the file, macros as they are named.
        top: name of the top function.
        names: every name in use.
    """

    random: Random
    includes: list[str]
    macros: dict[str, int]
    directives: list[str]
    typedefs: list[str] = field(default_factory=list[str])
    tree: c_ast.FileAST
    top: str
    names: set[str]

    @property
    def functions(self) -> list[c_ast.FuncDef]:
        """The functions in the order of the file."""
        return [node for node in self.tree.ext if isinstance(node, c_ast.FuncDef)]

    def fresh(self, *stems: str) -> str:
        """Return a name not yet in use: the first stem that is free, else the first with a number."""
        candidates = [*stems, *(f"{stems[0]}{n}" for n in range(2, 1000))]
        name = next(c for c in candidates if c not in self.names)
        self.names.add(name)
        return name

    def chance(self, probability: float) -> bool:
        """Draw whether something is done."""
        return self.random.random() < probability


def read_unit(source: str, *, top: str, random: Random) -> Unit:
    """Read a program of a generator without expanding its macros.

    Raises: ProgramError: it is no text of the generators.
    """
    includes: list[str] = []
    macros: dict[str, int] = {}
    directives: list[str] = []
    lines: list[str] = []
    for line in _COMMENT.sub(" ", source).splitlines():
        integer = _INTEGER_MACRO.match(line)
        if line.startswith("#include"):
            includes.append(line.split("<")[1].rstrip(">"))
        elif integer:
            macros[integer[1]] = int(integer[2])
        elif line.startswith("#"):
            directives.append(line)
        else:
            lines.append(line)
    try:
        tree = parse_c("\n".join(lines))
    except c_parser.ParseError as error:
        raise ProgramError(f"a program without expanded macros must parse, got {error}") from error
    _add_braces(tree)
    return Unit(
        random=random,
        includes=includes,
        macros=macros,
        directives=directives,
        tree=tree,
        top=top,
        names=set(re.findall(r"[A-Za-z_]\w*", source)),
    )


def parse_c(text: str) -> c_ast.FileAST:
    """Parse text that may use the types of the headers."""
    tree = c_parser.CParser().parse(_TYPEDEFS + text)
    tree.ext = tree.ext[_TYPEDEF_COUNT:]
    return tree


@lru_cache(maxsize=256)
def _parsed_statements(text: str) -> list[c_ast.Node]:
    return list(parse_c(f"void f(void) {{ {text} }}").ext[0].body.block_items)


def statements(text: str) -> list[c_ast.Node]:
    """Return new nodes of some statements."""
    return copy.deepcopy(_parsed_statements(text))


def statement(text: str) -> Any:
    """Return a new node of one statement."""
    return statements(text)[0]


def expression(text: str) -> Any:
    """Return a new node of an expression."""
    return statement(f"return {text};").expr


def write_unit(unit: Unit) -> str:
    """Return the text of a program."""
    blocks = ["\n".join(f"#include <{name}>" for name in unit.includes)]
    blocks.append("\n".join([*(f"#define {n} {v}" for n, v in unit.macros.items()), *unit.directives]))
    blocks += unit.typedefs
    blocks += [_layout(_Generator(reduce_parentheses=True).visit(c_ast.FileAST([n]))) for n in unit.tree.ext]
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n"


class _Generator(c_generator.CGenerator):
    """The library's writer with comments, and without the parentheses around casts."""

    def visit_Comment(self, node: Comment) -> str:  # noqa: N802 - the library's naming
        return node.text

    def visit_Cast(self, n: Any) -> str:  # noqa: N802
        kind = self._generate_type(n.to_type, emit_declname=False)
        return f"({kind}){self._parenthesize_unless_simple(n.expr)}"

    def visit_UnaryOp(self, n: Any) -> str:  # noqa: N802
        walked = n.op == "*" and isinstance(n.expr, c_ast.UnaryOp) and n.expr.op == "p++"
        parent: Any = super()
        return f"*{self.visit(n.expr)}" if walked else str(parent.visit_UnaryOp(n))

    def visit_BinaryOp(self, n: Any) -> str:  # noqa: N802
        left, right = self._inside(n, n.left, right=False), self._inside(n, n.right, right=True)
        return f"{left} {n.op} {right}"

    def visit_TernaryOp(self, n: Any) -> str:  # noqa: N802
        parts = [self.visit(p) for p in (n.cond, n.iftrue, n.iffalse)]
        nested = [isinstance(p, c_ast.TernaryOp) for p in (n.cond, n.iftrue, n.iffalse)]
        condition, then, other = (f"({t})" if k else t for t, k in zip(parts, nested, strict=True))
        return f"{condition} ? {then} : {other}"

    def _inside(self, outer: Any, node: Any, *, right: bool) -> str:
        text = str(self.visit(node))
        if isinstance(node, c_ast.TernaryOp | c_ast.Assignment):
            return f"({text})"
        if not isinstance(node, c_ast.BinaryOp):
            return text
        order = self.precedence_map
        weaker = order[node.op] < order[outer.op] or (right and order[node.op] == order[outer.op])
        mixed = node.op != outer.op and {node.op, outer.op} & set(_BIT_OPERATORS)
        return f"({text})" if weaker or mixed or {node.op, outer.op} == {"&&", "||"} else text

    def _is_simple_node(self, n: Any) -> bool:
        walked = isinstance(n, c_ast.UnaryOp) and n.op == "*"
        parent: Any = super()
        return isinstance(n, c_ast.Cast) or walked or bool(parent._is_simple_node(n))


_BIT_OPERATORS = ("&", "|", "^", "<<", ">>")
_LINE = 100


def text_of(node: c_ast.Node) -> str:
    """Return the text of a node, equal for equal trees."""
    return str(_Generator(reduce_parentheses=True).visit(node))


def _layout(text: str) -> str:
    """Return a text with four spaces per level, braces at the end of lines and no long heads of functions."""
    text = re.sub(r"(?m)^ +", lambda m: m[0] * 2, text)
    text = re.sub(r"(\)|\bdo)\n *\{", r"\1 {", text)
    text = re.sub(r"\}\n *else\n *\{", "} else {", text)
    text = re.sub(r"\belse\n *(if|\{)", r"else \1", text)
    text = re.sub(r"\}\n *(while \([^\n]*\);)", r"} \1", text)
    text = re.sub(r"\n\n+", "\n", text)
    joined = re.compile(r"(?m)^( *)(int|long|unsigned|\w+_t) (\w+(?:, \w+)*);\n\1\2 (\w+);$")
    while joined.search(text):
        text = joined.sub(r"\1\2 \3, \4;", text)
    return "\n".join(_wrapped(line) for line in text.split("\n"))


def _wrapped(line: str) -> str:
    """Write the parameters of a function's head into lines."""
    if len(line) <= _LINE or line.startswith(" ") or "(" not in line or not line.endswith("{"):
        return line
    head, _, rest = line.partition("(")
    pad = " " * (len(head) + 1)
    lines = [head + "("]
    for part in rest.split(", "):
        if len(lines[-1]) + len(part) > _LINE and lines[-1].strip() != head + "(":
            lines.append(pad)
        lines[-1] += part + ("" if part.endswith("{") else ", ")
    return "\n".join(own.rstrip() for own in lines)


# ---- nodes ---------------------------------------------------------------------------------------------


def walk(node: c_ast.Node | None) -> Iterator[Any]:
    """Yield a node and all nodes inside it, outer ones first."""
    if node is None:
        return
    yield node
    for _, child in node.children():
        yield from walk(child)


def replace_nodes(node: Any, change: Callable[[Any], Any]) -> Any:
    """Replace nodes by what `change` returns for them, inner ones first; return the new outermost one."""
    for slot, child in node.children():
        set_child(node, slot, replace_nodes(child, change))
    return change(node)


def set_child(node: Any, slot: str, child: Any) -> None:
    """Put a node in the place that `children` calls `slot`."""
    name, _, index = slot.partition("[")
    if index:
        getattr(node, name)[int(index.rstrip("]"))] = child
    else:
        setattr(node, name, child)


def blocks_of(node: c_ast.Node) -> list[Any]:
    """Return every block of statements, inner ones first."""
    return [n for n in reversed(list(walk(node))) if isinstance(n, c_ast.Compound)]


def _add_braces(tree: c_ast.FileAST) -> None:
    """Put every body of a loop or a condition in braces."""
    for node in list(walk(tree)):
        if isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile):
            node.stmt = _block(node.stmt)
        elif isinstance(node, c_ast.If):
            node.iftrue = _block(node.iftrue)
            if node.iffalse is not None and not isinstance(node.iffalse, c_ast.If):
                node.iffalse = _block(node.iffalse)
        elif isinstance(node, c_ast.Compound) and node.block_items is None:
            node.block_items = []


def _block(node: Any) -> c_ast.Compound:
    return node if isinstance(node, c_ast.Compound) else c_ast.Compound([node])


_BARE = (c_ast.Assignment, c_ast.UnaryOp, c_ast.FuncCall, c_ast.Break, c_ast.Continue, c_ast.Return)


def drop_braces(unit: Unit) -> None:
    """Write bodies of one simple statement without braces."""

    def bare(body: Any) -> Any:
        single = isinstance(body, c_ast.Compound) and len(body.block_items or ()) == 1
        return body.block_items[0] if single and isinstance(body.block_items[0], _BARE) else body

    for node in walk(unit.tree):
        if isinstance(node, c_ast.For | c_ast.While):
            node.stmt = bare(node.stmt)
        elif isinstance(node, c_ast.If):
            parts = bare(node.iftrue), None if node.iffalse is None else bare(node.iffalse)
            if not any(isinstance(p, c_ast.Compound) for p in parts):
                node.iftrue, node.iffalse = parts


def integer_literal(node: Any) -> tuple[int, str] | None:
    """Return value and suffix of an integer literal; None for other nodes."""
    if not isinstance(node, c_ast.Constant) or "int" not in str(node.type):
        return None
    match = _INTEGER.fullmatch(str(node.value))
    return None if match is None else (int(match[1], 0), match[2].lower())


def type_name(node: Any) -> str:
    """Return the spelling of the scalar type under a declarator."""
    while not isinstance(node, c_ast.IdentifierType):
        if isinstance(node, c_ast.Struct):
            return f"struct {node.name}"
        node = node.type
    return " ".join(node.names)


def set_type_name(node: Any, name: str) -> None:
    """Set the spelling of the scalar type under a declarator."""
    while not isinstance(node, c_ast.IdentifierType):
        node = node.type
    node.names = name.split()
