"""Reading what `label` and `predict` are given: a C file and a configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assets.errors import FoundryError
from assets.source_options import SourceOptions
from pipelines.base.files import read_bounded
from pipelines.c import (
    BYTE_ORDER_MARK,
    Directive,
    HlsError,
    UnsizedArgument,
    bundle_source,
    default_top,
    derive_sizes,
    function_files,
    interface_of,
    object_files,
    parse_directives,
    read_function,
    read_with_sizes,
    require_result,
    sizes_text,
    skipped_files,
    with_plain_arguments,
)
from pipelines.c.signature import INT8, ScalarType
from pipelines.programs import ProgramError, default_range, program_from_file
from pipelines.schemas import ProgramRow

DIRECTIVES_LIMIT_BYTES = 1 << 20


_PLAIN = SourceOptions()


def read_user_program(
    file: Path, top: str | None, *, options: SourceOptions = _PLAIN, text: str | None = None
) -> ProgramRow:
    """Read the program of a C file, with the local headers it includes.

    A pointer argument without a size has as many elements as its accesses reach for drawn values. One to
    characters that are only read has TEXT_ELEMENTS when these have no bound, and is drawn as a text. The text
    then begins with the pragma that says so.

    Args:    top: function that becomes hardware; None for the one the file is about. text: of the program in
             place of the file's, which is a name alone then.
    Raises:  ProgramError: the file, a range or the name is not acceptable. HlsError: the file is not C, or
             nothing says which function is meant. FoundryError: an option is not acceptable.
    """
    program_from_file(file, top=top or "any", source=text)  # readable, whatever it includes
    for folder in map(Path, options.include):
        if not folder.is_dir():
            raise FoundryError(f"no such folder of headers: {folder}")
    is_open = top is None
    top, source = _whole_source(file, top, options, text)
    source, top = with_plain_arguments(source, top, file=str(file))
    if is_open and top == "main":
        require_result(source, file=str(file))
    ranges = {**_source_ranges(source, file), **dict(map(_range, options.ranges))}
    source = _with_sizes(source, top, file, dict(map(_size, options.sizes)), ranges)
    _require_no_tables(ranges, source, top)
    texts = _texts(source, top)
    source = _after(sizes_text(dict.fromkeys(texts, TEXT_ELEMENTS)), source, file) if texts else source
    specification = {name: {"kind": "text"} for name in texts} | ranges
    inputs = json.dumps(specification) if specification else None
    return program_from_file(file, top=top, source=source, inputs=inputs)


def _whole_source(
    file: Path, top: str | None, options: SourceOptions, own_text: str | None
) -> tuple[str, str]:
    """Return top function and the text, with those files of the source folders that define what it lacks."""
    paths = [Path(p) for p in options.others]
    folders = [p for p in paths if p.is_dir()]
    index = object_files(folders, file) | function_files(folders, file)
    skipped = skipped_files(folders, file)
    others = [p for p in paths if not p.is_dir()]
    include = [Path(p) for p in options.include]
    macros = _definitions(options.define)
    while True:
        text = bundle_source(file, include_folders=include, others=others, text=own_text, macros=macros)
        source = _after(macros, text, file)
        name = default_top(source, file.stem, file=str(file)) if top is None else top
        missing = missing_name(source, name) if index or skipped else None
        found = index.pop(missing, None) if missing is not None else None
        if skipped and missing is not None and found is None:
            raise FoundryError(f"no file of --source defines {missing}; not searched: {'; '.join(skipped)}")
        if found is None or found in others:
            return name, source
        others.insert(0, found)


def _with_sizes(
    source: str, top: str, file: Path, sizes: dict[str, int], ranges: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the text with the sizes of pointer arguments: those given, and those that accesses reach."""

    def drawn(name: str, kind: ScalarType) -> tuple[int, int]:
        own = ranges.get(name)
        low, high = default_range(kind) if own is None else (own["low"], own["high"])
        return int(low), int(high) - 1

    sized = _after(sizes_text(sizes), source, file) if sizes else source
    if sizes:
        _require_used(sized, top, file, sizes)
    try:
        derived = derive_sizes(sized, top=top, drawn=drawn, file=str(file))
    except HlsError:
        if _lacks_sizes(sized, top):
            raise  # what is wrong beside the sizes
        return sized  # labelling says why
    return _after(sizes_text(derived), sized, file) if derived else sized


def _require_used(source: str, top: str, file: Path, sizes: Mapping[str, int]) -> None:
    """Refuse a size of an array, whose own extent is the one that counts."""
    try:
        function, _ = read_with_sizes(source, top=top, file=str(file), size=1)
    except HlsError:
        return  # labelling says why
    for argument in interface_of(function).arguments:
        if argument.shape and argument.shape[0] != sizes.get(argument.name, argument.shape[0]):
            shape = "".join(f"[{extent}]" for extent in argument.shape)
            raise FoundryError(
                f"{sizes[argument.name]} elements for {argument.name}{shape}, an array; accepted: "
                f"{argument.shape[0]}; other sizes are those of pointer arguments"
            )


def _lacks_sizes(source: str, top: str) -> bool:
    """Tell whether the first thing that the front end refuses is a pointer argument without a size."""
    try:
        read_function(source, top=top)
    except UnsizedArgument:
        return True
    except HlsError:
        return False
    return False


TEXT_ELEMENTS = 64
"""Elements of a string argument that is read until its zero, if its length is unknown."""


def _texts(source: str, top: str) -> tuple[str, ...]:
    """Return the pointer arguments to characters that are only read, and whose accesses have no bound."""
    try:
        function, names = read_with_sizes(source, top=top, file="", size=TEXT_ELEMENTS)
    except HlsError:
        return ()  # labelling says why
    arguments = {a.name: a for a in interface_of(function).arguments if a.static is None}
    kinds = [arguments[name] for name in names]
    is_text = all(a.type == INT8 and not a.written and a.structure is None for a in kinds)
    return names if is_text else ()


def argument_sizes(source: str) -> dict[str, int]:
    """Return the sizes of pointer arguments that the first lines of a program's text give."""
    items = (item for match in _SIZE_PRAGMA.finditer(source) for item in match[1].split())
    return {name: int(size) for name, size in (item.split("=") for item in items)}


def missing_name(source: str, top: str) -> str | None:
    """Return a function or object that a program uses and does not define; None if it lacks nothing."""
    try:
        read_with_sizes(source, top=top, file="", size=1 << 16)
    except HlsError as error:
        missing = re.fullmatch(r"(?:a call of|the extern) (\w+)", error.got)
        return missing[1] if missing else None
    return None


_NUMBER = r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)"
_RANGE = re.compile(rf"([A-Za-z_]\w*)={_NUMBER}:{_NUMBER}")
_RANGE_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+simfoundry[ \t]+range\b(.*)$", re.MULTILINE)


_SIZE = re.compile(r"([A-Za-z_]\w*)=([1-9]\d{0,7})")
_SIZE_PRAGMA = re.compile(r"^#pragma simfoundry size ((?:\w+=\d+ ?)+)$", re.MULTILINE)


def _size(text: str) -> tuple[str, int]:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise FoundryError(f"unknown size: {text!r}; accepted: NAME=N with a positive number, as a=64")
    return match[1], int(match[2])


def _range(text: str) -> tuple[str, dict[str, Any]]:
    """Return an argument's name and the specification of its drawn values."""
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise FoundryError(f"unknown range: {text!r}; accepted: NAME=LOW:HIGH with numbers, as n=0:16")
    low, high = (float(end) if "." in end or "e" in end else int(end) for end in (match[2], match[3]))
    if low >= high:
        raise FoundryError(
            f"empty range: {text.strip()!r}; accepted: NAME=LOW:HIGH with LOW below HIGH, which is excluded "
            "for integers, as n=5:6 for 5 alone"
        )
    return match[1], {"kind": "uniform", "low": low, "high": high}


def _source_ranges(source: str, file: Path) -> dict[str, dict[str, Any]]:
    """Return the ranges that `#pragma simfoundry range NAME=LOW:HIGH` gives, several in one line or more."""
    try:
        return dict(_range(text) for m in _RANGE_PRAGMA.finditer(source) for text in m[1].split())
    except FoundryError as error:
        raise FoundryError(f"{error} ({file})") from error


def _require_no_tables(ranges: Mapping[str, Any], source: str, top: str) -> None:
    """Refuse ranges of constant tables, which are no data of a run.

    Raises: ProgramError: a range names one.
    """
    try:
        arrays = read_function(source, top=top).arrays if ranges else ()
    except HlsError:
        return  # labelling says why
    arguments = ", ".join(array.name for array in arrays if array.external)
    for array in arrays:
        if array.name in ranges and not array.external:
            raise ProgramError(
                f"no range of {array.name}: it is a constant table, which keeps its initialiser; accepted: "
                f"scalar arguments and {arguments or 'no array'}"
            )


_MACRO = re.compile(r"[A-Za-z_]\w*(?:\((?:\s*(?:[A-Za-z_]\w*|\.\.\.)\s*(?:,(?=[^)])|(?=\))))*\))?")


def _definitions(macros: Sequence[str]) -> str:
    lines: list[str] = []
    for macro in macros:
        name, equals, text = macro.partition("=")
        if _MACRO.fullmatch(name) is None or "\n" in text:
            raise FoundryError(f"a macro must be NAME, NAME=TEXT or NAME(ARGUMENTS)=TEXT, got {macro!r}")
        lines.append(f"#define {name} {text if equals else 1}\n")
    return "".join(lines)


def _after(lines: str, text: str, file: Path) -> str:
    """Return a text after further lines; its own lines keep their numbers, a byte order mark is dropped."""
    shown = file.name.replace("\\", "\\\\").replace('"', '\\"')
    return f'{lines}# 1 "{shown}"\n{text.removeprefix(BYTE_ORDER_MARK)}' if lines else text


def read_directives(file: Path | Sequence[Mapping[str, Any]] | None) -> tuple[Directive, ...]:
    """Read the directives of a JSON file, or those that are listed; none without a file.

    Raises: FoundryError: the file cannot be read. HlsError: it is not a list of directives.
    """
    if not isinstance(file, Path):
        return parse_directives(json.dumps([dict(one) for one in file or ()]))
    content = read_bounded(file, what="directives", most_bytes=DIRECTIVES_LIMIT_BYTES, error=FoundryError)
    try:
        return parse_directives(content.decode())
    except UnicodeDecodeError as error:
        raise FoundryError(f"directives must be UTF-8 text, got other bytes ({file})") from error
