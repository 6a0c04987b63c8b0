"""The network: primitives embedded, a transformer encoder over them, a regression of every target.

Source: Zhai et al. 2023, section 4 (linear up-sampling of the features of each primitive, self-attention,
    residual blocks, a sum over the sequence). Differs: two encoder layers in place of one attention and two
    residual blocks, mean and maximum beside the sum, and a Huber loss of log labels in place of a rank loss,
    because values and not ranks are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from models.tlp.primitives import NAME_COUNT, TYPES, VALUES, ProgramSequence


class SequenceTensors(NamedTuple):
    """Sequences side by side; a tuple, for Lightning refuses frozen dataclasses.

    Attributes:
        types: (batch, primitives), len(TYPES) after the last. numbers: (batch, primitives, VALUES).
        names: (batch, primitives, NAMES). padding: true after the last. (batch, primitives)
    """

    types: Tensor
    numbers: Tensor
    names: Tensor
    padding: Tensor


def padded(sequences: Sequence[ProgramSequence]) -> SequenceTensors:
    """Return the sequences as one batch."""
    types = pad_sequence(
        [torch.from_numpy(s.types) for s in sequences], batch_first=True, padding_value=len(TYPES)
    )
    return SequenceTensors(
        types=types,
        numbers=pad_sequence([torch.from_numpy(s.numbers) for s in sequences], batch_first=True),
        names=pad_sequence([torch.from_numpy(s.names) for s in sequences], batch_first=True),
        padding=types == len(TYPES),
    )


class PrimitiveTransformer(nn.Module):
    """Scaled log targets of sequences.

    Args: most: primitives of a sequence. targets: of the answer.
    """

    def __init__(
        self, *, most: int, width: int, layers: int, heads: int, dropout: float, targets: int
    ) -> None:
        super().__init__()
        self.kind = nn.Embedding(len(TYPES) + 1, width)
        self.name = nn.EmbeddingBag(NAME_COUNT + 1, width, mode="sum", padding_idx=0)
        self.number = nn.Linear(VALUES, width)
        self.position = nn.Embedding(most, width)
        nn.init.normal_(self.position.weight, std=0.02)
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.hidden = nn.Sequential(
            nn.Linear(3 * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, targets)
        )

    def forward(self, batch: SequenceTensors) -> Tensor:
        """Return the scaled log targets: (batch, targets)."""
        size, length = batch.types.shape
        names = self.name(batch.names.flatten(0, 1)).unflatten(
            0, (size, length)
        )  # (batch, primitives, width)
        places = self.position(torch.arange(length))
        # (batch, primitives, width)
        states = self.kind(batch.types) + self.number(batch.numbers) + names + places
        states = self.encoder(states, src_key_padding_mask=batch.padding)
        kept = ~batch.padding[..., None]
        count = kept.sum(dim=1).to(states.dtype)  # (batch, 1)
        total = (states * kept).sum(dim=1)  # (batch, width)
        highest = states.masked_fill(~kept, -torch.inf).amax(dim=1)
        scaled = torch.log1p(torch.relu(total))
        return self.hidden(torch.cat([total / count, highest, scaled], dim=1))


def lengths_of(sequences: Sequence[ProgramSequence]) -> np.ndarray:
    """Return the primitives of every sequence."""
    return np.array([len(sequence.types) for sequence in sequences])
