"""Accesses in the condition of a conditional loop, which is evaluated again after the loop's changes."""

from __future__ import annotations

import pytest
from transform_support import assert_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.hls.transforms.parallel import loop_carries_dependence
from pipelines.hls.transforms.partition import partition_array
from pipelines.hls.transforms.promote import promote_accumulators

SEARCH = "int m = 0; while (m < 28 && V[m] > n) m++; K[0] = m;"
EACH = "for (int i = 0; i < 16; i++) { int k = 0; while (k < 28 && V[k] > n) k++; V[0] += k - 9; }"
AHEAD = "for (int i = 0; i < 16; i++) { int k = i; while (k < 28 && V[k] > n) k++; V[i] = k; }"


def read(body: str) -> ir.Function:
    return read_function(f"void f(int n, int V[32], int K[16]) {{ {body} }}", top="f")


def check(before: ir.Function, after: ir.Function) -> None:
    draws = [draw_arguments(before, seed) for seed in range(6)]
    for number, data in enumerate(draws):
        data["n"][...] = -1000 + 400 * number  # so that the search ends at once, somewhere, and never
    assert_same_meaning(before, after, draws)


@pytest.mark.parametrize("style", ["block", "cyclic"])
@pytest.mark.parametrize("body", [SEARCH, EACH, AHEAD])
def test_a_condition_reads_the_bank_that_is_meant_now(body: str, style: str) -> None:
    before = read(body)
    check(before, partition_array(before, "V", style, 4))


def test_a_condition_does_not_read_the_register_of_another_element() -> None:
    before = read(EACH)
    check(before, promote_accumulators(before))


def test_a_condition_that_reads_ahead_makes_iterations_wait() -> None:
    assert loop_carries_dependence(read(AHEAD), "L0") is not None
