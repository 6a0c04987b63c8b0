"""Conformal intervals: a share of 90 % of the groups is inside, however wide the model's intervals are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.numeric_lm.intervals import Judged, conformal_widths, coverage, widened
from models.numeric_lm.search import Answer


def _judged(
    actual: float, *, low: float = 9.0, high: float = 11.0, group: str = "", part: str = "test"
) -> Judged:
    answer = Answer(
        value=10.0,
        likeliest=10.0,
        low=low,
        high=high,
        confidence=1.0,
        samples=(10.0,),
        digits=((1, 1.0),),
        logit=1.0,
    )
    return Judged(target="area_um2", group=group, part=part, actual=actual, answer=answer)


def _drawn(generator: np.random.Generator, count: int, spread: float) -> list[Judged]:
    values = 10.0 * np.exp(generator.normal(0.0, spread, count))
    return [_judged(float(value), group=str(n)) for n, value in enumerate(values)]


@pytest.mark.parametrize("spread", [0.01, 0.5], ids=["too wide", "too narrow"])
def test_ninety_percent_of_fresh_labels_are_inside(spread: float) -> None:
    generator = np.random.default_rng(0)
    width = conformal_widths(_drawn(generator, 2000, spread))["area_um2"]
    inside = [
        one.answer.low * math.exp(-width) <= one.actual <= one.answer.high * math.exp(width)
        for one in _drawn(generator, 2000, spread)
    ]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)
    assert (width > 0) == (spread > 0.1)


def test_a_group_counts_once() -> None:
    """99 equal designs of one group do not outvote nine other groups."""
    many = [_judged(10.0, group="many") for _ in range(99)]
    others = [_judged(10.0 * math.exp(n), group=str(n)) for n in range(1, 20)]
    width = conformal_widths([*many, *others])["area_um2"]
    assert width == pytest.approx(math.log(10.0 * math.exp(18) / 11.0))


def test_few_groups_give_the_widest_score() -> None:
    width = conformal_widths([_judged(22.0, group="a"), _judged(10.0, group="b")])["area_um2"]
    assert width == pytest.approx(math.log(2.0))


def test_the_value_stays_inside() -> None:
    narrow = widened(_judged(10.0).answer, -5.0)
    assert narrow.low == narrow.value == narrow.high
    wide = widened(_judged(10.0).answer, math.log(2.0))
    assert (wide.low, wide.high) == pytest.approx((4.5, 22.0))


def test_coverage_is_by_part_and_target() -> None:
    known = coverage([_judged(10.0), _judged(12.0), _judged(10.0, part="evaluation")])
    assert known["coverage/test/area_um2"] == known["coverage/test/all"] == 0.5
    assert known["coverage/evaluation/all"] == 1.0
    assert known["decades/test/all"] == pytest.approx(math.log10(11 / 9))
