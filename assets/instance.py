"""Dagster's instance: its home folder, opening it, and what killed runs left in it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import dagster as dg
from sqlalchemy import Engine, event

from assets.deployments import QUIET_ENVIRONMENT, Deployment, require_whole_history

INSTANCE_SETTINGS = Path(__file__).resolve().parents[1] / "dagster.yaml"
PROCESS_TAG = "simfoundry/process"
_NO_CAPTURE = {
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
    }
}
"""Dagster would redirect standard error of a step to a file: progress would not reach the screen."""
_UNFINISHED = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


def prepare_home(deployment: Deployment) -> Path:
    """Make DAGSTER_HOME with our dagster.yaml; a dagster.yaml that is there already stays.

    Returns: the folder.
    Raises:  OSError: not writable.
    """
    home = deployment.dagster_home
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "dagster.yaml").exists():
        shutil.copyfile(INSTANCE_SETTINGS, home / "dagster.yaml")
    return home


def open_instance(deployment: Deployment) -> dg.DagsterInstance:
    """Return the instance the Dagster UI shows. Log lines of steps go to its storage, not to the screen.

    Raises: FoundryError: one of its databases is damaged.
    """
    os.environ.update({k: os.environ.get(k, v) for k, v in QUIET_ENVIRONMENT.items()})
    os.environ["DAGSTER_HOME"] = str(prepare_home(deployment))
    if not event.contains(Engine, "do_connect", _open_without_waiting):
        event.listen(Engine, "do_connect", _open_without_waiting)
    require_whole_history(deployment.dagster_home)
    # A persistent instance of a folder, with settings that replace its dagster.yaml's.
    return dg.DagsterInstance.local_temp(os.environ["DAGSTER_HOME"], overrides=_NO_CAPTURE)


def _open_without_waiting(dialect: Any, _: Any, arguments: Any, options: Any) -> Any:
    """Let SQLite under DAGSTER_HOME return before the disk has the bytes.

    Dagster opens and commits about a thousand times a run, 10 ms each on a busy disk. A killed process
    loses nothing this way; a crash of the whole machine may cost the history of runs, never a table. The
    file is known before it is opened: asking the connection for it reads the file's first page.

    Returns: the connection; None for any other database, which SQLAlchemy then opens itself.
    """
    home = os.environ.get("DAGSTER_HOME")
    if dialect.name != "sqlite" or not home or not arguments or not Path(arguments[0]).is_relative_to(home):
        return None
    connection = dialect.loaded_dbapi.connect(*arguments, **options)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def process_tag() -> str:
    """Return the id and start time of this process: a later one may have the same id."""
    return f"{os.getpid()}:{_start_time(os.getpid())}"


def release_dead_runs(instance: dg.DagsterInstance) -> int:
    """End runs whose process is gone, and give back the pool slots they still hold.

    Returns: how many there were.
    Raises:  FoundryError: the events of one are damaged.
    """
    dead = [run for run in _unfinished(instance) if not _is_alive(run.tags[PROCESS_TAG])]
    require_whole_history(Path(instance.root_directory), *(run.run_id for run in dead))
    for run in dead:
        instance.report_run_canceled(run, "the process was killed; the next run resumes its work")
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
    return len(dead)


def _unfinished(instance: dg.DagsterInstance) -> list[dg.DagsterRun]:
    runs = instance.get_runs(dg.RunsFilter(statuses=list(_UNFINISHED)))
    return [run for run in runs if PROCESS_TAG in run.tags]


def _is_alive(tag: str) -> bool:
    pid, _, started = tag.partition(":")
    return bool(pid.isdigit()) and _start_time(int(pid)) == started


def _start_time(pid: int) -> str:
    """Start time of a process in clock ticks since boot, from /proc; empty when it is gone."""
    with suppress(OSError):
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return after_name[19]
    return ""
