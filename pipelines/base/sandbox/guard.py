"""The guardian of this process: it ends the confined runs of a process that SIGKILL ended."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from pipelines.base.sandbox.limits import SandboxError

_SCRIPT = Path(__file__).with_name("guardian.py")


class _Guardian:
    """The pipe to the guardian and the mark of what it guards; one per process, from the first run on."""

    lock = threading.Lock()
    pipe: int | None = None
    mark = ""


@contextmanager
def guarded() -> Generator[list[str]]:
    """Have what is started in the block ended when this process ends within it.

    Gives:  arguments of bubblewrap by which the guardian recognises it; they have no effect on the program.
    Raises: SandboxError: the guardian cannot be started.
    """
    with _Guardian.lock:
        if not _told(b"+"):
            _start()
            _told(b"+")
        mark = _Guardian.mark
    try:
        yield ["--unsetenv", mark]
    finally:
        with _Guardian.lock:
            if mark == _Guardian.mark:
                _told(b"-")


def _told(word: bytes) -> bool:
    """Tell whether there was a guardian to tell a word."""
    if _Guardian.pipe is None:
        return False
    try:
        return os.write(_Guardian.pipe, word) > 0
    except BrokenPipeError:
        return False


def _start() -> None:
    _forget()
    read, _Guardian.pipe = os.pipe()
    _Guardian.mark = f"SIMFOUNDRY_GUARD_{uuid4().hex}"
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SCRIPT), _Guardian.mark],
            cwd="/",
            env={},
            stdin=read,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C and the kill of a process group do not reach it
        )
    except OSError as error:
        raise SandboxError(f"cannot start the guardian of confined runs: {error}") from error
    finally:
        os.close(read)
    process.returncode = 0  # it outlives this process, which does not wait for it


def _forget() -> None:
    if _Guardian.pipe is not None:
        os.close(_Guardian.pipe)
    _Guardian.pipe, _Guardian.mark = None, ""


def _forget_in_child() -> None:
    """Leave the guardian to the parent: with the pipe open in both, it would wait for the end of both."""
    _Guardian.lock = threading.Lock()
    _forget()


os.register_at_fork(after_in_child=_forget_in_child)
