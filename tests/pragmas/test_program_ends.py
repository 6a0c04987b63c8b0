"""How searches end: clashes, time, exclusions, starts, exported programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from brute_force import configurations, least_bound, small_polybench
from pyscipopt import Model

from pipelines.pragmas import PragmaError
from pipelines.pragmas.bound import complete, read_target
from pipelines.pragmas.nlp import (
    DSPS,
    EXCLUDED,
    INCUMBENT,
    INFEASIBLE,
    MEMORY,
    OPTIMAL,
    PARTITIONS,
    SIZE,
    SearchOptions,
    export,
    partitions,
    solve,
)
from pipelines.pragmas.nlp.constants import build_space
from pipelines.pragmas.nlp.solving import Problem, build_program
from pipelines.pragmas.summary import Summary

U200 = read_target("u200")
SMALL = {"NI": 2, "NJ": 4, "NK": 2}
LARGE = {"NI": 840, "NJ": 720, "NK": 960, "NL": 1080}


@pytest.fixture(scope="module")
def gemm() -> Summary:
    return small_polybench("gemm", **SMALL)


@pytest.fixture(scope="module")
def large() -> Summary:
    return small_polybench("2mm", **LARGE)


@pytest.mark.slow
def test_excluded_designs_leave_the_next_best(gemm: Summary) -> None:
    seen, excluded = [], ()
    for _ in range(4):
        options = SearchOptions(most_partitions=4, excluded=excluded)
        found = solve(gemm, U200, options)
        assert found.configuration is not None
        assert found.latency_cycles == pytest.approx(least_bound(gemm, U200, options))
        seen.append(complete(gemm, found.configuration, U200).loops)
        excluded = (*excluded, found.configuration)
    assert all(first != second for n, first in enumerate(seen) for second in seen[:n])


def test_few_dsps_clash_alone(gemm: Summary) -> None:
    found = solve(gemm, replace(U200, dsp_available=0), SearchOptions(most_partitions=2))
    assert (found.status, found.clashing, found.configuration) == (INFEASIBLE, (DSPS,), None)


def test_little_memory_clashes_alone(gemm: Summary) -> None:
    found = solve(gemm, replace(U200, onchip_bits=8), SearchOptions(most_partitions=2))
    assert (found.status, found.clashing) == (INFEASIBLE, (MEMORY,))


def test_a_program_that_is_larger_than_asked_for_clashes_alone(gemm: Summary) -> None:
    found = solve(gemm, U200, SearchOptions(most_partitions=2, most_copies=1))
    assert (found.status, found.clashing) == (INFEASIBLE, (SIZE,))


def test_two_groups_clash_together() -> None:
    summary = small_polybench("trisolv", N=4)
    everything = tuple(configurations(summary, U200))
    few = tuple(c for c in everything if max(partitions(summary, c).values()) == 1)
    found = solve(summary, U200, SearchOptions(most_partitions=1, excluded=few))
    assert found.status == INFEASIBLE
    assert EXCLUDED in found.clashing
    assert set(found.clashing) <= {PARTITIONS, EXCLUDED}


def test_one_node_leaves_an_incumbent_and_its_gap(large: Summary) -> None:
    whole = solve(large, U200, SearchOptions(most_partitions=1024))
    options = SearchOptions(
        most_partitions=1024, most_nodes=1, start=solve(large, U200, _rung(8)).configuration
    )
    cut = solve(large, U200, options)
    assert whole.status == OPTIMAL
    assert whole.latency_cycles is not None
    assert cut.status in (INCUMBENT, OPTIMAL)
    assert cut.latency_cycles is not None
    assert cut.gap is not None
    assert cut.lower_bound <= whole.latency_cycles * (1 + 1e-6)
    assert cut.latency_cycles >= whole.latency_cycles * (1 - 1e-6)
    assert cut.gap == pytest.approx(cut.latency_cycles / cut.lower_bound - 1)


def test_no_time_leaves_the_start(large: Summary) -> None:
    start = solve(large, U200, _rung(8))
    options = SearchOptions(most_partitions=1024, time_limit_s=1e-3, start=start.configuration)
    cut = solve(large, U200, options)
    assert cut.status == INCUMBENT
    assert cut.latency_cycles is not None
    assert start.latency_cycles is not None
    assert cut.latency_cycles <= start.latency_cycles
    assert cut.gap is not None
    assert cut.gap > 0


def test_start_and_known_bound_keep_the_optimum(large: Summary) -> None:
    plain = solve(large, U200, _rung(256))
    higher = solve(large, U200, _rung(512))
    assert higher.latency_cycles is not None
    options = replace(
        _rung(256), start=solve(large, U200, _rung(16)).configuration, at_least_cycles=higher.latency_cycles
    )
    assert solve(large, U200, options).latency_cycles == pytest.approx(plain.latency_cycles)


def test_exported_program_has_the_same_optimum(gemm: Summary, tmp_path: Path) -> None:
    options = SearchOptions(most_partitions=4)
    best = solve(gemm, U200, options).latency_cycles
    program = build_program(Problem(space=build_space(gemm, U200, options)))
    assert best is not None
    assert program is not None
    computation = best - program.space.transfer_cycles
    for ending in (".cip", ".nl"):
        path = tmp_path / f"gemm{ending}"
        export(gemm, U200, options, path)
        read = Model()
        read.hideOutput()
        read.readProblem(str(path))
        read.optimize()
        assert read.getObjVal() / program.scale == pytest.approx(computation, rel=1e-5), ending


def test_export_rejects_another_format(gemm: Summary, tmp_path: Path) -> None:
    with pytest.raises(PragmaError, match=r"unknown ending: \.txt"):
        export(gemm, U200, None, tmp_path / "gemm.txt")


def test_a_gap_ends_the_solver_with_its_proof() -> None:
    summary = small_polybench("gemm", NI=12, NJ=16, NK=20)
    best = solve(summary, U200, SearchOptions(most_copies=200))
    found = solve(summary, U200, SearchOptions(most_copies=200, gap=0.5))
    assert found.latency_cycles is not None
    assert best.latency_cycles is not None
    assert found.lower_bound <= best.latency_cycles * (1 + 1e-6)
    assert best.latency_cycles <= found.latency_cycles * (1 + 1e-6) <= 1.5 * found.lower_bound * (1 + 1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (SearchOptions(most_partitions=0), "most_partitions is 0; accepted: 1 or more, None"),
        (SearchOptions(most_copies=0), "most_copies is 0; accepted: 1 or more, None"),
        (SearchOptions(gap=-0.1), "gap is -0.1; accepted: 0 or more"),
        (SearchOptions(time_limit_s=0.0), r"time_limit_s is 0\.0; accepted: more than 0"),
    ],
)
def test_solve_rejects_impossible_options(gemm: Summary, options: SearchOptions, message: str) -> None:
    with pytest.raises(PragmaError, match=message):
        solve(gemm, U200, options)


def _rung(most_partitions: int) -> SearchOptions:
    return SearchOptions(most_partitions=most_partitions)
