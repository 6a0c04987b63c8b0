"""Waiting for the answer of a process of this project, within a limit of processor time."""

from __future__ import annotations

from multiprocessing.connection import Connection

from pipelines.sandbox.limits import MachineFault
from pipelines.sandbox.supervision import processor_s
from pipelines.tools import PATIENCE, require_going_on, stopwatch

LOOK_S = 0.05


def answers_in_time(connection: Connection, process: int | None, *, timeout_s: float) -> bool:
    """Wait until the answer of a process, or its end, can be read.

    Args:    connection: to read from; timeout_s: processor time from now on, of the process and its tools.
    Returns: whether there was an answer before that.
    Raises:  MachineFault: there was none within PATIENCE times the limit by the clock.
    """
    start, before_s = stopwatch(), processor_s(process or 0)
    while not connection.poll(LOOK_S):
        require_going_on()
        if processor_s(process or 0) - before_s > timeout_s:
            return False
        if stopwatch() - start > PATIENCE * timeout_s:
            clock_s = PATIENCE * timeout_s
            raise MachineFault(f"the machine was too busy: no end within {clock_s:g} s by the clock")
    return True
