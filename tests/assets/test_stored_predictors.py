"""Stored trainings and baselines that belong to the tables of a report page."""

from __future__ import annotations

import shutil
from pathlib import Path

from assets.stored_predictors import stored_predictors
from models.catalogue import predictor_named
from models.model_files import OUTCOME_FILE

ROOT = Path(__file__).parents[2]
RELEASE = ROOT / "releases" / "v2"
SHIPPED = ("lightgbm-hls", "lightgbm-static", "lightgbm-text")


def test_a_release_has_the_shipped_predictors_of_its_tables_and_its_baselines() -> None:
    stored = {(s.predictor, bool(s.version)): s for s in stored_predictors(RELEASE, is_release=True)}
    for name in SHIPPED:
        curve = stored[name, True].certainties["area_um2"].curve
        assert [share for share, _ in curve] == [0.1, 0.25, 0.5, 0.75, 1.0]
        assert set(stored[name, True].certainties["area_um2"].inside) == {"test", "evaluation"}
        assert {entry.level for entry in stored[name, True].entries} == {name.removeprefix("lightgbm-")}
    baseline = stored["lightgbm-run", False]
    assert {entry.level for entry in baseline.entries} == {"run"}
    assert baseline.certainties == {}
    assert not [name for name, _ in stored if "median" in name]


def test_a_release_of_other_tables_has_none(tmp_path: Path) -> None:
    assert stored_predictors(ROOT / "releases" / "fabric-v1", is_release=True) == []
    copied = tmp_path / "tables"
    shutil.copytree(RELEASE / "tables" / "labels", copied / "labels")
    for name in ("programs", "loops", "designs", "runs", "splits", "features", "loop_profiles"):
        shutil.copytree(RELEASE / "tables" / name, copied / name)
    (copied / "labels" / "another.parquet").write_bytes(b"another shard")
    assert stored_predictors(tmp_path, is_release=True) == []


def test_a_project_has_its_own_trainings_unless_they_are_damaged(tmp_path: Path) -> None:
    (tmp_path / "tables" / "labels").mkdir(parents=True)
    (tmp_path / "tables" / "labels" / "all.parquet").write_bytes(b"")
    folder = tmp_path / "models" / "lightgbm-hls" / "key"
    shutil.copytree(predictor_named("lightgbm-hls").shipped_folder, folder)
    [stored] = stored_predictors(tmp_path, is_release=False)
    assert stored.predictor == "lightgbm-hls"
    assert stored.certainties["latency_cycles"].factor > 1
    (folder / OUTCOME_FILE).write_text("{}")
    assert stored_predictors(tmp_path, is_release=False) == []
