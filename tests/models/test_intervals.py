"""Intervals of answers: the factor of the validation part, and the coverage elsewhere."""

from __future__ import annotations

import math

import pytest

from models.intervals import covering_score, measure_intervals, with_intervals
from models.leaderboard import Prediction


def _prediction(part: str, group: str, factor: float) -> Prediction:
    return Prediction(
        design_id=f"{part}{group}{factor}",
        group=group,
        part=part,
        target="area_um2",
        actual=100.0 * factor,
        predicted=100.0,
    )


def test_the_factor_holds_nine_tenths_of_the_groups() -> None:
    factors = [1.0 + n / 100 for n in range(1, 20)]  # 19 groups: the 18th is the first that holds 90 % of 20
    rows = [_prediction("validation", str(n), factor) for n, factor in enumerate(factors)]
    rows += [_prediction("test", "x", factor) for factor in (1.0, 1.1, 3.0, 0.9)]
    intervals = measure_intervals(rows)
    assert intervals["area_um2"]["factor"] == pytest.approx(1.18)
    assert intervals["area_um2"]["test"] == 0.75
    assert "evaluation" not in intervals["area_um2"]


def test_a_group_counts_once_however_many_designs_it_has() -> None:
    few = [(str(n), 0.1) for n in range(19)]
    assert covering_score([*few, *[("large", 5.0)] * 100]) == 0.1


def test_too_few_groups_take_the_largest_score() -> None:
    assert covering_score([("a", 0.1), ("b", 0.4)]) == 0.4


def test_training_rows_alone_give_no_interval() -> None:
    assert measure_intervals([_prediction("train", "a", 1.0)]) == {}


def test_an_answer_gets_ends_unless_it_has_its_own() -> None:
    intervals = {"area_um2": {"factor": math.e}, "power_mw": {"factor": 2.0}, "delay_ns": {"factor": 2.0}}
    [answer] = with_intervals(
        [{"area_um2": 1.0, "power_mw": 4.0, "power_mw_low": 3.9, "delay_ns": None}], intervals
    )
    assert answer["area_um2_high"] == pytest.approx(math.e)
    assert answer["area_um2_low"] == pytest.approx(1 / math.e)
    assert answer["power_mw_low"] == 3.9
    assert "delay_ns_low" not in answer
