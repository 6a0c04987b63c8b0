"""Caches for tests of labelling."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.base.cache import ContentCache


@pytest.fixture(scope="session")
def new_cache(runtime_folder: Path, engine_folder: Path) -> Callable[[Path], ContentCache]:
    """Make a cache that has the compiled engines and no result."""

    def make(folder: Path) -> ContentCache:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "runtime").symlink_to(runtime_folder)
        (folder / "engines").symlink_to(engine_folder)
        return ContentCache(folder=folder)

    return make
