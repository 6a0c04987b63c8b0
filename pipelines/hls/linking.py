"""The other files of a program: those of a folder that define functions which a text calls and lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from pipelines.headers import library_functions

MAXIMUM_FILES = 2000
_FILE_BYTES = 1 << 20

_COMMENT = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_DEFINITION = re.compile(
    r"^(?P<before>[A-Za-z_][\w \t*]*[\s*])(?P<name>[A-Za-z_]\w*)[ \t\n]*\((?:[^(){};]|\([^(){};]*\))*\)\s*\{",
    re.MULTILINE,
)


def needed_files(text: str, main: Path, sources: Sequence[Path]) -> list[Path]:
    """Files that define what a text calls and does not define, callees first.

    Args:    main: file of the text. sources: C files, which are all needed, and folders, whose C files are
             when they define a function that is called and missing.
    """
    given = [source for source in sources if source.is_file()]
    index = _index((source for source in sources if source.is_dir()), main)
    texts = [text, *(_plain(file) for file in given)]
    known = {name for one in texts for name in _defined(one, static=True)} | set(library_functions())
    found: list[Path] = []
    waiting = [_COMMENT.sub(" ", one) for one in texts]
    while waiting:
        called = dict.fromkeys(_CALL.findall(waiting.pop(0)))
        for name in called:
            file = index.get(name)
            if name in known or file is None or file in found or file in given:
                continue
            found.insert(0, file)
            content = _plain(file)
            known |= set(_defined(content, static=True))
            waiting.append(content)
    return [*found, *given]


def _index(folders: Iterable[Path], main: Path) -> dict[str, Path]:
    """The file that defines each function; functions that several files define are left out."""
    index: dict[str, Path] = {}
    several: set[str] = set()
    files = (file for folder in folders for file in sorted(folder.glob("*.c"))[:MAXIMUM_FILES])
    for file in files:
        if file.resolve() == main.resolve() or file.stat().st_size > _FILE_BYTES:
            continue
        for name in _defined(_plain(file), static=False):
            several |= {name} if index.get(name, file) != file else set()
            index[name] = file
    return {name: file for name, file in index.items() if name not in several and name != "main"}


def _plain(file: Path) -> str:
    """A file without comments and strings."""
    try:
        return _COMMENT.sub(" ", file.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""


def _defined(text: str, *, static: bool) -> list[str]:
    """Functions that a text defines."""
    found = _DEFINITION.finditer(text)
    return [m["name"] for m in found if static or "static" not in m["before"].split()]
