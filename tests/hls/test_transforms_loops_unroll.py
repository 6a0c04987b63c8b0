"""Unrolling: the copies, refusals, and unchanged meaning."""

from __future__ import annotations

import pytest
from random_ir import check_valid
from transform_support import Comparison, assert_all_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.analysis.copying import find_loop, loops_inside
from pipelines.c.analysis.simplify import simplify
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.unroll import MAXIMUM_STATEMENTS, unroll_inner, unroll_loop

SUM = """
int f(int A[32], int n) {{
    int s = 0, i;
    for (i = {lower}; i {test}; i += {step}) {{
        int t = A[i] * 3;
        s = s * 5 + t;
    }}
    return s * 100 + i;
}}
"""


def loop_names(function: ir.Function) -> list[str]:
    return [loop.name for loop in loops_inside(function.body)]


def assert_unrolls(sources: list[tuple[str, int | None]]) -> None:
    """Unroll loop L0 of each program; the meaning must not change for several values of n."""
    comparisons: list[Comparison] = []
    for source, factor in sources:
        before = read_function(source, top="f")
        after = unroll_loop(before, "L0", factor)
        check_valid(after)
        data = [draw_arguments(before, seed) for seed in range(4)]
        for number, values in zip((0, 1, 7, 32), data, strict=True):
            if "n" in values:
                values["n"] = values["n"] * 0 + number
        comparisons.append(
            Comparison(functions=(before, after, simplify(after)), data_sets=tuple(data), label=source)
        )
    assert_all_same_meaning(comparisons)


def test_partial_unroll_keeps_the_meaning_for_every_form_of_loop() -> None:
    headers = [
        ("0", "< 32", "1"),
        ("1", "<= 30", "1"),
        ("0", "< 31", "3"),
        ("31", ">= 0", "-1"),
        ("30", "> 2", "-4"),
        ("0", "!= 30", "2"),
        ("0", "< n", "1"),
        ("0", "< n", "3"),
        ("n - 1", ">= 0", "-1"),
        ("31", "> 31 - n", "-1"),
        ("0", "!= n", "1"),
        ("n / 2", "< n", "1"),
    ]
    sources = [SUM.format(lower=lower, test=test, step=step) for lower, test, step in headers]
    assert_unrolls([(source, factor) for source in sources for factor in (2, 5)])


def test_bounds_at_the_ends_of_their_type_start_no_group_too_many() -> None:
    source = """
    int f(int lo, int hi) {
        int s = 0;
        if (hi - lo < 100)
            for (int i = lo; i < hi; i++) s = s * 3 + i;
        return s;
    }
    """
    before = read_function(source, top="f")
    after = unroll_loop(before, "L0", 8)
    sets = []
    for low, high in ((-(2**31), -(2**31) + 5), (2**31 - 20, 2**31 - 1), (-(2**31), -(2**31)), (-3, 17)):
        values = draw_arguments(before, 1)
        values["lo"], values["hi"] = values["lo"] * 0 + low, values["hi"] * 0 + high
        sets.append(values)
    assert_all_same_meaning([Comparison(functions=(before, after), data_sets=tuple(sets))])


def test_factor_that_divides_leaves_one_loop_and_another_an_epilogue() -> None:
    function = read_function(SUM.format(lower="0", test="< 32", step="1"), top="f")
    divided = unroll_loop(function, "L0", 4)
    assert loop_names(divided) == ["L0"]
    main = find_loop(divided, "L0")
    assert isinstance(main, ir.For)
    assert (main.trip_count, main.step) == (8, 4)
    assert loop_names(unroll_loop(function, "L0", 5)) == ["L0", "L0_epilogue"]
    assert loop_names(unroll_loop(function, "L0", 32)) == []


def test_private_variables_of_the_copies_are_their_own() -> None:
    function = read_function(SUM.format(lower="0", test="< 32", step="1"), top="f")
    main = find_loop(unroll_loop(function, "L0", 3), "L0")
    assigned = [s.variable.name for s in main.body if isinstance(s, ir.Assign)]
    assert assigned == ["t", "s", "t_u1", "s", "t_u2", "s"]


def test_copies_of_inner_loops_have_names_and_directives() -> None:
    source = """
    void f(int A[8][8]) {
        for (int i = 0; i < 8; i++) {
    #pragma HLS unroll factor=2
            for (int j = 0; j < 8; j++) {
    #pragma HLS pipeline
                A[i][j] += j;
            }
        }
    }
    """
    function = unroll_loop(read_function(source, top="f"), "L0", 3)
    assert loop_names(function) == ["L0", "L1", "L1_u1", "L1_u2", "L0_epilogue", "L1_e"]
    kinds = [[d.kind for d in loop.directives] for loop in loops_inside(function.body)]
    assert kinds[1:4] == [["pipeline"]] * 3
    assert all(d.loop in ("L0", "L1") for loop in loops_inside(function.body) for d in loop.directives)


LEFT_EARLY = """
int f(int A[16], int n) {{
    int i, found = -1, c = 0;
    for (i = 0; i < {bound}; i++) {{
        if (A[i] == 7) continue;
        if (A[i] > 4) {{ found = i; break; }}
        c += i;
    }}
    return found * 1000 + i * 50 + c;
}}
"""


def test_loops_that_are_left_early_keep_their_meaning() -> None:
    cases = [(LEFT_EARLY.format(bound=b), f) for b in ("16", "15", "(n & 15)") for f in (2, 4)]
    assert_unrolls([*cases, (LEFT_EARLY.format(bound="16"), None)])


def test_conditional_loops_test_before_each_copy() -> None:
    source = """
    int f(int x, int A[16]) {
        int i = 0, s = x;
        while (i < 16 && A[i] < 9) { int d = A[i] - i; s += d * i; i++; }
        return s * 17 + i;
    }
    """
    assert_unrolls([(source, 3)])
    function = read_function(source, top="f")
    with pytest.raises(NotApplicable, match="runs while a condition holds; a full unroll needs a number"):
        unroll_loop(function, "L0", None)


def test_unrolling_rejects_what_it_cannot_do() -> None:
    function = read_function(SUM.format(lower="0", test="< n", step="1"), top="f")
    with pytest.raises(NotApplicable, match="trip count of loop L0 is not constant"):
        unroll_loop(function, "L0", None)
    with pytest.raises(NotApplicable, match="no loop is named L9; there are L0"):
        unroll_loop(function, "L9", 2)
    with pytest.raises(NotApplicable, match="factor must be at least 1, got 0"):
        unroll_loop(function, "L0", 0)
    assert unroll_loop(function, "L0", 1) == function
    large = read_function(
        "int f(int A[65536]) { for (int i = 0; i < 65536; i++) A[i] = i; return 0; }", top="f"
    )
    with pytest.raises(NotApplicable, match=f"more than {MAXIMUM_STATEMENTS} statements"):
        unroll_loop(large, "L0", None)


def test_loops_inside_a_pipelined_one_are_unrolled_outer_first() -> None:
    source = """
    void f(int A[6][6], int B[6]) {
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 4; j++)
                for (int k = j; k < 6; k++)
                    if (A[i][k] > j) B[k] += A[j][k] * i;
    }
    """
    before = read_function(source, top="f")
    after = unroll_inner(before, "L0")
    check_valid(after)
    assert loop_names(after) == ["L0"]
    stores = [s for s in ir.walk_statements(after.body) if isinstance(s, ir.Store)]
    assert len(stores) == 6 + 5 + 4 + 3
    data = tuple(draw_arguments(before, seed) for seed in range(2))
    assert_all_same_meaning([Comparison(functions=(before, after), data_sets=data)])


@pytest.mark.parametrize(
    ("inner", "reason"),
    [
        (
            "for (int j = 0; j < n; j++) A[j] += i;",
            "loop L0 contains loop L1, whose trip count is not constant",
        ),
        ("while (A[i] > 0) A[i] -= 3;", "loop L0 contains loop L1, which runs while a condition holds"),
    ],
)
def test_loops_inside_a_pipelined_one_rejects_unknown_trip_counts(inner: str, reason: str) -> None:
    source = f"void f(int A[8], int n) {{ for (int i = 0; i < 8; i++) {{ {inner} }} }}"
    with pytest.raises(NotApplicable, match=reason):
        unroll_inner(read_function(source, top="f"), "L0")
