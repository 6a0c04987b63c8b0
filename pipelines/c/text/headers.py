"""The C headers of the project: the same text for the HLS front end and for gcc."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

INCLUDE_FOLDER = Path(__file__).parents[1] / "include"
"""Searched for `#include <...>`, instead of the system's folders."""

HEADER_OPTIONS = (
    "-nostdinc",
    "-isystem",
    str(INCLUDE_FOLDER),
    "-U__has_include",  # other headers of a machine must not change a program
    "-U__has_include_next",
)
"""Arguments of gcc for a program: these headers and no others."""

LIBRARY_FILE = Path(__file__).parents[1] / "library.c"
"""The functions that a program may call although it does not define them, as C."""

_HEADERS = ("ctype.h", "math.h", "stdlib.h", "string.h")
_FUNCTION = re.compile(r"^static (?:inline )?[\w ]+?\**(\w+)\(", re.MULTILINE)
_GUARD = re.compile(r"^#if(?:n?def) SIMFOUNDRY_OWN_(\w+)$", re.MULTILINE)
_ARGUMENTS = r"\((?:[^(){};]|\([^(){};]*\))*\)"


@cache
def library_functions() -> dict[str, str]:
    """Return the functions of the headers that have a body, each with its header."""
    return {
        name: header
        for header in _HEADERS
        for name in _FUNCTION.findall((INCLUDE_FOLDER / header).read_text())
        if not name.startswith("simfoundry_")
    }


@cache
def _own_pattern() -> re.Pattern[str]:
    headers = ("math.h", "simfoundry/own.h")
    names = "|".join(n for h in headers for n in _GUARD.findall((INCLUDE_FOLDER / h).read_text()))
    return re.compile(rf"\b({names})\b\s*{_ARGUMENTS}\s*\{{|#\s*define\s+({names})\b")


@lru_cache(maxsize=2)
def redefined_functions(source: str) -> tuple[str, ...]:
    """Return the functions of the headers that a program defines itself, as functions or macros; the headers
    leave them out.
    """
    return tuple(sorted({a or b for a, b in _own_pattern().findall(source)}))


def header_options(source: str) -> tuple[str, ...]:
    """Return the arguments of gcc for a program: the project's headers, without what the program defines."""
    return (*HEADER_OPTIONS, *(f"-DSIMFOUNDRY_OWN_{name}" for name in redefined_functions(source)))


@lru_cache(maxsize=2)
def is_library_needed(source: str) -> bool:
    """Tell whether a program names a function of a header that it does not include."""
    included = set(re.findall(r"#\s*include\s*<(\w+\.h)>", source))
    included |= {"string.h"} if "memory.h" in included else set()
    missing = [name for name, header in library_functions().items() if header not in included]
    return bool(missing) and re.search(rf"\b(?:{'|'.join(missing)})\s*\(", source) is not None
