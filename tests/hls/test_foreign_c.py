"""C as people write it: what other engines' programs use, against gcc."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from native_pairs import check_front_end

from pipelines.c import HlsError, bundle_source, read_interface
from pipelines.c.frontend import read_function
from pipelines.c.text.headers import (
    INCLUDE_FOLDER,
    header_options,
    is_library_needed,
    library_functions,
    own_names,
)
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs.data import draw_data

ACCEPTED = {
    "old_parameters": "int g(a, b) int a[4]; short b; { return a[b & 3]; }\n"
    "int f(A, n) int A[4]; int n; { return g(A, n) + n; }",
    "pragma_in_expression": 'int f(_Pragma("x") int n) { return n + _Pragma("y") 1 + (_Pragma("z") n); }',
    "attributes": "[[maybe_unused]] static int g(int a __attribute((unused))) { return a; }\n"
    'extern int other(int) __asm__("another");\n'
    "int __attribute((noinline)) f(int n) { [[maybe_unused]] int b = n; return g(b); }",
    "pointer_to_sized_typedef": "typedef unsigned char state_t[4][4];\n"
    "static void add(state_t *s, int k) { for (int i = 0; i < 4; i++) (*s)[i][k & 3] ^= k; }\n"
    "void f(state_t *s, int k) { add(s, k); (*s)[1][2]++; }",
    "goto_leaves_loops": "int f(int A[8]) { int i, j; for (i = 0; i < 8; i++) for (j = 0; j < 8; j++)\n"
    "if (A[i] > A[j] + 90) goto out; return -1; out: A[0] = j; return i; }",
    "goto_skips_forward": "int f(int n, int A[4]) { int s = 0; if (n < 0) goto fail; s = n * 2;\n"
    "if (s > 50) goto done; A[1] = s; s++; done: A[0] = s; return s;\n"
    "fail: A[2] = n; { if (n < -50) goto end; A[3] = 1; } end: return -1; }",
    "goto_out_of_a_switch": "int f(int n) { switch (n & 3) { case 0: if (n > 8) goto big; n++; break;\n"
    "case 1: goto big; default: n = 7; } n += 100; big: return n; }",
    "bytes_of_words": "int f(int A[4], int n) { unsigned char *p = (unsigned char *)A; int s = 0;\n"
    "for (int i = 0; i < 16; i++) s += p[i] * i; p[n & 15] = 7; *(p + 3) += 2;\n"
    "return s + (int)(p + 5 - (unsigned char *)A); }",
    "words_of_bytes": "unsigned f(unsigned char B[16], int n) { unsigned *p = (unsigned *)B;\n"
    "p[1] = p[n & 3] + 1; unsigned short *h = (unsigned short *)&B[4]; h[1] ^= 0x1234;\n"
    "return p[2] + ((unsigned long long *)B)[1] % 1000; }",
    "bytes_of_rows": "int f(short A[3][4], int n) { char *p = (char *)A[n & 1]; p[2] = 5; p[7] += 1;\n"
    "char *q = (char *)A; return q[n & 15] + ((char (*)[8])A)[1][n & 7]; }",
    "bytes_of_a_variable": "unsigned f(double d, float x, long n) { unsigned char *p = (unsigned char *)&d;\n"
    "((char *)&n)[2] = 9; return p[7] ^ *(unsigned *)&x ^ ((short *)&n)[1]; }",
    "unions": "union u { double d; struct { unsigned lo, hi; } w; unsigned char b[8]; };\n"
    "union u make(double x) { union u v = {.d = x}; return v; }\n"
    "unsigned f(double x, int n) { union u v = make(x), t[3]; v.b[n & 7] ^= 5; t[n & 1] = v; t[2].d = 1;\n"
    "return t[n & 1].w.hi ^ t[n & 1].w.lo ^ t[2].w.hi; }",
    "static_union": "static union { float f; unsigned i; } state;\n"
    "static const union { int i; char c[4]; } k = {258};\n"
    "unsigned f(float x) { unsigned old = state.i; state.f = x; return state.i + old + k.c[1]; }",
    "unnamed_members": "struct s { union { int a; short h[2]; }; struct { char b, c; }; };\n"
    "int f(int n) { struct s v; v.a = n; v.b = 3; v.c = n; return v.h[0] + v.b + v.c; }",
    "structures_of_several_types": "#include <string.h>\n#include <stdbool.h>\n"
    "typedef struct { unsigned char name[5]; int count; float gain; union { int a; short h[2]; } u;\n"
    "struct { short x; bool on; } in[2]; } State;\n"
    "static void bump(State *s, int k) { s->count += k; s->in[1].x++; }\n"
    "int f(State *s, const State *other, State many[3], int n) { State local = *other;\n"
    "local.count ^= 3; bump(s, n); bump(&local, 2); s->name[n & 3] = local.name[1] + 1;\n"
    "s->u.h[1] = local.count; s->gain = s->gain * 2 + local.gain;\n"
    "if (n > 50) memset(&many[1], 0, sizeof(State));\n"
    "if (s->in[0].on) memcpy(&s->in[0], &local.in[1], sizeof s->in[0]); many[2] = local;\n"
    "for (int i = 0; i < 3; i++) n += many[i].count * n + many[i].in[i & 1].x;\n"
    "return n + s->count + local.in[1].x; }",
    "allocated_memory": "#include <stdlib.h>\nstruct ctx { unsigned *words; int n; };\n"
    "static void init(struct ctx *c) { c->words = malloc(4 * sizeof c->words[0]);\n"
    "if (c->words == NULL) exit(1);\n"
    "c->n = 3; for (int i = 0; i < 4; i++) c->words[i] = i; }\n"
    "static unsigned use(int k) { struct ctx c; init(&c); c.words[k & c.n] += 7;\n"
    "unsigned r = c.words[1] + c.words[k & 3]; free(c.words); return r; }\n"
    "unsigned f(int n) { struct ctx c; int *z = calloc(3, sizeof *z); unsigned s = 0; void *v = malloc(8);\n"
    "for (int i = 0; i < 4; i++) { init(&c); c.words[i] += n; s += c.words[1]; free(c.words); }\n"
    "for (int i = 0; i < 4; i++) s += use(n + i); z[n & 1] += s; long *w = v; *w = s;\n"
    "s = z[0] + z[1] + z[2] + *w; free(z); free(v); return s; }",
    "bytes_of_structures": "#include <string.h>\n"
    "struct s { int a; char b[3]; struct { short x, y; } in[2]; };\n"
    "static void wipe(void *p, int n) { unsigned char *q = p; for (int i = 0; i < n; i++) q[i] = i; }\n"
    "int f(struct s *g, unsigned char B[16], int n) { struct s t, u[2] = {{1, {2}, {{3, 4}}}, {n}};\n"
    "wipe(&t, sizeof t); t.in[1].y ^= n; memcpy(&u[1], B, sizeof u[1]); u[1].a += t.a; *g = u[n & 1];\n"
    "((char *)g)[n & 15] ^= 1; memcpy(B, &t, 8); struct s v = t; unsigned char *all = (unsigned char *)u;\n"
    "return t.a + t.b[2] + v.in[1].x + u[0].a + u[1].in[0].x + all[n & 31]; }",
    "union_argument": "union u { float f; int i; }; float f(union u A[3]) { A[1].i ^= 1; return A[0].f; }",
    "errors_and_classes": "#include <errno.h>\n#include <math.h>\n#include <fenv.h>\n#include <endian.h>\n"
    "int f(double x, float y) { if (x < 0) errno = EDOM; feraiseexcept(FE_INVALID);\n"
    "return errno + 10 * fpclassify(x) + 100 * fpclassify(y * 0) + 1000 * (BYTE_ORDER == LITTLE_ENDIAN); }",
    "tail_recursion": "static int gcd(int a, int b) { if (b == 0) return a; return gcd(b, a % b); }\n"
    "static int sum(const int *p, int n, int s) { return n == 0 ? s : sum(p + 1, n - 1, s + *p); }\n"
    "static void mark(int *A, int n) { if (n > 0) { A[n] += n; mark(A, n - 1); } }\n"
    "int f(int A[8], int n) { mark(A, n & 7); return gcd(n + 200, 48) + sum(A, 8, 0); }",
    "tail_recursive_top": "int f(int n, int s) {\n"
    "for (int i = 0; i < 3; i++) if (n > 90 + i) return f(n - 90, s + i);\n"
    "if (n <= 0) return s; return f(n - 7, s + n); }",
    "statement_expression": "#define MAX(a, b) ({ int x_ = (a); int y_ = (b); x_ > y_ ? x_ : y_; })\n"
    "int f(int a, int b) { return MAX(a, b) + MAX(a + 1, 2 * b); }",
    "text_functions": "#include <memory.h>\nint f(char A[8], char B[8], int n) { A[7] = B[7] = 0;\n"
    "return memcmp(A, B, n & 7) + 3 * (int)strlen(A) + (strcmp(A, B) < 0) + (strncmp(A, B, 3) > 0); }",
    "copies_between_widths": "#include <string.h>\nunsigned f(unsigned char B[8], unsigned W[2], float x) {\n"
    "unsigned v; memcpy(&v, B + 4, 4); memcpy(W, B, 8); memcpy(B + 2, &x, sizeof x);\n"
    "memset(W + 1, 0x5a, 4); return v; }",
    "built_in_functions": "int f(unsigned n, unsigned long long k) {\n"
    "return __builtin_popcount(n) + __builtin_clz(n | 1)\n"
    "+ __builtin_ctzll(k | 256) + (int)__builtin_bswap32(n) + __builtin_expect(n > 3, 1)\n"
    "+ (int)__builtin_offsetof(struct { char a; short b; int c; }, c); }",
}


@pytest.mark.parametrize("source", ACCEPTED.values(), ids=ACCEPTED)
def test_front_end_reads_foreign_c_as_gcc_does(tmp_path: Path, source: str) -> None:
    check_front_end(source, "f", tmp_path, runs=20)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "int f(int n) { a: n++; if (n < 9) goto a; return n; }",
            r"goto must go forward, .*, got goto a .*:1\)",
        ),
        (
            "int f(int n) { if (n) goto a; while (n < 3) { n++; a: n += 2; } return n; }",
            r"goto must .* got goto a .*",
        ),
        (
            "int g(int n) { return n < 2 ? 1 : n * g(n - 1); }\nint f(int n) { return g(n); }",
            r"a function must call itself only as its last step .*",
        ),
        (
            "int f(int (*A)[4], int n) { return A[n][1]; }",
            r"a pointer argument must have a size to be indexed .*",
        ),
        (
            "int g(int);\nint f(int n)\n{\n  return n +\n    g(n);\n}",
            r"a called .* in the file, or be one of abs, .*cos, .*memcmp, .*sin, .* a call of g \(f\.c:5\)",
        ),
        (
            "#include <string.h>\nstruct s { int a, *p; };\nint f(int n)\n{\n"
            "  struct s v, w;\n  return memcmp(&v, &w, 4);\n}",
            r"a structure with pointers must not be used as bytes .*, got struct s \(f\.c:5\)",
        ),
        (
            "struct s { int *p; int i; };\nint f(struct s A[3]) { return A[0].i; }",
            r"a structure must hold numbers to be an argument .*, got a pointer in it \(A\) .*",
        ),
    ],
)
def test_front_end_rejects_foreign_c_that_it_cannot_build(source: str, message: str) -> None:
    with pytest.raises(HlsError, match=f"^{message}$"):
        read_function(source, top="f", file="f.c")


def native(source: str, folder: Path) -> tuple[str, str | None, int | None]:
    interface = read_interface(source, "f")
    run = run_native(source, interface, draw_data(interface, "{}", seed=0), folder=folder)
    return run.status, run.reason, run.returned


def test_functions_that_a_program_only_declares_are_those_of_the_headers(tmp_path: Path) -> None:
    body = "double f(double x) { return sin(x) + atan2(x, 2.0); }"
    declared = f"double sin(double); double atan2(double, double);\n{body}"
    included = f"#include <math.h>\n{body}"
    assert is_library_needed(declared)
    assert not is_library_needed(included)
    assert native(declared, tmp_path / "a") == native(included, tmp_path / "b")
    assert (
        compile_program(declared, top="f", options=HlsOptions()).verilog
        == compile_program(included, top="f", options=HlsOptions()).verilog
    )


def test_a_program_defines_functions_of_the_headers_itself(tmp_path: Path) -> None:
    source = "#include <math.h>\ndouble floor(double x) { return x + 100; }\n"
    source += "double f(double x) { return floor(x) + ceil(x); }"
    assert own_names(source) == ("floor",)
    assert own_names("if (floor(x)) { }") == ()
    status, _, bits = native(source, tmp_path)
    assert status == "ok"
    assert bits is not None
    assert struct.unpack("<d", struct.pack("<Q", bits))[0] > 98
    assert compile_program(source, top="f", options=HlsOptions()).verilog


def test_own_names_of_the_headers_are_all_there() -> None:
    text = (INCLUDE_FOLDER / "simfoundry" / "own.h").read_text()
    assert [n for n in library_functions() if f"SIMFOUNDRY_OWN_{n}\n" not in text] == []
    assert "-DSIMFOUNDRY_OWN_sin" in header_options("#define sin mine\n")


EXPANDED = """#include <math.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "parts/local.h"
double f(double x[N], unsigned char b[8]) {
    double s = 0;
    assert(N == 4);
    for (int i = 0; i < N; i++) s += sin(x[i]) + (isnan(x[i]) ? 1 : 0);
    return s > INFINITY ? NAN : s + memcmp(b, b + 4, 4) + twice(b[0]);
}
int main(int argc, char **argv) { FILE *file = fopen(argv[0], "r"); return printf("%d", argc); }
"""


@pytest.mark.parametrize("options", [("-E",), ("-E", "-P"), ("-E", "-O2")], ids=" ".join)
def test_output_of_gcc_is_the_program(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "local.h").write_text("#define N 4\nstatic int twice(int a) { return 2 * a; }\n")
    (tmp_path / "f.c").write_text(EXPANDED)
    argv = ["gcc", *options, "f.c", "-o", "f.i"]
    subprocess.run(argv, cwd=tmp_path, check=True)
    plain, expanded = (bundle_source(tmp_path / name) for name in ("f.c", "f.i"))
    assert native(expanded, tmp_path / "a") == native(plain, tmp_path / "b")
    assert native(plain, tmp_path / "c")[0] == "ok"


def test_bundle_source_takes_further_files(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int g(int);\nint f(int n) { return g(n); }\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "g.c").write_text("int g(int a)\n{\n  return b;\n}\n")
    source = bundle_source(tmp_path / "f.c", others=[tmp_path / "lib" / "g.c"])
    with pytest.raises(HlsError, match=r"^a name must be declared, got 'b' \(.*g\.c:3\)$"):
        read_function(source, top="f", file="f.c")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            '# 1 "../inc/h.h"\n__attribute__((noinline)) static int g(int *a, int i) { return a[i | 4]; }\n'
            '# 1 "k.c"\nint f(int a[4], int n) { return g(a, n & 7); }',
            "index out of bounds reading a (../inc/h.h:1)",
        ),
        (
            '# 1 "inc/h.h"\nstatic int g(int a, int i) { return a << i; }\n# 1 "k.c"\n'
            "int f(int a) { return g(a | 1, 40 + (a & 1)); }",
            "shift exponent",
        ),
        (
            "#include <string.h>\nint f(char a[4])\n{\n"
            "  for (int i = 0; i < 4; i++) a[i] = 1;\n  return strlen(a);\n}",
            "index out of bounds reading a (kernel.c:5)",
        ),
    ],
)
def test_undefined_behaviour_in_any_file_is_rejected_with_its_line(
    tmp_path: Path, source: str, reason: str
) -> None:
    status, got, _ = native(source, tmp_path)
    assert status == "rejected"
    assert f"C must have defined behaviour, got {reason}" in str(got)
