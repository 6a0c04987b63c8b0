"""What designs take of a limit, learned from measured ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.pragmas.bound import read_target
from pipelines.pragmas.search.budgets import LEAST_PER_UNIT, ResourceBudget, Use, resource_budget

TARGET = replace(read_target("simfoundry"), dsp_available=20_000)


def test_without_measured_designs_the_room_is_that_of_the_bound() -> None:
    assert resource_budget(TARGET, []) == ResourceBudget(target=TARGET)
    free = replace(TARGET, dsp_available=None)
    assert resource_budget(free, [Use(units=10.0, copies=10, taken=40.0)]) == ResourceBudget(target=free)


def test_shares_of_units_and_of_copies_are_found_again() -> None:
    points = [(17_500, 1900), (4_400, 1900), (7_700, 950), (2_200, 300)]
    uses = [Use(units=u, copies=c, taken=2.0 * u + 5.0 * c) for u, c in points]
    found = resource_budget(TARGET, uses)
    assert found.target.dsp_available == pytest.approx(10_000, rel=0.1)
    assert found.copy_dsps == pytest.approx(2.5, rel=0.2)


def test_one_design_that_takes_more_than_its_bound_narrows_both() -> None:
    found = resource_budget(TARGET, [Use(units=17_500, copies=1900, taken=77_000)])
    assert not found.fits(17_500, 1900)
    assert found.fits(3_000, 300)
    assert found.target.dsp_available is not None
    assert found.target.dsp_available < 20_000
    assert found.copy_dsps > 0


def test_designs_that_take_what_the_bound_says_leave_the_room() -> None:
    found = resource_budget(TARGET, [Use(units=u, copies=100, taken=u) for u in (2_000, 9_000, 15_000)])
    assert found.target.dsp_available == pytest.approx(20_000, rel=0.02)
    assert found.copy_dsps == pytest.approx(0.0, abs=0.2)


def test_a_unit_is_never_taken_for_almost_nothing() -> None:
    found = resource_budget(TARGET, [Use(units=20_000, copies=100, taken=200)])
    assert found.target.dsp_available == pytest.approx(20_000 / LEAST_PER_UNIT)


def test_a_wider_room_holds_larger_designs() -> None:
    one = resource_budget(TARGET, [Use(units=10_000, copies=1000, taken=20_000)])
    assert not one.fits(15_000, 1500)
    assert one.scaled(3.0).fits(15_000, 1500)
    assert one.scaled(1.0) is one
    assert ResourceBudget(target=replace(TARGET, dsp_available=None)).scaled(2.0).fits(1e9, 10**9)
