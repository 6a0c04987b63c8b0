"""One self-contained text of a C file and the local headers it includes.

Line markers (`# 12 "gemm.c"`) around what is put in keep file and line of messages right. They name files
relative to the program, so that equal programs are equal texts wherever they lie.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.hls.errors import HlsError
from pipelines.hls.preprocess import INCLUDE_FOLDER, SOURCE_LIMIT_BYTES

MAXIMUM_INCLUDE_DEPTH = 32

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)')
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b")
_COMMENT_OR_TEXT = re.compile(r"""//|/\*|\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")


def bundle_source(path: Path, *, include_folders: Sequence[Path] = ()) -> str:
    """Text of a C file with its local headers in place of their `#include`s.

    Args:    include_folders: where headers are looked for after the including file's own folder.
    Returns: the file's own text when it includes no local header. A header that is nowhere to be found is
             left to the preprocessor, which may not need it.
    Raises:  HlsError: a file is not readable UTF-8 text, lies outside the program's folder and the given
             ones, or all together are larger than 1 MiB.
    """
    roots = [path.parent.resolve(), *(folder.resolve() for folder in include_folders)]
    bundle = _Bundle(main=path, roots=roots)
    bundle.add(path, path.name, ())
    return "".join(bundle.pieces)


@dataclass(slots=True, kw_only=True)
class _Bundle:
    """Text collected so far.

    Attributes:
        roots: folders that hold everything which may be read; the program's own comes first.
        once: files that a `#pragma once` lets in no second time.
    """

    main: Path
    roots: list[Path]
    pieces: list[str] = field(default_factory=list[str])
    once: set[Path] = field(default_factory=set[Path])
    size_bytes: int = 0

    def add(self, path: Path, shown: str, including: tuple[Path, ...]) -> None:
        """Append a file's text, headers inside."""
        inside = (*including, path.resolve())
        in_comment = False
        for number, line in enumerate(self._read(path).splitlines(keepends=True), start=1):
            header = None if in_comment else self._header(line, path, shown, number)
            once = not in_comment and _ONCE.match(line) is not None and len(inside) > 1
            in_comment = _comment_open(line, in_comment)
            if once:
                self.once.add(inside[-1])
                self._append("\n")
            elif header is None:
                self._append(line if line.endswith("\n") else line + "\n")
            elif header in self.once or header in inside:
                self._append("\n")
            else:
                if len(inside) > MAXIMUM_INCLUDE_DEPTH:
                    rule = f"headers must nest at most {MAXIMUM_INCLUDE_DEPTH} deep"
                    raise HlsError(rule, "more", file=shown, line=number)
                name = self._name(header)
                self._append(f'# 1 "{name}"\n')
                self.add(header, name, inside)
                self._append(f'# {number + 1} "{shown}"\n')

    def _append(self, text: str) -> None:
        self.size_bytes += len(text.encode())
        if self.size_bytes > SOURCE_LIMIT_BYTES:
            rule = f"a program with its headers must be at most {SOURCE_LIMIT_BYTES} bytes"
            raise HlsError(rule, "more", file=str(self.main))
        self.pieces.append(text)

    def _read(self, path: Path) -> str:
        try:
            with path.open("rb") as stream:
                content = stream.read(SOURCE_LIMIT_BYTES + 1)
        except OSError as error:
            raise HlsError("a C file must be readable", str(error.strerror), file=str(path)) from error
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise HlsError("a C file must be UTF-8 text", "other bytes", file=str(path)) from error

    def _header(self, line: str, path: Path, shown: str, number: int) -> Path | None:
        """The local header a line includes, None for any other line and for headers that are not here."""
        found = _INCLUDE.match(line)
        if found is None:
            return None
        quoted, name = found[1] is not None, str(found[1] or found[2])
        folders = [path.parent, *self.roots[1:]] if quoted else self.roots[1:]
        if not quoted and (INCLUDE_FOLDER / name).is_file():
            return None
        for folder in folders:
            candidate = (folder / name).resolve()
            if not candidate.is_file():
                continue
            if not any(candidate.is_relative_to(root) for root in self.roots):
                rule = "a header must lie in the program's folder or in a given include folder"
                raise HlsError(rule, repr(name), file=shown, line=number)
            return candidate
        return None

    def _name(self, header: Path) -> str:
        """A header's path relative to the folder it was found in."""
        root = next(root for root in self.roots if header.is_relative_to(root))
        return header.relative_to(root).as_posix().replace("\\", "\\\\").replace('"', '\\"')


def _comment_open(line: str, in_comment: bool) -> bool:
    """Whether a block comment is open at the end of a line."""
    for found in _COMMENT_OR_TEXT.finditer(line):
        mark = found[0]
        if in_comment:
            in_comment = mark != "*/"
        elif mark == "//":
            return False
        elif mark == "/*":
            in_comment = True
    return in_comment
