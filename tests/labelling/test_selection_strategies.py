"""Ranking of unlabelled designs: value per second, within a budget, the same for any order of the pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.benchmarks.selection_strategies import (
    Pool,
    SelectionError,
    SelectionOptions,
    fit_costs,
    rank_designs,
)

ONLY_UNCERTAINTY = SelectionOptions(distance=0, coverage=0)
ONLY_DISTANCE = SelectionOptions(uncertainty=0, coverage=0, cost_exponent=0)
ONLY_COVERAGE = SelectionOptions(uncertainty=0, distance=0, cost_exponent=0)


def _pool(count: int = 12, seed: int = 0) -> Pool:
    draw = np.random.default_rng(seed)
    return Pool(
        ids=[f"d{n:02}" for n in range(count)],
        features=draw.normal(size=(count, 3)),
        kinds=[("suite=a",) if n % 3 else ("suite=b",) for n in range(count)],
        costs_s=draw.uniform(1.0, 20.0, count),
        predictions=draw.normal(size=(5, count, 2)),
        labelled_features=draw.normal(size=(4, 3)),
        labelled_kinds=[("suite=a",)] * 4,
    )


def _ids(pool: Pool, options: SelectionOptions, budget_s: float = 1e9) -> list[str]:
    return [choice.design_id for choice in rank_designs(pool, options, budget_s)]


@pytest.mark.parametrize("budget_s", [0.0, 15.0, 60.0])
def test_chosen_designs_cost_at_most_the_budget_and_no_other_would_fit(budget_s: float) -> None:
    choices = rank_designs(_pool(), SelectionOptions(), budget_s)
    left_s = budget_s - sum(choice.cost_s for choice in choices if choice.chosen)
    assert left_s >= 0
    assert all(choice.cost_s > left_s for choice in choices if not choice.chosen)
    assert [choice.rank for choice in choices] == list(range(1, 13))
    assert sorted(choice.design_id for choice in choices) == list(_pool().ids)


def test_of_equal_values_the_cheaper_is_first() -> None:
    pool = replace(_pool(), predictions=np.ones((5, 12, 2)))
    order = [pool.ids[n] for n in np.argsort(pool.costs_s)]
    assert _ids(pool, ONLY_UNCERTAINTY) == order
    assert _ids(pool, replace(ONLY_UNCERTAINTY, cost_exponent=0)) != order


def test_uncertainty_is_the_disagreement_of_the_members() -> None:
    pool = replace(_pool(), costs_s=np.ones(12))
    spread = pool.predictions.std(axis=0).mean(axis=1)
    assert _ids(pool, ONLY_UNCERTAINTY) == [pool.ids[n] for n in np.argsort(-spread)]


def test_distance_follows_the_farthest_first_traversal() -> None:
    pool = _pool()
    points = np.concatenate([pool.features, pool.labelled_features])
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    labelled, rest, order = list(range(12, 16)), list(range(12)), []
    while rest:
        gaps = [min(np.linalg.norm(points[n] - points[m]) for m in labelled) for n in rest]
        order.append(rest.pop(int(np.argmax(gaps))))
        labelled.append(order[-1])
    assert _ids(pool, ONLY_DISTANCE) == [pool.ids[n] for n in order]


def test_a_suite_with_few_labels_comes_first_until_it_has_as_many() -> None:
    kinds = dict(zip(_pool().ids, _pool().kinds, strict=True))
    order = [kinds[name] for name in _ids(_pool(), ONLY_COVERAGE)]
    assert order[:4] == [("suite=b",)] * 4


def test_a_twin_of_a_labelled_design_is_last_by_distance() -> None:
    pool = _pool()
    features = pool.features.copy()
    features[5] = pool.labelled_features[0]
    choices = rank_designs(replace(pool, features=features), ONLY_DISTANCE, 1e9)
    assert choices[-1].design_id == "d05"
    assert choices[-1].distance == pytest.approx(0, abs=1e-9)


def test_the_order_of_the_pool_does_not_count() -> None:
    pool, turned = _pool(), np.arange(12)[::-1]
    other = replace(
        pool,
        ids=[pool.ids[n] for n in turned],
        features=pool.features[turned],
        kinds=[pool.kinds[n] for n in turned],
        costs_s=pool.costs_s[turned],
        predictions=pool.predictions[:, turned],
    )
    assert _ids(pool, SelectionOptions(), 40.0) == _ids(other, SelectionOptions(), 40.0)


def test_representative_distance_prefers_a_crowd_over_an_outlier() -> None:
    features = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [9.0, 9.0]])
    pool = replace(
        _pool(4),
        features=features,
        labelled_features=np.array([[3.0, 3.0]]),
        labelled_kinds=[("suite=a",)],
    )
    assert _ids(pool, ONLY_DISTANCE)[0] == "d03"
    assert _ids(pool, replace(ONLY_DISTANCE, representative=True))[0] == "d00"


def test_designs_are_ranked_without_any_labelled_one() -> None:
    pool = replace(_pool(), labelled_features=np.empty((0, 3)), labelled_kinds=[])
    assert len(_ids(pool, SelectionOptions(), 30.0)) == 12


def test_ranking_rejects_lists_of_different_lengths() -> None:
    with pytest.raises(SelectionError, match=r"^11 costs of 12 unlabelled designs$"):
        rank_designs(replace(_pool(), costs_s=np.ones(11)), SelectionOptions(), 1.0)


def test_ranking_rejects_numbers_that_are_not_finite() -> None:
    with pytest.raises(SelectionError, match=r"^costs of unlabelled designs that are not finite$"):
        rank_designs(replace(_pool(), costs_s=np.full(12, np.nan)), SelectionOptions(), 1.0)


def test_ranking_rejects_weights_that_are_all_0() -> None:
    with pytest.raises(SelectionError, match=r"^all weights are 0; accepted: at least one above 0$"):
        rank_designs(_pool(), SelectionOptions(uncertainty=0, distance=0, coverage=0), 1.0)


def test_a_power_law_of_costs_is_fitted_exactly() -> None:
    draw = np.random.default_rng(1)
    area, cycles = np.exp(draw.uniform(8, 13, 40)), np.exp(draw.uniform(2, 12, 40))
    mapping, power = 2e-4 * area**0.9, 3e-5 * area**0.6 * cycles**0.3
    model = fit_costs(area, cycles, mapping, power)
    assert model.seconds(area, cycles) == pytest.approx(mapping + power)
    assert model.mapping_factor == pytest.approx(1)


def test_costs_keep_the_mean_of_times_that_scatter() -> None:
    draw = np.random.default_rng(2)
    area, cycles = np.exp(draw.uniform(8, 13, 200)), np.exp(draw.uniform(2, 12, 200))
    mapping, power = (1e-4 * area * np.exp(draw.normal(size=200)) for _ in range(2))
    estimated = fit_costs(area, cycles, mapping, power).seconds(area, cycles)
    assert estimated.mean() == pytest.approx((mapping + power).mean())


def test_costs_reject_a_time_of_0() -> None:
    with pytest.raises(SelectionError, match=r"^measured seconds of labelling that are not above 0$"):
        fit_costs(np.ones(5), np.ones(5), np.zeros(5), np.ones(5))
