"""Tiling: the new loops, refusals, and unchanged meaning."""

from __future__ import annotations

import pytest
from random_ir import check_valid
from transform_support import Comparison, assert_all_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.analysis.copying import loops_inside
from pipelines.c.analysis.simplify import simplify
from pipelines.c.errors import NotApplicable
from pipelines.hls.transforms.nests import tile_loop

SOURCE = """
int f(int A[32], int n) {{
    int s = 0, i = 5;
    for (i = {lower}; i {test}; i += {step}) {{
        if (A[i] == 3) continue;
        {stop}
        s = s * 5 + A[i] + i;
    }}
    return s * 100 + i;
}}
"""


def program(lower: str, test: str, step: str, stop: str = "if (A[i] == 5) break;") -> ir.Function:
    return read_function(SOURCE.format(lower=lower, test=test, step=step, stop=stop), top="f")


def test_tiles_of_every_form_of_loop_keep_the_meaning() -> None:
    headers = [
        ("0", "< 32", "1"),
        ("0", "< 30", "1"),
        ("1", "<= 31", "2"),
        ("31", ">= 0", "-1"),
        ("30", "> 1", "-3"),
        ("0", "!= 30", "2"),
        ("0", "< n", "1"),
        ("n - 1", ">= 0", "-2"),
        ("2", "!= n + 2", "1"),
    ]
    comparisons: list[Comparison] = []
    for header in headers:
        for factor in (4, 7):
            before = program(*header, "" if header[1] == "!= n + 2" else "if (A[i] == 5) break;")
            sets = tuple(draw_arguments(before, seed) for seed in range(3))
            for number, values in zip((0, 9, 30), sets, strict=True):
                values["n"] = values["n"] * 0 + number
            after = tile_loop(before, "L0", factor)
            check_valid(after)
            label = f"{header} {factor}"
            functions = (before, after, simplify(after))
            comparisons.append(Comparison(functions=functions, data_sets=sets, label=label))
    assert_all_same_meaning(comparisons)


def shapes(function: ir.Function) -> list[tuple[str, int | None]]:
    loops = loops_inside(function.body)
    return [(loop.name, loop.trip_count if isinstance(loop, ir.For) else None) for loop in loops]


def test_factor_that_divides_gives_two_constant_trip_counts() -> None:
    assert shapes(tile_loop(program("0", "< 32", "1"), "L0", 8)) == [("L0_tile", 4), ("L0", 8)]
    assert shapes(tile_loop(program("1", "<= 31", "2"), "L0", 4)) == [("L0_tile", 4), ("L0", 4)]


def test_factor_that_does_not_divide_ends_at_a_minimum() -> None:
    tiled = tile_loop(program("0", "< 30", "1"), "L0", 8)
    assert shapes(tiled) == [("L0_tile", 4), ("L0", None)]
    inner = loops_inside(tiled.body)[1]
    assert isinstance(inner, ir.For)
    assert isinstance(inner.upper, ir.Select)


def test_unknown_trip_count_gives_whole_tiles_and_an_epilogue() -> None:
    assert shapes(tile_loop(program("0", "< n", "1"), "L0", 8)) == [
        ("L0_tile", None),
        ("L0", 8),
        ("L0_epilogue", None),
    ]


def test_directives_stay_with_the_loop_over_one_tile() -> None:
    source = """
    void f(int A[32]) {
        for (int i = 0; i < 32; i++) {
    #pragma HLS pipeline
            A[i] += 1;
        }
    }
    """
    outer, inner = loops_inside(tile_loop(read_function(source, top="f"), "L0", 4).body)
    assert (outer.directives, [d.kind for d in inner.directives]) == ((), ["pipeline"])


def test_tiling_rejects_factors_and_loops_it_cannot_use() -> None:
    for factor in (1, 32):
        with pytest.raises(
            NotApplicable, match=f"at least 2 and less than the trip count of loop L0, 32, got {factor}"
        ):
            tile_loop(program("0", "< 32", "1"), "L0", factor)
    with pytest.raises(NotApplicable, match="only counted loops are tiled"):
        tile_loop(read_function("int f(int x) { while (x > 3) x = x / 2; return x; }", top="f"), "L0", 2)
    with pytest.raises(NotApplicable, match="ends on != at a bound that is not constant"):
        tile_loop(program("2", "!= n", "1"), "L0", 4)


def test_unsigned_loops_that_count_down_keep_the_meaning() -> None:
    source = """
    int f(int A[32], unsigned n) {
        int s = 0;
        for (unsigned i = n & 31; i > 0; i--) s = s * 3 + A[i];
        for (unsigned j = 31; j > 1; j -= 2) s = s * 5 + A[j];
        return s;
    }
    """
    before = read_function(source, top="f")
    after = tile_loop(tile_loop(before, "L0", 4), "L1", 3)
    check_valid(after)
    data = tuple(draw_arguments(before, seed) for seed in range(4))
    assert_all_same_meaning([Comparison(functions=(before, after), data_sets=data)])
