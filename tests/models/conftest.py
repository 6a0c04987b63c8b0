"""Data folders and a registry for tests of predictors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from filelock import FileLock
from labelled_nests import NESTS, write_compiled, write_tables

from models.registry import RegistryStore


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A fresh data folder of all nests."""
    return write_tables(tmp_path / "data", NESTS)


@pytest.fixture(scope="session")
def lasting_data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that tests share and do not change."""
    return write_tables(tmp_path_factory.mktemp("models") / "data", NESTS)


@pytest.fixture(scope="session")
def compiled_data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with real designs, their graphs, and power; to read only, as all workers share it."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "compiled-nests"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            write_compiled(own / "compiled-nests-begun", NESTS).rename(folder)
    return folder


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> RegistryStore:
    """One SQLite registry for all tests; making its tables takes seconds."""
    folder = tmp_path_factory.mktemp("registry")
    return RegistryStore(tracking_uri=f"sqlite:///{folder / 'mlflow.db'}", artifact_folder=folder / "mlruns")
