"""The trained predictor: text to primitives, primitives to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from models.base import Estimate, PredictorError
from models.labelled import Query
from models.model_files import ModelFiles
from models.regression import Matrix, TargetScale, Typicality
from models.tlp.network import PrimitiveTransformer, lengths_of, padded
from models.tlp.primitives import OPERATORS, SUMMARY, TYPES, ProgramSequence, sequence_of
from models.training import network_arrays

_FEATURES = {"types": list(TYPES), "operators": list(OPERATORS), "summary": list(SUMMARY)}
BATCH = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PrimitivePredictor:
    """Answers queries with a trained network. Satisfies `models.base.Predictor`.

    Attributes: sizes: arguments of `PrimitiveTransformer`.
    """

    network: PrimitiveTransformer
    sizes: Mapping[str, Any]
    scale: TargetScale
    typicality: Typicality

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the predicted label columns."""
        return self.scale.names

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        """One estimate per query, in order.

        Raises: PredictorError: a query cannot be read; the message names its row, from 0.
        """
        if not queries:
            return []
        sequences: list[ProgramSequence] = []
        for place, query in enumerate(queries):
            try:
                sequences.append(sequence_of(query, self.sizes["most"]))
            except PredictorError as error:
                raise PredictorError(f"row {place}: {error}") from error
        summaries = np.stack([sequence.summary for sequence in sequences])
        return self.typicality.estimates(summaries, self.targets, self.predict_sequences(sequences))

    def predict_sequences(self, sequences: Sequence[ProgramSequence]) -> Matrix:
        """Targets of sequences: (sequences, targets)."""
        outputs = np.empty((len(sequences), len(self.targets)), np.float64)
        with torch.inference_mode():
            for rows in batches_by_length(sequences, range(len(sequences)), BATCH):
                outputs[rows] = self.network(padded([sequences[row] for row in rows])).numpy()
        return self.scale.restore(outputs)

    @property
    def files(self) -> ModelFiles:
        """The predictor as plain data."""
        card = {"features": _FEATURES, "sizes": dict(self.sizes), "scale": self.scale.card()}
        weights = {name: values.numpy() for name, values in self.network.state_dict().items()}
        return ModelFiles(card=card, arrays={**weights, **self.typicality.arrays()})


def batches_by_length(
    sequences: Sequence[ProgramSequence], rows: Sequence[int], size: int
) -> Iterator[list[int]]:
    """Rows in batches of similar length; those of one length keep their order."""
    lengths = lengths_of(sequences)
    ordered = sorted(rows, key=lambda row: lengths[row])
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def load(files: ModelFiles) -> PrimitivePredictor:
    """The predictor of its files.

    Raises: PredictorError: it is of other primitives than this version reads. RuntimeError: of other shapes.
    """
    card = files.card
    if card.get("features") != _FEATURES:
        raise PredictorError("primitives of tlp are not those of this version; train again")
    network = PrimitiveTransformer(**card["sizes"])
    network.load_state_dict(network_arrays(files.arrays))
    return PrimitivePredictor(
        network=network.eval(),
        sizes=card["sizes"],
        scale=TargetScale.of_card(card["scale"]),
        typicality=Typicality.of_arrays(SUMMARY, files.arrays),
    )
