"""File lists of Verilator (`-f`, `-F`): their words, each with its file and line, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.rtl.reuse.errors import RtlError

Place = str
"""Where a word stands, as in `rtl/list.f:3`; an option of the command line has its own name."""
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))", re.ASCII)
_WORD = re.compile(r'(?:\\"|"[^"]*"|[^\s"])+')
_QUOTE = re.compile(r'(\\?)"')
_COMMENT = re.compile(r'"[^"\n]*"|/\*.*?\*/|(?:(?<=\s)|^)//[^\n]*|^[ \t]*#[^\n]*', re.DOTALL | re.MULTILINE)
_IGNORED = re.compile(
    r"-W\S*|-O\S?|-sv|--?(?:sv|cc|exe|build|binary|main|lint-only|stats|savable|(?:no-)?timing|(?:no-)?assert"
    r"|(?:no-)?trace(?:-\w+)*|coverage(?:-\w+)*|Mdir=\S+)|\+systemverilogext\+\S*|\+librescan|\S+\.vlt"
)
"""Words for Verilator alone that change no value of a port."""
_IGNORED_WITH_VALUE = frozenset(
    (
        "-Mdir",
        "--Mdir",
        "-prefix",
        "--prefix",
        "-o",
        "-j",
        "--build-jobs",
        "--threads",
        "--x-assign",
        "--x-initial",
    )
) | {"--timescale", "-CFLAGS", "-LDFLAGS"}
_SHOWN = 60
"""Characters of a word that a message repeats."""
ACCEPTED = (
    "files, -f, -F, -I, -y, -v, -D, -U, -G, +incdir+, +define+, +libext+, --top-module, --relative-includes, "
    "and options of Verilator that change no value"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word of a file list, and where it stands."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A path, a macro (NAME or NAME=TEXT), a parameter (NAME=VALUE) or a module, and where it stands."""

    value: str
    place: Place


@dataclass(slots=True, kw_only=True)
class Arguments:
    """What command line and file lists say, in order.

    Attributes:
        sources: files that are read. libraries: files of modules that are read when one is missing (`-v`).
        folders: of included files and missing modules (`-I`, `-y`). extensions: of files of missing modules.
        macros: -DNAME, -DNAME=TEXT and -UNAME. parameters: of the top module.
        top: modules that a list names as the top. is_relative: a file is included from beside its file first.
    """

    sources: list[Placed] = field(default_factory=list[Placed])
    libraries: list[Placed] = field(default_factory=list[Placed])
    folders: list[Placed] = field(default_factory=list[Placed])
    extensions: list[str] = field(default_factory=list[str])
    macros: list[Placed] = field(default_factory=list[Placed])
    parameters: list[Placed] = field(default_factory=list[Placed])
    top: list[Placed] = field(default_factory=list[Placed])
    is_relative: bool = False


def read_list(
    path: Path,
    into: Arguments,
    *,
    read: Callable[[Path, Place], str],
    place: Place,
    variables: Mapping[str, str],
    base: Path | None = None,
) -> None:
    """Add the words of a file list to arguments.

    Args:   read: text of a file that a place names. variables: values of $X and the like.
            base: folder of relative paths; None: the current one.
    Raises: RtlError: a word that is not understood, or a cycle of lists, with file and line.
    """
    _List(into=into, read=read, variables=variables).add(path, place=place, base=base, outer=())


SUFFIXES = (".v", ".sv", ".vh", ".svh", ".fir")
"""Ends of the names of designs, which are no file lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _List:
    into: Arguments
    read: Callable[[Path, Place], str]
    variables: Mapping[str, str]

    def add(self, path: Path, *, place: Place, base: Path | None, outer: Sequence[Path]) -> None:
        if path.suffix in SUFFIXES:
            where = f" ({place})" if place else ""
            raise RtlError(f"{path} is no file list{where}; accepted: a design without -f")
        file = path.resolve()
        if file in outer:
            names = " -> ".join(one.name for one in (*outer[outer.index(file) :], file))
            raise RtlError(f"cycle of file lists: {names} ({place})")
        words = list(list_words(self.read(path, place), str(path), self.variables))
        at = iter(words)
        for word in at:
            self._take(word, at, base=base, outer=(*outer, file))

    def _take(self, word: Word, rest: Iterator[Word], *, base: Path | None, outer: Sequence[Path]) -> None:
        text, place, into = word.text, word.place, self.into

        def next_word() -> str:
            following = next(rest, None)
            if following is None:
                raise RtlError(f"{text} without a value ({place})")
            return following.text

        def below(name: str) -> str:
            return str((base or Path()) / name)

        if text in ("-f", "-F"):
            inner = Path(below(next_word()))
            self.add(inner, place=place, base=inner.parent if text == "-F" else base, outer=outer)
        elif text in ("-v", "-y"):
            target = into.libraries if text == "-v" else into.folders
            target.append(Placed(value=below(next_word()), place=place))
        elif text in ("--top-module", "--top", "-top-module", "-top"):
            into.top.append(Placed(value=next_word(), place=place))
        elif text in _IGNORED_WITH_VALUE:
            next_word()
        elif text in ("--relative-includes", "-relative-includes"):
            into.is_relative = True
        elif text.startswith("+"):
            self._take_plus(text, place, below)
        elif text.startswith("-"):
            self._take_option(text, place, below)
        elif not _IGNORED.fullmatch(text):
            into.sources.append(Placed(value=below(text), place=place))

    def _take_plus(self, text: str, place: Place, below: Callable[[str], str]) -> None:
        into, (kind, *values) = self.into, text[1:].split("+")
        if kind == "incdir":
            into.folders += [Placed(value=below(value), place=place) for value in values if value]
        elif kind == "define":
            into.macros += [Placed(value=f"-D{value}", place=place) for value in values if value]
        elif kind == "libext":
            into.extensions += [value for value in values if value]
        elif not _IGNORED.fullmatch(text):
            raise _unknown(text, place)

    def _take_option(self, text: str, place: Place, below: Callable[[str], str]) -> None:
        kind, value = text[:2], text[2:]
        if kind == "-I" and value:
            self.into.folders.append(Placed(value=below(value), place=place))
        elif kind in ("-D", "-U") and value:
            self.into.macros.append(Placed(value=text, place=place))
        elif kind == "-G" and value:
            self.into.parameters.append(Placed(value=value, place=place))
        elif not _IGNORED.fullmatch(text):
            raise _unknown(text, place)


def _unknown(text: str, place: Place) -> RtlError:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return RtlError(f"unknown option in a file list: {shown} ({place}); accepted: {ACCEPTED}")


def list_words(text: str, name: str, variables: Mapping[str, str]) -> Iterator[Word]:
    """Yield the words of a file list without comments; variables such as $X are replaced.

    As in Verilator, `//` begins a comment behind a blank, `#` at the beginning of a line, and `/*` anywhere.
    A quote behind a backslash is part of its word.

    Raises: RtlError: a variable that is not set, or a string or a comment without its end.
    """
    lines = _COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else _blank(match[0]), text)
    for number, line in enumerate(lines.split("\n"), 1):
        place = f"{name}:{number}"
        if "\0" in line:
            raise RtlError(f"a character NUL in a file list ({place})")
        if "/*" in line or line.replace('\\"', "").count('"') % 2:
            what = "comment" if "/*" in line else "string"
            raise RtlError(f"{what} without its end ({place})")
        for match in _WORD.finditer(line):
            plain = _QUOTE.sub(lambda quote: '"' if quote[1] else "", match[0])
            yield Word(text=_expanded(plain, place, variables), place=place)


def _blank(comment: str) -> str:
    return " " + "\n" * comment.count("\n")


def _expanded(text: str, place: Place, variables: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        variable = match[1] or match[2] or match[3]
        if variable not in variables:
            raise RtlError(f"no variable {variable} that is a folder: {text[:_SHOWN]} ({place})")
        return variables[variable]

    return _VARIABLE.sub(value, text)
