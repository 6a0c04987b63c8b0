"""Where a deployment keeps things, its lock of one writer at a time, and whether its databases are whole."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from filelock import FileLock, Timeout

from assets.errors import FoundryError
from assets.stores import refusal, require_store_url, without_user
from pipelines.base.folders import (
    LEFTOVER_AGE_S,
    link_tree,
    put_in_place,
    replacing_folder,
    restore_folder,
)

DEPLOYMENT_VARIABLE = "SIMFOUNDRY_DEPLOYMENT"
PROJECT_VARIABLE = "SIMFOUNDRY_PROJECT"
NIGHTLY_VARIABLE = "SIMFOUNDRY_NIGHTLY"
"""Set by `simfoundry ui --nightly`: the schedule of the nightly run is on unless the UI switched it off."""
CLUSTER_VARIABLE = "SIMFOUNDRY_CLUSTER"
"""Address of Ray's head for steps that the UI or a schedule starts."""
MLFLOW_PORT = 5000
MLFLOW_PORT_VARIABLE = "SIMFOUNDRY_MLFLOW_PORT"
"""Set by `simfoundry ui` for its servers: the port of its MLflow UI, to which pages of models link."""
DEPLOYMENTS = ("local", "server")
SERVER_VARIABLES = ("SIMFOUNDRY_DATA_DIR", "SIMFOUNDRY_CACHE_DIR", "MLFLOW_TRACKING_URI", "DAGSTER_HOME")

STORE_VARIABLE = "SIMFOUNDRY_STORE"
CATALOGUE_VARIABLE = "SIMFOUNDRY_CATALOGUE"
TABLES_VARIABLE = "SIMFOUNDRY_TABLES"
"""Name of a set of tables in the catalogue: who works with another configuration has a set of one's own."""
SCRATCH_VARIABLE = "SIMFOUNDRY_SCRATCH"
"""Folder that takes what a question writes; cache, store and a registry in a file are only read."""
MAIN_TABLES = "main"
CATALOGUES = ("postgresql://USER:PASSWORD@HOST/DATABASE", "sqlite:///FILE")

PARAMETERS_FILE = "params.yaml"
REGISTRY_FILE = "mlflow.db"
INBOX = "inbox"
"""The suite of files that are dropped into the folder of that name."""
SUITES_FOLDER = "suites"
"""In the data folder: tables of suites of the user's own, a folder each."""

QUIET_ENVIRONMENT = {
    "DO_NOT_TRACK": "1",
    "DVC_NO_ANALYTICS": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DAGSTER_DISABLE_TELEMETRY": "1",
    "GIT_PYTHON_REFRESH": "quiet",
}
"""Switches of the tools that would otherwise call home, for this process and those it starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Where things are.

    Attributes:
        name: of DEPLOYMENTS.
        project: folder with dvc.yaml, params.yaml and conf/.
        data_dir: folder with tables/ and measured/.
        cache_dir: the content cache; several machines may share one.
        tracking_uri: MLflow's tracking and registry store.
        artifact_folder: folder of logged models; None when the tracking server decides.
        dagster_home: Dagster's run storage and dagster.yaml.
        folder: of one run alone, with its tables and its params.yaml; None for the project's own.
        store: URL of the object store that several machines share; None without one.
        catalogue: URL of the database of the catalogue of tables, with its password; None without one, and
            for a run in a folder, whose tables are its own.
        table_set: name of the set of tables in the catalogue; sets share the cache and nothing else.
        finished: cache that is only read, with what `cache_dir` lacks; None for a deployment that is written.
    """

    name: str
    project: Path
    data_dir: Path
    cache_dir: Path
    tracking_uri: str = field(repr=False)
    artifact_folder: Path | None
    dagster_home: Path
    folder: Path | None = None
    store: str | None = None
    catalogue: str | None = field(default=None, repr=False)
    table_set: str = MAIN_TABLES
    finished: Path | None = None

    @property
    def parameters_folder(self) -> Path:
        """Where params.yaml is."""
        return self.folder or self.project

    def in_folder(self, folder: Path) -> Deployment:
        """Return this deployment with tables and params.yaml in another folder and the same cache."""
        return replace(self, data_dir=folder.resolve(), folder=folder.resolve(), catalogue=None)

    def of_suite(self, name: str) -> Deployment:
        """Return this deployment with the tables of a user's suite, in a folder of `data/suites`.

        Raises: FoundryError: not a name of a folder.
        """
        _require_folder_name("suite", name)
        return self.in_folder(self.data_dir / SUITES_FOLDER / name)

    def read_only(self, scratch: Path) -> Deployment:
        """Return this deployment with a cache and a registry in a scratch folder.

        Its own cache is only read; of a registry in a file `copy_registry` makes the copy.
        """
        is_file = self.tracking_uri.startswith(_SQLITE)
        registry = {
            "tracking_uri": f"{_SQLITE}{scratch / REGISTRY_FILE}",
            "artifact_folder": scratch / "registered",
        }
        return replace(
            self, cache_dir=scratch / "cache", finished=self.cache_dir, **(registry if is_file else {})
        )

    @property
    def mlflow_address(self) -> str:
        """Where MLflow's UI answers: the tracking server, else the UI that `simfoundry ui` serves.

        It is shown, so it has no user and no password.
        """
        if self.tracking_uri.startswith(("http://", "https://")):
            scheme, _, rest = self.tracking_uri.partition("://")
            host, slash, path = rest.partition("/")
            return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}".rstrip("/")
        return f"http://127.0.0.1:{os.environ.get(MLFLOW_PORT_VARIABLE) or MLFLOW_PORT}"

    @property
    def is_versioned(self) -> bool:
        """Whether DVC can record the tables: in no catalogue, where dvc.yaml says, in a git repository."""
        if self.catalogue is not None:
            return False
        in_git = any((folder / ".git").exists() for folder in (self.project, *self.project.parents))
        return in_git and self.data_dir == self.project / "data" and (self.project / ".dvc").is_dir()


def _require_folder_name(what: str, name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
        raise FoundryError(
            f"not a name of a {what}: {name!r}; accepted: at most 64 letters, digits, dots, dashes and "
            "underscores, a letter or digit first"
        )


def find_project(environment: Mapping[str, str], start: Path) -> Path:
    """Find the project folder: SIMFOUNDRY_PROJECT, else one above `start`, else this checkout.

    Raises: FoundryError: SIMFOUNDRY_PROJECT is not a project folder.
    """
    named = environment.get(PROJECT_VARIABLE)
    if named:
        if not _is_project(Path(named)):
            raise FoundryError(
                f"no project folder: {named} ({PROJECT_VARIABLE}); "
                "accepted: a folder with dvc.yaml and workspace.yaml"
            )
        return Path(named).resolve()
    above = (folder for folder in (start, *start.parents) if _is_project(folder))
    return next(above, Path(__file__).resolve().parents[1])


def find_deployment(environment: Mapping[str, str] | None = None, start: Path | None = None) -> Deployment:
    """Find the deployment this process belongs to.

    Args:
        environment: variables, the process's own by default.
        start: folder to look for the project from, the working directory by default.

    Raises: FoundryError: an unknown deployment, or a variable of the server is not set.
    """
    variables = os.environ if environment is None else environment
    project = find_project(variables, (start or Path.cwd()).resolve())
    name = variables.get(DEPLOYMENT_VARIABLE) or "local"
    if name == "local":
        deployment = local_deployment(project, dagster_home=variables.get("DAGSTER_HOME"))
    elif name == "server":
        deployment = _server_deployment(project, variables)
    else:
        raise FoundryError(
            f"unknown deployment: {name!r} ({DEPLOYMENT_VARIABLE}); accepted: {', '.join(DEPLOYMENTS)}"
        )
    deployment = _shared(deployment, variables)
    scratch = variables.get(SCRATCH_VARIABLE)
    return deployment.read_only(Path(scratch)) if scratch else deployment


def _shared(deployment: Deployment, variables: Mapping[str, str]) -> Deployment:
    """Return a deployment with the store and the catalogue of the environment, if it has them.

    Raises: FoundryError: one without the other, or a URL of another kind; the message has no password.
    """
    store, catalogue = (variables.get(name) or None for name in (STORE_VARIABLE, CATALOGUE_VARIABLE))
    table_set = variables.get(TABLES_VARIABLE) or MAIN_TABLES
    _require_folder_name("set of tables", table_set)
    if store is None and catalogue is None:
        if table_set != MAIN_TABLES:
            raise FoundryError(
                f"not set: {STORE_VARIABLE}, {CATALOGUE_VARIABLE}; {TABLES_VARIABLE} needs them"
            )
        return deployment
    if store is None or catalogue is None:
        present, missing = (
            (STORE_VARIABLE, CATALOGUE_VARIABLE)
            if catalogue is None
            else (CATALOGUE_VARIABLE, STORE_VARIABLE)
        )
        raise FoundryError(f"not set: {missing}; {present} needs it, accepted: both or neither")
    if not re.match(r"postgres(ql(\+psycopg2)?)?://.|sqlite:///.", catalogue):
        scheme = catalogue.partition(":")[0][:20]
        raise FoundryError(
            f"not the URL of a catalogue: {scheme}:... ({CATALOGUE_VARIABLE}); "
            f"accepted: {', '.join(CATALOGUES)}"
        )
    return replace(deployment, store=require_store_url(store), catalogue=catalogue, table_set=table_set)


def local_deployment(project: Path, *, dagster_home: str | None = None) -> Deployment:
    """Return SQLite and files inside the project folder."""
    return Deployment(
        name="local",
        project=project,
        data_dir=project / "data",
        cache_dir=project / "data" / "cache",
        tracking_uri=f"{_SQLITE}{project / REGISTRY_FILE}",
        artifact_folder=project / "mlartifacts",
        dagster_home=Path(dagster_home) if dagster_home else project / ".dagster",
    )


def _server_deployment(project: Path, variables: Mapping[str, str]) -> Deployment:
    missing = [name for name in SERVER_VARIABLES if not variables.get(name)]
    if missing:
        raise FoundryError(
            f"not set: {', '.join(missing)}; deployment server needs {', '.join(SERVER_VARIABLES)}"
        )
    return Deployment(
        name="server",
        project=project,
        data_dir=Path(variables["SIMFOUNDRY_DATA_DIR"]).resolve(),
        cache_dir=Path(variables["SIMFOUNDRY_CACHE_DIR"]).resolve(),
        tracking_uri=variables["MLFLOW_TRACKING_URI"],
        artifact_folder=None,
        dagster_home=Path(variables["DAGSTER_HOME"]).resolve(),
    )


def _is_project(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ("dvc.yaml", "workspace.yaml"))


_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SQLITE = "sqlite:///"


def copy_registry(deployment: Deployment, scratch: Path) -> None:
    """Copy a registry in a file into a scratch folder, whole, over an earlier copy.

    Raises: FoundryError: it is damaged.
    """
    require_whole_registry(deployment)
    path = Path(deployment.tracking_uri.removeprefix(_SQLITE))
    if not deployment.tracking_uri.startswith(_SQLITE) or not path.is_file():
        return
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        copy = Path(folder) / REGISTRY_FILE
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
        copy.replace(scratch / REGISTRY_FILE)


def require_whole_registry(deployment: Deployment) -> None:
    """Check the model registry: a file must be whole, a server must answer.

    Raises: FoundryError: it is damaged, or nobody answers; MLflow would ask for minutes without a word.
    """
    if deployment.tracking_uri.startswith(("http://", "https://")):
        reason = refusal(deployment.tracking_uri)
        if reason is not None:
            raise FoundryError(
                f"no MLflow server answers at {without_user(deployment.tracking_uri)}: {reason}; accepted: "
                "MLFLOW_TRACKING_URI of a running server"
            )
    if deployment.tracking_uri.startswith(_SQLITE):
        _require_whole(
            Path(deployment.tracking_uri.removeprefix(_SQLITE)),
            "the registered models and no table: move it away, and `simfoundry run` registers them anew",
        )


def require_whole_history(home: Path, *runs: str) -> None:
    """Check Dagster's databases, and the event databases of some runs.

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


@contextmanager
def writing_to(data_dir: Path) -> Iterator[None]:
    """Hold the data folder; the kernel releases it when the process ends, however it ends.

    Raises: FoundryError: another process holds it; the message has its process id. Or it is no folder.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise FoundryError(f"not a folder: {data_dir}; accepted: an existing or a new folder") from error
    lock = FileLock(data_dir / ".lock", blocking=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout as error:
        holders = ", ".join(_holders(data_dir / ".lock")) or "of another user or computer"
        raise FoundryError(f"process {holders} is writing to {data_dir}; wait for it or end it") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def replacing_tables(data_dir: Path) -> Iterator[Path]:
    """Yield a folder with the tables of a data folder, and replace that when the block ends well.

    The process may be killed at any time: all tables are the former or the new ones. A kill between the two
    exchanges leaves new wall-clock columns beside the former tables, until the command is run again.
    """
    for room in _ROOMS:
        restore_folder(data_dir / room)
    for left in data_dir.glob(f"{_BESIDE}*"):
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(dir=data_dir, prefix=_BESIDE) as folder:
        for room in _ROOMS:
            (Path(folder) / room).mkdir()
            if (data_dir / room).is_dir():
                link_tree(data_dir / room, Path(folder) / room)
        yield Path(folder)
        for room in _ROOMS:
            put_in_place(Path(folder) / room, data_dir / room)


@contextmanager
def replacing_suite(suite: Deployment) -> Iterator[Deployment]:
    """Yield a copy of a suite's folder, and replace that when the block ends well; the lock is held.

    The process may be killed at any time: tables, wall-clock columns and params.yaml are the former or the
    new ones together. The copy's files are second names, the lock's too.
    """
    with replacing_folder(suite.data_dir, keeps=True, leftover_age_s=0.0) as folder:
        yield suite.in_folder(folder)


_BESIDE = ".beside-"
_ROOMS = ("measured", "tables")


def _holders(path: Path) -> list[str]:
    """Return the processes with a lock on a file, from /proc, children of a killed writer included."""
    holders: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile, or of another user
            holders += [process.name for info in (process / "fdinfo").iterdir() if _locks(info, path)]
    return holders


def _locks(info: Path, path: Path) -> bool:
    """Tell whether an open file of a process, by its entry in fdinfo, is a path and locked."""
    with suppress(OSError):  # closed meanwhile
        return "FLOCK" in info.read_text() and (info.parents[1] / "fd" / info.name).samefile(path)
    return False


def sweep_leftovers(data_dir: Path) -> None:
    """Remove half-written files that a killed process left beside the tables an hour ago or earlier."""
    for room in ("tables", "measured"):
        for path in (data_dir / room).glob("*/.*.parquet.*"):
            if time.time() - path.stat().st_mtime > LEFTOVER_AGE_S:
                path.unlink(missing_ok=True)
