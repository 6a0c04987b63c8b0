"""A watched command: limits of memory and of reading, signals, and the exit status of what it watched."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pipelines.base import limited
from pipelines.base.limited import memory_limit, reading

PROGRAM = """
import os, signal, sys, time
from pipelines.base.limited import memory_limit, reading, watched

def say(problem):
    sys.stderr.write(problem + "\\n")

watched(200 << 20, say=say, more="accepted: less", exit_by_signal=128, failed=3)
"""
BODIES = {
    "ends": "assert memory_limit() == 200 << 20; sys.exit(7)",
    "grows": "with reading('x.v'):\n    words = []\n    while True:\n        words.append(bytes(1 << 20))",
    "reads on": "with reading('x.v', most_s=0.2):\n    while True:\n        pass",
    "reads well": "with reading('x.v', most_s=0.2):\n    pass\nend = time.process_time() + 0.5\n"
    "while time.process_time() < end:\n    pass",
    "crashes": "with reading('x.v'):\n    os.kill(os.getpid(), signal.SIGSEGV)",
    "sleeps": "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9)); print(os.getpid(), flush=True)\n"
    "time.sleep(600)",
}


def _start(body: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", PROGRAM + BODIES[body]]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("ends", 7, ""),
        ("grows", 3, "more than 0.195 GiB of memory while reading x.v; accepted: less\n"),
        ("reads on", 3, "more than 0 s of processor time while reading x.v\n"),
        ("reads well", 0, ""),
        ("crashes", 128 + signal.SIGSEGV, "the command was ended by SIGSEGV while reading x.v\n"),
    ],
)
def test_a_watched_command_ends_as_it_would_or_at_its_limit(body: str, status: int, said: str) -> None:
    command = _start(body)
    _, stderr = command.communicate()
    assert (command.returncode, stderr) == (status, said)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 9), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_signal_reaches_the_watched_process(number: int, status: int) -> None:
    command = _start("sleeps")
    assert command.stdout is not None
    child = int(command.stdout.readline())
    os.kill(command.pid, number)
    assert command.wait() == status
    command.communicate()
    while Path(f"/proc/{child}").exists():  # ends with the one that watches it, also when that was killed
        time.sleep(0.01)


def test_nothing_is_limited_without_a_watching_process() -> None:
    with reading("x.v", most_s=0.0):
        assert memory_limit() == 4 << 30


class _Torn(mmap.mmap):
    """A note whose first write stops in its middle, as the other process may see it."""

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(place, slice):
            super().__setitem__(slice(100, 256), value[99:255])
            raise KeyboardInterrupt
        super().__setitem__(place, value)


def test_a_note_that_is_being_written_has_no_words() -> None:
    note = _Torn(-1, limited._NOTE_BYTES)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(KeyboardInterrupt):
        limited._write(note, "1.0 60.0 " + "x" * 230)  # pyright: ignore[reportPrivateUsage]
    assert bytes(note).strip(b"\0")
    assert limited._words(note) == ()  # pyright: ignore[reportPrivateUsage]
