"""Every suite is made by its name."""

from __future__ import annotations

import pytest

from pipelines.programs import (
    ALL_SUITES,
    LLM,
    WRITTEN,
    Generation,
    ProgramError,
    SuiteOptions,
    suite_programs,
)
from pipelines.schemas import ProgramRow

OPTIONS = SuiteOptions(sizes=("small",), ast=Generation(count=2), dataflow=Generation(count=3, seed=1))


@pytest.mark.parametrize(
    "suite",
    [
        pytest.param(suite, marks=[pytest.mark.slow] if suite == WRITTEN else [])
        for suite in ALL_SUITES
        if suite != LLM
    ],
)
def test_programs_of_a_suite_say_so(suite: str) -> None:
    rows = suite_programs(suite, OPTIONS)
    assert {r.suite for r in rows} == {suite}
    assert len({r.program_id for r in rows}) == len(rows)
    assert len(rows) == {"ast": 2, "dataflow": 3}.get(suite, len(rows))


def test_suite_programs_rejects_an_unknown_suite() -> None:
    with pytest.raises(ProgramError, match=r"unknown suite: dense; accepted: linear_algebra, .*, polybench"):
        suite_programs("dense", OPTIONS)


@pytest.mark.parametrize("suite", ["ast", "dataflow"])
def test_a_shard_has_the_programs_of_its_numbers(suite: str) -> None:
    def made(count: int, first: int) -> list[ProgramRow]:
        numbers = Generation(count=count, first=first)
        return suite_programs(suite, SuiteOptions(sizes=("small",), ast=numbers, dataflow=numbers))

    assert made(4, 0) == made(2, 0) + made(2, 2)
