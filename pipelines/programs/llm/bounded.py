"""A first reading of a variant in a process of its own, where it may take only so much time and memory.

Why: a reply of some hundred bytes can call its functions, or expand its macros, a million times, and the
front end and high-level synthesis run in the process that asks. What was read here is read there again.
"""

from __future__ import annotations

import atexit
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from threading import Lock

from pipelines.workers import ChildProcess

MEMORY_BYTES = 3 << 30
PROCESSOR_S = 60.0
"""Programs of the suite take some 0.2 s; a slow machine is within this."""


class BoundedReader:
    """One process that reads programs, started when it is first needed and again when it had to be ended."""

    def __init__(self, read: Callable[[str, str], None], *, processor_s: float = PROCESSOR_S) -> None:
        self._read = read
        self._processor_s = processor_s
        self._lock = Lock()
        self._child: ChildProcess | None = None

    def excess(self, source: str, top: str) -> str | None:
        """What the reading had too much of, None when it came to its end, whatever the end was.

        Args:   source: a program; top: its function.
        Raises: MachineFault: the machine ended the process, or had no time for it.
        """
        with self._lock:
            child = self._child or self._started()
            try:
                child.send((source, top))
                return child.receive(self._processor_s)
            except TimeoutError as error:
                self.end()
                return str(error)
            except BaseException:
                self.end()
                raise

    def end(self) -> None:
        """End the process, if there is one, whichever signals it ignores."""
        atexit.unregister(self.end)
        if self._child is not None:
            self._child.end()
            self._child = None

    def _started(self) -> ChildProcess:
        """The process, ready to read: its start takes no time of a program."""
        self._child = ChildProcess(_serve, self._read)
        atexit.register(self.end)
        try:
            self._child.receive()
        except BaseException:
            self.end()
            raise
        return self._child


def _serve(connection: Connection, read: Callable[[str, str], None]) -> None:
    """What the process does until the other end is closed."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    connection.send(None)
    while True:
        try:
            source, top = connection.recv()
        except EOFError:
            return
        connection.send(_attempt(read, source, top))


def _attempt(read: Callable[[str, str], None], source: str, top: str) -> str | None:
    try:
        read(source, top)
    except MemoryError:
        return f"more than {MEMORY_BYTES >> 30} GiB"
    except Exception:  # the caller meets it again and names it
        return None
    return None
