"""Each theorem of the bound on programs whose figures are worked out by hand (NLP-DSE, listings 3 to 5)."""

from __future__ import annotations

import heapq
import os
from dataclasses import replace
from functools import cache
from math import ceil, log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.pragmas import Configuration, LoopChoice, PragmaError, Summary
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import (
    TRANSFER,
    OperationCost,
    Target,
    bound,
    complete,
    has_copies,
    leaf,
    read_target,
    target_names,
)
from pipelines.pragmas.bound.leaf import body_latency, slowest_recurrence
from pipelines.pragmas.bound.straight import tree_latency
from pipelines.pragmas.configuration import COARSE, FINE, OFF

ADD, MUL = 4, 3
TARGET = Target(
    name="by hand",
    clock_period_ns=4.0,
    operations={
        ("add", "float"): OperationCost(latency_cycles=ADD, dsp_count=2),
        ("mul", "float"): OperationCost(latency_cycles=MUL, dsp_count=3),
    },
    burst_bits=None,
    dsp_available=None,
    onchip_bits=None,
    most_partitions=1024,
)

ATAX = """
void atax(float A[1900][2100], float x[2100], float y[2100], float t[1900]) {
  for (int i = 0; i < 2100; i++)
    y[i] = 0;
  for (int i = 0; i < 1900; i++) {
    t[i] = 0;
    for (int j = 0; j < 2100; j++)
      t[i] += A[i][j] * x[j];
    for (int j = 0; j < 2100; j++)
      y[j] += A[i][j] * t[i];
  }
}
"""
BICG = """
void bicg(float A[40][30], float s[30], float q[40], float p[30], float r[40]) {
  for (int i = 0; i < 30; i++)
    s[i] = 0;
  for (int i = 0; i < 40; i++) {
    q[i] = 0;
    for (int j = 0; j < 30; j++) {
      s[j] += r[i] * A[i][j];
      q[i] += A[i][j] * p[j];
    }
  }
}
"""
DISTANCE = """
void steps(float y[100]) {
  for (int j = 2; j < 100; j++)
    y[j] = y[j - 2] + 3.0f;
}
"""
NEST = """
void scale(float a[12][20], float b[12][20]) {
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 20; j++)
      a[i][j] = b[i][j] * b[i][j];
}
"""
GEMM = """
void gemm(float C[12][16], float A[12][8], float B[8][16]) {
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 16; j++)
      C[i][j] = 0;
    for (int k = 0; k < 8; k++)
      for (int j = 0; j < 16; j++)
        C[i][j] += A[i][k] * B[k][j];
  }
}
"""


@cache
def summary_of(text: str) -> Summary:
    return summarise(text)


def chosen(**loops: LoopChoice) -> Configuration:
    return Configuration(loops=loops)


def unrolled(factor: int) -> LoopChoice:
    return LoopChoice(unroll=factor)


def cycles(text: str, configuration: Configuration, target: Target = TARGET) -> float:
    return bound(summary_of(text), configuration, target).latency_cycles


# ---- straight-line code: theorems 6.6, 6.7, 6.9 and 6.12 -------------------------------------------


def test_unrolled_body_takes_its_critical_path() -> None:
    """Listing 4: the larger of L(+) + L(*) for s and of L(+) log N + L(*) for q (section 6.1.1)."""
    path = body_latency(summary_of(BICG), "L2", TARGET, {"L2": 30})
    assert path == MUL + ADD * ceil(log2(30))


def test_tree_is_as_low_as_combining_the_earliest_two() -> None:
    assert tree_latency({0: 8}, ADD) == 3 * ADD
    assert tree_latency({0: 2, 9: 1}, ADD) == 9 + ADD


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(1, 9))
def test_tree_equals_greedy_combination(arrivals: list[int], latency: int) -> None:
    heap = sorted(arrivals)
    while len(heap) > 1:
        _, late = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, late + latency)
    leaves = {arrival: arrivals.count(arrival) for arrival in arrivals}
    assert tree_latency(leaves, latency) == heap[0]


def test_sum_without_reordering_is_a_chain() -> None:
    strict = replace(TARGET, tree_reduction=False)
    path = body_latency(summary_of(BICG), "L2", strict, {"L2": 30})
    assert path == MUL + 30 * ADD


# ---- pipelines: theorems 6.13 and 6.14, section 6.1.4 ----------------------------------------------


def test_pipeline_of_a_sum_waits_for_the_addition() -> None:
    """Listing 3: Loop2 is a reduction, so its interval is at least IL_+ (section 5.4)."""
    found = leaf(summary_of(ATAX), "L2", 1, TARGET)
    assert (found.latency_cycles, found.interval_cycles) == (MUL + ADD, ADD)
    assert found.cycles == MUL + ADD + ADD * (2100 - 1)
    assert "t" in found.limit


def test_partial_sums_start_an_iteration_a_cycle() -> None:
    found = leaf(summary_of(ATAX), "L2", 1, replace(TARGET, partial_sums=True))
    assert found.interval_cycles == 1


def test_pipeline_with_copies_has_fewer_steps_and_a_tree() -> None:
    found = leaf(summary_of(ATAX), "L2", 70, TARGET)
    assert found.latency_cycles == MUL + ADD * ceil(log2(70))
    assert found.cycles == found.latency_cycles + ADD * (2100 / 70 - 1)


def test_remainder_of_a_factor_is_a_step() -> None:
    assert leaf(summary_of(NEST), "L1", 3, TARGET).cycles == MUL + (ceil(20 / 3) - 1)


def test_interval_is_delay_over_distance() -> None:
    """Listing 5: II >= ceil(IL_+ / 2)."""
    summary = summary_of(DISTANCE)
    assert slowest_recurrence(summary, "L0", TARGET)[:2] == (ADD, 2)
    assert leaf(summary, "L0", 1, TARGET).interval_cycles == ceil(ADD / 2)


def test_factor_beyond_the_distance_gains_nothing() -> None:
    """Equation 8."""
    summary = summary_of(DISTANCE)
    assert complete(summary, chosen(L0=unrolled(7))).of("L0").unroll == 2
    assert cycles(DISTANCE, chosen(L0=unrolled(7))) == cycles(DISTANCE, chosen(L0=unrolled(2)))


def test_whole_loop_with_a_recurrence_is_a_chain() -> None:
    """Theorem 6.9: fully unrolled, 98 iterations are two chains of 49."""
    assert cycles(DISTANCE, chosen(L0=unrolled(98))) == 49 * ADD


# ---- above pipelines: definition 6.15, theorems 6.16 and 6.20 --------------------------------------


def test_listing_3_without_directives() -> None:
    body = (MUL + ADD + ADD * 2099) + (MUL + ADD + 2099)
    assert cycles(ATAX, Configuration()) == 2100 + 1900 * body


def test_listing_3_with_loop_1_pipelined() -> None:
    """Section 5.4: IL_S1 + IL_S2 log N + IL_S3 for the body; S3 sums y, so the interval is IL_+."""
    body = (MUL + ADD * ceil(log2(2100))) + (MUL + ADD)
    assert cycles(ATAX, chosen(L1=LoopChoice(pipeline=FINE))) == 2100 + body + ADD * 1899


def test_independent_loops_of_a_body_overlap() -> None:
    text = """
void two(float a[50], float b[80]) {
  for (int i = 0; i < 50; i++)
    a[i] = a[i] * a[i];
  for (int i = 0; i < 80; i++)
    b[i] = b[i] * b[i];
}
"""
    assert cycles(text, Configuration()) == MUL + 79


def test_perfect_nest_fills_its_pipeline_once() -> None:
    assert cycles(NEST, Configuration()) == MUL + 12 * 20 - 1


def test_copies_of_a_parallel_loop_divide_its_steps() -> None:
    plain, copies = cycles(GEMM, Configuration()), cycles(GEMM, chosen(L0=unrolled(4)))
    assert plain == 12 * (16 + MUL + ADD + 8 * 16 - 1)
    assert copies == plain / 4


def test_copies_of_a_reduction_need_an_unrolled_loop_inside() -> None:
    summary = summary_of(GEMM)
    alone = chosen(L2=unrolled(4))
    swapped = chosen(L2=unrolled(4), L3=unrolled(2))
    uneven = chosen(L2=unrolled(4), L3=unrolled(3))
    assert [has_copies(summary, c, "L2") for c in (alone, swapped, uneven)] == [False, True, False]
    assert bound(summary, alone, TARGET).latency_cycles == cycles(GEMM, Configuration())
    assert bound(summary, swapped, TARGET).latency_cycles < cycles(GEMM, chosen(L3=unrolled(2)))


def test_stages_overlap_when_asked_for() -> None:
    assert cycles(GEMM, chosen(L0=LoopChoice(pipeline=COARSE))) < cycles(GEMM, Configuration())
    assert complete(summary_of(GEMM), chosen(L0=LoopChoice(pipeline=COARSE))).of("L0").pipeline == COARSE


def test_stages_that_give_a_value_back_do_not_overlap() -> None:
    text = """
void steps(float a[40], float b[40]) {
  for (int t = 0; t < 9; t++) {
    for (int i = 0; i < 40; i++)
      b[i] = a[i] * a[i];
    for (int i = 0; i < 40; i++)
      a[i] = b[i] * b[i];
  }
}
"""
    assert cycles(text, chosen(L0=LoopChoice(pipeline=COARSE))) == cycles(text, Configuration())
    forward = cycles(ATAX, chosen(L1=LoopChoice(pipeline=COARSE)))
    assert forward == 2100 + 1900 * (MUL + ADD + ADD * 2099)


def test_triangular_loops_count_their_average() -> None:
    text = """
void triangle(float a[10][10]) {
  for (int i = 0; i < 10; i++)
    for (int j = 0; j <= i; j++)
      a[i][j] = a[i][j] * a[i][j];
}
"""
    assert cycles(text, Configuration()) == MUL + 55 - 1


# ---- completion ------------------------------------------------------------------------------------


def test_loops_inside_a_pipeline_are_unrolled() -> None:
    full = complete(summary_of(GEMM), chosen(L2=LoopChoice(pipeline=FINE)))
    assert (full.of("L2").pipeline, full.of("L3").unroll) == (FINE, 16)
    assert full.of("L0").pipeline == OFF


def test_innermost_loop_that_remains_is_pipelined() -> None:
    full = complete(summary_of(GEMM), chosen(L3=unrolled(16)))
    assert [full.of(loop).pipeline for loop in ("L0", "L1", "L2", "L3")] == [OFF, FINE, FINE, OFF]


@pytest.mark.parametrize("text", [ATAX, BICG, DISTANCE, NEST, GEMM])
def test_completing_twice_changes_nothing(text: str) -> None:
    summary = summary_of(text)
    once = complete(summary, chosen(L0=unrolled(2)))
    assert complete(summary, once) == once


def test_small_loops_are_unrolled_by_the_tool_when_nothing_is_asked() -> None:
    tool = replace(TARGET, unrolled_trips=16, unrolled_copies=1024)
    free = LoopChoice(automatic=True)
    full = complete(summary_of(GEMM), chosen(L3=free), tool)
    assert (full.of("L3").unroll, full.of("L2").pipeline) == (16, FINE)
    assert complete(summary_of(GEMM), chosen(L3=LoopChoice()), tool).of("L3").unroll == 1
    assert complete(summary_of(GEMM), chosen(L3=replace(free, tile=4)), tool).of("L3").unroll == 1


def test_complete_rejects_an_unknown_loop() -> None:
    with pytest.raises(PragmaError, match=r"unknown loop: L7 .*; loops of scale: L0, L1"):
        complete(summary_of(NEST), chosen(L7=unrolled(2)))


def test_complete_rejects_a_factor_of_zero() -> None:
    with pytest.raises(PragmaError, match="unroll, tile or interval 0 of L0"):
        complete(summary_of(NEST), chosen(L0=unrolled(0)))


def test_complete_rejects_an_unknown_pipeline() -> None:
    with pytest.raises(PragmaError, match="unknown pipeline: fast"):
        complete(summary_of(NEST), chosen(L0=LoopChoice(pipeline="fast")))


# ---- transfers: theorems 6.18, 6.19 and 6.21 -------------------------------------------------------

MEMORY = replace(TARGET, burst_bits=512, access_cycles=64)


def test_transfer_is_the_largest_array_in_and_out() -> None:
    """NEST: 240 floats of b in and of a out, 16 a burst, each after an access."""
    found = bound(summary_of(NEST), Configuration(), MEMORY)
    assert found.transfer_cycles == 2 * (64 + 240 * 32 / 512)
    assert found.latency_cycles == found.computation_cycles + found.transfer_cycles
    assert {(p.place, p.cycles, p.limit) for p in found.parts if p.kind == TRANSFER} == {
        ("a", 79, "out: 15 bursts of 512 bits after an access of 64 cycles"),
        ("b", 79, "in: 15 bursts of 512 bits after an access of 64 cycles"),
    }
    at_once = bound(summary_of(NEST), Configuration(), replace(MEMORY, access_cycles=0))
    assert {p.limit for p in at_once.parts if p.kind == TRANSFER} == {
        "out: 15 bursts of 512 bits",
        "in: 15 bursts of 512 bits",
    }


def test_transfers_take_turns_with_stages() -> None:
    """Theorem 6.21's sum, under COARSE of the outermost loop too: its stages overlap, transfers do not."""
    stages = bound(summary_of(GEMM), chosen(L0=LoopChoice(pipeline=COARSE)), MEMORY)
    plain = bound(summary_of(GEMM), Configuration(), MEMORY)
    assert stages.computation_cycles < plain.computation_cycles
    assert stages.latency_cycles == stages.computation_cycles + plain.transfer_cycles


def test_tiles_wait_for_memory_anew() -> None:
    tiled = bound(summary_of(NEST), chosen(L0=LoopChoice(tile=3)), MEMORY)
    plain = bound(summary_of(NEST), Configuration(), MEMORY)
    assert tiled.transfer_cycles == plain.transfer_cycles + (12 / 3 - 1) * 2 * 64
    shared = bound(summary_of(NEST), chosen(L0=LoopChoice(tile=3, unroll=4)), MEMORY)
    assert shared.transfer_cycles == plain.transfer_cycles


def test_cached_arrays_take_memory_on_chip() -> None:
    """Equation 16."""
    configuration = Configuration(caches=(("", "b"), ("L0", "a")))
    assert bound(summary_of(NEST), configuration, MEMORY).onchip_bits == (240 + 20) * 32


# ---- resources: theorem 6.17, equation 15 ----------------------------------------------------------


def test_units_are_shared_over_an_interval() -> None:
    found = leaf(summary_of(ATAX), "L2", 8, TARGET)
    assert found.units["add", "float"] == 8 / ADD


def test_dsp_blocks_are_those_of_the_busiest_part_and_all_copies() -> None:
    fine = chosen(L2=LoopChoice(pipeline=FINE, unroll=2), L0=unrolled(3))
    found = bound(summary_of(GEMM), fine, TARGET)
    assert found.dsp_count == 3 * (2 * 16 / ADD) * (2 + 3)


def test_parts_that_take_turns_share_their_units() -> None:
    """Listing 3: Loop3 keeps one multiplier and one adder busy, which Loop2 needs a quarter of before."""
    assert bound(summary_of(ATAX), Configuration(), TARGET).dsp_count == 2 + 3


# ---- monotony --------------------------------------------------------------------------------------


@given(st.integers(1, 20), st.integers(1, 12), st.sampled_from([OFF, FINE, COARSE]))
def test_more_copies_of_parallel_loops_never_raise_the_bound(inner: int, outer: int, pipeline: str) -> None:
    def at(outer: int, inner: int) -> float:
        loops = chosen(L0=LoopChoice(pipeline=pipeline, unroll=outer), L1=unrolled(inner))
        return bound(summary_of(NEST), loops, TARGET).latency_cycles

    assert at(outer + 1, inner) <= at(outer, inner)
    assert at(outer, inner + 1) <= at(outer, inner)


def test_whole_loop_may_raise_the_bound_where_a_sum_becomes_the_pipeline() -> None:
    """With j unrolled fully, k is pipelined, which sums C; with half of it, j is, which sums nothing."""
    assert cycles(GEMM, chosen(L3=unrolled(16))) > cycles(GEMM, chosen(L3=unrolled(8)))


# ---- targets ---------------------------------------------------------------------------------------


def test_targets_of_the_package() -> None:
    assert target_names() == ("simfoundry", "u200", "u200-2021.1")
    u200 = read_target("u200")
    assert (u200.dsp_available, u200.burst_bits, u200.most_partitions) == (6840, 512, 1024)
    assert u200.cost("add", "double") == OperationCost(latency_cycles=5, dsp_count=3)
    assert u200.cost("load", "double").latency_cycles == 0
    assert read_target("u200-2021.1") == replace(u200, name="u200-2021.1", partial_sums=False)
    assert read_target("simfoundry").burst_bits is None


def test_read_target_rejects_an_unknown_name() -> None:
    with pytest.raises(
        PragmaError, match=r"^cannot read the target u2000: No such file .*; the names .* u200, u200-2021\.1$"
    ):
        read_target("u2000")


def test_read_target_rejects_what_is_not_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, kind in {Path("/dev/zero"): "a character device", tmp_path / "pipe": "a pipe"}.items():
        message = (
            f"cannot read the target {path}: {kind}; accepted: a regular file of at most 1 MiB; the names "
        )
        with pytest.raises(PragmaError, match=f"^{message}"):
            read_target(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1", "1" + "0" * 400])
def test_read_target_rejects_numbers_that_cannot_be(number: str, tmp_path: Path) -> None:
    path = tmp_path / "target.json"
    for name in ("clock_period_ns", "burst_bits", "dsp_available", "onchip_bits", "most_partitions", "ports"):
        path.write_text(f'{{"extends": "u200", "name": "mine", "{name}": {number}}}')
        with pytest.raises(
            PragmaError, match=rf"^not a (target: {name}: .*|JSON .*number of JSON) \({path}\)"
        ):
            read_target(path)
    row = f'{{"kinds": ["add"], "type": "int32", "latency_cycles": {number}, "source": "s"}}'
    path.write_text(f'{{"extends": "u200", "name": "mine", "operations": [{row}]}}')
    with pytest.raises(PragmaError, match=r" operations\.0\.latency_cycles: |no number of JSON"):
        read_target(path)


def test_read_target_rejects_an_unknown_field(tmp_path: Path) -> None:
    path = tmp_path / "target.json"
    path.write_text('{"extends": "u200", "name": "mine", "speed": 3}')
    with pytest.raises(PragmaError, match=r"target: unknown key: speed \(.*\); accepted: name, about, "):
        read_target(path)


def test_read_target_rejects_an_unknown_base(tmp_path: Path) -> None:
    path = tmp_path / "target.json"
    path.write_text('{"extends": "u300"}')
    with pytest.raises(PragmaError, match="unknown target in extends: u300"):
        read_target(path)
