"""Output of `gcc -E` as a program: the text of system headers becomes their `#include`s again."""

from __future__ import annotations

import os
import re

_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)\s*$')
_SYSTEM_FOLDER = re.compile(
    r"^/usr/(?:local/)?(?:include|lib/gcc/[^/]+/[^/]+/include(?:-fixed)?)/(?:[\w]+-linux-gnu/)?"
)
_IMPLICIT = ("stdc-predef.h",)
"""Headers that gcc includes by itself."""


def is_expanded(text: str) -> bool:
    """Tell whether a text is what gcc's preprocessor printed, with its line markers."""
    return re.match(r'# \d+ "', text) is not None and '"<built-in>"' in text


def without_system_headers(text: str, folder: str) -> str:
    """Return a preprocessed program whose system headers are `#include`s, with line markers for its own
    files.

    Args:   folder: of the program; names of files in it become relative.
    """
    kept: list[str] = []
    system: set[str] = set()
    outside = False  # in a system header, or in what gcc defines
    for line in text.splitlines(keepends=True):
        marker = _MARKER.match(line)
        if marker is None:
            if not outside:
                kept.append(line)
            continue
        name, flags = marker[2], marker[3].split()
        if "1" in flags and "3" in flags:
            system.add(name)
        if name.startswith("<") or name in system or _SYSTEM_FOLDER.match(name):
            header = _SYSTEM_FOLDER.sub("", name)
            if not outside and not name.startswith("<") and header not in _IMPLICIT:
                kept.append(f"#include <{header}>\n")
            outside = True
            continue
        outside = False
        if marker[1] == "0":
            continue
        kept.append(f'# {marker[1]} "{_shown(name, folder)}"\n')
    return "".join(kept)


def _shown(name: str, folder: str) -> str:
    return os.path.relpath(name, folder) if name.startswith(f"{folder}/") else name
