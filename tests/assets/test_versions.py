from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from assets import versions
from assets.deployments import Deployment
from assets.errors import FoundryError
from assets.materialise import prune_partitions
from assets.settings import Settings, ignore_progress
from assets.steps import STAGES, steps_of
from assets.versions import record_stages, table_hashes
from pipelines.schemas import table_path, table_spec


def _make(settings: Settings, stage: str) -> None:
    for step in (s for s in steps_of(stage) if s.is_active(settings)):
        for partition in step.partitions(settings):
            step.make(settings, partition, ignore_progress)
    prune_partitions(settings, steps_of(stage))


def recorded_hashes(deployment: Deployment) -> dict[str, str]:
    """Hash by output path in dvc.lock."""
    stages = yaml.safe_load((deployment.project / "dvc.lock").read_text())["stages"].values()
    return {out["path"]: out["md5"] for stage in stages for out in stage["outs"]}


def _programs(deployment: Deployment) -> Path:
    return table_path(deployment.data_dir, table_spec("programs"), "stencil")


def _dvc(project: Path, *arguments: str, **environment: str) -> str:
    """DVC's own command line, as a user types it."""
    found = subprocess.run(
        [sys.executable, "-m", "dvc", *arguments],
        cwd=project,
        env={**os.environ, "DVC_NO_ANALYTICS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def test_recorded_stages_are_up_to_date_for_dvc(settings: Settings, engines: Any) -> None:
    stages = [stage for stage in STAGES if any(step.recorded for step in steps_of(stage))]
    for stage in stages:
        _make(settings, stage)
    assert record_stages(settings.deployment, stages)
    project = settings.deployment.project
    assert "up to date" in _dvc(project, "status")
    shown = json.loads(_dvc(project, "metrics", "show", "--json"))[""]["data"]
    assert shown["data/figures/labels.json"]["data"]["ok"] == 32
    errors = shown["data/figures/models.json"]["data"]
    assert errors["tenset-mlp"]["area_um2"]["test"]["mape"] == 0.25
    assert "data/figures/errors.csv" in _dvc(project, "plots", "show", "--json")


def test_hashes_follow_the_content_and_only_the_content(settings: Settings, engines: Any) -> None:
    deployment = settings.deployment
    _make(settings, "programs")
    first = record_stages(deployment, ["programs"])
    assert list(first) == ["data/tables/programs"]
    assert recorded_hashes(deployment) == first
    os.utime(_programs(deployment))
    assert record_stages(deployment, ["programs"]) == first
    _programs(deployment).write_bytes(b"other content")
    assert record_stages(deployment, ["programs"]) != first


def test_what_is_recorded_already_needs_no_dvc(
    settings: Settings, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = settings.deployment
    _make(settings, "programs")
    first = record_stages(deployment, ["programs"])
    opened: list[Path] = []

    def refuse(project: Path) -> Any:
        opened.append(project)
        raise FoundryError("DVC was opened")

    monkeypatch.setattr(versions, "_repository", refuse)
    assert record_stages(deployment, ["programs"]) == first
    code = deployment.project / "pipelines" / "programs" / "code.py"
    changes: list[Callable[[], object]] = [
        lambda: code.write_text("changed"),
        lambda: (code.write_text(""), shutil.rmtree(deployment.project / ".dvc" / "cache")),
    ]
    for change in changes:
        change()
        with pytest.raises(FoundryError, match="DVC was opened"):
            record_stages(deployment, ["programs"])


def test_hashes_of_tables_are_those_that_dvc_records(settings: Settings, engines: Any) -> None:
    _make(settings, "programs")
    half = settings.deployment.data_dir / "tables" / "programs" / ".stencil.parquet.abc123"
    half.write_bytes(b"left by a killed run")
    assert table_hashes(settings.deployment, ["programs"]) == record_stages(settings.deployment, ["programs"])


def test_tables_elsewhere_are_not_recorded(settings: Settings, tmp_path: Path) -> None:
    import dataclasses

    elsewhere = dataclasses.replace(settings.deployment, data_dir=tmp_path / "elsewhere")
    assert record_stages(elsewhere, ["programs"]) == {}


def test_recording_rejects_a_stage_without_tables(settings: Settings) -> None:
    with pytest.raises(FoundryError, match="DVC cannot record stage programs: "):
        record_stages(settings.deployment, ["programs"])


def test_push_and_pull_bring_the_tables_back(settings: Settings, engines: Any, tmp_path: Path) -> None:
    deployment = settings.deployment
    _make(settings, "programs")
    record_stages(deployment, ["programs"])
    before = _programs(deployment).read_bytes()
    _dvc(deployment.project, "remote", "add", "--default", "store", str(tmp_path / "store"))
    _dvc(deployment.project, "push", "programs")
    shutil.rmtree(deployment.data_dir)
    shutil.rmtree(deployment.project / ".dvc" / "cache")
    _dvc(deployment.project, "pull", "programs")
    assert _programs(deployment).read_bytes() == before


@pytest.mark.slow
def test_repro_from_clean_gives_the_recorded_hashes(settings: Settings, tmp_path: Path) -> None:
    deployment = settings.deployment
    _make(settings, "programs")
    recorded = record_stages(deployment, ["programs"])
    shutil.rmtree(deployment.data_dir)
    shutil.rmtree(deployment.project / ".dvc" / "cache")
    (deployment.project / "dvc.lock").unlink()
    command = tmp_path / "bin" / "simfoundry"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m simfoundry.cli "$@"\n')
    command.chmod(0o755)
    repository = Path(__file__).resolve().parents[2]
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    _dvc(deployment.project, "repro", "programs", PATH=path, PYTHONPATH=str(repository))
    assert recorded_hashes(deployment) == recorded


def test_dvc_and_its_telemetry_are_quiet_by_configuration(repository: Path) -> None:
    text = (repository / ".dvc" / "config").read_text()
    assert "analytics = false" in text
    assert "check_update = false" in text
    settings_of_dagster = yaml.safe_load((repository / "dagster.yaml").read_text())
    assert settings_of_dagster["telemetry"] == {"enabled": False}
