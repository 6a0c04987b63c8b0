"""A cached loop computes the same values on a copy of the part of the array that it touches."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_nests import random_nest
from transform_support import Comparison, assert_all_same_meaning, assert_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.cache import CacheReport, cache_array
from pipelines.hls.transforms.nests import tile_loop
from pipelines.hls.transforms.partition import partition_array

ARGUMENTS = "int n, int A[32][32], int B[20][24], int V[100]"


def read(body: str) -> ir.Function:
    return read_function(f"int f({ARGUMENTS}) {{ {body} }}", top="f")


def partitioned(function: ir.Function, report: CacheReport) -> ir.Function:
    for directive in report.partitions:
        function = partition_array(
            function, directive.variable, directive.style, directive.value, directive.dimension or 1
        )
    return function


def loops(function: ir.Function) -> dict[str, ir.For]:
    return {s.name: s for s in ir.walk_statements(function.body) if isinstance(s, ir.For)}


def arrays_in(body: tuple[ir.Statement, ...]) -> set[str]:
    loaded = {e.array.name for e in ir.all_expressions(body) if isinstance(e, ir.Load)}
    return loaded | set(ir.stored_arrays(body))


CASES = {
    # name: (body, array, loop, elements of the copy, bytes in, bytes out)
    "a whole array": (
        "int s = 0; for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) s += A[i][j]; return s;",
        ("A", "L0", 1024, 4096, 0),
    ),
    "a row": (
        "int s = 0; for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) s += A[i][j] * j; return s;",
        ("A", "L1", 32, 4096, 0),
    ),
    "a row that no word begins with": (
        "int s = 0; for (int i = 0; i < 20; i++) for (int j = 0; j < 24; j++) s += B[i][j] * j; return s;",
        ("B", "L1", 48, 1920, 0),
    ),
    "a column": (
        "int s = 0; for (int j = 0; j < 32; j++) for (int i = 0; i < 32; i++) s += A[i][j] * j; return s;",
        ("A", "L1", 512, 4096, 0),
    ),
    "a window": (
        "int s = 0; for (int i = 0; i < 20; i++) for (int k = 0; k < 5; k++) s += V[4 * i + k]; return s;",
        ("V", "L1", 32, 400, 0),
    ),
    "a window backwards": (
        "int s = 0; for (int i = 0; i < 20; i++) for (int k = 0; k < 5; k++) s += V[4 * i + 6 - k];"
        " return s;",
        ("V", "L1", 32, 400, 0),
    ),
    "a row before the first": (
        "for (int i = 0; i < 20; i++) for (int j = 1; j < 24; j++) if (i > 0) B[i - 1][j] += A[i][j];"
        " return 0;",
        ("B", "L1", 48, 1748, 1748),
    ),
    "a row after the last": (
        "for (int i = 0; i < 20; i++) for (int j = 1; j < 24; j++) if (i < 19) B[i + 1][j] += A[i][j];"
        " return 0;",
        ("B", "L1", 48, 1748, 1748),
    ),
    "a part that is read and written": (
        "for (int i = 2; i < 30; i++) V[i] += V[i + 1] * 3; return 0;",
        ("V", "L0", 32, 116, 116),
    ),
    "what is overwritten": (
        "for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) A[i][j] = i * j; return A[1][2];",
        ("A", "L0", 1024, 0, 4096),
    ),
    "what is overwritten in part": (
        "for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j += 2) A[i][j] = i * j; return A[1][2];",
        ("A", "L0", 1024, 3968, 3968),
    ),
    "unknown indices": (
        "for (int i = 0; i < 32; i++) A[i & 3][(n + i) & 31] += A[i][3]; return 0;",
        ("A", "L0", 1024, 4096, 4096),
    ),
    "a loop of unknown length": (
        "int i = 0; while (i < 99 && V[i] != n) { V[i + 1] -= V[i]; i++; } return i;",
        ("V", "L0", 112, 400, 400),
    ),
    "a bound from data": (
        "int s = 0; for (int i = 0; i < (n & 31); i++) { s += V[i + 2]; } return s;",
        ("V", "L0", 48, 124, 0),
    ),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", CASES)
def test_cache_holds_what_the_loop_touches(name: str) -> None:
    body, (array, loop, elements, bytes_in, bytes_out) = CASES[name]
    before = read(body)
    after, report = cache_array(before, array, loop)
    assert array not in arrays_in((loops(after).get(loop) or _while(after, loop)).body)
    final = partitioned(after, report)
    assert_same_meaning(before, after, [draw_arguments(before, seed) for seed in range(2)])
    assert_same_meaning(before, final, [draw_arguments(before, seed) for seed in range(2)])
    figures = (report.buffer_elements, report.bytes_in, report.bytes_out)
    assert figures == (elements, bytes_in, bytes_out)


def _while(function: ir.Function, name: str) -> ir.While:
    return next(s for s in ir.walk_statements(function.body) if isinstance(s, ir.While) and s.name == name)


def test_a_word_is_moved_in_one_iteration_through_one_port_a_lane() -> None:
    before = read(
        "int s = 0; for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) s += A[i][j]; return s;"
    )
    after, report = cache_array(before, "A", "L0")
    fill = loops(partitioned(after, report))["L0_fill_A"]
    assert fill.trip_count == 1024 * 32 // 512
    assert fill.directives == (ir.Directive(kind="pipeline", loop="L0_fill_A", value=1),)
    stores = [s for s in fill.body if isinstance(s, ir.Store)]
    assert sorted(s.array.name for s in stores) == sorted(f"A_cache__{k}" for k in range(16))
    loads = [s.value for s in stores]
    assert all(isinstance(v, ir.Load) and v.predicate is None for v in loads)
    assert {v.array.argument for v in loads if isinstance(v, ir.Load)} == {"A"}


def test_a_tile_has_a_copy_of_its_own() -> None:
    before = read(
        "for (int i = 0; i < 20; i++) for (int j = 0; j < 24; j++) for (int k = 0; k < 20; k++)"
        " A[i][j] += B[i][k] * B[k][j]; return 0;"
    )
    for factors in ((4, 8), (7, 5)):
        tiled = tile_loop(tile_loop(before, "L0", factors[0]), "L1", factors[1])
        after, first = cache_array(tiled, "A", "L1")
        after, second = cache_array(after, "B", "L2")
        assert first.buffer_elements <= 4 * 16 or factors[0] == 7
        assert first.buffer_elements < 1024
        final = partitioned(partitioned(after, first), second)
        assert_same_meaning(before, final, [draw_arguments(before, 3)])


def test_cache_rejects() -> None:
    function = read("int T[4]; for (int i = 0; i < 4; i++) { T[i] = V[i]; } return T[n & 3];")
    with pytest.raises(NotApplicable, match=r"^a cache must be of an external array, got T; there are A, B,"):
        cache_array(function, "T", "L0")
    with pytest.raises(NotApplicable, match=r"^loop L0 does not access A$"):
        cache_array(function, "A", "L0")
    with pytest.raises(NotApplicable, match=r"^V is partitioned; a cache deals its array"):
        cache_array(partition_array(function, "V", "cyclic", 2), "V", "L0")
    with pytest.raises(NotApplicable, match=r"^no loop is named L7; there are L0$"):
        cache_array(function, "V", "L7")


@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(st.lists(st.integers(0, 1 << 30), min_size=6))
def test_caches_keep_the_meaning_of_random_nests(seeds: list[int]) -> None:
    comparisons: list[Comparison] = []
    for seed in seeds:
        random = Random(seed)
        before = read_function(random_nest(random), top="nest")
        after = _cached_at_random(before, random)
        data = tuple(draw_arguments(before, k) for k in range(2))
        comparisons.append(Comparison(functions=(before, after), data_sets=data, label=f"seed {seed}"))
    assert_all_same_meaning(comparisons)


def _cached_at_random(function: ir.Function, random: Random) -> ir.Function:
    reports: list[CacheReport] = []
    for name in random.sample(sorted(loops(function)), 2):
        try:
            function = tile_loop(function, name, random.choice((2, 3)))
        except NotApplicable:
            continue
    for array in random.sample("ABVK", 3):
        try:
            function, report = cache_array(function, array, random.choice(sorted(loops(function))))
        except NotApplicable:
            continue
        reports.append(report)
    return partitioned(function, reports[0]) if reports and random.random() < 0.3 else function
