"""The program inside the sandbox: it describes, trains or asks a predictor; its folder is its only channel.

    python -m models.scoring.worker describe|train|answer

It runs code of a person, which may replace any of it: nothing that it writes is trusted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

from models.base import LabelPredictor, PredictorError, TrainOutcome
from models.catalogue import PredictorSpec, predictor_named
from models.conformance import describe_error, is_finite_number
from models.declarations import declaration_problem
from models.intervals import interval_columns
from models.model_files import read_outcome
from models.options import make_options
from models.predictor_files import predictor_of_file
from pipelines.base.workers import Outcome, Workload, fanning_out

REQUEST_FILE = "request.json"
PROBLEM_FILE = "problem.txt"
DESCRIPTION_FILE = "description.json"
QUESTIONS_FILE = "questions.json"
ANSWERS_FILE = "answers.jsonl"
MODEL_FOLDER = "model"
BATCH_ROWS = 32
_SHOWN = 80


class _OneProcess:
    """Items of `run_all` one after the other: a sandbox has no semaphores, which pools of processes need."""

    def outcomes(self, workload: Workload[Any, Any]) -> Generator[tuple[int, Outcome[Any]]]:
        """Yield the place and the outcome of every item, as `LocalPool` does."""
        for place in workload.order:
            yield place, workload.work(workload.items[place])


def main(phase: str) -> int:
    """Run one phase; a failure is its reason in `PROBLEM_FILE`."""
    request = json.loads(Path(REQUEST_FILE).read_text(encoding="utf-8"))
    file = Path(request["file"]).absolute()
    try:
        name = request["predictor"]
        spec = predictor_of_file(file) if name is None else predictor_named(name)
        with fanning_out(_OneProcess()):
            PHASES[phase](spec, request)
    except BaseException as error:  # whatever code of a person raises
        is_ours = isinstance(error, PredictorError) and str(error).startswith(str(file))
        problem = str(error).replace(f"{file.parent}/", "") if is_ours else describe_error(error, file)
        Path(PROBLEM_FILE).write_text(problem, encoding="utf-8")
        return 1
    return 0


def describe(spec: PredictorSpec[Any], request: Mapping[str, Any]) -> None:
    """Write what the judge must know of a predictor, after its declaration and its options were checked."""
    if problem := declaration_problem(spec):
        raise PredictorError(problem)
    _options(spec, request["settings"])
    said = {
        "name": spec.name,
        "version": spec.version,
        "description": spec.description,
        "level": spec.task.level,
        "tables": spec.task.tables,
        "targets": tuple(spec.task.targets),
    }
    Path(DESCRIPTION_FILE).write_text(json.dumps(said), encoding="utf-8")


def train(spec: PredictorSpec[Any], request: Mapping[str, Any]) -> None:
    """Train into the folder of the model."""
    settings = request["settings"]
    if "bootstrap_resamples" in {field.name for field in fields(spec.options)}:
        settings = {"bootstrap_resamples": 1, **settings}  # intervals of errors are the judge's
    spec.train(
        Path(request["tables"]),
        _options(spec, settings),
        seed=request["seed"],
        folder=Path(MODEL_FOLDER).absolute(),
        keep_predictions=False,
        keep_costs=False,
    )


def _options(spec: PredictorSpec[Any], settings: Mapping[str, Any]) -> Any:
    accepted = [field.name for field in fields(spec.options)]
    if unknown := [name for name in settings if name not in accepted]:
        raise PredictorError(f"unknown option: {unknown[0]}; accepted: {', '.join(accepted)}")
    return make_options(spec.options, settings)


def answer(spec: PredictorSpec[Any], request: Mapping[str, Any]) -> None:
    """Write the targets, then the answer of each question in order; what was written stays when it ends."""
    folder = Path(MODEL_FOLDER).absolute()
    predictor, outcome = spec.load(folder), read_outcome(folder)
    questions = json.loads(Path(QUESTIONS_FILE).read_text(encoding="utf-8"))
    targets = list(spec.task.targets)
    if isinstance(predictor, LabelPredictor):
        targets = [target for target in targets if target in predictor.targets]
    file = Path(request["file"]).absolute()
    batches = (questions[start : start + BATCH_ROWS] for start in range(0, len(questions), BATCH_ROWS))
    answers = (said for batch in batches for said in _answers(spec, predictor, outcome, batch, file))
    with Path(ANSWERS_FILE).open("w", encoding="utf-8") as out:
        for line in chain([{"targets": targets}], (_line(said, targets) for said in answers)):
            out.write(json.dumps(line) + "\n")
            out.flush()


def _line(said: Mapping[str, Any] | str, targets: Sequence[str]) -> dict[str, Any]:
    """Return the line of an answer, or of the reason why there is none."""
    if isinstance(said, str):
        return {"reason": said}
    columns = [column for target in targets for column in (target, *interval_columns(target)[:2])]
    return {"values": {name: _plain(said[name]) for name in columns if said.get(name) is not None}}


def _answers(
    spec: PredictorSpec[Any],
    predictor: Any,
    outcome: TrainOutcome | None,
    rows: Sequence[dict[str, Any]],
    file: Path,
) -> list[Mapping[str, Any] | str]:
    """Return the answer of each row, or a reason; where a batch fails, each of its rows is asked alone."""
    try:
        answers = spec.answer(predictor, [dict(row) for row in rows], outcome)
        if len(answers) != len(rows):
            raise PredictorError(f"{len(rows)} rows got {len(answers)} answers; accepted: one per row")
        return [*answers]
    except Exception as error:
        if len(rows) > 1:
            return [said for row in rows for said in _answers(spec, predictor, outcome, [row], file)]
        return [describe_error(error, file).replace("row 0: ", "")]


def _plain(value: Any) -> float | int | str:
    return value if is_finite_number(value) else f"{value!r:.{_SHOWN}}"


PHASES: Mapping[str, Callable[[PredictorSpec[Any], Mapping[str, Any]], None]] = {
    "describe": describe,
    "train": train,
    "answer": answer,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
