"""Caches for tests of labelling."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.base.cache import ContentCache


@pytest.fixture(scope="session")
def new_cache(link_engines: Callable[[Path], Path]) -> Callable[[Path], ContentCache]:
    """Make a cache that has the compiled engines and no result."""
    return lambda folder: ContentCache(folder=link_engines(folder))
