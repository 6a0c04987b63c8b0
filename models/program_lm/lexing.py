"""C text to tokens with their places."""

from __future__ import annotations

import re
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
    """The tokens of a program.

    Raises: SourceError: a character or a preprocessor line outside the subset.
    """
    tokens: list[Token] = []
    constants: dict[str, int] = {}
    macros: dict[str, int] = {}
    place = 0
    while place < len(source):
        found = _TOKEN.match(source, place)
        if found is None:
            raise SourceError(f"a program must be of known tokens, got {source[place]!r} (character {place})")
        kind = found.lastgroup or ""
        if kind == "line":
            _read_line(found[0], constants, macros)
        elif kind != "space":
            tokens.append(Token(kind=kind, text=found[0], start=place, end=found.end()))
        place = found.end()
    return Lexed(tokens=tuple(tokens), constants=constants, macros=macros)


def _read_line(line: str, constants: dict[str, int], macros: dict[str, int]) -> None:
    if constant := _CONSTANT.match(line):
        constants[constant[1]] = int(constant[2])
    elif function := _FUNCTION.match(line):
        macros[function[1]] = function[2].count(",") + 1
    elif not _INCLUDE.match(line):
        raise SourceError(f"a preprocessor line must be #include <...> or a plain #define, got {line[:80]}")
