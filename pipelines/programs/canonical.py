"""Canonical C of a program: programs that differ in spelling only have one text.

Preprocessed; only what the top function reaches; functions, objects, types, members and labels are named
by their first use; typedefs are resolved and qualifiers dropped; constants are folded; each directive is a
pragma at its loop. The text is C again, less the headers' declarations, and computes the same.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pycparser import c_ast, c_generator

from pipelines.c import HlsError, directives_json, parse_directives
from pipelines.c.ir import Directive
from pipelines.programs.normalised import FileScope, own_tree

TOP = "f0"
"""Name of the top function in canonical text."""
LOOPS = c_ast.For | c_ast.While | c_ast.DoWhile
_LARGEST = (1 << 31) - 1
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]*)")
_NAMED = re.compile(r"\b(variable|reduction|cache)(\s*[=(]\s*)([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalProgram:
    """A program in canonical form.

    Attributes:
        text: C, whose top function is `TOP`.
        objects: canonical name by name, of arguments of the top function and objects of static storage.
        loops: canonical name by name that directives use, of loops without a second copy.
        directives: JSON list of the directives by canonical names; they are pragmas of the text, too.
        functions: syntax trees of the functions by canonical name; that of the top function is `TOP`.
        file_objects: declarations of the objects of file scope.
    """

    text: str
    objects: Mapping[str, str]
    loops: Mapping[str, str]
    directives: str
    functions: Mapping[str, c_ast.FuncDef]
    file_objects: Sequence[c_ast.Decl]

    def loop_name(self, name: str) -> str:
        """Return the canonical name of a loop, also of its copies by further calls; others stay."""
        own = next((known for known in self.loops if is_loop_or_copy(name, known)), None)
        return name if own is None else self.loops[own] + name.removeprefix(own)


@lru_cache(maxsize=16)
def canonical_program(source: str, top: str, directives: str = "[]") -> CanonicalProgram:
    """Return the canonical form of a program with its directives.

    Args:   source: C text; top: name of the function that becomes hardware; directives: JSON list.
    Raises: HlsError: the text is not C11, has no such function, or the directives cannot be read.
            ToolMissing: gcc is not installed.
    """
    asked = parse_directives(directives)
    try:
        return _Canonical(own_tree(source), asked).program(top)
    except RecursionError:
        raise HlsError("expressions and statements must nest less deeply", "nesting too deep") from None


class _Canonical(FileScope):
    """Copies the nodes that a function reaches under canonical names."""

    def __init__(self, tree: c_ast.FileAST, directives: Sequence[Directive]) -> None:
        super().__init__(tree)
        texts = [str(own.string) for own in tree.ext if isinstance(own, c_ast.Pragma)]
        self._sizes = [text.split()[2:] for text in texts if text.split()[:2] == ["simfoundry", "size"]]
        self._directives = directives
        self._names: dict[object, str] = {}
        self._counts: dict[str, int] = {}
        self._scopes: list[dict[str, str]] = []
        self._structures: list[c_ast.Node] = []
        self._objects: list[c_ast.Decl] = []
        self._functions: list[c_ast.FuncDef] = []
        self._early: set[str] = set()
        self._values: dict[str, int] = {}
        self._evaluated: set[int] = set()
        self._labels: dict[str, str] = {}
        self._jumps: frozenset[str] = frozenset()
        self._arguments: dict[str, str] = {}
        self._statics: dict[str, str] = {}
        self._loop_names: dict[int, str] = {}
        self._loops: dict[str, str] = {}
        self._copiers: Mapping[str, Callable[[Any], Any]] = {
            "ID": self._id,
            "Constant": _constant,
            "NumberList": lambda n: c_ast.InitList([self._copied(own) for own in _nodes(n.exprs)]),
            "Decl": self._declaration,
            "Typedef": self._declared,
            "Typename": self._type_name,
            "StructRef": self._member,
            "NamedInitializer": self._designated,
            "BinaryOp": self._binary,
            "UnaryOp": self._unary,
            "TernaryOp": self._conditional,
            "Compound": self._compound,
            "Label": self._label,
            "Goto": self._goto,
            "Pragma": self._pragma,
        }

    def program(self, top: str) -> CanonicalProgram:
        """Return the program of a top function."""
        node = self._file.get(top)
        if not isinstance(node, c_ast.FuncDef):
            raise HlsError("top must be a function of the file", repr(top))
        self._names[top] = TOP
        self._counts["f"] = 1
        self._define(node)
        objects = {
            name: self._names[name]
            for name, own in self._file.items()
            if name in self._names and not isinstance(own, c_ast.FuncDef)
        }
        objects = {**self._statics, **objects, **self._arguments}
        sizes = [c_ast.Pragma(self._renamed_sizes(words)) for words in self._sizes]
        early = [own.decl for own in self._functions if own.decl.name in self._early]
        tree = c_ast.FileAST([*sizes, *self._structures, *early, *self._objects, *self._functions])
        program = CanonicalProgram(
            text=c_generator.CGenerator(reduce_parentheses=True).visit(tree),
            objects=objects,
            loops=dict(self._loops),
            directives="[]",
            functions={own.decl.name: own for own in self._functions},
            file_objects=self._objects,
        )
        renamed = [
            replace(d, loop=program.loop_name(d.loop), variable=objects.get(d.variable, d.variable))
            for d in self._directives
        ]
        return replace(program, directives=directives_json(renamed))

    # ---- names ------------------------------------------------------------------------------------

    def _fresh(self, kind: str) -> str:
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        return f"{kind}{number}"

    def _named(self, key: object, kind: str) -> str:
        """Return the canonical name of an object, new at its first use."""
        if key not in self._names:
            self._names[key] = self._fresh(kind)
        return self._names[key]

    def _id(self, node: c_ast.ID) -> c_ast.Node:
        name = str(node.name)
        for scope in reversed(self._scopes):
            if name in scope:
                return c_ast.ID(scope[name])
        definition = self._file.get(name)
        if isinstance(definition, c_ast.FuncDef):
            own = self._reach(name, definition)
            if not self._scopes:  # in an initialiser, which stands before the functions
                self._early.add(own)
            return c_ast.ID(own)
        if definition is not None:
            return c_ast.ID(self._object(name, definition))
        if name in self._enumerators:
            self._evaluate(self._enumerators[name])
            return _number(self._values[name]) if name in self._values else c_ast.ID(name)
        return c_ast.ID(name)

    def _reach(self, name: str, definition: c_ast.FuncDef) -> str:
        if name not in self._names:
            self._names[name] = self._fresh("f")
            outer = self._scopes, self._labels, self._jumps
            self._define(definition)
            self._scopes, self._labels, self._jumps = outer
        return self._names[name]

    def _object(self, name: str, definition: c_ast.Node) -> str:
        if name not in self._names:
            self._names[name] = self._fresh("g")
            outer, self._scopes = self._scopes, []
            kind = self._type(definition.type, self._names[name])
            self._objects.append(_declaration(self._names[name], kind, self._copied(definition.init)))
            self._scopes = outer
        return self._names[name]

    def _evaluate(self, node: c_ast.Node) -> None:
        """Take up the values of an enumeration's constants, as far as they are known."""
        if id(node) in self._evaluated:
            return
        self._evaluated.add(id(node))
        following: int | None = 0
        for enumerator in node.values.enumerators:
            if enumerator.value is not None:
                following = _value(self._copied(enumerator.value))
            if following is not None:
                self._values[enumerator.name] = following
                following += 1

    # ---- loops and directives ---------------------------------------------------------------------

    def _name_loops(self, definition: c_ast.FuncDef) -> None:
        """Name the loops of a function as directives do, in its text and in canonical text."""
        name, own = str(definition.decl.name), self._names[str(definition.decl.name)]
        prefixes = ("", "") if own == TOP else (f"{name}_", f"{own}_")
        for number, (loop, label) in enumerate(loops_of(definition.body)):
            self._loop_names[id(loop)] = f"{prefixes[0]}{label or f'L{number}'}"
            self._loops[self._loop_names[id(loop)]] = f"{prefixes[1]}L{number}"

    def _pragmas(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Return the directives of a loop as pragmas."""
        name = self._loop_names.get(id(node))
        return [
            self._spelled(d) for d in self._directives if d.loop and name and is_loop_or_copy(d.loop, name)
        ]

    def _spelled(self, directive: Directive) -> c_ast.Node:
        words = [directive.kind, directive.style]
        words += [f"variable={self._variable(directive.variable)}"] if directive.variable else []
        numbers = (("value", directive.value), ("dim", directive.dimension))
        words += [f"{name}={number}" for name, number in numbers if number is not None]
        return c_ast.Pragma(" ".join(("HLS", *(word for word in words if word))))

    def _renamed_sizes(self, words: Sequence[str]) -> str:
        """Return the sizes of pointer arguments of the top function under their canonical names."""
        pairs = [word.partition("=") for word in words]
        own = [f"{self._arguments[name]}={size}" for name, _, size in pairs if name in self._arguments]
        return " ".join(("simfoundry size", *own))

    def _variable(self, name: str) -> str:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return self._names.get(name, name)

    def _renamed_word(self, match: re.Match[str]) -> str:
        return f"{match[1]}{match[2]}{self._variable(match[3])}"

    # ---- types ------------------------------------------------------------------------------------

    def _type(self, node: Any, name: str | None) -> c_ast.Node:
        """Return a type without typedefs and qualifiers, declaring a name."""
        match node:
            case c_ast.PtrDecl():
                return c_ast.PtrDecl([], self._type(node.type, name))
            case c_ast.ArrayDecl():
                size = self._copied(node.dim)
                return c_ast.ArrayDecl(self._type(node.type, name), size, [])
            case c_ast.FuncDecl():
                return c_ast.FuncDecl(self._parameter_types(node), self._type(node.type, name))
            case c_ast.TypeDecl():
                return self._innermost(node.type, name)
            case _:
                return copy.copy(node)

    def _parameter_types(self, node: c_ast.FuncDecl) -> c_ast.ParamList | None:
        if node.args is None:
            return None
        kinds = [self._type(p.type, None) if hasattr(p, "type") else p for p in node.args.params]
        return c_ast.ParamList([c_ast.Typename(None, [], None, kind) for kind in kinds])

    def _innermost(self, node: Any, name: str | None) -> c_ast.Node:
        match node:
            case c_ast.IdentifierType():
                words: list[str] = list(node.names)
                if len(words) == 1 and words[0] in self._types:
                    return self._type(self._types[words[0]], name)
                own: c_ast.Node = c_ast.IdentifierType(_spelled_type(words))
            case c_ast.Struct() | c_ast.Union():
                own = type(node)(self._structure(node), None)
            case c_ast.Enum():
                own = c_ast.IdentifierType(["int"])
            case _:
                own = copy.copy(node)
        return c_ast.TypeDecl(name, [], None, own)

    def _structure(self, node: Any) -> str:
        """Return the name of a structure; it is defined after those that it holds."""
        definition = self._tags.get(node.name, node) if node.name else node
        key = ("type", id(definition))
        if key not in self._names:
            name = self._named(key, "s")
            if definition.decls is not None:
                members = [self._member_declaration(member) for member in definition.decls]
                kind = type(definition)(name, [m for m in members if m is not None])
                self._structures.append(_declaration(None, kind))
        return self._names[key]

    def _member_declaration(self, member: Any) -> c_ast.Node | None:
        if not isinstance(member, c_ast.Decl):
            return None
        if member.name is None and isinstance(member.type, c_ast.Struct | c_ast.Union):
            inner = [self._member_declaration(own) for own in _nodes(member.type.decls)]
            return _declaration(None, type(member.type)(None, [m for m in inner if m is not None]))
        name = None if member.name is None else self._named(("member", member.name), "m")
        declared = _declaration(name, self._type(member.type, name))
        declared.bitsize = self._copied(member.bitsize)
        return declared

    # ---- expressions ------------------------------------------------------------------------------

    def _copied(self, node: Any) -> Any:
        """Return the copy of a node; a list where a statement has pragmas, None where nothing is left."""
        if node is None:
            return None
        if isinstance(node, LOOPS):
            pragmas = self._pragmas(node)
            loop = self._for(node) if isinstance(node, c_ast.For) else self._parts(node)
            return [*pragmas, loop] if pragmas else loop
        copier = self._copiers.get(type(node).__name__)
        return copier(node) if copier is not None else self._parts(node)

    def _parts(self, node: c_ast.Node) -> c_ast.Node:
        """Return a node with each of its parts copied."""
        copied = copy.copy(node)
        for slot in node.__slots__:
            part = getattr(node, slot, None)
            if isinstance(part, c_ast.Node):
                setattr(copied, slot, self._part(node, slot, part))
            elif isinstance(part, list) and any(isinstance(own, c_ast.Node) for own in _nodes(part)):
                setattr(copied, slot, _flat([self._copied(own) for own in _nodes(part)]))
        return copied

    def _part(self, node: c_ast.Node, slot: str, part: c_ast.Node) -> Any:
        copied = self._copied(part)
        if isinstance(copied, list):
            return c_ast.Compound(copied)
        is_statement = slot in ("stmt", "iftrue", "iffalse", "body") and not isinstance(node, c_ast.TernaryOp)
        if is_statement and (copied is None or isinstance(copied, c_ast.Pragma | c_ast.Decl)):
            return c_ast.Compound([copied] if copied is not None else [])
        return copied

    def _type_name(self, node: c_ast.Typename) -> c_ast.Node:
        return c_ast.Typename(None, [], None, self._type(node.type, None))

    def _member(self, node: c_ast.StructRef) -> c_ast.Node:
        field_name = c_ast.ID(self._named(("member", node.field.name), "m"))
        return c_ast.StructRef(self._copied(node.name), node.type, field_name)

    def _designated(self, node: c_ast.NamedInitializer) -> c_ast.Node:
        names = [
            c_ast.ID(self._named(("member", own.name), "m"))
            if isinstance(own, c_ast.ID)
            else self._copied(own)
            for own in node.name
        ]
        return c_ast.NamedInitializer(names, self._copied(node.expr))

    def _binary(self, node: c_ast.BinaryOp) -> c_ast.Node:
        left, right = self._copied(node.left), self._copied(node.right)
        a, b = _value(left), _value(right)
        result = None if a is None or b is None else _folded(node.op, a, b)
        return c_ast.BinaryOp(node.op, left, right) if result is None else _number(result)

    def _unary(self, node: c_ast.UnaryOp) -> c_ast.Node:
        operand = self._copied(node.expr)
        value = _value(operand) if node.op in _UNARY else None
        if value is not None and isinstance(operand, c_ast.Constant | c_ast.UnaryOp):
            result = _UNARY[node.op](value)
            if abs(result) <= _LARGEST:
                return _number(result)
        return c_ast.UnaryOp(node.op, operand)

    def _conditional(self, node: c_ast.TernaryOp) -> c_ast.Node:
        condition = self._copied(node.cond)
        value = _value(condition)
        yes, no = self._copied(node.iftrue), self._copied(node.iffalse)
        if value is not None and _value(yes) is not None and _value(no) is not None:
            return yes if value else no
        return c_ast.TernaryOp(condition, yes, no)

    # ---- statements and declarations --------------------------------------------------------------

    def _declared(self, node: c_ast.Node) -> None:
        self._declare_types(node)

    def _declaration(self, node: c_ast.Decl) -> c_ast.Node | None:
        self._declare_types(node.type)
        if isinstance(node.type, c_ast.FuncDecl) or node.name is None:
            return None
        if "extern" in node.storage:
            return None
        name = self._fresh("v")
        kind = self._type(node.type, name)
        self._scopes[-1][str(node.name)] = name
        if "static" in node.storage:
            self._statics.setdefault(str(node.name), name)
        return _declaration(name, kind, self._copied(node.init), "static" in node.storage)

    def _define(self, node: c_ast.FuncDef) -> None:
        """Copy a function; those that it calls come before it."""
        name, kind = str(node.decl.name), node.decl.type
        self._name_loops(node)
        self._scopes, self._labels = [{}], {}
        self._jumps = frozenset(own.name for own in walk(node.body) if isinstance(own, c_ast.Goto))
        older = [own for own in _nodes(node.param_decls) if isinstance(own, c_ast.Decl)]
        declared: dict[Any, Any] = {own.name: own for own in older}
        written: list[Any] = list(kind.args.params) if kind.args else []
        parameters = [self._parameter(declared.get(own.name, own) if declared else own) for own in written]
        if self._names[name] == TOP:
            self._arguments = dict(self._scopes[0])
        arguments = c_ast.ParamList(parameters) if parameters else None
        head = c_ast.FuncDecl(arguments, self._type(kind.type, self._names[name]))
        free = [self._spelled(d) for d in self._directives if not d.loop] if self._names[name] == TOP else []
        body = c_ast.Compound([*free, *_flat([self._copied(i) for i in _nodes(node.body.block_items)])])
        self._functions.append(c_ast.FuncDef(_declaration(self._names[name], head), None, body))

    def _parameter(self, node: Any) -> c_ast.Node:
        match node:
            case c_ast.Decl() if node.name:
                name = self._fresh("v")
                declared = _declaration(name, self._type(node.type, name))
                self._scopes[-1][node.name] = name
                return declared
            case c_ast.Typename() | c_ast.Decl():
                return c_ast.Typename(None, [], None, self._type(node.type, None))
            case _:
                return node

    def _compound(self, node: c_ast.Compound) -> c_ast.Node:
        self._scopes.append({})
        items = _flat([self._copied(item) for item in _nodes(node.block_items)])
        self._scopes.pop()
        return c_ast.Compound(items)

    def _for(self, node: c_ast.For) -> c_ast.Node:
        self._scopes.append({})
        copied = self._parts(node)
        self._scopes.pop()
        return copied

    def _label(self, node: c_ast.Label) -> Any:
        statement = self._copied(node.stmt)
        if node.name not in self._jumps:
            return statement
        if statement is None or isinstance(statement, list):
            statement = c_ast.Compound(statement or [])
        return c_ast.Label(self._label_name(node.name), statement)

    def _goto(self, node: c_ast.Goto) -> c_ast.Node:
        return c_ast.Goto(self._label_name(node.name))

    def _label_name(self, name: str) -> str:
        return self._labels.setdefault(name, f"l{len(self._labels)}")

    def _pragma(self, node: c_ast.Pragma) -> c_ast.Node | None:
        text = " ".join(str(node.string).split()) if isinstance(node.string, str) else ""
        if text.split(" ")[0] not in ("HLS", "ACCEL", "omp", "unroll"):
            return None
        return c_ast.Pragma(_NAMED.sub(self._renamed_word, text))


def _nodes(nodes: Any) -> list[Any]:
    return list(nodes or [])


def _declaration(name: str | None, kind: c_ast.Node, init: Any = None, is_static: bool = False) -> c_ast.Decl:
    return c_ast.Decl(name, [], [], ["static"] if is_static else [], [], kind, init, None)


def _flat(items: Sequence[Any]) -> list[Any]:
    """Return statements in one list, without those of which nothing is left."""
    flat: list[Any] = []
    for item in items:
        flat += item if isinstance(item, list) else [item]
    return [item for item in flat if item is not None and not isinstance(item, c_ast.EmptyStatement)]


def walk(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield a node and everything inside it, in the order of the text."""
    yield node
    for _, child in node.children():
        yield from walk(child)


def loops_of(body: c_ast.Node) -> Iterator[tuple[c_ast.Node, str | None]]:
    """Yield the loops of a function with their labels, in the order of the text."""
    labels = {id(own.stmt): str(own.name) for own in walk(body) if isinstance(own, c_ast.Label)}
    for own in walk(body):
        if isinstance(own, LOOPS):
            yield own, labels.get(id(own))


def is_loop_or_copy(name: str, loop: str) -> bool:
    """Tell whether a name is a loop's, or that of its copy by a further call (<loop>_<number>)."""
    return re.fullmatch(rf"{re.escape(loop)}(_\d+)*", name) is not None


def _spelled_type(words: Sequence[str]) -> list[str]:
    """Return one spelling of a basic type: `unsigned` is `unsigned int`, `long long int` is `long`."""
    kept = [w for w in sorted(words) if w not in ("int", "__signed__", "__signed")]
    if "char" not in kept:
        kept = [w for w in kept if w != "signed"]
    kept = [w for n, w in enumerate(kept) if w != "long" or "long" not in kept[:n]]
    order = ("signed", "unsigned", "short", "long")
    kept.sort(key=lambda w: order.index(w) if w in order else len(order))
    return kept if kept and kept != ["unsigned"] else [*kept, "int"]


def _constant(node: c_ast.Constant) -> c_ast.Node:
    """Return a constant in one spelling; floating ones by their shortest decimals."""
    text = str(node.value)
    if node.type in ("float", "double", "long double"):
        plain = text.rstrip("fFlL") if not text.lower().startswith("0x") else text.rstrip("lL")
        try:
            value = float.fromhex(plain) if plain.lower().startswith("0x") else float(plain)
        except (ValueError, OverflowError):
            return node
        if not math.isfinite(value):
            return node
        return c_ast.Constant(node.type, repr(value) + ("f" if node.type == "float" else ""))
    if node.type == "char" and len(text) == 3:
        return _number(ord(text[1]))
    integer = _INTEGER.fullmatch(text)
    if integer is None:
        return node
    octal = integer[1].isdigit() and integer[1].startswith("0") and len(integer[1]) > 1
    value = int(integer[1], 8 if octal else 0)
    decimal = integer[1].isdigit() and not octal
    if not decimal and value > _LARGEST:
        return node  # an unsigned type may hold it
    suffix = ("U" if "u" in integer[2].lower() else "") + ("L" if "l" in integer[2].lower() else "")
    return c_ast.Constant(node.type, f"{value}{suffix}")


def _number(value: int) -> c_ast.Node:
    """Return an int as a constant, one below zero as a negation."""
    constant = c_ast.Constant("int", str(abs(value)))
    return constant if value >= 0 else c_ast.UnaryOp("-", constant)


def _value(node: Any) -> int | None:
    """Return the value of a constant of type int, None of anything else."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        value = _value(node.expr)
        return None if value is None else -value
    if isinstance(node, c_ast.Constant) and node.type == "int" and str(node.value).isdecimal():
        value = int(node.value)
        return value if value <= _LARGEST else None
    return None


_UNARY: Mapping[str, Callable[[int], int]] = {
    "-": int.__neg__,
    "+": int.__pos__,
    "~": int.__invert__,
    "!": lambda value: int(value == 0),
}
_BINARY: Mapping[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
    "<": int.__lt__,
    "<=": int.__le__,
    ">": int.__gt__,
    ">=": int.__ge__,
    "==": int.__eq__,
    "!=": int.__ne__,
    "&&": lambda a, b: bool(a and b),
    "||": lambda a, b: bool(a or b),
}


def _folded(name: str, a: int, b: int) -> int | None:
    """Return the value of an operator on ints, None where C leaves it undefined or a wider type holds it."""
    match name:
        case "/" | "%" if b:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            value = quotient if name == "/" else a - quotient * b
        case "<<" if a >= 0 and 0 <= b < 31:
            value = a << b
        case ">>" if 0 <= b < 32:
            value = a >> b
        case _ if name in _BINARY:
            value = int(_BINARY[name](a, b))
        case _:
            return None
    return value if abs(value) <= _LARGEST else None
