"""The work of a text: iterations, operations and units by hand, and what data and directives change."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from models.canonical import canonical_of, canonical_query
from models.query import Query
from models.text_work import UNKNOWN_TRIPS, Work, work_features, work_of

QUERY = Query(
    source="",
    top="f",
    memory_read_delay_cycles=2,
    memory_write_delay_cycles=2,
    clock_period_ns=10.0,
)
FIR = """#define TAPS 16
static float scaled(float x) { return x / 3.0f; }
void f(float x[79], float h[TAPS], float y[64], int n) {
  for (int i = 0; i < 64; i++) {
    float sum = 0.0f;
    taps: for (int k = 0; k < TAPS; k++) sum += h[k] * x[i + k];
    y[i] = scaled(sum);
  }
}
"""


def work(source: str, **changes: object) -> Work:
    query = replace(QUERY, source=source, **changes)
    return work_of(canonical_query(query), canonical_of(query))


def test_operations_are_counted_as_often_as_loops_repeat_them() -> None:
    own = work(FIR)
    assert own.executed["multiply_float"] == 64 * 16
    assert own.executed["add_float"] == 64 * 16
    assert own.executed["divide_float"] == 64
    assert own.executed["load"] == 2 * 64 * 16
    assert own.executed["store"] == 64
    assert own.written["multiply_float"] == 1
    assert (own.iterations, own.deepest, own.unknown_loops) == (64 + 64 * 16, 2, 0)
    assert own.units["multiply_float"] == own.units["divide_float"] == 1


def test_spelling_and_unused_functions_do_not_matter() -> None:
    other = FIR.replace("TAPS 16", "TAPS (4 * 4)").replace("sum", "total") + "int main(void) { return 0; }"
    queries = [replace(QUERY, source=source) for source in (FIR, other)]
    one, two = (work_features(canonical_query(q), canonical_of(q)) for q in queries)
    assert one == two


@pytest.mark.parametrize(
    ("head", "iterations"),
    [
        ("for (int i = 0; i < 10; i++)", 10),
        ("for (int i = 10; i > 0; i--)", 10),
        ("for (int i = 0; i <= 9; i += 2)", 5),
        ("for (int i = 0; i < 10; i = i + 3)", 4),
        ("for (int i = 0; i < n; i++)", UNKNOWN_TRIPS),
        ("int i = 0; while (i++ < n)", UNKNOWN_TRIPS),
    ],
)
def test_iterations_of_a_loop(head: str, iterations: float) -> None:
    assert work(f"void f(int a[64], int n) {{ {head} a[i] += 1; }}").iterations == iterations


def test_a_triangle_has_half_the_iterations_of_its_square() -> None:
    own = work("void f(int a[32]) { for (int i = 0; i < 32; i++) for (int j = 0; j <= i; j++) a[j] += i; }")
    assert own.executed["store"] == pytest.approx(32 * 33 / 2, rel=0.05)


def test_data_and_trips_give_the_iterations_that_the_text_does_not_say() -> None:
    source = "void f(int a[64], int n) { rows: for (int i = 0; i < n; i++) { while (a[i] > 0) a[i] -= 1; } }"
    assert work(source).unknown_loops == 2
    own = work(source, data='{"n": 40, "a": {"minimum": 0}}', trips='{"L1": 5.0}')
    assert (own.unknown_loops, own.executed["store"]) == (0, 40 * 5)


def test_directives_add_units_and_save_cycles() -> None:
    plain = work(FIR)
    pipelined = work(FIR, directives='[{"kind": "pipeline", "loop": "taps", "value": 1}]')
    copied = work(FIR, directives='[{"kind": "unroll", "loop": "taps", "value": 4}]')
    assert pipelined.cycles < copied.cycles < plain.cycles
    assert (copied.units["multiply_float"], copied.at_once["multiply_float"]) == (4, 4)


def test_every_feature_is_finite_for_an_empty_function() -> None:
    query = replace(QUERY, source="void f(int a[1]) { }")
    features = work_features(canonical_query(query), canonical_of(query))
    assert all(math.isfinite(value) for value in features.values())


def test_names_of_data_are_those_of_the_canonical_text() -> None:
    query = replace(QUERY, source=FIR, data='{"n": 3}', inputs='{"x": {"kind": "uniform"}}')
    own = canonical_query(query)
    assert (own.data, own.inputs, own.top) == ('{"v3":3}', '{"v0":{"kind":"uniform"}}', "f0")
    with pytest.raises(ValueError, match="must be JSON objects"):
        canonical_query(replace(query, data="[1]"))


def test_recursion_is_read_once_and_calls_without_end_are_refused() -> None:
    own = work("int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }")
    assert own.written["add_int"] == 3
    doubled = "".join(f"int g{k}(int x) {{ return g{k + 1}(x) + g{k + 1}(x); }}\n" for k in range(40))
    declared = "".join(f"int g{k}(int x);\n" for k in range(41))
    source = f"{declared}{doubled}int g40(int x) {{ return x; }}\nint f(int x) {{ return g0(x); }}"
    with pytest.raises(ValueError, match="at most 262,144 expressions and statements"):
        work(source)
