"""The conformance check of predictors: the rules that training, the registry and `predict` rely on."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from signal import SIG_IGN, SIGINT, getsignal
from tempfile import TemporaryDirectory
from traceback import extract_tb
from types import FunctionType, MethodType
from typing import Any

from models.base import LabelPredictor, PredictorError, TrainOutcome
from models.catalogue import PredictorSpec, shown_options
from models.costs import design_queries, question_time_s
from models.declarations import declaration_problem
from models.intervals import COUNTS, interval_columns
from models.leaderboard import Prediction
from models.model_files import CARD_FILE, OUTCOME_FILE, PREDICTIONS_FILE, WEIGHTS_FILE
from models.options import make_options
from models.tasks import DatasetError
from pipelines.base.identity import canonical_json

ASKED = 2
"""Times that the example of the question is asked, in one batch."""
SAME = 1e-4
"""Relative difference of numbers that count as equal."""
WRONG = "?"
"""A word that no question accepts in all of its columns."""
OF_FILE = {
    CARD_FILE: "the card of the ModelFiles",
    WEIGHTS_FILE: "the arrays of the ModelFiles",
    OUTCOME_FILE: "predictions, curves or summary of the Trained",
}
"""What a predictor returns for each file of a training."""
MOST_SHOWN = 400
"""Characters of a problem."""


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

    @property
    def question(self) -> dict[str, Any]:
        """The example of the task's question, a new one for each row: an answer may change it."""
        return {column.name: column.example for column in self.spec.task.question}

    @cached_property
    def answers(self) -> list[dict[str, Any]]:
        """Answers to the question, asked twice."""
        answers = self.spec.answer(self.predictor, [self.question for _ in range(ASKED)], self.outcome)
        if len(answers) != ASKED:
            raise ConformanceError(f"{ASKED} rows got {len(answers)} answers; accepted: one per row")
        return answers

    def has_basis(self, name: str) -> bool:
        """Return whether the checks after one of that name have what they share."""
        return name != "answers" or "answers" in vars(self)

    def code_of(self, name: str) -> Any:
        """Return the function of the predictor whose result the check of that name takes."""
        if name in ("training", "repetition"):
            return self.spec.train_with
        if name == "loading":
            return self.spec.load_with
        loaded = vars(self).get("predictor")
        return getattr(loaded, "predict" if isinstance(loaded, LabelPredictor) else "answer", None)

    def train(self, name: str) -> TrainOutcome:
        """Train into a folder of that name. Costs are another check's: they need loading and answers."""
        return self.spec.train(self.data_dir, self.options, folder=self.folder / name, keep_costs=False)


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
    with redirect_stdout(sys.stderr):  # the answer stands there alone
        return list(findings_of(spec, data_dir, settings or {}))


def findings_of(
    spec: PredictorSpec[Any],
    data_dir: Path,
    settings: Mapping[str, Any],
    *,
    on_begin: Callable[[str], None] = lambda _: None,
    on_error: Callable[[BaseException], None] = lambda _: None,
) -> Iterator[Finding]:
    """Yield the findings of `check_predictor`, each as its check ends.

    Args: on_begin: gets the name of a check before it runs. on_error: gets each unforeseen error.
    """
    with TemporaryDirectory() as folder:
        trial = Trial(spec, data_dir, settings, Path(folder))
        for name, check in CHECKS.items():
            on_begin(name)
            problem = _problem_of(name, check, trial, on_error)
            yield Finding(check=name, problem=_one_line(problem))
            if problem and (name in NEEDED or not trial.has_basis(name)):
                return


def _problem_of(
    name: str, check: Callable[[Trial], None], trial: Trial, on_error: Callable[[BaseException], None]
) -> str:
    """Return what a check finds; whatever a predictor raises is a finding.

    An interrupt is one where the process ignores Ctrl-C, so that the predictor itself raised it.
    """
    try:
        check(trial)
    except DatasetError:
        raise
    except ConformanceError as error:
        return str(error)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and getsignal(SIGINT) is not SIG_IGN:
            raise
        on_error(error)
        return describe_error(error, file_of(trial.spec), trial.code_of(name))
    return ""


def file_of(spec: PredictorSpec[Any]) -> Path | None:
    """Return the file of a predictor's training function; None for another callable."""
    return Path(spec.train_with.__code__.co_filename) if isinstance(spec.train_with, FunctionType) else None


def describe_error(error: BaseException, file: Path | None, code: Any = None) -> str:
    """Return the type, the text and the place of an error of a predictor on one line.

    Args: file: of the predictor. The place is the last line that the error passed in it, or in a file beside
          it. Of an error that passed none, an earlier one that caused it is described.
          code: function whose first line is the place of an error that passed no line, as of its result.
    """
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    shown = next((one for one in chain if place_of_error(one, file)), error)
    try:
        text = shown.msg if isinstance(shown, SyntaxError) else str(shown)
    except Exception:  # a class of the predictor's own
        text = "an error whose text cannot be read"
    place = place_of_error(shown, file)
    if not place and isinstance(code, FunctionType | MethodType):
        place = f"{Path(code.__code__.co_filename).name}:{code.__code__.co_firstlineno}"
    said = f"{type(shown).__name__}: {text}" if text else type(shown).__name__
    return _one_line(said) + (f" ({place})" if place else "")


def place_of_error(error: BaseException, file: Path | None) -> str:
    """Return the last line of a predictor's own files that an error passed; empty where it passed none."""
    if file is None:
        return ""
    passed = [(frame.filename, frame.lineno) for frame in extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        passed.append((error.filename, error.lineno))
    folder = file.resolve().parent
    own = [(n, line) for n, line in passed if n[:1] != "<" and Path(n).resolve().parent == folder]
    return f"{Path(own[-1][0]).name}:{own[-1][1]}" if own else ""


def _one_line(text: str) -> str:
    words = " ".join(text.split())
    return (
        words if len(words) <= MOST_SHOWN else f"{words[: MOST_SHOWN // 2]} ... {words[-MOST_SHOWN // 2 :]}"
    )


# ---- the checks ------------------------------------------------------------------------------------


def check_declaration(trial: Trial) -> None:
    """Check that the fields of the PredictorSpec have their types, and that its name is free."""
    if problem := declaration_problem(trial.spec):
        raise ConformanceError(problem)


def check_options(trial: Trial) -> None:
    """Check that options are a frozen dataclass whose fields all have defaults."""
    kind = trial.spec.options
    if not is_dataclass(kind) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        accepted = "@dataclass(frozen=True, kw_only=True) above the class"
        raise ConformanceError(f"options are no frozen dataclass: {kind.__name__}; accepted: {accepted}")
    if lost := sorted(vars(kind).get("__annotations__", {}).keys() - {field.name for field in fields(kind)}):
        raise ConformanceError(
            f"{kind.__name__} is no dataclass itself, so {lost[0]} is no option; accepted: "
            "@dataclass(frozen=True, kw_only=True) above the class"
        )
    for field in fields(kind):
        if field.init and field.default is MISSING and field.default_factory is MISSING:
            raise ConformanceError(
                f"option {field.name} of {kind.__name__} has no default; accepted: {field.name}: TYPE = VALUE"
            )
    kind()
    _ = trial.options


def check_options_as_json(trial: Trial) -> None:
    """Check that options are the same after the registry kept them as JSON."""
    for name, value in asdict(trial.options).items():
        try:
            canonical_json(value)
        except (TypeError, ValueError) as error:
            raise ConformanceError(
                f"option {name} is no JSON: {_shown(value)}; accepted: finite numbers, text, True, False, "
                "None, and tuples of them"
            ) from error
    read = trial.spec.options_from(shown_options(trial.options))
    for field in fields(trial.options):
        value, after = getattr(trial.options, field.name), getattr(read, field.name)
        if after != value:
            raise ConformanceError(
                f"option {field.name} does not survive JSON: {_shown(value)} became {_shown(after)}; "
                "accepted: finite numbers, text, True, False, None, and tuples of them"
            )


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
            raise ConformanceError(
                f"two trainings with one seed differ in {name} ({OF_FILE[name]}); accepted: equal bytes, as "
                "with random numbers from numpy.random.default_rng(data.seed)"
            )


def check_loading(trial: Trial) -> None:
    """Check that the trained predictor loads from its folder."""
    _ = trial.predictor


def check_answers(trial: Trial) -> None:
    """Check that the example of the question gets declared columns with finite values, twice the same."""
    first, second = trial.answers
    for name in first.keys() | second.keys():
        if not _is_same(first.get(name), second.get(name)):
            raise ConformanceError(
                f"{name} differs where one question is asked twice: {first.get(name)}, {second.get(name)}"
            )
    declared = {column.name for column in trial.spec.answer_columns}
    if undeclared := sorted(set(map(str, first)) - declared):
        raise ConformanceError(
            f"undeclared columns of an answer: {', '.join(undeclared)}; "
            f"accepted: {', '.join(sorted(declared))}"
        )
    if isinstance(trial.predictor, LabelPredictor) and not _targets(trial):
        raise ConformanceError(f"targets is empty; accepted: some of {', '.join(trial.spec.task.targets)}")
    for target in _targets(trial):
        if target not in first:
            raise ConformanceError(
                f"{target} is missing from an answer; accepted: {', '.join(_targets(trial))}"
            )
        if not is_finite_number(first[target]):
            raise ConformanceError(f"{target} is no finite number: {_shown(first[target])}")


def check_intervals(trial: Trial) -> None:
    """Check that values lie inside their intervals and confidences between 0 and 1."""
    answer = trial.answers[0]
    for target in _targets(trial):
        columns = interval_columns(target)
        for name in columns:
            if answer.get(name) is not None and not is_finite_number(answer[name]):
                raise ConformanceError(f"{name} is no finite number: {_shown(answer[name])}")
        low, high, sure = (answer.get(name) for name in columns)
        if low is not None and high is not None:
            _require_inside(target, answer[target], low, high)
        if sure is not None and not 0 <= sure <= 1:
            raise ConformanceError(f"confidence of {target} is outside 0 to 1: {sure:g}")


def _require_inside(target: str, value: float, low: float, high: float) -> None:
    """Refuse a value outside its interval, and name the end that it is beyond."""
    low_name, high_name, _ = interval_columns(target)
    ends = f"{low_name} {low:g}, {high_name} {high:g}"
    if not is_finite_number(value):
        raise ConformanceError(f"{target} is no finite number: {_shown(value)}; its ends: {ends}")
    least = 1 if target in COUNTS else 0
    if low > high and value < least:
        raise ConformanceError(
            f"{target} is {value:g}, so that its ends are reversed: {ends}; accepted: {least} or more"
        )
    if low > high:
        raise ConformanceError(f"the lower end is above the upper end: {ends}; {target} is {value:g}")
    if value < low:
        raise ConformanceError(f"{target} {value:g} is below its lower end: {ends}")
    if value > high:
        raise ConformanceError(f"{target} {value:g} is above its upper end: {ends}")


def check_costs(trial: Trial) -> None:
    """Check that the predictor answers programs of the tables one at a time, as its costs are measured."""
    path = trial.outcome.folder / PREDICTIONS_FILE
    records = json.loads(path.read_bytes()) if path.exists() else []
    predictions = [Prediction(**{**r, "samples": tuple(r["samples"])}) for r in records]
    queries = [query for _, query in design_queries([trial.data_dir], predictions).values()]
    if not queries:
        return
    if not hasattr(trial.predictor, "predict"):
        raise ConformanceError(
            "training predicts designs, but the loaded predictor has no method predict(queries); accepted: a "
            "LabelPredictor"
        )
    question_time_s(trial.predictor, list({query.source: query for query in queries}.values()))


def check_refusals(trial: Trial) -> None:
    """Check that a row with a text that cannot be read is refused with a PredictorError that names it.

    One text at a time: some are refused before the predictor sees them.
    """
    required = [c for c in trial.spec.task.question if c.required]
    words = [c.name for c in required if c.kind == "string"] or [c.name for c in required]
    answered = [word for word in words if not _is_refused(trial, word)]
    if answered:
        raise ConformanceError(
            f"a row of wrong words is answered: {WRONG!r} in {', '.join(answered)}; accepted: a "
            "PredictorError that names row 1"
        )


def _is_refused(trial: Trial, word: str) -> bool:
    """Tell whether a row with a wrong word is refused.

    Raises: ConformanceError: by another error, or one that does not name the row.
    """
    wrong = {**trial.question, word: WRONG}
    try:
        trial.spec.answer(trial.predictor, [trial.question, wrong], trial.outcome)
    except PredictorError as error:
        if not re.search(r"\brow 1\b", str(error)):
            raise ConformanceError(f"a refusal does not name row 1: {error}") from error
        return True
    except Exception as error:
        raised = describe_error(error, file_of(trial.spec))
        raise ConformanceError(
            f"a row of wrong words raises {raised}; accepted: a PredictorError that names row 1"
        ) from error
    return False


def is_finite_number(value: Any) -> bool:
    """Return whether a value is a number of Python that JSON has."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _shown(value: Any) -> str:
    return f"{value!r:.60} of type {type(value).__name__}"


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
    "declaration": check_declaration,
    "options": check_options,
    "options-json": check_options_as_json,
    "key": check_key,
    "training": check_training,
    "repetition": check_repetition,
    "loading": check_loading,
    "answers": check_answers,
    "intervals": check_intervals,
    "costs": check_costs,
    "refusals": check_refusals,
}
NEEDED = ("declaration", "options", "training", "loading")
"""Checks without which the later ones mean nothing."""
