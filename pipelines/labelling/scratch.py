"""Folders that last for one tool run, and how many runs of a tool there are at a time."""

from __future__ import annotations

import fcntl
import os
import tempfile
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from pipelines.cache import ContentCache
from pipelines.labelling.options import LabelOptions


@contextmanager
def scratch_folder(cache: ContentCache) -> Generator[Path]:
    """An empty folder for one tool run, gone afterwards; on the disk of the cache."""
    base = cache.folder / "scratch"
    base.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=base, ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def tool_folder(cache: ContentCache, tool: str, options: LabelOptions) -> Generator[Path]:
    """A scratch folder, once the tool has a free slot.

    Args: tool: one of `SLOTTED`; without a number in `options.slots` as many run as there are workers.
    """
    with _slot(cache.folder / "slots", tool, options.slots.get(tool)), scratch_folder(cache) as folder:
        yield folder


@contextmanager
def _slot(folder: Path, tool: str, limit: int | None) -> Generator[None]:
    """Hold one of a tool's slots among all processes that share the cache; a dead process holds none."""
    if limit is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        files = [opened.enter_context((folder / f"{tool}-{i}").open("wb")) for i in range(limit)]
        if not any(_taken(file) for file in files):  # all are held: queue for one of them
            fcntl.flock(files[(os.getpid() + threading.get_ident()) % limit], fcntl.LOCK_EX)
        yield


def _taken(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
