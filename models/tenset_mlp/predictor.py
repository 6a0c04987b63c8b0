"""The multilayer perceptron of the cost model, and the trained predictor on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from models.base import Estimate, PredictorError
from models.labelled import Query
from models.model_files import ModelFiles
from models.regression import OUTPUT_LIMIT, Typicality, known_huber, network_arrays
from models.tenset_mlp import PREDICTOR
from models.tenset_mlp.features import FEATURE_SET, ProgramFacts, facts_of, features_of
from models.training import Training


class CostMlp(nn.Module):
    """Hidden layers of ReLU with dropout, and a linear layer onto the targets.

    A linear path from the features to the targets stands beside the hidden layers. Most of a log label is a
    sum of log features (iterations times cycles each), which the path holds exactly and continues beyond the
    training range, where ReLU layers alone would bend; the layers add what is not linear.

    Source: LLMulator section 7.1 (an MLP on handcrafted features); it names no sizes and no linear
        path, those are ours.
    """

    def __init__(
        self, feature_count: int, target_count: int, hidden_sizes: Sequence[int], dropout: float
    ) -> None:
        super().__init__()
        sizes = [feature_count, *hidden_sizes]
        layers: list[nn.Module] = []
        for before, after in pairwise(sizes):
            layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(dropout)]
        self.layers = nn.Sequential(*layers, nn.Linear(sizes[-1], target_count))
        self.linear = nn.Linear(feature_count, target_count, bias=False)

    def forward(self, features: Tensor) -> Tensor:  # (batch, features) -> (batch, targets)
        """Normalised log targets of normalised features."""
        return self.layers(features) + self.linear(features)


def untrained_network(
    feature_count: int, target_count: int, hidden_sizes: Sequence[int], dropout: float, seed: int
) -> CostMlp:
    """A network whose initial weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return CostMlp(feature_count, target_count, hidden_sizes, dropout)


class TensetMlp(Training[CostMlp]):
    """A CostMlp trained with Huber loss on normalised log targets.

    An error in a log target is a relative error in the target, which is what MAPE judges. Each target is
    scaled to deviation 1, so none outweighs another by its range. Huber (delta 1) is quadratic for the errors
    one can learn from and linear for a kernel that is nothing like the rest.
    """

    def loss(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        """Mean Huber loss of a batch over known labels."""
        features, targets = batch  # (batch, features), (batch, targets)
        return known_huber(self.network(features), targets)

    def batch_size(self, batch: tuple[Tensor, Tensor]) -> int:
        """Designs of a batch."""
        return len(batch[0])


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
        """Features (rows, features) with mean 0 and deviation 1 over the training part."""
        scale = np.asarray(self.feature_scale)
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return ((features - np.asarray(self.feature_mean)) * inverse).astype(np.float32)

    def normalise_targets(self, targets: Matrix) -> NDArray[np.float32]:
        """Positive targets (rows, targets) as normalised natural logarithms; NaN stays."""
        logs = np.log(targets)
        return ((logs - np.asarray(self.target_mean)) / np.asarray(self.target_scale)).astype(np.float32)

    def restore_targets(self, outputs: NDArray[np.float32]) -> Matrix:
        """Targets in their own units from network outputs (rows, targets)."""
        bounded = np.clip(outputs.astype(np.float64), -OUTPUT_LIMIT, OUTPUT_LIMIT)
        return np.exp(bounded * np.asarray(self.target_scale) + np.asarray(self.target_mean))

    def matrix_of(self, rows: Sequence[Mapping[str, float]]) -> Matrix:
        """Feature rows as (rows, features), in the card's order."""
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
    """A card whose normalisation is that of the training part.

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


class TensetMlpPredictor:
    """Answers queries with a trained network. Satisfies `models.base.Predictor`."""

    def __init__(self, card: ModelCard, network: CostMlp, typicality: Typicality) -> None:
        self.card = card
        self.network = network
        self.typicality = typicality
        self._facts: dict[tuple[str, str], ProgramFacts] = {}

    @classmethod
    def load(cls, folder: Path) -> TensetMlpPredictor:
        """The predictor in a folder.

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
        arrays = {name: tensor.numpy() for name, tensor in self.network.state_dict().items()}
        return ModelFiles(
            card=self.card.model_dump(mode="json"), arrays={**arrays, **self.typicality.arrays()}
        )

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        """One estimate per query, in order.

        Raises: PredictorError: a query cannot be read; the message names its row, from 0.
        """
        if not queries:
            return []
        features = self.card.matrix_of([self._row_of(i, q) for i, q in enumerate(queries)])
        return self.typicality.estimates(features, self.targets, self.predict_matrix(features))

    def predict_matrix(self, features: Matrix) -> Matrix:
        """Targets (rows, targets) of features (rows, features)."""
        with torch.no_grad():
            outputs = self.network(torch.from_numpy(self.card.normalise(features)))
        return self.card.restore_targets(outputs.numpy())

    def _row_of(self, index: int, query: Query) -> Mapping[str, float]:
        try:
            key = (query.source, query.top)
            if key not in self._facts:
                self._facts[key] = facts_of(query.source, query.top)
            facts = self._facts[key]
            if self.card.level == "run":
                from models.tenset_mlp.profile import profiled_facts  # loads the engines

                facts = profiled_facts(facts, query, self.card.engine)
            return features_of(facts, query)
        except ValueError as error:  # every engine's refusal of bad input is one
            raise PredictorError(f"row {index}: {error}") from error


def load(files: ModelFiles) -> TensetMlpPredictor:
    """The predictor of its files.

    Raises: PredictorError: it was trained on another set of features. ValueError: not such a predictor.
    """
    feature_set = files.card.get("feature_set")
    if feature_set != FEATURE_SET:
        raise PredictorError(f"feature set {feature_set} is not {FEATURE_SET}, this version's; train again")
    content = dict(files.card)
    ranges = [np.asarray(content.pop(name, ())) for name in ("feature_low", "feature_high")]
    card = ModelCard.model_validate(content)
    network = CostMlp(len(card.features), len(card.targets), card.hidden_sizes, card.dropout)
    network.load_state_dict(network_arrays(files.arrays))
    if len(ranges[0]):  # version 1, as shipped
        typicality = Typicality.of_ranges(card.features, *ranges)
    else:
        typicality = Typicality.of_arrays(card.features, files.arrays)
    return TensetMlpPredictor(card, network.eval(), typicality)
