"""Trees on counts: what they count, that they learn, and their files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from labelled_nests import NESTS

from models.base import PredictorError
from models.labelled import Query
from models.lightgbm import PREDICTORS, TrainOptions
from models.lightgbm.trees import text_features
from models.model_files import read_model

OPTIONS = TrainOptions(trees=60, leaf_designs=1, bootstrap_resamples=10)
QUERY = Query(
    source=NESTS[0].source,
    top="top",
    memory_read_delay_cycles=2,
    memory_write_delay_cycles=2,
    clock_period_ns=10.0,
    directives='[{"kind": "pipeline", "loop": "L0"}]',
)


def test_text_features_count_tokens_and_constructs() -> None:
    source = "void f(int a[7]) { /* for */ for (int i = 0; i < 7; i++) { a[i] += 2 * a[i]; } } // while"
    features = text_features(replace(QUERY, source=source))
    counts = {name: features[f"count_{name}"] for name in ("for", "while", "+=", "*", "[", "int")}
    assert counts == {"for": 1, "while": 0, "+=": 1, "*": 1, "[": 3, "int": 2}
    assert (features["brace_depth"], features["number_0"], features["directive_pipeline"]) == (2, 7, 1)


@pytest.mark.parametrize("spec", PREDICTORS, ids=lambda spec: spec.name)
def test_trees_learn_and_survive_their_folder(spec, lasting_data_dir: Path, tmp_path: Path) -> None:
    outcome = spec.train(lasting_data_dir, OPTIONS, seed=1)
    assert outcome.metrics["train/mape/area_um2"] < 0.1
    assert {row.target for row in outcome.leaderboard} == set(spec.task.targets)
    again = spec.train(lasting_data_dir, OPTIONS, seed=1, folder=tmp_path / "again")
    assert read_model(again.folder)[1].card == read_model(outcome.folder)[1].card
    answers = [spec.load(folder).predict([QUERY])[0] for folder in (outcome.folder, again.folder)]
    assert answers[0] == answers[1]
    assert np.isfinite(list(answers[0].values.values())).all()


def test_prediction_rejects_bad_directives_naming_the_row(lasting_data_dir: Path) -> None:
    text, static = PREDICTORS
    for spec, bad in (
        (text, replace(QUERY, directives="no JSON")),
        (static, replace(QUERY, source="void f(")),
    ):
        predictor = spec.load(spec.train(lasting_data_dir, OPTIONS, seed=1).folder)
        with pytest.raises(PredictorError, match=r"^row 1: "):
            predictor.predict([QUERY, bad])
