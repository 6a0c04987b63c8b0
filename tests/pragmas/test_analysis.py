"""Facts of small programs, each known by hand."""

from __future__ import annotations

from fractions import Fraction

from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.summary import (
    RAW,
    READ,
    ROOT,
    WAR,
    WAW,
    WRITE,
    Access,
    Affine,
    Dependence,
    Operation,
    Summary,
)


def loops_of(summary: Summary) -> dict[str, tuple[bool, bool, int | None]]:
    return {name: (loop.parallel, loop.reduction, loop.distance) for name, loop in summary.loops.items()}


def on(*terms: tuple[str, int], constant: int = 0) -> Affine:
    return Affine(terms=terms, constant=constant)


def body(text: str, parameters: str = "int y[100], int x[100]") -> Summary:
    return summarise(f"void f({parameters}) {{ {text} }}", "f")


PARALLEL, REDUCTION = (True, False, None), (False, True, None)
ROW, COLUMN, DEPTH = on(("L0", 1)), on(("L1", 1)), on(("L2", 1))

PRODUCT = """
void product(float C[8][10], float A[8][12], float B[12][10]) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 10; j++) {
            C[i][j] = 0;
            for (int k = 0; k < 12; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
}
"""


# ---- the tree -------------------------------------------------------------------------------------------


def test_summary_of_a_matrix_product_has_its_tree_and_trip_counts() -> None:
    summary = summarise(PRODUCT)
    assert summary.top == "product"
    assert summary.body == ("L0",)
    assert [loop.children for loop in summary.loops.values()] == [("L1",), (0, "L2"), (1,)]
    assert [loop.parent for loop in summary.loops.values()] == [None, "L0", "L1"]
    assert [loop.line for loop in summary.loops.values()] == [3, 4, 6]
    assert [loop.iterator for loop in summary.loops.values()] == ["i", "j", "k"]
    counts = [(p.trip_count_min, p.trip_count_max, p.executions) for p in summary.loops.values()]
    assert counts == [(8, 8, 1), (10, 10, 8), (12, 12, 80)]
    assert [s.loops for s in summary.statements] == [("L0", "L1"), ("L0", "L1", "L2")]
    assert [s.line for s in summary.statements] == [5, 7]


def test_a_labelled_loop_is_called_by_its_label() -> None:
    summary = body("rows: for (int i = 0; i < 9; i++) y[i] = 1;")
    assert list(summary.loops) == ["rows"]


def test_a_triangular_nest_has_its_exact_trip_counts() -> None:
    summary = body(
        "for (int i = 0; i < 10; i++) for (int j = 0; j < i; j++) for (int k = j; k <= i; k++) y[k] += 1;"
    )
    outer, middle, inner = summary.loops.values()
    assert outer.constant
    assert not middle.constant
    assert (middle.trip_count_min, middle.trip_count_max, middle.trip_count_average) == (0, 9, Fraction(9, 2))
    assert (inner.trip_count_min, inner.trip_count_max, inner.executions) == (2, 10, 45)
    assert inner.trip_count_average == Fraction(sum(i - j + 1 for i in range(10) for j in range(i)), 45)


def test_trip_counts_of_loops_with_other_steps_and_bounds() -> None:
    summary = body(
        """for (int i = 90; i > 3; i -= 4) y[i] = 1;
           for (int i = 0; i < 60; i++) for (int j = i; j < 60; j += 7) x[j] = i;
           for (int i = 0; i < 60; i++) for (int j = 0; j < (i < 20 ? i : 20); j++) x[j] = i;"""
    )
    counts = [(p.trip_count_min, p.trip_count_max, p.trip_count_average) for p in summary.loops.values()]
    sevenths = [len(range(i, 60, 7)) for i in range(60)]
    least = [min(i, 20) for i in range(60)]
    assert counts == [
        (22, 22, 22),
        (60, 60, 60),
        (min(sevenths), max(sevenths), Fraction(sum(sevenths), 60)),
        (60, 60, 60),
        (0, 20, Fraction(sum(least), 60)),
    ]


def test_trip_counts_of_bounds_that_mention_two_loops() -> None:
    summary = body(
        """for (int i = 0; i < 9; i++) for (int j = 0; j < 7; j++)
               for (int k = 0; k < i + j - 3; k++) for (int l = 0; l < k + i; l++) y[l] = 1;"""
    )
    middle = [max(0, i + j - 3) for i in range(9) for j in range(7)]
    inner = [k + i for i in range(9) for j in range(7) for k in range(i + j - 3)]
    found = summary.loops["L2"]
    assert (found.trip_count_min, found.trip_count_max) == (0, 11)
    assert found.trip_count_average == Fraction(sum(middle), 63)
    found = summary.loops["L3"]
    assert (found.trip_count_min, found.trip_count_max, found.executions) == (
        min(inner),
        max(inner),
        len(inner),
    )
    assert found.trip_count_average == Fraction(sum(inner), len(inner))


def test_a_decreasing_loop_counts_and_carries_like_any_other() -> None:
    summary = body("for (int i = 97; i >= 0; i--) y[i] = y[i + 2] * 3;")
    (loop,) = summary.loops.values()
    assert (loop.trip_count_max, loop.distance) == (98, 2)
    assert summary.statements[0].accesses == (
        Access(array="y", kind=READ, subscripts=(on(("L0", 1), constant=2),)),
        Access(array="y", kind=WRITE, subscripts=(on(("L0", 1)),)),
    )


def test_macros_are_set_before_the_text() -> None:
    text = "#ifndef N\n#define N 4\n#endif\nvoid f(int y[N]) { for (int i = 0; i < N; i++) y[i] = 1; }"
    assert summarise(text).loops["L0"].trip_count_max == 4
    summary = summarise(text, defines={"N": 9})
    assert (summary.loops["L0"].trip_count_max, summary.loops["L0"].line) == (9, 4)


# ---- dependences and what they mean ---------------------------------------------------------------------


def test_a_matrix_product_is_parallel_but_for_its_sum() -> None:
    summary = summarise(PRODUCT)
    assert loops_of(summary) == {"L0": PARALLEL, "L1": PARALLEL, "L2": REDUCTION}
    assert summary.statements[1].reduction_loops == {"L2"}
    own = {"array": "C", "loop": "L2", "distance": 1, "reduction": True}
    assert summary.dependences == (
        Dependence(source=0, target=1, kind=RAW, array="C", loop=None, chain=0),
        Dependence(source=0, target=1, kind=WAW, array="C", loop=None),
        Dependence(source=1, target=1, kind=RAW, chain=1, **own),
        Dependence(source=1, target=1, kind=WAW, **own),
    )


def test_a_stencil_over_time_waits_for_the_step_before() -> None:
    summary = body(
        """for (int t = 0; t < 5; t++) {
               for (int i = 1; i < 99; i++) y[i] = x[i - 1] + x[i] + x[i + 1];
               for (int i = 1; i < 99; i++) x[i] = y[i - 1] + y[i] + y[i + 1];
           }"""
    )
    assert loops_of(summary) == {"L0": (False, False, 1), "L1": PARALLEL, "L2": PARALLEL}
    kinds = {(d.source, d.target, d.kind, d.array, d.loop) for d in summary.dependences}
    assert kinds == {
        (0, 1, RAW, "y", None),
        (0, 1, WAR, "x", None),
        (1, 0, RAW, "x", "L0"),
        (1, 0, WAR, "y", "L0"),
        (0, 0, WAW, "y", "L0"),
        (1, 1, WAW, "x", "L0"),
    }


def test_a_triangular_solver_has_no_chain_of_one_distance() -> None:
    summary = body(
        """for (int i = 0; i < 100; i++) {
               x[i] = b[i];
               for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
               x[i] = x[i] / L[i][i];
           }""",
        "double L[100][100], double x[100], double b[100]",
    )
    assert loops_of(summary) == {"L0": (False, False, None), "L1": REDUCTION}
    assert summary.statements[1].reduction_loops == {"L1"}
    assert [o.kind for o in summary.statements[1].operations if o.reduction] == ["sub"]


def test_sums_over_rows_and_columns_are_reductions_over_their_own_loops() -> None:
    summary = body(
        """for (int i = 0; i < 30; i++) {
               t[i] = 0;
               for (int j = 0; j < 40; j++) t[i] += A[i][j] * x[j];
               for (int j = 0; j < 40; j++) y[j] += A[i][j] * t[i];
           }""",
        "double A[30][40], double x[40], double y[40], double t[30]",
    )
    assert loops_of(summary) == {"L0": REDUCTION, "L1": REDUCTION, "L2": PARALLEL}
    assert [s.reduction_loops for s in summary.statements] == [frozenset(), {"L1"}, {"L0"}]


def test_a_recurrence_of_distance_two() -> None:
    summary = body("for (int j = 2; j < 100; j++) y[j] = y[j - 2] + 3;")
    assert loops_of(summary) == {"L0": (False, False, 2)}
    assert summary.dependences == (
        Dependence(source=0, target=0, kind=RAW, array="y", loop="L0", distance=2, chain=2),
    )


def test_the_distance_is_of_the_whole_way_around_a_cycle() -> None:
    summary = body("for (int i = 3; i < 100; i++) { x[i] = y[i - 1]; y[i] = x[i - 2]; }")
    assert loops_of(summary) == {"L0": (False, False, 3)}


def test_a_dependence_that_does_not_come_back_has_no_distance() -> None:
    summary = body(
        "for (int i = 1; i < 100; i++) { x[i] = z[i]; y[i] = x[i - 1]; }",
        "int x[100], int y[100], int z[100]",
    )
    assert loops_of(summary) == {"L0": (False, False, None)}


def test_reading_ahead_orders_a_loop_but_has_no_distance() -> None:
    summary = body("for (int i = 0; i < 99; i++) y[i] = y[i + 1] + 1;")
    assert loops_of(summary) == {"L0": (False, False, None)}
    assert [(d.kind, d.loop, d.distance) for d in summary.dependences] == [(WAR, "L0", 1)]


def test_accesses_that_never_meet_are_independent() -> None:
    assert loops_of(body("for (int i = 0; i < 49; i++) y[2 * i] = y[2 * i + 1];")) == {"L0": PARALLEL}
    assert loops_of(body("for (int i = 0; i < 50; i++) y[i] = y[i + 50];")) == {"L0": PARALLEL}


def test_scalars_that_each_iteration_sets_make_no_loop_wait() -> None:
    summary = body("int s; for (int i = 0; i < 9; i++) { s = x[i] * 3; y[i] = s * s; }")
    assert loops_of(summary) == {"L0": PARALLEL}
    assert [(d.kind, d.array, d.loop) for d in summary.dependences] == [(RAW, "s", None)]


def test_a_local_array_that_each_iteration_fills_makes_no_loop_wait() -> None:
    filled = """for (int i = 0; i < 9; i++) {
                    for (int j = 0; j < 50; j++) z[j] = x[j] + i;
                    for (int j = 0; j < 50; j++) A[i][j] = z[49 - j];
                }"""
    assert loops_of(body(f"int z[50]; {filled}", "int x[100], int A[9][50]"))["L0"] == PARALLEL
    assert loops_of(body(filled, "int x[100], int A[9][50], int z[50]"))["L0"] == (False, False, None)


def test_a_running_sum_that_is_stored_is_no_reduction() -> None:
    summary = body("int s = 0; for (int i = 0; i < 9; i++) { s += x[i]; y[i] = s; }")
    assert loops_of(summary) == {"L0": (False, False, 1)}
    assert not any(o.reduction for s in summary.statements for o in s.operations)


def test_a_sum_that_is_stored_outside_of_its_loop_is_a_reduction_over_that_loop_alone() -> None:
    summary = body(
        "int s = 0; for (int i = 0; i < 9; i++) { for (int j = 0; j < 8; j++) s += x[j]; y[i] = s; }"
    )
    assert loops_of(summary) == {"L0": (False, False, 1), "L1": REDUCTION}


def test_a_sum_over_two_loops_is_a_reduction_over_both() -> None:
    summary = body("int s = 0; for (int i = 0; i < 9; i++) for (int j = 0; j < 8; j++) s += x[j]; y[0] = s;")
    assert loops_of(summary) == {"L0": REDUCTION, "L1": REDUCTION}
    assert summary.statements[1].reduction_loops == {"L0", "L1"}


def test_extremes_and_products_are_reductions() -> None:
    summary = body(
        """float low = 0, high = 0, all = 1;
           for (int i = 0; i < 9; i++) low = x[i] < low ? x[i] : low;
           for (int i = 0; i < 9; i++) high = high > x[i] ? high : x[i];
           for (int i = 0; i < 9; i++) all *= x[i];
           x[0] = low; x[1] = high; x[2] = all;""",
        "float x[100]",
    )
    assert loops_of(summary) == {"L0": REDUCTION, "L1": REDUCTION, "L2": REDUCTION}
    marked = [[o.kind for o in s.operations if o.reduction] for s in summary.statements if s.loops]
    assert marked == [["compare", "select"], ["compare", "select"], ["mul"]]


def test_an_accumulation_that_another_statement_begins_in_the_loop_is_no_reduction_loop() -> None:
    summary = body("for (int i = 0; i < 9; i++) { y[i] = i; y[0] = y[0] + x[i]; }")
    assert loops_of(summary) == {"L0": (False, False, None)}


def test_a_sum_that_meets_its_own_place_among_its_terms_is_no_reduction() -> None:
    assert loops_of(body("for (int i = 0; i < 9; i++) y[3] = y[3] + y[i];")) == {"L0": (False, False, 1)}
    assert loops_of(body("for (int i = 4; i < 9; i++) y[3] = y[3] + y[i];")) == {"L0": REDUCTION}


def test_other_uses_of_the_own_value_are_no_reductions() -> None:
    for update in ("s = x[i] - s", "s = s + s * x[i]", "s = s / x[i]", "s = x[i] + y[i]"):
        summary = body(
            f"float s = 0; for (int i = 0; i < 9; i++) {update}; y[0] = s;", "float x[9], float y[9]"
        )
        assert not summary.loops["L0"].reduction, update


def test_two_updates_of_one_variable_are_one_reduction() -> None:
    summary = body(
        "int s = 0; for (int i = 0; i < 9; i++) { s += x[i]; y[i] = x[i]; s -= x[i + 1]; } y[0] = s;"
    )
    updates = [s for s in summary.statements if s.reduction_loops]
    assert len(updates) == 1
    assert summary.loops["L0"].distance is None


def test_updates_with_a_use_or_a_change_between_them_stay_apart() -> None:
    for between in ("y[i] = s;", "x[i + 1] = y[i];"):
        text = f"int s = 0; for (int i = 0; i < 9; i++) {{ s += x[i]; {between} s -= x[i + 1]; }} y[0] = s;"
        summary = body(text)
        assert (
            sum(any(a.array == "s" and a.kind == WRITE for a in s.accesses) for s in summary.statements) == 3
        )


def test_an_accumulation_over_temporaries_is_one_statement() -> None:
    summary = body(
        """for (int i = 0; i < 9; i++)
               for (int j = 0; j < 8; j++) { float t = y[i]; float e = x[j] * 3; t = t + e; y[i] = t; }""",
        "float x[100], float y[100]",
    )
    assert loops_of(summary) == {"L0": PARALLEL, "L1": REDUCTION}
    assert [s.accesses[-1].array for s in summary.statements] == ["y"]
    summary = body(
        """for (int i = 0; i < 9; i++)
               for (int j = 0; j < 8; j++) { float e = x[j] * 3; float t = y[i]; t = t + e; y[i] = t; }""",
        "float x[100], float y[100]",
    )
    assert loops_of(summary) == {"L0": PARALLEL, "L1": REDUCTION}
    assert [s.accesses[-1].array for s in summary.statements] == ["e", "y"]


# ---- operations -----------------------------------------------------------------------------------------


def test_operations_of_a_product_and_sum() -> None:
    statement = summarise(PRODUCT).statements[1]
    assert statement.accesses == (
        Access(array="A", kind=READ, subscripts=(ROW, DEPTH)),
        Access(array="B", kind=READ, subscripts=(DEPTH, COLUMN)),
        Access(array="C", kind=READ, subscripts=(ROW, COLUMN)),
        Access(array="C", kind=WRITE, subscripts=(ROW, COLUMN)),
    )
    assert statement.operations == (
        Operation(kind="load", type="float", access=0),
        Operation(kind="load", type="float", access=1),
        Operation(kind="mul", type="float", operands=(0, 1)),
        Operation(kind="load", type="float", access=2),
        Operation(kind="add", type="float", operands=(3, 2), reduction=True),
        Operation(kind="store", type="float", operands=(4,), access=3),
    )


def test_a_sum_of_many_terms_has_one_operation_on_the_way_from_value_to_value() -> None:
    summary = body(
        "float s = 0; for (int i = 0; i < 9; i++) s = s - x[i] + y[i]; y[0] = s;", "float x[9], float y[9]"
    )
    arithmetic = [(o.kind, o.reduction) for o in summary.statements[1].operations if o.access is None]
    assert arithmetic == [("sub", False), ("sub", True)]  # s - (x[i] - y[i])


def kinds(
    expression: str, parameters: str = "double y[100], float x[100], int n[100], double a"
) -> list[str]:
    summary = body(f"for (int i = 0; i < 50; i++) y[i] = {expression};", parameters)
    return [f"{o.kind} {o.type}" for o in summary.statements[0].operations if o.access is None]


def test_conversions_between_integers_and_floating_numbers_count() -> None:
    assert kinds("x[i]") == ["cast double"]
    assert kinds("n[i]") == ["cast double"]
    assert kinds("(int) x[i]") == ["cast int32", "cast double"]
    assert kinds("n[i]", "long y[100], int n[100]") == []


def test_what_depends_on_counters_alone_costs_nothing() -> None:
    assert kinds("n[2 * i + 1]", "int y[100], int n[100]") == []
    assert kinds("(i * 3 + 1) % 7 + n[i]", "int y[100], int n[100]") == ["add int32"]
    assert kinds("i * 0.1", "double y[100]") == ["cast double", "mul double"]


def test_what_is_the_same_in_the_whole_program_costs_nothing() -> None:
    assert kinds("y[i] * (a * a)") == ["mul double"]


def test_equal_values_are_one_operation() -> None:
    assert kinds("(y[i] - a) * (y[i] - a)") == ["sub double", "mul double"]


def test_operations_with_a_constant_have_kinds_of_their_own() -> None:
    assert kinds("y[i] / 3.0") == ["div_constant double"]
    assert kinds("y[i] * 3.0") == ["mul double"]
    assert kinds("y[i] * 2.0") == ["mul_constant double"]
    assert kinds("n[i] * 3 + n[i] / 5 + n[i] % 7", "int y[100], int n[100]") == [
        "mul_constant int32",
        "div_constant int32",
        "add int32",
        "rem_constant int32",
        "add int32",
    ]


# ---- arrays ---------------------------------------------------------------------------------------------


def test_elements_of_a_matrix_product() -> None:
    summary = summarise(PRODUCT)
    facts = {a.name: (a.live_in, a.live_out, a.elements_in, a.elements_out) for a in summary.arrays.values()}
    assert facts == {"C": (False, True, 0, 80), "A": (True, False, 96, 0), "B": (True, False, 120, 0)}
    assert summary.arrays["A"].shape == (8, 12)
    assert (summary.arrays["A"].type, summary.arrays["A"].element_bits) == ("float", 32)
    expected = {ROOT: (80, 96, 120), "L0": (10, 12, 120), "L1": (1, 12, 12), "L2": (1, 1, 1)}
    for place, sizes in expected.items():
        assert tuple(summary.footprints[place, name] for name in "CAB") == sizes


def test_elements_that_are_read_before_they_are_written() -> None:
    summary = body("for (int i = 0; i < 50; i++) y[i] = 1; for (int i = 30; i < 80; i++) x[i] = y[i];")
    assert (summary.arrays["y"].elements_in, summary.arrays["y"].elements_out) == (30, 50)


def test_scalars_are_arrays_without_dimensions() -> None:
    summary = summarise(
        "float f(float a, float x[9]) { float s = 0; for (int i = 0; i < 9; i++) s += a * x[i]; return s; }"
    )
    facts = {a.name: (a.shape, a.external, a.live_in, a.live_out) for a in summary.arrays.values()}
    assert facts["a"] == ((), True, True, False)
    assert facts["s"] == ((), False, False, False)
    assert facts["return"] == ((), True, False, True)


def test_footprints_count_distinct_elements() -> None:
    summary = body(
        """for (int i = 1; i < 99; i++) {
               y[i] = A[i][i - 1] + A[i][i] + A[i + 1][i];
               for (int j = 1; j < 9; j++) y[i] += A[i][j - 1] + A[i][j + 1] + x[2 * j];
           }""",
        "int y[100], int x[100], int A[100][100]",
    )
    assert summary.footprints["L1", "A"] == 2
    assert summary.footprints["L1", "x"] == 1
    assert summary.footprints["L0", "x"] == 8
    assert summary.footprints["L0", "A"] == 10 + 3  # columns 0 to 9, and three around the diagonal
    assert summary.footprints[ROOT, "x"] == 8


def test_the_footprint_of_a_triangular_loop_is_of_its_largest_iteration() -> None:
    summary = body(
        """for (int i = 0; i < 60; i++) for (int j = 0; j <= i; j++) y[i] += A[i][j];
           for (int i = 0; i < 60; i++) for (int j = i; j < 60; j++) x[i] += A[j][i];""",
        "int y[100], int x[100], int A[60][60]",
    )
    assert summary.footprints["L0", "A"] == 60
    assert summary.footprints["L2", "A"] == 60
    assert summary.footprints[ROOT, "A"] == summary.arrays["A"].elements_in == 60 * 61 // 2
