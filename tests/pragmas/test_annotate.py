"""C with pragmas: where they stand, and that the text is otherwise the same program."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pipelines.c import Directive, directive_json
from pipelines.hls import HlsOptions, compile_program
from pipelines.pragmas import Configuration, LoopChoice, PragmaError
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.configuration import FINE
from pipelines.pragmas.search import MERLIN, OWN, VITIS, annotate
from pipelines.pragmas.search.directives import annotate_directives, hls_directives, strips_design
from pipelines.pragmas.search.source_text import blanked

PLAIN = """\
// for (;;) in a comment is no loop
void scale(float a[8][16], float b[8])
{
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 16; j++)
      a[i][j] = a[i][j] * b[i];
  }
}
"""
CHOSEN = Configuration(loops={"L0": LoopChoice(unroll=2), "L1": LoopChoice(pipeline=FINE, unroll=4)})


def _annotated(style: str, source: str = PLAIN) -> str:
    return annotate(source, summarise(source, "scale"), CHOSEN, style=style)


def test_merlin_pragmas_stand_above_their_loops() -> None:
    assert (
        _annotated(MERLIN)
        == """\
// for (;;) in a comment is no loop
void scale(float a[8][16], float b[8])
{
  #pragma ACCEL parallel factor=2
  for (int i = 0; i < 8; i++) {
    #pragma ACCEL pipeline flatten
    #pragma ACCEL parallel factor=4
    for (int j = 0; j < 16; j++)
      a[i][j] = a[i][j] * b[i];
  }
}
"""
    )


def test_vitis_pragmas_stand_in_bodies_that_get_braces() -> None:
    assert (
        _annotated(VITIS)
        == """\
// for (;;) in a comment is no loop
void scale(float a[8][16], float b[8])
{
  #pragma HLS array_partition variable=a type=cyclic factor=2 dim=1
  #pragma HLS array_partition variable=a type=cyclic factor=4 dim=2
  #pragma HLS array_partition variable=b type=cyclic factor=2 dim=1
  for (int i = 0; i < 8; i++) {
    #pragma HLS pipeline off
    #pragma HLS unroll factor=2
    for (int j = 0; j < 16; j++) {
      #pragma HLS pipeline II=1
      #pragma HLS unroll factor=4
      a[i][j] = a[i][j] * b[i];
    }
  }
}
"""
    )


@pytest.mark.parametrize("style", [MERLIN, VITIS])
def test_annotated_text_is_the_same_program(style: str) -> None:
    plain, annotated = summarise(PLAIN, "scale"), _annotated(style)
    again = summarise(annotated, "scale")
    assert list(again.loops) == list(plain.loops)
    assert again.footprints == plain.footprints


ONE_LINE = (
    "void scale(float a[8][16], float b[8]) { for (int i = 0; i < 8; i++) for (int j = 0; j < 16; j++) "
    "a[i][j] *= b[i]; }\n"
)
CALLED = (
    "static int sum(int a[8]) { int s = 0; for (int i = 0; i < 8; i++) s += a[i]; return s; } "
    "void both(int a[8], int b[8]) { b[0] = sum(a); for (int i = 1; i < 8; i++) b[i] = a[i]; }\n"
)
LABELLED = "void f(int a[8]) { int k = 3; /* x: */ main_loop: for (int i = 0; i < 8; i++) a[i] += k; }\n"
COUNTING = "void f(int a[8]) { int i = 0; while (i < 8) { a[i] = a[i] * 3; i++; } }\n"
SIZED = (
    '#pragma simfoundry size p=8\n# 1 "x.c"\nvoid f(int *p)\n{\n  for (int i = 0; i < 8; i++) p[i] = i;\n}\n'
)
PROGRAMS = {
    "one line": ONE_LINE,
    "called": CALLED,
    "labelled": LABELLED,
    "counting": COUNTING,
    "sized": SIZED,
}


def test_pragmas_of_a_function_in_one_line_stand_above_their_loops() -> None:
    chosen = Configuration(loops={"L0": LoopChoice(unroll=2), "L1": LoopChoice(pipeline=FINE)})
    assert (
        annotate(ONE_LINE, summarise(ONE_LINE, "scale"), chosen, style=MERLIN)
        == """\
void scale(float a[8][16], float b[8]) {
  #pragma ACCEL parallel factor=2
  for (int i = 0; i < 8; i++)
  #pragma ACCEL pipeline flatten
  for (int j = 0; j < 16; j++) a[i][j] *= b[i]; }
"""
    )


@pytest.mark.parametrize("style", [MERLIN, VITIS])
@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_text_with_pragmas_is_the_same_program_with_these_directives(source: str, style: str) -> None:
    top, chosen = _top(source), _all_pipelined(source)
    again = summarise(annotate(source, summarise(source, top), chosen, style=style), top)
    assert list(again.loops) == list(chosen.loops)
    pipelined = _outcomes(annotate(source, summarise(source, top), chosen, style=style), top)
    assert all(f"pipeline {loop}" in pipelined for loop in again.loops if not again.child_loops(loop))


@pytest.mark.parametrize("source", [PLAIN, *PROGRAMS.values()], ids=["plain", *PROGRAMS])
def test_text_in_our_own_style_makes_the_design_of_the_directives(source: str) -> None:
    summary, chosen = summarise(source, _top(source)), _all_pipelined(source)
    directives = hls_directives(summary, chosen)
    assert any(d.kind == "partition" for d in directives)
    annotated = compile_program(
        annotate(source, summary, chosen, style=OWN), top=summary.top, options=HlsOptions()
    )
    plain = compile_program(source, top=summary.top, options=HlsOptions(directives=directives))
    assert _without_comments(annotated.verilog) == _without_comments(plain.verilog)


def _top(source: str) -> str:
    return next(name for name in ("scale", "both", "f") if f" {name}(" in source)


def _all_pipelined(source: str) -> Configuration:
    summary = summarise(source, _top(source))
    choices = {
        name: LoopChoice(pipeline=FINE, unroll=2 if loop.trip_count_max % 2 == 0 else 1)
        if not summary.child_loops(name)
        else LoopChoice()
        for name, loop in summary.loops.items()
    }
    return Configuration(loops=choices)


def _outcomes(source: str, top: str) -> set[str]:
    """Kind and loop of the directives that are applied."""
    applied = [
        json.loads(o.directive)
        for o in compile_program(source, top=top, options=HlsOptions()).outcomes
        if o.applied
    ]
    return {f"{directive['kind']} {directive.get('loop')}" for directive in applied}


def _without_comments(verilog: str) -> str:
    return re.sub(r"//[^\n]*", "", verilog)


def test_nested_statements_without_braces_get_them_at_their_ends() -> None:
    source = """\
void scale(float a[8][16], float b[8])
{
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 16; j++)
      a[i][j] = a[i][j] * b[i];
}
"""
    found = annotate(source, summarise(source, "scale"), CHOSEN, style=VITIS)
    assert found.count("{") == found.count("}") == 3
    assert summarise(found, "scale").loops.keys() == {"L0", "L1"}


def test_blanked_text_keeps_every_line() -> None:
    text = 'a /* for\n (;;) */ \'f\' "o\\"r" // for\n#define X \\\n for\nb'
    found = blanked(text)
    assert found.count("\n") == text.count("\n")
    assert found.split() == ["a", "b"]


def test_annotate_rejects_an_unknown_style() -> None:
    with pytest.raises(PragmaError) as raised:
        annotate(PLAIN, summarise(PLAIN, "scale"), CHOSEN, style="omp")
    assert str(raised.value) == "unknown style: omp; accepted: simfoundry, merlin, vitis"


def test_annotate_rejects_a_loop_that_is_not_in_the_text() -> None:
    with pytest.raises(PragmaError, match=r"no `for` of loop L0 in line 4"):
        annotate("\n\n\n\n\n", summarise(PLAIN, "scale"), CHOSEN)


FEWER_BANKS = (
    Directive(kind="pipeline", loop="L1", value=2),
    Directive(kind="unroll", loop="L1", value=4),
    Directive(kind="partition", variable="a", style="cyclic", value=2, dimension=2),
    Directive(kind="partition", variable="b", style="complete", dimension=1),
)
"""Not the banks that the search derives from the factors."""


@pytest.mark.parametrize("style", [OWN, MERLIN, VITIS])
@pytest.mark.parametrize("source", [PLAIN, ONE_LINE], ids=["plain", "one line"])
def test_directives_are_written_as_they_are_in_every_style(source: str, style: str) -> None:
    text = annotate_directives(source, summarise(source, "scale"), FEWER_BANKS, style=style)
    written = compile_program(text, top="scale", options=HlsOptions())
    asked = compile_program(source, top="scale", options=HlsOptions(directives=FEWER_BANKS))
    read = {o.directive for o in written.outcomes if o.applied}
    flatten = {directive_json(replace(FEWER_BANKS[0], style="flatten" if style == MERLIN else ""))}
    assert read == {directive_json(d) for d in FEWER_BANKS[1:]} | flatten
    assert _without_comments(written.verilog) == _without_comments(asked.verilog)


@pytest.mark.parametrize("style", [OWN, MERLIN, VITIS])
def test_a_text_with_strips_has_its_directives_in_every_style(style: str) -> None:
    summary = summarise(PLAIN, "scale")
    chosen = Configuration(loops={"L1": LoopChoice(pipeline=FINE, unroll=4)})
    strips = strips_design(PLAIN, summary, chosen)
    assert strips is not None
    text = annotate_directives(strips[0], summary, strips[1], style=style)
    written = compile_program(text, top="scale", options=HlsOptions())
    asked = compile_program(strips[0], top="scale", options=HlsOptions(directives=strips[1]))
    assert _without_comments(written.verilog) == _without_comments(asked.verilog)


def test_a_table_that_nothing_writes_has_no_partition() -> None:
    source = (
        "static const int coef[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n"
        "void f(int x[8], int y[8]) { for (int i = 0; i < 8; i++) y[i] = coef[i] * x[i]; }\n"
    )
    directives = hls_directives(summarise(source, "f"), Configuration(loops={"L0": LoopChoice(unroll=4)}))
    assert {d.variable for d in directives if d.kind == "partition"} == {"x", "y"}
    design = compile_program(source, top="f", options=HlsOptions(directives=directives))
    assert all(outcome.applied for outcome in design.outcomes)
