"""Loops written as strips give what the program gives, and let own synthesis see what arrays allow."""

from __future__ import annotations

from pathlib import Path

import pytest
from affine_programs import Counted, Store, c_text, programs, run
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling import ToolContext, count_design
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.pragmas import Configuration, LoopChoice
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import bound, read_target
from pipelines.pragmas.configuration import FINE
from pipelines.pragmas.search import OwnHls, evaluators
from pipelines.pragmas.search.evaluators import same_results
from pipelines.pragmas.search.source_text import Strips, strip_loops
from pipelines.programs import program_from_file
from pipelines.schemas import OK, TOOL_ERROR, ProgramRow
from tests.support.labelling import label_options

TARGET = read_target("simfoundry")

TRIANGLE = """\
void triangle(float A[9][9], float x[9])
{
  int i, j;
  for (i = 0; i < 9; i++)
    for (j = 0; j <= i; j++) /* for (j = 0; a comment */
      x[i] += A[i][j];
}
"""

SCALED = """\
void scaled(float beta, float D[8][12], float T[8][6], float C[6][12])
{
  int i, j, k;
  for (i = 0; i < 8; i++)
    for (j = 0; j < 12; j++) {
      D[i][j] *= beta;
      for (k = 0; k < 6; ++k)
        D[i][j] += T[i][k] * C[k][j];
    }
}
"""

SOLVES = """\
void solves(float A[12][12], float B[12][12])
{
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++)
      for (int k = i + 1; k < 12; k++)
        B[i][j] += A[k][i] * B[k][j];
}
"""


def row(text: str, folder: Path, name: str = "f") -> ProgramRow:
    file = folder / f"{name}.c"
    file.write_text(text)
    return program_from_file(file, top=name)


def stripped(text: str, top: str, **factors: int) -> Strips | None:
    return strip_loops(text, summarise(text, top), factors)


def evaluator(text: str, name: str, folder: Path) -> OwnHls:
    return OwnHls(
        program=row(text, folder, name),
        summary=summarise(text, name),
        cache=ContentCache(folder=folder / "cache"),
        base=HlsOptions(transforms=TransformOptions(unsafe_math=True)),
    )


# ---- the text --------------------------------------------------------------------------------------


@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(programs(), st.data())
@pytest.mark.slow
def test_random_programs_give_the_same_in_strips(
    tmp_path_factory: pytest.TempPathFactory, body: tuple[Counted | Store, ...], data: st.DataObject
) -> None:
    facts = run(body)
    assume(all(max(trips) > 0 for trips in facts.trips.values()))
    assume(len(facts.trips) == c_text(body).count("for ("))
    text = c_text(body)
    summary = summarise(text, "f")
    factors = {name: data.draw(st.integers(2, 4), name) for name in summary.loops}
    found = strip_loops(text, summary, factors)
    assume(found is not None)
    assert found is not None
    event(f"{len(found.stripped)} strips, {sum(found.stripped.values())} with a rest")
    folder = tmp_path_factory.mktemp("strips")
    cache = ContentCache(folder=folder / "cache")
    first, second = row(text, folder), row(found.source, folder)
    assert same_results(first, second, cache, label_options()), found.source


def test_a_loop_of_no_constant_trip_count_has_a_rest(tmp_path: Path) -> None:
    found = stripped(TRIANGLE, "triangle", L1=4)
    assert found is not None
    assert found.stripped == {"L1": True}
    assert "L0_loop: for (i = 0; i < 9; i++)" in found.source
    assert "L1_rest: for (int j = (0) + (((i) + 1) - (0)) / 4 * 4; j < (i) + 1; j++)" in found.source
    cache = ContentCache(folder=tmp_path / "cache")
    first, second = row(TRIANGLE, tmp_path, "triangle"), row(found.source, tmp_path, "triangle")
    assert same_results(first, second, cache, label_options())


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (("j++)", "j += 2)"), "another step"),
        (("int i, j;", "int i; long j;"), "another type"),
        (("int i, j;", "int i; unsigned int j;"), "another type"),
        (("j <= i", "i >= j"), "a bound that is written the other way round"),
        (("x[i] += A[i][j];\n", "x[i] += A[i][j];\n  x[0] = x[0] + j;\n"), "the counter is read later"),
        (("    for (j", "    inner: for (j"), "a label of its own"),
        (("float A", "int L1_lane, float A"), "a name that strips have"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_loops_stay_as_they_are(changed: tuple[str, str], why: str) -> None:
    text = TRIANGLE.replace(*changed)
    assert text != TRIANGLE, why
    summary = summarise(text, "triangle", relaxed=True)
    inner = list(summary.loops)[1]
    assert strip_loops(text, summary, {inner: 2}) is None


def test_a_factor_that_leaves_a_rest_around_loops_is_no_strip() -> None:
    assert stripped(SCALED, "scaled", L1=5) is None
    assert stripped(SCALED, "scaled", L1=4) is not None


# ---- own synthesis ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_pipeline_that_waits_for_its_array_is_made_again_in_strips(tmp_path: Path) -> None:
    """In a flattened nest the engine cannot tell elements of two steps apart: 2mm took 37 times its bound."""
    own = evaluator(SCALED, "scaled", tmp_path)
    asked = Configuration(loops={"L1": LoopChoice(pipeline=FINE, unroll=2)})
    found, least = own.evaluate(asked), bound(own.summary, asked, TARGET).latency_cycles
    assert (found.status, found.strips, found.not_applied) == (OK, True, ())
    assert found.latency_cycles is not None
    assert least <= found.latency_cycles < 3 * least
    plain = own._measure(own.program, own.options_for(asked))[0]  # pyright: ignore[reportPrivateUsage]
    assert plain.latency_cycles is not None
    assert plain.latency_cycles > 3 * found.latency_cycles
    assert own.evaluate(asked) == found


@pytest.mark.parametrize(
    ("reason", "waits"),
    [
        ("II 106: ResMII 1 (store D__1), RecMII 106 (array D__0, lines 216, 218)", True),
        ("II 1: ResMII 1 (store C), RecMII 1; II 6: ResMII 2 (load A), RecMII 6 (array C__0, line 3)", True),
        ("II 2: ResMII 2 (load B), RecMII 2 (variable s, line 3)", False),
        ("II 5: ResMII 5 (load A), RecMII 2 (array A, line 3)", False),
    ],
)
def test_what_a_pipeline_waits_for_is_read_from_its_outcome(reason: str, *, waits: bool) -> None:
    """These are the engine's own words; the test below makes it say them."""
    assert evaluators.waits_for_array(reason) is waits


def test_the_engine_says_that_a_pipeline_waits_for_its_array(tmp_path: Path) -> None:
    own = evaluator(SCALED, "scaled", tmp_path)
    asked = Configuration(loops={"L1": LoopChoice(pipeline=FINE, unroll=2)})
    made = count_design(
        own.program, own.options_for(asked), ToolContext(cache=own.cache, options=own.options)
    )
    assert any(evaluators.waits_for_array(outcome.reason) for outcome in made.outcomes)


@pytest.mark.slow
def test_strips_that_give_something_else_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = evaluator(SCALED, "scaled", tmp_path)
    asked = Configuration(loops={"L1": LoopChoice(pipeline=FINE, unroll=2)})
    written = own.with_strips(asked)
    assert written is not None
    wrong = (own.program.source.replace("*= beta", "*= 2.0f * beta"), written[1].directives)
    monkeypatch.setattr(evaluators, "strips_design", lambda *_: wrong)
    found = own.evaluate(asked)
    assert (found.status, found.strips) == (OK, False)
    program, options = own.with_strips(asked) or written
    refused = own._measure(program, options)[0]  # pyright: ignore[reportPrivateUsage]
    assert refused.status == TOOL_ERROR
    assert (
        refused.reason == "the text with strips must give what the program gives natively, got other results"
    )


@pytest.mark.slow
def test_a_factor_of_a_loop_without_a_constant_trip_count_makes_it_faster(tmp_path: Path) -> None:
    text = TRIANGLE.replace("9", "48").replace("x[i] += A[i][j]", "A[i][j] = A[i][j] * x[j] + 1.0f")
    own = evaluator(text, "triangle", tmp_path)
    found = [own.evaluate(Configuration(loops={"L1": LoopChoice(pipeline=FINE, unroll=n)})) for n in (1, 4)]
    assert [answer.status for answer in found] == [OK, OK]
    assert found[1].latency_cycles is not None
    assert found[0].latency_cycles is not None
    assert found[1].latency_cycles < found[0].latency_cycles


@pytest.mark.slow
@pytest.mark.sample(3)
@pytest.mark.parametrize("copies", [1, 2, 3, 4, 12])
def test_copies_around_loops_whose_trip_counts_vary(copies: int, tmp_path: Path) -> None:
    """trmm took 231,963 cycles without them and 2,901 with 80."""
    own = evaluator(SOLVES, "solves", tmp_path)
    assert own.summary.loops["L2"].bounded_by == {"L0"}
    asked = Configuration(loops={"L1": LoopChoice(unroll=copies), "L2": LoopChoice(pipeline=FINE)})
    found, least = own.evaluate(asked), bound(own.summary, asked, TARGET).latency_cycles
    assert found.status == OK
    assert found.latency_cycles is not None
    assert least <= found.latency_cycles < 5 * least


def test_copies_of_a_loop_that_bounds_inside_mention_are_none() -> None:
    """Loops of different headers do not become one, so that copies run one after the other."""
    summary = summarise(SOLVES, "solves")
    plain = Configuration(loops={"L2": LoopChoice(pipeline=FINE)})
    copied = Configuration(loops={**plain.loops, "L0": LoopChoice(unroll=4)})
    assert bound(summary, copied, TARGET).latency_cycles == bound(summary, plain, TARGET).latency_cycles
