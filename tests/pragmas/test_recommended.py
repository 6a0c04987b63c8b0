"""Which design of an answer is recommended, and what the answer says beside it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from pipelines.pragmas.search import CandidateDesign
from pipelines.pragmas.search.recommendation import best_designs, find_much_smaller
from simfoundry.commands.pragmas import excess, smaller_lines


def _design(cycles: int, area: float, name: str = "") -> CandidateDesign:
    return CandidateDesign(name=name, cycles=cycles, area_um2=area, measured=True, pragmas=("L0 pipeline",))


def test_a_close_and_much_smaller_design_is_kept_and_named() -> None:
    fast, small = _design(500, 900_000.0), _design(540, 10_000.0)
    others = [_design(500 + n, 950_000.0) for n in range(6, 14)]
    best = best_designs([small, *others, fast])
    assert (best[0], len(best)) == (fast, 5)
    assert small in best
    assert find_much_smaller(fast, best) == small
    answer: Any = SimpleNamespace(recommended=fast, smaller=replace(small, name="2"))
    assert smaller_lines(cast("Any", answer))[0] == (
        "hint: design 2 (L0 pipeline) takes 540 cycles, 8.0 % more, at 10,000 um2, 90.0 times less area"
    )


def test_no_design_is_much_smaller_than_a_small_one() -> None:
    fast = _design(500, 900.0)
    others = [_design(560, 10.0), _design(510, 500.0), replace(fast, cycles=None, area_um2=None)]
    assert find_much_smaller(fast, others) is None


def test_a_bound_far_below_is_a_ratio() -> None:
    assert excess(515.0) == "515 times"
    assert excess(1.25) == "25.0 % above"
