"""Runs of a predictor in the sandbox: its description, its training and its answers."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import models
import pipelines
from models.base import PredictorError
from models.catalogue import TRAINED_FOLDER
from models.conformance import is_finite_number
from models.intervals import interval_columns
from models.model_files import MODEL_NAMES
from models.scoring.worker import (
    ANSWERS_FILE,
    DESCRIPTION_FILE,
    MODEL_FOLDER,
    PROBLEM_FILE,
    QUESTIONS_FILE,
    REQUEST_FILE,
)
from pipelines.base.files import plain_json
from pipelines.base.sandbox import (
    FILES,
    MEMORY,
    TIME,
    ConfinedRun,
    Limits,
    SandboxError,
    read_output,
    run_confined,
)
from pipelines.base.tools import FILE_LIMIT_BYTES, signal_name

_PROCESSES = 256
_MODEL_BYTES = FILE_LIMIT_BYTES
"""Of a file; not less than tools that the predictor's code starts ask for themselves."""
_ENTRIES = 10_000
_SMALL_BYTES, _PRINTED_BYTES, _ANSWERS_BYTES = 64 << 10, 16 << 20, 256 << 20
_MOST_SHOWN = 400
_SYSTEM = Path("/usr")
_RANDOM = Path("/dev/urandom")
"""Device that torch opens when it loads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreLimits:
    """Limits of a predictor in the sandbox.

    Attributes:
        training_s, answering_s: elapsed time of the training, and of all answers together, in seconds.
        memory_bytes: of all its processes.
    """

    training_s: float = 3600.0
    answering_s: float = 3600.0
    memory_bytes: int = 6 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A predictor to score.

    Attributes:
        label: how messages name it; the path of a file.
        name: of a predictor of the project; None for a file.
        content: of a file that binds PREDICTOR; None for one of the project.
        model: files of a trained one, by name; None where it is to be trained.
        settings, seed: of its training.
    """

    label: str
    name: str | None = None
    content: bytes | None = field(default=None, repr=False)
    model: Mapping[str, bytes] | None = field(default=None, repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    seed: int = 0

    @property
    def files(self) -> dict[str, bytes]:
        """Files in the folder of each of its runs."""
        return {} if self.content is None else {self.file: self.content}

    @property
    def file(self) -> str:
        """Name of its file."""
        return Path(self.label).name


_Word = Annotated[str, Field(min_length=1, max_length=64)]


class Description(BaseModel):
    """What a predictor says of itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: _Word
    version: _Word
    description: Annotated[str, Field(max_length=1000)]
    level: _Word
    tables: tuple[_Word, ...]
    targets: tuple[_Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one question: values and intervals by target, or the reason why there is none."""

    values: Mapping[str, float] = field(default_factory=dict[str, float])
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    reason: str = ""


def describe(subject: Subject, limits: ScoreLimits) -> Description:
    """Run the file of a predictor, and return what it says of itself. Raises: PredictorError: it fails."""
    with TemporaryDirectory(prefix="simfoundry-score-") as scratch:
        box = Path(scratch) / "box"
        _run("describe", subject, box, limits, limits.training_s, "the file of the predictor", files={})
        content = _output(subject, box / DESCRIPTION_FILE, _SMALL_BYTES)
    try:
        return Description.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise PredictorError(f"{subject.label}: description, {place}: {first['msg']}") from error


def train(subject: Subject, tables: Path, limits: ScoreLimits) -> tuple[dict[str, bytes], float]:
    """Train a predictor on a folder of tables.

    Returns: the files of the model, and the processor time in seconds with the start of Python.
    Raises:  PredictorError: it fails, or passes a limit.
    """
    with TemporaryDirectory(prefix="simfoundry-score-") as scratch:
        box = Path(scratch) / "box"
        used_s = _run("train", subject, box, limits, limits.training_s, "the training", tables=tables)
        folder = box / MODEL_FOLDER
        if folder.is_symlink() or not folder.is_dir():
            raise PredictorError(f"{subject.label}: the training leaves no model")
        names = [name for name in MODEL_NAMES if (folder / name).exists()]
        return {name: _output(subject, folder / name, _MODEL_BYTES) for name in names}, used_s


def ask(
    subject: Subject, model: Mapping[str, bytes], questions: Sequence[Mapping[str, Any]], limits: ScoreLimits
) -> tuple[tuple[str, ...], list[Answer], float]:
    """Ask a trained predictor.

    Returns: the targets that it answers, an answer per question, and the processor time of an answer in
             seconds with its share of the start.
    Raises:  PredictorError: it cannot be loaded.
    """
    files = {f"{MODEL_FOLDER}/{name}": content for name, content in model.items()}
    files[QUESTIONS_FILE] = json.dumps(list(questions)).encode()
    with TemporaryDirectory(prefix="simfoundry-score-") as scratch:
        box = Path(scratch) / "box"
        ending, used_s = "", 0.0
        try:
            used_s = _run("answer", subject, box, limits, limits.answering_s, "answering", files=files)
        except PredictorError as error:
            ending = str(error)
            if not (box / ANSWERS_FILE).exists():
                raise
        targets, answers = _read_answers(subject, box / ANSWERS_FILE)
    answers = answers[: len(questions)]
    answers += [Answer(reason=ending or "no answer")] * (len(questions) - len(answers))
    return targets, answers, used_s / max(1, len(questions))


# ---- the sandbox -----------------------------------------------------------------------------------------


def _run(
    phase: str,
    subject: Subject,
    box: Path,
    limits: ScoreLimits,
    wall_s: float,
    what: str,
    *,
    files: Mapping[str, bytes] | None = None,
    tables: Path | None = None,
) -> float:
    """Run a phase to its end and return its processor time in seconds, that of ended children included.

    Raises: PredictorError: it fails, or passes a limit.
    """
    request = {
        "predictor": subject.name,
        "file": subject.file,
        "settings": dict(subject.settings),
        "seed": subject.seed,
        "tables": str(tables),
    }
    run = run_confined(
        (sys.executable, "-B", "-P", "-m", "models.scoring.worker", phase),
        folder=box,
        readable=(*_code(), *_python(), *([] if tables is None else [tables])),
        files={**subject.files, **(files or {}), REQUEST_FILE: json.dumps(request).encode()},
        limits=Limits(
            wall_s=wall_s,
            cpu_s=math.ceil(wall_s) * (os.cpu_count() or 1) + 1,
            memory_bytes=limits.memory_bytes,
            file_bytes=_MODEL_BYTES,
            folder_bytes=2 * _MODEL_BYTES,
            folder_entries=_ENTRIES,
            processes=_PROCESSES,
            output_bytes=_PRINTED_BYTES,
        ),
        environment={"PYTHONPATH": str(_root()), "OMP_NUM_THREADS": "1"},
        devices=(_RANDOM,),
    )
    if problem := _problem(subject, run, box, what, limits, wall_s):
        raise PredictorError(f"{subject.label}: {problem}")
    return run.processor_s


def _problem(
    subject: Subject, run: ConfinedRun, box: Path, what: str, limits: ScoreLimits, wall_s: float
) -> str:
    """Return why a run failed; empty where it did not."""
    excesses = {
        TIME: f"{what} takes more than {wall_s / 60:.3g} minutes",
        MEMORY: f"{what} takes more than {limits.memory_bytes / 2**30:.3g} GiB of memory",
        FILES: f"{what} writes more than {2 * _MODEL_BYTES >> 30} GiB or {_ENTRIES} files",
    }
    if run.stopped_by is not None:
        return excesses.get(run.stopped_by, f"{what} writes too much to standard output")
    if (box / PROBLEM_FILE).exists():
        content = _output(subject, box / PROBLEM_FILE, _SMALL_BYTES).decode(errors="replace")
        return f"{what} fails: {_shown(content)}"
    if run.returncode == 0:
        return ""
    code = run.returncode
    ending = f"exit status {code}" if code is None or code >= 0 else signal_name(-code)
    words = run.stderr.strip().splitlines()
    return f"{what} ends with {ending}" + (f": {_shown(words[-1])}" if words else "")


def _output(subject: Subject, path: Path, most_bytes: int) -> bytes:
    """Read a file that a predictor's process left. Raises: PredictorError: there is none, or another file."""
    try:
        return read_output(path, most_bytes=most_bytes)
    except SandboxError as error:
        raise PredictorError(f"{subject.label}: its process leaves no result: {error}") from error


def _code() -> list[Path]:
    """Return what the sandbox shows of the project: code without trained weights."""
    own = [path for path in Path(models.__file__).parent.iterdir() if path.name != "__pycache__"]
    has_weights = [path for path in own if (path / TRAINED_FOLDER).exists()]
    parts = [part for path in has_weights for part in path.iterdir() if part.name != TRAINED_FOLDER]
    return [Path(pipelines.__file__).parent, *(path for path in own if path not in has_weights), *parts]


def _root() -> Path:
    return Path(models.__file__).parents[1]


def _python() -> list[Path]:
    """Return the folders of this Python and of its environment that the sandbox does not show anyway."""
    folders = {Path(sys.prefix), Path(sys.base_prefix)}
    return sorted(folder for folder in folders if folder != _SYSTEM)


# ---- answers ---------------------------------------------------------------------------------------------


def _read_answers(subject: Subject, path: Path) -> tuple[tuple[str, ...], list[Answer]]:
    """Read the lines that a predictor's process wrote. Raises: PredictorError: they are no answers."""
    text = _output(subject, path, _ANSWERS_BYTES).decode(errors="replace")
    lines = text.split("\n")[:-1]  # the last one ends, or was not written to its end
    try:
        if not lines:
            return (), []
        said = plain_json(lines[0])["targets"]
        targets = tuple(str(target) for target in said)
        return targets, [_answer(plain_json(line), targets) for line in lines[1:]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PredictorError(f"{subject.label}: its answers cannot be read: {_shown(str(error))}") from error


def _answer(said: Mapping[str, Any], targets: Sequence[str]) -> Answer:
    """Return a checked answer; one without a finite number for each target is none."""
    if "reason" in said:
        return Answer(reason=_shown(said["reason"]) or "no reason")
    values = said["values"]
    for target in targets:
        if target not in values:
            return Answer(reason=f"{target} is missing from the answer")
        if not is_finite_number(values[target]):
            return Answer(reason=f"{target} is no finite number: {_shown(values[target])}")
    ends = {target: tuple(values.get(name) for name in interval_columns(target)[:2]) for target in targets}
    return Answer(
        values={target: float(values[target]) for target in targets},
        intervals={t: (e[0], e[1]) for t, e in ends.items() if all(map(is_finite_number, e))},
    )


def _shown(value: Any) -> str:
    return " ".join(str(value).split())[:_MOST_SHOWN]
