"""Forms of C that people write and earlier engines refused, against gcc."""

from __future__ import annotations

from pathlib import Path

import pytest
from native_pairs import check_front_end
from random_sources import PACKED
from test_program_cases import FOLDER, PROGRAM_KEYS

from pipelines.c import HlsError, read_interface, with_plain_arguments
from pipelines.c.frontend import read_function
from pipelines.hls import HlsOptions, compile_program
from pipelines.hls.rules import later_rules
from tests.support.case_files import sources_of

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


def test_plain_arguments_stay() -> None:
    assert with_plain_arguments("int f(int *p) { return *p; }", "f") == ("int f(int *p) { return *p; }", "f")


def test_a_function_pointer_in_an_argument_is_refused() -> None:
    with pytest.raises(HlsError, match=r"got a function pointer \(s\.g\)"):
        with_plain_arguments("struct s { int *p; int (*g)(int); }; int f(struct s *s) { return *s->p; }", "f")


def test_constant_pointers_need_no_memory() -> None:
    source = sources_of(FOLDER / "programs" / "pointer_tables.c", PROGRAM_KEYS)["members"]
    function = read_function(source, top="f")
    assert not any(array.name.endswith("_at") for array in function.arrays)
    assert "table_run_which" in compile_program(source, top="f", options=HlsOptions()).verilog


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
