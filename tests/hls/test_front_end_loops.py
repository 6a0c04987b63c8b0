"""Loops as the front end reads them: which are counted, their names, and directives in the source."""

from __future__ import annotations

import pytest

from pipelines.c import Directive, ir
from pipelines.c.frontend import read_function
from pipelines.c.signature import INT32, INT64, UINT8, UINT32, UINT64, ScalarType


def function_of(
    text: str, before: str = "", parameters: str = "int n, unsigned u, int A[64], int B[8]"
) -> ir.Function:
    return read_function(f"{before}\nint f({parameters})\n{{\n{text}\n return 0;\n}}\n", top="f")


def loops(
    text: str, before: str = "", parameters: str = "int n, unsigned u, int A[64], int B[8]"
) -> list[ir.Loop]:
    function = function_of(text, before, parameters)
    return [s for s in ir.walk_statements(function.body) if isinstance(s, ir.Loop)]


@pytest.mark.parametrize(
    ("header", "kind", "trips"),
    [
        ("for (unsigned char i = 0; i < 10; i++)", UINT8, 10),
        ("for (unsigned i = 2; i <= 10; i += 2)", UINT32, 5),
        ("for (long i = 10; i > 0; --i)", INT64, 10),
        ("for (unsigned long i = 0; i < sizeof(int) * 2; i++)", UINT64, 8),
        ("for (int i = 0; i < sizeof(int); i++)", INT32, 4),
        ("for (int i = 0; i < 8u; i = 2 + i)", INT32, 4),
        ("for (int i = 7; 0 <= i; i -= 1)", INT32, 8),
        ("for (int i = 0; i < u; i++)", INT32, None),
        ("for (unsigned i = 0; i < u; i += 4)", UINT32, None),
        ("for (int i = 0; i < B[2] / 3; i++)", INT32, None),
        ("for (unsigned char i = 0; i < (unsigned char)n; i++)", UINT8, None),
        ("int i, j; for (i = 0, j = 9; i < 5; i++)", INT32, 5),
        ("int i = 3; n = 4; for (; i < 5; i++)", INT32, 2),
        ("int i; for (i = 8; i--;)", INT32, 8),
        ("unsigned char i = 16; while (i--)", UINT8, 16),
        ("int i = 4; while (i-- > 0)", INT32, 4),
        ("int i = 4; while (--i)", INT32, 3),
        ("int i = 1; while (i < 9) { A[1] = i; i += 2; } while (n)", INT32, 4),
    ],
)
def test_loop_is_counted_in_its_own_type(header: str, kind: ScalarType, trips: int | None) -> None:
    loop = loops(f"{header} A[0] += 1;")[0]
    assert isinstance(loop, ir.For)
    assert {loop.variable.type, ir.type_of(loop.lower), ir.type_of(loop.upper)} == {kind}
    assert loop.trip_count == trips


@pytest.mark.parametrize(
    "loop",
    [
        "for (unsigned char i = 0; i < 256; i++) A[0]++;",
        "for (unsigned char i = 250; i <= 255; i++) A[0]++;",
        "for (unsigned i = 5; i != 0; i++) A[0]++;",
        "for (int i = 0; i < u; i++) if (A[i & 63]) break;",
        "for (float x = 0; x < 3; x++) A[0]++;",
        "for (int i = 1; i < 64; i *= 2) A[i]++;",
        "for (int i = 0; i < n && A[i & 63]; i++) A[0]++;",
        "for (int i = 0; i < n; i += u) A[0]++;",
        "while (n--) A[0]++;",
        "int i = 5; while (i--) i -= A[i & 3];",
        "int *p = A; for (; *p; p++) *p = 1;",
    ],
)
def test_loop_whose_count_is_not_known_to_be_exact_stays_conditional(loop: str) -> None:
    assert isinstance(loops(loop)[0], ir.While)


def test_bound_from_memory_is_read_once_before_the_loop() -> None:
    function = function_of("for (int i = A[0]; i < A[1]; i++) n += A[i & 63];")
    held, loop = function.body[0], function.body[1]
    assert isinstance(held, ir.Assign)
    assert isinstance(loop, ir.For)
    assert loop.upper == ir.Read(variable=held.variable)


def test_loop_names_count_loops_of_the_text_even_those_never_run() -> None:
    text = "if (0) { for (;;) n++; } for (int i = 0; i < 3; i++) { x: while (n) n--; } do n++; while (n < 0);"
    assert [loop.name for loop in loops(text)] == ["L1", "x", "L3"]


def test_loops_of_called_functions_are_named_by_the_function() -> None:
    before = """
    static int inner(int x) { for (int i = 0; i < 3; i++) x += i; return x; }
    static int g(int x) { here: for (int i = 0; i < 3; i++) x += inner(x); do x--; while (x > 9); return x; }
    """
    names = [loop.name for loop in loops("n = g(n) + g(u); for (;;) break;", before)]
    assert names == ["g_here", "inner_L0", "g_L1", "g_here_1", "inner_L0_1", "g_L1_1", "L0"]


def test_argument_that_nothing_changes_keeps_loops_of_a_called_function_counted() -> None:
    before = "static int g(int m, int *row) { int s = 0; for (int i = 0; i < m; i++) s += row[i]; return s; }"
    loop = loops("for (int k = 0; k < 4; k++) n += g(16, A + 16 * k);", before)[1]
    assert isinstance(loop, ir.For)
    assert loop.trip_count == 16
    index = next(e.indices[0] for e in ir.all_expressions(loop.body) if isinstance(e, ir.Load))
    read = {e.variable.name for e in ir.walk_expressions(index) if isinstance(e, ir.Read)}
    assert read == {"k", "i"}


@pytest.mark.parametrize(
    ("text", "directives"),
    [
        (
            "#pragma omp parallel for num_threads(2)\nx: for (int i = 0; i < 4; i++) A[i] = 0;",
            {Directive(kind="parallel", loop="x", value=2)},
        ),
        (
            "x:\n#pragma ACCEL pipeline flatten\nfor (int i = 0; i < 4; i++) A[i] = 0;",
            {Directive(kind="pipeline", loop="x", style="flatten")},
        ),
        (
            "#pragma ACCEL cache variable=C\n#pragma ACCEL tile factor=4\nfor (int i = 0; i < 4; i++) n++;",
            {Directive(kind="cache", loop="L0", variable="C_1"), Directive(kind="tile", loop="L0", value=4)},
        ),
        (
            "#pragma ACCEL parallel reduction=n\nfor (int i = 0; i < 4; i++) n += A[i];",
            {Directive(kind="reduction", loop="L0", variable="n")},
        ),
        (
            "while (n > 0) {\n#pragma HLS unroll factor=2\n#pragma HLS PIPELINE II=3\nn -= A[0];}",
            {Directive(kind="unroll", loop="L0", value=2), Directive(kind="pipeline", loop="L0", value=3)},
        ),
        (
            "for (int i = 0; i < 4; i++)\n#pragma HLS unroll\n A[i] = 0;",
            {Directive(kind="unroll", loop="L0")},
        ),
    ],
)
def test_pragma_belongs_to_its_loop(text: str, directives: set[Directive]) -> None:
    nest = loops("{ int C; C = n; A[1] = C; } int C[4]; C[0] = n; A[2] = C[n & 3];" + text)
    assert set(nest[0].directives) == directives


def test_array_directives_name_arrays_as_the_function_does() -> None:
    before = """
    static void g(int *row)
    {
    #pragma HLS array_partition variable=row type=cyclic factor=2 dim=1
        int local[4] = {0};
    #pragma HLS array_partition variable=local complete
        local[row[0] & 3] += 1;
        row[1] = local[2];
    }
    """
    function = function_of("int local[2]; local[n & 1] = 1; A[3] = local[0]; g(A);", before)
    actual = {(d.kind, d.variable, d.style, d.value) for d in function.directives}
    assert actual == {("partition", "A", "cyclic", 2), ("partition", "local_1", "complete", None)}
    assert {a.name for a in function.arrays} >= {"A", "local", "local_1"}


def test_unknown_pragmas_are_kept_with_their_lines() -> None:
    function = function_of(
        "#pragma scop\nn = 1;\n#pragma HLS pipeline II=x\nfor (;;) break;\n#pragma endscop"
    )
    assert function.ignored_pragmas == (("scop", 4), ("HLS pipeline II=x", 6), ("endscop", 8))
