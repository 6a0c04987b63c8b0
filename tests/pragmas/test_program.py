"""The convex program against brute force over the bound: the same least latency on every small space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from brute_force import Point, least_bound, least_within, points, small_polybench
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Target, bound, read_target
from pipelines.pragmas.configuration import FINE, Configuration, LoopChoice
from pipelines.pragmas.nlp import INFEASIBLE, OPTIMAL, SearchOptions, partitions, solve
from pipelines.pragmas.nlp.constants import build_space
from pipelines.pragmas.nlp.solving import Problem, build_program
from pipelines.pragmas.summary import Summary

U200, OWN = read_target("u200"), read_target("simfoundry")

KERNELS = {
    "gemm": {"NI": 2, "NJ": 4, "NK": 2},
    "atax": {"M": 4, "N": 2},
    "bicg": {"M": 4, "N": 4},
    "mvt": {"N": 3},
    "jacobi-1d": {"TSTEPS": 3, "N": 6},
    "trisolv": {"N": 6},
    "trmm": {"M": 4, "N": 2},
    "syrk": {"M": 2, "N": 4},
    "symm": {"M": 5, "N": 2},
}

LIMITS = [
    SearchOptions(),
    SearchOptions(fine_only=True),
    SearchOptions(most_partitions=4),
    SearchOptions(most_partitions=2, fine_only=True),
    SearchOptions(most_partitions=1),
    SearchOptions(most_copies=60),
    SearchOptions(most_partitions=8, most_copies=31),
]


def _compare(summary: Summary, target: Target, *problems: SearchOptions, known: Sequence[Point] = ()) -> None:
    """The optimum of every problem is the least bound, and its configuration has it."""
    every = known or points(summary, target)
    for options in problems:
        least = least_within(every, target, options)
        solution = solve(summary, target, options)
        if least is None:
            assert solution.status == INFEASIBLE, (options, solution)
            continue
        assert solution.status == OPTIMAL, (options, solution)
        assert solution.configuration is not None
        assert solution.latency_cycles == pytest.approx(least, rel=1e-6), (options, solution)
        assert bound(summary, solution.configuration, target).latency_cycles == solution.latency_cycles
        assert solution.lower_bound == pytest.approx(least, rel=2e-6)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kernel", KERNELS)
def test_optimum_is_the_least_bound_of_polybench(kernel: str) -> None:
    summary = small_polybench(kernel, **KERNELS[kernel])
    _compare(summary, U200, *LIMITS)
    _compare(summary, OWN, *LIMITS[:3], SearchOptions(plain_copies=True))


@pytest.mark.sample(3)
@pytest.mark.parametrize("kernel", ["gemm", "atax", "mvt"])
def test_optimum_is_the_least_bound_with_few_dsps(kernel: str) -> None:
    summary = small_polybench(kernel, **KERNELS[kernel])
    copies = (SearchOptions(copy_dsps=0.1), SearchOptions(copy_dsps=0.3, most_copies=60, fine_only=True))
    known = points(summary, U200)
    for available in (3, 11, 24):
        _compare(summary, replace(U200, dsp_available=available), *LIMITS[:3], *copies, known=known)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["atax", "gemm", "jacobi-1d", "trisolv", "syrk"])
def test_optimum_is_the_least_bound_with_longer_intervals(kernel: str) -> None:
    summary = small_polybench(kernel, **KERNELS[kernel])
    limited = replace(OWN, dsp_available=200, intervals=(1, 2, 3, 5))
    known = points(summary, limited)
    for area in (200, 330, 500, 900):
        problems = (*LIMITS[:3], SearchOptions(copy_dsps=4.0))
        _compare(summary, replace(limited, dsp_available=area), *problems, known=known)


PRIMES = """
void f(float A[7][5]) {
  for (int i = 0; i < 7; i++) for (int j = 0; j < 5; j++) A[i][j] = A[i][j] * 3.0f;
}
"""


def test_a_longer_interval_shares_units_where_no_divisor_does() -> None:
    summary = summarise(PRIMES, "f")
    limited = replace(OWN, dsp_available=3 * 162, intervals=(1, 2))
    found = solve(summary, limited, SearchOptions()).configuration
    alone = solve(summary, replace(limited, intervals=(1,)), SearchOptions())
    assert found is not None
    assert found.of("L0") == LoopChoice(pipeline=FINE, interval=2)
    assert alone.latency_cycles is not None
    assert bound(summary, found, limited).dsp_count == 2.5 * 162
    assert 2 * bound(summary, found, limited).latency_cycles < alone.latency_cycles


def test_a_longer_interval_is_left_when_the_least_is_excluded() -> None:
    """So that a search does not call proven what a slower design could still beat: one that was measured may
    not fit, and one that shares its units may."""
    summary, target = summarise(PRIMES, "f"), replace(OWN, intervals=(1, 2))
    rows = Configuration(loops={"L0": LoopChoice(pipeline=FINE)})

    def asked(options: SearchOptions) -> set[int]:
        return {option.asked for option in build_space(summary, target, options).options["L0"]}

    assert asked(SearchOptions()) == {1}
    assert asked(SearchOptions(excluded=(rows,))) == {1, 2}


@pytest.mark.parametrize("kernel", ["gemm", "atax"])
@pytest.mark.parametrize("share", [0.0, 0.4, 0.7])
def test_optimum_is_the_least_bound_with_little_memory(kernel: str, share: float) -> None:
    summary = small_polybench(kernel, **KERNELS[kernel])
    whole = sum(32 * (a.elements_in or a.elements_out) for a in summary.arrays.values() if a.external)
    _compare(summary, replace(U200, onchip_bits=int(share * whole)), SearchOptions())


def test_caches_fit_and_hold_every_access() -> None:
    summary = small_polybench("gemm", **KERNELS["gemm"])
    whole = sum(32 * (a.elements_in or a.elements_out) for a in summary.arrays.values() if a.external)
    little = replace(U200, onchip_bits=int(0.8 * whole))
    found = solve(summary, little, SearchOptions(most_partitions=1)).configuration
    assert found is not None
    assert found.caches is not None
    assert {array for _, array in found.caches} == {"A", "B", "C"}
    assert bound(summary, found, little).onchip_bits <= int(0.8 * whole)


SHARED = """
void f(float A[12], float B[12]) {
  for (int i = 0; i < 4; i++) A[i] = A[i] * 3.0f;
  for (int j = 0; j < 6; j++) A[j + 4] = A[j + 4] + B[j];
}
"""


@pytest.mark.parametrize("dsps", [None, 8, 5])
@pytest.mark.parametrize("most_partitions", [None, 6, 4, 3])
def test_constraints_alone_have_the_least_bound(dsps: int | None, most_partitions: int | None) -> None:
    """No answer is repaired after the solver: partitions are common multiples and DSPs are shared."""
    summary, target = summarise(SHARED, "f"), replace(U200, dsp_available=dsps)
    options = SearchOptions(most_partitions=most_partitions)
    program = build_program(Problem(space=build_space(summary, target, options)))
    least = least_bound(summary, target, options)
    assert program is not None
    assert least is not None
    program.scip.optimize()
    found = program.scip.getObjVal() / program.scale + program.space.transfer_cycles
    assert found == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("most_copies", [40, 25])
def test_the_constraint_on_size_alone_has_the_least_bound(most_copies: int) -> None:
    summary, options = summarise(SHARED, "f"), SearchOptions(most_copies=most_copies)
    program = build_program(Problem(space=build_space(summary, U200, options)))
    least = least_bound(summary, U200, options)
    assert program is not None
    assert least is not None
    assert least > (least_bound(summary, U200, SearchOptions()) or 0.0)
    program.scip.optimize()
    found = program.scip.getObjVal() / program.scale + program.space.transfer_cycles
    assert found == pytest.approx(least, rel=1e-6)


# ---- random nests ----------------------------------------------------------------------------------

SIDE = 8


@st.composite
def _statement(draw: st.DrawFn, around: list[str]) -> str:
    """A store to an array, summed into it or not, by iterators or their sums."""

    def index() -> str:
        return draw(st.sampled_from(["0", *around, *(f"{a} + {b}" for a in around for b in around if a < b)]))

    written = draw(st.sampled_from([f"A[{index()}]", f"B[{index()}][{index()}]"]))
    read = draw(st.sampled_from([f"A[{index()}]", f"C[{index()}][{index()}]", "2.0f"]))
    form = draw(st.sampled_from(["{w} += {r} * 3.0f;", "{w} = {r} * 3.0f + 1.0f;", "{w} = {r};"]))
    return form.format(w=written, r=read)


@st.composite
def _nest(draw: st.DrawFn, around: list[str], loops: list[int]) -> str:
    """Statements and loops inside of some loops; `loops[0]` counts how many may still be opened."""
    parts: list[str] = []
    for _ in range(draw(st.integers(1, 2))):
        if loops[0] == 0 or (around and draw(st.booleans())):
            parts.append(draw(_statement(around)))
            continue
        name = f"i{loops[0]}"
        loops[0] -= 1
        trips = draw(st.sampled_from(["1", "2", "3", "4", *(f"{outer} + 1" for outer in around[-1:])]))
        body = draw(_nest([*around, name], loops))
        parts.append(f"for (int {name} = 0; {name} < {trips}; {name}++) {{ {body} }}")
    return " ".join(parts)


@st.composite
def _programs(draw: st.DrawFn) -> str:
    body = draw(_nest([], [3]))
    return f"void f(float A[{SIDE}], float B[{SIDE}][{SIDE}], float C[{SIDE}][{SIDE}]) {{ {body} }}"


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    _programs(),
    st.sampled_from([U200, OWN]),
    st.sampled_from([None, 8, 4, 2, 1]),
    st.sampled_from([None, 30, 10, 5]),
    st.sampled_from([None, 40, 12]),
    st.booleans(),
)
def test_optimum_is_the_least_bound_of_random_nests(
    text: str,
    target: Target,
    most_partitions: int | None,
    dsps: int | None,
    most_copies: int | None,
    fine_only: bool,
) -> None:
    options = SearchOptions(most_partitions=most_partitions, fine_only=fine_only, most_copies=most_copies)
    _compare(summarise(text, "f"), replace(target, dsp_available=dsps), options)


def test_a_complete_partition_serves_every_factor() -> None:
    """Loops of 4 and of 3 iterations over 4 elements: equation 10 alone would ask for 12 partitions."""
    text = (
        "void f(int a[4], int b[4]) {\n"
        " for (int i = 0; i < 4; i++) a[i] = a[i] + 1;\n"
        " for (int j = 0; j < 3; j++) a[j] = b[j] * a[j];\n}"
    )
    summary = summarise(text, "f")
    names = list(summary.loops)
    whole = Configuration(loops={names[0]: LoopChoice(unroll=4), names[1]: LoopChoice(unroll=3)})
    assert partitions(summary, whole) == {"a": 4, "b": 3}
    parts = Configuration(loops={names[0]: LoopChoice(unroll=2), names[1]: LoopChoice(unroll=3)})
    assert partitions(summary, parts)["a"] == 4
    for most in (1, 2, 3, 4):
        _compare(summary, U200, SearchOptions(most_partitions=most))
