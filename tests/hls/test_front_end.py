"""The C front end: what it reads, and each refusal with its line."""

from __future__ import annotations

import pytest

from pipelines.hls import Directive, HlsError, interface_of, ir, read_function


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


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", r"a program must have a function, got an empty file \(f\.c\)"),
        ("int f(int n) { return n + ; }", r"a program must be C11, got a syntax error: .* \(f\.c:1\)"),
        ("int g(void) { return 1; }", r"top must be a function of the file \(there: g\), got 'f' \(f\.c\)"),
        ("#include <windows.h>\nint f(void) { return 1; }", r"a program must pass the C preprocessor, .*"),
        ('#include "/etc/hostname"\nint f(void) { return 1; }', r"#include must be one of <.*"),
        (body_of("long double x;"), r"a type must be .*, got 'long double' \(f\.c:3\)"),
        (body_of("union { int x; } u;"), r"a type must be .*, got a union \(write .*\) \(f\.c:3\)"),
        (body_of("struct { int x : 3; } s;"), r"a member must have .*, got the bit-field x \(f\.c:3\)"),
        (body_of("int (*g)(int);"), r"a function must be called by its name .*pointer \(f\.c:3\)"),
        (body_of("int *p[3];"), r"a pointer must be a variable .*, got an array of pointers p \(f\.c:3\)"),
        (body_of("g(n);"), r"a called function must be defined in the file, got a call of g \(f\.c:3\)"),
        (body_of("int *p = malloc(4);"), r"a called .*, got dynamic allocation \(write .*\) \(f\.c:3\)"),
        (body_of("n = f(n, A);"), r"a function must not call itself .*, got recursion in f \(f\.c:3\)"),
        (body_of("x: n++; goto x;"), r"control must go through .*, got goto x \(f\.c:3\)"),
        (body_of("break;"), r"break must stand in a loop, got one outside \(f\.c:3\)"),
        (body_of("n = m;"), r"a name must be declared, got 'm' \(f\.c:3\)"),
        (body_of("A[8] = 1;"), r"an index of A must be 0 to 7, got 8 \(f\.c:3\)"),
        (body_of("A[0][1] = 1;"), r"only an array or a pointer can be indexed, .* \(f\.c:3\)"),
        (body_of("n = A;"), r"an expression must be a number, got a pointer \(f\.c:3\)"),
        (body_of("n = n / 0;"), r"a divisor must not be zero, got 0 \(f\.c:3\)"),
        (body_of("n = 1.5 % 2;"), r"% must have integer operands, got double \(f\.c:3\)"),
        (body_of("n = 99999999999999999999;"), r"a constant must be an integer of .* \(f\.c:3\)"),
        (body_of("n = 1.5L;"), r"a constant must be .* a double or a character, got 1\.5L \(f\.c:3\)"),
        (body_of("int B[n];"), r"an array size must be a positive constant .*an expression \(f\.c:3\)"),
        (body_of("int B[2][2][2][2][2][2];"), r"an array must have 1 to 5 dimensions, got 6 \(f\.c:3\)"),
        (body_of("int *p = n ? A : &n;"), r"a pointer must always point into one array .* \(f\.c:3\)"),
        (body_of("int *p; p[0] = 1;"), r"a pointer must point to an object before .*, got p \(f\.c:3\)"),
        (body_of("", "int A[]"), r"an array must have a constant size \(write A\[N\]\), got A\[\] \(f\.c:1\)"),
        (body_of("A[1] = 2;", "int *A"), r"a pointer argument must have a size .*A\[N\].* \(f\.c:3\)"),
        (body_of("", "int n, int A[n]"), r"an array size must be a positive constant .* \(f\.c:1\)"),
        ("int f(int n, ...) { return 1; }", r"a function must have fixed parameters, got \.\.\. \(f\.c:1\)"),
        ("int f(int n) { n = 1; }", r"f must end by returning a value, got no final return \(f\.c:1\)"),
        ("int f(int n) { return " + "(" * 3000 + "n" + ")" * 3000 + "; }", r".*nest less deeply.*|.*C11.*"),
    ],
)
def test_front_end_rejects_what_it_cannot_build(source: str, message: str) -> None:
    with pytest.raises(HlsError, match=f"^{message}$"):
        read_function(source, top="f", file="f.c")


def test_front_end_rejects_a_large_file() -> None:
    with pytest.raises(
        HlsError, match=r"^a program must be at most 1048576 bytes, got 10000\d+ bytes \(f\.c\)$"
    ):
        read_function("int f(void) { return 1; }" + " " * 10_000_000, top="f", file="f.c")
