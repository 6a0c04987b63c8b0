"""A first reading of a variant in a process of its own, where it may take only so much time and memory.

Belongs here: the process and its end. Does not: what is read, and what becomes of the result (checking.py).

Why: a reply of some hundred bytes can call its functions, or expand its macros, a million times, and the
front end and high-level synthesis run in the process that asks. What was read here is read there again.
"""

from __future__ import annotations

import atexit
import multiprocessing
import resource
from collections.abc import Callable
from multiprocessing.pool import Pool
from threading import Lock

MEMORY_BYTES = 3 << 30
WALL_S = 60.0
"""Programs of the suite take some 0.2 s; a busy machine and a slow one are within this."""


class BoundedReader:
    """One process that reads programs, started when it is first needed and again when it had to be ended."""

    def __init__(self, read: Callable[[str, str], None], *, wall_s: float = WALL_S) -> None:
        self._read = read
        self._wall_s = wall_s
        self._lock = Lock()
        self._pool: Pool | None = None

    def excess(self, source: str, top: str) -> str | None:
        """What the reading had too much of, None when it came to its end, whatever the end was.

        Args: source: a program; top: its function.
        """
        with self._lock:
            if self._pool is None:
                context = multiprocessing.get_context("forkserver")
                self._pool = context.Pool(1, initializer=_limit)
                atexit.register(self.end)
                self._pool.apply(_attempt, (_read_nothing, "", ""))  # its start takes no time of a program
            found = self._pool.apply_async(_attempt, (self._read, source, top))
            try:
                return found.get(timeout=self._wall_s)
            except multiprocessing.TimeoutError:
                self.end()
                return f"more than {self._wall_s:g} s"
            except BaseException:
                self.end()
                raise

    def end(self) -> None:
        """End the process, if there is one."""
        atexit.unregister(self.end)
        if self._pool is not None:
            self._pool.terminate()
            self._pool = None


def _read_nothing(source: str, top: str) -> None:
    del source, top


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _attempt(read: Callable[[str, str], None], source: str, top: str) -> str | None:
    try:
        read(source, top)
    except MemoryError:
        return f"more than {MEMORY_BYTES >> 30} GiB"
    except Exception:  # the caller meets it again and names it
        return None
    return None
