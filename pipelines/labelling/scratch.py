"""Folders that last for one tool run.

Belongs here: where they are. Does not: what happens in them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pipelines.cache import ContentCache


@contextmanager
def scratch_folder(cache: ContentCache) -> Generator[Path]:
    """An empty folder for one tool run, gone afterwards; on the disk of the cache."""
    base = cache.folder / "scratch"
    base.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=base, ignore_cleanup_errors=True) as name:
        yield Path(name)
