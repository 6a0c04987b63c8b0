"""Trees evaluated from LightGBM's text: equal to LightGBM, and damaged texts are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import lightgbm
import numpy as np
import pytest

from models.base import PredictorError
from models.boosted_trees import BoostedTrees
from models.catalogue import predictor_named
from models.model_files import read_model

SHIPPED = ("lightgbm-text", "lightgbm-static", "lightgbm-hls", "rtl-engine")


def shipped_trees(name: str) -> Mapping[str, BoostedTrees]:
    arrays = read_model(predictor_named(name).shipped_folder)[1].arrays
    return {key: BoostedTrees.of_array(own) for key, own in arrays.items() if key.startswith("trees_")}


def drawn_rows(trees: BoostedTrees, count: int) -> np.ndarray:
    """Rows around the thresholds of trees and far from them, some missing, zero or infinite."""
    draw = np.random.default_rng(0)
    shape = (count, trees.feature_count)
    rows = draw.normal(size=shape) * np.exp(3 * draw.normal(size=shape))
    rows = np.where(draw.random(shape) < 0.5, draw.choice(trees.thresholds, shape), rows)
    for value in (np.nan, 0.0, 1e-36, np.inf, -np.inf):
        rows[draw.random(shape) < 0.04] = value
    return rows


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_trees_answer_as_lightgbm_does(name: str) -> None:
    for trees in shipped_trees(name).values():
        rows = drawn_rows(trees, 300)
        expected = lightgbm.Booster(model_str=trees.text).predict(rows, num_threads=1)
        assert np.array_equal(trees.predict(rows), expected)
        assert np.array_equal(trees.predict(rows[:1]), expected[:1])
        assert len(trees.predict(rows[:0])) == 0


def trained(**options: Any) -> tuple[lightgbm.Booster, np.ndarray]:
    """Trees on two columns of categories and one number, and questions."""
    draw = np.random.default_rng(1)
    rows = np.column_stack([draw.integers(0, 80, 900), draw.integers(0, 5, 900), draw.normal(size=900)])
    labels = np.sin(7.1 * rows[:, 0]) + rows[:, 1] % 2 + rows[:, 2]
    if options.pop("missing", False):
        rows[draw.random(rows.shape) < 0.2] = np.nan
    data = lightgbm.Dataset(
        rows,
        label=labels,
        categorical_feature=options.pop("categories", "auto"),
        params={"verbosity": -1},
    )
    fixed = {"objective": "regression", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3}
    booster = lightgbm.train({**fixed, **options}, data, num_boost_round=20)
    for value in (np.nan, 0.0, -3.0, -1.0, -0.5, 2.5, 31.0, 32.0, 1e9, np.inf):
        rows[draw.random(rows.shape) < 0.04] = value
    return booster, rows


@pytest.mark.parametrize(
    ("decisions", "options"),
    [
        pytest.param({"2"}, {}, id="nothing_missing"),
        pytest.param({"8", "10"}, {"missing": True}, id="missing"),
        pytest.param({"4", "6"}, {"missing": True, "zero_as_missing": True}, id="zero_is_missing"),
        pytest.param({"1", "2", "9"}, {"categories": [0, 1]}, id="categories"),
        pytest.param({"8", "9", "10"}, {"categories": [0, 1], "missing": True}, id="missing_categories"),
        pytest.param(set[str](), {"min_data_in_leaf": 900}, id="no_splits"),
    ],
)
def test_every_kind_of_decision_is_that_of_lightgbm(decisions: set[str], options: dict[str, Any]) -> None:
    booster, rows = trained(**options)
    text = booster.model_to_string()
    assert set(" ".join(re.findall("decision_type=(.*)", text)).split()) == decisions
    assert np.array_equal(BoostedTrees.of_text(text).predict(rows), booster.predict(rows))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param(r"\nend of trees", "", "no end of trees", id="cut"),
        pytest.param(r"version=v4", "version=v9", "version=v9; accepted: sums, version v4", id="version"),
        pytest.param(
            r"objective=\w+", "objective=binary", "objective=binary; accepted: sums", id="objective"
        ),
        pytest.param(r"\nTree=1\n(?s:.*?)\nTree=2\n", "\nTree=2\n", "19 trees; 20 are announced", id="tree"),
        pytest.param(r"num_leaves=\d+", "num_leaves=1000000000", "of another length", id="leaves"),
        pytest.param(r"left_child=\S+", "left_child=0", "a child that is no later split", id="circle"),
        pytest.param(r"right_child=\S+", "right_child=-99", "a child that is no later split", id="leaf"),
        pytest.param(r"split_feature=\S+", "split_feature=3", "a split_feature beyond", id="feature"),
        pytest.param(r"decision_type=\S+", "decision_type=12", "an unknown decision_type", id="decision"),
        pytest.param(r"decision_type=\S+", f"decision_type={10**400}", "too large", id="huge"),
        pytest.param(r"left_child=\S+", f"left_child={10**30}", "left_child beyond 53 bits", id="large"),
        pytest.param(r"threshold=\S+", "threshold=nan", "a threshold that is not a number", id="nan"),
        pytest.param(r"leaf_value=\S+", "leaf_value=inf", "a leaf_value that is not finite", id="infinite"),
        pytest.param(r"leaf_value=\S+", "leaf_value=x", "could not convert string", id="word"),
        pytest.param(r"is_linear=0", "is_linear=1", "linear trees; accepted: constant leaves", id="linear"),
        pytest.param(r"cat_boundaries=0 \d+", "cat_boundaries=0 99", "beyond cat_threshold", id="words"),
        pytest.param(r"\nnum_leaves=.*", "", "num_leaves", id="missing"),
    ],
)
def test_reading_trees_rejects_damage(old: str, new: str, problem: str) -> None:
    text = trained(categories=[0, 1])[0].model_to_string()
    assert re.search(old, text)
    with pytest.raises(PredictorError, match=rf"^trees are not LightGBM's text: .*{re.escape(problem)}"):
        BoostedTrees.of_text(re.sub(old, new, text, count=1))


def test_trees_reject_another_number_of_features_and_bytes_that_are_no_text() -> None:
    trees = shipped_trees("rtl-engine")["trees_reuse_cycle_ns"]
    with pytest.raises(PredictorError, match=r"^trees of 11 features cannot answer rows of shape \(2, 3\)$"):
        trees.predict(np.zeros((2, 3)))
    with pytest.raises(PredictorError, match=r"^trees are not LightGBM's text: "):
        BoostedTrees.of_array(np.array([255, 254], np.uint8))
