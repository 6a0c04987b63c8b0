"""Rows of the `designs` table: report figures and round trip of options."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.c import Directive
from pipelines.hls import HlsOptions, compile_program, design_row, options_of
from pipelines.programs import program_from_file
from pipelines.schemas import ProgramRow

SUM = "int f(int A[8]) { int s = 0; L: for (int i = 0; i < 8; i++) s += A[i]; return s; }"
OPTIONS = HlsOptions(clock_period_ns=5.0, directives=(Directive(kind="pipeline", loop="L"),))
ESTIMATES = ("critical_path_ns", "estimated_area_um2", "multiplexer_area_um2", "register_bits", "state_count")


@pytest.fixture
def program(tmp_path: Path) -> ProgramRow:
    path = tmp_path / "f.c"
    path.write_text(SUM)
    return program_from_file(path, top="f")


@pytest.mark.parametrize("name", ESTIMATES)
def test_a_row_has_the_estimates_of_its_report(program: ProgramRow, name: str) -> None:
    compiled = compile_program(program.source, top="f", options=OPTIONS)
    row = design_row(program, OPTIONS, compiled, 0.0)
    assert getattr(row, name) == getattr(compiled.report, name)
    assert getattr(row, name) > 0
    assert options_of(row) == OPTIONS


@pytest.mark.parametrize("name", ESTIMATES)
def test_the_row_of_a_failure_has_no_estimates(program: ProgramRow, name: str) -> None:
    row = design_row(program, OPTIONS, ("rejected", "loops must end"), 0.0)
    assert (row.status, row.reason) == ("rejected", "loops must end")
    assert getattr(row, name) is None
