"""A command in a child process that is watched: resident memory, processor time of reading, signals.

Foreign input can make a parser grow without end inside a C library, where no Python code runs: only another
process can end it. The parent imports nothing more than it has, waits, and says what was exceeded.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from pipelines.base.processes import processor_s, resident_bytes
from pipelines.base.tools import stopwatch

MEMORY_LIMIT_BYTES = 4 << 30
"""What any command has at most unless more is asked for."""
READING_S = 60.0
"""Processor time of reading one input."""
GRACE_S = 10.0
"""From a signal until a command that does not end is killed."""
_POLL_S = 0.05
_SPARE_BYTES = 64 << 20
_NOTE_BYTES = 256
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1


class _Watched:
    """What this process knows of its limits; the note is shared with the parent."""

    note: mmap.mmap | None = None
    memory_bytes: int | None = None


def memory_limit() -> int:
    """Return the bytes of resident memory for this process and its tools; the default without a limit."""
    return _Watched.memory_bytes or MEMORY_LIMIT_BYTES


def tool_memory(most_bytes: int) -> int:
    """Return the bytes that a tool may use within this process's limit; at most `most_bytes`."""
    if _Watched.memory_bytes is None:
        return most_bytes
    left = _Watched.memory_bytes - resident_bytes(os.getpid()) - _SPARE_BYTES
    return max(_SPARE_BYTES, min(most_bytes, left))


@contextmanager
def reading(what: str, *, most_s: float = READING_S) -> Generator[None]:
    """Read foreign input: the parent ends the command after `most_s` of processor time, tools included.

    Without a parent that watches, nothing is limited. In a block within a block the outer limit holds.

    Args: what: what is read, for the message.
    """
    note = _Watched.note
    if note is None or _words(note):
        yield
        return
    _write(note, f"{processor_s(os.getpid()) + most_s} {most_s} {what}")
    try:
        yield
    finally:
        _write(note, "")


def watched(
    memory_bytes: int, *, say: Callable[[str], None], more: str, exit_by_signal: int, failed: int
) -> None:
    """Go on in a child; this process waits for it, ends it when it exceeds a limit, and exits as it does.

    Returns in the child alone. A signal that ends commands is passed on; a child that has not ended within
    `GRACE_S` is killed. It is killed, too, when this process is.

    Args: say: shows one line of a problem. more: how a user raises the limit of memory.
          exit_by_signal: added to the number of a signal for the exit status. failed: status past a limit.
    """
    note = mmap.mmap(-1, _NOTE_BYTES)
    kept = signal.pthread_sigmask(signal.SIG_BLOCK, {*_FORWARDED, signal.SIGCHLD})
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _Watched.note, _Watched.memory_bytes = note, memory_bytes
        signal.pthread_sigmask(signal.SIG_SETMASK, kept)
        return
    _wait(child, note, memory_bytes, say, more, exit_by_signal, failed)


def _wait(
    child: int,
    note: mmap.mmap,
    memory_bytes: int,
    say: Callable[[str], None],
    more: str,
    exit_by_signal: int,
    failed: int,
) -> NoReturn:
    killed_at: float | None = None
    problem: str | None = None
    while True:
        got = signal.sigtimedwait([*_FORWARDED, signal.SIGCHLD], _POLL_S)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if got is not None and got.si_signo in _FORWARDED:
            if got.si_pid:  # a terminal sends Ctrl-C to the child itself
                os.kill(child, got.si_signo)
            killed_at = killed_at or stopwatch() + GRACE_S
        problem = problem or _excess(child, note, memory_bytes, more)
        if problem or (killed_at is not None and stopwatch() > killed_at):
            os.kill(child, signal.SIGKILL)
    if problem is not None:
        say(problem)
        os._exit(failed)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        say(f"the command was ended by {signal.Signals(-code).name}{_at(note)}")
    os._exit(exit_by_signal - code if code < 0 else code)


def _excess(child: int, note: mmap.mmap, memory_bytes: int, more: str) -> str | None:
    """Return the limit that a child exceeds."""
    if resident_bytes(child) > memory_bytes:
        return f"more than {memory_bytes / 2**30:.3g} GiB of memory{_at(note)}; {more}"
    words = _words(note)
    if words and processor_s(child) > float(words[0]):
        return f"more than {float(words[1]):.0f} s of processor time{_at(note)}"
    return None


def _at(note: mmap.mmap) -> str:
    what = " ".join(_words(note)[2:])
    return f" while reading {what}" if what else ""


def _words(note: mmap.mmap) -> Sequence[str]:
    """Return the words of the note; none while the other process writes it."""
    number, content = note[0], note[1:]
    if number % 2 or note[0] != number:
        return ()
    return content.rstrip(b"\0").decode("utf-8", "replace").split()


def _write(note: mmap.mmap, text: str) -> None:
    """Write the note. Its first byte counts the writes; it is odd during one."""
    number = note[0]
    note[0] = (number + 1) % 256
    note[1:] = text.encode()[: _NOTE_BYTES - 1].ljust(_NOTE_BYTES - 1, b"\0")
    note[0] = (number + 2) % 256
