"""Forwarding keeps the meaning of a program and saves accesses in straight-line code."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_nests import random_nest
from transform_support import Comparison, assert_all_same_meaning, assert_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.hls.transforms.forward import forward_stores


def read(body: str) -> ir.Function:
    return read_function(f"void f(int n, int A[8], int B[8]) {{ {body} }}", top="f")


def count(function: ir.Function, array: str) -> tuple[int, int]:
    """Loads and stores of an array."""
    loads = [e for e in ir.all_expressions(function.body) if isinstance(e, ir.Load) and e.array.name == array]
    stores = [
        s for s in ir.walk_statements(function.body) if isinstance(s, ir.Store) and s.array.name == array
    ]
    return len(loads), len(stores)


CASES = {
    "a stored value": ("A[n & 7] = B[0] * 3; B[1] = A[n & 7];", (0, 1)),
    "an accumulation": ("for (int i = 0; i < 8; i++) { A[i] += B[0]; A[i] += B[1]; A[i] += B[2]; }", (1, 1)),
    "an overwritten store": ("A[2] = n; A[3] = 4; A[2] = 5;", (0, 2)),
    "a store that is read": ("A[2] = n; B[0] = A[n & 7]; A[2] = 5;", (1, 2)),
    "a store that is read under a condition": ("A[2] = n; if (n > 2) B[0] = A[n & 7]; A[2] = 5;", (1, 2)),
    "a loaded value": ("B[0] = A[1]; A[2] = 3; B[1] = A[1];", (1, 1)),
    "an unknown store between": ("A[1] = n; A[n & 7] = 3; B[1] = A[1];", (1, 2)),
    "a changed index": ("int i = n & 3; A[i] = 5; i = i + 1; B[0] = A[i]; B[1] = A[i - 1];", (2, 1)),
    "a loop between": ("A[1] = n; for (int i = 0; i < 8; i++) A[i] += 1; B[1] = A[1];", (2, 2)),
    "a condition between": ("A[1] = n; if (n > 2) A[1] = 3; A[1] += 1;", (1, 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_forwarding_saves_accesses(name: str) -> None:
    body, expected = CASES[name]
    before = read(body)
    after = forward_stores(before)
    assert count(after, "A") == expected
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(4)])


@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(st.lists(st.integers(0, 1 << 30), min_size=12), st.sampled_from(["int", "float"]))
def test_forwarding_keeps_the_meaning_of_random_nests(seeds: list[int], kind: str) -> None:
    comparisons: list[Comparison] = []
    for seed in seeds:
        before = read_function(random_nest(Random(seed), kind=kind), top="nest")
        after = forward_stores(before)
        data = tuple(draw_arguments(before, seed) for seed in range(3))
        comparisons.append(Comparison(functions=(before, after), data_sets=data, label=f"seed {seed}"))
    assert_all_same_meaning(comparisons)
