"""Errors of predictors that a comparison of releases trains, and baselines for a release."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.catalogue import predictor_named
from pipelines.dataset.releases import Manifest, ReleaseTables
from pipelines.dataset.releases.manifest import FileEntry
from simfoundry.commands.release_compare import _errors
from tests.benchmarks.release_baselines import baselines


@pytest.mark.slow
def test_errors_are_those_of_a_training_on_the_release(lasting_data_dir: Path, tmp_path: Path) -> None:
    files = {
        folder.name: tuple(
            FileEntry(path=f"tables/{folder.name}/{path.name}", sha256="0" * 64, bytes=1, table=folder.name)
            for path in folder.iterdir()
        )
        for folder in (lasting_data_dir / "tables").iterdir()
    }
    toolset = {"tools": {}, "liberties": {}}
    manifest = Manifest.model_validate(
        {"format": 1, "name": "small", "toolset": toolset, "rows": {}, "left_out": {}, "files": ()}
    )
    errors = _errors(
        ReleaseTables(folder=lasting_data_dir, manifest=manifest, files=files), ["lightgbm-static"]
    )
    spec = predictor_named("lightgbm-static")
    outcome = spec.train(lasting_data_dir, spec.options(split="by_kernel_v2"), folder=tmp_path / "model")
    expected = {(r.target, r.part): r.value for r in outcome.leaderboard if r.metric == "mape"}
    assert {(e.target, e.part): e.value for e in errors} == {
        k: v for k, v in expected.items() if v is not None
    }
    assert ("area_um2", "test") in expected
    published = baselines({"trees": outcome.leaderboard})
    assert {row.metric for row in published} == {"mape", "median_ape", "spearman"}
    assert {row.predictor for row in published} == {"trees"}
    assert all(row.target != "latency_cycles" for row in baselines({"trees-run": outcome.leaderboard}))
