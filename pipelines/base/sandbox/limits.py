"""Limits of a confined program, the result of its run, and reading its output files."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, fields
from pathlib import Path

from pipelines.base.tools import OUTPUT, ToolRun


class SandboxError(RuntimeError):
    """An invalid request, a machine that forbids confinement, or an output that is not a file."""


class MachineFault(RuntimeError):
    """The machine, not the input, ended or may have ended an attempt; the next attempt may succeed."""


__all__ = ["FILES", "MEMORY", "OUTPUT", "TIME", "ConfinedRun", "Limits"]

TIME = "time"
MEMORY = "memory"
FILES = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a confined program; every number is positive.

    Attributes:
        wall_s: elapsed time in seconds.
        cpu_s: processor time of each process in whole seconds; SIGXCPU ends it.
        memory_bytes: resident memory of all processes together; watched every 20 ms, so that a fast
            program is ended a little above it.
        address_bytes: address space of each process, exact; None for sanitized programs, which
            reserve terabytes that they never touch.
        file_bytes: length of each file; SIGXFSZ ends a process that writes beyond it.
        folder_bytes, folder_entries: all files in the folder together, watched every 0.2 s.
        output_bytes: standard output and error, each.
        processes: processes and threads that exist at one time, the program itself included.

    Raises: SandboxError: a limit that is not positive.
    """

    wall_s: float = 20.0
    cpu_s: int = 20
    memory_bytes: int = 4 << 30
    address_bytes: int | None = None
    file_bytes: int = 256 << 20
    folder_bytes: int = 1 << 30
    folder_entries: int = 1000
    output_bytes: int = 1 << 20
    processes: int = 1

    def __post_init__(self) -> None:
        """Refuse limits that are not positive."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not value > 0:
                raise SandboxError(f"{field.name} must be positive, got {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfinedRun(ToolRun):
    """Result of one confined run; a `ToolRun` whose texts are cut at the limit of output.

    A program that a signal ended and one that exits with 128 and that signal's number look the same,
    as in a shell: the return code is negative. `limit` may also be `memory` or `files`. Every run is bounded
    in processor time, so reaching the limit by the clock is a fault of the machine.

    Attributes:
        stopped_by: None when the program ended by itself or by a limit of its own process;
            otherwise `time`, `memory`, `files` or `output`, and all its processes were ended.
        processor_s: processor time of all its processes, as last seen: at most some 20 ms before the end.
    """

    stopped_by: str | None = None
    processor_s: float = 0.0


def read_output(path: Path, *, most_bytes: int) -> bytes:
    """Read the content of a regular file directly in the folder of a confined program that has ended.

    Raises: SandboxError: no file, a link, anything else than a regular file, or longer than allowed.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise SandboxError(f"output is not a regular file: {error.strerror} ({path.name})") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SandboxError(f"output is not a regular file: {stat.filemode(status.st_mode)} ({path.name})")
        if status.st_size > most_bytes:
            raise SandboxError(
                f"output has {status.st_size} bytes ({path.name}); accepted: at most {most_bytes}"
            )
        return file.read(most_bytes)
