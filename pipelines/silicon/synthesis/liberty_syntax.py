"""The syntax of liberty files: text to nested groups of attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.silicon.synthesis.liberty import SynthesisError

MAX_DEPTH = 32  # liberty nests six deep (library, cell, bundle, pin, timing, table)
TOKEN_LIMIT = 4_000_000  # sky130's library of 428 cells, 12.8 MB, has 562,387

# A string or comment without an end takes the rest of the text, so that none is searched for twice.
_TOKEN = re.compile(
    r"""
    "((?:[^"\\]++|\\.)*+)("?)                            # a string, and whether it ends
    | (/\*.*?(?:\*/|\Z) | //[^\n]* | \\(?=\r?\n))        # a comment, or the line goes on
    | ([{}():;,])
    | ((?:[^\s{}():;,"/\\]++ | /(?![/*]) | \\(?!\r?\n))++)
    """,
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a string without its quotes, or a punctuation mark, and the line it stands on."""

    text: str
    is_mark: bool
    line: int


@dataclass(slots=True, kw_only=True)
class Group:
    """A liberty group `name (arguments) { ... }`.

    Attributes:
        attributes: simple attributes `name : value;`, the last one of a name.
        lists: complex attributes `name (value, ...);`, the last one of a name.
        groups: nested groups in order.
    """

    name: str
    arguments: tuple[str, ...]
    line: int
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    groups: list[Group] = field(default_factory=lambda: list[Group]())

    def named(self, *names: str) -> Iterator[Group]:
        """Return the nested groups of those names, in order."""
        return (g for g in self.groups if g.name in names)

    def first(self, *names: str) -> Group | None:
        """Return the first nested group of those names."""
        return next(self.named(*names), None)


def _tokens(text: str, path: Path) -> list[Token]:
    tokens: list[Token] = []
    line, at = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        string, quote, comment, mark, word = match.groups()
        if comment is not None:
            continue
        if quote == "":
            raise SynthesisError(f"a liberty string must end with a quote ({path}:{line})")
        if len(tokens) == TOKEN_LIMIT:
            raise SynthesisError(f"liberty must have at most {TOKEN_LIMIT} words and marks ({path}:{line})")
        tokens.append(Token(string if string is not None else mark or word, mark is not None, line))
    return tokens


class _Parser:
    """Recursive descent over the tokens of one file."""

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        self.tokens = _tokens(text, path)
        self.at = 0

    def fail(self, rule: str, line: int) -> SynthesisError:
        return SynthesisError(f"{rule} ({self.path}:{line})")

    def peek(self, mark: str) -> bool:
        if self.at >= len(self.tokens):
            return False
        token = self.tokens[self.at]
        return token.is_mark and token.text == mark

    def take(self, expected: str) -> Token:
        if self.at >= len(self.tokens):
            line = self.tokens[-1].line if self.tokens else 1
            raise self.fail(f"liberty must have {expected} here, got the end of the file", line)
        self.at += 1
        return self.tokens[self.at - 1]

    def arguments(self) -> tuple[str, ...]:
        self.at += 1  # the opening parenthesis
        values: list[str] = []
        while not self.peek(")"):
            token = self.take("')'")
            if token.is_mark and token.text in "{};":
                raise self.fail(f"a liberty list must end with ')', got {token.text!r}", token.line)
            if not token.is_mark:
                values.append(token.text)
        self.at += 1
        return tuple(values)

    def value(self) -> str:
        """Return the words after a colon, up to a semicolon or, as that is optional, the end of the line."""
        line = self.take("':'").line
        words: list[str] = []
        while self.at < len(self.tokens) and not (self.peek(";") or self.peek("}")):
            token = self.tokens[self.at]
            if words and token.line != line:
                break
            words.append(token.text)
            self.at += 1
            line = token.line
        return " ".join(words)

    def statement(self, parent: Group, depth: int) -> None:
        name = self.take("a name")
        if name.is_mark:
            raise self.fail(f"a liberty statement must begin with a name, got {name.text[:40]!r}", name.line)
        if self.peek(":"):
            parent.attributes[name.text] = self.value()
        elif self.peek("("):
            values = self.arguments()
            if self.peek("{"):
                parent.groups.append(self.body(name, values, depth + 1))
            else:
                parent.lists[name.text] = values
        else:
            rule = "a liberty name must be followed by ':' or '('"
            raise self.fail(f"{rule}, got {name.text[:40]!r}", name.line)

    def body(self, name: Token, arguments: tuple[str, ...], depth: int) -> Group:
        if depth > MAX_DEPTH:
            raise self.fail(f"liberty groups must nest at most {MAX_DEPTH} deep, got more", name.line)
        group = Group(name=name.text, arguments=arguments, line=name.line)
        self.at += 1  # the opening brace
        while not self.peek("}"):
            if self.peek(";"):
                self.at += 1
            else:
                if self.at >= len(self.tokens):
                    raise self.fail(
                        f"liberty group {name.text[:40]} must end with '}}', got the end of the file",
                        name.line,
                    )
                self.statement(group, depth)
        self.at += 1
        return group

    def library(self) -> Group:
        start = [(t.text, t.is_mark) for t in self.tokens[:2]]
        if start != [("library", False), ("(", True)]:
            got = " ".join(t.text for t in self.tokens[:3])[:40]
            line = self.tokens[0].line if self.tokens else 1
            raise self.fail(f"a liberty file must begin with `library (name) {{`, got {got!r}", line)
        name = self.take("library")
        arguments = self.arguments()
        if not self.peek("{"):
            raise self.fail("`library (name)` must be followed by '{', got something else", name.line)
        return self.body(name, arguments, 0)


def parse_groups(text: str, path: Path) -> Group:
    """Parse the text of a liberty file.

    Args:    text: the file's content. path: only named in errors.
    Returns: the library group with everything nested in it.
    Raises:  SynthesisError: not liberty; the message has file and line.
    Source:  Liberty User Guide, volume 1: statements are groups, simple and complex attributes.
    """
    return _Parser(text, path).library()
