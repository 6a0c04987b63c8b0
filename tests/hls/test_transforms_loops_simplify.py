"""Simplification: folding, removal, and unchanged meaning."""

from __future__ import annotations

import pytest
from random_ir import check_valid
from transform_support import assert_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.analysis.copying import loops_inside
from pipelines.c.analysis.folding import canonical_sum, interval_of
from pipelines.c.analysis.simplify import simplify
from pipelines.c.signature import INT64, UINT8
from pipelines.hls.transforms.ifconversion import convert_ifs
from pipelines.hls.transforms.nests import flatten_nest
from pipelines.hls.transforms.unroll import unroll_loop
from tests.hls.ctext import c_function


def simplified(source: str, *, count: int = 3) -> ir.Function:
    """The simplified program; its meaning must not change."""
    before = read_function(source, top="f")
    after = simplify(before)
    check_valid(after)
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(count)])
    return after


def text(function: ir.Function) -> str:
    return c_function(function, name="f")


def kinds(function: ir.Function) -> list[str]:
    return [type(s).__name__ for s in ir.walk_statements(function.body)]


def result(function: ir.Function) -> ir.Expression | None:
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    return last.value


def test_constants_and_copies_pass_through_assignments() -> None:
    after = simplified("int f(int x) { int a = 3, b = a + 4, c = x, d = c; return b * 10 + (d - c) + d; }")
    assert kinds(after) == ["Return"]
    assert "70" in text(after)


def test_copy_ends_when_its_source_changes() -> None:
    source = "int f(int x, int y) { int a = x; if (y > 0) x = a + 1; return a * 100 + x; }"
    assert "a * " in text(simplified(source)).replace("(uint32_t)", "")


def test_both_branches_setting_the_same_value_keep_it() -> None:
    after = simplified(
        "int f(int x, int y) { int a = 1, b; if (x > y) { a = 4; b = y; } else { a = 4; b = y; }"
        " return a * b; }"
    )
    value = result(after)
    assert isinstance(value, ir.Binary)
    assert value.right == ir.Constant(value=4)


def test_constant_condition_leaves_one_branch() -> None:
    after = simplified("int f(int x) { int k = 2; if (k * 2 == 4) x += k; else x = 0; return x; }")
    assert kinds(after) == ["Assign", "Return"]


def test_what_a_loop_changes_is_not_known_in_it() -> None:
    after = simplified(
        "int f(int n) { int a = 1, b = 2; for (int i = 0; i < 4; i++) { a += b; } return a * b; }"
    )
    assert "a + " in text(after).replace("(uint32_t)", "")
    assert "b" not in {s.variable.name for s in ir.walk_statements(after.body) if isinstance(s, ir.Assign)}


def test_bound_is_not_replaced_by_a_variable_that_the_loop_changes() -> None:
    simplified(
        "int f(int n) { int m = n & 7, k = m, s = 0; for (int i = 0; i < k; i++) { m = s; s += i; }"
        " return s + m; }"
    )


def test_loops_of_one_and_of_no_iteration_are_gone() -> None:
    source = """
    int f(int x) {
        int s = x, i, j;
        for (i = 3; i < 4; i++) s += i;
        for (j = 5; j < 5; j++) s *= 2;
        do { s += 1; } while (0);
        while (x != x) s = 0;
        return s * 100 + i * 10 + j;
    }
    """
    assert not loops_inside(simplified(source).body)


def test_comparisons_of_loop_variables_are_decided_by_their_range() -> None:
    source = """
    int f(int A[16], int n) {
        int s = 0;
        for (int i = 0; i < 8; i++)
            for (int j = i; j < 10; j++) {
                if (i + 7 < j * 2 + 100) s += A[j];
                if (i * 2 >= 16) s = -1;
                s += j < 12 ? A[i] : n;
            }
        return s;
    }
    """
    after = simplified(source)
    assert "If" not in kinds(after)
    assert not any(isinstance(e, ir.Select) for e in ir.all_expressions(after.body))


def test_indices_of_unrolled_copies_are_sums_in_one_order() -> None:
    source = "void f(int A[32], int B[64]) { for (int i = 0; i < 16; i++) A[i] = B[2 * (i + 1) - 1 + i]; }"
    function = simplify(unroll_loop(read_function(source, top="f"), "L0", 4))
    loads = [e for e in ir.all_expressions(function.body) if isinstance(e, ir.Load)]
    lines = {c_function_of_index(load.indices[0]) for load in loads}
    assert lines == {"3*i+1", "3*i+4", "3*i+7", "3*i+10"}


def c_function_of_index(index: ir.Expression) -> str:
    assert isinstance(index, ir.Binary)
    assert isinstance(index.left, ir.Binary)
    assert isinstance(index.left.left, ir.Read)
    assert isinstance(index.left.right, ir.Constant)
    assert isinstance(index.right, ir.Constant)
    return f"{index.left.right.value}*{index.left.left.variable.name}+{index.right.value}"


def test_element_that_is_certainly_there_is_fetched_without_a_condition() -> None:
    after = simplified(
        """
        int f(int A[16], int B[16], int x) {
            int s = 0;
            for (int i = 0; i < 15; i++)
                s += (x > i && A[i + 1] > 3) + (x > i && B[i + 2] > 3) + (i > 0 && A[i - 1] < x);
            return s;
        }
        """
    )
    loads = [e for e in ir.all_expressions(after.body) if isinstance(e, ir.Load)]
    guarded = {(load.array.name, load.predicate is not None) for load in loads}
    assert guarded == {("A", False), ("B", True), ("A", True)}


def test_ranges_of_a_flattened_nest_hold_until_its_variables_step() -> None:
    source = """
    int f(int A[4][6], int x) {
        int s = 0;
        for (int i = 0; i < 4; i++) {
            if (x & 1) s += A[i][0];
            for (int j = 0; j < 6; j++)
                s = s * 3 + (x > j && A[i][j] > 2);
        }
        return s;
    }
    """
    before = read_function(source, top="f")
    after = simplify(convert_ifs(flatten_nest(before, "L1"), frozenset(("L1",))))
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(3)])
    assert all(e.predicate is None for e in ir.all_expressions(after.body) if isinstance(e, ir.Load))


def test_equal_sums_are_equal_expressions() -> None:
    i, j = (ir.Read(variable=ir.Variable(name=n)) for n in "ij")
    four = ir.Constant(value=4)

    def binary(operator: str, left: ir.Expression, right: ir.Expression) -> ir.Binary:
        return ir.Binary(operator=operator, left=left, right=right)

    first = binary("sub", binary("add", binary("mul", i, four), j), binary("mul", j, four))
    wide = [ir.Cast(operand=v, type=INT64) for v in (i, j)]
    shifted = ir.Binary(operator="shl", left=wide[0], right=ir.Constant(value=2, type=INT64), type=INT64)
    three = ir.Binary(operator="mul", left=wide[1], right=ir.Constant(value=3, type=INT64), type=INT64)
    total = ir.Binary(operator="sub", left=shifted, right=three, type=INT64)
    second = ir.Cast(operand=total, type=ir.INT32)
    assert canonical_sum(first) == canonical_sum(second)
    assert canonical_sum(canonical_sum(first)) is not None
    assert canonical_sum(binary("sub", i, i)) == ir.Constant(value=0)


def test_range_of_what_may_wrap_is_that_of_its_type() -> None:
    u = ir.Read(variable=ir.Variable(name="u", type=UINT8))
    total = ir.Binary(operator="add", left=u, right=ir.Constant(value=9, type=UINT8), type=UINT8)
    assert interval_of(total, {}) == (0, 255)
    assert interval_of(total, {"u": (1, 6)}) == (10, 15)


def test_minimum_within_reach_is_decided() -> None:
    source = """
    int f(int A[32]) {
        int s = 0;
        for (int t = 0; t < 32; t += 8)
            for (int i = t; i < (t + 8 < 32 ? t + 8 : 32); i++) s += A[i] * i;
        for (int t = 0; t < 24; t += 8)
            for (int i = t; i < (t + 8 < 32 ? t + 8 : 32); i++) s += A[i] * i;
        return s;
    }
    """
    selections = [e for e in ir.all_expressions(simplified(source).body) if isinstance(e, ir.Select)]
    assert len(selections) == 1


def test_dead_variables_go_even_when_they_feed_themselves() -> None:
    body = "dead += A[i] * dead; s += i;"
    after = simplified(
        f"int f(int A[8]) {{ int dead = 0, s = 0; for (int i = 0; i < 8; i++) {{ {body} }} return s; }}"
    )
    assert not any(isinstance(e, ir.Load) for e in ir.all_expressions(after.body))


def test_local_array_that_nothing_loads_is_gone() -> None:
    after = simplified("int f(int x) { int T[4]; for (int i = 0; i < 4; i++) T[i] = x; return x; }")
    assert (after.arrays, kinds(after)) == ((), ["Return"])


def test_table_at_a_constant_index_is_a_constant() -> None:
    after = simplified("int f(int x) { const int T[4] = {3, 1, 4, 1}; int s = x; s += T[2]; return s; }")
    assert "4" in text(after)
    assert after.arrays == ()


def test_blocks_nobody_leaves_are_gone() -> None:
    after = simplified(
        "int f(int x) { switch (x & 1) { case 0: x += 3; break; default: x -= 3; break; } return x; }"
    )
    assert not {"Leave", "Block"} & set(kinds(after))


def test_code_after_a_sure_exit_is_gone() -> None:
    after = simplified(
        "int f(int x) { while (1) { x -= 3; if (x < 4) break; continue; x = 100; } return x; }", count=4
    )
    assert "100" not in text(after)


def test_floating_arithmetic_stays_as_written() -> None:
    after = simplified(
        "float f(float x) { float y = x * 1.0f + 0.0f; float z = x - x; return y + z + 0.1f * 3.0f; }"
    )
    assert sum(isinstance(e, ir.Binary) for e in ir.all_expressions(after.body)) >= 5


def test_operand_that_takes_the_place_of_an_operator_is_not_taken_for_it() -> None:
    after = simplified("int f(int x, float y) { int zero = 0; return (zero | (y > y)) + (zero ^ (x - x)); }")
    assert "y > y" in text(after)


def test_simplifying_twice_changes_nothing_more() -> None:
    for source in (
        "int f(int A[8]) { int s = 0; for (int i = 0; i < 8; i++) { if (A[i]) break; s += i; } return s; }",
        "void f(int A[8][8]) { for (int i = 0; i < 8; i++) for (int j = 0; j < i; j++) A[j][i] = A[i][j]; }",
    ):
        once = simplified(source)
        assert simplify(once) == once


@pytest.mark.parametrize("statements", [2000, 8000])
def test_long_bodies_are_followed_in_one_pass(statements: int) -> None:
    lines = "".join(
        f"t = A[{i % 8}] + s; if (t > {i}) s = t; else s = s ^ {i};" for i in range(statements // 4)
    )
    function = read_function(f"int f(int A[8]) {{ int s = 0, t; {lines} return s; }}", top="f")
    after = simplify(function)
    assert len(after.body) >= statements // 2
