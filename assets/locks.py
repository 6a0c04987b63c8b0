"""One writer at a time on a data folder."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from assets.errors import FoundryError

LEFTOVER_AGE_S = 3600.0


@contextmanager
def writing_to(data_dir: Path) -> Iterator[None]:
    """Hold the data folder; the kernel releases it when the process ends, however it ends.

    Raises: FoundryError: another process holds it; the message has its process id.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    lock = FileLock(data_dir / ".lock", blocking=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout as error:
        holders = ", ".join(_holders(data_dir / ".lock")) or "of another user or computer"
        raise FoundryError(f"process {holders} is writing to {data_dir}; wait for it or end it") from error
    try:
        yield
    finally:
        lock.release()


def _holders(path: Path) -> list[str]:
    """Processes with a lock on a file, from /proc, children of a killed writer included."""
    holders: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile, or of another user
            for info in (process / "fdinfo").iterdir():
                is_locked = "FLOCK" in info.read_text()
                if is_locked and (process / "fd" / info.name).samefile(path):
                    holders.append(process.name)
    return holders


def sweep_leftovers(data_dir: Path) -> None:
    """Remove half-written files that a killed process left beside the tables an hour ago or earlier."""
    for room in ("tables", "measured"):
        for path in (data_dir / room).glob("*/.*.parquet.*"):
            if time.time() - path.stat().st_mtime > LEFTOVER_AGE_S:
                path.unlink(missing_ok=True)
