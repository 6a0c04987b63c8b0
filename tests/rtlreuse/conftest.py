"""Folders for compiled designs."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def programs(engine_folder: Path) -> Path:
    return engine_folder


@pytest.fixture
def folder_for_all(tmp_path: Path) -> Path:
    """A folder that confined programs may read."""
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    return tmp_path
