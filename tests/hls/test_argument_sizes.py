"""Sizes of pointer arguments: given by a pragma, or derived from what accesses reach."""

from __future__ import annotations

import pytest

from pipelines.c import HlsError, derive_sizes, read_interface, sizes_text
from pipelines.c.signature import ScalarType


def drawn(name: str, kind: ScalarType) -> tuple[int, int]:
    return {"few": (0, 3), "many": (0, 1 << 20)}.get(name, (-16 if kind.signed else 0, 15))


CASES = {
    "constant_index": ("int f(int *a) { return a[0] + a[6]; }", {"a": 7}),
    "no_index": ("int f(int *a, int b[]) { return *a + b[0]; }", {}),
    "constant_loop": ("void f(short a[]) { for (int i = 2; i < 10; i += 3) a[2 * i + 1] = i; }", {"a": 18}),
    "loop_down": ("void f(short *a) { for (int i = 9; i >= 0; i--) a[i + 1] = i; }", {"a": 11}),
    "triangle": ("int f(int *a) { int s = 0; for (int i = 0; i < 4; i++) for (int j = 0; j <= i; j++)"
                 " s += a[4 * i + j]; return s; }", {"a": 16}),
    "scalar_bound": ("int f(int n, int *a) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }",
                     {"a": 15}),
    "named_bound": ("int f(int few, int a[few]) { return a[few] + a[few - 1]; }", {"a": 4}),
    "moving_pointer": ("int f(unsigned long n, int *a, int *b) { int s = 0;"
                       " while (n--) s += *a++; for (int i = 0; i < 5; i++) *b++ = s; return s; }",
                       {"a": 15, "b": 5}),
    "mask": ("int f(unsigned x, unsigned char *t, int *u) { return t[x & 31] + u[t[0] >> 2]; }",
             {"t": 16, "u": 64}),
    "beyond_the_drawn": ("int f(unsigned char *c, int *a) { if (c[0] >> 4 != 13) return 0; return a[c[1]]; }",
                         {"c": 2, "a": 256}),
    "drawn_index": ("int f(const int *t, int *u) { return u[t[1]]; }", {"t": 2, "u": 16}),
    "guarded": ("int f(int many, int *a) { return many < 9 ? a[many] : 0; }", {"a": 9}),
    "left_early": ("int f(int *a) { for (int i = 0; i < 100; i++) { if (i == 7) return 1; a[i] = 0; }"
                   " return 0; }", {"a": 7}),
    "struct": ("struct p { int x, y; }; int f(struct p *a) { return a[3].y; }", {"a": 4}),
    "large_rows": ("struct p { int x[4096]; }; int f(struct p *a) { return a[2].x[7]; }", {"a": 3}),
    "bytes": ("unsigned f(const void *d) { const unsigned char *p = d; unsigned s = 0;"
              " for (int i = 0; i < 12; i++) s += p[i]; return s; }", {"d": 12}),
    "callee": ("static void g(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }"
               "void f(int *a) { g(a, 3); g(a + 3, 4); }", {"a": 7}),
    "one_of_two_open": ("int f(int *a, int *b) { int s = 0; while (b[s]) s++; return a[5] + s; }", {"a": 6}),
    "highest_value": ("int f(unsigned n, int *a) { int s = *a; for (n = n - 1; n > 0; n--) s += *++a;"
                      " return s; }", {"a": 15}),
}  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", CASES)
def test_derive_sizes_gives_the_smallest_that_hold_every_access(name: str) -> None:
    source, sizes = CASES[name]
    assert derive_sizes(source, top="f", drawn=drawn) == sizes


def test_a_size_pragma_gives_a_pointer_its_shape() -> None:
    source = (
        "struct p { int x, y; };\nint f(int *a, struct p *b, int (*c)[4]) { return a[1] + b[2].x + c[1][1]; }"
    )
    interface = read_interface(sizes_text({"a": 9, "b": 3, "c": 2}) + source, "f")
    assert [a.shape for a in interface.arguments] == [(9,), (3, 2), (2, 4)]


def test_derive_sizes_rejects_what_the_front_end_rejects() -> None:
    with pytest.raises(HlsError, match=r"^a name must be declared, got 'm' \(f\.c:1\)$"):
        derive_sizes("int f(int *a) { return a[m]; }", top="f", drawn=drawn, file="f.c")
