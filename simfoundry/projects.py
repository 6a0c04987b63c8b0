"""Projects and runs from Python."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_MARKS = ("dvc.yaml", "workspace.yaml")
"""Files by which a folder is a project."""


def scratch_project(folder: Path | str | None = None) -> Path:
    """Make an empty project, and use it in this process: tables, registry and cache of its own.

    Args:    folder: new or empty; a temporary one by default, which stays after the process.
    Returns: the folder.
    Raises:  FoundryError: the folder holds other files.
    """
    from assets.deployments import PROJECT_VARIABLE
    from assets.errors import FoundryError

    project = Path(tempfile.mkdtemp(prefix="simfoundry-")) if folder is None else Path(folder).resolve()
    project.mkdir(parents=True, exist_ok=True)
    if any(path.name not in _MARKS for path in project.iterdir()):
        raise FoundryError(f"the folder holds other files: {project}; accepted: a new or an empty folder")
    for name in _MARKS:
        (project / name).touch()
    os.environ[PROJECT_VARIABLE] = str(project)
    return project


def run(*overrides: str, keeps: bool = False) -> dict[str, Any]:
    """Materialise every table of the project, and train the models, as `simfoundry run` does.

    Args:
        overrides: Hydra's, for example "scale=tiny", "programs.suites=[ast]".
        keeps: keep the tables of the earlier run in data/kept.
    Returns: rows by table, failures by reason, errors by predictor; `problems` is empty after a good run.
    Raises:  FoundryError: an override is not acceptable.
    """
    from assets.errors import needing

    with needing("foundry"):
        from simfoundry.commands.run import RunQuestion, answer_run

        return answer_run(RunQuestion(overrides=overrides, keeps=keeps))


def models() -> pl.DataFrame:
    """List the registered models: versions, aliases, reference errors, decisions."""
    import polars as pl

    from assets.errors import needing

    with needing("foundry"):
        from simfoundry.commands.models import list_models, models_json

        return pl.DataFrame(models_json(list_models()))
