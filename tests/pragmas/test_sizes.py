"""Limits on sizes of designs: learned from those that were done in time and those that were not."""

from __future__ import annotations

import math

from pipelines.pragmas import Configuration
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.search import Evaluation
from pipelines.pragmas.search.budgets import BELOW_TIMEOUT, Limit, first_sizes
from pipelines.schemas import OK, TIMEOUT

SUMMARY = summarise("void f(float a[8]) { for (int i = 0; i < 8; i++) a[i] = a[i] * 2.0f; }", "f")


def test_what_was_done_in_time_widens_a_limit() -> None:
    limit = Limit(most=100)
    limit.learn(80, late=False, growth=3.0, left=0.5)
    assert (limit.most, limit.done) == (240, 80)


def test_what_was_late_narrows_it_but_not_below_what_was_done() -> None:
    limit = Limit(most=100)
    limit.learn(30, late=False, growth=2.0, left=0.5)
    limit.learn(90, late=True, growth=2.0, left=0.5)
    assert (limit.most, limit.late) == (45, 90)
    limit.learn(50, late=True, growth=2.0, left=0.5)
    assert limit.most == 30
    limit.learn(20, late=True, growth=2.0, left=0.5)  # smaller than what was done: it says nothing of sizes
    assert (limit.most, limit.late) == (30, 50)


def test_it_grows_up_to_a_share_of_what_was_late() -> None:
    limit = Limit(most=100)
    limit.learn(80, late=True, growth=2.0, left=0.5)
    for _ in range(3):
        limit.double()
    assert limit.most == BELOW_TIMEOUT * 80
    limit.learn(120, late=False, growth=2.0, left=0.5)  # as large a design was done after all
    assert limit.most == 240


def test_a_limit_doubles_past_what_was_late_where_that_is_asked_for() -> None:
    limit = Limit(most=100.0)
    limit.learn(120, late=True, growth=4.0, left=0.5)
    limit.double()
    assert limit.most == 0.75 * 120
    limit.double(beyond_timeout=True)
    assert limit.most == 1.5 * 120


def test_an_unknown_limit_is_set_by_what_is_late_alone() -> None:
    limit = Limit()
    limit.learn(10, late=False, growth=4.0, left=0.5)
    assert limit.whole is None
    limit.learn(64, late=True, growth=4.0, left=0.25)
    assert limit.whole == 16


def test_limits_are_taken_back() -> None:
    sizes = first_sizes(SUMMARY, sure=10, design_s=6.0, size_of=None)
    before = sizes.snapshot()
    assert sizes.widen()
    assert sizes.snapshot() != before
    sizes.restore(before)
    assert sizes.snapshot() == before


def test_a_quick_design_widens_more_than_a_slow_one() -> None:
    most: list[float] = []
    for wall_s in (0.1, 5.0):
        sizes = first_sizes(SUMMARY, sure=1, design_s=6.0, size_of=lambda _: 100)
        answer = Evaluation(status=OK, latency_cycles=9, wall_s=wall_s)
        sizes.learn(Configuration(), answer, fine_only=True)
        most.append(sizes.size.most)
    assert most == [400, 200]


def test_the_share_of_a_design_is_that_of_what_is_made_of_it() -> None:
    sizes = first_sizes(SUMMARY, sure=50, design_s=6.0, size_of=lambda _: 100)
    assert sizes.size_margin(Configuration()) == 0.5


def test_what_a_tool_makes_is_unknown_without_a_measure_of_it() -> None:
    sizes = first_sizes(SUMMARY, sure=1, design_s=6.0, size_of=None)
    late = Evaluation(status=TIMEOUT, reason="late", wall_s=6.0)
    sizes.learn(Configuration(), late, fine_only=True)
    assert math.isinf(sizes.size_margin(Configuration()))
    assert math.isinf(sizes.size.most)
