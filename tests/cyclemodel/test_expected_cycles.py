"""Expected cycles: those counted where every loop has constant bounds, and means elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.c import parse_directives
from pipelines.cyclemodel import UNKNOWN_TRIPS, ControlEstimate, estimate_cycles, expected_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program

SQUARE = """void f(int a[8][8], int y[8]) {
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) y[i] += a[i][j];
}"""
TRIANGLE = """void f(int a[8][8], int y[8]) {
  for (int i = 0; i < 8; i++) for (int j = 0; j <= i; j++) y[i] += a[i][j];
}"""
HALVED = "int f(int a[8]) { int n = 64, y = 0; while (n > 1) { y += a[n & 7]; n /= 2; } return y; }"
BREAK = """void f(int a[64], int y[64]) {
  for (int i = 0; i < 64; i++) { if (a[i] == 7) break; y[i] = a[i] / 3; }
}"""
BRANCH = """void f(int a[64], int y[64]) {
  for (int i = 0; i < 64; i++) { if (a[i] > 5) { y[i] = a[i] / 3; } }
}"""
SEARCH = "int f(int a[64]) { int i = 0; while (a[i] > 0) i++; return i; }"
ROWS = "void f(int a[64], int n) { for (int i = 0; i < n; i++) a[i] = 3 * a[i]; }"


def compiled(source: str, directives: str = "[]") -> CompiledDesign:
    return compile_program(source, top="f", options=HlsOptions(directives=parse_directives(directives)))


@pytest.mark.parametrize(
    ("source", "directives", "share"),
    [
        (SQUARE, "[]", 0.0),
        (SQUARE, '[{"kind": "pipeline", "loop": "L1", "value": 1}]', 0.0),
        (SQUARE, '[{"kind": "unroll", "loop": "L1", "value": 2}]', 0.0),
        (HALVED, "[]", 1.0),
        (TRIANGLE, "[]", 0.02),
    ],
)
def test_expected_cycles_are_the_counted_ones(
    source: str, directives: str, share: float, tmp_path: Path
) -> None:
    design = compiled(source, directives)
    counted = estimate_cycles(design, folder=tmp_path)
    assert isinstance(counted, ControlEstimate)
    expected = expected_cycles(design)
    assert expected.trips_known == (share < 1)
    assert expected.cycles == pytest.approx(counted.cycles, rel=share, abs=0)
    assert [(own.loop, own.depth, own.is_constant) for own in expected.loops] == [
        (own.loop, own.depth, own.is_constant) for own in counted.loops
    ]


def test_known_trips_and_scalars_are_used() -> None:
    search, rows = compiled(SEARCH), compiled(ROWS)
    few, many = (expected_cycles(search, trips={"L0": trips}).cycles for trips in (4.0, 40.0))
    assert 6 < many / few < 11
    few, many = (expected_cycles(rows, scalars={"n": n}).cycles for n in (4, 40))
    assert 6 < many / few < 11
    assumed = expected_cycles(search)
    assert assumed.loops[0].iterations == UNKNOWN_TRIPS
    assert not assumed.trips_known
    assert [own.depends_on_data for own in assumed.loops] == [True]


def test_a_branch_takes_both_ways_and_a_break_shares_the_ends_of_its_loop() -> None:
    visits = expected_cycles(compiled(BRANCH)).visits
    assert {64, 32} <= set(visits)
    loop = expected_cycles(compiled(BREAK)).loops[0]
    assert (loop.entries, loop.iterations) == (1, 64)
