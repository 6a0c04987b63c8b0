"""What a program uses, seen from outside: memory and processor time of its processes, size of its folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pipelines.sandbox.errors import SandboxError

_OWN_CHILDREN = Path("/proc/thread-self/children")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_BLOCK_BYTES = 512  # unit of st_blocks, whatever the file system


def require_children_in_proc() -> None:
    """Memory can be watched only where the kernel tells the children of a process.

    Raises: SandboxError: it does not.
    """
    if not _OWN_CHILDREN.exists():
        raise SandboxError(f"kernel must have CONFIG_PROC_CHILDREN, got no {_OWN_CHILDREN}")


def resident_bytes(process: int) -> int:
    """Resident memory of a process and all its descendants; shared pages count once a process.

    A process that ends while it is looked at counts as nothing.
    """
    return sum(map(_own_bytes, _processes(process)))


def processor_s(process: int) -> float:
    """Processor time of a process and of all its descendants, those that have ended included, in seconds."""
    return sum(map(_own_ticks, _processes(process))) / _TICKS_PER_S


def _processes(process: int) -> Iterator[Path]:
    """Folders in /proc of a process and of all its descendants."""
    waiting = [process]
    while waiting:
        folder = Path("/proc") / str(waiting.pop())
        yield folder
        waiting += _children(folder)


def _own_ticks(folder: Path) -> int:
    """Processor time of a process and of the children that it waited for, user and system."""
    try:
        fields = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:15]))
    except (OSError, ValueError):
        return 0


def _own_bytes(folder: Path) -> int:
    try:
        return int((folder / "statm").read_text(encoding="ascii").split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


def _children(folder: Path) -> list[int]:
    found: list[int] = []
    try:
        for task in (folder / "task").iterdir():
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    except OSError:
        return found
    return found


def folder_exceeds(folder: Path, *, most_bytes: int, most_entries: int) -> bool:
    """Whether a folder that somebody else is writing holds more than it may.

    A folder inside that cannot be read is more than it may. The walk ends with the first excess.
    """
    entries = total = 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                for entry in listing:
                    entries += 1
                    total += _block_bytes(entry)
                    if entries > most_entries or total > most_bytes:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
        except FileNotFoundError:
            continue  # gone since it was listed
        except OSError:
            return True
    return False


def _block_bytes(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
    except FileNotFoundError:
        return 0
