"""Published predictors on the same rows, in their kind: what each one is given, and the model that it uses.

| here | kind of | given | model |
| --- | --- | --- | --- |
| `kernels` | nn-Meter (MobiSys 2021) | compiled blocks, hardware | trees by kind of block, summed |
| `network_mlp` | DANCE (DAC 2021), rule4ml (2025) | parameters of hardware, network | perceptron |
| `polynomial` | QUIDAM (TECS 2023) | parameters of hardware, network | polynomial of degree 2 |
| `layer_graph` | wa-hls4ml (FPGA 2025) | layers and their sizes | graph convolutions |

They are trained here; no figure of the originals is reproduced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, global_add_pool

from models.compile_power.baselines import TREES, parameter_features
from models.compile_power.data import KINDS, Pair
from pipelines.base.summation import ordered_sum

Vector = NDArray[np.float64]
_PRODUCTS = ("conv", "matmul", "add")
_EPOCHS, _BATCH = 200, 32


def _logarithms(pairs: Sequence[Pair]) -> Vector:
    return np.log([[float(pair.power_mw or 1), float(pair.energy_nj or 1)] for pair in pairs])


def network_features(pair: Pair) -> list[float]:
    """A vector of fixed length of a network: layers by kind, sizes."""
    sizes = np.log2(1.0 + np.array(pair.parameters or (0,)))
    counts = [float(sum(k == kind for k in pair.kinds)) for kind in KINDS]
    return [*counts, float(len(pair.kinds)), float(sizes.max()), float(sizes.mean()), float(sizes.sum())]


def features_of(pair: Pair) -> list[float]:
    """Parameters of hardware and network, nothing that a compiler gives."""
    if pair.hardware is None:
        return [*network_features(pair), float(np.log2(pair.interval_cycles))]
    return parameter_features(pair)


def _regressed(model: Any, train: Sequence[Pair], test: Sequence[Pair]) -> Vector:
    model.fit(np.array([features_of(pair) for pair in train]), _logarithms(train))
    return np.exp(model.predict(np.array([features_of(pair) for pair in test])))


def network_mlp(train: Sequence[Pair], test: Sequence[Pair]) -> Vector:
    """(pairs, 2) power and energy."""
    network = MLPRegressor(
        hidden_layer_sizes=(128, 64), alpha=1e-3, max_iter=600, early_stopping=True, random_state=0
    )
    return _regressed(make_pipeline(StandardScaler(), network), train, test)


def polynomial(train: Sequence[Pair], test: Sequence[Pair]) -> Vector:
    """(pairs, 2) power and energy."""
    steps = (StandardScaler(), PolynomialFeatures(2), StandardScaler(), RidgeCV(np.logspace(-2, 4, 13)))
    return _regressed(make_pipeline(*steps), train, test)


def kernels(train: Sequence[Pair], test: Sequence[Pair]) -> Vector:
    """(pairs, 2) power and energy: energy and cycles of every block of a product, summed."""
    import lightgbm

    rows: dict[str, list[list[float]]] = {kind: [] for kind in _PRODUCTS}
    labels: dict[str, list[tuple[float, float]]] = {kind: [] for kind in _PRODUCTS}
    for pair in train:
        blocks = _blocks(pair)
        for (kind, features), label in zip(
            blocks, zip(pair.layer_energy_nj, pair.layer_cycles, strict=True), strict=True
        ):
            rows[kind].append(features)
            labels[kind].append(label)
    models: dict[str, list[Any]] = {}
    for kind, inputs in rows.items():
        if inputs:
            values = np.log(np.maximum(1e-9, np.array(labels[kind])))
            sets = [lightgbm.Dataset(np.array(inputs), values[:, place]) for place in range(2)]
            models[kind] = [lightgbm.train(dict(TREES), data, num_boost_round=400) for data in sets]
    answers: list[tuple[float, float]] = []
    for pair in test:
        known = [(kind, features) for kind, features in _blocks(pair) if kind in models]
        sums = [
            ordered_sum(float(np.exp(models[kind][place].predict([features])[0])) for kind, features in known)
            for place in range(2)
        ]
        time_us = sums[1] * pair.of_hardware.clock_period_ns * 1e-3
        answers.append((sums[0] / max(1e-9, time_us), sums[0]))
    return np.array(answers)


def _blocks(pair: Pair) -> list[tuple[str, list[float]]]:
    """Kind and features of every block of the accelerator."""
    hardware = parameter_features(pair)[: len(pair.of_hardware.model_dump())]
    return [
        (kind, [*np.log1p(pair.counts[place]), float(np.log1p(pair.parameters[place])), *hardware])
        for place, kind in enumerate(pair.kinds)
        if kind in _PRODUCTS
    ]


class _LayerNet(nn.Module):
    """Graph convolutions over a chain of layers; (graphs, 2)."""

    def __init__(self, inputs: int, width: int = 64) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.layers = nn.ModuleList(GCNConv(width, width) for _ in range(2))
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))

    def forward(self, nodes: Tensor, ends: Tensor, part: Tensor, count: int) -> Tensor:
        states = torch.relu(self.first(nodes))
        for layer in self.layers:
            states = states + torch.relu(layer(states, ends))
        return self.head(global_add_pool(states, part, count) / 8.0)


def layer_graph(train: Sequence[Pair], test: Sequence[Pair]) -> Vector:
    """(pairs, 2) power and energy."""
    torch.manual_seed(0)
    network = _LayerNet(len(KINDS) + 2)
    targets = torch.from_numpy(_logarithms(train)).float()
    mean, deviation = targets.mean(0), targets.std(0) + 1e-6
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=1e-3)
    steps = _EPOCHS * -(-len(train) // _BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(_EPOCHS):
        for chosen in torch.randperm(len(train)).split(_BATCH):
            answers = network(*_layers([train[i] for i in chosen.tolist()]))
            loss = ((answers - (targets[chosen] - mean) / deviation) ** 2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    with torch.inference_mode():
        return np.exp((network(*_layers(test)) * deviation + mean).double().numpy())


def _layers(pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor, int]:
    nodes: list[list[float]] = []
    ends: list[tuple[int, int]] = []
    part: list[int] = []
    for number, pair in enumerate(pairs):
        for place, (kind, size) in enumerate(zip(pair.kinds, pair.parameters, strict=True)):
            if place:
                ends += [(len(nodes) - 1, len(nodes)), (len(nodes), len(nodes) - 1)]
            known = kind if kind in KINDS else "other"
            of_layer = [float(np.log1p(size)) / 8.0, float(np.log2(pair.interval_cycles)) / 4.0]
            nodes.append([*(float(known == k) for k in KINDS), *of_layer])
            part.append(number)
    edges = torch.tensor(ends, dtype=torch.long).reshape(-1, 2).T
    return torch.tensor(nodes), edges, torch.tensor(part), len(pairs)


SYSTOLIC: dict[str, Callable[[Sequence[Pair], Sequence[Pair]], Vector]] = {
    "nn-Meter's kind": kernels,
    "DANCE's kind": network_mlp,
    "QUIDAM's kind": polynomial,
}
FIXED: dict[str, Callable[[Sequence[Pair], Sequence[Pair]], Vector]] = {
    "rule4ml's kind": network_mlp,
    "wa-hls4ml's kind": layer_graph,
}
