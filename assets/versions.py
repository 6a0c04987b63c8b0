"""Data versions: what DVC records of a stage's tables.

DVC takes a lock, so this is called from one process at a time (locks.py).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from assets.deployments import QUIET_ENVIRONMENT, Deployment
from assets.errors import FoundryError, explain


def record_stages(deployment: Deployment, stages: Sequence[str]) -> dict[str, str]:
    """Record the tables of stages, as they are on disk now, in the DVC cache and dvc.lock.

    Returns: DVC hash by path relative to the project; empty when the tables are not under DVC.
    Raises:  FoundryError: DVC refused; the message has its reason.
    """
    if not deployment.is_versioned:
        return {}
    from dvc.exceptions import DvcException

    hashes: dict[str, str] = {}
    with _repository(deployment.project) as repository:
        for stage in stages:
            try:
                committed = repository.commit(stage, force=True)
            except DvcException as error:
                raise FoundryError(f"DVC cannot record stage {stage}: {explain(error)}") from error
            hashes |= _hashes(committed, deployment.project)
    return hashes


def table_hashes(deployment: Deployment, tables: Iterable[str]) -> dict[str, str]:
    """DVC hash of the folders of tables as they are on disk now, by path relative to the project.

    It is what DVC will record: the MD5 of the list of files with their MD5, in order of name.
    """
    hashes: dict[str, str] = {}
    for table in tables:
        files = sorted((deployment.data_dir / "tables" / table).glob("[!.]*.parquet"))
        entries = [{"md5": _md5(path.read_bytes()), "relpath": path.name} for path in files]
        hashes[f"data/tables/{table}"] = _md5(json.dumps(entries, sort_keys=True).encode()) + ".dir"
    return hashes


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def recorded_hashes(deployment: Deployment) -> dict[str, str]:
    """DVC hash of every recorded path of dvc.lock, relative to the project."""
    import yaml

    path = deployment.project / "dvc.lock"
    if not deployment.is_versioned or not path.is_file():
        return {}
    content: Any = yaml.safe_load(path.read_text()) or {}
    stages: Mapping[str, Any] = content.get("stages", {})
    return {out["path"]: out["md5"] for entry in stages.values() for out in entry.get("outs", [])}


@contextmanager
def _repository(project: Path) -> Iterator[Any]:
    """DVC on the project, with its own messages silenced.

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
    """Hashes of the outputs of stages that were just recorded."""
    outs = [out for stage in stages for out in stage.outs]
    return {Path(out.fs_path).relative_to(project).as_posix(): str(out.hash_info.value) for out in outs}
