"""Regular files from users, read up to a limit: the one door for every file that a person names.

Each function takes `error`, which makes the caller's exception from a message. What opens files without it
stands in `tests/base/test_one_reader.py` with its reason.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

YAML_LIMIT_BYTES = 1 << 20
MOST_DEPTH = 64
"""Levels of nesting in a YAML file; the loader in C recurs without a limit."""
MOST_SHOWN = 100
"""Characters of a value that a message repeats."""
_KINDS = {
    stat.S_IFBLK: "a block device",
    stat.S_IFCHR: "a character device",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}
"""Kinds of files that are not regular; links are followed."""


def open_regular(
    path: Path, *, what: str, most_bytes: int, error: Callable[[str], Exception]
) -> BufferedReader:
    """Open a regular file, or a link to one, of at most `most_bytes`.

    Args:   what: what the file is, for the message.
    Raises: error: it cannot be opened, is larger, or is a folder, a device, a pipe or a socket.
    """
    try:
        # O_NONBLOCK: without it, opening a pipe waits for a writer. It has no other effect here.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as problem:
        raise error(f"cannot read the {what} {path}: {problem.strerror}") from problem
    status = os.fstat(descriptor)
    kind = _KINDS.get(stat.S_IFMT(status.st_mode))
    if kind is not None or status.st_size > most_bytes:
        os.close(descriptor)
        raise _refused(path, what, kind or f"{status.st_size} bytes", most_bytes, error)
    return os.fdopen(descriptor, "rb")


def read_bounded(path: Path, *, what: str, most_bytes: int, error: Callable[[str], Exception]) -> bytes:
    """Read the content of a regular file, or of a link to one, of at most `most_bytes`.

    At most the limit is read, even when the file grows.

    Args:   what: what the file is, for the message.
    Raises: error: it cannot be read, is larger, or is a folder, a device, a pipe or a socket.
    """
    with open_regular(path, what=what, most_bytes=most_bytes, error=error) as file:
        try:
            content = file.read(most_bytes + 1)
        except OSError as problem:
            raise error(f"cannot read the {what} {path}: {problem.strerror}") from problem
    if len(content) > most_bytes:
        raise _refused(path, what, f"more than {most_bytes} bytes", most_bytes, error)
    return content


def read_text(path: Path, *, what: str, most_bytes: int, error: Callable[[str], Exception]) -> str:
    """Return text in UTF-8 of a regular file of at most `most_bytes`.

    Raises: error: as `read_bounded`; other bytes, or a zero byte, with their line.
    """
    content = read_bounded(path, what=what, most_bytes=most_bytes, error=error)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        byte = content[problem.start]
        raise error(f"{what} is not UTF-8: byte 0x{byte:02x} ({path}:{line})") from problem
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise error(f"{what} is not text: zero byte ({path}:{line})")
    return text


def read_yaml(path: Path, *, what: str, error: Callable[[str], Exception]) -> Any:
    """Read the value of a YAML file of at most `YAML_LIMIT_BYTES`; None when it is empty.

    Raises: error: as `read_text`; not YAML, an alias, nested too deep.
    """
    import yaml  # lazy import: no part of the base installation

    text = read_text(path, what=what, most_bytes=YAML_LIMIT_BYTES, error=error)
    try:
        return plain_yaml(text)
    except yaml.YAMLError as problem:
        raise error(f"not YAML: {path}: {' '.join(str(problem).split())[:300]}") from problem


def plain_yaml(text: str) -> Any:
    """Return YAML without aliases, by which a short text says an endless value, and not nested without end.

    Raises: yaml.YAMLError: not such a text.
    """
    import yaml  # lazy import: no part of the base installation

    class Loader(yaml.CSafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            counts = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
            if twice := [name for name, count in counts.items() if count > 1]:
                raise yaml.YAMLError(
                    f"the name {twice[0]!r} twice in one mapping, line {node.start_mark.line + 1}"
                )
            return super().construct_mapping(node, deep)

    depth = 0
    try:
        parse = cast(Callable[..., Iterator[yaml.Event]], yaml.parse)  # pyright: ignore[reportUnknownMemberType]
        for event in parse(text, yaml.CSafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise yaml.YAMLError("an alias; accepted: values written out")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEPTH:
                raise yaml.YAMLError(f"values nested deeper than {MOST_DEPTH} levels")
        return yaml.load(text, Loader)  # noqa: S506 (a safe one)
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as problem:
        # PyYAML raises these for broken texts by oversight
        raise yaml.YAMLError(f"a value that cannot be read: {_plain_reason(problem, text)}") from problem


def plain_json(text: str, *, keeps: bool = True) -> Any:
    """Return the value of a JSON text whose objects have distinct names.

    Args:   keeps: False only checks the text, in little memory, NaN and infinities aside.
    Raises: ValueError: not JSON, NaN or an infinity, nested too deep, a name twice in an object, or a number
            of too many digits; the message says where.
    """
    try:
        if not keeps:
            return json.loads(text, object_pairs_hook=_checked)
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refused_number)
    except (ValueError, RecursionError) as problem:
        raise ValueError(_plain_reason(problem, text)) from problem


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"the name {shown(counts.most_common(1)[0][0])!r} twice in one object")
    return value


def _checked(pairs: list[tuple[str, Any]]) -> None:
    _distinct(pairs)


def _refused_number(name: str) -> float:
    raise ValueError(f"{name}, which is no number of JSON")


def _plain_reason(problem: Exception, text: str) -> str:
    """Tell why Python cannot read a text, without words about its interpreter."""
    if isinstance(problem, RecursionError):
        return f"values nested too deep; accepted: {MOST_DEPTH} levels"
    most = sys.get_int_max_str_digits()
    digits = re.search(rf"\d{{{most + 1},}}", text) if most else None
    if digits is not None and "integer string conversion" in str(problem):
        line = text.count("\n", 0, digits.start()) + 1
        return f"a number of {len(digits[0])} digits in line {line}; accepted: {most} digits at most"
    return str(problem)


def shown(value: str) -> str:
    """Return a value as a message repeats it: its beginning when it is long."""
    if len(value) <= MOST_SHOWN:
        return value
    return f"{value[: MOST_SHOWN // 2]}... ({len(value)} characters)"


def _refused(
    path: Path, what: str, problem: str, most_bytes: int, error: Callable[[str], Exception]
) -> Exception:
    limit = f"{most_bytes >> 20} MiB" if most_bytes >= 1 << 20 else f"{most_bytes} bytes"
    return error(f"cannot read the {what} {path}: {problem}; accepted: a regular file of at most {limit}")
