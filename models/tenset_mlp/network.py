"""The multilayer perceptron of the cost model, as it is trained."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


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
        """Return the normalised log targets of normalised features."""
        return self.layers(features) + self.linear(features)


def untrained_network(
    feature_count: int, target_count: int, hidden_sizes: Sequence[int], dropout: float, seed: int
) -> CostMlp:
    """Return a network whose initial weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return CostMlp(feature_count, target_count, hidden_sizes, dropout)


def arrays_of(network: CostMlp) -> dict[str, NDArray[np.float32]]:
    """Return the weights by name, as the predictor's files hold them."""
    return {name: tensor.numpy() for name, tensor in network.state_dict().items()}
