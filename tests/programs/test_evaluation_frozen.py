"""The frozen evaluation set: nothing in it changes, and no generated program equals one of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

from pipelines.programs import (
    ALL_SUITES,
    EVALUATION_SUITES,
    Generation,
    ProgramError,
    SuiteOptions,
    polybench_program,
    suite_programs,
    suites,
)
from pipelines.programs.evaluation import (
    evaluation_programs,
    every_evaluation_program,
    find_duplicate,
    frozen_hashes,
    reject_duplicates,
)
from pipelines.programs.evaluation.programs import FROZEN_FILE
from pipelines.programs.rows import program_row
from pipelines.schemas import OK, REJECTED, ProgramRow


def frozen_record(programs: Iterable[ProgramRow]) -> str:
    """The text of the list: id and syntax tree hash of every program, by suite, name and size."""
    rows = {
        f"{row.suite}/{row.name}/{row.size}": {"program_id": row.program_id, "ast_hash": row.ast_hash}
        for row in programs
    }
    return json.dumps(rows, indent=1, sort_keys=True) + "\n"


OPTIONS = SuiteOptions(sizes=("small",), ast=Generation(count=2), dataflow=Generation(count=2))


def disguised(row: ProgramRow, stage: str = "ast") -> ProgramRow:
    """A program for training that differs from another in its spelling only."""
    source = "/* new */\n" + row.source.replace("held", "kept").replace("input", "seen")
    assert source != row.source
    return program_row(
        name="planted",
        suite=stage,
        stage=stage,
        size="custom",
        parameters={},
        source=source,
        top=row.top,
        inputs={},
    )


@pytest.mark.slow
def test_the_evaluation_set_is_as_it_was_frozen() -> None:
    assert frozen_record(every_evaluation_program()) == FROZEN_FILE.read_text(encoding="utf-8")


def test_every_evaluation_program_is_one_of_its_own() -> None:
    rows = json.loads(FROZEN_FILE.read_text(encoding="utf-8"))
    assert len(rows) == len({row["program_id"] for row in rows.values()}) == len(frozen_hashes()) == 200


@pytest.mark.parametrize(("suite", "count"), [("modern", 14), ("stationary", 6), ("polybench", 60)])
def test_an_evaluation_suite_has_its_programs(suite: str, count: int) -> None:
    rows = suite_programs(suite, OPTIONS)
    assert len(rows) == count
    assert {(row.suite, row.stage, row.status) for row in rows} == {(suite, "evaluation", OK)}
    assert suite in EVALUATION_SUITES
    assert suite in ALL_SUITES
    assert all(find_duplicate(row) for row in rows)


def test_evaluation_programs_rejects_an_unknown_suite() -> None:
    with pytest.raises(
        ProgramError, match=r"unknown evaluation suite: ancient; accepted: modern, stationary, polybench"
    ):
        evaluation_programs("ancient")


@pytest.mark.parametrize("stage", ["kernel", "ast", "dataflow", "llm"])
def test_a_twin_of_an_evaluation_program_is_a_rejected_row(stage: str) -> None:
    original = suite_programs("stationary", OPTIONS)[0]
    planted = disguised(original, stage)
    other = disguised(original, stage)
    other = replace(other, ast_hash="0" * 32)
    kept, refused = reject_duplicates([other, planted])
    assert kept is other
    assert planted.status == OK
    assert refused.status == REJECTED
    assert refused.reason == (
        "a generated program must differ from every evaluation program by its syntax tree, "
        "got stationary/weight-stationary-int/custom"
    )


def test_a_row_that_is_refused_already_keeps_its_reason() -> None:
    row = replace(disguised(suite_programs("stationary", OPTIONS)[0]), status=REJECTED, reason="another")
    assert reject_duplicates([row]) == [row]


@pytest.mark.parametrize("suite", ["ast", "dataflow"])
def test_a_generated_suite_refuses_a_planted_twin(suite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(**_: object) -> list[ProgramRow]:
        return [disguised(suite_programs("stationary", OPTIONS)[0])]

    monkeypatch.setattr(suites, f"{suite}_programs", planted)
    assert [row.status for row in suite_programs(suite, OPTIONS)] == [REJECTED]


def test_no_program_of_the_generated_suites_is_a_twin() -> None:
    rows = [row for suite in ("ast", "dataflow") for row in suite_programs(suite, OPTIONS)]
    assert rows
    assert not [row.name for row in rows if find_duplicate(row)]


def test_polybench_is_frozen_at_every_size_and_type() -> None:
    row = polybench_program("gemm", size="small", data_type="double")
    assert find_duplicate(replace(row, stage="ast")) == "polybench/gemm-double/small"
