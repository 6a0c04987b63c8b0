"""Reductions and chains: the same values in another order."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_nests import random_nest
from transform_support import Comparison, assert_all_same_meaning, assert_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.analysis.copying import find_loop
from pipelines.c.errors import NotApplicable
from pipelines.c.signature import DataSet
from pipelines.hls.transforms.chains import accumulators, balance_chains
from pipelines.hls.transforms.reduction import reduce_tree
from pipelines.hls.transforms.unroll import unroll_loop
from tests.hls.interleaving import interleave_reduction

Reduction = Callable[[ir.Function, str, str], ir.Function]


def read(body: str, kind: str = "int") -> ir.Function:
    return read_function(f"{kind} f(int n, {kind} A[24], {kind} C[4]) {{ {body} }}", top="f")


def whole_numbers(function: ir.Function, seed: int) -> DataSet:
    """Arguments whose sums and products are exact in any order."""
    data = draw_arguments(function, seed)
    return {name: np.round(values / 4).astype(values.dtype) for name, values in data.items()}


SUMS = {
    "a sum": ("int s = n; for (int i = 0; i < 23; i++) s += A[i] * 3; return s;", "s"),
    "a difference": ("int s = n; for (int i = 0; i < 24; i++) s = s - A[i] + 1; return s;", "s"),
    "a product": ("int s = 3; for (int i = 0; i < 7; i++) s *= A[i] | 1; return s;", "s"),
    "and": ("int s = -1; for (int i = 0; i < 24; i++) s &= A[i] | i; return s;", "s"),
    "or under a condition": (
        "int s = 0; for (int i = 0; i < 24; i++) { if (A[i] > 3) s |= A[i]; else s |= i; } return s;",
        "s",
    ),
    "exclusive or": ("int s = n; for (int i = 23; i > 0; i -= 2) s ^= A[i]; return s;", "s"),
    "a minimum": ("int s = n; for (int i = 0; i < 24; i++) if (A[i] < s) s = A[i]; return s;", "s"),
    "a maximum": ("int s = n; for (int i = 0; i < 24; i++) s = s > A[i] ? s : A[i]; return s;", "s"),
    "a narrow sum": ("signed char s = 1; for (int i = 0; i < 24; i++) s += A[i]; return s;", "s"),
    "an element": ("for (int i = 0; i < 24; i++) C[n & 3] += A[i]; return C[1];", "C"),
    "an inner loop": (
        "int s = 0; for (int i = 0; i < 6; i++) for (int j = 0; j < i; j++) s += A[4 * j] * i; return s;",
        "s",
    ),
    "an unknown count": ("int s = 0; for (int i = 0; i < (n & 15); i++) s += A[i]; return s;", "s"),
    "all at once": (
        "int s = 0; int t = 1; for (int i = 0; i < 9; i++) { s += A[i]; t *= A[i]; s -= 2; } return s ^ t;",
        "",
    ),
}
WAYS: dict[str, Reduction] = {
    "four": lambda f, loop, name: reduce_tree(f, loop, name, 4),
    "all": lambda f, loop, name: reduce_tree(f, loop, name, 40),
    "in turn": lambda f, loop, name: interleave_reduction(f, loop, name, 5),
}


@pytest.mark.parametrize("name", SUMS)
def test_reductions_of_integers_are_exact(name: str) -> None:
    body, variable = SUMS[name]
    before = read(body)
    afters = tuple(way(before, "L0", variable) for way in WAYS.values())
    data = tuple(draw_arguments(before, seed) for seed in range(4))
    assert all(after != before for after in afters)
    assert_all_same_meaning([Comparison(functions=(before, *afters), data_sets=data)])


def test_copies_accumulate_in_variables_of_their_own() -> None:
    after = reduce_tree(read("int s = 0; for (int i = 0; i < 24; i++) s += A[i]; return s;"), "L0", "s", 4)
    sums = accumulators(find_loop(after, "L0").body)
    assert sorted(sums) == ["s", "s_part", "s_part_2", "s_part_3"]


def test_iterations_take_turns() -> None:
    after = interleave_reduction(
        read("int s = 0; for (int i = 0; i < 24; i++) s += A[i]; return s;"), "L0", "s", 3
    )
    moves = [
        (s.variable.name, s.value.variable.name)
        for s in find_loop(after, "L0").body
        if isinstance(s, ir.Assign) and isinstance(s.value, ir.Read)
    ]
    assert moves == [("s_turn", "s"), ("s", "s_part"), ("s_part", "s_part_2"), ("s_part_2", "s_turn")]


@pytest.mark.parametrize("way", WAYS)
def test_floating_reductions_need_permission(way: str) -> None:
    before = read("float s = 1; for (int i = 0; i < 22; i++) s += A[i] * 2; return s;", "float")
    with pytest.raises(NotApplicable, match=r"^s of loop L0 is a floating-point reduction; reordering it"):
        WAYS[way](before, "L0", "s")
    tree = reduce_tree(before, "L0", "s", 4, unsafe_math=True)
    turns = interleave_reduction(before, "L0", "s", 4, unsafe_math=True)
    data = tuple(whole_numbers(before, seed) for seed in range(3))
    assert_all_same_meaning([Comparison(functions=(before, tree, turns), data_sets=data)])


REJECTED = {
    "read elsewhere": "int s = 0; for (int i = 0; i < 9; i++) { s += A[i]; A[i] = s; } return s;",
    "two operators": "int s = 0; for (int i = 0; i < 9; i++) { s += A[i]; s *= 3; } return s;",
    "subtracted from": "int s = 0; for (int i = 0; i < 9; i++) s = A[i] - s; return s;",
    "itself in the term": "int s = 0; for (int i = 0; i < 9; i++) s += A[s & 7]; return s;",
    "a condition on it": "int s = 0; for (int i = 0; i < 9; i++) if (s > i) s += A[i]; return s;",
    "a narrower sum on the way": "int s = 0; for (int i = 0; i < 9; i++) s = (short)s + A[i]; return s;",
}


@pytest.mark.parametrize("name", REJECTED)
def test_reduction_rejects(name: str) -> None:
    with pytest.raises(NotApplicable, match=r"^s is no reduction of loop L0: an accumulator is combined by"):
        reduce_tree(read(REJECTED[name]), "L0", "s", 4)


def test_reduction_rejects_loops_that_are_left_and_unknown_counts() -> None:
    left = read("int s = 0; for (int i = 0; i < 9; i++) { if (A[i] == 3) break; s += A[i]; } return s;")
    with pytest.raises(NotApplicable, match=r"^loop L0 is left early; its accumulations cannot be"):
        reduce_tree(left, "L0", "s", 4)
    unknown = read("int s = 0; for (int i = 0; i < (n & 7); i++) s += A[i]; return s;")
    with pytest.raises(NotApplicable, match=r"^the trip count of loop L0 is not constant$"):
        reduce_tree(unknown, "L0", "s", None)
    with pytest.raises(NotApplicable, match=r"^a reduction must have 2 to 1024 copies, got 1$"):
        interleave_reduction(unknown, "L0", "s", 1)


# ---- chains -----------------------------------------------------------------------------------------


def depth(expression: ir.Expression, operators: tuple[str, ...]) -> int:
    inner = max((depth(e, operators) for e in ir.child_expressions(expression)), default=0)
    return inner + (isinstance(expression, ir.Binary) and expression.operator in operators)


def test_a_chain_of_updates_waits_for_one_addition() -> None:
    before = unroll_loop(read("int s = n; for (int i = 0; i < 16; i++) s += A[i] * 3; return s;"), "L0", 8)
    after = balance_chains(before)
    values = [
        s.value for s in find_loop(after, "L0").body if isinstance(s, ir.Assign) and s.variable.name == "s"
    ]
    assert len(values) == 1
    assert depth(values[0], ("add",)) == 4
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(3)])


CHAINS = {
    "signs": "return A[0] - A[1] + A[2] - (A[3] - A[4]) - n;",
    "negative": "int s = n; s -= A[0]; s -= A[1]; s -= A[2] + A[3]; return s;",
    "two variables": "int s = n, t = 2; s += A[0]; t += A[1]; s += A[2]; t += A[3]; return s * t * 3 * n;",
    "one reads the other": "int s = n, t = 2; s += A[0]; t += s; s += A[2]; t += A[3]; s += t; return s * t;",
    "a store between": "int s = n; s += A[0]; A[n & 7] = 3; s += A[1]; s += A[2]; return s;",
    "a condition between": "int s = n; s += A[0]; if (n > 2) s *= 2; s += A[1]; s += A[2]; return s;",
    "a way out between": "int s = n; for (int i = 0; i < 9; i++) { s += A[0]; if (A[i] > 9) break;"
    " s += A[1]; s += A[2]; } return s;",
}


@pytest.mark.parametrize("name", CHAINS)
def test_balanced_chains_mean_the_same(name: str) -> None:
    before = read(CHAINS[name])
    after = balance_chains(before)
    assert after != before or name in ("a condition between", "one reads the other")
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(4)])


def test_floating_chains_need_permission() -> None:
    before = read("float s = A[0] + A[1] + A[2] + A[3]; s += A[4]; s += A[5]; return s;", "float")
    assert balance_chains(before) == before
    after = balance_chains(before, unsafe_math=True)
    assert after != before
    assert_same_meaning(before, after, [whole_numbers(before, seed) for seed in range(3)])


@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(st.lists(st.integers(0, 1 << 30), min_size=8))
def test_reordering_keeps_the_meaning_of_random_nests(seeds: list[int]) -> None:
    comparisons: list[Comparison] = []
    for seed in seeds:
        random = Random(seed)
        before = read_function(random_nest(random), top="nest")
        afters = [balance_chains(before)]
        for loop in [s.name for s in ir.walk_statements(before.body) if isinstance(s, ir.For)]:
            try:
                afters.append(reduce_tree(before, loop, "", random.choice((2, 3, 8))))
            except NotApplicable:
                continue
        data = tuple(draw_arguments(before, k) for k in range(2))
        comparisons.append(Comparison(functions=(before, *afters), data_sets=data, label=f"seed {seed}"))
    assert_all_same_meaning(comparisons)
