"""What the analysis refuses, with whole messages, and what a relaxed analysis says instead."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import ROOT

SUPPORTED = (
    "supported: counted loops without conditions or jumps, whose bounds and subscripts are constants and "
    "sums of multiples of the counters of the loops around them"
)

INDIRECT = "void f(int y[100], int x[100]) {\n  for (int i = 0; i < 9; i++)\n    y[i] = x[y[i]];\n}\n"
PRODUCT = "void f(int y[100]) {\n  for (int i = 0; i < 9; i++)\n    y[i * i] = 1;\n}\n"
DATA_BOUND = """void f(int y[100], int first[11]) {
  for (int i = 0; i < 10; i++) {
    y[i] = 0;
    for (int e = first[i]; e < first[i + 1]; e++)
      y[i] += e;
  }
}
"""
ARGUMENT_BOUND = "void f(int n, int y[100]) {\n  for (int i = 0; i < n; i++)\n    y[i] = 1;\n}\n"
WHILE = "void f(int y[100]) {\n  int i = 1;\n  while (y[i] > i)\n    i += y[0];\n  y[1] = i;\n}\n"
CONDITION = """void f(int y[100], int x[100]) {
  for (int i = 0; i < 9; i++) {
    x[i] = 1;
    if (y[i] > 3)
      y[i] = y[i + 1];
  }
}
"""
BREAK = "void f(int y[100]) {\n  for (int i = 0; i < 9; i++) {\n    if (y[i]) break;\n    y[i] = 1;\n  }\n}\n"
EMPTY = "void f(int y[100]) {\n  for (int i = 9; i < 9; i++)\n    y[i] = 1;\n}\n"
IDLE = """void f(int y[100]) {
  for (int i = 0; i < 9; i++)
    for (int j = i; j < 3 * i - 16 - i; j++)
      y[j] = 1;
}
"""


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (INDIRECT, "subscript is not affine: x[y[i]] (f.c:3)"),
        (PRODUCT, "subscript is not affine: y[i * i] (f.c:3)"),
        (
            DATA_BOUND,
            "unknown trip count of loop L1: e = first[i]; e < first[i + 1] (f.c:4)",
        ),
        (ARGUMENT_BOUND, "unknown trip count of loop L0: i = 0; i < n (f.c:2)"),
        (WHILE, "unknown trip count of loop L0: while (y[i] > i) (f.c:3)"),
        (CONDITION, "statement under a condition: if (y[i] > 3) (f.c:4)"),
        (BREAK, "a body is left by break, continue, switch or return (f.c:2)"),
        (EMPTY, "loop L0 has no iteration (f.c:2)"),
        (IDLE, "loop L1 has no iteration (f.c:3)"),
    ],
)
def test_summarise_rejects_what_is_not_affine(source: str, message: str) -> None:
    with pytest.raises(PragmaError) as caught:
        summarise(source, "f", file="f.c")
    assert str(caught.value) == f"{message}; {SUPPORTED}"


def test_summarise_rejects_what_the_front_end_rejects() -> None:
    with pytest.raises(PragmaError) as caught:
        summarise("void f(int y[]) { y[0] = 1; }", "g", file="f.c")
    assert str(caught.value) == "top must be a function of the file (there: f), got 'g' (f.c)"


def test_summarise_rejects_a_macro_that_is_no_name() -> None:
    with pytest.raises(PragmaError) as caught:
        summarise("void f(int y[4]) { y[0] = 1; }", defines={"N 3\n": 4})
    assert str(caught.value) == "invalid macro name: 'N 3\\n'; accepted: a C identifier"


# ---- relaxed --------------------------------------------------------------------------------------------


def test_a_relaxed_analysis_takes_unknown_trip_counts_for_none() -> None:
    summary = summarise(DATA_BOUND, "f", relaxed=True)
    loop = summary.loops["L1"]
    assert summary.relaxed
    assert (loop.trip_count_min, loop.trip_count_average, loop.constant) == (0, Fraction(0), False)
    assert loop.executions == 10
    assert summary.loops["L0"].trip_count_min == 10
    assert summary.loops["L0"].parallel
    assert loop.reduction
    assert summary.footprints[ROOT, "first"] == 10  # the bound is read whenever the loop is reached


def test_a_relaxed_analysis_knows_nothing_of_indirect_accesses() -> None:
    summary = summarise(INDIRECT, "f", relaxed=True)
    (statement,) = summary.statements
    assert [a.subscripts[0].exact for a in statement.accesses] == [True, False, True]
    assert summary.arrays["x"].elements_in == 0
    assert summary.arrays["y"].elements_in == 9
    assert (ROOT, "x") not in summary.footprints
    load = next(o for o in statement.operations if o.access == 1)
    assert [statement.operations[k].kind for k in load.operands] == ["load"]


def test_a_relaxed_analysis_drops_dependences_of_conditional_statements() -> None:
    summary = summarise(CONDITION, "f", relaxed=True)
    assert [s.always for s in summary.statements] == [True, False]
    assert summary.dependences == ()
    assert summary.loops["L0"].parallel
    assert summary.arrays["y"].elements_in == 0


def test_a_relaxed_analysis_takes_a_loop_that_may_end_early_for_one_of_unknown_trip_count() -> None:
    summary = summarise(BREAK, "f", relaxed=True)
    assert (summary.loops["L0"].trip_count_min, summary.loops["L0"].trip_count_average) == (0, 0)


def test_a_relaxed_analysis_of_an_affine_program_says_the_same() -> None:
    text = "void f(int y[100]) { for (int i = 2; i < 9; i++) y[i] = y[i - 2] + 1; }"
    strict, relaxed = summarise(text), summarise(text, relaxed=True)
    assert (strict.loops, strict.dependences) == (relaxed.loops, relaxed.dependences)
    assert (strict.arrays, strict.footprints) == (relaxed.arrays, relaxed.footprints)


def test_a_relaxed_analysis_knows_what_happens_below_affine_conditions() -> None:
    text = """void f(int C[9][9], int A[9][8], int s[9]) {
      for (int i = 0; i < 9; i++)
        for (int k = 0; k < 8; k++)
          for (int j = 0; j < 9; j++) {
            if (j <= i && k != 9)
              C[i][j] += A[i][k] * A[j][k];
            else
              s[i] = k;
          }
    }"""
    summary = summarise(text, "f", relaxed=True)
    assert [s.always for s in summary.statements] == [False, False]
    assert summary.statements[0].reduction_loops == {"L1"}
    assert {d.loop for d in summary.dependences if d.array == "C"} == {"L1"}
    assert summary.arrays["C"].elements_in == summary.footprints[ROOT, "C"] == 45
    assert (summary.footprints["L0", "C"], summary.footprints["L2", "C"]) == (9, 1)
    assert summary.arrays["s"].elements_out == 8
