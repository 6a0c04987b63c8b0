"""Tokens of C as the model reads it, the symbols of a program, and intervals of their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

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
    """

    tokens: tuple[Token, ...]
    constants: dict[str, int]
    macros: dict[str, int]


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
    return Lexed(tokens=tuple(tokens), constants=constants, macros=macros)


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


def interval_of(tokens: Sequence[Token], scope: Sequence[Symbol]) -> Interval | None:
    """Return the least and largest value of an expression; None when they are not known."""
    return _Intervals(tokens=tokens, scope=scope).whole()


def both_intervals(one: Interval | None, other: Interval | None) -> Interval | None:
    """Intersect two intervals of a range; None is unknown, and the first holds if they are disjoint."""
    if one is None or other is None:
        return one or other
    overlap = max(one[0], other[0]), min(one[1], other[1])
    return overlap if overlap[0] <= overlap[1] else one


@dataclass(slots=True, kw_only=True)
class _Intervals:
    """A recursive evaluation; None for whatever is not known."""

    tokens: Sequence[Token]
    scope: Sequence[Symbol]
    at: int = 0
    depth: int = 0

    def whole(self) -> Interval | None:
        interval = self.sum()
        return interval if self.at == len(self.tokens) else None

    @property
    def text(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def sum(self) -> Interval | None:
        interval = self.product()
        while self.text in ("+", "-"):
            sign = 1 if self.text == "+" else -1
            self.at += 1
            other = self.product()
            if interval is None or other is None:
                interval = None
            else:
                low, high = sorted((sign * other[0], sign * other[1]))
                interval = interval[0] + low, interval[1] + high
        return interval

    def product(self) -> Interval | None:
        interval = self.operand()
        while self.text == "*":
            self.at += 1
            other = self.operand()
            if interval is None or other is None:
                interval = None
            else:
                corners = [a * b for a in interval for b in other]
                interval = min(corners), max(corners)
        return interval

    def operand(self) -> Interval | None:
        if self.at >= len(self.tokens) or self.depth > MOST_NESTING:
            return None
        token = self.tokens[self.at]
        self.at += 1
        if token.kind == NUMBER:
            return (int(token.text), int(token.text)) if token.text.isdecimal() else None
        if token.text == "(":
            return self.inside()
        if token.text == "MIN" and self.text == "(":
            return self.least()
        if token.kind == NAME and self.text not in ("(", "["):
            return next((s.interval for s in reversed(self.scope) if s.name == token.text), None)
        return None

    def inside(self) -> Interval | None:
        self.depth += 1
        interval = self.sum()
        self.depth -= 1
        if self.text != ")":
            return None
        self.at += 1
        return interval

    def least(self) -> Interval | None:
        self.at += 1
        one = self.sum()
        if self.text != ",":
            return None
        self.at += 1
        other = self.sum()
        if self.text != ")":
            return None
        self.at += 1
        if one is None or other is None:
            return one or other
        return min(one[0], other[0]), min(one[1], other[1])
