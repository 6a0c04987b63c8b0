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
from assets.dvc_figures import write_figures
from assets.dvc_stages import dvc_stages
from assets.engines import present_tools, recorded_tools, write_tools
from assets.errors import FoundryError
from assets.materialise import prune_partitions
from assets.settings import Settings, ignore_progress
from assets.steps import STEPS
from assets.versions import record_stages, record_tools, table_hashes
from pipelines.schemas import table_path, table_spec


def _make(settings: Settings, *stages: str) -> None:
    steps = [step for step in STEPS if step.stage in stages]
    for step in (s for s in steps if s.is_active(settings)):
        for partition in step.partitions(settings):
            step.make(settings, partition, ignore_progress)
    prune_partitions(settings, steps)


def recorded_hashes(deployment: Deployment) -> dict[str, str]:
    """Hash by output path in dvc.lock."""
    stages = yaml.safe_load((deployment.project / "dvc.lock").read_text())["stages"].values()
    return {out["path"]: out["md5"] for stage in stages for out in stage.get("outs", ())}


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
    _make(settings, *(step.stage for step in STEPS if step.is_recorded))
    stages = list(dvc_stages())
    write_figures(settings.deployment.data_dir, stages)
    hashes = record_stages(settings.deployment, stages)
    assert hashes.keys() == {f"data/tables/{table}" for step in STEPS for table in step.recorded}
    project = settings.deployment.project
    assert "up to date" in _dvc(project, "status")
    shown = json.loads(_dvc(project, "metrics", "show", "--json"))[""]["data"]
    labels, models = (shown[f"data/figures/{name}.json"]["data"] for name in ("labels", "models"))
    assert labels["ok"] == 32
    assert models == {"area_um2": {"least_test_mape": 0.25}}
    assert len(_leaves(labels)) + 4 <= 10
    assert "data/figures/errors.csv" in _dvc(project, "plots", "show", "--json")


def _leaves(tree: Any) -> list[Any]:
    return [leaf for part in tree.values() for leaf in _leaves(part)] if isinstance(tree, dict) else [tree]


def test_trained_figures_have_no_hash(settings: Settings, engines: Any) -> None:
    locked = {table for step in STEPS for table in step.recorded}
    assert locked.isdisjoint(("leaderboard", "workload_errors", "predictor_costs"))
    text = (settings.deployment.project / "dvc.yaml").read_text()
    assert "data/tables/leaderboard" not in text


def test_the_graph_of_stages_fits_a_terminal(settings: Settings) -> None:
    lines = _dvc(settings.deployment.project, "dag").splitlines()
    assert max(map(len, lines)) <= 80
    assert any("| labels |" in line for line in lines)


def test_dvc_reads_every_version_constant(repository: Path) -> None:
    from dvc.utils.serialize import parse_py

    for constant in {constant for step in STEPS for constant in step.constants}:
        path = repository / constant.file
        assert parse_py(path.read_text(), path)[constant.name] == constant.value


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


def test_recording_that_is_killed_leaves_the_earlier_lock(
    settings: Settings, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    _make(settings, "programs")
    record_stages(settings.deployment, ["programs"])
    lock = settings.deployment.project / "dvc.lock"
    before = lock.read_bytes()
    path = _programs(settings.deployment)
    path.with_name("other.parquet").write_bytes(path.read_bytes())
    with monkeypatch.context() as patch:
        patch.setattr("dvc.utils.serialize._yaml._dump", killed)  # the file is open and empty by then
        with pytest.raises(KeyboardInterrupt):
            record_stages(settings.deployment, ["programs"])
    assert lock.read_bytes() == before
    record_stages(settings.deployment, ["programs"])
    assert lock.read_bytes() != before


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
    code = deployment.project / "pipelines" / "programs" / "suites.py"
    text = code.read_text()
    raised = text.replace('\n_VERSION = "', '\n_VERSION = "1')
    code.write_text(f"{text}\n# the code of an engine is no dependency of its stage\n")
    assert record_stages(deployment, ["programs"]) == first
    tools = recorded_tools(deployment.project)
    assert tools is not None
    cache = deployment.project / ".dvc" / "cache"
    changes: list[Callable[[], object]] = [
        lambda: code.write_text(raised),
        lambda: (code.write_text(text), write_tools(deployment.project, {**tools, "numpy": "2"})),
        lambda: (write_tools(deployment.project, tools), shutil.rmtree(cache)),
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


def test_push_pull_and_checkout_bring_the_tables_back(settings: Settings, engines: Any) -> None:
    deployment = settings.deployment
    _make(settings, "programs")
    record_stages(deployment, ["programs"])
    before = _programs(deployment).read_bytes()
    _dvc(deployment.project, "push", "programs")
    assert (deployment.data_dir / "remote").is_dir()
    shutil.rmtree(deployment.data_dir / "tables")
    shutil.rmtree(deployment.project / ".dvc" / "cache")
    _dvc(deployment.project, "pull", "programs")
    assert _programs(deployment).read_bytes() == before
    _programs(deployment).unlink()
    _dvc(deployment.project, "checkout", "programs")
    assert _programs(deployment).read_bytes() == before


def test_a_lock_of_other_tools_is_left_unless_it_is_asked_for(settings: Settings) -> None:
    deployment, present = settings.deployment, present_tools(settings.configuration)
    project = deployment.project
    assert record_tools(deployment, present, locks=False) == []  # there is no dvc.lock yet
    tools = recorded_tools(project)
    assert tools is not None
    assert tools["bambu"] is None  # not used
    (project / "dvc.lock").touch()
    other = {**tools, "gcc": "4.2.0", "bambu": "0.9"}
    write_tools(project, other)
    assert record_tools(deployment, present, locks=False) == [f"gcc {tools['gcc']}, not 4.2.0"]
    assert recorded_tools(project) == other
    assert record_tools(deployment, present, locks=True) == []
    assert recorded_tools(project) == tools


def test_versions_of_tools_rejects_a_damaged_file(settings: Settings) -> None:
    path = settings.deployment.project / "tools.yaml"
    for text, message in (("a: [", "not YAML: "), ("- gcc", "not a mapping of tools to versions: ")):
        path.write_text(text)
        with pytest.raises(FoundryError, match=f"^{message}.*tools.yaml"):
            recorded_tools(settings.deployment.project)


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
