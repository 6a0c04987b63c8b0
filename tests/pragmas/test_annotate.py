"""C with pragmas: where they stand, and that the text is otherwise the same program."""

from __future__ import annotations

import pytest

from pipelines.pragmas import Configuration, LoopChoice, PragmaError
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.configuration import FINE
from pipelines.pragmas.search import MERLIN, VITIS, annotate
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
