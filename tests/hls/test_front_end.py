"""The C front end: accepted programs, and refusals with their lines."""

from __future__ import annotations

import pytest

from pipelines.c import Directive, interface_of, ir, read_function


def body_of(text: str, parameters: str = "int n, int A[8]") -> str:
    return f"int f({parameters})\n{{\n{text}\n return 0;\n}}\n"


def loops(source: str) -> list[ir.For | ir.While]:
    function = read_function(source, top="f")
    return [s for s in ir.walk_statements(function.body) if isinstance(s, ir.For | ir.While)]


@pytest.mark.parametrize(
    ("header", "trips"),
    [
        ("for (int i = 0; i < 8; i++)", 8),
        ("for (int i = 0; i <= 8; i += 2)", 5),
        ("for (int i = 7; i >= 0; i--)", 8),
        ("for (int i = 7; 0 < i; --i)", 7),
        ("for (int i = 0; i != 9; i += 3)", 3),
        ("for (int i = 5; i < 5; i++)", 0),
        ("for (int i = 0; i < n; i++)", None),
    ],
)
def test_counted_loop_knows_its_trips(header: str, trips: int | None) -> None:
    (loop,) = loops(body_of(f"{header} A[0] = 1;"))
    assert isinstance(loop, ir.For)
    assert loop.trip_count == trips


@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = 0; i < 8; i++) i = i + 1;",
        "for (int i = 0; i < n; i++) n = n - 1;",
        "for (int i = 0; i < A[0]; i++) A[0] = 3;",
        "for (int i = 0; i > -5; i++) A[0] = 3;",
    ],
)
def test_loop_that_is_not_counted_becomes_a_while(loop: str) -> None:
    assert isinstance(loops(body_of(loop))[0], ir.While)


def test_loops_are_named_by_label_or_position() -> None:
    source = body_of("outer: for (int i = 0; i < 8; i++) { for (int j = 0; j < 8; j++) A[j] = i; }")
    assert [loop.name for loop in loops(source)] == ["outer", "L1"]


def test_shadowed_variables_stay_apart() -> None:
    function = read_function(body_of("int x = 1; { int x = 2; A[0] = x; } A[1] = x;"), top="f")
    names = [s.variable.name for s in function.body if isinstance(s, ir.Assign)]
    assert names == ["x", "x_1"]


@pytest.mark.parametrize(
    ("pragma", "directive"),
    [
        ("#pragma HLS pipeline", Directive(kind="pipeline", loop="L0")),
        ("#pragma HLS PIPELINE II=3", Directive(kind="pipeline", loop="L0", value=3)),
        ("#pragma ACCEL pipeline", Directive(kind="pipeline", loop="L0")),
        ("#pragma HLS unroll factor=4", Directive(kind="unroll", loop="L0", value=4)),
        ("#pragma clang loop unroll(full)", Directive(kind="unroll", loop="L0")),
    ],
)
def test_pragma_before_a_loop_becomes_its_directive(pragma: str, directive: Directive) -> None:
    (loop,) = loops(body_of(f"{pragma}\nfor (int i = 0; i < 8; i++) A[i] = i;"))
    assert loop.directives == (directive,)


def test_vitis_pragma_inside_a_loop_belongs_to_that_loop() -> None:
    (loop,) = loops(body_of("for (int i = 0; i < 8; i++) {\n#pragma HLS pipeline II=2\n A[i] = i; }"))
    assert loop.directives == (Directive(kind="pipeline", loop="L0", value=2),)


def test_interface_says_what_is_read_and_written() -> None:
    interface = interface_of(
        read_function("void f(int n, int A[4], int B[2][3]) { A[n] = B[0][1]; }", top="f")
    )
    facts = [(a.name, a.shape, a.read, a.written) for a in interface.arguments]
    assert facts == [("n", (), True, False), ("A", (4,), False, True), ("B", (2, 3), True, False)]
    assert interface.returns is None


def test_macros_and_own_headers_are_expanded() -> None:
    source = "#include <stdint.h>\n#define N 4\nvoid f(int32_t A[N]) { A[N - 1] = N; }"
    assert interface_of(read_function(source, top="f")).arguments[0].shape == (4,)


def test_interface_has_every_type_and_shape() -> None:
    source = """
    #include <stdint.h>
    #include <stddef.h>
    typedef struct { double v[3]; double m; } body;
    enum mode { LOW, HIGH };
    double f(int8_t a, unsigned short b, long c, size_t d, _Bool e, enum mode g, float x,
             const double y, const uint8_t T[2][3], body B[4], int *count,
             float (M)[static 5], char text[])
    {
        *count = T[1][2];
        M[0] = B[1].m;
        return a + b + c + d + e + g + x + y;
    }
    """.replace("char text[]", "char text[7]")
    arguments = interface_of(read_function(source, top="f")).arguments
    assert [(a.name, a.type.c_name, a.shape) for a in arguments] == [
        ("a", "int8_t", ()),
        ("b", "uint16_t", ()),
        ("c", "int64_t", ()),
        ("d", "uint64_t", ()),
        ("e", "uint8_t", ()),
        ("g", "uint32_t", ()),
        ("x", "float", ()),
        ("y", "double", ()),
        ("T", "uint8_t", (2, 3)),
        ("B", "double", (4, 4)),
        ("count", "int32_t", (1,)),
        ("M", "float", (5,)),
        ("text", "int8_t", (7,)),
    ]
    assert {a.name for a in arguments if a.written} == {"count", "M"}


def test_early_returns_become_branches() -> None:
    function = read_function("int f(int n) { if (n < 0) return 1; if (n > 9) return 2; return n; }", top="f")
    assert not [s for s in ir.walk_statements(function.body) if isinstance(s, ir.Block | ir.Leave)]
    assert isinstance(function.body[-1], ir.Return)


def test_return_from_a_loop_leaves_the_body_of_the_function() -> None:
    source = "int f(int A[8]) { for (int i = 0; i < 8; i++) if (A[i]) return i; return -1; }"
    block, end = read_function(source, top="f").body
    assert isinstance(block, ir.Block)
    assert isinstance(end, ir.Return)
    assert {s.label for s in ir.walk_statements((block,)) if isinstance(s, ir.Leave)} == {block.label}


def test_elements_behind_a_condition_are_loaded_under_it() -> None:
    function = read_function("int f(int n, int A[8]) { return n >= 0 && n < 8 ? A[n] : 0; }", top="f")
    (load,) = (e for e in ir.all_expressions(function.body) if isinstance(e, ir.Load))
    assert load.predicate is not None


def test_arrays_that_nothing_stores_to_are_tables() -> None:
    source = """
    static int counts[20];
    int f(int n, int A[8])
    {
        int T[3] = {4, 5}, W[3] = {6, 7};
        static const unsigned char S[] = "ab";
        const int unused[2] = {1, 2};
        W[n & 1] = 1;
        counts[n & 15] += 1;
        return T[n & 1] + W[2] + S[n & 1] + counts[1];
    }
    """
    arrays = {a.name: a.initial for a in read_function(source, top="f").arrays}
    assert arrays == {"A": None, "T": (4, 5, 0), "W": None, "S": (97, 98, 0), "counts": None}


def test_functions_outside_the_top_may_be_anything_that_parses() -> None:
    source = """
    #include <stdio.h>
    #include <stdlib.h>
    union bits { float f; int i; };
    struct tree { struct tree *left, *right; int (*compare)(const void *, const void *); };
    static int walk(struct tree *t) { return t ? walk(t->left) + walk(t->right) : 0; }
    int f(int n) { return n; }
    int main(int argc, char **argv)
    {
        int (*A)[argc] = malloc(argc * sizeof *A);
        goto end;
    end:
        printf("%d %Lf\\n", f(walk(NULL)), 1.0L);
        free(A);
        return 0;
    }
    """
    assert read_function(source, top="f").returns is not None
