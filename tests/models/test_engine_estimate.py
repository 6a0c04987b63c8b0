"""The engine's own estimates as predictors: of tables and of questions alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from models.engine_estimate import PREDICTORS
from models.labelled import Selection, load_labelled_designs
from models.options import LabelOptions
from models.query import ALL_TARGETS
from models.tasks import DatasetError

HLS, RUN = PREDICTORS
OPTIONS = LabelOptions(bootstrap_resamples=10)


@pytest.mark.sample(3)
@pytest.mark.parametrize("spec", PREDICTORS, ids=lambda spec: spec.name)
def test_a_question_has_the_estimates_of_its_row(spec, compiled_data_dir: Path) -> None:
    outcome = spec.train(compiled_data_dir, OPTIONS, seed=1)
    assert {row.target for row in outcome.leaderboard} == set(ALL_TARGETS)
    assert {row.level for row in outcome.leaderboard} == {spec.task.level}
    design = load_labelled_designs(compiled_data_dir, Selection())[0]
    (estimate,) = spec.load(outcome.folder).predict([design.query])
    assert estimate.values.keys() == set(ALL_TARGETS)
    assert all(value > 0 for value in estimate.values.values())


def test_costs_are_measured_and_no_part_of_the_outcome(compiled_data_dir: Path, tmp_path: Path) -> None:
    outcome = HLS.train(compiled_data_dir, OPTIONS, seed=1, folder=tmp_path / "one")
    again = HLS.train(compiled_data_dir, OPTIONS, seed=1, folder=tmp_path / "one")
    assert again.cached
    for known in (outcome.costs, again.costs):
        assert known is not None
        assert (known.level, known.parameter_count) == ("hls", 0)
        assert (known.training_wall_s or 0.0) > 0
        assert (known.predict_wall_s or 0.0) > 0
    assert replace(again, cached=False) == outcome
    assert b"wall_s" not in (tmp_path / "one" / "outcome.json").read_bytes()


def test_estimates_at_level_run_reject_tables_without_runs(lasting_data_dir: Path) -> None:
    with pytest.raises(DatasetError):
        RUN.train(lasting_data_dir, OPTIONS, seed=1)
