"""The conformance check of predictors: the rules that training, the registry and `predict` rely on."""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FunctionType
from typing import Any

from models.base import LabelPredictor, PredictorError, TrainOutcome
from models.catalogue import PredictorSpec, shown_options
from models.intervals import interval_columns
from models.model_files import CARD_FILE, OUTCOME_FILE, WEIGHTS_FILE
from models.options import make_options
from models.tasks import DatasetError

ASKED = 2
"""Times that the example of the question is asked, in one batch."""
SAME = 1e-4
"""Relative difference of numbers that count as equal."""
WRONG = "?"
"""A word that no question accepts in all of its columns."""


class ConformanceError(ValueError):
    """A rule that a predictor breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one check. problem: empty where the rule holds."""

    check: str
    problem: str


class Trial:
    """A predictor under the check, with what the checks share.

    Args:
        data_dir: folder that holds `tables/`.
        settings: options of the training that differ from their defaults.
        folder: for the trained predictors.
    """

    def __init__(
        self, spec: PredictorSpec[Any], data_dir: Path, settings: Mapping[str, Any], folder: Path
    ) -> None:
        self.spec, self.data_dir, self.settings, self.folder = spec, data_dir, settings, folder

    @cached_property
    def options(self) -> Any:
        """Options of the training."""
        return make_options(self.spec.options, self.settings)

    @cached_property
    def outcome(self) -> TrainOutcome:
        """The first training."""
        return self.train("first")

    @cached_property
    def predictor(self) -> Any:
        """The first training, loaded."""
        return self.spec.load(self.outcome.folder)

    @cached_property
    def question(self) -> dict[str, Any]:
        """The example of the task's question."""
        return {column.name: column.example for column in self.spec.task.question}

    @cached_property
    def answers(self) -> list[dict[str, Any]]:
        """Answers to the question, asked twice."""
        return self.spec.answer(self.predictor, [self.question] * ASKED, self.outcome)

    def train(self, name: str) -> TrainOutcome:
        """Train into a folder of that name."""
        return self.spec.train(self.data_dir, self.options, folder=self.folder / name, keep_predictions=False)


def check_predictor(
    spec: PredictorSpec[Any], data_dir: Path, settings: Mapping[str, Any] | None = None
) -> list[Finding]:
    """Check a predictor as scikit-learn's `check_estimator` checks an estimator.

    Args:
        data_dir: folder that holds `tables/`, a small one: it is trained on twice.
        settings: options of the training that differ from their defaults, for a quick one.

    Returns: findings in the order of `CHECKS`, up to the first that the next ones need.
    Raises:  DatasetError: the tables cannot be trained on.
    """
    findings: list[Finding] = []
    with TemporaryDirectory() as folder, redirect_stdout(sys.stderr):  # the answer stands there alone
        trial = Trial(spec, data_dir, settings or {}, Path(folder))
        for name, check in CHECKS.items():
            findings.append(Finding(check=name, problem=_problem_of(check, trial)))
            if findings[-1].problem and name in NEEDED:
                break
    return findings


def _problem_of(check: Callable[[Trial], None], trial: Trial) -> str:
    """Return what a check finds; whatever a predictor raises is a finding."""
    try:
        check(trial)
    except DatasetError:
        raise
    except ConformanceError as error:
        return str(error)
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}{_where(error, trial.spec)}"
    return ""


def _where(error: BaseException, spec: PredictorSpec[Any]) -> str:
    """Name the last line of the predictor's own file that an error passed; empty where it passed none."""
    file = spec.train_with.__code__.co_filename if isinstance(spec.train_with, FunctionType) else ""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" ({Path(file).name}:{lines[-1]})" if lines else ""


# ---- the checks ------------------------------------------------------------------------------------


def check_options(trial: Trial) -> None:
    """Check that options are a frozen dataclass whose fields all have defaults."""
    kind = trial.spec.options
    if not is_dataclass(kind) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise ConformanceError(f"options are no frozen dataclass: {kind.__name__}")
    if lost := sorted(vars(kind).get("__annotations__", {}).keys() - {field.name for field in fields(kind)}):
        raise ConformanceError(f"{kind.__name__} is no dataclass itself, so {lost[0]} is no option")
    kind()
    _ = trial.options


def check_options_as_json(trial: Trial) -> None:
    """Check that options are the same after the registry kept them as JSON."""
    read = trial.spec.options_from(shown_options(trial.options))
    if read != trial.options:
        raise ConformanceError(f"options do not survive JSON: {trial.options} became {read}")


def check_key(trial: Trial) -> None:
    """Check that the training key follows the seed and every number among the options."""
    spec, data_dirs = trial.spec, [trial.data_dir]
    key = spec.training_key(data_dirs, trial.options, 0)
    if spec.training_key(data_dirs, trial.options, 0) != key:
        raise ConformanceError("the training key of the same training changes")
    if spec.training_key(data_dirs, trial.options, 1) == key:
        raise ConformanceError("the training key does not follow the seed")
    for field in fields(trial.options):
        value = getattr(trial.options, field.name)
        if not isinstance(value, int | float):
            continue
        other = not value if isinstance(value, bool) else value * 2 if value else 1
        try:
            changed = replace(trial.options, **{field.name: other})
        except ValueError:
            continue  # it is outside the range of the option
        if spec.training_key(data_dirs, changed, 0) == key:
            raise ConformanceError(f"the training key does not follow option {field.name}")


def check_training(trial: Trial) -> None:
    """Check that the predictor trains."""
    _ = trial.outcome


def check_repetition(trial: Trial) -> None:
    """Check that a second training gives the same bytes."""
    again = trial.train("second")
    for name in (CARD_FILE, WEIGHTS_FILE, OUTCOME_FILE):
        if (trial.outcome.folder / name).read_bytes() != (again.folder / name).read_bytes():
            raise ConformanceError(f"two trainings with one seed differ in {name}")


def check_loading(trial: Trial) -> None:
    """Check that the trained predictor loads from its folder."""
    _ = trial.predictor


def check_answers(trial: Trial) -> None:
    """Check that the example of the question gets declared columns with finite values, twice the same."""
    if len(trial.answers) != ASKED:
        raise ConformanceError(f"{len(trial.answers)} answers to {ASKED} rows")
    first, second = trial.answers
    for name in first.keys() | second.keys():
        if not _is_same(first.get(name), second.get(name)):
            raise ConformanceError(
                f"{name} differs where one question is asked twice: {first.get(name)}, {second.get(name)}"
            )
    declared = {column.name for column in trial.spec.answer_columns}
    if undeclared := sorted(set(first) - declared):
        raise ConformanceError(f"undeclared columns of an answer: {', '.join(undeclared)}")
    for target in _targets(trial):
        value = first.get(target)
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ConformanceError(f"{target} is no finite number: {value!r}")


def check_intervals(trial: Trial) -> None:
    """Check that values lie inside their intervals and confidences between 0 and 1."""
    answer = trial.answers[0]
    for target in _targets(trial):
        low, high, sure = (answer.get(name) for name in interval_columns(target))
        if low is not None and high is not None and not low <= answer[target] <= high:
            raise ConformanceError(f"{target} {answer[target]:g} is outside its interval {low:g} to {high:g}")
        if sure is not None and not 0 <= sure <= 1:
            raise ConformanceError(f"confidence of {target} is outside 0 to 1: {sure:g}")


def check_refusals(trial: Trial) -> None:
    """Check that a row that cannot be read is refused with a PredictorError that names it."""
    words = [c.name for c in trial.spec.task.question if c.kind == "string" and c.required]
    wrong = {**trial.question, **dict.fromkeys(words, WRONG)}
    try:
        trial.spec.answer(trial.predictor, [trial.question, wrong], trial.outcome)
    except PredictorError as error:
        if "row 1" not in str(error):
            raise ConformanceError(f"a refusal does not name row 1: {error}") from error
        return
    raise ConformanceError(f"a row of wrong words is answered: {WRONG!r} in {', '.join(words)}")


def _is_same(value: Any, other: Any) -> bool:
    """Return whether two values of a column are the same; numbers of a batch differ by rounding."""
    if isinstance(value, float) and isinstance(other, float):
        return math.isclose(value, other, rel_tol=SAME) or (math.isnan(value) and math.isnan(other))
    return value == other


def _targets(trial: Trial) -> tuple[str, ...]:
    """Return the targets that the trained predictor answers: tables may lack labels of some."""
    if isinstance(trial.predictor, LabelPredictor):
        return trial.predictor.targets
    return tuple(c.name for c in trial.spec.answers if c.name in trial.spec.task.targets)


CHECKS: Mapping[str, Callable[[Trial], None]] = {
    "options": check_options,
    "options-json": check_options_as_json,
    "key": check_key,
    "training": check_training,
    "repetition": check_repetition,
    "loading": check_loading,
    "answers": check_answers,
    "intervals": check_intervals,
    "refusals": check_refusals,
}
NEEDED = ("options", "training", "loading")
"""Checks without which the later ones mean nothing."""
