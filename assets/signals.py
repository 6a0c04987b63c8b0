"""SIGTERM and SIGHUP end a command as Ctrl-C does: its tools and its processes first, then itself."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import select
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock, Thread, Timer, main_thread
from types import FrameType
from typing import NoReturn

from pipelines.base.tools import end_tools

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_INTERRUPTS = ("KeyboardInterrupt", "DagsterExecutionInterruptedError")
_RESUMES = ("run again to resume", "run again to begin anew")
_ending = [_RESUMES[0]]
_received: list[int] = []
_reported: list[int] = []
_queries: list[Callable[[], None]] = []
_queries_lock = Lock()
_AGAIN_S = 0.2
"""Between interrupts of a query: one that arrives before the query begins is lost."""


def end_on_signals(*, resumes: bool) -> None:
    """Make the signals of ENDING end the command; to be called once, by the main thread.

    Args: resumes: whether another run of the command goes on from finished work.
    """
    _ending[0] = _RESUMES[0] if resumes else _RESUMES[1]
    sys.unraisablehook = _show_unraisable
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    Thread(target=_watch, args=(read,), daemon=True).start()
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a shell that puts it in the background
            signal.signal(number, _interrupt)


def say_ended() -> None:
    """Write the line that says how the command was ended."""
    number = received_signal()
    _reported.append(number)
    how = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    sys.stderr.write(f"simfoundry: {how}; {_ending[0]}\n")


def was_reported() -> bool:
    """Tell whether that line was written."""
    return bool(_reported)


def ignore_signals() -> None:
    """Let no further signal of ENDING interrupt what is left to do."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def was_signalled() -> bool:
    """Tell whether a signal of ENDING has arrived."""
    return bool(_received)


def received_signal() -> int:
    """Return the signal that ends this command; SIGINT when it was interrupted without one."""
    return _received[0] if _received else signal.SIGINT


@contextmanager
def interrupted_by_signals(interrupt: Callable[[], None]) -> Generator[None]:
    """Call `interrupt` when a signal of ENDING arrives: for a library that computes long without Python."""
    with _queries_lock:
        _queries.append(interrupt)
    try:
        yield
    finally:
        with _queries_lock:
            _queries.remove(interrupt)


def _interrupt_queries() -> None:
    with _queries_lock:
        for interrupt in _queries:
            interrupt()


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
        while _received and not select.select([wakeup], [], [], _AGAIN_S)[0]:
            _interrupt_queries()
        number = os.read(wakeup, 1)[0]
        if number in ENDING:
            _received.append(number)
            end_processes()


def end_processes() -> None:
    """End the tools and the worker processes of this process."""
    end_tools()
    for process in multiprocessing.active_children():
        process.terminate()


def _show_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Report as Python does, except an interrupt while an object was being removed: it comes again."""
    if unraisable.exc_type.__name__ not in _INTERRUPTS:
        sys.__unraisablehook__(unraisable)
    elif unraisable.exc_type is KeyboardInterrupt:
        Timer(_AGAIN_S, _interrupt_main).start()


def _interrupt_main() -> None:
    """Raise KeyboardInterrupt in the main thread, whatever signals it ignores by now."""
    main = ctypes.c_ulong(main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(KeyboardInterrupt))
