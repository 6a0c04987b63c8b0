"""Fixtures of the cycle-model tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def model_runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the compiled Verilator runtime is kept for the session."""
    return tmp_path_factory.mktemp("runtime")
