"""Estimated cycles: those of the cycle model where no branch depends on data, and the stated assumption."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.c import parse_directives
from pipelines.c.signature import DataSet
from pipelines.cyclemodel import UNKNOWN_TRIPS, ControlEstimate, count_cycles, estimate_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program

PIPELINE = '[{"kind": "pipeline", "loop": "L1"}]'
NESTED = """void nested(int a[8][8], int y[8]) {
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) y[i] += a[i][j];
}"""
TRIANGLE = """void triangle(int a[8][8], int y[8]) {
  for (int i = 0; i < 8; i++) for (int j = 0; j <= i; j++) y[i] += a[i][j];
}"""
SEARCH = "int search(int a[64]) { int i = 0; while (a[i] > 0) i++; return i; }"
BRANCH = """void branch(int a[10], int y[10]) {
  for (int i = 0; i < 10; i++) { if (a[i] > 5) { y[i] = a[i] / 3; } }
}"""


def compiled(source: str, top: str, directives: str = "[]") -> CompiledDesign:
    return compile_program(source, top=top, options=HlsOptions(directives=parse_directives(directives)))


def estimated(design: CompiledDesign, folder: Path) -> ControlEstimate:
    estimate = estimate_cycles(design, folder=folder / "estimate")
    assert isinstance(estimate, ControlEstimate)
    return estimate


@pytest.mark.parametrize("directives", ["[]", PIPELINE])
@pytest.mark.parametrize(("source", "top"), [(NESTED, "nested"), (TRIANGLE, "triangle")])
def test_known_trip_counts_give_the_counted_cycles(
    source: str, top: str, directives: str, tmp_path: Path
) -> None:
    design = compiled(source, top, directives)
    data: DataSet = {"a": np.ones((8, 8), np.int32), "y": np.zeros(8, np.int32)}
    estimate, run = estimated(design, tmp_path), count_cycles(design, data, folder=tmp_path / "run")
    assert estimate.trips_known
    assert estimate.cycles == run.latency_cycles
    assert {f"b{k}": n for k, n in enumerate(estimate.visits)} == run.block_visits


def test_loops_have_their_entries_and_iterations(tmp_path: Path) -> None:
    nested, triangle = (
        estimated(compiled(source, top), tmp_path / top).loops
        for source, top in ((NESTED, "nested"), (TRIANGLE, "triangle"))
    )
    assert [(loop.depth, loop.entries, loop.iterations) for loop in nested] == [(1, 1, 8), (2, 8, 64)]
    assert [(loop.depth, loop.entries, loop.iterations) for loop in triangle] == [(1, 1, 8), (2, 8, 36)]
    assert [loop.is_constant for loop in (*nested, *triangle)] == [True, True, True, False]


def test_a_loop_that_ends_by_data_has_the_assumed_iterations(tmp_path: Path) -> None:
    estimate = estimated(compiled(SEARCH, "search"), tmp_path)
    assert not estimate.trips_known
    (loop,) = estimate.loops
    assert (loop.entries, loop.depends_on_data) == (1, True)
    assert loop.iterations in (UNKNOWN_TRIPS, UNKNOWN_TRIPS - 1)  # the first test may stand before the loop


def test_a_branch_on_data_is_taken_every_second_time(tmp_path: Path) -> None:
    estimate = estimated(compiled(BRANCH, "branch"), tmp_path)
    assert not estimate.trips_known
    assert [loop.iterations for loop in estimate.loops] == [10]
    assert 5 in estimate.visits


BUBBLE = """void bubble(int a[20]) {
  int swapped = 1;
  while (swapped) {
    swapped = 0;
    for (int j = 0; j < 19; j++) {
      if (a[j] > a[j + 1]) { int t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; swapped = 1; }
    }
  }
}"""
QUEUE = """void queue(int next[20], int order[20]) {
  int head = 0;
  int tail = 1;
  while (head < tail) {
    int node = order[head];
    head++;
    for (int k = 0; k < 4; k++) {
      if (next[node] > 0) { order[tail & 15] = node; next[node] = 0; tail++; }
    }
  }
}"""


@pytest.mark.parametrize(("source", "top", "inner"), [(BUBBLE, "bubble", 19), (QUEUE, "queue", 4)])
def test_a_loop_that_its_own_branch_on_data_keeps_alive_has_the_assumed_iterations(
    source: str, top: str, inner: int, tmp_path: Path
) -> None:
    outer, counted = estimated(compiled(source, top), tmp_path).loops
    assert (outer.entries, outer.iterations, outer.depends_on_data) == (1, UNKNOWN_TRIPS, True)
    assert (counted.iterations, counted.depends_on_data) == (inner * UNKNOWN_TRIPS, False)


def test_a_loop_over_what_another_loop_counted_is_not_cut(tmp_path: Path) -> None:
    source = """int compact(int a[30], int y[30]) {
      int n = 0;
      for (int i = 0; i < 30; i++) { if (a[i] > 0) { y[n] = a[i] * a[i]; n++; } }
      int sum = 0;
      for (int k = 0; k < n; k++) sum += y[k];
      return sum;
    }"""
    first, second = estimated(compiled(source, "compact"), tmp_path).loops
    assert (first.iterations, second.iterations) == (30, 15)


@pytest.mark.parametrize("n", [3, 11])
def test_given_scalars_make_the_estimate_the_counted_cycles(n: int, tmp_path: Path) -> None:
    source = """void rows(int a[16], int y[16], signed char n, float limit) {
      for (int i = 0; i < n; i++) { if (limit > 0.5f) y[i] = a[i] * 3; }
    }"""
    design = compiled(source, "rows")
    data: DataSet = {
        "a": np.ones(16, np.int32),
        "y": np.zeros(16, np.int32),
        "n": np.int8(n),
        "limit": np.float32(0.75),
    }
    run = count_cycles(design, data, folder=tmp_path / "run")
    estimate = estimate_cycles(design, folder=tmp_path / "given", scalars={"n": n, "limit": 0.75})
    assert isinstance(estimate, ControlEstimate)
    assert (estimate.trips_known, estimate.cycles) == (True, run.latency_cycles)
    partly = estimate_cycles(design, folder=tmp_path / "partly", scalars={"n": n})
    assert isinstance(partly, ControlEstimate)
    assert not partly.trips_known
    assert [loop.iterations for loop in partly.loops] == [n]
