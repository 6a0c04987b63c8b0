"""What the bound knows of our own engine beside the theorems, each rule by hand and held to the engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, TransformOptions, compile_program
from pipelines.pragmas import Configuration, LoopChoice, Summary
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import bound, leaf, read_target
from pipelines.pragmas.bound.leaf import bank_interval, surely_banked, update_interval
from pipelines.pragmas.configuration import FINE
from pipelines.pragmas.nlp import SearchOptions, solve, unrolled_size
from pipelines.pragmas.search.directives import banked_size, hls_directives

OWN = read_target("simfoundry")
ADD, MUL = 2, 2

SUMS = """
void f(float A[16][32], float x[32], float y[16]) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 32; j++)
      y[i] += A[i][j] * x[j];
}
"""
UPDATES = """
void f(float A[24], float B[24][8], float C[8]) {
  for (int k = 0; k < 24; k++)
    for (int j = 0; j < 8; j++)
      C[j] += A[k] * B[k][j];
}
"""
RESTS = """
void f(float A[16][30], float x[30], float y[16], float z[16]) {
  for (int i = 0; i < 16; i++) {
    z[i] = 0.0f;
    for (int j = 0; j < 30; j++)
      y[i] += A[i][j] * x[j];
  }
}
"""
BANKS = """
void f(float r[64], float y[64], float z[64]) {
  for (int k = 1; k < 64; k++) {
    z[k] = z[k - 1] + 1.0f;
    for (int i = 0; i < k; i++)
      r[i] = y[i] + y[k - i - 1];
  }
}
"""
LOCAL = """
void f(float A[16][32], float y[16]) {
  float t[2];
  for (int i = 0; i < 16; i++) {
    t[0] = 0.0f;
    for (int j = 0; j < 32; j++)
      t[0] += A[i][j];
    y[i] = t[0];
  }
}
"""
DEEP = """
void f(float A[8][4][6], float y[8]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 6; k++)
        y[i] += A[i][j][k];
}
"""
NO_LOADS = """
void f(float y[16], float z[16]) {
  for (int i = 0; i < 16; i++) {
    z[i] = 0.0f;
    for (int j = 0; j < 15; j++)
      y[i] += 0.5f;
  }
}
"""
ROUNDS = """
void f(float A[2], float B[2][4], float C[3][4]) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++)
      for (int j = 0; j < 4; j++)
        C[i][j] += A[k] * B[k][j];
}
"""
TRIANGLE = """
void f(float A[32][32], float B[32][32]) {
  for (int j = 0; j < 32; j++)
    for (int i = 1; i < 32; i++)
      for (int k = 0; k < i; k++)
        B[i][j] += A[i][k] * B[k][j];
}
"""


def pipelined(**factors: int) -> Configuration:
    return Configuration(loops={n: LoopChoice(pipeline=FINE, unroll=u) for n, u in factors.items()})


def summary_of(source: str) -> Summary:
    return summarise(source, "f", file="f")


def measured(source: str, configuration: Configuration, folder: Path) -> int:
    """Cycles of the engine's design."""
    directives = hls_directives(summary_of(source), configuration)
    options = HlsOptions(directives=directives, transforms=TransformOptions(unsafe_math=True))
    design = compile_program(source, top="f", options=options, file="f.c")
    data = {a.name: np.ones(a.shape, np.float32) for a in design.interface.arrays}
    found = count_cycles(design, data, folder=folder)
    assert found.latency_cycles is not None, found.reason
    return found.latency_cycles


def test_sums_in_an_element_are_a_chain_where_their_loop_is_unrolled() -> None:
    summary = summary_of(SUMS)
    chain = leaf(summary, "L0", 1, OWN).latency_cycles
    tree = leaf(summary, "L0", 1, replace(OWN, chained_array_sums=False)).latency_cycles
    assert chain == MUL + 32 * ADD
    assert tree == MUL + 5 * ADD  # the old value joins last


def test_next_round_waits_for_what_was_stored() -> None:
    summary = summary_of(UPDATES)
    assert update_interval(summary, "L1", 4, OWN)[0] == 3  # 4 + 2 cycles in two steps
    assert leaf(summary, "L1", 4, OWN).interval_cycles == 3
    assert update_interval(summary, "L1", 1, OWN)[0] == 1
    assert update_interval(summary, "L1", 8, OWN)[0] == 0  # nothing is left to run over C
    assert update_interval(summary, "L1", 4, replace(OWN, update_cycles=0))[0] == 0


def test_rest_of_partial_sums_runs_after_the_pipeline() -> None:
    summary = summary_of(RESTS)
    odd, even = leaf(summary, "L1", 6, OWN), leaf(summary, "L1", 5, OWN)  # 5 and 6 steps, two sums
    assert odd.cycles == 2 * odd.latency_cycles + 2 * 2 - 2
    assert even.cycles == even.latency_cycles - 1 + 6


def test_sums_in_a_local_array_may_be_a_tree() -> None:
    summary = summary_of(LOCAL)
    assert leaf(summary, "L0", 1, OWN).latency_cycles < 32 * ADD


def test_copies_whose_bank_is_not_known_take_the_port_of_each() -> None:
    summary = summary_of(BANKS)
    assert surely_banked(summary, OWN) == {"r", "y", "z"}
    assert surely_banked(summary_of(UPDATES), OWN) == set()  # 8 columns may be 8 banks
    assert bank_interval(summary, "L1", 4, OWN)[0] == 4 + 1
    assert bank_interval(summary, "L1", 1, OWN)[0] == 2
    assert bank_interval(summary, "L1", 4, replace(OWN, banked_reads=False))[0] == 0


def test_banks_are_not_supposed_where_a_factor_is_unusual() -> None:
    summary = summary_of(BANKS)
    unusual, usual = pipelined(L1=63), pipelined(L1=4)
    free = replace(OWN, banked_reads=False)
    assert bound(summary, unusual, OWN).latency_cycles == bound(summary, unusual, free).latency_cycles
    assert bound(summary, usual, OWN).latency_cycles > bound(summary, usual, free).latency_cycles


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("source", "configuration"),
    [
        (SUMS, pipelined(L0=1)),
        (SUMS, pipelined(L1=4)),
        (UPDATES, pipelined(L1=4)),
        (UPDATES, pipelined(L1=2)),
        (UPDATES, pipelined(L1=8)),
        (RESTS, pipelined(L1=6)),
        (RESTS, pipelined(L1=5)),
        (RESTS, pipelined(L1=2)),
        (LOCAL, pipelined(L0=1)),
        (LOCAL, pipelined(L1=3)),
        (DEEP, pipelined(L0=1)),
        (DEEP, pipelined(L1=1)),
        (DEEP, Configuration(loops={n: LoopChoice(unroll=u) for n, u in (("L0", 8), ("L1", 4), ("L2", 6))})),
        (NO_LOADS, pipelined(L1=1)),
        (NO_LOADS, pipelined(L1=3)),
        (ROUNDS, pipelined(L2=1)),
        (ROUNDS, pipelined(L2=2)),
        (BANKS, pipelined(L1=4)),
        (BANKS, pipelined(L1=2)),
        (BANKS, pipelined(L1=1)),
    ],
)
def test_engine_is_not_faster(source: str, configuration: Configuration, tmp_path: Path) -> None:
    known = bound(summary_of(source), configuration, OWN).latency_cycles
    assert known <= measured(source, configuration, tmp_path)


@pytest.mark.parametrize(
    ("source", "configuration"),
    [(SUMS, pipelined(L0=1)), (BANKS, pipelined(L1=4))],
)
def test_rules_explain_most_of_what_is_measured(
    source: str, configuration: Configuration, tmp_path: Path
) -> None:
    plain = replace(OWN, chained_array_sums=False, update_cycles=0, separate_rests=False, banked_reads=False)
    found = measured(source, configuration, tmp_path)
    with_rules = bound(summary_of(source), configuration, OWN).latency_cycles
    without = bound(summary_of(source), configuration, plain).latency_cycles
    assert found - with_rules < (found - without) / 2


# ---- what the search makes of it -----------------------------------------------------------------------


def test_plain_copies_leave_out_factors_below_copies() -> None:
    summary = summary_of(TRIANGLE)
    free = solve(summary, OWN, SearchOptions()).configuration
    plain = solve(summary, OWN, SearchOptions(plain_copies=True)).configuration
    assert free is not None
    assert plain is not None
    assert free.of("L0").unroll > 1
    assert free.of("L2").unroll > 1
    assert plain.of("L0").unroll == 1 or plain.of("L2").unroll == 1


def test_banked_size_counts_an_access_for_each_bank_it_may_go_to() -> None:
    summary = summary_of(UPDATES)
    alone = Configuration()
    assert banked_size(summary, alone) == unrolled_size(summary, alone)
    copies = pipelined(L1=4)  # every access knows its bank, `A` has one
    assert banked_size(summary, copies) == unrolled_size(summary, copies)
    summary = summary_of(BANKS)
    copies = pipelined(L1=4)
    assert banked_size(summary, copies) == unrolled_size(summary, copies) + 4 * 3  # of y[k - i - 1]


def test_banked_size_knows_the_bank_of_each_copy_of_a_complete_loop() -> None:
    """As in fdtd-2d, where a loop of 239 columns is unrolled over arrays of 240."""
    source = """\
void shift(float a[8][7], float b[8][7])
{
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 6; j++)
      a[i][j] = b[i][j + 1];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 7; j++)
      b[i][j] = 0.0f;
}
"""
    summary = summarise(source, "shift")
    whole = Configuration(loops={"L0": LoopChoice(pipeline=FINE), "L2": LoopChoice(pipeline=FINE)})
    assert banked_size(summary, whole) == unrolled_size(summary, whole)
