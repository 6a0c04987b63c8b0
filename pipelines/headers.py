"""The C headers of the project: the same text for the HLS front end and for gcc."""

from __future__ import annotations

from pathlib import Path

INCLUDE_FOLDER = Path(__file__).parent / "hls" / "include"
"""Searched for `#include <...>`, instead of the system's folders."""

HEADER_OPTIONS = (
    "-nostdinc",
    "-isystem",
    str(INCLUDE_FOLDER),
    "-U__has_include",  # other headers of a machine must not change a program
    "-U__has_include_next",
)
"""Arguments of gcc for a program: these headers and no others."""
