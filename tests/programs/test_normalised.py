"""Which programs have one normalised syntax tree."""

from __future__ import annotations

import re

import pytest

from pipelines.c import HlsError
from pipelines.programs import SuiteOptions, suite_programs
from pipelines.programs.normalised import ast_hash, ast_hash_or_none
from pipelines.programs.suites import Generation

PLAIN = """
struct pair { int left; unsigned right; };
static int scale(int x) { return x * 3 + 16; }
void top(int a[8], struct pair p[4]) {
    for (int i = 0; i < 8; i++) {
        if (a[i] > 0) {
            a[i] = scale(a[i]) + p[i / 2].left;
        }
    }
}
"""


def same(other: str, top: str = "top", plain: str = PLAIN) -> bool:
    return ast_hash(plain, "top") == ast_hash(other, top)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i", "j"),
        ("x", "value"),
        ("pair", "couple"),
        ("left", "first"),
        ("scale", "helper"),
        ("16", "0x10"),
        ("16", "020"),
        ("8", "LENGTH"),
        ("unsigned", "unsigned int"),
        ("unsigned", "uint32_t"),
        ("int a[8]", "const int a[8]"),
        ("static int scale", "inline int scale"),
        ("for", "L1: for"),
        ("for", "\n#pragma HLS pipeline\n for"),
        ("for", "/* a loop */\n\n for"),
        ("void top", "int unused(void) { return 1; }\nvoid top"),
        ("p[i / 2].left", "(p[(i / 2)]).left"),
    ],
)
def test_spelling_does_not_matter(old: str, new: str) -> None:
    text = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, PLAIN)
    assert text != PLAIN
    assert same("#include <stdint.h>\n#define LENGTH 8\n" + text)


def test_braces_around_one_statement_and_the_name_of_the_top_do_not_matter() -> None:
    text = PLAIN.replace("if (a[i] > 0) {", "if (a[i] > 0)").replace(".left;\n        }", ".left;")
    assert same(text.replace("void top", "void other"), top="other")


def test_a_typedef_is_its_type() -> None:
    plain = "void top(int a[2][3]) { a[0][1] = 1; }"
    assert same("typedef int row[3]; void top(row m[2]) { m[0][1] = 1; }", plain=plain)


def test_shadowed_names_are_told_apart() -> None:
    plain = "int top(int a) { int b = a; { int a = 2; b += a; } return b; }"
    assert same("int top(int a) { int b = a; { int c = 2; b += c; } return b; }", plain=plain)
    assert not same("int top(int a) { int b = a; { int c = 2; b += a; } return b; }", plain=plain)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("* 3", "* 4"),
        ("+ 16", "- 16"),
        ("x * 3", "3 * x"),
        ("[8]", "[9]"),
        ("int left", "short left"),
        ("a[i] > 0", "a[i] >= 0"),
        ("p[i / 2].left", "p[i / 2].right"),
        ("i++", "i += 1"),
        ("16", "16u"),
        ("void top(int a[8], struct pair p[4])", "void top(struct pair p[4], int a[8])"),
    ],
)
def test_what_a_program_does_matters(old: str, new: str) -> None:
    assert old in PLAIN
    assert not same(PLAIN.replace(old, new))


def test_tables_and_enumerators_matter_by_their_values() -> None:
    plain = "static const int t[2] = {1, 2}; enum { A = 1, B }; int top(int i) { return t[i & 1] + B; }"
    assert same("enum { X = 1, Y }; int u[2] = {1, 2}; int top(int k) { return u[k & 1] + Y; }", plain=plain)
    assert not same(plain.replace("{1, 2}", "{1, 3}"), plain=plain)
    assert not same(plain.replace("A = 1", "A = 2"), plain=plain)


def test_functions_of_headers_matter_by_their_names() -> None:
    plain = "#include <math.h>\nfloat top(float x) { return sinf(x); }"
    assert same("#include <stdlib.h>\n" + plain.replace("x)", "y)"), plain=plain)
    assert not same(plain.replace("sinf", "cosf"), plain=plain)


def test_every_ok_program_of_a_suite_has_a_hash_of_its_own() -> None:
    options = SuiteOptions(sizes=("small",), ast=Generation(count=3), dataflow=Generation(count=3))
    rows = [row for suite in ("linear_algebra", "ast", "dataflow") for row in suite_programs(suite, options)]
    hashes = [row.ast_hash for row in rows if row.status == "ok"]
    assert None not in hashes
    assert len(set(hashes)) == len(hashes)
    assert all(row.prompt is row.prompt_sha256 is row.model is row.reply_sha256 is None for row in rows)


@pytest.mark.parametrize("text", ["int top(", "int other(void) { return 1; }", "#include <nothing.h>\n"])
def test_text_that_is_no_program_has_no_hash(text: str) -> None:
    assert ast_hash_or_none(text, "top") is None


def test_ast_hash_rejects_an_unknown_top() -> None:
    with pytest.raises(HlsError, match=r"top must be a function of the file, got 'missing'"):
        ast_hash(PLAIN, "missing")


def test_ast_hash_rejects_text_that_is_not_c() -> None:
    with pytest.raises(HlsError, match=r"a program must be C11, got .*"):
        ast_hash("int top(", "top")


def test_ast_hash_rejects_nesting_without_end() -> None:
    with pytest.raises(HlsError, match=r"must nest less deeply, got nesting too deep"):
        ast_hash("int top(void) { return " + "(1+" * 20_000 + "1" + ")" * 20_000 + "; }", "top")
