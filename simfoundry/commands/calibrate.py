"""`simfoundry calibrate`: the numeric language model learns from profiles of a user's program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from assets.errors import FoundryError
from models.model_files import model_bytes, require_model_folder, write_folder
from pipelines.base.files import read_bounded
from simfoundry.commands.predict import opened_model, question_of
from simfoundry.questions import CalibrateQuestion

_SPECIFICATION_LIMIT_BYTES = 1 << 20


def answer_calibrate(question: CalibrateQuestion) -> dict[str, Any]:
    """Calibrate a numeric language model on a C file under one configuration.

    Returns: errors on unseen inputs before and after, and of each round.
    Raises:  FoundryError: the model is another one. ProgramError, HlsError, PredictorError: the program or
             its inputs are not acceptable.
    """
    out, hardware = question.out, question.options
    if out is not None:
        require_model_folder(out)
    query = question_of(
        file=Path(question.file),
        top=question.top,
        directives=hardware.directives,
        memory_delay=hardware.memory_delay,
        clock=hardware.clock_ns,
        data=None,
    )
    if question.specification is not None:
        content = read_bounded(
            question.specification,
            what="input specification",
            most_bytes=_SPECIFICATION_LIMIT_BYTES,
            error=FoundryError,
        )
        query = replace(query, inputs=content.decode("utf-8", "replace"))
    with opened_model(question.model) as (spec, predictor):
        if spec.package != "numeric_lm":
            raise FoundryError(f"only the numeric language model calibrates, not {spec.name}")
        from models.numeric_lm.calibration import calibrate  # lazy import: loads a learning framework

        report = calibrate(predictor, query, question)
        if out is not None:
            write_folder(out, model_bytes(spec.name, predictor.files))
    answer = {"file": str(question.file), "model": question.model, **asdict(report)}
    return {**answer, "folder": None if out is None else str(out)}


def calibration_text(answer: Mapping[str, Any]) -> str:
    """Return the answer in words and a table of rounds."""
    engine = answer["engine_error"]
    lines = [
        f"cycles of {answer['file']}: mean error on {answer['unseen_inputs']} unseen inputs "
        f"{answer['error_before']:.1%} before, {answer['error_after']:.1%} after "
        f"{answer['calibration_inputs']} profiles",
        f"{'round':<6}{'inputs':>7}{'fresh error':>13}{'unseen error':>14}",
    ]
    for number, row in enumerate(answer["rounds"], 1):
        fresh = "-" if row["fresh_error"] is None else f"{row['fresh_error']:.1%}"
        lines.append(f"{number:<6}{row['inputs']:>7}{fresh:>13}{row['unseen_error']:>14.1%}")
    if engine is not None:
        lines.append(f"the engine's own estimate: {engine:.1%}")
    if answer["anchor_error"] is not None:
        lines.append(f"a regression on the profiles alone: {answer['anchor_error']:.1%}")
    if answer["distinct_cycles"] == 1:
        lines.append("cycles are the same for all inputs")
    if answer["failed_inputs"]:
        lines.append(f"inputs whose run failed: {answer['failed_inputs']}")
    if answer["folder"]:
        lines.append(answer["folder"])
    return "\n".join(lines)
