"""Refusals of the front end: each with its line, most with an alternative."""

from __future__ import annotations

from random import Random

import pytest
from test_front_end_native import PROGRAMS

from pipelines.c import HlsError, default_top, interface_of, read_function
from pipelines.c.plain_arguments import with_plain_arguments


def body_of(text: str, parameters: str = "int n, int A[8]") -> str:
    return f"int f({parameters})\n{{\n{text}\n return 0;\n}}\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", r"a program must have a function, got an empty file \(f\.c\)"),
        ("int fé(int n) { return n; }", r"names must be of ASCII letters, digits and _, got fé \(f\.c:1\)"),
        ("int f(int n) { return n + ; }", r"a program must be C11, got a syntax error: .* \(f\.c:1\)"),
        ("int g(void) { return 1; }", r"top must be a function of the file \(there: g\), got 'f' \(f\.c\)"),
        (
            "#include <windows.h>\nint f(void) { return 1; }",
            r"#include must be one of <.*>, or .*, got \"windows\.h\" \(f\.c:1\)",
        ),
        ('#include "/etc/hostname"\nint f(void) { return 1; }', r"#include must be one of <.*"),
        (body_of("long double x;"), r"a type must be .*, got 'long double' \(f\.c:3\)"),
        (
            body_of("int (*g)(int); n = g(1);"),
            r"a pointer must point to an object before it is used, got g \(f\.c:3\)",
        ),
        (
            body_of("int *p[3]; n = *p[1];"),
            r"a pointer must point to an object before it is used, got p \(f\.c:3\)",
        ),
        (
            body_of("g(n);"),
            r"a called function must be defined .* one of abs, .*, got a call of g \(f\.c:3\)",
        ),
        (body_of("int *p = realloc(A, 4);"), r"a called .*, got dynamic allocation \(write .*\) \(f\.c:3\)"),
        (
            body_of("int *p = malloc(n);"),
            r"allocated memory must have a constant .* got malloc of .* \(f\.c:3\)",
        ),
        (
            body_of("int *p, *q; for (int i = 0; i < n; i++) { p = malloc(4); if (i == 0) q = p; }"),
            r"memory that a loop allocates must have one pointer outside .*, got p and q \(f\.c:3\)",
        ),
        (body_of("n = f(n, A);"), r"a function must call itself .*recursion in f \(f calls f\) \(f\.c:3\)"),
        (body_of("x: n++; goto x;"), r"goto must go forward, .*, got goto x \(f\.c:3\)"),
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
        (body_of("int *p; p[0] = 1;"), r"a pointer must point to an object before .*, got p \(f\.c:3\)"),
        (
            body_of("A[2] = 1;", "int A[]"),
            r"a pointer argument must have a size .*A\[N\].* --size A=N\), got \*A \(f\.c:3\)",
        ),
        (body_of("A[1] = 2;", "int *A"), r"a pointer argument must have a size .*A\[N\].* \(f\.c:3\)"),
        (body_of("A[n] = 1;", "int n, int A[n]"), r"a pointer argument must have a size .* \(f\.c:3\)"),
        (
            "#pragma simfoundry size B=2\nint f(int *A) { return A[1]; }",
            r"a size must be of an argument \(there: A\), got 'B' \(f\.c\)",
        ),
        (
            "#pragma simfoundry size A=0\nint f(int *A) { return A[1]; }",
            r"a size must be NAME=N with a positive number N, got 'simfoundry size A=0' \(f\.c:1\)",
        ),
        ("int f(int n, ...) { return 1; }", r"a function must have fixed parameters, got \.\.\. \(f\.c:1\)"),
        ("int f(int n) { n = 1; }", r"f must end by returning a value, got no final return \(f\.c:1\)"),
        (
            "int f(int n) { return " + "(" * 3000 + "n" + ")" * 3000 + "; }",
            r".*must nest at most 100 deep.*:1.*|.*C11.*",
        ),
    ],
)
def test_front_end_rejects_what_it_cannot_build(source: str, message: str) -> None:
    with pytest.raises(HlsError, match=f"^{message}$"):
        read_function(source, top="f", file="f.c")


def test_front_end_rejects_a_large_file() -> None:
    with pytest.raises(
        HlsError, match=r"^a program must be at most 4194304 bytes, got 10000\d+ bytes \(f\.c\)$"
    ):
        read_function("int f(void) { return 1; }" + " " * 10_000_000, top="f", file="f.c")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (body_of("int x; int *p = &x; p++; *p = 1;"), r"a pointer to a single object must not be moved .*"),
        (
            body_of("int *p = 0; *p = 1;"),
            r"a pointer must point to an object .*, got a null pointer in \*p .*",
        ),
        (
            body_of("struct { int a, *b; } s; char *p = (char *)&s; n = p[1];"),
            r"a structure with pointers must not be used as bytes .*",
        ),
        (
            body_of("", "struct { int x; } s"),
            r"an argument must be .* \(write the members as arguments\), .*",
        ),
        (
            body_of("", "struct { int x; float *y; } s[4]"),
            r"a structure must hold numbers to be an argument .*, got a pointer in it \(s\) .*",
        ),
        (
            body_of("A[1][0] = 1;", "int (*A)[4]"),
            r"a pointer argument must have a size to be indexed \(write A\[N\], .*",
        ),
        (body_of("", "int **A"), r"an argument must be a number or an array, got int32_t \* \* A .*"),
        (body_of("", "int *A[3]"), r"an array argument must be an array of numbers .*"),
        (
            "struct s { int x; }; struct s f(void) { struct s a = {1}; return a; }",
            r"the top function must ret.*",
        ),
        (body_of("int g = f;"), r"an expression must be a number, got a pointer .*"),
        (
            body_of("switch (n) { case A[0]: n = 1; }"),
            r"a case must be an integer constant, got an expression.*",
        ),
        (body_of("switch (n) { n = 2; case 1: n = 1; }"), r"a statement of a switch must follow a case, .*"),
        (
            body_of("switch (n) { case 1: { case 2: n = 1; } }"),
            r"a case must stand directly in .* switch, .*",
        ),
        (body_of("switch (1.5) { case 1: n = 1; }"), r"a switch must be on an integer, got double .*"),
        (body_of("continue;"), r"continue must stand in a loop, got one outside .*"),
        (body_of("int x[2] = {1, 2, 3};"), r"an initialiser must fit int32_t\[2\], got more values .*"),
        (body_of("struct { int a; } s = {.b = 1};"), r"a designator must name a part of .*, got another .*"),
        (body_of("struct { int a; } s; s.b = 1;"), r"a member must be one of a, got 'b' .*"),
        (body_of("struct t s;"), r"a structure must be defined, got struct t .*"),
        (body_of("enum t s;"), r"an enumeration must be defined, got enum t .*"),
        (body_of("n.x = 1;"), r"only a structure has members, got a number or a pointer .*"),
        (body_of("n = *A[1];"), r"only an array or a pointer can be indexed, got another value .*"),
        (body_of("int x; int x;"), r"a name must be declared once in a scope, got 'x' .*"),
        (body_of("n = sizeof(void);"), r"sizeof must be of a complete type, got void .*"),
        (body_of("void x;"), r"a variable must have a type, got void x .*"),
        (body_of("n = A[1.5];"), r"an index must be an integer, got another value .*"),
        (body_of("n = ~1.5;"), r"~ must have an integer operand, got double .*"),
        (body_of('__asm__("nop");'), r"a called function must be .*, got inline assembly \(write C\) .*"),
        (body_of('__asm__("" : "=r"(n));'), r"a program must be C11, got inline assembly \(write C\) .*"),
        (body_of("__int128 x;"), r"a (program|type) must be .*"),
        (body_of("extern int q; n = q;"), r"an extern name must be defined in the file, got 'q' .*"),
        (
            "#include <string.h>\n" + body_of("memset(A, 0, 3);"),
            r"a size must be a multiple of 4 bytes, got 3.*",
        ),
        (
            "int g(int x) { return 1 + g(x - 1); }\n" + body_of("n = g(n);"),
            r"a function must call itself only as its last step .*",
        ),
        ("int g(int x) { return x; }\n" + body_of("n = g(n, n);"), r"g must have 1 arguments, got 2 .*"),
        (
            "int g(int x);\n" + body_of("n = g(n);"),
            r"a called function must be defined in the file, or .*, got a call of g.*",
        ),
        (
            "int T[1 << 25];\n" + body_of("n = T[n];"),
            r"an array must have at most 16777216 elements, got 33554432.*",
        ),
        (body_of("x: for (;;) break; { x: for (;;) break; }"), r"a loop label must be unique, got 'x' .*"),
        (
            body_of("n = " + "+".join(["n"] * 230) + ";"),
            r"an expression must nest at most 200 deep .*, got more .*",
        ),
        (
            body_of("".join(f"if (n > {i}) " for i in range(120)) + "n = 0;"),
            r"statements must nest at most 100 deep, .*, got more .*",
        ),
        (
            "static void a(int *x) { " + "x[0]++;" * 100 + "}\n"
            "static void b(int *x) { " + "a(x);" * 100 + "}\n"
            "static void c(int *x) { " + "b(x);" * 100 + "}\n" + body_of("c(A);"),
            r"a program must have at most 200000 statements after inlining, got more .*",
        ),
    ],
)
def test_front_end_rejects_with_what_to_write(source: str, message: str) -> None:
    with pytest.raises(HlsError, match=f"^{message}$") as caught:
        read_function(source, top="f", file="f.c")
    assert caught.value.line is not None


def test_mangled_programs_are_read_or_refused() -> None:
    """Dropped, doubled and exchanged tokens raise no other exception than a refusal."""
    random = Random(11)
    sources = list(PROGRAMS.values())
    read = 0
    for _ in range(60):
        tokens = random.choice(sources).split(" ")
        for _ in range(random.choice((1, 1, 2))):
            first, second = random.randrange(len(tokens)), random.randrange(len(tokens))
            tokens[first] = random.choice((tokens[second], "", tokens[first] + " " + tokens[first], "0", "*"))
        try:
            interface_of(read_function(" ".join(tokens), top="f"))
            read += 1
        except HlsError:
            continue
    assert 0 < read < 60


def test_a_long_chain_of_conditions_has_its_line_and_limit() -> None:
    chain = "else ".join(f"if (n == {number}) {{ r = {number}; }}\n" for number in range(300))
    message = r"statements must nest at most 100 deep, each else-if as one level .*\(program\.c:102\)$"
    with pytest.raises(HlsError, match=message):
        read_function(f"int f(int n) {{\nint r = 0;\n\n{chain}return r; }}", top="f")
    terms = " +\n".join(f"n * {number}" for number in range(3000))
    with pytest.raises(HlsError, match=r"an expression must nest at most 200 deep .*\(program\.c:\d+\)$"):
        read_function(f"int f(int n) {{\nreturn {terms}; }}", top="f")


@pytest.mark.parametrize("terms", [205, 300, 600, 1000, 10_000])
def test_a_sum_of_any_length_above_the_limit_has_one_refusal(terms: int) -> None:
    text = f"int q(int a)\n{{ return {'+'.join(['a'] * terms)}; }}\n"
    message = r"^an expression must nest at most 200 deep \(write several statements\), got more \(q\.c:2\)$"
    assert default_top(text, "q") == "q"
    assert with_plain_arguments(text, "q") == (text, "q")
    with pytest.raises(HlsError, match=message):
        read_function(text, top="q", file="q.c")
