"""One writer at a time on a data folder.

Belongs here: the lock that `run` and `stage` hold, and what a killed writer leaves behind. Does not:
Dagster's run storage (instance.py).
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assets.errors import FoundryError

LEFTOVER_AGE_S = 3600.0


@contextmanager
def writing_to(data_dir: Path) -> Iterator[None]:
    """Hold the data folder; the kernel lets go when the process ends, however it ends.

    Raises: FoundryError: another process holds it; the message has its process id.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    path = data_dir / ".lock"
    with path.open("a+") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            stream.seek(0)
            holder = stream.read().strip() or "unknown"
            raise FoundryError(
                f"one process at a time may write to {data_dir}, got one already "
                f"(process {holder}); wait for it or end it"
            ) from error
        stream.seek(0)
        stream.truncate()
        stream.write(str(os.getpid()))
        stream.flush()
        yield


def sweep_leftovers(data_dir: Path) -> None:
    """Remove half-written files that a killed process left beside the tables an hour ago or more."""
    for room in ("tables", "measured"):
        for path in (data_dir / room).glob("*/.*.parquet.*"):
            if time.time() - path.stat().st_mtime > LEFTOVER_AGE_S:
                path.unlink(missing_ok=True)
