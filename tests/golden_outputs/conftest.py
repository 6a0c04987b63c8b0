"""Folders that engines write to while their results are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_outputs import Folders


@pytest.fixture
def folders(tmp_path: Path, runtime_folder: Path, engine_folder: Path) -> Folders:
    """A private folder, and the compiled programs that all tests share."""
    return Folders(scratch=tmp_path, runtimes=runtime_folder, engines=engine_folder)
