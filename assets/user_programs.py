"""Reading what `label` and `predict` are given: a C file and a configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assets.errors import FoundryError
from pipelines.files import read_bounded
from pipelines.hls import (
    Directive,
    HlsError,
    bundle_source,
    default_top,
    function_files,
    parse_directives,
    read_program,
)
from pipelines.programs import program_from_file
from pipelines.schemas import ProgramRow

DIRECTIVES_LIMIT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What belongs to a program beside its file.

    Attributes:
        define: macros as NAME or NAME=TEXT, as a compiler's -D takes them.
        include: folders of headers. others: further C files, and folders with them.
        ranges: of drawn values, as NAME=LOW:HIGH, HIGH excluded for integers; they win over those of the
            source.
    """

    define: tuple[str, ...] = ()
    include: tuple[Path, ...] = ()
    others: tuple[Path, ...] = ()
    ranges: tuple[str, ...] = ()


_PLAIN = SourceOptions()


def read_user_program(file: Path, top: str | None, *, options: SourceOptions = _PLAIN) -> ProgramRow:
    """The program of a C file, with the local headers it includes.

    Args:    top: function that becomes hardware; None for the one the file is about.
    Raises:  ProgramError: the file, a range or the name is not acceptable. HlsError: the file is not C, or
             nothing says which function is meant. FoundryError: an option is not acceptable.
    """
    program_from_file(file, top=top or "any")  # a readable C file, whatever it includes
    for folder in options.include:
        if not folder.is_dir():
            raise FoundryError(f"no such folder of headers: {folder}")
    top, source = _whole_source(file, top, options)
    ranges = {**_source_ranges(source, file), **dict(map(_range, options.ranges))}
    inputs = json.dumps(ranges) if ranges else None
    return program_from_file(file, top=top, source=source, inputs=inputs)


def _whole_source(file: Path, top: str | None, options: SourceOptions) -> tuple[str, str]:
    """The top function and the text, with those files of the source folders that define what it lacks."""
    index = function_files([p for p in options.others if p.is_dir()], file)
    others = [p for p in options.others if not p.is_dir()]
    while True:
        text = bundle_source(file, include_folders=options.include, others=others)
        source = _definitions(options.define, file) + text
        name = default_top(source, file.stem, file=str(file)) if top is None else top
        missing = _missing_function(source, name) if index else None
        found = index.pop(missing, None) if missing is not None else None
        if found is None or found in others:
            return name, source
        others.insert(0, found)


def _missing_function(source: str, top: str) -> str | None:
    """The function that a program calls and does not define; None when it is complete or wrong otherwise."""
    try:
        read_program(source, top=top)
    except HlsError as error:
        called = re.fullmatch(r"a call of (\w+)", error.got)
        return called[1] if called else None
    return None


_NUMBER = r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)"
_RANGE = re.compile(rf"([A-Za-z_]\w*)={_NUMBER}:{_NUMBER}")
_RANGE_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+simfoundry[ \t]+range\b(.*)$", re.MULTILINE)


def _range(text: str) -> tuple[str, dict[str, Any]]:
    """An argument's name and the specification of its drawn values."""
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise FoundryError(f"unknown range: {text!r}; accepted: NAME=LOW:HIGH with numbers, as n=0:16")
    low, high = (float(end) if "." in end or "e" in end else int(end) for end in (match[2], match[3]))
    return match[1], {"kind": "uniform", "low": low, "high": high}


def _source_ranges(source: str, file: Path) -> dict[str, dict[str, Any]]:
    """Ranges that `#pragma simfoundry range NAME=LOW:HIGH` gives, several in one line or more."""
    try:
        return dict(_range(text) for m in _RANGE_PRAGMA.finditer(source) for text in m[1].split())
    except FoundryError as error:
        raise FoundryError(f"{error} ({file})") from error


def _definitions(macros: Sequence[str], file: Path) -> str:
    """Lines that define macros, and that leave the numbers of the file's own lines as they are."""
    lines: list[str] = []
    for macro in macros:
        name, _, text = macro.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or "\n" in text:
            raise FoundryError(f"a macro must be NAME or NAME=TEXT, got {macro!r}")
        lines.append(f"#define {name} {text or 1}\n")
    shown = file.name.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(lines) + (f'# 1 "{shown}"\n' if lines else "")


def read_directives(file: Path | None) -> tuple[Directive, ...]:
    """Directives of a JSON file; none without a file.

    Raises: FoundryError: the file cannot be read. HlsError: it is not a list of directives.
    """
    if file is None:
        return ()
    content = read_bounded(file, what="directives", most_bytes=DIRECTIVES_LIMIT_BYTES, error=FoundryError)
    try:
        return parse_directives(content.decode())
    except UnicodeDecodeError as error:
        raise FoundryError(f"directives must be UTF-8 text, got other bytes ({file})") from error
