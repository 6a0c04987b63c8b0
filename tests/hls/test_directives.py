"""Directives: JSON, canonical form, and one outcome each."""

from __future__ import annotations

import pytest

from pipelines.c import Directive, HlsError, directive_json, directives_json, parse_directives
from pipelines.c.directives import parse_pragma
from pipelines.hls import HlsOptions, compile_program

NEST = """
void f(int A[8][8]) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            A[i][j] = i + j;
}
"""


def test_directives_round_trip_in_canonical_order() -> None:
    text = '[{"loop": "L1", "kind": "pipeline"}, {"kind": "pipeline", "loop": "L0", "value": 2}]'
    canonical = directives_json(parse_directives(text))
    assert canonical == '[{"kind":"pipeline","loop":"L0","value":2},{"kind":"pipeline","loop":"L1"}]'
    assert directives_json(parse_directives(canonical)) == canonical


@pytest.mark.parametrize(
    "text", ["{}", "[1]", '[{"kind": "pipeline"}]', '[{"kind": "x", "loop": "L0"}]', "["]
)
def test_directives_rejects_other_json(text: str) -> None:
    with pytest.raises(HlsError, match=r"^directives must be a JSON list like \[\{\"kind\": \"pipeline\""):
        parse_directives(text)


def outcomes(*directives: Directive, source: str = NEST) -> dict[str, tuple[bool, str]]:
    compiled = compile_program(source, top="f", options=HlsOptions(directives=directives))
    return {o.directive: (o.applied, o.reason) for o in compiled.outcomes}


def test_applied_pipeline_explains_its_interval() -> None:
    results = outcomes(Directive(kind="pipeline", loop="L1"))
    assert results == {'{"kind":"pipeline","loop":"L1"}': (True, "II 1: ResMII 1 (store A), RecMII 1")}


def test_pipeline_of_an_outer_loop_unrolls_the_loops_inside() -> None:
    results = outcomes(Directive(kind="pipeline", loop="L0"))
    assert results == {'{"kind":"pipeline","loop":"L0"}': (True, "II 8: ResMII 8 (store A), RecMII 1")}


def test_pipeline_of_an_outer_loop_rejects_an_inner_loop_without_constant_trip_count() -> None:
    source = (
        "void f(int n, int A[8][8]) {for (int i = 0; i < 8; i++) for (int j = 0; j < n; j++) A[i][j] = i;}"
    )
    applied, reason = outcomes(Directive(kind="pipeline", loop="L0"), source=source).popitem()[1]
    assert not applied
    assert "L1" in reason


def test_every_copy_of_a_loop_keeps_its_directives() -> None:
    results = outcomes(
        Directive(kind="unroll", loop="L0", value=2),
        Directive(kind="pipeline", loop="L1"),
    )
    assert results['{"kind":"unroll","loop":"L0","value":2}'] == (True, "unrolled by 2")
    assert results['{"kind":"pipeline","loop":"L1"}'][0]


def test_directive_on_a_loop_that_another_removes_is_an_outcome() -> None:
    results = outcomes(Directive(kind="unroll", loop="L1"), Directive(kind="pipeline", loop="L1"))
    reason = "the loop never runs or is gone"
    assert results['{"kind":"pipeline","loop":"L1"}'] == (False, reason)


def test_unknown_pragmas_are_outcomes() -> None:
    source = NEST.replace("        for", "#pragma HLS dataflow\n        for")
    results = outcomes(source=source)
    assert [applied for applied, _ in results.values()] == [False]


def test_directive_rejects_an_unknown_array() -> None:
    directive = Directive(kind="partition", variable="B", style="complete", dimension=1)
    with pytest.raises(HlsError, match=r"^a directive's array must be one of A, got 'B' \(program\.c\)$"):
        outcomes(directive)


def test_directive_rejects_an_unknown_loop() -> None:
    with pytest.raises(HlsError, match=r"^a directive's loop must be one of L0, L1, got 'k' \(program\.c\)$"):
        outcomes(Directive(kind="pipeline", loop="k"))


def test_options_rejects_a_delay_of_zero() -> None:
    with pytest.raises(HlsError, match=r"^memory_read_delay_cycles must be 1 to 1000, got 0$"):
        HlsOptions(memory_read_delay_cycles=0)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("HLS pipeline II=3", '{"kind":"pipeline","loop":"L0","value":3}'),
        ("HLS PIPELINE ii = 2 rewind", '{"kind":"pipeline","loop":"L0","value":2}'),
        ("HLS unroll factor=4", '{"kind":"unroll","loop":"L0","value":4}'),
        ("HLS loop_flatten", '{"kind":"flatten","loop":"L0"}'),
        (
            "HLS array_partition variable=A type=cyclic factor=4 dim=2",
            '{"dimension":2,"kind":"partition","style":"cyclic","value":4,"variable":"A"}',
        ),
        (
            "HLS ARRAY_PARTITION variable=A complete dim=0",
            '{"dimension":0,"kind":"partition","style":"complete","variable":"A"}',
        ),
        ("ACCEL PIPELINE flatten", '{"kind":"pipeline","loop":"L0","style":"flatten"}'),
        ("ACCEL parallel factor=8", '{"kind":"parallel","loop":"L0","value":8}'),
        (
            "ACCEL parallel reduction=s factor=4",
            '{"kind":"reduction","loop":"L0","value":4,"variable":"s"}',
        ),
        ("ACCEL tile factor = 16", '{"kind":"tile","loop":"L0","value":16}'),
        ("ACCEL cache variable=B", '{"kind":"cache","loop":"L0","variable":"B"}'),
        ("clang loop unroll(full)", '{"kind":"unroll","loop":"L0"}'),
        ("clang loop unroll_count(4)", '{"kind":"unroll","loop":"L0","value":4}'),
        ("omp parallel for num_threads(2)", '{"kind":"parallel","loop":"L0","value":2}'),
    ],
)
def test_pragmas_of_every_field_become_canonical_and_round_trip(text: str, canonical: str) -> None:
    parsed = parse_pragma(text, "L0")
    assert parsed is not None
    assert [directive_json(d) for d in parsed] == [canonical]
    assert parse_directives(f"[{canonical}]") == parsed


@pytest.mark.parametrize(
    "text",
    [
        "HLS dataflow",
        "HLS pipeline off",
        "HLS unroll factor=x",
        "HLS array_partition variable=A cyclic",
        "ACCEL tile",
        "ACCEL parallel factor=auto{1}",
        "omp simd",
        "scop",
    ],
)
def test_pragma_rejects_what_is_no_directive(text: str) -> None:
    assert parse_pragma(text, "L0") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"kind": "tile", "loop": "L0"}]', "tile needs a value"),
        ('[{"kind": "cache", "loop": "L0"}]', "cache needs a variable"),
        ('[{"kind": "partition", "variable": "A", "style": "cyclic"}]', "a cyclic partition needs a value"),
        ('[{"kind": "unroll", "loop": "L0", "style": "block"}]', "unroll has no style block"),
    ],
)
def test_directives_rejects_what_lacks_a_part(text: str, said: str) -> None:
    with pytest.raises(HlsError, match=said):
        parse_directives(text)
