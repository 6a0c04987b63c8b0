"""Forms of C that people write and earlier engines refused, against gcc."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from native_pairs import check_front_end

from pipelines.c import HlsError, read_interface, with_plain_arguments
from pipelines.c.frontend import read_function
from pipelines.hls import HlsOptions, compile_program
from pipelines.hls.rules import FORMS, later_rules

PRINTING = r"""
#include <stdio.h>
#include <assert.h>
static int calls;
static const char *name_of(int k) { switch (k) { case 0: return "zero"; default: return "more"; } }
static int count(int *x) { calls++; return ++*x; }
int f(int n, int A[8])
{
    int k = 0;
    assert(n < 1000);
    printf("%s %d\n", name_of(n & 1), A[0]);
    fprintf(stderr, "%d\n", count(&A[1]));
    n > 0 ? puts("positive") : 0;
    for (int i = 0; i < 8; i++, putchar('.'))
        if (A[i] > 3) { (void)printf("%d", k++); fflush(stdout); }
    return k + calls;
}
"""


def test_output_calls_are_left_out_with_a_note(tmp_path: Path) -> None:
    check_front_end(PRINTING, "f", tmp_path)
    outcomes = compile_program(PRINTING, top="f", options=HlsOptions()).outcomes
    notes = [outcome for outcome in outcomes if "the call is left out" in outcome.reason]
    assert len(notes) == 6
    assert not any(outcome.applied for outcome in notes)


def test_the_value_of_an_output_call_is_refused() -> None:
    with pytest.raises(HlsError, match="an expression must have a value, got a void expression"):
        read_function('#include <stdio.h>\nint f(int n) { return printf("%d", n); }', top="f")


POINTERS = {
    "either_array": "void f(int A[8], int B[8], int n) { int *p = n > 0 ? A : B;\n"
    "int *q = n & 1 ? B + 1 : A + 2;\n"
    "for (int i = 0; i < 4; i++) { p[i] += q[1] * 3; *q++ = i; } }",
    "swapped": "int f(int A[8], int n) { int b[8] = {1, 2, 3}, c[40] = {5}, *s = A, *d = b;\n"
    "for (int k = 0; k < (n & 3); k++) { for (int i = 0; i < 7; i++) d[i] = s[i + 1] + k;\n"
    "int *t = s; s = d; d = t;\n"
    "if (k == 1) d = c; } return s[0] + d[1] * 7 + c[0] + (s == A) + (d != b); }",
    "null": "#include <stddef.h>\nstatic int *find(int *a, int n, int k) { for (int i = 0; i < n; i++)\n"
    "if (a[i] > k) return &a[i]; return NULL; }\n"
    "int f(int A[8], int k) { int *p = find(A, 8, k), *q = NULL; int r = 0; if (p) { *p += 5;\n"
    "r = p - A; }\n"
    "if (!q) q = p; if (q != NULL && *q > 2) r += *q; q = 0; return r + (p == q) + (q == 0 ? 100 : 0); }",
    "null_to_callee": "static int get(const int *p, int k) { if (p == 0) return -1; return p[k & 3]; }\n"
    "int f(int A[8], int n) { return get(n & 1 ? A : 0, n) + 10 * get(n & 2 ? 0 : A + 4, n); }",
    "pointer_to_pointer": "static int take(const char **p, int n) { int s = 0; while (n--)\n"
    "s += *(*p)++; return s; }\n"
    "static void move(int **p, int *to) { *p = to; }\n"
    "int f(const char T[32], int A[8], int n) { const char *c = T; int *p = A; int a = take(&c, n & 7);\n"
    "a = a * 3 + take(&c, 4); move(&p, A + 3); if (n & 1) move(&p, &p[2]);\n"
    "return a * 5 + *c + *p + (int)(p - A); }",
    "members": "struct s { int x; short h[3]; }; int f(int n, int A[4]) {\n"
    "struct s a = {1, {2, 3, 4}}, b = {n};\n"
    "struct s *p = n & 1 ? &a : &b; p->x += 5; p->h[n & 1] = 9; struct s c = *p; *p = a; short *h = p->h;\n"
    "h[2]++; A[1] = c.x; return a.x + 3 * b.h[0] + c.h[1] + b.h[2] + a.h[2]; }",
    "in_conditions": "int f(int A[8], int B[8], int n) { int *p = 0; int s = 0;\n"
    "for (int i = 0; i < 8; i++) { if (!p || A[i] > *p) p = A + i; if (B[i] > *p) p = &B[i];\n"
    "s += p == A + i; }\n"
    "return *p + s + (p && p[0] > 3 ? 100 : 0); }",
    "with_effects": "int f(int A[8], int B[8], int n) { int i = n & 3;\n"
    "int *p = n & 4 ? A + i++ : B + ++i;\n"
    "*p++ = 77; *p += i; return p[1] + i; }",
    "omitted": "static int k; static int next(int x) { return k += x; }\n"
    "int f(int n, int A[8]) { int *p = 0; int *q = p ?: A; unsigned char c = n; return (n ?: 7)\n"
    "+ (next(n & 1) ?: 9)\n"
    "+ (c ?: -1L) + q[1] + (A[0] ?: A[1] ?: A[2]) + (A[3] ?: (A[4] = 5)) + k; }",
}
"""Pointers into one of several objects, null ones, pointers to pointers, and `a ?: b`."""


@pytest.mark.parametrize("name", POINTERS)
def test_pointers_point_as_in_native_c(name: str, tmp_path: Path) -> None:
    check_front_end(POINTERS[name], "f", tmp_path, runs=12)


def random_pointers(seed: int) -> str:
    """A program that moves and reads pointers into three arrays, or none."""
    draw = random.Random(seed)
    names, arrays = ("p", "q", "r"), ("A", "B", "c")
    lines = [f"int *{name} = {draw.choice((*arrays, '0'))};" for name in names]

    def target() -> str:
        array, name = draw.choice(arrays), draw.choice(names)
        return draw.choice(
            (f"{array} + {draw.randrange(4)}", f"&{array}[n & 3]", name, "0", f"n & 1 ? {name} : {array}")
        )

    def step() -> str:
        one, other = draw.choice(names), draw.choice(names)
        return draw.choice(
            (
                f"{one} = {target()};",
                f"if ({one}) s += {one}[{draw.randrange(4)}] * {draw.randrange(1, 9)};",
                f"if ({one} && n & {draw.randrange(1, 8)}) {one}[n & 3] ^= s;",
                f"s += ({one} == {other}) + 2 * !{one};",
                f"if (n & {draw.randrange(1, 8)}) {one} = {target()}; else s++;",
                f"set(&{one}, {draw.choice(arrays)}, n & {draw.randrange(8)});",
                f"s += sum({one}, n & 3);",
            )
        )

    lines += ["for (int i = 0; i < 3; i++) {", *(step() for _ in range(draw.randrange(4, 9))), "n += 3; }"]
    return (
        "static void set(int **p, int *to, int k) { if (k > 3) *p = to + (k & 3);\n"
        "else if (k == 2) *p = 0; }\n"
        "static int sum(const int *a, int n) { int s = 0; if (!a) return -5; while (n--)\n"
        "s += *a++; return s; }\n"
        "int f(int A[8], int B[8], int n) { int c[9] = {1, 2, 3}, s = 0;\n"
        + "\n".join(lines)
        + "\nreturn s; }"
    )


def bit_field_programs(seed: int) -> str:
    """A program that writes and reads bit-fields of a local structure, of one in memory and through bytes."""
    draw = random.Random(seed)

    def members() -> Iterator[str]:
        for number in range(draw.randrange(2, 7)):
            kind, most = draw.choice(
                (
                    ("unsigned", 32),
                    ("int", 32),
                    ("unsigned char", 8),
                    ("short", 16),
                    ("_Bool", 1),
                    ("long", 32),
                )
            )
            if draw.random() < 0.25 and kind != "_Bool":  # other bytes than 0 and 1 are no _Bool
                yield f"{kind} m{number};"
            else:
                yield f"{kind} m{number} : {draw.randrange(1, most + 1)};"
            if draw.random() < 0.2:
                yield f"int : {draw.randrange(0, 9)};"

    listed = list(members())
    names = [line.split()[-1 if ":" not in line else -3].strip(";") for line in listed if " m" in line]
    one, other = draw.choice(names), draw.choice(names)
    sums = " ".join(f"r = r * 7 + t.{name} + (g->{name} < 0) + (g->{name} - 2 < -1);" for name in names)
    return (
        f"struct s {{ {' '.join(listed)} }}; union u {{ struct s s;\n"
        f"unsigned char b[sizeof(struct s)]; }};\n"
        "static struct s kept = {1, 2}; long f(struct s *g, struct s many[3], long n) {\n"
        "struct s t = {n, n >> 3}; union u v; long r = sizeof(struct s); for (unsigned i = 0;\n"
        "i < sizeof v.b; i++) v.b[i] = n * (i + 3);\n"
        f"t.{one} = n; g->{other} += t.{one} * 3; t.{other}++; kept.{one} ^= n;\n"
        f"r += (v.s.{one} = n >> 2);\n"
        f"many[1].{one} -= v.s.{other}; if (n & 1) many[2] = many[0]; if (n & 2) *g = many[1];\n"
        f"v.s.{other}--;\n"
        f"{sums} for (unsigned i = 0; i < sizeof v.b; i++) r = r * 3 + v.b[i];\n"
        f"return r + kept.{one} + kept.{other}; }}"
    )


@pytest.mark.parametrize("seed", range(6))
def test_random_pointers_point_as_in_native_c(seed: int, tmp_path: Path) -> None:
    check_front_end(random_pointers(seed), "f", tmp_path, runs=8)


@pytest.mark.parametrize("seed", range(8))
def test_random_bit_fields_hold_what_native_c_holds(seed: int, tmp_path: Path) -> None:
    check_front_end(bit_field_programs(seed), "f", tmp_path, runs=8)


BIT_FIELDS = """
#include <stdint.h>
struct packed { signed a : 5; unsigned b : 11; signed c : 16; };
union view { uint32_t w; struct packed f; int8_t b[4]; };
static int mix(struct packed p) { return p.a * 3 - p.c + (int)p.b; }
int bit_fields(uint32_t seed) {
    union view v;
    v.w = seed;
    v.f.a = v.f.a - 7;
    int r = mix(v.f);
    v.b[1] = -3;
    return r ^ (int)v.w;
}
"""


def test_bit_fields_of_a_union_hold_what_native_c_holds(tmp_path: Path) -> None:
    check_front_end(BIT_FIELDS, "bit_fields", tmp_path)


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("float a : 3;", "a bit-field must be an integer, got float"),
        ("char a : 9;", "a bit-field must have 1 to 8 bits, got 9"),
        ("int a : 0;", "a bit-field must have 1 to 32 bits, got 0"),
        ("long a : 40;", r"a bit-field must have at most 32 bits, or 64 \(write two\), got a of 40"),
    ],
)
def test_bit_fields_reject_what_c_does_not_have(member: str, message: str) -> None:
    with pytest.raises(HlsError, match=f"^{message} "):
        read_function(
            f"struct s {{ {member} }}; int f(int n) {{ struct s t; t.a = n; return t.a; }}", top="f"
        )


@pytest.mark.parametrize(
    ("source", "rules"),
    [
        *((text, (FORMS,)) for text in POINTERS.values() if "static int k;" not in text),
        ('#include <stdio.h>\nint f(int n) { puts(""); return n; }', (FORMS,)),
        ("struct s { int a : 3; }; int f(int n) { struct s t = {n}; return t.a; }", (FORMS,)),
        ("int f(int A[8]) { int *p = A; p = A + 1; return *p; }", ()),
        ("int f(int A[8]) { int *p = A; return p == 0 ? 1 : *p; }", ()),
    ],
)
def test_forms_change_the_identity_of_their_programs_only(source: str, rules: tuple[str, ...]) -> None:
    assert later_rules(source, "f") == rules


@pytest.mark.parametrize(
    ("source", "got"),
    [
        ("#include <ap_int.h>\nint f(int n) { return n; }", r"ap_int of C\+\+ .*:1"),
        ("\nvoid f(hls::stream<int> &s) { s.write(1); }", r"hls::stream of C\+\+ .*:2"),
        ("// class A {\n\ntemplate <typename T> T f(T n) { return n; }", r"a template of C\+\+ .*:3"),
        ("class A { int x; };\nint f(int n) { return n; }", r"a class of C\+\+ .*:1"),
    ],
)
def test_another_language_is_refused_in_one_sentence(source: str, got: str) -> None:
    with pytest.raises(HlsError, match=rf"^a program must be C: .*, got {got}\)$"):
        read_function(source, top="f")


@pytest.mark.parametrize(
    "source",
    [
        "int f(int n, int m) { if (n & m) { return x; } return 0; }",
        "int f(int n, int m) { if (n) n++; else if (n & m) { return x; } return 0; }",
        "int f(int n) { int a[0x7fffffff]; while (a[0] & n) { n++; } return n; }",
    ],
)
def test_bits_of_c_are_no_references_of_another_language(source: str) -> None:
    with pytest.raises(HlsError) as refusal:
        read_function(source, top="f")
    assert "C++" not in str(refusal.value)


@pytest.mark.parametrize(
    ("source", "got"),
    [
        ("#define A(x) ((x) +\nint f(int n)\n{ return A(n) 1;\n}", r"expected '\)' before ';' token .*:3"),
        ("int f(int n)\n{\nint x = n\nreturn x;\n}", "expected ',' or ';' before 'return' .*:4"),
        ("int f(int n)\n{\nif (n) {\nn++;\nreturn n;\n}", "expected declaration or statement .*:6"),
        ('int f(int n)\n{\nchar s[] = "abc;\nreturn n;\n}', 'missing terminating " character .*:3'),
        ("int f(int n)\n{\nfoo_t x = n;\nreturn x;\n}", "unknown type name 'foo_t' .*:3"),
        ('# 1 "g.h"\nint g(int n)\n{ return n + ;\n}\n# 2 "f.c"\nint f(int n) { return n; }', r".*\(g\.h:2"),
    ],
)
def test_a_syntax_error_has_its_line(source: str, got: str) -> None:
    with pytest.raises(HlsError, match=rf"^a program must be C11, got a syntax error: {got}\)$"):
        read_function(source, top="f", file="f.c")


def test_an_open_conditional_has_its_line() -> None:
    with pytest.raises(HlsError, match=r"got unterminated #if \(f\.c:2\)$"):
        read_function("int f(int n)\n#if 1\n{ return n; }", top="f", file="f.c")


STRUCTURES = """
struct part { short x, y; };
typedef struct { const float *data; int n; struct part at; int h[3]; unsigned small : 3; } view;
struct buffer { float *data; int n, used; };
static float sum(view v) { float s = 0; for (int i = 0; i < v.n; i++) s += v.data[i & 7]; return s + v.at.y; }
int top(const view *in, struct buffer *out, struct part by_value)
{
    out->used = by_value.x + in->h[1] + in->small;
    for (int i = 0; i < 4; i++)
        out->data[i] = sum(*in) + i;
    return out->n;
}
"""


def test_structure_arguments_become_their_members(tmp_path: Path) -> None:
    source, top = with_plain_arguments(STRUCTURES, "top")
    sizes = "#pragma simfoundry size in_data=8 out_data=4\n#pragma simfoundry size in_h=3\n"
    check_front_end(sizes + source, top, tmp_path)
    arguments = read_interface(sizes + source, top).arguments
    names = "in_data in_n in_at in_h in_small out_data out_n out_used by_value"
    assert [a.name for a in arguments] == names.split()
    assert [a.name for a in arguments if a.written] == ["out_data", "out_used"]


RESULTS = {
    "structure": "struct s { int a, b; }; struct s f(int n) { struct s t = {n, 2}; return t; }",
    "pointer": "int *f(int A[8], int n)\n"
    "{ for (int i = 0; i < 8; i++) if (A[i] > n) return A + i; return 0; }",
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_become_arguments_and_indices(name: str, tmp_path: Path) -> None:
    source, top = with_plain_arguments(RESULTS[name], "f")
    assert top == "f_plain"
    check_front_end(source, top, tmp_path, runs=12)


def test_plain_arguments_stay() -> None:
    assert with_plain_arguments("int f(int *p) { return *p; }", "f") == ("int f(int *p) { return *p; }", "f")


def test_a_function_pointer_in_an_argument_is_refused() -> None:
    with pytest.raises(HlsError, match=r"got a function pointer \(s\.g\)"):
        with_plain_arguments("struct s { int *p; int (*g)(int); }; int f(struct s *s) { return *s->p; }", "f")


STRINGS = """
#include <string.h>
#include <time.h>
#include <stdint.h>
int f(const char T[16], char R[64], int n)
{
    char own[16], *at;
    struct tm t = {0};
    strncpy(own, T, sizeof own - 1);
    own[15] = 0;
    R[0] = 0;
    strcat(R, own);
    strcat(R, "end");
    at = strchr(R, 'n');
    t.tm_mon = n & 7;
    return (at ? at - R : -1) + t.tm_mon + (INT_FAST16_MAX > INT16_MAX) + sizeof(uintptr_t);
}
"""


def test_later_functions_of_the_headers_do_what_native_c_does(tmp_path: Path) -> None:
    check_front_end(STRINGS, "f", tmp_path)


CASE_RANGES = """
#include <stdio.h>
enum { LOW = -3 };
int f(int n, unsigned char c)
{
    int r = BUFSIZ;
    switch (n & 15) { case 0 ... 5: r++; case 7: r += 2; break; case 9 ... 9: return 4; default: r = 7; }
    switch (n) { case LOW ... -1: r *= 2; break; case 10 ... LOW: r = 1; break; case 20 ... 90: r += 5; }
    switch (c) { case 'a' ... 'z': return r - 32; case '0' ... '9': return r * 3; }
    return r;
}
"""


def test_case_ranges_are_those_of_gcc(tmp_path: Path) -> None:
    check_front_end(CASE_RANGES, "f", tmp_path, runs=40)
    assert later_rules(CASE_RANGES, "f") == (FORMS,)


MATHEMATICS = """
#include <math.h>
double f(double x, float y, int n, long R[4])
{
    R[0] = lrint(x * 0.5);
    R[1] = lroundf(y) + lround(x);
    R[2] = lrintf(y);
    double r = rint(x) + ldexp(x, n * 20) + ldexpf(y, n) * 3;
    return r + log1p(fabs(x)) + expm1f(y * 0.01f) + expm1(x * 0.001);
}
"""


def test_later_mathematics_is_that_of_the_header(tmp_path: Path) -> None:
    check_front_end(MATHEMATICS, "f", tmp_path, runs=20)
    assert later_rules(MATHEMATICS, "f") == (FORMS,)


INSERTION = """#include <stdlib.h>
struct node { int v; struct node *next; };
static struct node pool[8];
int f(int A[8])
{
    struct node *h = 0;
    for (int i = 0; i < 8; i++) {
        struct node **pp = &h, *x = NODE;
        while (*pp && (*pp)->v < A[i])
            pp = &(*pp)->next;
        x->v = A[i];
        x->next = *pp;
        *pp = x;
    }
    return h->v * 3 + h->next->v;
}
"""


def test_a_pointer_to_a_pointer_inserts_into_a_list(tmp_path: Path) -> None:
    check_front_end(INSERTION.replace("NODE", "&pool[i]"), "f", tmp_path, runs=4)


def test_a_list_of_memory_that_a_loop_allocates_is_refused_with_its_line() -> None:
    message = r"^a pointer must not be read in a loop before .*, got the pointer h \(program\.c:6\)$"
    with pytest.raises(HlsError, match=message):
        read_function(INSERTION.replace("NODE", "malloc(sizeof *x)"), top="f")


def test_a_macro_that_names_itself_is_not_expanded_again(tmp_path: Path) -> None:
    check_front_end("int f(int n) {\n#define n (n + 1)\nreturn n * n; }", "f", tmp_path)
