"""Attributes and pragmas that change the layout of types, against gcc."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from native_pairs import check_front_end
from test_written_forms import bit_field_programs

from pipelines.c import HlsError
from pipelines.c.frontend import read_function
from pipelines.hls.rules import LAYOUTS, later_rules

PACKED = "__attribute__((packed))"
LAYOUT_PROGRAMS = {
    "after_the_body": f"struct s {{ char a; int b; short c; }} {PACKED};\n"
    "int f(int n) { struct s t = {1, n, 3}; return sizeof t + __builtin_offsetof(struct s, c) + t.b; }",
    "after_the_keyword": f"struct {PACKED} s {{ char a; long b; }};\n"
    "typedef struct s s_t; int f(int n) { s_t t[3]; t[n & 1].b = n; return sizeof t + (int)t[n & 1].b; }",
    "typedef": "#define PACK(x) x __attribute__((__packed__))\ntypedef PACK(struct { char a; int b; "
    "}) s_t;\n"
    "int f(int n) { return sizeof(s_t) * n; }",
    "of_a_name": f"typedef struct {{ char a; int b; }} s_t {PACKED}; int f(int n) {{ return sizeof(s_t) "
    f"* n; }}",
    "member": f"struct s {{ char a; int b {PACKED}; int c; }}; int f(int n) {{ return n +\n"
    "__builtin_offsetof(struct s, b); }",
    "arguments": f"struct {PACKED} s {{ char a; int b; short c[3]; double d; }};\n"
    "int f(struct s *p, const struct s q[3], int n) { p->b += q[n & 1].b + n; p->c[1] = q[2].c[0];\n"
    "p->d = q[0].d + 1; return p->a; }",
    "bytes": "#include <string.h>\n#pragma pack(push, 1)\nstruct head { unsigned char kind; unsigned "
    "length;\n"
    "unsigned short sum; };\n#pragma pack(pop)\nstruct other { char a; int b; };\n"
    "unsigned f(unsigned char B[32], int n) { struct head h; memcpy(&h, B + (n & 3), sizeof h); h.sum "
    "+= h.length;\n"
    "const struct head *p = (const struct head *)(B + 3); memcpy(B + 16, &h, sizeof h);\n"
    "return p->length + h.kind + sizeof(struct other); }",
    "union": f"union u {{ struct {PACKED} {{ char a; int b; short c; }} s; unsigned char b[7]; }};\n"
    "int f(int n) { union u v; for (int i = 0; i < 7; i++) v.b[i] = n * (i + 3); v.s.b += n;\n"
    "return v.s.b + v.b[6] + sizeof v + v.s.c; }",
    "aligned": "struct s { char a; __attribute__((aligned(8))) char b; short c; } "
    "__attribute__((aligned(32)));\n"
    "typedef int wide __attribute__((aligned(16))); struct t { char a; wide b; _Alignas(8) char c; };\n"
    "int f(struct s *p, int n) { p->b = n; return sizeof(struct s) * 3 + sizeof(struct t) + "
    "_Alignof(wide) +\n"
    "__builtin_offsetof(struct t, c) + _Alignof(struct s); }",
    "one_type_with_gaps": "struct s { int a; _Alignas(16) int b; }; int f(struct s *p, int n) { p[0].b "
    "+= n;\n"
    "return p->a; }",
    "mode": "typedef int wide __attribute__((mode(DI))); typedef unsigned half "
    "__attribute__((__mode__(__HI__)));\n"
    "long f(int n) { wide a = n; half b = n * 7; a = a << 35 | b; return a; }",
    "small_enumeration": f"enum {PACKED} e {{ A = 1, B = 200 }}; enum g {{ C = -1, D = 300 }} {PACKED};\n"
    "struct s { enum e e; enum g g; }; int f(int n) { struct s t = {n & 1 ? A : B, C};\n"
    "return t.e + t.g + sizeof t; }",
    "pragma_operator": 'int g(int n); _Pragma("pack(2)")\nstruct s { char a; int b; long c; };\n'
    '_Pragma("pack()")\nstruct t { char a; int b; }; int f(int n) { return n + sizeof(struct s) +\n'
    "1000 * sizeof(struct t); }",
    "static": f"static struct {PACKED} {{ char a; int b; }} kept = {{3, 0x12345678}};\n"
    "int f(int n) { kept.b += n; return ((unsigned char *)&kept)[n & 3]; }",
    "bits": f"struct {PACKED} s {{ unsigned a : 4, b : 4; unsigned short c : 7; }}; struct t {{ struct "
    f"s s; char d; }};\n"
    "int f(int n) { struct s v = {n, n >> 3, n * 5}; return v.a + v.b * 3 + v.c + 100 * sizeof(struct "
    "t); }",
}


@pytest.mark.parametrize("name", LAYOUT_PROGRAMS)
def test_layouts_are_those_of_native_c(name: str, tmp_path: Path) -> None:
    check_front_end(LAYOUT_PROGRAMS[name], "f", tmp_path, runs=8)
    assert LAYOUTS in later_rules(LAYOUT_PROGRAMS[name], "f") or name == "of_a_name"


def random_layout(seed: int) -> str:
    """A program with the sizes and offsets of structures and unions with random attributes."""
    draw = random.Random(seed)
    kinds = ["char", "short", "int", "long", "float", "double", "char", "wide", "near", "short[3]"]
    lines = [
        "typedef int wide __attribute__((aligned(16)));",
        "typedef int near __attribute__((aligned(2)));",
    ]
    sums: list[str] = []
    for number in range(4):
        pack = draw.choice(("", "", "1", "2", "4", "push, 1", "pop"))
        lines += [f"#pragma pack({pack})"] if draw.random() < 0.5 else []
        whole = draw.choice(("", "", "packed", "aligned(8)", "packed, aligned(4)", "aligned(2)", "noinline"))
        members: list[str] = []
        for place in range(draw.randrange(1, 6)):
            kind, _, size = draw.choice(kinds).partition("[")
            own = draw.choice(("", "", "", "packed", "aligned(4)", "aligned(16)", "packed, aligned(2)"))
            mark = f" __attribute__(({own}))" if own else ""
            before = draw.choice(("", "_Alignas(8) ")) if not own and kind in ("char", "int") else ""
            members.append(f"{before}{kind} m{place}{f'[{size}' if size else ''}{mark};")
            sums.append(f"__builtin_offsetof(struct s{number}, m{place})")
        lines.append(f"struct s{number} {{ {' '.join(members)} }} __attribute__(({whole}));")
        sums += [f"sizeof(struct s{number})", f"_Alignof(struct s{number})"]
        kinds.append(f"struct s{number}")
    total = " ".join(f"r = r * 31 + {value};" for value in sums)
    return "\n".join([*lines, f"unsigned long f(int n) {{ unsigned long r = n; {total} return r; }}"])


@pytest.mark.parametrize("seed", range(12))
def test_random_layouts_are_those_of_native_c(seed: int, tmp_path: Path) -> None:
    check_front_end(random_layout(seed), "f", tmp_path, runs=1)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "typedef int v __attribute__((vector_size(16)));\nint f(int n) { v a; return n; }",
            r"a mode must be .*, got vector_size\(16\) \(program\.c:1\)",
        ),
        (
            "typedef int big\n__attribute__((mode(TI)));\nint f(int n) { big a = n; return a; }",
            r"a mode must be .*, got TI \(program\.c:2\)",
        ),
        (
            "struct s { char a; int b\n__attribute__((aligned(sizeof(long)))); };\n"
            "int f(int n) { return sizeof(struct s); }",
            r"a layout must be .*, got aligned\(sizeof\(long\)\) \(program\.c:2\)",
        ),
        (
            f"struct {PACKED} s {{ unsigned a : 6; unsigned b : 30; }};\n"
            "int f(int n) { struct s t = {n}; return t.a; }",
            "a bit-field of a packed structure must lie inside one number .*, got b ",
        ),
        (
            f"struct {PACKED} s {{ short a; int b; }};\n"
            "int f(int A[4], int n) { struct s *p = (struct s *)A; return p[n & 1].b; }",
            "a packed structure must lie in memory of at most 16 bits per element, got struct s in "
            "elements of 32",
        ),
    ],
)
def test_layouts_reject_what_is_not_followed(source: str, message: str) -> None:
    with pytest.raises(HlsError, match=f"^{message}"):
        read_function(source, top="f")


@pytest.mark.parametrize(
    "source",
    [
        f"struct {PACKED} s {{ char a; int b; }}; int f(int n) {{ struct s t = {{1, n}}; return t.b; }}",
        "int f(int n) { __attribute__((aligned(16))) int a[4] = {n}; return a[n & 3]; }",
        f"struct {PACKED} s {{ int a, b; }}; int f(struct s *p, int n) {{ return p->a + sizeof *p; }}",
        "__attribute__((noinline)) int f(int n) { return n; }",
    ],
)
def test_layouts_change_the_identity_of_their_programs_only(source: str) -> None:
    assert later_rules(source, "f") == ()
    assert read_function(source, top="f") == read_function(source, top="f", natural=True)


@pytest.mark.parametrize("seed", [4, 5, 7, 22, 41, 53])
def test_packed_bit_fields_hold_what_native_c_holds(seed: int, tmp_path: Path) -> None:
    whole = (PACKED, "__attribute__((packed, aligned(4)))", "")[seed % 3]
    pragma = "" if whole else f"#pragma pack({(1, 2, 4)[seed // 3 % 3]})\n"
    source = pragma + bit_field_programs(seed).replace("struct s {", f"struct {whole} s {{", 1)
    check_front_end(source, "f", tmp_path, runs=6)
