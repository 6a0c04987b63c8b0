"""A compiled simulator in a confined process of its own, and the two pipes to it."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.base.sandbox import ConfinedRun, Limits, SandboxError, run_confined
from pipelines.base.tools import MEMORY_LIMIT_BYTES, ToolMissing
from pipelines.rtl.reuse.errors import RtlError

_LIFE_S = 30 * 24 * 3600
_PROCESSES = 64  # it may have threads
_PATIENCE_S = 10.0


class Session:
    """The process; it ends when this object does."""

    def __init__(
        self, program: Path, devices: Sequence[Path] = (), files: Mapping[str, bytes] | None = None
    ) -> None:
        """Start a program. Args: devices: files below /dev that it opens. files: in its working folder.

        Raises: RtlError: it cannot be started.
        """
        self.program = program
        theirs_in, self._request = os.pipe()
        self._answer, theirs_out = os.pipe()
        self._fate = _Fate()
        self._thread = threading.Thread(
            target=_run,
            args=(self._fate, program, devices, files, theirs_in, theirs_out),
            daemon=True,
            name="simulator",
        )
        self._thread.start()
        self._close = weakref.finalize(self, _end, self._request, self._answer, self._thread)

    def close(self) -> None:
        """End the process."""
        self._close()

    def send(self, *parts: NDArray[np.uint64]) -> None:
        """Send words."""
        content = memoryview(b"".join(part.tobytes() for part in parts))
        try:
            while content:
                content = content[os.write(self._request, content) :]
        except OSError as error:
            raise self._failure() from error

    def receive(self, into: NDArray[np.uint64]) -> None:
        """Fill an array with the next words of the answer."""
        rest = into.reshape(-1).view(np.uint8).data
        while rest:
            count = os.readv(self._answer, [rest])
            if count == 0:
                raise self._failure()
            rest = rest[count:]

    def _failure(self) -> RtlError:
        self._thread.join(_PATIENCE_S)
        return RtlError(f"the simulator ended: {self._fate.reason()} ({self.program.name})")


class _Fate:
    """How the process ended, once it has."""

    run: ConfinedRun | None = None
    error: Exception | None = None

    def reason(self) -> str:
        """Return one sentence."""
        if self.error is not None:
            return str(self.error)
        if self.run is None:
            return "no answer"
        if self.run.stopped_by is not None:
            return f"too much {self.run.stopped_by}"
        return self.run.last_words() if self.run.returncode else "by itself"


def _run(
    fate: _Fate,
    program: Path,
    devices: Sequence[Path],
    files: Mapping[str, bytes] | None,
    theirs_in: int,
    theirs_out: int,
) -> None:
    limits = Limits(wall_s=_LIFE_S, cpu_s=_LIFE_S, memory_bytes=MEMORY_LIMIT_BYTES, processes=_PROCESSES)
    with contextlib.suppress(KeyboardInterrupt), tempfile.TemporaryDirectory(prefix="simulator-") as name:
        try:
            fate.run = run_confined(
                (str(program), str(theirs_in), str(theirs_out)),
                folder=Path(name) / "box",
                readable=[program],
                files=files,
                limits=limits,
                inherited=(theirs_in, theirs_out),
                devices=devices,
            )
        except (SandboxError, ToolMissing, OSError) as error:
            fate.error = error


def _end(request: int, answer: int, thread: threading.Thread) -> None:
    os.close(request)
    os.close(answer)
    if thread is not threading.current_thread():  # the collector may run in that thread
        thread.join(_PATIENCE_S)
