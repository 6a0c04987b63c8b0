"""SQLite databases of MLflow and Dagster: whether they are whole, before these open them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from assets.deployments import Deployment
from assets.errors import FoundryError

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SQLITE = "sqlite:///"


def require_whole_registry(deployment: Deployment) -> None:
    """Check the model registry, where it is a file.

    Raises: FoundryError: it is damaged.
    """
    if deployment.tracking_uri.startswith(_SQLITE):
        _require_whole(
            Path(deployment.tracking_uri.removeprefix(_SQLITE)),
            "the registered models and no table: move it away, and `simfoundry run` registers them anew",
        )


def require_whole_history(home: Path, *runs: str) -> None:
    """Check Dagster's databases, and those of the events of some runs.

    Args:   home: DAGSTER_HOME; runs: their ids.
    Raises: FoundryError: one is damaged.
    """
    events = [f"history/runs/{run}.db" for run in runs]
    for name in ("history/runs.db", "history/runs/index.db", "schedules/schedules.db", *events):
        _require_whole(
            home / name, "the history of runs and no table: move it away, and an empty one is made"
        )


def _require_whole(path: Path, content: str) -> None:
    if not path.is_file():
        return
    with closing(sqlite3.connect(path)) as connection:
        try:
            [problem] = connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode not in _DAMAGED:
                return  # such as a lock or a full disk, which whoever opens it next meets too
            problem = str(error)
    if problem != "ok":
        raise FoundryError(f"{path} is damaged ({' '.join(problem.split())}); it holds {content}")
