"""Waiting for a confined program: its output, its clock, its usage, and the end of all its processes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import IO, Any

from pipelines.base.processes import processor_s, resident_bytes
from pipelines.base.sandbox.limits import (
    FILES,
    MEMORY,
    OUTPUT,
    TIME,
    ConfinedRun,
    Limits,
    SandboxError,
)
from pipelines.base.tools import (
    CLOCK,
    PROCESSOR,
    OutputStream,
    ended_by_processor_limit,
    machine_fault,
    output_streams,
    readable,
    require_going_on,
    stopwatch,
)

_OWN_CHILDREN = Path("/proc/thread-self/children")
_BLOCK_BYTES = 512  # unit of st_blocks, whatever the file system


def require_children_in_proc() -> None:
    """Raise unless the kernel lists the children of a process, which watching memory needs.

    Raises: SandboxError: the kernel does not list them.
    """
    if not _OWN_CHILDREN.exists():
        raise SandboxError(f"kernel lacks CONFIG_PROC_CHILDREN: no {_OWN_CHILDREN}")


def folder_exceeds(folder: Path, *, most_bytes: int, most_entries: int) -> bool:
    """Tell whether a folder that another process writes exceeds its limits.

    A subfolder that cannot be read counts as excess. The walk ends at the first excess.
    """
    entries = total = 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                for entry in listing:
                    entries += 1
                    total += _block_bytes(entry)
                    if entries > most_entries or total > most_bytes:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
        except FileNotFoundError:
            continue  # removed since it was listed
        except OSError:
            return True
    return False


def _block_bytes(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
    except FileNotFoundError:
        return 0


WATCH_S = 0.02
_LOOKS_PER_WALK = 10
_STATUS_LIMIT_BYTES = 1 << 14
_LAST_WORDS = 400
_SIGNAL_BASE, _LAST_SIGNAL = 128, 64  # bubblewrap exits with 128 + signal when a signal ended the program
_NEEDS = (
    "run as root of a machine (a plain container is none), or permit unprivileged user namespaces "
    "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; Linux 5.14)"
)


class Supervision:
    """One running bubblewrap, from its start to the end of everything in it."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        status: IO[bytes],
        start: IO[bytes],
        folder: Path,
        limits: Limits,
    ) -> None:
        """Take over a process that was just started.

        Args:
            process: bubblewrap, with pipes on standard output and error.
            status: where it reports its first process and the exit status, in JSON.
            start: where it waits for a byte before it runs the program.
            folder: the writable one.
            limits: those that are watched from outside.
        """
        self._process = process
        self._start = start
        self._folder = folder
        self._limits = limits
        self._out, self._err = output_streams(process, limits.output_bytes)
        self._status = OutputStream(file=status, most_bytes=_STATUS_LIMIT_BYTES)
        self._first: int | None = None
        self._handles = contextlib.ExitStack()
        self._first_handle: int | None = None
        self._stopped_by: str | None = None
        self._processor_s = 0.0

    def wait(self) -> None:
        """Return when the program has ended or has passed a limit."""
        deadline = stopwatch() + self._limits.wall_s
        handle = self._close_later(os.pidfd_open(self._process.pid))
        looks = 0
        while self._stopped_by is None:
            require_going_on()
            remaining = deadline - stopwatch()
            ready = readable([handle, *(s.file.fileno() for s in self._open())], min(WATCH_S, remaining))
            if handle in ready:
                return
            for stream in [s for s in self._open() if s.file.fileno() in ready]:
                stream.take()
            self._begin_program()
            self._measure()
            looks += 1
            self._stopped_by = self._excess(remaining, walk=looks % _LOOKS_PER_WALK == 0)

    def end(self) -> None:
        """End every process of the program, and read their remaining output."""
        with self._handles:
            while self._first is None and not self._status.ended and not self._hold_first():
                self._status.take()  # without it, the first process could outlive bubblewrap
            if self._first_handle is not None:
                _kill(self._first_handle)
            self._process.kill()
            self._process.wait()
            if self._first_handle is not None:
                readable([self._first_handle], None)
            self._drain()

    def _drain(self) -> None:
        """Read every pipe to its end: no writer is left."""
        while streams := self._open():
            for stream in streams:
                stream.take()

    def result(self, wall_s: float) -> ConfinedRun:
        """Return the result of the run.

        Raises: SandboxError: bubblewrap did not start the program.
        """
        stopped_by = self._stopped_by or self._excess_at_the_end()
        exit_code = _field(self._status.content, "exit-code")
        if stopped_by is None and exit_code is None:
            said = self._err.text().strip() or f"no word from bubblewrap ({self._process.returncode})"
            raise SandboxError(f"cannot confine a program: {said[-_LAST_WORDS:]}; {_NEEDS}")
        returncode = _returncode(stopped_by, exit_code)
        limit = CLOCK if stopped_by == TIME else stopped_by
        if limit is None and ended_by_processor_limit(returncode, self._err.text()):
            limit, returncode = PROCESSOR, None
        return ConfinedRun(
            returncode=returncode,
            stdout=self._out.text(),
            stderr=self._err.text(),
            wall_s=wall_s,
            limit=limit,
            machine_fault=machine_fault(limit, returncode, self._err.text(), self._limits.wall_s),
            stopped_by=stopped_by,
            processor_s=self._processor_s,
        )

    def _close_later(self, descriptor: int) -> int:
        self._handles.callback(os.close, descriptor)
        return descriptor

    def _open(self) -> list[OutputStream]:
        return [s for s in (self._out, self._err, self._status) if not s.ended]

    def _begin_program(self) -> None:
        """Let the program run once its first process is known."""
        if self._first is None and self._hold_first():
            with contextlib.suppress(BrokenPipeError):  # bubblewrap failed and reports why
                self._start.write(b"\n")

    def _hold_first(self) -> bool:
        """Open the process that bubblewrap reports as its first: ending it ends all.

        It waits for our start signal until then, so the number cannot belong to another process.
        """
        self._first = _field(self._status.content, "child-pid")
        if self._first is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            self._first_handle = self._close_later(os.pidfd_open(self._first))
        return True

    def _measure(self) -> None:
        if self._first is not None:
            self._processor_s = max(self._processor_s, processor_s(self._first))

    def _excess(self, remaining_s: float, *, walk: bool) -> str | None:
        if remaining_s <= 0:
            return TIME
        if self._out.exceeded or self._err.exceeded:
            return OUTPUT
        if self._first is not None and resident_bytes(self._first) > self._limits.memory_bytes:
            return MEMORY
        return FILES if walk and self._folder_exceeds() else None

    def _excess_at_the_end(self) -> str | None:
        """Check the limits once more, so that the result does not depend on the time of the last check."""
        if self._out.exceeded or self._err.exceeded:
            return OUTPUT
        return FILES if self._folder_exceeds() else None

    def _folder_exceeds(self) -> bool:
        limits = self._limits
        return folder_exceeds(
            self._folder, most_bytes=limits.folder_bytes, most_entries=limits.folder_entries
        )


def _kill(handle: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)


def _field(status: bytearray, name: str) -> int | None:
    """Return a number in bubblewrap's report: one JSON document per line, the last one perhaps incomplete."""
    for line in status.split(b"\n")[:-1]:
        document: dict[str, Any] = json.loads(line)
        if name in document:
            return int(document[name])
    return None


def _returncode(stopped_by: str | None, exit_code: int | None) -> int | None:
    if stopped_by == TIME:
        return None
    if stopped_by is not None or exit_code is None:
        return -signal.SIGKILL
    ended_by = exit_code - _SIGNAL_BASE
    return -ended_by if 0 < ended_by <= _LAST_SIGNAL else exit_code
