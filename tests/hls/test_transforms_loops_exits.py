"""Exits as flags, and if-conversion: plain bodies with the same meaning."""

from __future__ import annotations

import pytest
from random_ir import check_valid
from transform_support import Comparison, assert_all_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.analysis.copying import find_loop, loops_inside
from pipelines.c.analysis.simplify import simplify
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.exits import exits_to_flags
from pipelines.hls.transforms.ifconversion import convert_ifs, is_cheap
from pipelines.hls.transforms.unroll import unroll_inner, unroll_loop

SEARCH = """
int f(int A[16], int x) {
    int i, s = 0;
    for (i = 0; i < 16; i++) {
        if (A[i] == x) continue;
        s += A[i];
        if (s > 40) break;
        if (s == 17) return 1000 + i;
        s = s * 3;
    }
    return s * 100 + i;
}
"""

WHILE = """
int f(int A[16], int x) {
    int i = 0, s = 0;
    while (A[i] != x) {
        s += A[i];
        if (i == 15 || s > 60) break;
        i++;
    }
    do {
        s -= 7;
        if (s < -30) break;
    } while (s > x && s < 999);
    return s * 100 + i;
}
"""

SWITCH = """
int f(int A[16], int x) {
    int s = x;
    for (int i = 0; i < 16; i++) {
        switch (A[i] & 7) {
        case 0: s += 3; break;
        case 1: if (s > 9) break; s *= 2;
        case 2: s -= i; continue;
        case 5: A[i] = s; break;
        default: s ^= i;
        }
        A[15 - i] += s;
    }
    return s;
}
"""


def assert_same_after(source: str, *loops: str, count: int = 6) -> ir.Function:
    """Turn each loop's exits to flags and convert its conditions; the meaning must stay."""
    before = read_function(source, top="f")
    flagged = before
    for loop in loops:
        flagged = exits_to_flags(flagged, loop)
    converted = convert_ifs(flagged, frozenset(loops))
    functions = (before, flagged, converted, simplify(converted))
    for function in functions:
        check_valid(function)
    data = tuple(draw_arguments(before, seed) for seed in range(count))
    assert_all_same_meaning([Comparison(functions=functions, data_sets=data, label=source)])
    return simplify(converted)


@pytest.mark.parametrize(
    ("source", "loops"),
    [(SEARCH, ["L0"]), (WHILE, ["L0", "L1"]), (SWITCH, ["L0"])],
    ids=["for", "while", "switch"],
)
def test_loops_without_jumps_mean_the_same(source: str, loops: list[str]) -> None:
    after = assert_same_after(source, *loops)
    for loop in loops:
        assert all(isinstance(s, ir.Assign | ir.Store) for s in find_loop(after, loop).body)


def test_loop_that_is_left_becomes_conditional_and_keeps_name_and_nest() -> None:
    function = exits_to_flags(read_function(SEARCH, top="f"), "L0")
    loop = find_loop(function, "L0")
    assert isinstance(loop, ir.While)
    assert not loop.test_first
    assert [(v.variable.name, v.lower, v.step, v.trip_count) for v in loop.nest] == [("i", 0, 1, 16)]


def test_loop_that_only_continues_stays_counted() -> None:
    body = "if (A[i] < 0) continue; s += A[i];"
    source = f"int f(int A[8]) {{ int s = 0; for (int i = 0; i < 8; i++) {{ {body} }} return s; }}"
    loop = find_loop(exits_to_flags(read_function(source, top="f"), "L0"), "L0")
    assert isinstance(loop, ir.For)
    assert not any(isinstance(s, ir.Block | ir.Leave) for s in ir.walk_statements(loop.body))


def test_loop_without_exits_stays_as_it_is() -> None:
    function = read_function("int f(int n) { while (n > 5) n = n / 2; return n; }", top="f")
    assert exits_to_flags(function, "L0") is function


def test_exits_of_many_copies_each_guard_what_follows() -> None:
    assert_same_after(
        """
        int f(int A[64], int x) {
            int s = 0;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 20; j++) {
                    if (A[20 * i + j] > 13) {
                        if (s & 1) { s += 1000; break; }
                        s += 5;
                    }
                    s += A[20 * i + j] ^ x;
                }
            return s;
        }
        """,
        "L1",
    )
    before = read_function(SEARCH.replace("16", "48").replace("int A[48]", "int A[48]"), top="f")
    unrolled = unroll_loop(before, "L0", 24)
    flagged = exits_to_flags(unrolled, "L0")
    converted = simplify(convert_ifs(flagged, frozenset(("L0",))))
    data = tuple(draw_arguments(before, seed) for seed in range(6))
    assert_all_same_meaning([Comparison(functions=(before, flagged, converted), data_sets=data)])


def test_condition_of_a_loop_that_was_left_reads_no_element() -> None:
    source = """
    int f(int A[16]) {
        int i = 0;
        while (A[i] < 14) {
            if (i == 15) { i = 99; break; }
            i++;
        }
        return i;
    }
    """
    assert_same_after(source, "L0")


def test_exits_rejects_loops_that_contain_loops() -> None:
    source = "int f(int n) { for (int i = 0; i < 4; i++) for (int j = 0; j < n; j++) n++; return n; }"
    with pytest.raises(NotApplicable, match="loop L0 contains loop L1; only innermost loops are pipelined"):
        exits_to_flags(read_function(source, top="f"), "L0")


# ---- if-conversion ------------------------------------------------------------------------------------

NESTED = """
int f(int A[16], int B[16]) {
    int x = 1, y = 2, s = 0;
    for (int i = 0; i < 16; i++) {
        int t = 0;
        if (A[i] > 3) {
            x = 5; t = x + s;
            if (A[i] > 6) { y = x; x = y + 7; B[i] = x; }
            else if (i > 0 && A[i - 1] < 2) { y = A[i - 1] / (A[i] - 5); }
            s += x;
        } else {
            s -= y;
            if (i & 1) x = t - B[i];
        }
        B[15 - i] += s + t;
    }
    return s + x * 10 + y * 100;
}
"""


def test_nested_conditions_become_predicates() -> None:
    after = assert_same_after(NESTED, "L0")
    assert all(isinstance(s, ir.Assign | ir.Store) for s in find_loop(after, "L0").body)


def test_branches_of_floats_and_wide_integers_are_selected() -> None:
    assert_same_after(
        """
        float f(float F[16], long long W[4], unsigned char u) {
            float m = F[0]; double d = 1.0;
            for (int i = 0; i < 16; i++) {
                if (F[i] > m) { m = F[i]; d = d / (F[i] + 1.0f); }
                else if (F[i] < 0) { W[i & 3] += (long long)F[i] << (u & 7); d = d * 0.5; }
                if ((unsigned char)(u + i) < 100) u = (unsigned char)(u * 3);
            }
            return m + (float)d + u;
        }
        """,
        "L0",
    )


def test_selection_takes_both_branches_at_once() -> None:
    source = "int f(int x) { int y; if (x > 3) y = x + 1; else y = x - 1; return y; }"
    after = simplify(convert_ifs(read_function(source, top="f"), frozenset()))
    selections = [e for e in ir.all_expressions(after.body) if isinstance(e, ir.Select)]
    assert len(selections) == 1


def test_variable_nobody_reads_later_needs_no_selection() -> None:
    source = """
    void f(int A[8]) {
        int t = 0;
        for (int i = 0; i < 8; i++)
            if (A[i] > 3) { t = A[i] * 2; A[i] = t; }
    }
    """
    after = simplify(convert_ifs(read_function(source, top="f"), frozenset(("L0",))))
    assert not any(isinstance(e, ir.Select) for e in ir.all_expressions(after.body))


def loads(function: ir.Function, array: str) -> list[ir.Load]:
    expressions = ir.all_expressions(function.body)
    return [e for e in expressions if isinstance(e, ir.Load) and e.array.name == array]


def test_element_of_the_condition_is_loaded_once() -> None:
    after = assert_same_after(
        """
        int f(int A[16], int B[16]) {
            int m = -99, w = 0;
            for (int i = 0; i < 16; i++)
                if (A[i] > m) { m = A[i]; w = i; B[i] = A[i] * m; } else w += A[i];
            return m * 100 + w;
        }
        """,
        "L0",
    )
    assert [load.predicate for load in loads(after, "A")] == [None]


def test_element_that_both_branches_load_is_loaded_once_without_the_condition() -> None:
    after = assert_same_after(
        """
        int f(int A[16], int B[16], int x) {
            int s = 0;
            for (int i = 0; i < 16; i++) {
                int k = A[i] & 31;
                if (k < 16) { if (s & 1) s += B[k] * 3; else s -= B[k]; }
                if (s & 2) s += A[i]; else s ^= A[i];
            }
            return s;
        }
        """,
        "L0",
    )
    assert [load.predicate for load in loads(after, "A")] == [None]
    (load,) = loads(after, "B")
    assert isinstance(load.predicate, ir.Read)


def stores(function: ir.Function, array: str) -> list[ir.Store]:
    statements = ir.walk_statements(function.body)
    return [s for s in statements if isinstance(s, ir.Store) and s.array.name == array]


def test_accesses_of_opposite_branches_share_a_port() -> None:
    after = assert_same_after(
        """
        int f(int A[32], int B[16], int C[16]) {
            int i = 0, j = 0;
            for (int k = 0; k < 16; k++) {
                if (j > 9 || (i < 9 && A[i] <= A[16 + j])) { B[k] = A[i] * 3; i++; }
                else if (A[k] > 4) { B[15 - k] = A[16 + j]; j++; C[k] = i; }
                else { B[j] = j; C[k] -= 1; }
            }
            return i;
        }
        """,
        "L0",
        count=12,
    )
    assert len(stores(after, "B")) == 1
    (store,) = stores(after, "C")
    assert store.predicate is not None
    assert len(loads(after, "A")) <= 4


def test_stores_that_are_read_between_stay_apart() -> None:
    after = assert_same_after(
        """
        int f(int A[16], int x) {
            int s = 0;
            for (int k = 1; k < 16; k++) {
                int p = (A[k] & 3) > 1;
                if (p) A[k] = s;
                s += A[k - 1] + A[x & 15];
                if (!p) A[k] = -s;
                if (p) A[k - 1] = 3; else A[k] = 4;
                x = x * 3 + 1;
            }
            return s;
        }
        """,
        "L0",
    )
    assert len(stores(after, "A")) == 4


def test_loads_that_may_differ_stay_apart() -> None:
    after = assert_same_after(
        """
        int f(int A[16], int B[16], int x) {
            int s = 0;
            for (int i = 1; i < 16; i++) {
                if (A[i] > 3) { s += B[A[i] & 15]; A[i] = s & 7; s ^= B[A[i] & 15]; }
                if (x & 1) s += A[i]; else if (x & 2) s -= A[i];
                A[i - 1] = s;
                if (s & 1) s += A[i];
                x = x * 5 + 1;
                A[B[i] & 15] = x;
                if (s & 1) s += A[i];
            }
            return s;
        }
        """,
        "L0",
    )
    assert len(loads(after, "B")) == 3
    assert len(loads(after, "A")) >= 4


@pytest.mark.parametrize(
    ("statement", "cheap"),
    [
        ("if (x) y = x + 1;", True),
        ("if (x) { if (y) y = -y; else x = 3; }", True),
        ("if (x) y = x * 3;", False),
        ("if (x) g = g + 1.0f;", False),
        ("if (x) y = g > 1.0f;", False),
        ("if (x) y = (int)g;", False),
        ("if (x) g = 1.0f;", True),
        ("if (x) A[0] = 1;", False),
        ("if (x) { y = 1; x = 2; y = x + y; x = y; }", False),
    ],
)
def test_only_small_and_cheap_conditions_go_everywhere(statement: str, cheap: bool) -> None:
    source = f"float f(int x, int y, float g, int A[4]) {{ {statement} return g + x + y; }}"
    function = read_function(source, top="f")
    condition = next(s for s in ir.walk_statements(function.body) if isinstance(s, ir.If))
    assert is_cheap(condition) is cheap
    after = convert_ifs(function, frozenset())
    assert any(isinstance(s, ir.If) for s in ir.walk_statements(after.body)) is not cheap


def test_size_of_nested_conditions_stays_linear() -> None:
    depth = 40
    opening = "".join(f"if (A[{i % 8}] > {i}) {{ s += A[{i % 8}];" for i in range(depth))
    body = opening + "}" * depth
    source = f"int f(int A[8]) {{ int s = 0; for (int i = 0; i < 4; i++) {{ {body} }} return s; }}"
    before = read_function(source, top="f")
    after = convert_ifs(before, frozenset(("L0",)))
    nodes = sum(1 for _ in ir.all_expressions(after.body))
    assert nodes < 60 * depth
    assert_same_after(source, "L0", count=2)


def test_unrolled_bodies_with_conditions_convert() -> None:
    source = """
    void f(int A[8][8], int B[8]) {
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
                if (A[i][j] < 0) continue;
                if (A[i][j] > 9) break;
                B[j] += A[i][j];
            }
    }
    """
    before = read_function(source, top="f")
    flat = exits_to_flags(unroll_inner(before, "L0"), "L0")
    after = simplify(convert_ifs(flat, frozenset(("L0",))))
    assert [loop.name for loop in loops_inside(after.body)] == ["L0"]
    assert all(isinstance(s, ir.Assign | ir.Store) for s in find_loop(after, "L0").body)
    data = tuple(draw_arguments(before, seed) for seed in range(4))
    assert_all_same_meaning([Comparison(functions=(before, flat, after), data_sets=data)])


def test_value_that_only_the_next_iteration_reads_is_selected() -> None:
    assert_same_after(
        """
        int f(int A[16]) {
            int s = 0, t = 1;
            for (int i = 0; i < 16; i++) {
                s = s * 3 + t;
                if (A[i] > 3) t = A[i] * 2;
            }
            return s;
        }
        """,
        "L0",
    )
