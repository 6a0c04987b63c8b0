"""`simfoundry adapt`: a predictor learns another tool from few of its labels."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assets.errors import FoundryError
from models.intervals import Residual, calibrate, half_width
from models.local_registry import LocalModel
from models.model_files import model_bytes, read_outcome, require_model_folder, write_outcome
from models.query import Query
from pipelines.base.bounds import CLOCK_PERIOD_NS, MEMORY_DELAY_CYCLES
from pipelines.base.files import read_bounded
from pipelines.base.identity import content_hash, file_sha256
from pipelines.c import HlsError
from pipelines.programs import ProgramError
from simfoundry.commands.predict import local_model, question_of
from simfoundry.questions import AdaptQuestion, Options

if TYPE_CHECKING:
    from models.lightgbm.adaptation import TargetAdaptation
    from models.lightgbm.trees import TreePredictor

LIMIT_BYTES = 16 << 20
FEWEST_PROGRAMS = 20
"""Programs whose labels calibrate intervals, at least."""
_ADAPTED = ", adapted to "
MOST_ROWS = 10_000
FILE, TOP, DIRECTIVES, DELAY, CLOCK = "file", "top", "directives", "memory_delay", "clock_ns"
ASKED = (FILE, TOP, DIRECTIVES, DELAY, CLOCK)
"""Columns of the question; all but the first may be absent or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuestion:
    """A row of the file: a question with the labels that another tool gave."""

    file: str
    query: Query
    program: str
    labels: Mapping[str, float]


def answer_adapt(question: AdaptQuestion) -> dict[str, Any]:
    """Adapt boosted trees to the labels of a CSV file, and write them as a model folder.

    Returns: by target the count of labels, the correction, and the median error of the labels before and
             after, each label by a correction that did not learn from its program.
    Raises:  FoundryError: the file, a row, or the model is not acceptable. PredictorError: a damaged model.
    """
    from models.lightgbm.adaptation import adapt
    from models.lightgbm.trees import TreePredictor, question_features

    if question.out is not None:
        require_model_folder(Path(question.out))
    model = local_model(question.model)
    predictor = model.spec.load(model.folder)
    if not isinstance(predictor, TreePredictor):
        raise FoundryError(
            f"only boosted trees adapt, not {model.spec.name}; accepted: lightgbm-hls@champion"
        )
    rows = read_labels(Path(question.labels), predictor.targets)
    features: list[list[float]] = []
    for number, row in enumerate(rows, 2):
        try:
            known = question_features(row.query, predictor.level, predictor.engine)
        except ValueError as error:
            said = str(error).replace("(program.c", f"({row.file}")
            raise FoundryError(f"{question.labels}:{number}: {said}") from error
        features.append([known[name] for name in predictor.names])
    targets = [name for name in predictor.targets if any(name in row.labels for row in rows)]
    labels = {t: np.array([row.labels.get(t, math.nan) for row in rows], np.float64) for t in targets}
    try:
        adapted, said = adapt(predictor, np.array(features), labels, [row.program for row in rows])
    except ValueError as error:
        raise FoundryError(f"{question.labels}: {error}") from error
    if question.out is not None:
        _write(adapted, model, question, said)
    return {
        "model": question.model,
        "labels": len(rows),
        "targets": {
            name: {
                "labels": own.labels,
                "method": own.method,
                "error_before": own.error_before,
                "error_after": own.error_after,
            }
            for name, own in said.items()
        },
        "folder": None if question.out is None else str(question.out),
    }


def _write(
    adapted: TreePredictor, model: LocalModel, question: AdaptQuestion, said: Mapping[str, TargetAdaptation]
) -> None:
    outcome = read_outcome(model.folder)
    if outcome is None:
        raise FoundryError(f"no outcome of a training: {model.folder}")
    digest = file_sha256(Path(question.labels))
    calibration = {
        name: recalibrated(own.residuals, outcome.calibration.get(name)) for name, own in said.items()
    }
    changed = replace(
        outcome,
        key=content_hash(outcome.key, digest),
        folder=Path(question.out or "."),
        source=f"{outcome.source.partition(_ADAPTED)[0]}{_ADAPTED}{Path(question.labels).name}",
        parameters={**outcome.parameters, "adapted_to": digest},
        calibration={**outcome.calibration, **calibration},
        intervals={name: own for name, own in outcome.intervals.items() if name not in calibration},
        leaderboard=(),
        workloads=(),
    )
    write_outcome(changed, model_bytes(model.spec.name, adapted.files))


def recalibrated(residuals: Sequence[Residual], earlier: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the calibration of a target on labels of another tool.

    Labels of fewer than FEWEST_PROGRAMS programs cannot say what holds 90 %: the earlier intervals stay, as
    wide as each of these labels needs.
    """
    target = residuals[0].target
    if earlier is None or len({r.group for r in residuals}) >= FEWEST_PROGRAMS:
        return calibrate(residuals)[target]
    needed = max(r.error / max(1e-3, half_width(earlier, r.difficulty, target)) for r in residuals)
    factor = max(1.0, needed)
    kinds: Mapping[str, Any] = earlier["kinds"]
    wider = {
        name: {**kind, "width": factor * kind["width"], "scores": [factor * s for s in kind["scores"]]}
        for name, kind in kinds.items()
    }
    return {**earlier, "kinds": wider}


def read_labels(path: Path, targets: Sequence[str]) -> list[LabelledQuestion]:
    """Read a CSV file of labels: columns of ASKED, and a column per target that has labels.

    Files of programs are relative to its folder.

    Raises: FoundryError: no such file, a column or value that is not acceptable; the message has the line.
    """
    content = read_bounded(path, what="labels", most_bytes=LIMIT_BYTES, error=FoundryError)
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        rows = list(reader)
        columns = list(reader.fieldnames or ())
    except (UnicodeDecodeError, csv.Error) as error:
        raise FoundryError(f"{path} must be a CSV file in UTF-8: {error}") from error
    accepted = (*ASKED, *targets)
    unknown = [name for name in columns if name not in accepted]
    if FILE not in columns or unknown or len(set(columns)) < len(columns):
        got = ", ".join(unknown or columns) or "none"
        raise FoundryError(
            f"{path} must have column file, others once each of {', '.join(accepted)}, with commas between; "
            f"got {got:.200}"
        )
    if not any(name in columns for name in targets):
        raise FoundryError(f"{path} must have a column of labels: {', '.join(targets)}")
    if not 0 < len(rows) <= MOST_ROWS:
        raise FoundryError(f"{path} must have 1 to {MOST_ROWS:,} rows, got {len(rows):,}")
    return [_row(path, number, row, targets) for number, row in enumerate(rows, 2)]


def _row(path: Path, line: int, row: Mapping[str, Any], targets: Sequence[str]) -> LabelledQuestion:
    place = f"{path}:{line}"
    if None in row or any(value is None for value in row.values()):
        raise FoundryError(f"{place}: a row must have as many values as the head has columns")
    labels = {name: _number(place, name, row[name]) for name in targets if row.get(name)}
    hardware = Options()
    delay, (least, most) = row.get(DELAY) or str(hardware.memory_delay), MEMORY_DELAY_CYCLES
    if not (delay.isascii() and delay.isdecimal() and least <= int(delay[:9]) <= most):
        raise FoundryError(f"{place}: {DELAY} must be {least} to {most}, got {delay!r:.60}")
    clock = _number(place, CLOCK, row.get(CLOCK) or str(hardware.clock_ns))
    if not CLOCK_PERIOD_NS[0] <= clock <= CLOCK_PERIOD_NS[1]:
        accepted = " to ".join(f"{end:g}" for end in CLOCK_PERIOD_NS)
        raise FoundryError(f"{place}: {CLOCK} must be {accepted}, got {clock:g}")
    try:
        query = question_of(
            file=path.parent / row[FILE],
            top=row.get(TOP) or None,
            directives=_directives(place, row.get(DIRECTIVES) or "[]"),
            memory_delay=int(delay),
            clock=clock,
            data=None,
        )
    except (FoundryError, HlsError, ProgramError) as error:
        raise FoundryError(f"{place}: {str(error).replace('(program.c', f'({row[FILE]}')}") from error
    return LabelledQuestion(
        file=row[FILE], query=query, program=content_hash(query.source, query.top), labels=labels
    )


def _directives(place: str, text: str) -> Sequence[Mapping[str, Any]]:
    try:
        directives: Any = json.loads(text)
    except ValueError as error:
        raise FoundryError(f"{place}: directives must be a JSON list, got {text!r:.60}") from error
    if not isinstance(directives, list):
        raise FoundryError(f"{place}: directives must be a JSON list, got {text!r:.60}")
    return directives


def _number(place: str, name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise FoundryError(f"{place}: {name} must be a number above 0, got {text!r:.60}")
    return value


def adaptation_text(answer: Mapping[str, Any]) -> str:
    """Return the answer as lines: a target each, and the folder."""
    words = {"none": "as it is", "constant": "a constant factor", "trees": "trees for the ratio"}
    lines = [
        f"{answer['model']}, adapted by {answer['labels']} rows; median error of labels, left out by program"
    ]
    lines += [
        f"{name:<16} {own['labels']:>5} labels  {own['error_before']:.1%} to {own['error_after']:.1%}  "
        f"{words[own['method']]}"
        for name, own in answer["targets"].items()
    ]
    if not answer["folder"]:
        lines.append("no model was written; --out FOLDER keeps it")
    else:
        lines.append(f"to ask it: simfoundry predict FILE.c --model {answer['folder']}")
    return "\n".join(lines)
