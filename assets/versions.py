"""Data versions: what DVC records of a stage's tables.

DVC takes a lock, so this is called from one process at a time (deployments.py).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import yaml

from assets.deployments import PARAMETERS_FILE, QUIET_ENVIRONMENT, Deployment
from assets.engines import Constant, other_versions, recorded_tools, write_tools
from assets.errors import FoundryError, explain

TABLES = "data/tables/"
IGNORED = ("__pycache__", "*.pyc", ".*.parquet.*")
"""The patterns of .dvcignore."""


def record_tools(deployment: Deployment, present: Mapping[str, str | None], *, locks: bool) -> list[str]:
    """Write the versions of tools beside dvc.lock, unless dvc.lock was made with other ones.

    Args:    present: versions; see `present_tools`. locks: whether to write them although they are others.
    Returns: the others; then dvc.lock is not to be written.
    Raises:  FoundryError: the file of earlier versions is damaged. OSError: not writable.
    """
    recorded = recorded_tools(deployment.project) if (deployment.project / "dvc.lock").is_file() else None
    others = other_versions(present, recorded or {})
    if others and not locks:
        return others
    write_tools(deployment.project, present)
    return []


def record_stages(deployment: Deployment, stages: Sequence[str]) -> dict[str, str]:
    """Record the tables of stages, as they are on disk now, in the DVC cache and dvc.lock.

    Returns: DVC hash of the tables by path relative to the project; empty when they are not under DVC.
    Raises:  FoundryError: DVC refused; the message has its reason. SchemaError: a table is damaged.
    """
    if not deployment.is_versioned:
        return {}
    recorded = _recorded_stages(deployment.project)
    hashes = {path: value for stage in stages for path, value in recorded.get(stage, {}).items()}
    stages = [stage for stage in stages if stage not in recorded]
    if not stages:
        return hashes
    with _repository(deployment.project) as repository:
        return hashes | _hashes(_committed(repository, stages), deployment.project)


def _committed(repository: Any, names: Iterable[str]) -> list[Any]:
    """Return stages of these names, committed as `dvc commit --force` does; dvc.lock is written once for all.

    Raises: FoundryError: DVC refused one; those before it are recorded.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import lock_repo

    stages: list[Any] = []
    with lock_repo(repository):
        try:
            for name in names:
                try:
                    for stage in repository.stage.collect(name):
                        stage.save()
                        stage.commit()
                        stages.append(stage)
                except DvcException as error:
                    raise FoundryError(f"DVC cannot record stage {name}: {explain(error)}") from error
        finally:
            _write_lock(repository, stages)
    return stages


def _write_lock(repository: Any, stages: Sequence[Any]) -> None:
    """Write dvc.lock whole or not at all; DVC writes it in place."""
    from dvc.dvcfile import LOCK_FILE, Lockfile

    lock = Path(repository.root_dir) / LOCK_FILE
    with tempfile.TemporaryDirectory(dir=lock.parent, prefix=f".{LOCK_FILE}-") as folder:
        new = Path(folder) / LOCK_FILE
        if lock.is_file():
            shutil.copy(lock, new)
        Lockfile(repository, str(new)).dump_stages(stages)
        if new.is_file():
            new.replace(lock)


def _recorded_stages(project: Path) -> dict[str, dict[str, str]]:
    """Hash by output path of the stages that dvc.lock records as they are on disk now.

    DVC takes 10 s to find out the same: it parses dvc.lock and params.yaml some sixty times in Python.
    """
    lock, parameters = project / "dvc.lock", project / "params.yaml"
    if not lock.is_file() or not parameters.is_file():
        return {}
    stages: Mapping[str, Any] = (_load_yaml(lock) or {}).get("stages", {})
    declared: Mapping[str, Any] = _load_yaml(project / "dvc.yaml")["stages"]
    value = _Values(project)
    return {
        name: {out["path"]: out["md5"] for out in entry.get("outs", []) if out["path"].startswith(TABLES)}
        for name, entry in stages.items()
        if name in declared
        and _declared_paths(declared[name]) == _paths(entry)
        and all(part["md5"] == _hash(project, part["path"]) for part in _parts(entry))
        and all(_in_cache(project, out["md5"]) for out in entry.get("outs", []))
        and all(value.of(file, key) == of for file, group in _groups(entry) for key, of in group.items())
    }


def _in_cache(project: Path, value: str) -> bool:
    return (project / ".dvc" / "cache" / "files" / "md5" / value[:2] / value[2:]).is_file()


def _groups(entry: Mapping[str, Any]) -> Collection[tuple[str, Mapping[str, Any]]]:
    """Return the files of parameters of a stage in dvc.lock, with the values by key."""
    return entry.get("params", {}).items()


def _parts(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*entry.get("deps", []), *entry.get("outs", [])]


def _paths(entry: Mapping[str, Any]) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """Return paths of dependencies and outputs, and file and key of parameters, of a stage in dvc.lock."""
    keys = {(file, key) for file, group in _groups(entry) for key in group}
    return {d["path"] for d in entry.get("deps", [])}, {o["path"] for o in entry.get("outs", [])}, keys


def _declared_paths(stage: Mapping[str, Any]) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """Return the paths of a stage in dvc.yaml: dependencies, outputs, parameters."""
    declared = (*stage.get("outs", ()), *stage.get("metrics", ()), *stage.get("plots", ()))
    outs = {out if isinstance(out, str) else next(iter(out)) for out in declared}
    groups = [{PARAMETERS_FILE: [one]} if isinstance(one, str) else one for one in stage["params"]]
    keys = {(file, key) for group in groups for file, of in group.items() for key in of}
    return set(stage["deps"]), outs, keys


@dataclass(slots=True)
class _Values:
    """Present values of parameters, each file read once."""

    project: Path
    contents: dict[str, Any] = field(default_factory=dict[str, Any])

    def of(self, file: str, key: str) -> Any:
        if file.endswith(".py"):
            return Constant(file, key).read(self.project)
        if file not in self.contents:
            path = self.project / file
            self.contents[file] = _load_yaml(path) if path.is_file() else None
        content = self.contents[file]
        for part in key.split("."):
            content = content.get(part) if isinstance(content, Mapping) else None
        return content


def _load_yaml(path: Path) -> Any:
    return yaml.load(path.read_bytes(), yaml.CSafeLoader)


def table_hashes(deployment: Deployment, tables: Iterable[str]) -> dict[str, str]:
    """Return DVC hash of the folders of tables as they are on disk now, by path relative to the project."""
    folder = deployment.data_dir / "tables"
    return {f"data/tables/{table}": _hash(folder, table) or "" for table in tables}


def _hash(folder: Path, path: str) -> str | None:
    """Return what DVC records: the MD5 of a file, or of a folder's list of files with theirs."""
    target = folder / path
    if target.is_file():
        return _md5(target.read_bytes())
    if not target.is_dir():
        return None
    files = sorted(p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file())
    kept = [name for name in files if not any(_is_ignored(part) for part in name.split("/"))]
    entries = [{"md5": _md5((target / name).read_bytes()), "relpath": name} for name in kept]
    return _md5(json.dumps(entries, sort_keys=True).encode()) + ".dir"


def _is_ignored(name: str) -> bool:
    """Tell whether .dvcignore leaves a file or folder of that name out."""
    return any(fnmatch(name, pattern) for pattern in IGNORED)


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


@contextmanager
def _repository(project: Path) -> Iterator[Any]:
    """Open DVC on the project, with its own messages silenced.

    DVC takes names of stages and paths from the working directory, which is the project meanwhile.
    """
    os.environ.update({k: os.environ.get(k, v) for k, v in QUIET_ENVIRONMENT.items()})
    from dvc.repo import Repo

    logger = logging.getLogger("dvc")
    level = logger.level
    with chdir(project):
        repository = Repo(str(project))
        try:
            logger.setLevel(logging.ERROR)
            yield repository
        finally:
            logger.setLevel(level)
            repository.close()


def _hashes(stages: Sequence[Any], project: Path) -> dict[str, str]:
    """Return the hashes of the outputs of stages that were just recorded."""
    outs = [out for stage in stages for out in stage.outs]
    hashes = {Path(out.fs_path).relative_to(project).as_posix(): str(out.hash_info.value) for out in outs}
    return {path: value for path, value in hashes.items() if path.startswith(TABLES)}
