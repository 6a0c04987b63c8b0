"""Metrics against hand-computed values, scikit-learn and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import mean_absolute_percentage_error, r2_score

from models.leaderboard import Prediction, leaderboard_rows, workload_rows
from models.metrics import METRICS, MetricError, bootstrap, bootstrap_all, mape, r_squared, spearman
from pipelines.schemas import table_spec

ACTUAL = np.array([1.0, 2.0, 4.0, 4.0, 10.0])
PREDICTED = np.array([1.5, 2.0, 2.0, 5.0, 5.0])


def test_metrics_have_hand_computed_values() -> None:
    assert mape(ACTUAL, PREDICTED) == pytest.approx((0.5 + 0 + 0.5 + 0.25 + 0.5) / 5)
    # the mean is 4.2; squared errors 0.25, 0, 4, 1, 25; squared deviations sum to 48.8
    assert r_squared(ACTUAL, PREDICTED) == pytest.approx(1 - 30.25 / 48.8)
    # ranks 1 2 3.5 3.5 5 and 1 2.5 2.5 4.5 4.5: centred products sum to 8, squares to 9.5 and 9
    assert spearman(ACTUAL, PREDICTED) == pytest.approx(8.0 / math.sqrt(9.5 * 9))


def test_metrics_agree_with_scikit_learn_and_scipy_with_ties() -> None:
    random = np.random.default_rng(7)
    for _ in range(20):
        actual = random.integers(1, 6, size=12).astype(float)
        predicted = random.integers(1, 6, size=12).astype(float)
        assert mape(actual, predicted) == pytest.approx(mean_absolute_percentage_error(actual, predicted))
        assert r_squared(actual, predicted) == pytest.approx(r2_score(actual, predicted))
        assert spearman(actual, predicted) == pytest.approx(spearmanr(actual, predicted).statistic)


def test_metrics_of_perfect_predictions() -> None:
    values = [metric(ACTUAL, ACTUAL) for metric in METRICS.values()]
    assert values == pytest.approx([0, 0, 0, 1, 1])


def test_correlations_with_a_constant_are_nan() -> None:
    constant = np.full(5, 3.0)
    assert math.isnan(r_squared(constant, ACTUAL))
    assert math.isnan(spearman(constant, ACTUAL))
    assert math.isnan(spearman(ACTUAL, constant))
    assert r_squared(ACTUAL, constant) < 0


def test_mape_rejects_a_zero_actual() -> None:
    with pytest.raises(MetricError, match="must not be zero for MAPE, got 0 in row 1"):
        mape(np.array([1.0, 0.0]), np.array([1.0, 1.0]))


@pytest.mark.parametrize("name", METRICS)
def test_metrics_reject_malformed_input(name: str) -> None:
    metric = METRICS[name]
    with pytest.raises(MetricError, match=r"one equal length, got shapes \(5,\) and \(2,\)"):
        metric(ACTUAL, PREDICTED[:2])
    with pytest.raises(MetricError, match="at least one row, got 0"):
        metric(np.array([]), np.array([]))
    with pytest.raises(MetricError, match="predicted values must be finite, got nan in row 0"):
        metric(np.array([1.0]), np.array([math.nan]))


def test_bootstrap_repeats_with_its_seed_and_brackets_the_value() -> None:
    random = np.random.default_rng(1)
    actual = random.uniform(1, 9, size=200)
    predicted = actual * random.uniform(0.8, 1.2, size=200)
    rows = [str(i) for i in range(200)]
    first = bootstrap(mape, actual, predicted, rows, resamples=300, seed=5)
    assert first == bootstrap(mape, actual, predicted, rows, resamples=300, seed=5)
    assert first != bootstrap(mape, actual, predicted, rows, resamples=300, seed=6)
    assert first.low < first.value < first.high
    # the standard error of a mean of 200 values of deviation about 0.058 is about 0.004
    assert first.high - first.low == pytest.approx(4 * 0.004, rel=0.3)


def test_bootstrap_draws_whole_groups() -> None:
    actual = np.ones(100)
    predicted = np.repeat([1.1, 1.5], 50)
    names = ["near"] * 50 + ["far"] * 50
    grouped = bootstrap(mape, actual, predicted, names, resamples=500, seed=1)
    assert (grouped.low, grouped.high) == pytest.approx((0.1, 0.5))


def test_bootstrap_of_an_undefined_metric_is_nan() -> None:
    interval = bootstrap(r_squared, np.ones(3), np.ones(3), ["a"] * 3, resamples=9, seed=1)
    assert all(map(math.isnan, (interval.value, interval.low, interval.high)))


def test_bootstrap_rejects_too_few_groups_or_resamples() -> None:
    with pytest.raises(MetricError, match="groups must be one a row, got 1 for 5 rows"):
        bootstrap(mape, ACTUAL, PREDICTED, ["a"], resamples=9, seed=1)
    with pytest.raises(MetricError, match="resamples must be at least 1, got 0"):
        bootstrap(mape, ACTUAL, PREDICTED, ["a"] * 5, resamples=0, seed=1)


def test_leaderboard_has_a_row_for_every_target_part_and_metric() -> None:
    predictions = [
        Prediction(design_id=str(i), group=f"k{i % 2}", part=part, target=target, actual=a, predicted=a * 2)
        for part in ("train", "test")
        for target in ("area_um2", "latency_cycles")
        for i, a in enumerate(ACTUAL)
    ]
    rows = leaderboard_rows(
        predictions, predictor="p", version="v", level="hls", split="s", resamples=20, seed=1
    )
    assert [(r.target, r.part, r.metric) for r in rows] == [
        (target, part, metric)
        for target in ("area_um2", "latency_cycles")
        for part in ("train", "test")
        for metric in METRICS
    ]
    assert {(r.value, r.row_count) for r in rows if r.metric == "mape"} == {(1.0, 5)}


def test_leaderboard_of_an_undefined_metric_has_no_figures() -> None:
    predictions = [
        Prediction(design_id=i, group=i, part="test", target="area_um2", actual=3.0, predicted=3.0)
        for i in ("a", "b")
    ]
    rows = leaderboard_rows(
        predictions, predictor="p", version="v", level="hls", split="s", resamples=20, seed=1
    )
    figures = {row.metric: (row.value, row.interval_low, row.interval_high) for row in rows}
    nothing, exact = (None, None, None), (0.0, 0.0, 0.0)
    assert figures == {
        "mape": exact,
        "median_ape": exact,
        "mse": exact,
        "r2": nothing,
        "spearman": nothing,
    }
    assert table_spec("leaderboard").to_arrow(rows).num_rows == 5


def test_pass_at_5_is_the_error_of_the_best_of_five_drawn_answers() -> None:
    predictions = [
        Prediction(
            design_id=i,
            group=i,
            part="test",
            target="area_um2",
            actual=4.0,
            predicted=8.0,
            samples=(8.0, 1.0, 5.0, 2.0, 9.0, 4.0),
        )
        for i in ("a", "b")
    ]
    rows = leaderboard_rows(
        predictions, predictor="p", version="v", level="text", split="s", resamples=5, seed=1
    )
    assert {row.metric: row.value for row in rows}["pass_at_5"] == 0.25


def test_errors_by_workload_are_means_over_designs_of_the_evaluation_part() -> None:
    predictions = [
        Prediction(
            design_id=f"{name}{n}", group=name, part=part, target="area_um2", actual=2.0, predicted=2.0 + n
        )
        for name, part in (("adi", "evaluation"), ("fir", "test"))
        for n in (1, 2)
    ]
    names = {"adi1": "adi", "adi2": "adi"}
    (row,) = workload_rows(predictions, names, predictor="p", version="v", level="hls", split="s")
    assert (row.workload, row.value, row.row_count) == ("adi", 0.75, 2)


def test_intervals_of_several_metrics_are_those_of_each() -> None:
    groups = ["a", "a", "b", "c", "c"]
    together = bootstrap_all([mape, spearman], ACTUAL, PREDICTED, groups, resamples=50, seed=1)
    apart = [bootstrap(m, ACTUAL, PREDICTED, groups, resamples=50, seed=1) for m in (mape, spearman)]
    assert together == apart
