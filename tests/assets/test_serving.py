"""Served models: requests beyond limits have status 4xx and one line, and MLflow's faults are told apart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assets.deployments import Deployment
from assets.errors import FoundryError
from models.catalogue import predictor_named
from models.label_tasks import QUERY
from models.limits import Limits
from pipelines.programs import kernel_programs
from simfoundry.commands.score import score_file
from simfoundry.commands.serve import CheckedQuestions, served_app
from tests.benchmarks.serving_load import GOOD, bad_inputs

JSON = {"Content-Type": "application/json"}
TREES = "lightgbm-static"


class Scoring:
    """Stands for MLflow's app: keeps the question, and answers with a status."""

    def __init__(self, status: int = 200, answer: str = '{"predictions": []}') -> None:
        self.status, self.answer = status, answer
        self.asked: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.append(json.loads((await receive())["body"] or b"null"))
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": self.answer.encode()})


def _ask(
    app: Any, body: bytes, headers: dict[str, str] = JSON, *, path: str = "/invocations", method: str = "POST"
) -> tuple[int, Any]:
    """Send a request to an app as a server would; the body comes in parts."""
    parts = [body[k : k + 2**16] for k in range(0, len(body), 2**16)] or [b""]
    messages = [
        {"type": "http.request", "body": p, "more_body": k + 1 < len(parts)} for k, p in enumerate(parts)
    ]
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": pairs, "query_string": b""}
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


def _records(*rows: Any) -> bytes:
    return json.dumps({"dataframe_records": rows}).encode()


def _checked(scoring: Scoring) -> CheckedQuestions:
    return CheckedQuestions(scoring, QUERY, Limits())


def test_a_question_reaches_the_model_with_its_columns() -> None:
    scoring = Scoring()
    assert _ask(_checked(scoring), _records({**GOOD, "data": None}))[0] == 200
    names = sorted(GOOD)
    split = {"dataframe_split": {"columns": names, "data": [[GOOD[name] for name in names]]}}
    assert _ask(_checked(scoring), json.dumps(split).encode())[0] == 200
    assert scoring.asked == [{"dataframe_records": [GOOD]}] * 2


@pytest.mark.parametrize(
    ("name", "body", "headers"), bad_inputs(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_bad_input_has_status_4xx_and_one_line(name: str, body: bytes, headers: dict[str, str]) -> None:
    scoring = Scoring()
    status, answer = _ask(_checked(scoring), body, headers)
    if status == 200:  # within limits: what is wrong with the text, only the model can say
        assert name in _ASKED
        return
    assert 400 <= status < 500
    assert set(answer) == {"error"}
    assert 0 < len(answer["error"]) < 500
    assert "\n" not in answer["error"]
    assert scoring.asked == []


_ASKED = {
    "empty source", "empty top", "unknown top", "syntax error", "nested text", "unfinished comment",
    "includes a file", "directives, no JSON", "directives, no list", "directives of numbers",
    "directive of another kind", "deep directives", "data, no JSON", "data, no object", "trips, no JSON",
    "trips of text",
}  # fmt: skip


def test_paths_and_methods_are_those_of_mlflow() -> None:
    app = _checked(Scoring())
    assert _ask(app, b"", path="/ping", method="GET")[0] == 200
    assert _ask(app, b"", path="/docs", method="GET") == (
        404,
        {"error": "no such path; accepted: /invocations, /ping, /health, /version"},
    )
    assert _ask(app, b"", method="GET") == (405, {"error": "method GET; accepted: POST"})


def test_a_refusal_of_the_model_is_its_line_and_a_fault_is_a_fault() -> None:
    refusal = {"error_code": "INVALID_PARAMETER_VALUE", "message": "Failed ... \nError: row 0: no\n loop"}
    assert _ask(_checked(Scoring(400, json.dumps(refusal))), _records(GOOD)) == (
        422,
        {"error": "row 0: no loop"},
    )
    fault = {"error_code": "BAD_REQUEST", "message": "unexpected", "stack_trace": "Traceback"}
    status, answer = _ask(_checked(Scoring(400, json.dumps(fault))), _records(GOOD))
    assert (status, answer) == (500, {"error": "the model failed; the log of the server says why"})
    assert _ask(_checked(Scoring(504, "late")), _records(GOOD))[0] == 422


@pytest.mark.slow
@pytest.mark.parametrize("name", [TREES, "tenset-mlp"])
def test_a_served_champion_answers_and_refuses(name: str, deployment: Deployment) -> None:
    from simfoundry.commands.predict import registered_model

    with registered_model(name, "champion") as loaded:
        app = served_app(loaded, Limits())
    status, answer = _ask(app, _records(GOOD, GOOD))
    assert status == 200
    assert [row["latency_cycles"] > 0 for row in answer["predictions"]] == [True, True]
    for case, body, headers in bad_inputs():
        status, answer = _ask(app, body, headers)
        assert 400 <= status < 500, (case, answer)
        assert "\n" not in answer["error"], case


def _questions(folder: Path, rows: Sequence[Any]) -> Path:
    pl.DataFrame(rows).write_parquet(folder / "questions.parquet")
    return folder / "questions.parquet"


def test_scores_of_a_file_are_those_of_the_model_and_a_refused_row_has_a_reason(
    deployment: Deployment, tmp_path: Path
) -> None:
    kernels = kernel_programs(suites=("stencil",), sizes=("small",))
    rows: list[Any] = [{**GOOD, "source": row.source, "top": row.top, "note": "kept out"} for row in kernels]
    rows[1:1] = [
        {**GOOD, "note": "", "source": "void scale("},
        {**GOOD, "note": "", "memory_read_delay_cycles": 0},
    ]
    out = tmp_path / "answers.parquet"
    answer = score_file(_questions(tmp_path, rows), model=f"{TREES}@champion", out=out)
    assert answer.statuses == {"ok": len(kernels), "refused": 2}
    scored = pl.read_parquet(out)
    assert scored["status"].to_list()[:4] == ["ok", "refused", "refused", "ok"]
    assert "syntax error" in scored["reason"][1]
    assert scored["reason"][2] == "memory_read_delay_cycles: 0; accepted: 1 to 1000"
    spec = predictor_named(TREES)
    asked = [{name: value for name, value in row.items() if name != "note"} for row in (rows[0], rows[3])]
    direct = spec.load(spec.shipped_folder).answer(asked)
    assert scored["latency_cycles"].to_list()[0::3][:2] == [row["latency_cycles"] for row in direct]
    assert "note" not in scored.columns


def test_score_refuses_a_file_without_the_columns(deployment: Deployment, tmp_path: Path) -> None:
    file = _questions(tmp_path, [{"source": "x"}])
    with pytest.raises(FoundryError, match=r"not a table of questions: .*: no column top, memory_read_delay"):
        score_file(file, model=f"{TREES}@champion", out=tmp_path / "out.parquet")
    file.write_bytes(b"PAR1")
    with pytest.raises(FoundryError, match="not a table of questions"):
        score_file(file, model=f"{TREES}@champion", out=tmp_path / "out.parquet")


def test_score_refuses_columns_of_another_type_and_another_ending(
    deployment: Deployment, tmp_path: Path
) -> None:
    row = {"source": "int f(int a) { return a; }", "top": "f", "directives": "[]", "clock_period_ns": 10.0}
    file = _questions(tmp_path, [{**row, "memory_read_delay_cycles": "two", "memory_write_delay_cycles": 2}])
    with pytest.raises(FoundryError, match=r"column memory_read_delay_cycles: .*'two'.*; accepted: int64$"):
        score_file(file, model=f"{TREES}@champion", out=tmp_path / "out.parquet")
    with pytest.raises(FoundryError, match=r"out\.csv is no Parquet file; accepted: FILE\.parquet$"):
        score_file(file, model=f"{TREES}@champion", out=tmp_path / "out.csv")
