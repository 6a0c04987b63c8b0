"""The committed dvc.lock is that of a run at scale smoke: such a run in a fresh clone changes no file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from assets.configuration import compose_configuration, parameters_text
from assets.deployments import QUIET_ENVIRONMENT, local_deployment
from assets.engines import other_versions, present_tools, recorded_tools
from assets.settings import Settings
from assets.steps import steps_of
from assets.versions import record_stages

ROOT = Path(__file__).resolve().parents[2]
ADVICE = "run `simfoundry run scale=smoke` and commit dvc.lock, tools.yaml and params.yaml"
QUICK_STAGES = ("programs", "network")


def run_in(project: Path, *argv: str) -> str:
    """Standard output of a command in a project."""
    variables = {"SIMFOUNDRY_PROJECT": str(project), "PYTHONPATH": str(ROOT), **QUIET_ENVIRONMENT}
    result = subprocess.run(
        argv, cwd=project, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def require_clean(project: Path, *stages: str) -> None:
    """Fail unless Git and DVC see no change in a project. Args: stages: to look at, every one by default."""
    assert run_in(project, "git", "status", "--porcelain") == "", ADVICE
    assert "up to date" in run_in(project, sys.executable, "-m", "dvc", "status", *stages), ADVICE


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A fresh clone with the committed and edited files of this checkout, and without tables."""
    present = present_tools(compose_configuration(["scale=smoke"]))
    others = other_versions(present, recorded_tools(ROOT) or {})
    if others:
        pytest.skip(f"dvc.lock was made with other tools: {', '.join(others)}")
    project = tmp_path / "clone"
    names = run_in(ROOT, "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    for name in filter(lambda name: (ROOT / name).is_file(), filter(None, names)):
        if not name.startswith(("releases/", "tests/", "docs/")):
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, project / name)
    run_in(project, "git", "init", "-q")
    run_in(project, "git", "add", "-A")
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    run_in(project, "git", *author, "commit", "-q", "-m", "clone")
    return project


def _parameters() -> Iterator[tuple[str, str, str, Any, Any]]:
    """Every parameter of a stage: stage, file, key, value in dvc.lock, present value."""
    from dvc.utils.serialize import parse_py

    lock, declared = (yaml.safe_load((ROOT / f"dvc.{ending}").read_text()) for ending in ("lock", "yaml"))
    for stage, content in declared["stages"].items():
        groups = [one if isinstance(one, dict) else {"params.yaml": [one]} for one in content["params"]]
        for file, keys in (item for group in groups for item in group.items()):
            text = (ROOT / file).read_text()
            present = parse_py(text, file) if file.endswith(".py") else yaml.safe_load(text)
            for key in keys:
                locked = lock["stages"][stage]["params"][file].get(key)
                yield stage, file, key, locked, _at(present, key)


def _at(content: Mapping[str, Any], key: str) -> Any:
    for part in key.split("."):
        content = content[part]
    return content


def test_parameters_are_those_of_scale_smoke() -> None:
    assert (ROOT / "params.yaml").read_bytes() == parameters_text(compose_configuration(["scale=smoke"]))


def test_the_lock_has_the_present_constants_options_and_tools() -> None:
    stale = [f"{stage}: {key} of {file}" for stage, file, key, locked, now in _parameters() if locked != now]
    assert not stale, ADVICE


def test_quick_stages_of_a_fresh_clone_change_nothing(clone: Path) -> None:
    deployment = local_deployment(clone)
    settings = Settings(configuration=compose_configuration(["scale=smoke"]), deployment=deployment)
    for step in (step for stage in QUICK_STAGES for step in steps_of(stage)):
        for partition in step.partitions(settings):
            step.make(settings, partition)
    record_stages(deployment, QUICK_STAGES)
    require_clean(clone, *QUICK_STAGES)


@pytest.mark.slow
def test_a_smoke_run_of_a_fresh_clone_changes_nothing(clone: Path) -> None:
    said = run_in(clone, sys.executable, "-m", "simfoundry.cli", "run", "scale=smoke")
    assert "dvc.lock is left as it is" not in said
    require_clean(clone)
