"""Shares of loops: they sum to one, shared units count in parts, copies count for their loop."""

from __future__ import annotations

import json

import pytest

from models.query import Query
from models.scheduled import know_query
from pipelines.c import HlsError
from pipelines.cyclemodel.expected import expected_cycles
from pipelines.dataset.features.loop_shares import OUTSIDE, loop_shares
from pipelines.hls import HlsOptions, compile_program
from pipelines.hls.report import area_parts
from pipelines.programs import WRITTEN, kernel_programs
from pipelines.programs.suites import SUITE_PROGRAMS, SuiteOptions
from simfoundry.commands.predict import engine_answer, shares_of_loops
from simfoundry.commands.predict_text import prediction_text

KERNELS = ("linear_algebra", "stencil", "irregular")
ENGINE = {"liberty": "osu018", "engine_options": "{}"}
THREE = """void f(float a[64], float b[64], float c[64], float d[64]) {
  for (int i = 0; i < 64; i++) b[i] = a[i] * a[i];
  for (int i = 0; i < 64; i++) c[i] = b[i] * a[i];
  for (int i = 0; i < 16; i++) d[i] = c[i] * b[i];
}"""


def query(source: str, directives: str = "[]") -> Query:
    return Query(
        source=source,
        top="f",
        memory_read_delay_cycles=2,
        memory_write_delay_cycles=2,
        clock_period_ns=10.0,
        directives=directives,
    )


def shares(source: str, directives: str = "[]") -> dict[str | None, tuple[float, float]]:
    asked = query(source, directives)
    rows = shares_of_loops(asked, know_query(asked, ENGINE, "hls"))
    return {row["loop"]: (row["area_share"], row["cycle_share"]) for row in rows}


@pytest.mark.sample(4)
@pytest.mark.parametrize("program", kernel_programs(suites=KERNELS, sizes=("small",)), ids=lambda p: p.name)
def test_parts_are_the_estimated_area_and_shares_sum_to_one(program) -> None:
    compiled = compile_program(program.source, top=program.top, options=HlsOptions(), writes_verilog=False)
    total = sum(part.area_um2 for part in area_parts(compiled.scheduled))
    assert total == pytest.approx(compiled.report.estimated_area_um2, abs=0.01)
    found = loop_shares(compiled, expected_cycles(compiled))
    assert sum(own.area for own in found) == pytest.approx(1.0)
    assert sum(own.cycles for own in found) == pytest.approx(1.0)
    assert len({own.loop for own in found}) == len(found)


def test_a_unit_of_three_loops_counts_a_third_for_each_and_cycles_by_their_trips() -> None:
    three = shares(THREE)
    areas = [three[name][0] for name in ("L0", "L1", "L2")]
    assert max(areas) - min(areas) < 0.02
    assert min(areas) > 0.3
    assert three["L1"][1] == pytest.approx(three["L0"][1], abs=0.01)
    assert 3 < three["L0"][1] / three["L2"][1] < 6  # a quarter of the iterations


def test_an_inner_loop_has_what_it_computes_and_a_copy_counts_for_its_loop() -> None:
    source = """void f(int x[8], int y[8]) {
  for (int i = 0; i < 8; i++) {
    int sum = 0;
    for (int j = 0; j < 8; j++) sum += x[j] * x[i];
    y[i] = sum;
  }
}"""
    nested = shares(source)
    assert nested["L1"][0] > 5 * nested["L0"][0]
    unrolled = shares(source, json.dumps([{"kind": "unroll", "loop": "L0", "value": 2}]))
    assert set(unrolled) <= {"L0", "L1", None}
    assert unrolled["L1"][0] > unrolled["L0"][0]


def test_a_program_without_loops_has_all_of_it_outside_and_no_line_about_loops() -> None:
    source = "int f(int a, int b) { return a * b; }"
    assert shares(source) == {None: (1.0, 1.0)}
    compiled = compile_program(source, top="f", options=HlsOptions(), writes_verilog=False)
    assert [own.loop for own in loop_shares(compiled, expected_cycles(compiled))] == [OUTSIDE]
    assert "loop" not in prediction_text({"level": "hls", "model": "m", **engine_answer(query(source))})


def test_the_text_names_the_loops_with_the_largest_area_first() -> None:
    answer = engine_answer(query(THREE))
    line = prediction_text({"level": "hls", "model": "m", **answer}).splitlines()[-1]
    assert line.startswith("by the engine's estimate: loop L")
    assert line.count("loop L") == 3
    assert "(line 2)" in line


@pytest.mark.slow
def test_parts_are_the_estimated_area_of_the_programs_that_people_wrote() -> None:
    for program in SUITE_PROGRAMS[WRITTEN](SuiteOptions(sizes=("small",), ast=None, dataflow=None)):  # type: ignore[arg-type]
        try:
            compiled = compile_program(
                program.source, top=program.top, options=HlsOptions(), writes_verilog=False
            )
        except HlsError:
            continue
        total = sum(part.area_um2 for part in area_parts(compiled.scheduled))
        assert total == pytest.approx(compiled.report.estimated_area_um2, abs=0.01), program.name
