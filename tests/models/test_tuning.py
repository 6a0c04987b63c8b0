"""Searches of options: the best on the validation part wins, a study goes on, failures stay."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from models.base import PredictorError
from models.catalogue import Trained, TrainingInput, predictor_named
from models.leaderboard import Prediction
from models.lightgbm import TrainOptions
from models.model_files import ModelFiles
from models.options import searched_options
from models.tasks import DatasetError
from models.tuning import Trial, tune

TREES = predictor_named("lightgbm-text")
NETWORK = predictor_named("routenet")


def train(data: TrainingInput, part: str = "validation") -> Trained:
    """Train nothing: the error is least at a rate of 0.1, 16 leaves cannot be trained with."""
    if data.options.leaves == 16:
        raise PredictorError("16 leaves")
    predicted = 1.0 + abs(math.log(data.options.learning_rate / 0.1))
    one = Prediction(design_id="d", group="g", part=part, target="area_um2", actual=1.0, predicted=predicted)
    other = replace(one, part="test", predicted=100.0)
    return Trained(files=ModelFiles(card={}, arrays={}), seen_groups=[], predictions=[one, other])


SPEC = replace(TREES, train_with=train)


def test_the_least_error_on_the_validation_part_wins_and_a_study_goes_on(tmp_path: Path) -> None:
    seen: list[Trial] = []
    asked = {"seed": 0, "study": tmp_path / "deep" / "a.trials", "on_trial": seen.append}
    options = TrainOptions(leaves=20)
    first = tune(SPEC, [tmp_path], options, trials=5, fixed={"leaves"}, **asked)
    assert [trial.number for trial in seen] == [0, 1, 2, 3, 4]
    assert first.first == pytest.approx(math.log(2))
    assert seen[0].options == {
        n: getattr(options, n) for n in searched_options(TrainOptions) if n != "leaves"
    }
    more = tune(SPEC, [tmp_path], options, trials=25, fixed={"leaves"}, **asked)
    assert (len(seen), len(more.trials)) == (25, 25)
    errors = [trial.error for trial in seen if trial.error is not None]
    assert more.best.error == min(errors) < first.first
    assert more.options.learning_rate == more.best.options["learning_rate"]
    assert more.options.leaves == 20
    ranges = searched_options(TrainOptions)
    assert all(ranges[n].low <= value <= ranges[n].high for t in seen for n, value in t.options.items())


def test_a_trial_that_fails_is_kept_with_its_reason(tmp_path: Path) -> None:
    seen: list[Trial] = []
    asked = {"seed": 0, "study": tmp_path / "a.trials", "on_trial": seen.append}
    with pytest.raises(PredictorError, match=r"^all 2 trials of lightgbm-text failed$"):
        tune(SPEC, [tmp_path], TrainOptions(leaves=16), trials=2, fixed={"leaves"}, **asked)
    assert [(trial.error, trial.reason) for trial in seen] == [(None, "16 leaves")] * 2


def test_what_cannot_be_searched_is_refused(tmp_path: Path) -> None:
    asked = {"trials": 2, "seed": 0, "study": tmp_path / "a.trials", "on_trial": lambda trial: None}
    with pytest.raises(PredictorError, match=r"^routenet has no options to search$"):
        tune(NETWORK, [tmp_path], NETWORK.options(), **asked)
    tested = replace(TREES, train_with=lambda data: train(data, "test"))
    with pytest.raises(DatasetError, match=r"^no labelled designs in part validation of split "):
        tune(tested, [tmp_path], TrainOptions(), **asked)
