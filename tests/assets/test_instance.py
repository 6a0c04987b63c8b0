"""Dagster's instance: which databases may return before the disk has the bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine

from assets.deployments import local_deployment
from assets.instance import open_instance

OFF, FULL = 0, 2


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / ".dagster"))
    return tmp_path


def test_history_is_written_without_waiting_and_other_databases_are_not(home: Path) -> None:
    instance = open_instance(local_deployment(home))
    with instance.event_log_storage.index_connection() as connection:  # type: ignore[attr-defined]
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == OFF
    with create_engine(f"sqlite:///{home / 'other.db'}").connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == FULL
