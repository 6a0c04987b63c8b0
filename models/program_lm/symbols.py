"""Tokens of C as the model reads it, the symbols of a program, and intervals of their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, mul, sub

from pycparser import c_ast

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<line>\#[^\n]*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fFlL]?"
    r"|\d+[eE][+-]?\d+[fFlL]?|\d+[uUlL]*)"
    r"|(?P<operator><<=|>>=|\+\+|--|&&|\|\||<=|>=|==|!=|<<|>>|[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])",
    re.DOTALL,
)
_CONSTANT = re.compile(r"#\s*define\s+([A-Za-z_]\w*)\s+(\d+)\s*$")
_FUNCTION = re.compile(r"#\s*define\s+([A-Za-z_]\w*)\(([^)]*)\)")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OPERATIONS = {"+": add, "-": sub, "*": mul}
_INCLUDE = re.compile(r"#\s*include\s+<[a-z]+\.h>\s*$")

NAME, NUMBER, OPERATOR = "name", "number", "operator"


class SourceError(ValueError):
    """A program is outside the subset that the model reads; the message says where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token and where it stands.

    Attributes:
        kind: NAME, NUMBER or OPERATOR.
        start, end: its characters in the source, half open.
    """

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexed:
    """The tokens of a program.

    Attributes:
        constants: macros that are integers.
        macros: number of arguments of each macro with arguments.
        partners: number of the token that closes each opening bracket, by the number of that.
    """

    tokens: tuple[Token, ...]
    constants: dict[str, int]
    macros: dict[str, int]
    partners: dict[int, int]


def lex(source: str) -> Lexed:
    """Return the tokens of a program.

    Raises: SourceError: a character or a preprocessor line outside the subset.
    """
    tokens: list[Token] = []
    constants: dict[str, int] = {}
    macros: dict[str, int] = {}
    place = 0
    while place < len(source):
        match = _TOKEN.match(source, place)
        if match is None:
            raise SourceError(f"a program must be of known tokens, got {source[place]!r} (character {place})")
        kind = match.lastgroup or ""
        if kind == "line":
            _read_line(match[0], constants, macros)
        elif kind != "space":
            tokens.append(Token(kind=kind, text=match[0], start=place, end=match.end()))
        place = match.end()
    return Lexed(tokens=tuple(tokens), constants=constants, macros=macros, partners=_pair_brackets(tokens))


def _pair_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    partners: dict[int, int] = {}
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.text in _CLOSING:
            opened.append(at)
        elif token.text in _CLOSING.values():
            if not opened or _CLOSING[tokens[opened[-1]].text] != token.text:
                raise SourceError(f"brackets must pair, got {token.text} (token {at})")
            partners[opened.pop()] = at
    if opened:
        raise SourceError(f"{_CLOSING[tokens[opened[-1]].text]} must follow, got the end")
    return partners


def _read_line(line: str, constants: dict[str, int], macros: dict[str, int]) -> None:
    if constant := _CONSTANT.match(line):
        constants[constant[1]] = int(constant[2])
    elif function := _FUNCTION.match(line):
        macros[function[1]] = function[2].count(",") + 1
    elif not _INCLUDE.match(line):
        raise SourceError(f"a preprocessor line must be #include <...> or a plain #define, got {line[:80]}")


EXPRESSION, CONDITION, STATEMENT, LOOP = "expression", "condition", "statement", "loop"
SITE_KINDS = (EXPRESSION, CONDITION, STATEMENT, LOOP)

SINGLE_TYPES = (
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("int", "short", "long", "unsigned", "char", "float", "double"),
)

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A name and what may be done with it.

    Attributes:
        type: words of its type, as the program spells them.
        shape: extents of an array, outermost first; empty for a number.
        assignable: whether a new statement may write it.
        interval: least and largest value, of a constant or of a loop's variable where they are known.
        most: of a length that is known at run time only: its largest value, from the subscripts it bounds.
        constant: a macro.
        loop: the variable of a counted loop.
        order: place of its declaration among all of the program.
    """

    name: str
    type: str
    shape: tuple[int, ...] = ()
    assignable: bool = True
    interval: Interval | None = None
    most: int | None = None
    constant: bool = False
    loop: bool = False
    order: int = 0

    @property
    def floating(self) -> bool:
        """Whether its values are float or double."""
        return self.type in ("float", "double")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSymbol:
    """A function of numbers that a program defines, or a macro with arguments.

    Attributes:
        floating: whether its result is float or double.
        arguments: whether each argument is.
        order: as a symbol's.
    """

    name: str
    floating: bool
    arguments: tuple[bool, ...]
    order: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Tokens that could be replaced.

    Attributes:
        kind: of SITE_KINDS.
        first, last: tokens, half open; equal where something could be inserted.
        begin, end: tokens of the body of the function around it, half open.
        scope: names that may be used, by declaration.
        integer: of an expression: its value must be an integer.
        single: of a statement: exactly one may stand there, and no declaration.
        trips: iterations of all loops around it, as far as they are known.
        depth: loops around it.
    """

    kind: str
    first: int
    last: int
    begin: int
    end: int
    scope: tuple[Symbol, ...]
    integer: bool = False
    single: bool = False
    trips: int = 1
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadProgram:
    """A program with its sites.

    Attributes:
        functions: that numbers can be given to, of the program's own and its macros.
    """

    source: str
    lexed: Lexed
    functions: tuple[FunctionSymbol, ...]
    sites: tuple[Site, ...]

    @property
    def tokens(self) -> tuple[Token, ...]:
        """All tokens but preprocessor lines."""
        return self.lexed.tokens

    @property
    def names(self) -> frozenset[str]:
        """Every name of the program."""
        words = {token.text for token in self.tokens if token.kind == NAME}
        return frozenset(words | set(self.lexed.constants) | set(self.lexed.macros))

    @property
    def has_double(self) -> bool:
        """Whether floating numbers are double rather than float."""
        return any(t.text == "double" for t in self.tokens)


MOST_NESTING = 60


def interval_of(node: c_ast.Node, scope: Sequence[Symbol]) -> Interval | None:
    """Return the least and largest value of an expression; None when they are not known."""
    match node:
        case c_ast.Constant(value=text):
            return (int(text), int(text)) if text.isdecimal() else None
        case c_ast.ID(name=name):
            return next((s.interval for s in reversed(scope) if s.name == name), None)
        case c_ast.BinaryOp(op="+" | "-" | "*" as operator, left=left, right=right):
            one, other = interval_of(left, scope), interval_of(right, scope)
            if one is None or other is None:
                return None
            corners = [_OPERATIONS[operator](a, b) for a in one for b in other]
            return min(corners), max(corners)
        case c_ast.FuncCall(name=c_ast.ID(name="MIN"), args=c_ast.ExprList(exprs=[left, right])):
            one, other = interval_of(left, scope), interval_of(right, scope)
            if one is None or other is None:
                return one or other
            return min(one[0], other[0]), min(one[1], other[1])
        case _:
            return None


def both_intervals(one: Interval | None, other: Interval | None) -> Interval | None:
    """Intersect two statements about a range."""
    if one is None or other is None:
        return one or other
    overlap = max(one[0], other[0]), min(one[1], other[1])
    return overlap if overlap[0] <= overlap[1] else one
