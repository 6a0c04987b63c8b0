"""Features of questions, one ensemble of trees per target, and its files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from models.base import Estimate, LabelPredictor, read_rows
from models.boosted_trees import BoostedTrees
from models.canonical import canonical_of, canonical_query
from models.catalogue import Trained, TrainingInput
from models.intervals import CALIBRATING, LEAST_ERROR, MEASURED, Residual, trips_of
from models.lightgbm import TrainOptions
from models.model_files import ModelFiles
from models.query import ALL_TARGETS, Query
from models.scheduled import EXACT, STARTS, compiled_features, engine_options, table_features
from models.tasks import DatasetError
from models.text_work import work_features
from pipelines.base.workers import Outcome, run_all

if TYPE_CHECKING:
    from models.labelled import LabelledDesign

_FOLDS = 5
_ADAPTED = "adapted_"
"""Begins the names of the arrays of adaptations."""
_DOUBTS = "doubts_"
"""Begins the names of the arrays of trees of expected errors."""
_DOUBT_OPTIONS = TrainOptions(trees=60, leaves=4, leaf_designs=20, feature_share=0.3)
Matrix = NDArray[np.float64]


def question_features(query: Query, level: str, engine: Mapping[str, Any]) -> dict[str, float]:
    """Return what is known of a question at a level: the work of its text, or what the engine gives.

    Args:   engine: options of high-level synthesis, at levels static, hls and run.
    Raises: ValueError: the program, a directive, a value or the data are not accepted at the level.
    """
    if level == "text":
        return work_features(canonical_query(query), canonical_of(query))
    return compiled_features(query, engine, level)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Adapted:
    """What labels of another tool add to the logarithm of an answer: a constant, and trees or none."""

    constant: float
    trees: BoostedTrees | None = None

    def values(self, features: Matrix) -> Matrix:
        """Return the sums (rows,) for features (rows, features)."""
        grown = 0.0 if self.trees is None else self.trees.predict(features)
        return np.full(len(features), self.constant) + grown


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreePredictor(LabelPredictor):
    """Ensembles of trees for logarithms of targets.

    Attributes:
        names: of features. low, high: their range in training.
        trees: ensemble by target; none for a target that the training tables lack.
        starts: feature by target; the trees of the target add to it.
        exact: feature by target; where it is 1, the start alone is the answer.
        engine: options of high-level synthesis; none at level text.
        doubts: trees by target for the logarithm of the error that a program of another family is expected to
            have, on `_doubt_features`; in place of the ensemble's own disagreement.
        adapted: to another tool, by target; see `models.lightgbm.adaptation`.
    """

    level: str
    names: tuple[str, ...]
    low: Matrix
    high: Matrix
    trees: Mapping[str, BoostedTrees]
    starts: Mapping[str, str] = field(default_factory=dict[str, str])
    exact: Mapping[str, str] = field(default_factory=dict[str, str])
    engine: Mapping[str, Any] = field(default_factory=dict[str, Any])
    doubts: Mapping[str, BoostedTrees] = field(default_factory=dict[str, BoostedTrees])
    adapted: Mapping[str, Adapted] = field(default_factory=dict[str, Adapted])

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the predicted label columns."""
        return tuple(self.trees)

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        """Predict one estimate per query, in order.

        Raises: PredictorError: a query cannot be read; the message names its row, from 0.
        """
        if not queries:
            return []
        return self.estimates(_matrix(read_rows(self._features_of, queries), self.names))

    def estimates(self, matrix: Matrix) -> list[Estimate]:
        """Return the estimates of features (rows, features)."""
        values, spreads = self.predict_with_spread(matrix)
        beyond = self.outside(matrix)
        return [
            Estimate(
                values=dict(zip(self.targets, map(float, answer), strict=True)),
                outside_training=tuple(n for n, out in zip(self.names, outside, strict=True) if out),
                spread=dict(zip(self.targets, map(float, spread), strict=True)),
                trips=trips_of(dict(zip(self.names, row, strict=True))),
            )
            for row, answer, spread, outside in zip(matrix.tolist(), values, spreads, beyond, strict=True)
        ]

    def predict_matrix(self, features: Matrix) -> Matrix:
        """Predict the targets (rows, targets) of features (rows, features)."""
        return self.predict_with_spread(features)[0]

    def predict_with_spread(self, features: Matrix) -> tuple[Matrix, Matrix]:
        """Predict targets and the spread of their logarithms: (rows, features) -> (rows, targets) twice.

        The spread is what `doubts` expect, of a target without them the disagreement of shorter ensembles.
        """
        outside = self.outside(features).sum(axis=1)
        logs: list[Matrix] = []
        spreads: list[Matrix] = []
        for target, tree in self.trees.items():
            grown, spread = tree.predict_with_spread(features)
            is_exact = _is_exact(self.exact.get(target), self.names, features)
            start = _start_of(self.starts.get(target), self.names, features)
            own = self.adapted.get(target)
            more = 0.0 if own is None else own.values(features)
            answer = np.where(is_exact, 0.0, grown) + start
            if (doubt := self.doubts.get(target)) is not None:
                spread = np.exp(doubt.predict(_doubt_features(features, spread, outside, answer)))
            logs.append(answer + more)
            spreads.append(np.where(is_exact, 0.0, spread))
        return np.exp(np.stack(logs, axis=1)).astype(np.float64), np.stack(spreads, axis=1)

    def outside(self, features: Matrix) -> NDArray[np.bool_]:
        """Tell which features lie outside the range of training: (rows, features) -> the same."""
        return (features < self.low - 1e-9) | (features > self.high + 1e-9)

    def _features_of(self, query: Query) -> dict[str, float]:
        return question_features(query, self.level, self.engine)

    @property
    def files(self) -> ModelFiles:
        """The predictor as plain data; trees are LightGBM's text as bytes."""
        arrays = {f"trees_{name}": tree.array for name, tree in self.trees.items()}
        arrays |= {f"{_DOUBTS}{name}": tree.array for name, tree in self.doubts.items()}
        arrays |= {f"{_ADAPTED}{n}": a.trees.array for n, a in self.adapted.items() if a.trees is not None}
        adapted = {name: own.constant for name, own in self.adapted.items()}
        card = {
            "level": self.level,
            "features": list(self.names),
            "targets": list(self.trees),
            "starts": dict(self.starts),
            "exact": dict(self.exact),
            "engine": dict(self.engine),
            **({"adapted": adapted} if adapted else {}),
        }
        return ModelFiles(card=card, arrays={**arrays, "low": self.low, "high": self.high})


def load(files: ModelFiles) -> TreePredictor:
    """Load the predictor from its files.

    Raises: KeyError, ValueError: not such a predictor.
    """
    return TreePredictor(
        level=files.card["level"],
        names=tuple(files.card["features"]),
        low=files.arrays["low"],
        high=files.arrays["high"],
        trees={name: BoostedTrees.of_array(files.arrays[f"trees_{name}"]) for name in files.card["targets"]},
        starts=files.card["starts"],
        exact=files.card.get("exact", {}),
        engine=files.card["engine"],
        doubts={
            name: BoostedTrees.of_array(files.arrays[f"{_DOUBTS}{name}"])
            for name in files.card["targets"]
            if f"{_DOUBTS}{name}" in files.arrays
        },
        adapted={
            name: Adapted(
                constant=float(constant),
                trees=BoostedTrees.of_array(files.arrays[f"{_ADAPTED}{name}"])
                if f"{_ADAPTED}{name}" in files.arrays
                else None,
            )
            for name, constant in files.card.get("adapted", {}).items()
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeData:
    """Labelled designs with their features and the engine's options, at levels hls and run."""

    level: str
    options: TrainOptions
    seed: int
    designs: Sequence[LabelledDesign]
    rows: Sequence[Mapping[str, float]]
    engine: Mapping[str, Any]

    def fit(self, chosen: Sequence[int]) -> TreePredictor:
        """Return the trees of the designs at some places."""
        known = [(self.designs[n], self.rows[n]) for n in chosen]
        return fit_predictor(known, self.level, self.options, self.seed, self.engine)


def load_data(data: TrainingInput, level: str) -> TreeData:
    """Load the designs and features of the tables. Raises: DatasetError: the tables cannot be trained on."""
    from models.labelled import add_converted_labels, training_designs

    options: TrainOptions = data.options
    designs = training_designs(data.data_dirs, options)
    if options.converted_liberty is not None and level != "run":
        designs = add_converted_labels(designs, data.data_dirs[0], options.converted_liberty)
    if level == "run":  # designs with cycles alone have no features of a run, which knows the cycles
        designs = tuple(design for design in designs if "area_um2" in design.labels)
    engine = {} if level == "text" else engine_options(data.data_dirs[0], designs)
    rows = training_features(data.data_dirs[0], designs, level, engine)
    return TreeData(level=level, options=options, seed=data.seed, designs=designs, rows=rows, engine=engine)


def training_features(
    data_dir: Path, designs: Sequence[LabelledDesign], level: str, engine: Mapping[str, Any]
) -> list[dict[str, float]]:
    """Return the features of designs, in order: of tables at levels hls and run, else made on all cores.

    Raises: DatasetError: a design has no features in the tables, or its program is not accepted any more.
    """
    if level in ("hls", "run"):
        return table_features(data_dir, designs, level)
    work = partial(_features_of_design, level=level, engine=engine)
    queries = [design.query for design in designs]
    return run_all("tree_features", queries, work, workers=os.cpu_count() or 1)


def _features_of_design(query: Query, level: str, engine: Mapping[str, Any]) -> Outcome[dict[str, float]]:
    try:
        return Outcome(result=question_features(query, level, engine), failed=False, name=query.top)
    except ValueError as error:
        raise DatasetError(f"a program of the tables is not accepted: {error}") from error


def train(data: TrainingInput, level: str) -> Trained:
    """Train trees of every target on the frozen split. Raises: DatasetError: as `load_data`."""
    from models.leaderboard import predictions_of

    known, options = load_data(data, level), data.options
    learned = [n for n, design in enumerate(known.designs) if design.part == "train"]
    left_out = left_out_answers(known)
    bare = known.fit(learned)
    predictor = replace(bare, doubts=fit_doubts(known, left_out, bare.names))
    matrix = _matrix(known.rows, predictor.names)
    return Trained(
        files=predictor.files,
        seen_groups=sorted({known.designs[n].group for n in learned}),
        summary={"train_designs": float(len(learned))},
        predictions=predictions_of(known.designs, predictor.predict_matrix(matrix), predictor.targets),
        residuals=tree_residuals(predictor, known, left_out),
        split=options.split,
        resamples=options.bootstrap_resamples,
    )


LeftOut = Sequence[tuple[TreePredictor, Sequence[int]]]
"""Families of programs: trees that saw none of their designs, and the places of these."""


def left_out_answers(data: TreeData) -> LeftOut:
    """Return each family of the parts train and validation with trees of all others.

    A family is a suite of programs. Where all designs are of one family, folds of groups take its place.
    """
    others = [n for n, design in enumerate(data.designs) if design.part in ("train", "validation")]
    families = [data.designs[n].family for n in others]
    if len(set(families)) == 1:
        folds = sorted({data.designs[n].group for n in others})
        families = [str(folds.index(data.designs[n].group) % _FOLDS) for n in others]
    left_out: list[tuple[TreePredictor, list[int]]] = []
    for family in sorted(set(families)):
        rest = [n for n, own in zip(others, families, strict=True) if own != family]
        if rest:
            own = [n for n, name in zip(others, families, strict=True) if name == family]
            left_out.append((data.fit(rest), own))
    return left_out


def fit_doubts(data: TreeData, left_out: LeftOut, names: Sequence[str]) -> dict[str, BoostedTrees]:
    """Return trees by target for the logarithms of errors of answers about families left out."""
    rows: dict[str, list[Matrix]] = {}
    logs: dict[str, list[Matrix]] = {}
    for predictor, places in left_out:
        matrix = _matrix([data.rows[n] for n in places], names)
        answers, spreads = predictor.predict_with_spread(matrix)
        outside = predictor.outside(matrix).sum(axis=1)
        for column, target in enumerate(predictor.targets):
            labels = np.log([data.designs[n].labels.get(target, np.nan) for n in places])
            answer = np.log(answers[:, column])
            used = np.isfinite(labels)
            known = _doubt_features(matrix, spreads[:, column], outside, answer)
            rows.setdefault(target, []).append(known[used])
            logs.setdefault(target, []).append(np.log(np.abs(answer - labels)[used] + LEAST_ERROR))
    joined = {target: (np.concatenate(own), np.concatenate(logs[target])) for target, own in rows.items()}
    return {t: fit_trees(own, errors, _DOUBT_OPTIONS, data.seed) for t, (own, errors) in joined.items()}


def _doubt_features(features: Matrix, spread: Matrix, outside: Matrix, answer: Matrix) -> Matrix:
    """Return what an expected error depends on: (rows, features + 3)."""
    return np.column_stack([features, np.log(spread + LEAST_ERROR), outside, answer])


def tree_residuals(predictor: TreePredictor, data: TreeData, left_out: LeftOut) -> list[Residual]:
    """Return residuals of the measured parts, and of every other design by trees that saw none of its family.

    Expected errors of a family are those of trees that learned from the errors of other families, too.
    """
    kept = _residuals(predictor, data, [n for n, d in enumerate(data.designs) if d.part in MEASURED])
    for own, (bare, places) in enumerate(left_out):
        others = [one for n, one in enumerate(left_out) if n != own]
        doubting = replace(bare, doubts=fit_doubts(data, others, bare.names))
        kept += _residuals(doubting, data, places, part=CALIBRATING)
    return kept


def _residuals(
    predictor: TreePredictor, data: TreeData, chosen: Sequence[int], part: str | None = None
) -> list[Residual]:
    """Return the residuals of the designs at some places. part: another than that of the split."""
    from models.residuals import design_residuals  # lazy import: Polars, which answering does not need

    if not chosen:
        return []
    rows = [data.rows[n] for n in chosen]
    estimates = predictor.estimates(_matrix(rows, predictor.names))
    return design_residuals([data.designs[n] for n in chosen], estimates, part)


def _matrix(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> Matrix:
    return np.array([[row[name] for name in names] for row in rows], np.float64)


def fit_predictor(
    designs: Sequence[tuple[LabelledDesign, Mapping[str, float]]],
    level: str,
    options: TrainOptions,
    seed: int,
    engine: Mapping[str, Any],
) -> TreePredictor:
    """Return the trees of every target that designs with their features have labels of."""
    names = tuple(designs[0][1])
    matrix = np.array([[row[name] for name in names] for _, row in designs], np.float64)
    starts, exact = STARTS.get(level, {}), EXACT if level in ("static", "hls") else {}
    trees: dict[str, BoostedTrees] = {}
    for target in ALL_TARGETS:
        labels = np.array([design.labels.get(target, np.nan) for design, _ in designs], np.float64)
        used = np.isfinite(labels)
        learned = used & ~_is_exact(exact.get(target), names, matrix)
        used = learned if learned.any() else used
        if used.any():
            logs = np.log(labels[used]) - _start_of(starts.get(target), names, matrix[used])
            trees[target] = fit_trees(matrix[used], logs, options, seed)
    return TreePredictor(
        level=level,
        names=names,
        low=matrix.min(axis=0),
        high=matrix.max(axis=0),
        trees=trees,
        starts={target: name for target, name in starts.items() if target in trees},
        exact=exact,
        engine=engine,
    )


def _start_of(name: str | None, names: Sequence[str], features: Matrix) -> Matrix:
    """Return what a target's trees add to, (rows,): a feature's column, or 0."""
    return np.zeros(len(features)) if name is None else features[:, names.index(name)]


def _is_exact(name: str | None, names: Sequence[str], features: Matrix) -> NDArray[np.bool_]:
    """Return where the start of a target is the answer: (rows,)."""
    return np.zeros(len(features), np.bool_) if name is None else features[:, names.index(name)] > 0


def fit_trees(features: Matrix, logs: Matrix, options: TrainOptions, seed: int) -> BoostedTrees:
    """Return the trees for logarithms of a target. features (rows, features), logs (rows,)."""
    import lightgbm  # lazy import: takes 1 s, and answers do without it

    parameters: dict[str, Any] = {
        "objective": "regression_l1",
        "num_leaves": options.leaves,
        "min_data_in_leaf": options.leaf_designs,
        "learning_rate": options.learning_rate,
        "feature_fraction": options.feature_share,
        "seed": seed,
        "deterministic": True,
        "force_col_wise": True,
        "num_threads": 1,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(features, label=logs, params={"verbosity": -1})
    booster = lightgbm.train(parameters, data, num_boost_round=options.trees)
    return BoostedTrees.of_text(booster.model_to_string())
