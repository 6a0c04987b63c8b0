"""Long lists of numbers in braces: cut out of the text before it is parsed, kept as text in the tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pycparser import c_ast, c_parser

from pipelines.c.errors import HlsError

LEAST_NUMBERS = 64
"""Shorter lists are parsed as expressions."""

MAXIMUM_NUMBERS = 1 << 17
"""Numbers of a list that the top function reads: as many as the tokens of a parsed program allow."""

MAXIMUM_DEPTH = 5
"""Braces inside each other: one per dimension of an array."""

_INTEGER = (
    r"(?:0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|[1-9][0-9]{0,19}|0[0-7]{0,22})"
    r"(?:[uU](?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU]?)?"
)
_FLOATING = (
    r"(?:[0-9]{1,32}\.[0-9]{0,32}|\.[0-9]{1,32})(?:[eE][+-]?[0-9]{1,4})?[fF]?"
    r"|[0-9]{1,32}[eE][+-]?[0-9]{1,4}[fF]?"
)
_NUMBER = rf"(?:[+-]\s*+)?+(?:{_FLOATING}|{_INTEGER})(?![\w.])"
_MARKER = r"^\#[ ]\d[^\n]*+\n"
_SPACE = rf"\s*+(?:{_MARKER}\s*+)*+"


def _list_pattern(depth: int) -> str:
    item = f"{_NUMBER}|{_list_pattern(depth - 1)}" if depth > 1 else _NUMBER
    return rf"\{{{_SPACE}(?:{item}){_SPACE}(?:,{_SPACE}(?:{item}){_SPACE})*+(?:,{_SPACE})?+\}}"


_QUOTED = r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'"
_LIST = re.compile(f"{_QUOTED}|{_list_pattern(MAXIMUM_DEPTH)}", re.MULTILINE)
_KEPT = re.compile(rf"{_MARKER}|\n", re.MULTILINE)
_PART = re.compile(rf"{_MARKER}|[{{}}]|{_NUMBER}", re.MULTILINE)
_PREFIX = "__simfoundry_numbers_"


@lru_cache(maxsize=2)
def cut_lists(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace long lists of numbers in a preprocessed text by lists of one name.

    Returns: the text, in which all that follows keeps its line and column; the lists by number of the name.
    """
    if _PREFIX in text:
        return text, ()
    lists: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        content = match[0]
        if content[0] != "{" or content.count(",") < LEAST_NUMBERS:
            return content
        lists.append(content)
        name = f"{{{_PREFIX}{len(lists) - 1}"
        kept = "".join(_KEPT.findall(content))
        width = len(content) - (content.rfind("\n") + 1)
        return f"{name}{kept}{' ' * (width - 1 - (0 if kept else len(name)))}}}"

    return _LIST.sub(replaced, text), tuple(lists)


def parse_text(text: str, *, file: str) -> c_ast.FileAST:
    """Parse preprocessed C.

    Raises: c_parser.ParseError: a syntax error.
    """
    short, lists = cut_lists(text)
    tree = c_parser.CParser().parse(short, filename=file)
    if lists:
        _restore(tree, lists)
    return tree


class NumberList(c_ast.InitList):
    """A list of numbers in braces. Traversals see no children: numbers are neither names nor effects.

    Attributes:
        text: the list in C.
    """

    __slots__ = ("_expressions", "text")

    def __init__(self, text: str, coord: Any) -> None:
        self.text = text
        self.coord = coord
        self._expressions: list[c_ast.Node] | None = None

    @property
    def count(self) -> int:
        """Commas in the list: at most its numbers and rows."""
        return self.text.count(",")

    @property
    def exprs(self) -> list[c_ast.Node]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The items as expressions, parsed when they are first asked for.

        Raises: HlsError: too many.
        """
        if self._expressions is None:
            if self.count > MAXIMUM_NUMBERS:
                line = int(self.coord.line)
                raise HlsError(TABLE_RULE, "more", file=str(self.coord.file), line=line)
            line, indent = self.coord.line, " " * (self.coord.column - 1)
            text = f'int x[]=\n# {line} "{self.coord.file}"\n{indent}{self.text};'
            self._expressions = list(c_parser.CParser().parse(text).ext[0].init.exprs)
        return self._expressions

    def children(self) -> tuple[tuple[str, c_ast.Node], ...]:
        """Return no nodes."""
        return ()

    def __iter__(self) -> Iterator[c_ast.Node]:
        return iter(())

    def elements(self, depth: int) -> list[tuple[tuple[int, ...], str]] | None:
        """Return indices and text of every number of an array of a depth, or None if braces are left out."""
        positions: list[int] = []
        elements: list[tuple[tuple[int, ...], str]] = []
        for part in _PART.findall(self.text):
            if part == "{":
                positions.append(0)
            elif part == "}":
                positions.pop()
                if positions:
                    positions[-1] += 1
            elif part[0] != "#":
                if len(positions) != depth:
                    return None
                elements.append((tuple(positions), part))
                positions[-1] += 1
        return elements


TABLE_RULE = f"a table that the design reads must have at most {MAXIMUM_NUMBERS} numbers"


def _restore(tree: c_ast.FileAST, lists: tuple[str, ...]) -> None:
    """Put the lists where their names are."""
    stack: list[c_ast.Node] = [tree]
    while stack:
        node = stack.pop()
        for name, child in node.children():
            number = _number_of(child)
            if number is None:
                stack.append(child)
                continue
            new = NumberList(lists[number], child.coord)
            field, _, index = name.partition("[")
            if index:
                getattr(node, field)[int(index[:-1])] = new
            else:
                setattr(node, field, new)


def _number_of(node: c_ast.Node) -> int | None:
    """Return the number of the list that stands for a node, None for other nodes."""
    if not isinstance(node, c_ast.InitList) or not node.exprs or len(node.exprs) != 1:
        return None
    only = node.exprs[0]
    named = isinstance(only, c_ast.ID) and str(only.name).startswith(_PREFIX)
    return int(only.name.removeprefix(_PREFIX)) if named else None
