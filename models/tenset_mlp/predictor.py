"""The trained predictor: its folder on disk and its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from models.base import Estimate, PredictorError
from models.labelled import Query
from models.tenset_mlp.facts import ProgramFacts, facts_of
from models.tenset_mlp.features import features_of
from models.tenset_mlp.network import CostMlp, load_weights
from models.tenset_mlp.scaling import Matrix, ModelCard, read_card

CARD_FILE = "model.json"
WEIGHTS_FILE = "weights.npz"


class TensetMlpPredictor:
    """Answers queries with a trained network. Satisfies `models.base.Predictor`."""

    def __init__(self, card: ModelCard, network: CostMlp) -> None:
        self.card = card
        self.network = network
        self._facts: dict[tuple[str, str], ProgramFacts] = {}

    @classmethod
    def load(cls, folder: Path) -> TensetMlpPredictor:
        """The predictor in a folder.

        Raises: PredictorError: the folder holds no such predictor, or a damaged one.
        """
        try:
            card = read_card(folder / CARD_FILE)
            network = CostMlp(len(card.features), len(card.targets), card.hidden_sizes, card.dropout)
            load_weights(network, folder / WEIGHTS_FILE)
        except (OSError, ValueError) as error:
            if isinstance(error, PredictorError):
                raise
            raise PredictorError(
                f"a predictor's folder must hold {CARD_FILE} and {WEIGHTS_FILE}, got "
                f"{str(error).splitlines()[0]} ({folder})"
            ) from error
        return cls(card, network)

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the predicted label columns."""
        return tuple(self.card.targets)

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        """One estimate a query, in order.

        Raises: PredictorError: a query cannot be read; the message names its row, from 0.
        """
        if not queries:
            return []
        features = self.card.matrix_of([self._row_of(i, q) for i, q in enumerate(queries)])
        return [
            self._estimate(row, values)
            for row, values in zip(features, self.predict_matrix(features), strict=True)
        ]

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
            row = features_of(self._facts[key], query)
        except ValueError as error:  # every engine's refusal of bad input is one
            raise PredictorError(f"row {index}: {error}") from error
        missing = [n for n in self.card.features if n not in row]
        if missing:
            raise PredictorError(
                f"features must be ones this version computes, got {', '.join(missing)}; train again"
            )
        return row

    def _estimate(self, row: Matrix, values: Matrix) -> Estimate:
        outside = self.card.outside(row)
        return Estimate(
            values=dict(zip(self.targets, map(float, values), strict=True)),
            confidence=float(1 - len(outside) / np.size(row)),
            outside_training=outside,
        )
