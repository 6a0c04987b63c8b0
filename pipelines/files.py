"""Regular files from users, read up to a limit.

Each function takes `error`, which makes the caller's exception from a message.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path

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
    """Content of a regular file, or of a link to one, of at most `most_bytes`.

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


def _refused(
    path: Path, what: str, problem: str, most_bytes: int, error: Callable[[str], Exception]
) -> Exception:
    limit = f"{most_bytes >> 20} MiB" if most_bytes >= 1 << 20 else f"{most_bytes} bytes"
    return error(f"cannot read the {what} {path}: {problem}; accepted: a regular file of at most {limit}")
