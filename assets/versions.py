"""Data versions: what DVC records of a stage's tables.

DVC takes a lock, so this is called from one process at a time (locks.py).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from assets.deployments import QUIET_ENVIRONMENT, Deployment
from assets.errors import FoundryError, explain


def record_stage(deployment: Deployment, stage: str) -> dict[str, str]:
    """Record the tables of a stage, as they are on disk now, in the DVC cache and dvc.lock.

    Returns: DVC hash by path relative to the project; empty when the tables are not under DVC.
    Raises:  FoundryError: DVC refused; the message has its reason.
    """
    if not deployment.is_versioned:
        return {}
    from dvc.exceptions import DvcException

    try:
        with _repository(deployment.project) as repository:
            committed = repository.commit(stage, force=True)
            return _hashes(committed, deployment.project)
    except DvcException as error:
        raise FoundryError(f"DVC must record stage {stage}, got: {explain(error)}") from error


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
