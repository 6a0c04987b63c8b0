"""Encoders of compiled blocks and module trees, decoders, and the power model.

Software: h_sw = GCN(G_sw) on histograms of commands (section 4.1); two Transformer decoders write the
    layers and
the hardware parameters from it (equation 2). Hardware: h_hw = GIN(G_hw) (section 4.2), its contrastive
loss is equation 5. Power: a trunk with two heads on [h_sw, h_hw] (equations 6 and 7).

An embedding joins the pooled states of all layers, the input's included. Counts enter as logarithms, and the
input's pool is the logarithm of the sum over blocks, so that totals are not lost by taking means. Heads
predict normalised logarithms of power and energy; energy's starts at the compiler's cycles.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, GINConv, global_add_pool, global_mean_pool

from models.base import PredictorError
from models.compile_power.baselines import start_logarithms
from models.compile_power.data import (
    COMPILED_PARAMETERS,
    HARDWARE_TOKENS,
    KINDS,
    MODULES,
    NETWORK_TOKENS,
    Pair,
    Tree,
    question_pair,
    tree_of,
)
from models.compile_power.inference import answers_of, labelled_of, tree_totals
from models.compile_power.intervals import DISTANCES, Labelled
from models.model_files import ModelFiles
from pipelines.accelerators import ACTIVITIES, CATEGORIES, FIXED_CATEGORIES, Hardware

_FEATURES = {
    "categories": list(CATEGORIES),
    "modules": list(MODULES),
    "kinds": list(KINDS),
    "parameters": list(COMPILED_PARAMETERS),
    "stages": list(FIXED_CATEGORIES),
    "interval": list(DISTANCES),
}
_FIXED_FEATURES = {
    "kinds": list(KINDS),
    "stages": [*FIXED_CATEGORIES, *ACTIVITIES],
    "interval": list(DISTANCES),
}
_NODE = len(MODULES) + 3


class Graphs(NamedTuple):
    """Several graphs as one of separate parts.

    Attributes: nodes: (nodes, features). ends: (2, edges). part: (nodes,) graph of each. totals: (graphs,
        features).
    """

    nodes: Tensor
    ends: Tensor
    part: Tensor
    totals: Tensor


def software_graphs(pairs: Sequence[Pair]) -> Graphs:
    """Return the compiled blocks, data flowing both ways."""
    starts = np.cumsum([0, *(len(pair.counts) for pair in pairs)])
    ends = [np.concatenate([p.edges, p.edges[::-1]], axis=1) + s for p, s in zip(pairs, starts, strict=False)]
    return Graphs(
        nodes=torch.from_numpy(np.concatenate([pair.rates for pair in pairs])),
        ends=torch.from_numpy(np.concatenate(ends, axis=1)),
        part=torch.from_numpy(np.repeat(np.arange(len(pairs)), np.diff(starts))),
        totals=torch.from_numpy(np.stack([pair.total_rates for pair in pairs])),
    )


def hardware_graphs(trees: Sequence[Tree]) -> Graphs:
    """Return the module trees, instantiation both ways; totals are occurrences and bits by kind."""
    starts = np.cumsum([0, *(len(tree.nodes) for tree in trees)])
    ends: list[np.ndarray[Any, Any]] = []
    for tree, start in zip(trees, starts, strict=False):
        child = np.flatnonzero(tree.parents >= 0)
        pairs = np.stack([child, tree.parents[child]])
        ends.append(np.concatenate([pairs, pairs[::-1]], axis=1) + start)
    totals = [tree_totals(tree) for tree in trees]
    return Graphs(
        nodes=torch.from_numpy(np.concatenate([tree.nodes for tree in trees])),
        ends=torch.from_numpy(np.concatenate(ends, axis=1)),
        part=torch.from_numpy(np.repeat(np.arange(len(trees)), np.diff(starts))),
        totals=torch.from_numpy(np.stack(totals)),
    )


class SoftwareEncoder(nn.Module):
    """GCN over blocks; (graphs, (layers + 1) * width)."""

    def __init__(self, *, width: int, layers: int, categories: int = len(CATEGORIES)) -> None:
        super().__init__()
        self.first = nn.Linear(categories, width)
        self.total = nn.Linear(categories, width)
        self.layers = nn.ModuleList(GCNConv(width, width) for _ in range(layers))
        self.size = (layers + 1) * width

    def forward(self, graphs: Graphs) -> Tensor:
        states, count = self.first(graphs.nodes), len(graphs.totals)
        pooled = [self.total(graphs.totals)]
        for layer in self.layers:
            states = states + torch.relu(layer(states, graphs.ends))
            pooled.append(global_mean_pool(states, graphs.part, count))
        return torch.cat(pooled, dim=-1)


class HardwareEncoder(nn.Module):
    """GIN over module trees; (graphs, (layers + 1) * width)."""

    def __init__(self, *, width: int, layers: int) -> None:
        super().__init__()
        self.first = nn.Linear(_NODE, width)
        self.total = nn.Linear(2 * len(MODULES), width)
        self.layers = nn.ModuleList(
            GINConv(
                nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)), train_eps=True
            )
            for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.size = (layers + 1) * width

    def forward(self, graphs: Graphs) -> Tensor:
        states, count = self.first(graphs.nodes), len(graphs.totals)
        pooled = [self.total(graphs.totals)]
        for layer, norm in zip(self.layers, self.norms, strict=True):
            states = norm(torch.relu(layer(states, graphs.ends)))
            pooled.append(
                global_mean_pool(states, graphs.part, count)
                + global_add_pool(states, graphs.part, count) / 256
            )
        return torch.cat(pooled, dim=-1)


class Decoder(nn.Module):
    """A Transformer decoder that writes tokens after an embedding (section 4.1)."""

    def __init__(self, *, tokens: int, size: int, width: int, heads: int, longest: int) -> None:
        super().__init__()
        self.memory = nn.Linear(size, width)
        self.token = nn.Embedding(tokens, width)
        self.place = nn.Embedding(longest, width)
        layer = nn.TransformerDecoderLayer(width, heads, 2 * width, dropout=0.0, batch_first=True)
        self.body = nn.TransformerDecoder(layer, 1)
        self.out = nn.Linear(width, tokens)

    def loss(self, embedding: Tensor, sequences: Tensor) -> Tensor:
        """Return the mean over graphs of -sum log p(token | tokens before, embedding).

        Args: sequences: (graphs, time), -1 behind the end.
        """
        inputs, targets = sequences[:, :-1].clamp(min=0), sequences[:, 1:]
        length = inputs.shape[1]
        states = self.token(inputs) + self.place(torch.arange(length))
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        memory = self.memory(embedding)[:, None]  # (graphs, 1, width)
        answers = self.out(self.body(states, memory, tgt_mask=mask))  # (graphs, time, tokens)
        total = nn.functional.cross_entropy(
            answers.flatten(0, 1), targets.flatten(), ignore_index=-1, reduction="sum"
        )
        return total / len(sequences)


class SoftwareTrainer(nn.Module):
    """Encoder with both decoders: equation 2; of a pipeline with the network's alone: equations 3 and 4."""

    def __init__(self, *, width: int, layers: int, heads: int, categories: int = len(CATEGORIES)) -> None:
        super().__init__()
        self.encoder = SoftwareEncoder(width=width, layers=layers, categories=categories)
        size = self.encoder.size
        self.network = Decoder(tokens=NETWORK_TOKENS, size=size, width=width, heads=heads, longest=96)
        self.hardware = Decoder(tokens=HARDWARE_TOKENS, size=size, width=width, heads=heads, longest=16)

    def forward(self, graphs: Graphs, layers: Tensor, parameters: Tensor | None) -> Tensor:
        """Return the loss of a batch; parameters: None of pipelines."""
        embedding = self.encoder(graphs)
        loss = self.network.loss(embedding, layers)
        return loss if parameters is None else loss + self.hardware.loss(embedding, parameters)


def contrastive_loss(embedding: Tensor, similarity: Tensor, *, temperature: float, similar: float) -> Tensor:
    """Compute equation 5: mean over anchors with positives; the denominator runs over all others.

    Args: embedding: (graphs, size), normalised here. similarity: (graphs, graphs) by the WL kernel.
    """
    unit = nn.functional.normalize(embedding, dim=-1)
    alone = torch.eye(len(unit), dtype=torch.bool)
    logits = (unit @ unit.T / temperature).masked_fill(alone, float("-inf"))
    positive = (similarity > similar) & ~alone
    anchors = positive.any(dim=1)
    if not anchors.any():
        return embedding.sum() * 0.0
    above = logits.masked_fill(~positive, float("-inf")).logsumexp(dim=1)[anchors]
    return (logits.logsumexp(dim=1)[anchors] - above).mean()


class PowerHeads(nn.Module):
    """A trunk with two heads; (pairs, 2) normalised logarithms of power and energy."""

    def __init__(self, *, size: int, width: int, dropout: float) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(size, 2 * width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(2 * width, width), nn.ReLU()
        )
        self.power, self.energy = nn.Linear(width, 1), nn.Linear(width, 1)

    def forward(self, features: Tensor) -> Tensor:
        states = self.trunk(features)
        return torch.cat([self.power(states), self.energy(states)], dim=-1)


class Normalisation(NamedTuple):
    """Means and deviations of features and of targets."""

    feature_mean: Tensor
    feature_deviation: Tensor
    target_mean: Tensor
    target_deviation: Tensor


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompilePower:
    """A trained model.

    Attributes:
        software, hardware: frozen encoders. members: trunks. normalisation: of features and targets.
        labelled: what the labels cover. weights: (2, distances) of half-widths of 95 % intervals.
        settings: sizes. about: what it was trained on.
    """

    software: SoftwareEncoder
    hardware: HardwareEncoder
    members: tuple[PowerHeads, ...]
    normalisation: Normalisation
    labelled: Labelled
    weights: np.ndarray[Any, Any]
    settings: Mapping[str, Any]
    about: str

    def logarithms(self, pairs: Sequence[Pair]) -> np.ndarray[Any, Any]:
        """Return (pairs, 2) logarithms of power in mW and of energy in nJ: mean of the members."""
        features = embed(self.software, self.hardware, pairs, self.settings)
        answers = heads_logarithms(self.members, self.normalisation, features)
        return answers + start_logarithms(pairs, self.settings.get("loads", ()))

    def predict(self, pairs: Sequence[Pair]) -> list[dict[str, float]]:
        """Predict the power in mW and energy in nJ, with 95 % intervals."""
        return answers_of(self.logarithms(pairs), self.labelled, self.weights, pairs)

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
        """Return the answers to rows of the question.

        Raises: PredictorError: a row cannot be read; the message names it, from 0.
        """
        pairs: list[Pair] = []
        for number, row in enumerate(rows):
            try:
                pairs.append(question_pair(row))
            except PredictorError as error:
                raise PredictorError(f"row {number}: {error}") from error
        return self.predict(pairs) if pairs else []

    @property
    def files(self) -> ModelFiles:
        """The model as plain data."""
        arrays = {
            f"{part}.{name}": values.numpy()
            for part, network in (
                ("software", self.software),
                ("hardware", self.hardware),
                *((f"member{i}", member) for i, member in enumerate(self.members)),
            )
            for name, values in network.state_dict().items()
        }
        arrays |= {f"normal.{name}": value.numpy() for name, value in self.normalisation._asdict().items()}
        arrays["interval.weights"] = self.weights
        arrays["interval.configurations"] = self.labelled.configurations
        features = _FEATURES if self.settings["has_hardware"] else _FIXED_FEATURES
        known = {"hardware": dict(self.labelled.hardware), "sizes": dict(self.labelled.sizes)}
        card = {"settings": dict(self.settings), "about": self.about, "labelled": known}
        return ModelFiles(card={"features": features, **card}, arrays=arrays)


def heads_logarithms(
    members: Sequence[PowerHeads], normalisation: Normalisation, features: Tensor
) -> np.ndarray[Any, Any]:
    """Return (pairs, 2) what is added to where the heads start: mean of the members."""
    inputs = (features - normalisation.feature_mean) / normalisation.feature_deviation
    with torch.inference_mode():
        answers = torch.stack([member(inputs) for member in members]).mean(dim=0)
    return (answers * normalisation.target_deviation + normalisation.target_mean).double().numpy()


def embed(
    software: SoftwareEncoder, hardware: HardwareEncoder, pairs: Sequence[Pair], settings: Mapping[str, Any]
) -> Tensor:
    """Return [h_sw, h_hw] of every pair; a configuration is encoded once."""
    with torch.inference_mode():
        of_software = torch.cat(
            [software(software_graphs(pairs[i : i + 256])) for i in range(0, len(pairs), 256)]
        )
        if not settings["has_hardware"]:
            return of_software.clone()
        configurations: dict[Hardware, int] = {}
        places = [configurations.setdefault(pair.of_hardware, len(configurations)) for pair in pairs]
        trees = [tree_of(configuration, settings["wl_rounds"]) for configuration in configurations]
        of_hardware = torch.cat(
            [hardware(hardware_graphs(trees[i : i + 64])) for i in range(0, len(trees), 64)]
        )
        return torch.cat([of_software, of_hardware[places]], dim=-1).clone()


def load(files: ModelFiles) -> CompilePower:
    """Load the model from its files.

    Raises: PredictorError: it is of other features than this version computes. RuntimeError: of other shapes.
    """
    card = files.card
    settings = dict(card["settings"])
    features = _FEATURES if settings["has_hardware"] else _FIXED_FEATURES
    if card.get("features") != json.loads(json.dumps(features)):
        raise PredictorError("features of compile-power are not those of this version; train again")
    sizes = {"width": settings["width"], "layers": settings["layers"]}
    categories = len(files.arrays["software.first.weight"][0])
    software = SoftwareEncoder(**sizes, categories=categories)
    hardware = HardwareEncoder(**sizes)
    size = software.size + (hardware.size if settings["has_hardware"] else 0)
    members = [
        PowerHeads(size=size, width=settings["width"], dropout=0.0) for _ in range(settings["members"])
    ]
    parts = {"software": software, "hardware": hardware} | {f"member{i}": m for i, m in enumerate(members)}
    for part, network in parts.items():
        state = {
            name.removeprefix(f"{part}."): torch.from_numpy(np.array(values))
            for name, values in files.arrays.items()
            if name.startswith(f"{part}.")
        }
        network.load_state_dict(state)
        network.eval()
    normal = {
        name: torch.from_numpy(np.array(files.arrays[f"normal.{name}"])) for name in Normalisation._fields
    }
    return CompilePower(
        software=software,
        hardware=hardware,
        members=tuple(members),
        normalisation=Normalisation(**normal),
        labelled=labelled_of(files),
        weights=np.asarray(files.arrays["interval.weights"], np.float64),
        settings=settings,
        about=str(card["about"]),
    )
