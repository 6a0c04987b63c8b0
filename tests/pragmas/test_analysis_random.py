"""The facts of small random programs are those that running them instance by instance shows."""

from __future__ import annotations

from fractions import Fraction

import pytest
from affine_programs import Counted, Facts, Store, c_text, programs, results, run
from hypothesis import HealthCheck, assume, event, given, settings

from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import GROUPED, ROOT, Summary

Body = tuple[Counted | Store, ...]


def known(body: Body) -> tuple[Summary, Facts]:
    facts = run(body)
    assume(all(max(trips) > 0 for trips in facts.trips.values()))
    assume(len(facts.trips) == c_text(body).count("for ("))
    try:
        return summarise(c_text(body), "f"), facts
    except PragmaError as error:  # pragma: no cover
        raise AssertionError(f"{error}\n{c_text(body)}") from error


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(programs())
@pytest.mark.slow
def test_facts_equal_those_of_running_every_iteration(body: Body) -> None:
    summary, facts = known(body)
    event(f"{len(summary.loops)} loops, {len(facts.flows)} dependences")
    for name, trips in facts.trips.items():
        loop = summary.loops[name]
        found = (loop.trip_count_min, loop.trip_count_max, loop.trip_count_average, loop.executions)
        assert found == (min(trips), max(trips), Fraction(sum(trips), len(trips)), len(trips)), c_text(body)
        groups = {n: Fraction(sum(trip // n for trip in trips), len(trips)) for n in GROUPED}
        assert loop.groups_average == ({} if loop.constant else groups), c_text(body)
    flows: dict[tuple[int, int, str, str, str | None], int] = {}
    for d in summary.dependences:
        key = (d.source, d.target, d.kind, d.array, d.loop)
        flows[key] = min(d.distance, flows.get(key, d.distance))
    assert flows == facts.flows, c_text(body)
    for name, array in summary.arrays.items():
        assert array.elements_in == len(facts.exposed.get(name, ())), c_text(body)
        assert array.elements_out == len(facts.written.get(name, ())), c_text(body)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(programs())
def test_footprints_are_those_of_running_and_never_above(body: Body) -> None:
    summary, facts = known(body)
    assert summary.footprints.keys() == facts.footprints.keys(), c_text(body)
    constant = all(loop.constant for loop in summary.loops.values())
    for (place, array), found in summary.footprints.items():
        accesses = {
            access.subscripts
            for statement in summary.statements
            for access in statement.accesses
            if access.array == array and (place == ROOT or place in statement.loops)
        }
        expected = facts.footprints[place, array]
        if place == ROOT or (constant and len(accesses) == 1):
            assert found == expected, c_text(body)
        assert found <= expected, c_text(body)


@settings(max_examples=24, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(programs())
def test_iterations_of_parallel_and_reduction_loops_may_run_in_any_order(body: Body) -> None:
    summary, _ = known(body)
    expected = results(body)
    for loop in summary.loops.values():
        event("reduction" if loop.reduction else "parallel" if loop.parallel else "ordered")
        if loop.parallel or loop.reduction:
            assert results(body, loop.name) == expected, f"{loop.name}\n{c_text(body)}"
