"""Flattening: the flattened loop, its nest, refusals, and unchanged meaning."""

from __future__ import annotations

import pytest
from random_ir import check_valid
from transform_support import Comparison, assert_all_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.analysis.copying import find_loop, loops_inside
from pipelines.c.analysis.simplify import simplify
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.exits import exits_to_flags
from pipelines.hls.transforms.ifconversion import convert_ifs
from pipelines.hls.transforms.nests import flatten_nest

GEMM = """
void f(int A[4][5], int B[5][3], int C[4][3]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {
            int s = C[i][j];
            for (int k = 0; k < 5; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = s;
        }
}
"""

ODD_STEPS = """
int f(int A[16][16], int x) {
    int s = x, i, j, k;
    for (i = 15; i >= 3; i -= 4) {
        s = s * 3 + i;
        for (j = 1; j != 7; j += 2)
            for (k = 2; k <= 11; k += 3) {
                A[i][k + j / 2] += s;
                s = s ^ (A[j][k] + i);
            }
        if (s & 1) A[i][j] = k;
    }
    return s * 1000 + i * 100 + j * 10 + k;
}
"""


def pipelined(function: ir.Function, loop: str) -> ir.Function:
    """The passes of the compiler after flattening."""
    return simplify(convert_ifs(exits_to_flags(function, loop), frozenset((loop,))))


def assert_flattens(source: str, loop: str) -> ir.Function:
    before = read_function(source, top="f")
    flat = flatten_nest(before, loop)
    functions = (before, flat, pipelined(flat, loop), pipelined(simplify(flat), loop))
    for function in functions:
        check_valid(function)
    data = tuple(draw_arguments(before, seed) for seed in range(4))
    assert_all_same_meaning([Comparison(functions=functions, data_sets=data)])
    return flat


def test_imperfect_nest_becomes_one_loop_over_all_iterations() -> None:
    flat = assert_flattens(GEMM, "L2")
    (loop,) = loops_inside(flat.body)
    assert isinstance(loop, ir.For)
    assert (loop.name, loop.trip_count) == ("L2", 60)
    assert [(v.variable.name, v.lower, v.step, v.trip_count) for v in loop.nest] == [
        ("i", 0, 1, 4),
        ("j", 0, 1, 3),
        ("k", 0, 1, 5),
    ]


def test_if_converted_body_is_one_block_without_conditions() -> None:
    flat = pipelined(flatten_nest(read_function(GEMM, top="f"), "L2"), "L2")
    body = find_loop(flat, "L2").body
    assert all(isinstance(s, ir.Assign | ir.Store) for s in body)
    assert sum(isinstance(s, ir.Store) for s in body) == 1


def test_every_direction_and_step_keeps_the_meaning() -> None:
    flat = assert_flattens(ODD_STEPS, "L2")
    loop = find_loop(flat, "L2")
    assert [(v.lower, v.step, v.trip_count) for v in loop.nest] == [(15, -4, 4), (1, 2, 3), (2, 3, 4)]


def test_nest_that_is_left_early_keeps_the_meaning() -> None:
    source = """
    int f(int A[8][8], int x) {
        int i, j = 0, c = 0;
        for (i = 0; i < 8; i++)
            for (j = 0; j < 8; j++) {
                if (A[i][j] == x) continue;
                if (A[i][j] > 13) return i * 100 + j;
                c++;
            }
        return c + 10000;
    }
    """
    flat = assert_flattens(source, "L1")
    assert len(find_loop(flat, "L1").nest) == 2


def test_odometer_compares_the_present_value_with_a_constant() -> None:
    body = pipelined(flatten_nest(read_function(GEMM, top="f"), "L2"), "L2").body
    loop = next(s for s in ir.walk_statements(body) if isinstance(s, ir.For))
    steps = {s.variable.name: s.value for s in loop.body if isinstance(s, ir.Assign)}
    assert isinstance(steps["k"], ir.Select)
    assert not any(
        isinstance(p, ir.Binary) and p.operator in ("mul", "div", "rem")
        for name in ("i", "j", "k")
        for p in ir.walk_expressions(steps[name])
    )


def test_outermost_and_perfect_only_limit_the_nest() -> None:
    function = read_function(GEMM, top="f")
    limited = flatten_nest(function, "L2", outermost="L1")
    assert [loop.name for loop in loops_inside(limited.body)] == ["L0", "L2"]
    with pytest.raises(NotApplicable, match="loop L1 has other statements beside loop L2"):
        flatten_nest(function, "L2", perfect_only=True)
    perfect = read_function(
        "void f(int A[4][5]) { for (int i=0;i<4;i++) for (int j=0;j<5;j++) A[i][j]++; }", top="f"
    )
    assert len(find_loop(flatten_nest(perfect, "L1", perfect_only=True), "L1").nest) == 2


def nest(between: str = "", bound: str = "4", after: str = "", outer: str = "i < 8") -> str:
    return (
        f"int f(int A[8][8], int n) {{ int s = 0, j = 0; for (int i = 0; {outer}; i++) {{ {between}"
        f" for (j = 0; j < {bound}; j++) s += A[i][j]; {after} }} return s; }}"
    )


@pytest.mark.parametrize(
    ("source", "loop", "reason"),
    [
        (nest(), "L0", "loop L0 contains a loop; a nest is flattened into its innermost loop"),
        (nest(bound="n & 7"), "L1", "the trip count of loop L1 is not constant"),
        (nest(bound="i"), "L1", "the trip count of loop L1 is not constant"),
        (nest(outer="i < (n & 7)"), "L1", "the trip count of loop L0 is not constant"),
        (nest(bound="0"), "L1", "loop L1 never runs"),
        (nest(between="s += j;"), "L1", "j of loop L1 is used beside it, in loop L0"),
        (nest(between="while (s > 9) s -= 9;"), "L2", "loop L0 contains loop L1 beside L2"),
        (nest(between="if (s > 50) break;"), "L1", "loop L0 is left beside loop L1"),
        ("int f(int n) { int s = 0; while (n > 0) { for (int i = 0; i < 3; i++) s += n; n--; } return s; }",
         "L1", "the trip count of loop L0 is not constant"),
        ("int f(int n) { for (int i = 0; i < 4; i++) if (n) for (int j = 0; j < 3; j++) n += j; return n; }",
         "L1", r"loop L1 is inside a condition \(line 1\)"),
        ("int f(int n) { for (int j = 0; j < 3; j++) n += j; return n; }", "L0", "no loop is around loop L0"),
    ],
)  # fmt: skip
def test_flattening_rejects_other_nests(source: str, loop: str, reason: str) -> None:
    with pytest.raises(NotApplicable, match=reason):
        flatten_nest(read_function(source, top="f"), loop)
