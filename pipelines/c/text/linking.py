"""The other files of a program: which file of a folder defines a function or an object."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pipelines.base.files import read_bounded
from pipelines.c.text.preprocess import SOURCE_LIMIT_BYTES

MAXIMUM_FILES = 2000

_COMMENT = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_DEFINITION = re.compile(
    r"^(?P<before>[A-Za-z_][\w \t*]*[\s*])(?P<name>[A-Za-z_]\w*)[ \t\n]*\((?:[^(){};]|\([^(){};]*\))*\)\s*"
    r"(?:[A-Za-z_][\w \t\n*,\[\]]*;\s*)*\{",  # types of old-style parameters
    re.MULTILINE,
)


_OBJECT = re.compile(
    r"^(?P<before>[A-Za-z_][\w \t*]*[\s*])(?P<name>[A-Za-z_]\w*)[ \t\n]*(?:\[[^\]{};]*\][ \t\n]*)*=",
    re.MULTILINE,
)


def function_files(folders: Iterable[Path], main: Path) -> dict[str, Path]:
    """Return the C file of the folders, other than `main`, that defines each function.

    Static functions, `main`, and functions that several files define are left out.
    """
    return _owners(folders, main, _DEFINITION)


def object_files(folders: Iterable[Path], main: Path) -> dict[str, Path]:
    """Map the names of objects with an initialiser to the files that define them."""
    return _owners(folders, main, _OBJECT)


def skipped_files(folders: Iterable[Path], main: Path) -> list[str]:
    """Tell why C files of the folders are not searched: one text per file, or per folder with too many."""
    skipped: list[str] = []
    for folder in folders:
        files = sorted(folder.glob("*.c"))
        if len(files) > MAXIMUM_FILES:
            skipped.append(f"{len(files) - MAXIMUM_FILES} files of {folder} after the first {MAXIMUM_FILES}")
        for file in files[:MAXIMUM_FILES]:
            if file.resolve() != main.resolve() and file.stat().st_size > SOURCE_LIMIT_BYTES:
                skipped.append(f"{file}, larger than {SOURCE_LIMIT_BYTES} bytes")
    return skipped


def _owners(folders: Iterable[Path], main: Path, pattern: re.Pattern[str]) -> dict[str, Path]:
    index: dict[str, Path] = {}
    several: set[str] = set()
    files = (file for folder in folders for file in sorted(folder.glob("*.c"))[:MAXIMUM_FILES])
    for file in files:
        if file.resolve() == main.resolve():
            continue
        for name in _defined(file, pattern):
            several |= {name} if index.get(name, file) != file else set()
            index[name] = file
    return {name: file for name, file in index.items() if name not in several and name != "main"}


def _defined(file: Path, pattern: re.Pattern[str]) -> list[str]:
    """Return the names that a file defines for others."""
    try:
        content = read_bounded(file, what="C file", most_bytes=SOURCE_LIMIT_BYTES, error=OSError)
    except OSError:
        return []
    text = _COMMENT.sub(" ", content.decode("utf-8", errors="replace"))
    return [m["name"] for m in pattern.finditer(text) if "static" not in m["before"].split()]
