"""SIGTERM and SIGHUP end a command as Ctrl-C does: its tools and its processes first, then itself.

Belongs here: what happens when a signal arrives. Does not: what a command says then (cli.py).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from threading import Thread
from types import FrameType
from typing import NoReturn

from pipelines.tools import end_tools

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_received: list[int] = []


def end_on_signals() -> None:
    """Make the signals of ENDING end the command; to be called once, by the main thread."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    Thread(target=_watch, args=(read,), daemon=True).start()
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a shell that puts it in the background
            signal.signal(number, _interrupt)


def received_signal() -> int:
    """The signal that ends this command; SIGINT when it was interrupted without one."""
    return _received[0] if _received else signal.SIGINT


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    """Interrupt the main thread; those who end the command need not ask twice."""
    for other in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    _received.append(number)
    raise KeyboardInterrupt


def _watch(wakeup: int) -> None:
    """End what this process has started when a signal arrives, whoever handles it.

    Dagster puts its own handlers in the place of ours while a step runs, and other threads than the main one
    see no signal at all.
    """
    while True:
        number = os.read(wakeup, 1)[0]
        if number in ENDING:
            _received.append(number)
            end_tools()
            for process in multiprocessing.active_children():
                process.terminate()
