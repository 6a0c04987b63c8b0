"""Promotion keeps the meaning of a program and takes accumulators out of memory."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_nests import random_nest
from transform_support import Comparison, assert_all_same_meaning, assert_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.hls.transforms.promote import promote_accumulators, promote_in_loop


def read(body: str, arguments: str = "int n, int A[8][8], int B[8][8], int C[8][8]") -> ir.Function:
    return read_function(f"void f({arguments}) {{ {body} }}", top="f")


def loops_storing(function: ir.Function, array: str) -> list[str]:
    """Names of the loops that store to an array themselves or in a loop inside."""
    return [
        s.name
        for s in ir.walk_statements(function.body)
        if isinstance(s, ir.For | ir.While) and array in ir.stored_arrays(s.body)
    ]


PROMOTED = {
    "a product": (
        "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++)"
        " for (int k = 0; k < 8; k++) C[i][j] += A[i][k] * B[k][j];",
        "C",
        ["L0", "L1"],
    ),
    "out of two loops": (
        "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++)"
        " for (int k = 0; k < 8; k++) C[i][0] += A[j][k];",
        "C",
        ["L0"],
    ),
    "a triangle": (
        "for (int i = 0; i < 8; i++) for (int j = 0; j < i; j++)"
        " for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];",
        "A",
        ["L0", "L1"],
    ),
    "a loop downwards": (
        "for (int i = 7; i >= 0; i--) for (int j = 7; j > i; j--) A[i][i] -= A[i][j];",
        "A",
        ["L0"],
    ),
    "a conditional store": (
        "for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) if (A[i][k] > 0) C[i][3] += A[i][k];",
        "C",
        ["L0"],
    ),
    "elements at another residue": (
        "for (int i = 0; i < 8; i++) for (int k = 0; k < 3; k++) A[i][6] += A[i][2 * k + 1];",
        "A",
        ["L0"],
    ),
    "an unknown number of iterations": ("for (int k = 0; k < n; k++) C[n][n] += A[k][0];", "C", []),
    "a loop with a condition": ("int k = 0; while (k < n) { C[n][n] += A[k][0]; k++; }", "C", []),
}


@pytest.mark.parametrize("name", PROMOTED)
def test_promotion_keeps_the_element_in_a_register(name: str) -> None:
    body, array, expected = PROMOTED[name]
    before = read(body)
    after = promote_accumulators(before)
    assert loops_storing(after, array) == expected
    assert_same_meaning(
        before, after, [{**draw_arguments(before, 1), "n": value} for value in _counts(before)]
    )


def _counts(function: ir.Function) -> list[object]:
    kind = function.parameters[0].type.dtype.type
    return [kind(0), kind(1), kind(7)]


REJECTED = {
    "another element that may be the same": (
        "for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) C[i][n & 7] += C[i][k];",
        ["L0", "L1"],
    ),
    "a triangle that meets its diagonal": (
        "for (int i = 0; i < 8; i++) for (int k = 0; k <= i; k++) C[i][i] += C[i][k];",
        ["L0", "L1"],
    ),
    "a data-dependent element": (
        "for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) C[i][A[i][k] & 7] += 1;",
        ["L0", "L1"],
    ),
    "an element that may be out of bounds": (
        "for (int k = 0; k < 8; k++) if (n < 8 && n >= 0) C[n][n] += k;",
        ["L0"],
    ),
    "nothing read": ("for (int k = 0; k < 8; k++) C[n][0] = k;", ["L0"]),
}


@pytest.mark.parametrize("name", REJECTED)
def test_promotion_rejects(name: str) -> None:
    body, expected = REJECTED[name]
    before = read(body)
    after = promote_accumulators(before)
    assert loops_storing(after, "C") == expected
    assert_same_meaning(
        before, after, [{**draw_arguments(before, 1), "n": value} for value in _counts(before)]
    )


def test_a_loop_that_does_not_run_touches_nothing() -> None:
    before = read(
        "for (int k = n; k < 8; k++) C[n][2] += A[k][0]; int k = n; while (k < 8) { C[k][n]++; k = 8; }"
    )
    after = promote_accumulators(before)
    assert loops_storing(after, "C") == ["L1"]
    kind = before.parameters[0].type.dtype.type
    data = [{**draw_arguments(before, 1), "n": kind(value)} for value in (3, 8, 1000)]
    assert_same_meaning(before, after, data)


def test_a_condition_that_reads_the_element_reads_the_register() -> None:
    before = read("while (C[1][2] > 3) { C[1][2] -= 2; }")
    after = promote_accumulators(before)
    assert loops_storing(after, "C") == []
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(8)])


def test_an_element_written_before_it_is_read_is_not_loaded() -> None:
    after = promote_accumulators(
        read("for (int k = 0; k < 8; k++) { C[1][2] = A[k][0]; B[k][0] = C[1][2]; }")
    )
    loaded = {e.array.name for e in ir.all_expressions(after.body) if isinstance(e, ir.Load)}
    assert loaded == {"A"}


def test_promotion_in_one_loop_leaves_the_others() -> None:
    before = read(
        "for (int k = 0; k < 8; k++) { C[1][2] += k; } for (int k = 0; k < 8; k++) { C[1][2] += 2 * k; }"
    )
    after, registers = promote_in_loop(before, "L1", "C")
    assert loops_storing(after, "C") == ["L0"]
    assert [r.name for r in registers] == ["C_r"]


@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(st.lists(st.integers(0, 1 << 30), min_size=12), st.sampled_from(["int", "float"]))
def test_promotion_keeps_the_meaning_of_random_nests(seeds: list[int], kind: str) -> None:
    comparisons: list[Comparison] = []
    for seed in seeds:
        before = read_function(random_nest(Random(seed), kind=kind), top="nest")
        after = promote_accumulators(before)
        data = tuple(draw_arguments(before, seed) for seed in range(3))
        comparisons.append(Comparison(functions=(before, after), data_sets=data, label=f"seed {seed}"))
    assert_all_same_meaning(comparisons)
