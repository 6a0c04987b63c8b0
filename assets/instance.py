"""Dagster's instance: its home folder, opening it, and what killed runs left in it."""

from __future__ import annotations

import logging
import os
import shutil
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.runs.sqlite import SqliteRunStorage
from sqlalchemy import Engine, event
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from assets.deployments import QUIET_ENVIRONMENT, Deployment, require_whole_history
from assets.errors import FoundryError, needing

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

    Its dagster.yaml may name PostgreSQL, whose instance several machines share.

    Raises: FoundryError: one of its databases is damaged or does not answer. ExtraMissing: its database needs
            a package that is not installed.
    """
    os.environ.update({k: os.environ.get(k, v) for k, v in QUIET_ENVIRONMENT.items()})
    os.environ["DAGSTER_HOME"] = str(prepare_home(deployment))
    if not event.contains(Engine, "do_connect", _open_without_waiting):
        event.listen(Engine, "do_connect", _open_without_waiting)
    require_whole_history(deployment.dagster_home)
    with needing("cluster"), _explained_settings(deployment.dagster_home):
        # A persistent instance of a folder, with settings that replace its dagster.yaml's.
        instance = dg.DagsterInstance.local_temp(os.environ["DAGSTER_HOME"], overrides=_NO_CAPTURE)
        instance.get_runs_count(dg.RunsFilter(run_ids=["none"]))  # its database answers
    return instance


@contextmanager
def _explained_settings(home: Path) -> Iterator[None]:
    """Turn errors of dagster.yaml, and of the database that it names, into one line without its password."""
    where = home / "dagster.yaml"
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)  # Dagster warns of each try to connect
    try:
        yield
    except dg.DagsterInvalidConfigError as error:
        problem = " ".join(str(error).split())
        raise FoundryError(f"settings of Dagster are not acceptable: {problem} ({where})") from None
    except Exception as error:
        cause = error if isinstance(error, SQLAlchemyError) else error.__cause__  # of dagster-postgres' own
        if not isinstance(cause, SQLAlchemyError):
            raise
        problem = " ".join(str(getattr(cause, "orig", None) or cause).split())
        raise FoundryError(f"the database of {where} does not answer: {problem}") from None
    finally:
        root.setLevel(level)


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
    """Return what tells this process from every other: its id and start time, its machine and the boot of it.

    A later process may have the same id, and an instance may be that of several machines.
    """
    return f"{os.getpid()}:{_start_time(os.getpid())}:{socket.gethostname()}:{_boot()}"


def prepare_pools(instance: dg.DagsterInstance, pools: Iterable[str]) -> None:
    """Give pools their default limit in a database that machines share.

    Dagster itself does so when a step first needs a pool, and where two runs do at once in PostgreSQL, one of
    them fails: it goes on in a transaction that was refused.
    """
    limit = instance.global_op_concurrency_default_limit
    if limit is None or isinstance(instance.run_storage, SqliteRunStorage):
        return
    present = {pool.name for pool in instance.event_log_storage.get_pool_limits()}
    for pool in set(pools) - present:
        with suppress(IntegrityError):  # another run was faster: the transaction as a whole was refused
            instance.event_log_storage.set_concurrency_slots(pool, limit)


def release_dead_runs(instance: dg.DagsterInstance) -> int:
    """End runs whose process is gone, and give back the pool slots they still hold.

    Those of other machines are left where the instance is in a database that machines share.

    Returns: how many there were.
    Raises:  FoundryError: the events of one are damaged.
    """
    is_of_one_machine = isinstance(instance.run_storage, SqliteRunStorage)
    dead = [
        run
        for run in _unfinished(instance)
        if not _may_be_alive(run.tags[PROCESS_TAG], is_of_one_machine=is_of_one_machine)
    ]
    if is_of_one_machine:
        require_whole_history(Path(instance.root_directory), *(run.run_id for run in dead))
    for run in dead:
        instance.report_run_canceled(run, "the process was killed; the next run resumes its work")
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
    return len(dead)


def _unfinished(instance: dg.DagsterInstance) -> list[dg.DagsterRun]:
    runs = instance.get_runs(dg.RunsFilter(statuses=list(_UNFINISHED)))
    return [run for run in runs if PROCESS_TAG in run.tags]


def _may_be_alive(tag: str, *, is_of_one_machine: bool) -> bool:
    """Tell whether the process of a tag runs, as far as this machine can know."""
    pid, started, host, boot = [*tag.split(":"), "", "", ""][:4]
    if host != socket.gethostname() and not is_of_one_machine:
        return True
    is_of_this_boot = boot in ("", _boot())
    return is_of_this_boot and pid.isdigit() and _start_time(int(pid)) == started


def _boot() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def _start_time(pid: int) -> str:
    """Start time of a process in clock ticks since boot, from /proc; empty when it is gone."""
    with suppress(OSError):
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return after_name[19]
    return ""
