"""Normalisation of features and targets, learned from the training part alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from models.base import PredictorError
from models.labelled import TARGETS
from models.tenset_mlp.features import FEATURE_SET
from pipelines.identity import content_hash

Matrix = NDArray[np.float64]
OUTPUT_LIMIT = 8.0  # standard deviations of a log target; keeps exp finite far from the data


class ModelCard(BaseModel):
    """What stands beside the weights in `model.json`: names, normalisation and origin.

    A feature that is constant in training has scale 0: its normalised value is always 0, so weights
    that training never touched have no say.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    feature_set: int = FEATURE_SET
    features: Annotated[list[str], Field(min_length=1)]
    feature_mean: list[float]
    feature_scale: list[float]
    feature_low: list[float]
    feature_high: list[float]
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
        """Positive targets (rows, targets) as normalised natural logarithms."""
        logs = np.log(targets)
        return ((logs - np.asarray(self.target_mean)) / np.asarray(self.target_scale)).astype(np.float32)

    def restore_targets(self, outputs: NDArray[np.float32]) -> Matrix:
        """Targets in their own units from network outputs (rows, targets)."""
        bounded = np.clip(outputs.astype(np.float64), -OUTPUT_LIMIT, OUTPUT_LIMIT)
        return np.exp(bounded * np.asarray(self.target_scale) + np.asarray(self.target_mean))

    def matrix_of(self, rows: Sequence[Mapping[str, float]]) -> Matrix:
        """Feature rows as (rows, features), in the card's order."""
        return np.array([[row[n] for n in self.features] for row in rows], dtype=np.float64)

    def outside(self, row: NDArray[np.float64]) -> tuple[str, ...]:
        """Names of the features of a row (features,) beyond the range seen in training."""
        low, high = np.asarray(self.feature_low), np.asarray(self.feature_high)
        beyond = (row < low - 1e-9) | (row > high + 1e-9)
        return tuple(n for n, b in zip(self.features, beyond, strict=True) if b)


def make_card(
    names: Sequence[str],
    features: Matrix,
    targets: Matrix,
    *,
    hidden_sizes: Sequence[int],
    dropout: float,
    split: str,
    seen_groups: Sequence[str],
    dataset_hash: str,
) -> ModelCard:
    """A card whose normalisation is that of the training part.

    Args: features: (rows, features) of the training part. targets: (rows, targets), positive.
    """
    logs = np.log(targets)
    spread = logs.std(axis=0)
    varies = np.ptp(features, axis=0) > 0
    return ModelCard(
        features=list(names),
        feature_mean=features.mean(axis=0).tolist(),
        feature_scale=np.where(varies, features.std(axis=0), 0).tolist(),
        feature_low=features.min(axis=0).tolist(),
        feature_high=features.max(axis=0).tolist(),
        targets=list(TARGETS),
        target_mean=logs.mean(axis=0).tolist(),
        target_scale=np.where(spread > 0, spread, 1.0).tolist(),
        hidden_sizes=list(hidden_sizes),
        dropout=dropout,
        split=split,
        seen_groups=list(seen_groups),
        dataset_hash=dataset_hash,
    )


class _CardFile(BaseModel):
    """The content of `model.json`: a card, and the hash that it must have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    card: ModelCard
    content_hash: str


def card_bytes(card: ModelCard) -> bytes:
    """The content of a card's file."""
    return _CardFile(card=card, content_hash=_hash(card)).model_dump_json(indent=1).encode()


def _hash(card: ModelCard) -> str:
    return content_hash(card.model_dump(mode="json"))


def read_card(path: Path) -> ModelCard:
    """A card from its file.

    Raises: PredictorError: not a card, a damaged one, or of features this code no longer computes.
    """
    try:
        stored = _CardFile.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = "/".join(str(part) for part in first["loc"])
        raise PredictorError(
            f"{path} must be a tenset-mlp model card, got {first['msg']} at {place or 'the top'}"
        ) from error
    card = stored.card
    if card.feature_set != FEATURE_SET:
        raise PredictorError(
            f"feature set of {path} must be {FEATURE_SET}, got {card.feature_set}; train again"
        )
    if stored.content_hash != _hash(card):
        raise PredictorError(f"damaged model card: {path} does not have the hash it names; train again")
    return card
