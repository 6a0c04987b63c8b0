from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from assets.deployments import (
    SERVER_VARIABLES,
    copy_registry,
    find_deployment,
    local_deployment,
    require_whole_registry,
    writing_to,
)
from assets.errors import FoundryError, explain
from assets.overview import survey
from assets.settings import content_cache


def test_local_is_the_default_and_lies_in_the_project(project: Path) -> None:
    found = find_deployment({"SIMFOUNDRY_PROJECT": str(project)})
    assert found.name == "local"
    assert found.data_dir == project / "data"
    assert found.tracking_uri == f"sqlite:///{project}/mlflow.db"
    assert found.dagster_home == project / ".dagster"
    assert found.is_versioned


def test_project_is_found_from_a_folder_inside_it(project: Path) -> None:
    inside = project / "pipelines" / "hls"
    assert find_deployment({}, inside).project == project


def test_project_is_the_checkout_when_there_is_none_above(tmp_path: Path, repository: Path) -> None:
    assert find_deployment({}, tmp_path).project == repository


def test_server_is_configured_by_its_environment(project: Path, tmp_path: Path) -> None:
    variables = {name: str(tmp_path / name) for name in SERVER_VARIABLES}
    variables |= {"SIMFOUNDRY_DEPLOYMENT": "server", "SIMFOUNDRY_PROJECT": str(project)}
    found = find_deployment(variables)
    assert found.data_dir == tmp_path / "SIMFOUNDRY_DATA_DIR"
    assert found.cache_dir == tmp_path / "SIMFOUNDRY_CACHE_DIR"
    assert found.artifact_folder is None
    assert not found.is_versioned


def test_deployment_rejects_an_unknown_name(project: Path) -> None:
    with pytest.raises(
        FoundryError, match=r"unknown deployment: 'moon' .SIMFOUNDRY_DEPLOYMENT.; accepted: local, server"
    ):
        find_deployment({"SIMFOUNDRY_DEPLOYMENT": "moon"}, project)


def test_server_rejects_a_missing_variable(project: Path) -> None:
    with pytest.raises(FoundryError, match=r"not set: SIMFOUNDRY_DATA_DIR, .*deployment server needs"):
        find_deployment({"SIMFOUNDRY_DEPLOYMENT": "server"}, project)


def test_project_rejects_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(FoundryError, match=r"no project folder: .*SIMFOUNDRY_PROJECT"):
        find_deployment({"SIMFOUNDRY_PROJECT": str(tmp_path)})


def test_the_password_of_the_tracking_server_is_not_shown(tmp_path: Path) -> None:
    address = "https://user:geheim@mlflow.example:5000/team/"
    deployment = replace(local_deployment(tmp_path), tracking_uri=address)
    assert survey(deployment).places["models"] == "https://user:***@mlflow.example:5000/team/"
    assert deployment.mlflow_address == "https://mlflow.example:5000/team"
    assert "geheim" not in repr(deployment)
    assert explain(OSError(f"no answer from {address}x")) == f"no answer from {address}x".replace(
        "geheim", "***"
    )


def test_a_data_folder_rejects_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(FoundryError, match=r"file; accepted: an existing or a new folder$"), writing_to(file):
        pass


def test_a_tracking_server_that_does_not_answer_is_named_without_its_password(project: Path) -> None:
    local = find_deployment({"SIMFOUNDRY_PROJECT": str(project)})
    with pytest.raises(FoundryError) as refused:
        require_whole_registry(replace(local, tracking_uri="http://eva:geheim@127.0.0.1:9/path"))
    assert str(refused.value) == (
        "no MLflow server answers at http://127.0.0.1:9: Connection refused; "
        "accepted: MLFLOW_TRACKING_URI of a running server"
    )


def test_a_read_only_deployment_reads_the_cache_and_writes_into_a_scratch_folder(
    project: Path, tmp_path: Path
) -> None:
    own = find_deployment({"SIMFOUNDRY_PROJECT": str(project)})
    content_cache(own).put("kind", "finished", 1)
    frozen = find_deployment({"SIMFOUNDRY_PROJECT": str(project), "SIMFOUNDRY_SCRATCH": str(tmp_path / "s")})
    assert content_cache(frozen).get("kind", "finished") == 1
    content_cache(frozen).put("kind", "other", 2)
    assert content_cache(frozen).get("kind", "other") == 2
    assert content_cache(own).get("kind", "other") is None
    assert frozen.tracking_uri == f"sqlite:///{tmp_path}/s/mlflow.db"
    assert frozen.artifact_folder == tmp_path / "s" / "registered"
    assert frozen.data_dir == own.data_dir


def test_a_registry_of_a_server_stays_that_of_a_read_only_deployment(tmp_path: Path) -> None:
    deployment = replace(local_deployment(tmp_path), tracking_uri="https://mlflow.example:5000")
    assert deployment.read_only(tmp_path).tracking_uri == "https://mlflow.example:5000"


def test_a_registry_is_copied_whole_and_a_damaged_one_is_refused(project: Path, tmp_path: Path) -> None:
    own = find_deployment({"SIMFOUNDRY_PROJECT": str(project)})
    copy_registry(own, tmp_path)
    assert not (tmp_path / "mlflow.db").exists(), "there is none yet"
    for names in (["a"], ["a", "b"]):
        with closing(sqlite3.connect(project / "mlflow.db")) as connection, connection:
            connection.execute("CREATE TABLE IF NOT EXISTS models (name TEXT)")
            connection.execute("INSERT INTO models VALUES (?)", names[-1:])
        copy_registry(own, tmp_path)
        with closing(sqlite3.connect(tmp_path / "mlflow.db")) as connection:
            assert connection.execute("SELECT name FROM models").fetchall() == [(name,) for name in names]
    (project / "mlflow.db").write_bytes(b"no database" * 100)
    with pytest.raises(FoundryError, match=r"mlflow\.db is damaged"):
        copy_registry(own, tmp_path)
