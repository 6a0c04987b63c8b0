"""Damaged databases of MLflow and Dagster: every command says which file, and how to go on."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from invoking import invoke

from assets.deployments import Deployment
from assets.errors import FoundryError
from assets.instance import PROCESS_TAG, open_instance, release_dead_runs
from assets.settings import Settings

NO_DATABASE, BROKEN_PAGES = "file is not a database", "database disk image is malformed"
HISTORY = "the history of runs and no table: move it away, and an empty one is made"
MODELS = "the registered models and no table: move it away, and `simfoundry run` registers them anew"


def _damage(path: Path, problem: str) -> str:
    """Damage a database, made when there is none, and say what commands say of it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE filler AS SELECT randomblob(100000) AS bytes")
    connection.close()
    content = bytearray(path.read_bytes())
    damaged_bytes = range(16) if problem == NO_DATABASE else range(100, 200)
    for index in damaged_bytes:
        content[index] ^= 0x55
    path.write_bytes(content)
    return f"{path} is damaged ({problem}); it holds "


@pytest.mark.parametrize("problem", [NO_DATABASE, BROKEN_PAGES])
def test_predict_names_the_damaged_registry(deployment: Deployment, tmp_path: Path, problem: str) -> None:
    program = tmp_path / "add.c"
    program.write_text("void add(int a[4]) {\n  for (int i = 0; i < 4; i++) a[i] = a[i] + 1;\n}\n")
    damage = _damage(deployment.project / "mlflow.db", problem)
    result = invoke("predict", str(program), "--top", "add")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"simfoundry: {damage}{MODELS}\n")


def test_stage_names_the_damaged_registry(settings: Settings, engines: Any) -> None:
    damage = _damage(settings.deployment.project / "mlflow.db", BROKEN_PAGES)
    result = invoke("stage", "models")
    assert result.exit_code == 1
    assert f"simfoundry: tenset_mlp tenset-mlp: {damage}{MODELS}" in result.stderr.splitlines()


@pytest.mark.slow
def test_run_makes_the_tables_beside_a_damaged_registry(project: Path, engines: Any) -> None:
    damage = _damage(project / "mlflow.db", NO_DATABASE)
    result = invoke(
        "run", "programs.suites=[stencil]", "hls.memory_delay=[2]", "hls.pipeline=[false]", "--json"
    )
    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"] == [
        f"{step}: {damage}{MODELS}"
        for step in (
            "engine_estimate_hls",
            "engine_estimate_run",
            "lightgbm_hls",
            "lightgbm_run",
            "lightgbm_static",
            "lightgbm_text",
            "loop_rules",
            "tenset_mlp",
            "promotions",
        )
    ]
    assert json.loads(result.stdout)["rows"]["labels"] > 0
    (project / "mlflow.db").unlink()
    assert invoke("stage", "models").exit_code == 0


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ["history/runs.db", "history/runs/index.db", "schedules/schedules.db"])
@pytest.mark.parametrize("command", ["run", "ui"])
def test_commands_name_a_damaged_database_of_dagster(deployment: Deployment, command: str, name: str) -> None:
    with open_instance(deployment):
        pass
    damage = _damage(deployment.dagster_home / name, BROKEN_PAGES)
    result = invoke(command, *(["--port", "0", "--mlflow-port", "0"] if command == "ui" else []))
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"simfoundry: {damage}{HISTORY}\n")
    (deployment.dagster_home / name).unlink()
    with open_instance(deployment) as instance:
        assert instance.get_runs() == []


def test_run_names_the_damaged_events_of_a_killed_run(deployment: Deployment) -> None:
    with open_instance(deployment) as instance:
        run = dg.DagsterRun(job_name="job", status=dg.DagsterRunStatus.STARTED, tags={PROCESS_TAG: "1:0"})
        instance.add_run(run)
        damage = _damage(deployment.dagster_home / "history" / "runs" / f"{run.run_id}.db", BROKEN_PAGES)
        with pytest.raises(FoundryError, match=f"^{re.escape(damage + HISTORY)}$"):
            release_dead_runs(instance)


def test_ui_names_the_damaged_registry(deployment: Deployment) -> None:
    damage = _damage(deployment.project / "mlflow.db", NO_DATABASE)
    result = invoke("ui", "--port", "0", "--mlflow-port", "0")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"simfoundry: {damage}{MODELS}\n")
