"""The PolyBench programs as distributed: which are affine, and facts of some of them at full size."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

import pytest

from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import ROOT, Summary
from pipelines.programs import POLYBENCH_KERNELS, polybench_program

CONDITIONAL = ("nussinov",)
NAMES = [k.name for k in POLYBENCH_KERNELS]


@cache
def summary_of(name: str, size: str = "mini") -> Summary:
    row = polybench_program(name, data_type="double")
    source = row.source.replace("#define MINI_DATASET\n", f"#define {size.upper()}_DATASET\n", 1)
    return summarise(source, row.top, file=f"{name}.c")


def loops_named(summary: Summary, fact: str) -> list[str]:
    return [name for name, loop in summary.loops.items() if getattr(loop, fact)]


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", [n for n in NAMES if n not in CONDITIONAL])
def test_a_polybench_program_is_affine(name: str) -> None:
    summary = summary_of(name)
    assert all(loop.trip_count_max > 0 for loop in summary.loops.values())
    for (place, array), elements in summary.footprints.items():
        assert elements <= summary.footprints[ROOT, array]
        assert place == ROOT or summary.loops[place]
    for facts in summary.arrays.values():
        if facts.external and facts.shape:
            assert facts.elements_in + facts.elements_out > 0
    for loop in summary.loops.values():
        assert not (loop.parallel and (loop.reduction or loop.distance))


@pytest.mark.parametrize("name", CONDITIONAL)
def test_a_polybench_program_rejects_conditions(name: str) -> None:
    with pytest.raises(
        PragmaError, match=r"^statement under a condition: if \(\(i \+ 1\) < 60\) \(nussinov.c:"
    ):
        summary_of(name)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("name", "parallel", "reduction"),
    [
        ("2mm", "L0 L1 L3 L4", "L2 L5"),
        ("3mm", "L0 L1 L3 L4 L6 L7", "L2 L5 L8"),
        ("atax", "L0 L3", "L1 L2"),
        ("bicg", "L0", "L1 L2"),
        ("covariance", "L0 L2 L3 L4 L5", "L1 L6"),
        ("correlation", "L0 L2 L4 L5 L6 L7", "L1 L3 L8"),
        ("cholesky", "", "L2 L3"),
        ("fdtd-2d", "L1 L2 L3 L4 L5 L6 L7", ""),
        ("gemm", "L0 L1 L3", "L2"),
        ("gesummv", "L0", "L1"),
        ("heat-3d", "L1 L2 L3 L4 L5 L6", ""),
        ("jacobi-2d", "L1 L2 L3 L4", ""),
        ("mvt", "L0 L2", "L1 L3"),
        ("seidel-2d", "", ""),
        ("symm", "L1", "L2"),
        ("syrk", "L0 L1 L3", "L2"),
        ("trisolv", "", "L1"),
        ("trmm", "L1", "L2"),
    ],
)
def test_parallel_and_reduction_loops(name: str, parallel: str, reduction: str) -> None:
    summary = summary_of(name)
    assert loops_named(summary, "parallel") == parallel.split()
    assert loops_named(summary, "reduction") == reduction.split()


def test_a_two_dimensional_sweep_waits_for_the_step_before() -> None:
    assert {p.distance for p in summary_of("seidel-2d").loops.values()} == {1}


@pytest.mark.parametrize("size", ["medium", "large"])
def test_large_triangular_nests_are_counted_exactly(size: str) -> None:
    n = {"medium": 400, "large": 2000}[size]
    lu = summary_of("lu", size)
    trips = {name: (p.trip_count_average * p.executions, p.executions) for name, p in lu.loops.items()}
    assert trips == {
        "L0": (n, 1),
        "L1": (comb(n, 2), n),
        "L2": (comb(n, 3), comb(n, 2)),
        "L3": (comb(n + 1, 2), n),
        "L4": (sum(i * (n - i) for i in range(n)), comb(n + 1, 2)),
    }
    assert lu.loops["L1"].trip_count_average == Fraction(n - 1, 2)
    assert (lu.arrays["A"].elements_in, lu.arrays["A"].elements_out) == (n * n, n * n - n)


def test_elements_of_a_large_stencil_are_counted_exactly() -> None:
    summary = summary_of("heat-3d", "large")
    n = 120
    faces = 6 * (n - 2) ** 2  # what a seven-point stencil reads around its inner cube
    assert summary.arrays["A"].elements_in == (n - 2) ** 3 + faces
    assert summary.arrays["B"].elements_in == faces
    assert summary.arrays["B"].elements_out == (n - 2) ** 3
    assert summary.footprints["L1", "A"] == 3 * (n - 2) ** 2 + 4 * (n - 2)
