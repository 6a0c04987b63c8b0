"""Which champion answers when no model is named."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from models.catalogue import predictor_named
from models.champions import Champion, label_predictors, local_champions, rank_champions
from models.local_registry import find_local, shipped_refusal
from models.model_files import REFERENCE_FILE, read_sealed_json
from models.options import LABEL_LEVELS

TABLES = """
CREATE TABLE registered_model_aliases (alias, version, name, workspace);
CREATE TABLE model_versions (name, version, workspace, storage_location, run_id);
CREATE TABLE latest_metrics ("key", value, run_uuid);
CREATE TABLE experiments (artifact_location);
CREATE TABLE model_version_tags ("key", value, name, version, workspace);
"""


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """A registry with a champion of `lightgbm-static`: the shipped weights, scored 0.01."""
    spec = predictor_named("lightgbm-static")
    key = read_sealed_json(spec.shipped_folder / "outcome.json")["key"]
    (tmp_path / "logged" / "artifacts").mkdir(parents=True)
    (tmp_path / "logged" / "artifacts" / "predictor").symlink_to(spec.shipped_folder)
    file = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(TABLES)
        row = (spec.name, 3, "default", (tmp_path / "logged").as_uri(), "run")
        connection.execute("INSERT INTO model_versions VALUES (?, ?, ?, ?, ?)", row)
        connection.execute("INSERT INTO latest_metrics VALUES ('reference_error', 0.01, 'run')")
        connection.execute(
            "INSERT INTO registered_model_aliases VALUES ('champion', 3, ?, 'default')", (spec.name,)
        )
        tags = {"training_key": key}
        rows = [(name, value, spec.name, 3, "default") for name, value in tags.items()]
        connection.executemany("INSERT INTO model_version_tags VALUES (?, ?, ?, ?, ?)", rows)
        connection.commit()
    return file


def _champion(name: str, error: float | None) -> Champion:
    return Champion(spec=predictor_named(name), error=error)


def _names(champions: list[Champion]) -> list[str]:
    return [champion.spec.name for champion in champions]


def test_the_best_shipped_champion_knows_most_and_errs_least(tmp_path: Path) -> None:
    ranked = rank_champions(local_champions(f"sqlite:///{tmp_path}/none.db"))
    errors = {
        spec.name: sum(known["errors"]) / len(known["errors"])
        for spec in label_predictors()
        if (file := spec.shipped_folder / REFERENCE_FILE).is_file() and not shipped_refusal(spec)
        for known in [read_sealed_json(file)]
    }
    levels = [LABEL_LEVELS.index(champion.spec.task.level) for champion in ranked]
    assert levels == sorted(levels, reverse=True)
    highest = [champion for champion in ranked if champion.spec.task.level == ranked[0].spec.task.level]
    assert errors[ranked[0].spec.name] < min(errors[name] for name in _names(highest)) + 0.01
    assert {c.spec.name: c.error for c in ranked} == pytest.approx(errors)


def test_a_run_is_worth_more_than_a_lower_error() -> None:
    ranked = rank_champions([_champion("lightgbm-hls", 0.01), _champion("lightgbm-run", 0.5)])
    assert _names(ranked) == ["lightgbm-run", "lightgbm-hls"]


def test_of_equal_errors_the_cheaper_model_is_first_and_one_without_error_last() -> None:
    ranked = rank_champions(
        [_champion("gnnhls", None), _champion("numeric-lm-hls", 0.0799), _champion("lightgbm-hls", 0.0819)]
    )
    assert _names(ranked) == ["lightgbm-hls", "numeric-lm-hls", "gnnhls"]


def test_a_registry_says_who_is_champion_and_how_good(registry: Path) -> None:
    ranked = rank_champions(local_champions(f"sqlite:///{registry}"))
    static = [champion for champion in ranked if champion.spec.task.level == "static"]
    assert (static[0].spec.name, static[0].error) == ("lightgbm-static", 0.01)
    assert static[1].spec.name == "tenset-mlp"  # its shipped weights, which are not registered


def test_shipped_weights_answer_where_a_registry_does_not_know_the_model(registry: Path) -> None:
    local = find_local(f"sqlite:///{registry}", "tenset-mlp", "champion")
    assert local is not None
    assert (local.version, local.folder) == ("shipped", predictor_named("tenset-mlp").shipped_folder)
    assert find_local(f"sqlite:///{registry}", "tenset-mlp", "candidate") is None
    registered = find_local(f"sqlite:///{registry}", "lightgbm-static", "champion")
    assert registered is not None
    assert (registered.version, registered.error) == ("3", 0.01)


def test_a_refused_version_does_not_make_the_shipped_weights_champion(registry: Path) -> None:
    with closing(sqlite3.connect(registry)) as connection:
        connection.execute("INSERT INTO model_versions VALUES ('tenset-mlp', 1, 'default', '', '')")
        connection.commit()
    assert find_local(f"sqlite:///{registry}", "tenset-mlp", "champion") is None


def test_predictors_of_other_tasks_are_no_champions_of_labels() -> None:
    assert predictor_named("routenet") not in label_predictors()
    assert {spec.task.level for spec in label_predictors()} <= set(LABEL_LEVELS)
