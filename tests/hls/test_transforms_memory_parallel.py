"""Independent iterations are found, and dependent ones are named."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_nests import random_nest
from transform_support import Comparison, assert_all_same_meaning, assert_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.analysis.copying import find_loop, loops_inside, replace_statement
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.parallel import loop_carries_dependence, parallelise
from pipelines.hls.transforms.unroll import unroll_loop


def read(body: str) -> ir.Function:
    return read_function(f"void f(int n, int A[16][16], int V[32], int K[16]) {{ {body} }}", top="f")


INDEPENDENT = {
    "own rows": "for (int i = 0; i < 16; i++) for (int j = 1; j < 16; j++) A[i][j] += A[i][j - 1];",
    "private variables": "for (int i = 0; i < 16; i++) { int t = V[i] * 2; V[i + 16] = t + n; }",
    "a triangle": "for (int i = 0; i < 16; i++) for (int j = 0; j < i; j++) A[i][j] = A[i][i] + j;",
    "halves": "for (int i = 0; i < 16; i++) V[i] += V[i + 16];",
    "odd and even": "for (int i = 0; i < 15; i++) V[2 * i] = V[2 * i + 1];",
    "pairs": "for (int i = 0; i < 16; i += 2) { V[i] = V[i + 1]; V[i + 1] = n; }",
    "tiles": "for (int t = 0; t < 16; t += 4) for (int i = t; i < t + 4; i++) V[i] = V[i] * 3 + t;",
    "a quotient": "for (int i = 0; i < 32; i++) A[i / 16][i % 16] = V[i];",
    "a sum": "for (int i = 0; i < 16; i++) V[3] += A[i][3];",
    "a maximum": "int m = V[0]; for (int i = 0; i < 16; i++) if (K[i] > m) m = K[i]; V[1] = m;",
    "an element of another row": "for (int i = 0; i < 8; i++) A[2 * i][3] = A[2 * i + 1][3];",
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_iterations_run_at_once(name: str) -> None:
    before = read(INDEPENDENT[name])
    assert loop_carries_dependence(before, "L0") is None
    after, waits = parallelise(before, "L0", 4)
    assert after != before
    assert waits is None
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(2)])


DEPENDENT = {
    "a recurrence": (
        "for (int i = 1; i < 16; i++) V[i] = V[i - 1] + 1;",
        "line 1 writes an element of V that line 1 reads in another iteration of loop L0",
    ),
    "an anti-dependence": (
        "for (int i = 0; i < 16; i++) V[i] = V[i + 1];",
        "line 1 writes an element of V that line 1 reads in another iteration of loop L0",
    ),
    "the same element": (
        "for (int i = 0; i < 16; i++) V[i / 2] = i;",
        "line 1 writes an element of V that line 1 writes in another iteration of loop L0",
    ),
    "unknown elements": (
        "for (int i = 0; i < 16; i++) V[K[i] & 31] = i;",
        "line 1 writes an element of V that line 1 writes in another iteration of loop L0",
    ),
    "a column": (
        "for (int i = 1; i < 16; i++) for (int j = 0; j < 16; j++) A[i][j] += A[i - 1][j];",
        "line 1 writes an element of A that line 1 reads in another iteration of loop L0",
    ),
    "a variable": (
        "int s = 0; for (int i = 0; i < 16; i++) { V[i] = s; s = s * 3 + K[i]; }",
        r"s carries a value from one iteration of loop L0 to another \(line 1\)",
    ),
    "a variable that may keep its value": (
        "int s = 0; for (int i = 0; i < 16; i++) { if (K[i] > 0) s = i; V[i] = s; }",
        r"s carries a value from one iteration of loop L0 to another \(line 1\)",
    ),
    "a condition": (
        "int i = 0; while (K[i & 15] > i) i++; V[0] = i;",
        "loop L0 runs while a condition holds, which each iteration decides for the next",
    ),
    "a way out": (
        "for (int i = 0; i < 16; i++) { if (K[i] == n) break; V[i] = 0; }",
        "loop L0 is left early, which decides whether the next iteration runs",
    ),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent_iterations_wait_for_each_other(name: str) -> None:
    body, reason = DEPENDENT[name]
    before = read(body)
    after, waits = parallelise(before, "L0", 4)
    assert waits is not None
    assert re.match(reason, waits)
    assert after == unroll_loop(before, "L0", 4)


def test_parallelise_rejects_all_iterations_of_an_unknown_number() -> None:
    with pytest.raises(NotApplicable, match="the trip count of loop L0 is not constant"):
        parallelise(read("for (int i = 0; i < n; i++) V[i] = 0;"), "L0", None)


NESTS = {
    "a row each": ("for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) A[i][j] += i;", 1),
    "what is private": (
        "for (int i = 0; i < 15; i++) {"
        " int s = n; for (int j = 0; j < 16; j++) s = s * 3 + A[i][j];"
        " for (int k = 1; k < 16; k += 2) { int t = s + k; A[i][k] = t * t; } V[i] = s; }",
        2,
    ),
    "loops in loops": (
        "for (int i = 0; i < 13; i++) for (int j = 0; j < 4; j++) {"
        " for (int k = 0; k < 4; k++) A[i][4 * j + k] = j; K[i] += A[i][j]; }",
        2,
    ),
    "a sum": ("for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) n += A[i][j]; V[0] = n;", 1),
    "a triangle": ("for (int i = 0; i < 16; i++) for (int j = 0; j < i; j++) A[i][j] = j;", 4),
    "a way out inside": (
        "for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) { if (A[i][j] < 0) break; A[i][j] = i; }",
        4,
    ),
    "what is next": (
        "for (int i = 0; i < 16; i++)"
        " for (int j = 0; j < 16; j++) { if (A[i][j] < 0) continue; A[i][j] = i; }",
        1,
    ),
}


@pytest.mark.parametrize("name", NESTS)
def test_inner_loops_of_parallel_iterations_are_one(name: str) -> None:
    body, inner_loops = NESTS[name]
    before = read(body)
    after, waits = parallelise(before, "L0", 4)
    assert waits is None
    assert len(loops_inside(find_loop(after, "L0").body)) == inner_loops
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(2)])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "float s = 0; for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) s += F[i][j]; F[0][0] = s;",
            "s is a sum",
        ),
        ("for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) G[3] += F[i][j];", "loop L0 adds"),
        ("int t = 0; for (int i = 0; i < 8; i++) { t = i * 2; F[i][0] = t; } G[0] = t;", "t has the value"),
    ],
)
def test_an_order_that_shows_is_kept(body: str, reason: str) -> None:
    before = read_function(f"void f(float F[8][8], float G[8]) {{ {body} }}", top="f")
    after, waits = parallelise(before, "L0", 4)
    assert waits is not None
    assert waits.startswith(reason)
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(2)])
    if not reason.startswith("t "):
        assert parallelise(before, "L0", 4, unsafe_math=True)[1] is None


def backwards(function: ir.Function, loop: str) -> ir.Function:
    """The function with the iterations of a loop of constant trip count in the opposite order."""
    unrolled = find_loop(function, loop)
    assert isinstance(unrolled, ir.For)
    assert unrolled.trip_count is not None
    marker = ir.Assign(variable=ir.Variable(name="marker"), value=ir.Constant(value=0), line=0)
    marked = ir.For(
        name=unrolled.name,
        body=(marker, *unrolled.body),
        line=unrolled.line,
        variable=unrolled.variable,
        lower=unrolled.lower,
        comparison=unrolled.comparison,
        upper=unrolled.upper,
        step=unrolled.step,
    )
    block = ir.Block(label="turned", body=(marked,), line=0)
    whole = unroll_loop(replace_statement(function, unrolled, (block,)), loop, None)
    container = next(
        s for s in ir.walk_statements(whole.body) if isinstance(s, ir.Block) and s.label == "turned"
    )
    *copies, last = container.body
    starts = [
        k for k, s in enumerate(copies) if isinstance(s, ir.Assign) and s.variable.name.startswith("marker")
    ]
    pieces = [copies[a:b] for a, b in pairwise([*starts, len(copies)])]
    turned = [s for piece in reversed(pieces) for s in piece]
    return replace_statement(whole, container, (*turned, last))


def test_backwards_turns_the_iterations() -> None:
    before = read("for (int i = 1; i < 16; i++) V[i] = V[i - 1] + 1;")
    with pytest.raises(AssertionError):
        assert_same_meaning(before, backwards(before, "L0"), [draw_arguments(before, 1)])


@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(st.lists(st.integers(0, 1 << 30), min_size=25))
def test_loops_without_dependences_run_backwards_too(seeds: list[int]) -> None:
    comparisons: list[Comparison] = []
    for seed in seeds:
        before = read_function(random_nest(Random(seed), leaves=False), top="nest")
        for loop in [s for s in ir.walk_statements(before.body) if isinstance(s, ir.For)]:
            trips = loop.trip_count
            if loop.name == "L0" or trips is None or loop_carries_dependence(before, loop.name):
                continue
            after = backwards(before, loop.name)
            data = tuple(draw_arguments(before, k) for k in range(2))
            label = f"seed {seed} {loop.name}"
            comparisons.append(Comparison(functions=(before, after), data_sets=data, label=label))
    assert len(comparisons) >= 3
    assert_all_same_meaning(comparisons)


@pytest.mark.sample(4)
@pytest.mark.parametrize(("kind", "part"), [(kind, part) for kind in ("int", "float") for part in range(4)])
def test_loops_without_dependences_run_side_by_side(kind: str, part: int) -> None:
    comparisons: list[Comparison] = []
    for seed in range(part, 120, 4):
        random = Random(seed)
        before = read_function(random_nest(random, kind=kind, leaves=seed % 3 == 0), top="nest")
        for loop in [s for s in ir.walk_statements(before.body) if isinstance(s, ir.For)]:
            factor = random.choice((2, 3))
            after, _ = parallelise(before, loop.name, factor)
            if after == unroll_loop(before, loop.name, factor):
                continue
            data = tuple(draw_arguments(before, k) for k in range(2))
            label = f"seed {seed} {loop.name}"
            comparisons.append(Comparison(functions=(before, after), data_sets=data, label=label))
    assert len(comparisons) >= 3  # of each of the four parts
    assert_all_same_meaning(comparisons)
