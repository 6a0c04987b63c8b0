"""The trained predictor on disk and its answers, without a learning framework: importing torch takes 1 s."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from models.base import Estimate, LabelPredictor, PredictorError, read_rows
from models.model_files import ModelFiles
from models.query import Query
from models.regression import OUTPUT_LIMIT, Typicality, is_of_network
from models.tenset_mlp import PREDICTOR
from models.tenset_mlp.features import FEATURE_SET, ProgramFacts, facts_of, features_of
from models.trips import with_trips

Matrix = NDArray[np.float64]


class ModelCard(BaseModel):
    """What stands beside the weights: names, normalisation and origin.

    A feature that is constant in training has scale 0: its normalised value is always 0, so weights that
    training never touched have no say. At level run the engine is that of the training designs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    feature_set: int = FEATURE_SET
    level: str = "static"
    engine: dict[str, str] = Field(default_factory=dict[str, str])
    features: Annotated[list[str], Field(min_length=1)]
    feature_mean: list[float]
    feature_scale: list[float]
    targets: Annotated[list[str], Field(min_length=1)]
    target_mean: list[float]
    target_scale: list[float]
    hidden_sizes: list[int]
    dropout: float
    split: str
    seen_groups: list[str]
    dataset_hash: str

    def normalise(self, features: Matrix) -> NDArray[np.float32]:
        """Return the features (rows, features) with mean 0 and deviation 1 over the training part."""
        scale = np.asarray(self.feature_scale)
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return ((features - np.asarray(self.feature_mean)) * inverse).astype(np.float32)

    def normalise_targets(self, targets: Matrix) -> NDArray[np.float32]:
        """Return the positive targets (rows, targets) as normalised natural logarithms; NaN stays."""
        logs = np.log(targets)
        return ((logs - np.asarray(self.target_mean)) / np.asarray(self.target_scale)).astype(np.float32)

    def restore_targets(self, outputs: NDArray[np.float32]) -> Matrix:
        """Return the targets in their own units from network outputs (rows, targets)."""
        bounded = np.clip(outputs.astype(np.float64), -OUTPUT_LIMIT, OUTPUT_LIMIT)
        return np.exp(bounded * np.asarray(self.target_scale) + np.asarray(self.target_mean))

    def matrix_of(self, rows: Sequence[Mapping[str, float]]) -> Matrix:
        """Return the feature rows as (rows, features), in the card's order."""
        return np.array([[row[n] for n in self.features] for row in rows], dtype=np.float64)


def make_card(
    names: Sequence[str],
    features: Matrix,
    target_names: Sequence[str],
    targets: Matrix,
    *,
    level: str,
    engine: Mapping[str, str],
    hidden_sizes: Sequence[int],
    dropout: float,
    split: str,
    seen_groups: Sequence[str],
    dataset_hash: str,
) -> ModelCard:
    """Make a card whose normalisation is that of the training part.

    Args: features: (rows, features) of the training part. targets: (rows, targets), positive, NaN if unknown.
    """
    logs = np.log(targets)
    spread = np.nanstd(logs, axis=0)
    varies = np.ptp(features, axis=0) > 0
    return ModelCard(
        level=level,
        engine=dict(engine),
        features=list(names),
        feature_mean=features.mean(axis=0).tolist(),
        feature_scale=np.where(varies, features.std(axis=0), 0).tolist(),
        targets=list(target_names),
        target_mean=np.nanmean(logs, axis=0).tolist(),
        target_scale=np.where(spread > 0, spread, 1.0).tolist(),
        hidden_sizes=list(hidden_sizes),
        dropout=dropout,
        split=split,
        seen_groups=list(seen_groups),
        dataset_hash=dataset_hash,
    )


LAYERS_PER_HIDDEN = 3
"""Linear, ReLU, Dropout: the numbers of linear layers in the names of arrays are that far apart."""


def array_shapes(
    feature_count: int, target_count: int, hidden_sizes: Sequence[int]
) -> dict[str, tuple[int, ...]]:
    """Return the shape by name of the arrays of a network, see `models.tenset_mlp.network.CostMlp`."""
    shapes: dict[str, tuple[int, ...]] = {"linear.weight": (target_count, feature_count)}
    before = feature_count
    for index, size in enumerate((*hidden_sizes, target_count)):
        shapes[f"layers.{LAYERS_PER_HIDDEN * index}.weight"] = (size, before)
        shapes[f"layers.{LAYERS_PER_HIDDEN * index}.bias"] = (size,)
        before = size
    return shapes


def answer_of(
    arrays: Mapping[str, NDArray[np.float32]], features: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Run a network without dropout: (rows, features) -> (rows, targets)."""
    last = max(int(name.split(".")[1]) for name in arrays if name.startswith("layers."))
    values = features
    for index in range(0, last + 1, LAYERS_PER_HIDDEN):
        values = values @ arrays[f"layers.{index}.weight"].T + arrays[f"layers.{index}.bias"]
        if index < last:
            values = np.maximum(values, 0)
    return values + features @ arrays["linear.weight"].T


class TensetMlpPredictor(LabelPredictor):
    """Answers queries with a trained network."""

    def __init__(
        self, card: ModelCard, arrays: Mapping[str, NDArray[np.float32]], typicality: Typicality
    ) -> None:
        self.card = card
        self.arrays = dict(arrays)
        self.typicality = typicality
        self._facts: dict[tuple[str, str], ProgramFacts] = {}

    @classmethod
    def load(cls, folder: Path) -> TensetMlpPredictor:
        """Load the predictor in a folder.

        Raises: PredictorError: the folder holds no such predictor, or a damaged one.
        """
        return PREDICTOR.load(folder)

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the predicted label columns."""
        return tuple(self.card.targets)

    @property
    def files(self) -> ModelFiles:
        """The predictor as plain data."""
        arrays = {**self.arrays, **self.typicality.arrays()}
        return ModelFiles(card=self.card.model_dump(mode="json"), arrays=arrays)

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        """Predict one estimate per query, in order.

        Raises: PredictorError: a query cannot be read; the message names its row, from 0.
        """
        if not queries:
            return []
        features = self.card.matrix_of(read_rows(self._row_of, queries))
        return self.typicality.estimates(features, self.targets, self.predict_matrix(features))

    def predict_matrix(self, features: Matrix) -> Matrix:
        """Predict the targets (rows, targets) of features (rows, features)."""
        return self.card.restore_targets(answer_of(self.arrays, self.card.normalise(features)))

    def _row_of(self, query: Query) -> Mapping[str, float]:
        key = (query.source, query.top)
        if key not in self._facts:
            self._facts[key] = facts_of(query.source, query.top)
        facts = self._facts[key]
        facts = replace(facts, loops=with_trips(facts.loops, query))
        if self.card.level == "run":
            from models.tenset_mlp.profile import profiled_facts  # it imports the engines

            facts = profiled_facts(facts, query, self.card.engine)
        return features_of(facts, query)


def load(files: ModelFiles) -> TensetMlpPredictor:
    """Load the predictor from its files.

    Raises: PredictorError: it was trained on another set of features. ValueError: not such a predictor.
    """
    feature_set = files.card.get("feature_set")
    if feature_set != FEATURE_SET:
        raise PredictorError(f"feature set {feature_set} is not {FEATURE_SET}, this version's; train again")
    content = dict(files.card)
    ranges = [np.asarray(content.pop(name, ())) for name in ("feature_low", "feature_high")]
    card = ModelCard.model_validate(content)
    own = {name: v.astype(np.float32) for name, v in files.arrays.items() if is_of_network(name)}
    expected = array_shapes(len(card.features), len(card.targets), card.hidden_sizes)
    shapes = {name: values.shape for name, values in own.items()}
    if shapes != expected:
        raise PredictorError(f"arrays of shapes {shapes}; accepted: {expected}")
    if len(ranges[0]):  # version 1, as shipped
        typicality = Typicality.of_ranges(card.features, *ranges)
    else:
        typicality = Typicality.of_arrays(card.features, files.arrays)
    return TensetMlpPredictor(card, own, typicality)
