"""Attributes and pragmas that change the memory layout of a type, in a preprocessed program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Position = tuple[str, int, int]
"""File, line and column of a token."""

DEFAULT_ALIGNMENT = 16
"""Alignment by `aligned` without a number, on x86-64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """What is written at a structure, union, enumeration, member, typedef or variable.

    Attributes:
        packed: `packed` is there. pack, aligned: bytes of `#pragma pack` and of `aligned`; 0 without it.
        mode: of `mode`; the text of `vector_size`. unread: text of another one, which is not followed. line:
            of the first one. is_of_type: they are of a structure, union or enumeration.
    """

    packed: bool = False
    pack: int = 0
    aligned: int = 0
    mode: str = ""
    unread: str = ""
    line: int = 0
    is_of_type: bool = False

    @property
    def text(self) -> str:
        """What is written, for messages."""
        written = (
            "packed" * self.packed,
            f"aligned({self.aligned})" * bool(self.aligned),
            f"#pragma pack({self.pack})" * bool(self.pack),
            self.mode,
            self.unread,
        )
        return ", ".join(part for part in written if part)

    def joined(self, other: Attributes) -> Attributes:
        """Join these attributes with others of the same place."""
        return Attributes(
            packed=self.packed or other.packed,
            pack=other.pack or self.pack,
            aligned=max(self.aligned, other.aligned),
            mode=other.mode or self.mode,
            unread=self.unread or other.unread,
            line=self.line or other.line,
            is_of_type=self.is_of_type or other.is_of_type,
        )


NO_ATTRIBUTES = Attributes()

_MAY_HAVE = re.compile(r"__attribute__|\[\s*\[|^[ \t]*#[ \t]*pragma[ \t]+pack\b", re.MULTILINE)
_TOKEN = re.compile(
    r"""^[ \t]*\#[^\n]*+|(?:L|u8?|U)?"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?|[\w.]++|[^\s\w]|\n""",
    re.MULTILINE,
)
_MARKER = re.compile(r'[ \t]*# (\d+) "((?:[^"\\]|\\.)*)"')
_PACK = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+pack\b\s*\(([^()]*)\)")
_ATTRIBUTE = re.compile(r"(?:\w+\s*::\s*)?(\w+)\s*(\(.*\))?", re.DOTALL)
_NUMBER = re.compile(r"\(\s*(0[xX][0-9a-fA-F]{1,8}|\d{1,9})[uUlL]*\s*\)")
_AROUND = re.compile(r"\A(?:__attribute__\s*\(\s*\(|\[\[)|(?:\)\s*\)|\]\])\Z")
_UNREAD = ("scalar_storage_order", "ms_struct")
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(slots=True, kw_only=True)
class _Body:
    """Braces, or the whole file.

    Attributes:
        owner: position of the structure, union or enumeration that the braces define.
        names: of the present declaration, by position. own: its attributes.
        several: the declaration has more than one declarator, or parameters.
        brackets: open parentheses and brackets.
    """

    owner: Position | None = None
    names: list[Position] = field(default_factory=list[Position])
    own: Attributes = NO_ATTRIBUTES
    several: bool = False
    brackets: int = 0


def read_layouts(text: str) -> tuple[str, Mapping[Position, Attributes]]:
    """Take attributes out of a preprocessed text.

    Returns: the text with blanks in their places, and those that change layouts by the position that the
             parser gives to the type, or to the declared name.
    """
    if _MAY_HAVE.search(text) is None:
        return text, {}
    reader = _Reader(text=text)
    reader.read()
    return reader.blanked(), reader.marks


@dataclass(slots=True, kw_only=True)
class _Reader:
    """Walks over the tokens of a text.

    Attributes:
        marks: attributes by position. cuts: parts of the text that are attributes.
        keyword: `struct`, `union` or `enum` whose tag or braces come next; owner: its position, and waiting:
            its attributes. closed: of the body that the last token closed.
        pack: of `#pragma pack`; packs: pushed ones with their names.
    """

    text: str
    marks: dict[Position, Attributes] = field(default_factory=dict[Position, Attributes])
    cuts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    bodies: list[_Body] = field(default_factory=lambda: [_Body()])
    keyword: str = ""
    owner: Position | None = None
    waiting: Attributes = NO_ATTRIBUTES
    closed: Position | None = None
    pack: int = 0
    packs: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    file: str = "<stdin>"
    line: int = 1
    line_start: int = 0

    def blanked(self) -> str:
        """Return the text without the attributes; all else keeps its line and column."""
        pieces: list[str] = []
        end = 0
        for first, last in self.cuts:
            pieces += [self.text[end:first], re.sub(r"[^\n]", " ", self.text[first:last])]
            end = last
        return "".join([*pieces, self.text[end:]])

    def read(self) -> None:
        tokens = _TOKEN.finditer(self.text)
        for match in tokens:
            word = match[0]
            if word == "\n":
                self.line, self.line_start = self.line + 1, match.end()
            elif word.lstrip().startswith("#"):
                self._directive(word)
            elif word == "__attribute__" or self.text.startswith("[[", match.start()):
                self._attribute(match.start(), tokens, closes=2 if word == "[" else 0)
            else:
                self._token(word, (self.file, self.line, match.start() - self.line_start + 1))

    def _directive(self, line: str) -> None:
        marker, pragma = _MARKER.match(line), _PACK.match(line)
        if marker is not None:
            self.file, self.line = marker[2], int(marker[1]) - 1
        elif pragma is not None:
            self._pack([part.strip() for part in pragma[1].split(",")])

    def _pack(self, parts: list[str]) -> None:
        """Read `pack()`, `pack(n)`, `pack(push)`, `pack(push, name, n)`, `pack(pop)` or `pack(pop, name)`."""
        action, numbers = parts[0], [int(part) for part in parts if part.isdecimal()]
        names = [part for part in parts[1:] if _NAME.fullmatch(part)]
        if action == "push":
            self.packs.append((names[0] if names else "", self.pack))
        elif action == "pop" and names:
            while self.packs and names[0] in (name for name, _ in self.packs):
                name, self.pack = self.packs.pop()
                if name == names[0]:
                    break
        elif action == "pop" and self.packs:
            _, self.pack = self.packs.pop()
        elif action == "":
            self.pack = 0
        if numbers:
            self.pack = numbers[-1]

    def _attribute(self, start: int, tokens: Iterator[re.Match[str]], *, closes: int) -> None:
        """Read an attribute of the type whose keyword or braces precede it, else of the declaration."""
        line, depth, end = self.line, 1 if closes else 0, start
        for match in tokens:
            if match[0] == "\n":
                self.line, self.line_start = self.line + 1, match.end()
                continue
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(match[0], 0)
            end = match.end()
            if depth == 0:
                break
        content = _AROUND.sub("", self.text[start:end])
        own = replace(_attributes(content), line=line)
        if closes and own == Attributes(line=line):
            return  # the parser's spellings take it out
        self.cuts.append((start, end))
        if own == Attributes(line=line):
            return
        if self.keyword:
            self.waiting = self.waiting.joined(own)
        elif self.closed is not None:
            self._mark(self.closed, replace(own, is_of_type=True))
        else:
            self.bodies[-1].own = self.bodies[-1].own.joined(own)

    def _mark(self, position: Position, own: Attributes) -> None:
        self.marks[position] = self.marks.get(position, NO_ATTRIBUTES).joined(own)

    def _token(self, word: str, position: Position) -> None:
        if self.keyword and word != "{":
            self.owner = position if self.keyword != "enum" else self.owner
            self._waited()
            return
        body, self.closed = self.bodies[-1], None
        if word in ("struct", "union", "enum"):
            self.keyword, self.owner = word, position
        elif word == "{":
            if self.keyword in ("struct", "union"):
                self.owner = position
            self._waited()
            self.bodies.append(_Body(owner=self.owner))
            self.owner = None
            return
        elif word == "}" and len(self.bodies) > 1:
            self._declared()
            self.closed = self.bodies.pop().owner
            if self.closed is not None and self.pack:
                self._mark(self.closed, Attributes(pack=self.pack, line=self.line, is_of_type=True))
            if self.closed is None and self.bodies[-1].brackets == 0:
                self._declared()
        elif word == ";" and body.brackets == 0:
            self._declared()
        elif _NAME.fullmatch(word):
            body.names.append(position)
        else:
            if word in ("*", "("):  # begin declarators
                body.names.append(position)
            body.brackets += {"(": 1, "[": 1, ")": -1, "]": -1}.get(word, 0)
            body.several |= word in (",", "(")
        self.owner = self.owner if word in ("struct", "union", "enum") else None

    def _waited(self) -> None:
        """Give the waiting attributes to the type whose position is now known."""
        if self.waiting != NO_ATTRIBUTES and self.owner is not None:
            self._mark(self.owner, replace(self.waiting, is_of_type=True))
        self.keyword, self.waiting = "", NO_ATTRIBUTES

    def _declared(self) -> None:
        """Give a declaration's attributes to its names at its end."""
        body = self.bodies[-1]
        if body.own != NO_ATTRIBUTES:
            own = body.own
            if body.several:
                text = f"mode({own.mode}) of one of several names" if own.mode else ""
                own = replace(own, mode=text, unread=own.unread or "an attribute of one of several names")
            for position in body.names:
                self._mark(position, own)
        body.names, body.own, body.several, body.brackets = [], NO_ATTRIBUTES, False, 0


def _attributes(content: str) -> Attributes:
    """Return the attributes in a list that change a layout."""
    own = NO_ATTRIBUTES
    for part in _parts(content):
        match = _ATTRIBUTE.fullmatch(part.strip())
        if match is None:
            continue
        name, arguments = match[1].strip("_"), match[2] or ""
        text = " ".join(f"{name}{arguments}".split())
        if name == "packed":
            own = own.joined(Attributes(packed=True))
        elif name == "aligned":
            number = _NUMBER.fullmatch(arguments)
            if arguments and number is None:
                own = own.joined(Attributes(unread=text))
            else:
                bytes_ = int(number[1], 0) if number is not None else DEFAULT_ALIGNMENT
                own = own.joined(Attributes(aligned=bytes_))
        elif name == "mode":
            own = own.joined(Attributes(mode=arguments.strip("() \t\n").strip("_")))
        elif name == "vector_size":
            own = own.joined(Attributes(mode=text))
        elif name in _UNREAD:
            own = own.joined(Attributes(unread=text))
    return own


def _parts(content: str) -> Iterator[str]:
    """Yield a list split at its own commas."""
    depth, first = 0, 0
    for match in re.finditer(r"[(),]", content):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "," and depth == 0:
            yield content[first : match.start()]
            first = match.end()
    yield content[first:]


def position_of(node: Any) -> Position | None:
    """Return the position of a node of the syntax tree."""
    coord = getattr(node, "coord", None)
    return None if coord is None else (str(coord.file), int(coord.line), int(coord.column or 0))
