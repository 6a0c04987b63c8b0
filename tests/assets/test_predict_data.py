"""`simfoundry predict`: run-time data reach the question, and bad input is one clear error."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assets.errors import FoundryError
from pipelines.programs import ProgramError
from simfoundry.commands.predict import predict_file

SOURCE = "void top(int x[4], int n, int y[4]) { for (int i = 0; i < n; i++) y[i] = x[i]; }\n"


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Questions that a model would be asked."""
    asked: list[dict[str, Any]] = []

    def ask(name: str, alias: str, question: dict[str, Any], place: str) -> dict[str, Any]:
        del name, alias, place
        asked.append(question)
        return {}

    monkeypatch.setattr("simfoundry.commands.predict.ask_model", ask)
    return asked


def _predict(file: Path, data: Path | None = None, model: str = "a@b") -> dict[str, Any]:
    return predict_file(
        file=file, top="top", directives=None, memory_delay=2, clock=10.0, model=model, data=data
    )


def _write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_data_reach_the_question_in_short(questions: list[dict[str, Any]], tmp_path: Path) -> None:
    source = _write(tmp_path / "p.c", SOURCE)
    _predict(source, _write(tmp_path / "d.json", '{"x": [0, 1, 2, 3], "n": 3}'))
    _predict(source)
    known = json.loads(questions[0]["data"])
    assert known["n"] == 3
    assert known["x"] == {"minimum": 0, "maximum": 3, "mean": 1.5, "zero_share": 0.25, "is_sorted": 1}
    assert questions[1]["data"] == ""


def test_reordered_sums_are_judged_when_they_are_allowed(tmp_path: Path) -> None:
    text = "float top(float a[16]) { float s = 0; for (int i = 0; i < 16; i++) s += a[i]; return s; }\n"
    source = _write(tmp_path / "p.c", text)
    directives = _write(
        tmp_path / "d.json",
        '[{"kind": "partition", "variable": "a", "dimension": 1, "style": "cyclic", "value": 8},'
        ' {"kind": "unroll", "loop": "L0", "value": 8}]',
    )
    question = partial(predict_file, file=source, top=None, directives=directives, memory_delay=2, clock=10.0)
    ordered, reordered = question(), question(unsafe_math=True)
    assert reordered["engine_latency_cycles"] < ordered["engine_latency_cycles"]
    assert reordered["latency_cycles"] < ordered["latency_cycles"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("", r"^empty C source: "), ("/" * (4 << 20) + "\n//", r"too large|larger|bytes")],
    ids=["empty", "over 4 MB"],
)
def test_predict_rejects_programs_that_are_none(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=message):
        _predict(_write(tmp_path / "p.c", text))


def test_predict_rejects_data_that_do_not_fit(tmp_path: Path) -> None:
    source = _write(tmp_path / "p.c", SOURCE)
    with pytest.raises(ProgramError, match=r"^unknown argument of top: z; accepted: x, n, y "):
        _predict(source, _write(tmp_path / "d.json", '{"z": 1}'))


def test_predict_rejects_a_model_without_alias(tmp_path: Path) -> None:
    source = _write(tmp_path / "p.c", SOURCE)
    with pytest.raises(FoundryError, match=r"^a model must be NAME@ALIAS "):
        _predict(source, model="numeric-lm-hls")
