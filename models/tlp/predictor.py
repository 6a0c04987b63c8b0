"""The trained predictor: text to primitives, primitives to values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from models.label_network import NetworkPredictor
from models.labelled import Query
from models.tlp.network import PrimitiveTransformer, SequenceTensors, lengths_of, padded
from models.tlp.primitives import OPERATORS, SUMMARY, TYPES, ProgramSequence, sequence_of

BATCH = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PrimitivePredictor(NetworkPredictor[ProgramSequence]):
    """Answers queries with a trained transformer over primitives."""

    network_class = PrimitiveTransformer
    features: ClassVar = {"types": TYPES, "operators": OPERATORS, "summary": SUMMARY}
    what = "primitives of tlp"

    def read(self, query: Query) -> ProgramSequence:
        """Read the primitives of a query. Raises: PredictorError: they cannot be read."""
        return sequence_of(query, self.sizes["most"])

    def batches(self, examples: Sequence[ProgramSequence]) -> Iterator[list[int]]:
        """Return batches of similar length."""
        return batches_by_length(examples, range(len(examples)), BATCH)

    def join(self, examples: Sequence[ProgramSequence]) -> SequenceTensors:
        """Return sequences padded to one length."""
        return padded(examples)


def batches_by_length(
    sequences: Sequence[ProgramSequence], rows: Sequence[int], size: int
) -> Iterator[list[int]]:
    """Yield rows in batches of similar length; rows of one length keep their order."""
    lengths = lengths_of(sequences)
    ordered = sorted(rows, key=lambda row: lengths[row])
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]
