"""Calibrated intervals and confidence: coverage, difficulty, kinds of trip counts, families, an oracle."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from models.intervals import (
    CALIBRATING,
    DIFFICULTY,
    TRIPS_ASSUMED,
    TRIPS_KNOWN,
    TRIPS_UNKNOWN,
    Difficulty,
    Residual,
    calibrate,
    confidence,
    covering_score,
    half_width,
    measure_intervals,
    with_intervals,
)

AREA, CYCLES = "area_um2", "latency_cycles"


def _residual(
    group: int, error: float, *, target: str = AREA, spread: float = 0.1, trips: str = ""
) -> Residual:
    return Residual(
        target=target,
        family="ast",
        group=str(group),
        part=CALIBRATING,
        actual=100.0 * math.exp(error),
        predicted=100.0,
        difficulty=Difficulty(spread={target: spread}, trips=trips),
    )


def _drawn(seed: int, count: int) -> list[Residual]:
    """Errors that grow with the spread."""
    generator = np.random.default_rng(seed)
    spreads = np.exp(generator.uniform(-4.0, 0.0, count))
    errors = generator.normal(0.0, spreads)
    return [_residual(n, e, spread=s) for n, (e, s) in enumerate(zip(errors, spreads, strict=True))]


def test_a_group_counts_once_however_many_designs_it_has() -> None:
    few = [(str(n), 0.1) for n in range(19)]
    assert covering_score([*few, *[("large", 5.0)] * 100]) == 0.1


def test_too_few_groups_take_the_largest_score() -> None:
    assert covering_score([("a", 0.1), ("b", 0.4)]) == 0.4


def test_nine_tenths_are_inside_whether_a_question_is_easy_or_hard() -> None:
    known = calibrate(_drawn(0, 2000))[AREA]
    fresh = sorted(_drawn(1, 2000), key=lambda r: r.difficulty.spread[AREA])
    for half in (fresh[:1000], fresh[1000:]):
        inside = [r.error <= half_width(known, r.difficulty, AREA) for r in half]
        assert np.mean(inside) == pytest.approx(0.9, abs=0.06)
    easy, hard = (half_width(known, r.difficulty, AREA) for r in (fresh[0], fresh[-1]))
    assert hard > 5 * easy


def test_confidence_is_the_share_of_small_errors() -> None:
    known = calibrate(_drawn(0, 2000))[AREA]
    fresh = sorted(_drawn(1, 2000), key=lambda r: r.difficulty.spread[AREA])
    for part in (fresh[:700], fresh[700:1400], fresh[1400:]):
        said = np.mean([confidence(known, r.difficulty, AREA) for r in part])
        true = np.mean([abs(r.predicted / r.actual - 1) < 0.1 for r in part])
        assert said == pytest.approx(true, abs=0.06)


def test_intervals_equal_those_of_crepes() -> None:
    crepes = pytest.importorskip("crepes", reason="crepes is not installed; it is a package for development")
    rows, fresh = _drawn(0, 300), _drawn(1, 20)
    known = calibrate(rows)[AREA]
    constant, slope, _ = known["weights"]

    def scales(own: list[Residual]) -> np.ndarray:
        return np.array(
            [math.exp(constant + slope * math.log(r.difficulty.spread[AREA] + 1e-3)) for r in own]
        )

    errors = np.array([math.log(r.actual / r.predicted) for r in rows])
    oracle = crepes.ConformalRegressor().fit(errors, sigmas=scales(rows))
    ends = oracle.predict_int(np.zeros(len(fresh)), sigmas=scales(fresh), confidence=0.9)
    own = [half_width(known, r.difficulty, AREA) for r in fresh]
    assert own == pytest.approx(ends[:, 1], rel=1e-9)


def test_the_worst_family_decides() -> None:
    """Twelve hard programs of a second suite are a tenth of all programs, and alone in their family."""
    many = [_residual(n, 0.1 + n / 1e6) for n in range(108)]
    few = [replace(_residual(n, 1.0 + n / 1e6), family="machsuite") for n in range(12)]
    easy, hard = (calibrate(rows)[AREA] for rows in (many, many + few))
    difficulty = Difficulty(spread={AREA: 0.1})
    assert half_width(easy, difficulty, AREA) == pytest.approx(0.1, abs=0.01)
    assert half_width(hard, difficulty, AREA) == pytest.approx(1.0, abs=0.01)
    assert confidence(hard, difficulty, AREA) == 0.0


def test_unknown_trips_widen_cycles_and_no_area() -> None:
    generator = np.random.default_rng(0)
    kinds = {TRIPS_KNOWN: 0.0, TRIPS_ASSUMED: 0.1, TRIPS_UNKNOWN: 1.5}
    for target in (CYCLES, AREA):
        rows = [
            _residual(100 * k + n, float(generator.normal(0, scale)), target=target, trips=trips)
            for k, (trips, scale) in enumerate(kinds.items())
            for n in range(40)
        ]
        known = calibrate(rows)[target]
        widths = [half_width(known, Difficulty(spread={target: 0.1}, trips=trips), target) for trips in kinds]
        if target == CYCLES:
            assert widths[0] == 0.0
            assert widths[2] > 5 * widths[1] > 0
        else:
            assert widths[0] == widths[1] == widths[2]


def test_shares_inside_and_the_curve_are_of_the_measured_parts() -> None:
    rows = _drawn(0, 500)
    measured = [replace(r, part=part) for n, part in enumerate(("test", "fields"), 1) for r in _drawn(n, 500)]
    calibration = calibrate([*rows, *measured])
    figures = measure_intervals([*rows, *measured], calibration)[AREA]
    assert (figures["test"], figures["fields"]) == pytest.approx((0.9, 0.9), abs=0.04)
    assert "evaluation" not in figures
    assert figures["risk_10%"] < figures["risk_50%"] < figures["risk_100%"]
    assert calibrate(measured) == {}


def test_an_answer_gets_ends_and_confidence() -> None:
    calibration = calibrate(_drawn(0, 200))
    difficulty = Difficulty(spread={AREA: 0.2})
    row = {AREA: 10.0, f"{AREA}_low": 9.9, "power_mw": 4.0, DIFFICULTY: difficulty, "outside_training": ""}
    [answer] = with_intervals([row], calibration)
    factor = math.exp(half_width(calibration[AREA], difficulty, AREA))
    assert (answer[f"{AREA}_low"], answer[f"{AREA}_high"]) == pytest.approx((10 / factor, 10 * factor))
    assert (
        answer["confidence"]
        == answer[f"{AREA}_confidence"]
        == confidence(calibration[AREA], difficulty, AREA)
    )
    assert DIFFICULTY not in answer
    assert "power_mw_low" not in answer


def test_the_ends_of_a_count_are_whole_numbers() -> None:
    difficulty = Difficulty(spread={CYCLES: 1e-6})
    calibration = calibrate([_residual(n, 1e-8 * n, target=CYCLES, spread=1e-6) for n in range(40)])
    [answer] = with_intervals([{CYCLES: 163.0000964, DIFFICULTY: difficulty}], calibration)
    assert (answer[f"{CYCLES}_low"], answer[f"{CYCLES}_high"]) == (163, 163)
    [answer] = with_intervals([{CYCLES: 2748.999999999999, DIFFICULTY: difficulty}], calibration)
    assert [answer[f"{CYCLES}{end}"] for end in ("_low", "", "_high")] == [2749] * 3
    [answer] = with_intervals([{CYCLES: 162.4, DIFFICULTY: difficulty}], calibration)
    assert (answer[f"{CYCLES}_low"], answer[f"{CYCLES}_high"]) == (162, 163)
    [answer] = with_intervals([{CYCLES: 0.4, DIFFICULTY: difficulty}], calibration)
    assert (answer[f"{CYCLES}_low"], answer[f"{CYCLES}_high"]) == (1, 1)


def test_without_a_calibration_the_confidence_is_unknown() -> None:
    [answer] = with_intervals([{AREA: 10.0, f"{AREA}_low": 9.9, DIFFICULTY: Difficulty()}], {})
    assert answer == {AREA: 10.0, f"{AREA}_low": 9.9, "confidence": None}
