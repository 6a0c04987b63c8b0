"""The network: a multi-layer perceptron from normalised features to normalised log targets."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn


class CostMlp(nn.Module):
    """Hidden layers of ReLU with dropout, and a linear layer onto the targets.

    A linear path from the features to the targets stands beside the hidden layers. Most of a log
    label is a sum of log features (iterations times cycles each), which the path holds exactly and
    continues beyond the training range, where ReLU layers alone would bend; the layers add what is
    not linear.

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


def weights_bytes(network: CostMlp) -> bytes:
    """The weights as an npz file: arrays by name, no code, equal bytes for equal weights."""
    arrays = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    sink = io.BytesIO()
    np.savez(sink, allow_pickle=False, **arrays)
    return sink.getvalue()


def load_weights(network: CostMlp, path: Path) -> None:
    """Fill a network from an npz file and put it into prediction mode.

    Raises: OSError: no such file. ValueError: not an npz of this network's arrays.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            state = {name: torch.from_numpy(file[name]) for name in file.files}
        network.load_state_dict(state)
    except (RuntimeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} must hold this network's weights, got {error}") from error
    network.eval()
