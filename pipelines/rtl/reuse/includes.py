"""Verilog with the files that it includes in their places, as one text for all engines."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.file_lists import Place
from pipelines.rtl.reuse.languages import DEFINED

MOST_DEPTH = 64
"""Files that include each other; recursion takes a few frames for each."""
MOST_TIMES = 3
"""A file in itself: two that include each other behind guards are no cycle."""
MOST_CHARACTERS = 256 << 20
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<escaped>\\\S+)"""
    r"""|`(?P<word>\w+)""",
    re.DOTALL | re.ASCII,
)
_NAME = re.compile(r"[ \t]*(\w+)", re.ASCII)
_BODY = re.compile(r"(?:[^\\\n]|\\\r?\n|\\.)*")
_COMMENT = re.compile(r"//[^\n\\]*|/\*.*?\*/", re.DOTALL)
_FILE = re.compile(r"""[ \t]*(?:"(?P<name>[^"\n]*)"|<(?P<system>[^>\n]*)>|`(?P<macro>\w+))""", re.ASCII)
_FILE_TEXT = re.compile(r"""\s*(?:"([^"]*)"|<([^>]*)>)\s*""")
_SWITCH = r"(?://[ \t]*|/\*[ \t]*)(?:pragma|synopsys|synthesis)[ \t]+translate_%s\b(?:[^\n]*?\*/|[^\n]*)"
_OFF, _ON = re.compile(_SWITCH % "off"), re.compile(_SWITCH % "on")
"""Comments around text that synthesis leaves out; some tools follow them, some do not."""
_PRINTED = re.compile(r"[^\w./+-]", re.ASCII)
_NOT_NEWLINE = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A part of the whole text.

    Attributes:
        code: the text with blanks in the place of comments, directives and what conditions leave out; every
            character has the same place as in the text.
        file: that it is read from.
    """

    text: str
    code: str
    file: Path


@dataclass(slots=True, kw_only=True)
class _Condition:
    """A conditional that is open: its place, whether a branch was taken, whether the present one is."""

    place: Place
    is_active: bool
    was_active: bool
    is_outer_active: bool


@dataclass(frozen=True, kw_only=True)
class Expander:
    """Replaces directives `include` by files, in the order of compilation, which macros follow.

    Attributes:
        find: a file by its name in a directive and the file of that. read: its text. shown: its printed name.
        macros: texts by name at the beginning; sources change them.
    """

    find: Callable[[str, Path, Place], Path]
    read: Callable[[Path, Place], str]
    shown: Callable[[Path], str]
    macros: dict[str, str]
    size: list[int] = field(default_factory=lambda: [0])

    def expand(self, file: Path, place: Place) -> list[Source]:
        """Return the parts of a source file and of all that it includes, in order.

        Raises: RtlError: a file is missing, a cycle, or a conditional without its end, with file and line.
        """
        return list(self._expand(file, place, ()))

    def _expand(self, file: Path, place: Place, outer: Sequence[Path]) -> Iterator[Source]:
        whole = file.resolve()
        if outer.count(whole) >= MOST_TIMES:
            last = len(outer) - 1 - outer[::-1].index(whole)
            names = " -> ".join(self.shown(one) for one in (*outer[last:], whole))
            raise RtlError(f"cycle of included files: {names} ({place})")
        if len(outer) >= MOST_DEPTH:
            raise RtlError(f"more than {MOST_DEPTH} files include each other: {self.shown(file)} ({place})")
        yield from _File(self, file, self.read(file, place), (*outer, whole)).parts()

    def grow(self, characters: int, place: Place) -> None:
        """Count characters of the whole text. Raises: RtlError: too many."""
        self.size[0] += characters
        if self.size[0] > MOST_CHARACTERS:
            raise RtlError(f"more than {MOST_CHARACTERS} characters with included files ({place})")

    def included(self, file: Path, place: Place, outer: Sequence[Path]) -> Iterator[Source]:
        """Yield the parts of an included file."""
        yield from self._expand(file, place, outer)


def _without_switches(text: str, name: str, *, is_synthesis: bool) -> str:
    """Return a text without comments that switch translation off, in synthesis also without what is between.

    Raises: RtlError: text that is switched off up to the end of the file.
    """
    if not is_synthesis:
        return _ON.sub(" ", _OFF.sub(" ", text))
    pieces, at = list[str](), 0
    while (off := _OFF.search(text, at)) is not None:
        on = _ON.search(text, off.end())
        if on is None:
            line = text.count("\n", 0, off.start()) + 1
            raise RtlError(f"translate_off without translate_on ({name}:{line})")
        pieces += [text[at : off.start()], _NOT_NEWLINE.sub(" ", text[off.start() : on.end()])]
        at = on.end()
    return "".join([*pieces, text[at:]])


class _File:
    """One file while it is expanded."""

    def __init__(self, expander: Expander, file: Path, text: str, outer: Sequence[Path]) -> None:
        self.expander, self.file, self.outer = expander, file, outer
        is_synthesis = DEFINED in expander.macros
        self.text = _without_switches(text, expander.shown(file), is_synthesis=is_synthesis)
        self.name = _PRINTED.sub("_", expander.shown(file))
        self.conditions: list[_Condition] = []
        self.code: list[str] = []
        self.start = self.copied = 0  # of the next part, and behind what its code has
        self.counted, self.line = 0, 1

    def parts(self) -> Iterator[Source]:
        """Yield what the file becomes."""
        yield self._directive(1, int(len(self.outer) > 1))
        at = 0
        while (token := _TOKEN.search(self.text, at)) is not None:
            at = token.end()
            self._copy(token.start())
            word = token["word"]
            if word is None:
                self._copy(at, is_code=token["comment"] is None)
            elif word == "include" and self._is_active():
                at = yield from self._include(at)
            else:
                at = self._directive_end(word, at)
                self._copy(at, is_code=word not in _DIRECTIVES)
        self._copy(len(self.text))
        yield self._part(len(self.text))
        if self.conditions:
            raise RtlError(f"conditional without `endif ({self.conditions[-1].place})")

    # ---- text and code -----------------------------------------------------------------------------------

    def _copy(self, end: int, *, is_code: bool = True) -> None:
        """Copy text up to an end to the code, blanks where it is none."""
        piece = self.text[self.copied : end]
        self.code.append(piece if is_code and self._is_active() else _NOT_NEWLINE.sub(" ", piece))
        self.copied = end

    def _part(self, end: int) -> Source:
        """Return what was copied since the last part."""
        text, code = self.text[self.start : end], "".join(self.code)
        self.expander.grow(len(text), self._place(end))
        self.code.clear()
        self.start = end
        newline = "" if text.endswith("\n") else "\n"
        return Source(text=text + newline, code=code + newline, file=self.file)

    def _directive(self, line: int, level: int) -> Source:
        text = f'`line {line} "{self.name}" {level}\n'
        return Source(text=text, code=_NOT_NEWLINE.sub(" ", text), file=self.file)

    def _line(self, at: int) -> int:
        self.line += self.text.count("\n", self.counted, at)
        self.counted = at
        return self.line

    def _place(self, at: int) -> Place:
        return f"{self.expander.shown(self.file)}:{self._line(at)}"

    # ---- directives --------------------------------------------------------------------------------------

    def _is_active(self) -> bool:
        return not self.conditions or self.conditions[-1].is_active

    def _directive_end(self, word: str, at: int) -> int:
        """Follow a directive behind its word; return its end."""
        if word == "define":
            return self._define(at)
        if word in ("ifdef", "ifndef", "elsif"):
            name = _NAME.match(self.text, at)
            if name is None:
                raise RtlError(f"`{word} without a name ({self._place(at)})")
            self._open(word, name[1], at)
            return name.end()
        if word in ("else", "endif"):
            self._close(word, at)
        elif word == "undef" and (name := _NAME.match(self.text, at)) is not None:
            if self._is_active():
                self.expander.macros.pop(name[1], None)
            return name.end()
        elif word == "undefineall" and self._is_active():
            self.expander.macros.clear()
        return at

    def _define(self, at: int) -> int:
        name, body = _NAME.match(self.text, at), _BODY.match(self.text, at)
        end = at if body is None else body.end()
        if name is not None and self._is_active():
            content = _COMMENT.sub(" ", self.text[name.end() : end])
            self.expander.macros[name[1]] = content.strip()
        return end

    def _open(self, word: str, name: str, at: int) -> None:
        holds = (name in self.expander.macros) != (word == "ifndef")
        if word == "elsif":
            condition = self._innermost(word, at)
            condition.is_active = condition.is_outer_active and not condition.was_active and holds
            condition.was_active = condition.was_active or holds
            return
        outer = self._is_active()
        self.conditions.append(
            _Condition(
                place=self._place(at), is_active=outer and holds, was_active=holds, is_outer_active=outer
            )
        )

    def _close(self, word: str, at: int) -> None:
        condition = self._innermost(word, at)
        if word == "endif":
            self.conditions.pop()
        else:
            condition.is_active = condition.is_outer_active and not condition.was_active
            condition.was_active = True

    def _innermost(self, word: str, at: int) -> _Condition:
        if not self.conditions:
            raise RtlError(f"`{word} without `ifdef ({self._place(at)})")
        return self.conditions[-1]

    def _include(self, at: int) -> Generator[Source, None, int]:
        """Yield the parts before, of, and up to behind an included file; return the end of the directive."""
        place = self._place(at)
        directive = _FILE.match(self.text, at)
        name = None if directive is None else self._included_name(directive)
        if directive is None or name is None:
            raise RtlError(f'`include without a file ({place}); accepted: `include "FILE" or a macro of that')
        file = self.expander.find(name, self.file, place)
        yield self._part(at - len("`include"))
        yield from self.expander.included(file, place, self.outer)
        self.start = self.copied = directive.end()
        yield self._directive(self._line(directive.end()), 2)
        return directive.end()

    def _included_name(self, directive: re.Match[str]) -> str | None:
        if directive["macro"] is None:
            return directive["name"] if directive["name"] is not None else directive["system"]
        content = _FILE_TEXT.fullmatch(self.expander.macros.get(directive["macro"], ""))
        return None if content is None else content[1] or content[2]


_DIRECTIVES = frozenset(
    ("define", "ifdef", "ifndef", "elsif", "else", "endif", "undef", "undefineall", "include", "line")
)
