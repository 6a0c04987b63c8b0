"""Values of LightGBM's trees from its text format, without LightGBM, whose import takes 1 s.

Answers equal LightGBM's bit for bit: the same comparisons, and sums over trees in their order.

Source: LightGBM 4, `Tree::ToString`, `Tree::NumericalDecision` and `Tree::CategoricalDecision`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError

_ACCEPTED = {
    "version": ("v4",),
    "num_class": ("1",),
    "num_tree_per_iteration": ("1",),
    "objective": ("regression", "regression_l1"),
}
"""What the header must say: trees whose answer is their sum."""
_SPLITS: Mapping[str, Callable[[str], float]] = {
    "split_feature": int,
    "threshold": float,
    "decision_type": int,
    "left_child": int,
    "right_child": int,
}
_NO_CATEGORIES = {"cat_boundaries": "", "cat_threshold": ""}
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_MISSING_ZERO, _MISSING_NAN = 1, 2
_ZERO = 1e-35
_FIRST_SHARE, _STAGES = 0.25, 16
"""Share of the trees in the shortest ensemble, and number of ensembles, of the spread."""
_ROWS = 256
"""Rows per step: bounds the memory of an answer."""
Matrix, Integers = NDArray[np.float64], NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoostedTrees:
    """An ensemble of trees, splits and then leaves of all trees one after the other.

    Attributes:
        text: LightGBM's, from which the arrays are read.
        feature_count: columns of a question.
        roots: first node of every tree. (trees,)
        features, thresholds, decisions: of splits, as LightGBM writes them. (splits,)
        children: left and right node. (splits, 2)
        categories: first and end word in `words` of the categories that go left. (splits, 2)
        words: sets of categories, 32 bits each.
        leaves: values. (leaves,)
    """

    text: str
    feature_count: int
    roots: Integers
    features: Integers
    thresholds: Matrix
    decisions: Integers
    children: Integers
    categories: Integers
    words: Integers
    leaves: Matrix

    @classmethod
    def of_text(cls, text: str) -> BoostedTrees:
        """Return the trees in LightGBM's text. Work and memory are linear in its length.

        Raises: PredictorError: damaged, or trees whose answer is not their sum.
        """
        try:
            return _read(text)
        except (ValueError, KeyError, OverflowError) as error:
            raise PredictorError(f"trees are not LightGBM's text: {error}") from error

    @classmethod
    def of_array(cls, values: NDArray[np.uint8]) -> BoostedTrees:
        """Return the trees of an array of a predictor's files. Raises: PredictorError: as `of_text`."""
        try:
            return cls.of_text(values.tobytes().decode())
        except UnicodeDecodeError as error:
            raise PredictorError(f"trees are not LightGBM's text: {error}") from error

    @property
    def array(self) -> NDArray[np.uint8]:
        """The text as an array for a predictor's files."""
        return np.frombuffer(self.text.encode(), np.uint8)

    def predict(self, rows: Matrix) -> Matrix:
        """Predict the sums over trees: (rows, features) -> (rows,).

        Raises: PredictorError: another number of features.
        """
        return self.predict_with_spread(rows)[0]

    def predict_with_spread(self, rows: Matrix) -> tuple[Matrix, Matrix]:
        """Predict the sums over trees, and their deviation over shorter ensembles. Both (rows,).

        Raises: PredictorError: another number of features.
        Source: Ustimenko and Prokhorenkova 2021 (virtual ensembles): the first quarter of the trees and more
                are models of their own, which disagree where training did not settle.
        """
        if rows.shape[1:] != (self.feature_count,):
            raise PredictorError(
                f"trees of {self.feature_count} features cannot answer rows of shape {rows.shape}"
            )
        parts = [self._sums(rows[start : start + _ROWS]) for start in range(0, len(rows), _ROWS)]
        sums, spreads = zip((np.zeros(0), np.zeros(0)), *parts, strict=True)
        return np.concatenate(sums), np.concatenate(spreads)

    def _sums(self, rows: Matrix) -> tuple[Matrix, Matrix]:
        nodes = np.tile(self.roots, (len(rows), 1))  # (rows, trees)
        count = len(self.features)
        while (is_split := nodes < count).any():
            splits = nodes[is_split]
            values = rows[np.nonzero(is_split)[0], self.features[splits]]
            is_right = ~self._goes_left(values, splits)
            nodes[is_split] = self.children[splits, is_right.astype(np.int64)]
        sums = np.cumsum(self.leaves[nodes - count], axis=1)
        ends = np.linspace(sums.shape[1] * _FIRST_SHARE, sums.shape[1], _STAGES).astype(np.int64) - 1
        return sums[:, -1], sums[:, np.maximum(ends, 0)].std(axis=1)

    def _goes_left(self, values: Matrix, splits: Integers) -> NDArray[np.bool_]:
        """Tell whether values go left at splits. Both (n,)"""
        decisions = self.decisions[splits]
        missing, unknown = decisions >> 2, np.isnan(values)
        known = np.where(unknown & (missing != _MISSING_NAN), 0.0, values)
        is_missing = np.where(missing == _MISSING_ZERO, np.abs(known) <= _ZERO, unknown)
        is_missing &= missing > 0
        left = np.where(is_missing, (decisions & _DEFAULT_LEFT) > 0, known <= self.thresholds[splits])
        chosen = np.flatnonzero(decisions & _CATEGORICAL)
        if len(chosen):
            left[chosen] = self._is_in_category(values[chosen], splits[chosen])
        return left

    def _is_in_category(self, values: Matrix, splits: Integers) -> NDArray[np.bool_]:
        begins, ends = self.categories[splits].T
        limits = (ends - begins) * 32
        is_inside = (values > -1.0) & (values < limits)  # NaN is not
        numbers = np.where(is_inside, values, 0.0).astype(np.int64)
        words = self.words[np.where(is_inside, begins + numbers // 32, 0)]
        return is_inside & ((words >> (numbers % 32)) & 1 > 0)


def _read(text: str) -> BoostedTrees:
    body, mark, _ = text.partition("\nend of trees")
    if not mark:
        raise ValueError("no end of trees")
    head, *blocks = body.split("\nTree=")
    said = _fields(head)
    for name, accepted in _ACCEPTED.items():
        if said[name] not in accepted or "average_output" in said:
            raise ValueError(f"{name}={said[name]}; accepted: sums, {name} {' or '.join(accepted)}")
    if not blocks or len(blocks) != len(said["tree_sizes"].split()):
        raise ValueError(f"{len(blocks)} trees; {len(said['tree_sizes'].split())} are announced")
    feature_count = int(said["max_feature_idx"]) + 1
    trees = [_fields(block) for block in blocks]
    for number, tree in enumerate(trees):
        if tree["num_leaves"] == "1":  # such a tree has no list of splits, or lists of one 0
            trees[number] = {**tree, **dict.fromkeys(_SPLITS, "")}
    return _joined(text, feature_count, trees)


def _fields(block: str) -> dict[str, str]:
    return {name: value for name, _, value in (line.partition("=") for line in block.split("\n"))}


def _joined(text: str, feature_count: int, trees: Sequence[Mapping[str, str]]) -> BoostedTrees:
    """Return the trees with nodes numbered through: splits of all trees, then leaves of all trees."""
    leaf_values, leaf_counts = _numbers(trees, "leaf_value", float)
    counts = np.array([int(tree["num_leaves"]) - 1 for tree in trees], np.int64)
    columns: dict[str, NDArray[np.float64]] = {}
    for name, kind in _SPLITS.items():
        columns[name], own = _numbers(trees, name, kind)
        _check(np.array_equal(own, counts), f"{name} of another length than num_leaves")
    _check(np.array_equal(leaf_counts, counts + 1), "leaf_value of another length than num_leaves")
    _check(all(tree["is_linear"] == "0" for tree in trees), "linear trees; accepted: constant leaves")
    _check(bool(np.isfinite(leaf_values).all()), "a leaf_value that is not finite")
    _check(not np.isnan(columns["threshold"]).any(), "a threshold that is not a number")
    features, decisions = (columns[name].astype(np.int64) for name in ("split_feature", "decision_type"))
    _check(bool(((features >= 0) & (features < feature_count)).all()), "a split_feature beyond the features")
    _check(bool(((decisions >= 0) & (decisions < 12)).all()), "an unknown decision_type")
    firsts = np.cumsum(counts) - counts
    owners = np.repeat(np.arange(len(trees)), counts)
    children = np.stack([columns["left_child"], columns["right_child"]], axis=1).astype(np.int64)
    places = (np.arange(len(owners)) - firsts[owners])[:, None]
    limits = counts[owners][:, None]
    # A child comes after its split, so that every walk ends; one below 0 is a leaf, ~child its number.
    is_split, is_leaf = (children > places) & (children < limits), (children < 0) & (~children <= limits)
    _check(bool((is_split | is_leaf).all()), "a child that is no later split and no leaf")
    leaves = len(owners) + np.cumsum(leaf_counts) - leaf_counts
    starts = np.where(is_leaf, leaves[owners][:, None] + ~children, firsts[owners][:, None] + children)
    categories, words = _categories(trees, columns["threshold"], decisions, owners)
    return BoostedTrees(
        text=text,
        feature_count=feature_count,
        roots=np.where(counts > 0, firsts, leaves),
        features=features,
        thresholds=columns["threshold"],
        decisions=decisions,
        children=starts,
        categories=categories,
        words=words,
        leaves=leaf_values,
    )


def _categories(
    trees: Sequence[Mapping[str, str]], thresholds: Matrix, decisions: Integers, owners: Integers
) -> tuple[Integers, Integers]:
    """Return the first and end word of every split's categories (splits, 2), and the words."""
    chosen = np.flatnonzero(decisions & _CATEGORICAL)
    categories = np.zeros((len(decisions), 2), np.int64)
    if not len(chosen):
        return categories, np.zeros(1, np.int64)
    having = [tree if int(tree["num_cat"]) else {**tree, **_NO_CATEGORIES} for tree in trees]
    bounds, bound_counts = _numbers(having, "cat_boundaries", int)
    words, word_counts = _numbers(having, "cat_threshold", int)
    first_bounds, first_words = (np.cumsum(n) - n for n in (bound_counts, word_counts))
    of, numbers = owners[chosen], thresholds[chosen]
    is_known = (numbers >= 0) & (numbers < bound_counts[of] - 1) & (numbers % 1 == 0)
    _check(bool(is_known.all()), "no such set of categories")
    places = first_bounds[of] + numbers.astype(np.int64)
    pairs = bounds.astype(np.int64)[places[:, None] + [0, 1]]
    is_inside = (pairs[:, 0] >= 0) & (pairs[:, 0] < pairs[:, 1]) & (pairs[:, 1] <= word_counts[of])
    _check(bool(is_inside.all()), "a set of categories beyond cat_threshold")
    categories[chosen] = pairs + first_words[of][:, None]
    return categories, words.astype(np.int64)


def _numbers(
    trees: Sequence[Mapping[str, str]], name: str, kind: Callable[[str], float]
) -> tuple[Matrix, Integers]:
    """Return numbers of a list of all trees, and how many each tree has; floats hold the integers exactly."""
    words = [tree[name].split() for tree in trees]
    counts = np.array([len(own) for own in words], np.int64)
    values = np.array([kind(word) for own in words for word in own], np.float64)
    _check(kind is float or bool((np.abs(values) < 1 << 53).all()), f"{name} beyond 53 bits")
    return values, counts


def _check(accepted: bool, problem: str) -> None:
    if not accepted:
        raise ValueError(problem)
