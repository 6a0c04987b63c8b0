"""Memory and processor time of a process and its descendants, as the kernel counts them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def resident_bytes(process: int) -> int:
    """Return the resident memory of a process and all its descendants; shared pages count once per process.

    A process that ends meanwhile counts as 0.
    """
    return sum(map(_process_bytes, _processes(process)))


def processor_s(process: int) -> float:
    """Return the processor time of a process and of all its descendants, ended ones included, in seconds."""
    return sum(map(_process_ticks, _processes(process))) / _TICKS_PER_S


def _processes(process: int) -> Iterator[Path]:
    """Yield the folders in /proc of a process and of all its descendants."""
    waiting = [process]
    while waiting:
        folder = Path("/proc") / str(waiting.pop())
        yield folder
        waiting += _children(folder)


def _process_ticks(folder: Path) -> int:
    """Return the processor time of a process and of the children that it waited for, user and system."""
    try:
        fields = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:15]))
    except (OSError, ValueError):
        return 0


def _process_bytes(folder: Path) -> int:
    try:
        return int((folder / "statm").read_text(encoding="ascii").split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


def _children(folder: Path) -> list[int]:
    children: list[int] = []
    try:
        for task in (folder / "task").iterdir():
            children += map(int, (task / "children").read_text(encoding="ascii").split())
    except OSError:
        return children
    return children
