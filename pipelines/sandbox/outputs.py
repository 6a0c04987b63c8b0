"""Reading what a confined program left in its folder, without trusting it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pipelines.sandbox.errors import SandboxError


def read_output(path: Path, *, most_bytes: int) -> bytes:
    """Content of a regular file directly in the folder of a confined program that has ended.

    Raises: SandboxError: no file, a link, anything else than a regular file, or longer than allowed.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise SandboxError(f"output must be a regular file, got {error.strerror} ({path.name})") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SandboxError(
                f"output must be a regular file, got {stat.filemode(status.st_mode)} ({path.name})"
            )
        if status.st_size > most_bytes:
            raise SandboxError(
                f"output must be at most {most_bytes} bytes, got {status.st_size} ({path.name})"
            )
        return file.read(most_bytes)
