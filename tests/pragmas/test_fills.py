"""Pipelines whose interval is above their latency: no bound is above the engine's cycles, by cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bound_cases import objective_at

from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, TransformOptions, compile_program
from pipelines.pragmas import Configuration, LoopChoice
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import bound, leaf, read_target
from pipelines.pragmas.configuration import FINE
from pipelines.pragmas.search.directives import hls_directives

OWN = read_target("simfoundry")

MAP = "void f(int x[20], int y[20]) { for (int i = 0; i < 20; i++) y[i] = x[i] * 3; }"
NEST = """
void f(int A[6][5], int B[6][5]) {
  for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j++) A[i][j] = B[i][j] + 1;
}
"""
SUM = "float f(float x[17]) { float s = 0; for (int i = 0; i < 17; i++) s += x[i]; return s; }"
SUMS = """
double f(double x[9][8], double y[9]) {
  double s = 0;
  for (int i = 0; i < 9; i++) {
    s += y[i] - x[i][i % 8];
    for (int j = 0; j < 8; j++) s += x[i][j] * 0.5;
  }
  return s;
}
"""
TRIANGLE = """
void f(float A[7][7], float x[7], float y[7]) {
  for (int i = 0; i < 7; i++)
    for (int j = 0; j <= i; j++) y[i] += A[i][j] * x[j];
}
"""
ROWS = """
void f(float B[5][7], float x[6], float y[4]) {
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 6; j++) y[i] += B[i][j] * x[j];
    y[i] = y[i] * 0.25f;
  }
}
"""
CAUSES = {
    "interval_above_latency": (MAP, {"L0": LoopChoice(pipeline=FINE, interval=32)}),
    "remainder_after_the_pipeline": (MAP, {"L0": LoopChoice(pipeline=FINE, interval=40, unroll=6)}),
    "nest_of_two_loops": (NEST, {"L1": LoopChoice(pipeline=FINE, interval=24)}),
    "partial_sums_start_together": (SUM, {"L0": LoopChoice(pipeline=FINE, interval=48)}),
    "rest_of_partial_sums": (SUM, {"L0": LoopChoice(pipeline=FINE, interval=30, unroll=3)}),
    "sums_of_several_statements": (SUMS, {"L0": LoopChoice(pipeline=FINE, interval=64)}),
    "factor_that_fits_once": (ROWS, {"L0": LoopChoice(pipeline=FINE, unroll=3)}),
    "triangle": (TRIANGLE, {"L1": LoopChoice(pipeline=FINE, interval=52)}),
    "triangle_in_groups": (TRIANGLE, {"L1": LoopChoice(pipeline=FINE, interval=52, unroll=2)}),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_no_bound_is_above_the_engine(cause: str, tmp_path: Path) -> None:
    source, loops = CAUSES[cause]
    summary, configuration = summarise(source, "f", relaxed="%" in source), Configuration(loops=loops)
    options = HlsOptions(
        directives=hls_directives(summary, configuration), transforms=TransformOptions(unsafe_math=True)
    )
    design = compile_program(source, top="f", options=options, file="f.c")
    data = {a.name: np.ones(a.shape, a.type.dtype) for a in design.interface.arrays}
    run = count_cycles(design, data, folder=tmp_path)
    assert run.latency_cycles is not None
    least = bound(summary, configuration, OWN).latency_cycles
    assert least <= run.latency_cycles
    if all(choice.interval == 1 for choice in loops.values()):
        return
    shortest = {name: replace(choice, interval=1) for name, choice in loops.items()}
    assert least > bound(summary, Configuration(loops=shortest), OWN).latency_cycles  # the interval counts
    known = objective_at(summary, OWN, configuration)
    assert known is None or known <= least * (1 + 1e-6)


def test_latency_of_a_pipeline_is_counted_once() -> None:
    """As in the issue: 23 intervals and a latency, not 24 intervals."""
    text = "void f(float x[24], float y[24]) { for (int i = 0; i < 24; i++) y[i] = x[i] * 1.5f + 1.0f; }"
    found = leaf(summarise(text, "f"), "L0", 1, OWN, 32)
    assert (found.latency_cycles, found.interval_cycles, found.cycles) == (4, 32, 23 * 32 + 4)
    assert found.fill_cycles == 0


def test_a_longer_interval_never_lowers_a_bound() -> None:
    summary = summarise(TRIANGLE, "f")
    for factor in (1, 2, 4):
        cycles = [leaf(summary, "L1", factor, OWN, asked).cycles for asked in range(1, 65)]
        assert cycles == sorted(cycles)
