"""A graph neural network over the used units and routes of a place-and-route decision.

Nodes are used units, edges are used routes (section III-A of the learned cost model paper, arXiv 2511.01872):

    X_v = [one-hot unit type, embedding of the operation, embedding of the stage, numbers of the operation]
    X_e = [length of the route, edges that share it, loads]

The paper's Algorithm 1 is not printed. The update rule here, for k = 1 to K, with residual states:

    s_e <- s_e + MLP(h_source, h_target, s_e)
    h_v <- h_v + MLP(h_v, mean and max of s_e over incoming edges, the same over outgoing edges)

POOL is the mean and the maximum over all h_v and all s_e. A perceptron of three layers with ReLU reads z
(section III-B). The normalised throughput is exp(-softplus(z)), or that times 1 / max(1, highest load of a
link or port): no steady flow is faster than its most loaded link, so the network learns the share of it that
is reached.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import global_max_pool, global_mean_pool
from torch_geometric.nn.aggr import MultiAggregation

from models.base import PredictorError
from models.model_files import ModelFiles
from pipelines.fabric import FabricError
from pipelines.fabric.features import EDGE_NUMBERS, NODE_NUMBERS, GraphFeatures, RouteReader
from pipelines.fabric.graphs import Graph, require_acyclic
from pipelines.fabric.machine import Fabric
from pipelines.fabric.routing import ROUTE_FEATURES, require_legal

STAGES = 32
"""Stages with an embedding of their own; later ones share the last."""
_FEATURES = {"nodes": list(NODE_NUMBERS), "edges": list(EDGE_NUMBERS), "routes": list(ROUTE_FEATURES)}
_EDGE_INPUTS = 9
_LEAST = 0.01
"""Added to a load before its logarithm."""


class PlacedTensors(NamedTuple):
    """Placements of one or several graphs as one graph of separate parts; a tuple, for Lightning.

    Attributes:
        kind, stage, is_memory: (nodes,). nodes: (nodes, NODE_NUMBERS).
        ends: (2, edges) source and target. edges: (edges, _EDGE_INPUTS).
        node_part, edge_part: (nodes,), (edges,) placement of each. parts: number of placements.
        bound: (placements,) logarithm of the throughput that the most loaded link or port allows, at most 0.
    """

    kind: Tensor
    stage: Tensor
    is_memory: Tensor
    nodes: Tensor
    ends: Tensor
    edges: Tensor
    node_part: Tensor
    edge_part: Tensor
    parts: int
    bound: Tensor


def tensors_of(features: GraphFeatures, vocabulary: Mapping[str, int], copies: int) -> PlacedTensors:
    """Return the copies of a graph, with route features of 0; `with_routes` sets them."""
    count, edges = len(features.kinds), len(features.sources)
    kind = torch.tensor([vocabulary.get(name, 0) for name in features.kinds])
    offsets = torch.arange(copies).repeat_interleave(edges) * count
    ends = torch.from_numpy(np.stack([features.sources, features.targets])).repeat(1, copies) + offsets
    return PlacedTensors(
        kind=kind.repeat(copies),
        stage=torch.from_numpy(np.minimum(features.stages, STAGES - 1)).repeat(copies),
        is_memory=torch.from_numpy(features.is_memory).repeat(copies),
        nodes=torch.from_numpy(features.nodes).repeat(copies, 1),
        ends=ends,
        edges=torch.zeros(copies * edges, _EDGE_INPUTS),
        node_part=torch.arange(copies).repeat_interleave(count),
        edge_part=torch.arange(copies).repeat_interleave(edges),
        parts=copies,
        bound=torch.zeros(copies),
    )


def with_routes(
    tensors: PlacedTensors, features: GraphFeatures, routes: NDArray[np.float32]
) -> PlacedTensors:
    """Return the tensors with route features. routes: (copies, edges, ROUTE_FEATURES)."""
    values = torch.from_numpy(routes)
    loads = torch.maximum(values[:, :, _HIGHEST], values[:, :, _PORT])
    highest = nn.functional.pad(loads, (0, 1), value=1.0).amax(dim=1)  # of no edge: 1
    return tensors._replace(edges=edge_inputs(features, values), bound=-torch.log(highest))


_HIGHEST, _PORT = ROUTE_FEATURES.index("highest_load"), ROUTE_FEATURES.index("port_load")


def edge_inputs(features: GraphFeatures, routes: Tensor) -> Tensor:
    """Return (copies * edges, _EDGE_INPUTS): length and sharers first, then what annotations say."""
    hops, highest, summed, sharers, port = routes.unbind(dim=-1)  # each (copies, edges)
    own = torch.from_numpy(features.edges).expand(len(routes), -1, -1)
    link, own_port = own.unbind(dim=-1)
    columns = [hops / 10.0, sharers / 5.0, highest, torch.log(highest + _LEAST), summed / 10.0, port]
    columns += [link, torch.log(link + _LEAST), own_port]
    return torch.stack(columns, dim=-1).flatten(0, 1)


_SHARPNESS = 20.0
"""Sharpness of softplus below the bound: most placements reach it, where noise would change their order."""
_BARE_EDGES = 2
"""Edge inputs that are no performance annotations: length and sharers."""


def joined(parts: Sequence[PlacedTensors]) -> PlacedTensors:
    """Join graphs into one."""
    node_starts = np.cumsum([0, *(len(part.kind) for part in parts)]).tolist()
    starts = np.cumsum([0, *(part.parts for part in parts)]).tolist()
    return PlacedTensors(
        kind=torch.cat([part.kind for part in parts]),
        stage=torch.cat([part.stage for part in parts]),
        is_memory=torch.cat([part.is_memory for part in parts]),
        nodes=torch.cat([part.nodes for part in parts]),
        ends=torch.cat([part.ends + at for part, at in zip(parts, node_starts, strict=False)], dim=1),
        edges=torch.cat([part.edges for part in parts]),
        node_part=torch.cat([part.node_part + at for part, at in zip(parts, starts, strict=False)]),
        edge_part=torch.cat([part.edge_part + at for part, at in zip(parts, starts, strict=False)]),
        parts=starts[-1],
        bound=torch.cat([part.bound for part in parts]),
    )


class Exchange(nn.Module):
    """One update of edge and node states; see the module."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gather = MultiAggregation(["mean", "max"])
        self.of_source = nn.Linear(width, width, bias=False)
        self.of_target = nn.Linear(width, width, bias=False)
        self.of_edge = nn.Linear(width, width)
        self.edge_out = nn.Linear(width, width)
        self.node = nn.Sequential(nn.Linear(5 * width, width), nn.ReLU(), nn.Linear(width, width))
        self.norm = nn.LayerNorm(width)

    def forward(self, nodes: Tensor, edges: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
        """Return new states (nodes, width), (edges, width)."""
        between = self.of_source(nodes)[ends[0]] + self.of_target(nodes)[ends[1]] + self.of_edge(edges)
        edges = edges + self.edge_out(torch.relu(between))
        inward = self.gather(edges, ends[1], dim_size=len(nodes))  # (nodes, 2 width)
        outward = self.gather(edges, ends[0], dim_size=len(nodes))
        nodes = nodes + self.node(torch.cat([nodes, inward, outward], dim=-1))
        return self.norm(nodes), edges


class PlacementNetwork(nn.Module):
    """Logarithm of the normalised throughput of placements."""

    def __init__(
        self,
        *,
        kinds: int,
        width: int,
        layers: int,
        embedding: int,
        annotated: bool = True,
        bounded: bool = True,
        node_features: bool = True,
        edge_features: bool = True,
    ) -> None:
        super().__init__()
        self.annotated, self.bounded = annotated, bounded and annotated and edge_features
        self.node_features, self.edge_features = node_features, edge_features
        self.kind = nn.Embedding(kinds, embedding)
        self.stage = nn.Embedding(STAGES, embedding)
        self.first_node = nn.Linear(2 + 2 * embedding + len(NODE_NUMBERS), width)
        self.first_edge = nn.Linear(_EDGE_INPUTS, width)
        self.layers = nn.ModuleList(Exchange(width) for _ in range(layers))
        self.regressor = nn.Sequential(
            nn.Linear(4 * width, 2 * width),
            nn.ReLU(),
            nn.Linear(2 * width, width),
            nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, placed: PlacedTensors) -> Tensor:
        """Return the normalised throughput of placements: (placements,)."""
        nodes, edges = self.first_node(self._node_inputs(placed)), self.first_edge(self._edge_inputs(placed))
        for layer in self.layers:
            nodes, edges = layer(nodes, edges, placed.ends)
        pooled = [
            pool(states, part, placed.parts)
            for states, part in ((nodes, placed.node_part), (edges, placed.edge_part))
            for pool in (global_mean_pool, global_max_pool)
        ]
        answers = self.regressor(torch.cat(pooled, dim=-1))[:, 0]
        if not self.bounded:
            return -nn.functional.softplus(answers)
        return placed.bound - nn.functional.softplus(answers, beta=_SHARPNESS)

    def _node_inputs(self, placed: PlacedTensors) -> Tensor:
        types = torch.stack([placed.is_memory, ~placed.is_memory], dim=-1).float()
        numbers = placed.nodes if self.annotated else torch.zeros_like(placed.nodes)
        inputs = torch.cat([types, self.kind(placed.kind), self.stage(placed.stage), numbers], dim=-1)
        return inputs if self.node_features else torch.zeros_like(inputs)

    def _edge_inputs(self, placed: PlacedTensors) -> Tensor:
        edges = placed.edges
        if not self.edge_features:
            return torch.zeros_like(edges)
        if self.annotated:
            return edges
        return torch.cat([edges[:, :_BARE_EDGES], torch.zeros_like(edges[:, _BARE_EDGES:])], dim=-1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementPredictor:
    """A trained network. vocabulary: number of every operation. about: what it was trained on."""

    network: PlacementNetwork
    vocabulary: Mapping[str, int]
    settings: Mapping[str, Any]
    about: str

    def throughput(self, features: GraphFeatures, routes: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return (placements,) normalised. routes: (placements, edges, ROUTE_FEATURES)."""
        tensors = tensors_of(features, self.vocabulary, len(routes))
        with torch.inference_mode():
            logarithms = self.network(with_routes(tensors, features, routes))
        return np.exp(logarithms.numpy().astype(np.float64))

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
        """Return the normalised throughput of decisions, one per row.

        Raises: PredictorError: a row is not acceptable; the message names the row, from 0.
        """
        answers: list[dict[str, float]] = []
        for number, row in enumerate(rows):
            try:
                graph = Graph.model_validate_json(row["graph"])
                require_acyclic(graph)
                fabric = Fabric.model_validate_json(row["fabric"])
                reader = RouteReader(graph, fabric)
                routes = reader.read(row["units"], row["routes"])
                require_legal(graph, fabric, [int(unit) for unit in row["units"].split()])
            except (FabricError, ValueError, KeyError) as error:
                raise PredictorError(f"row {number}: {' '.join(str(error).split())[:300]}") from error
            answers.append({"throughput": float(self.throughput(reader.features, routes[None])[0])})
        return answers

    @property
    def files(self) -> ModelFiles:
        """The predictor as plain data."""
        card = {
            "features": _FEATURES,
            "vocabulary": dict(self.vocabulary),
            "settings": dict(self.settings),
            "about": self.about,
        }
        arrays = {name: values.numpy() for name, values in self.network.state_dict().items()}
        return ModelFiles(card=card, arrays=arrays)


def load(files: ModelFiles) -> PlacementPredictor:
    """Load the predictor from its files.

    Raises: PredictorError: it is of other features than this version computes. RuntimeError: of other shapes.
    """
    card = files.card
    if card.get("features") != json.loads(json.dumps(_FEATURES)):
        raise PredictorError("features of pnr-gnn are not those of this version; train again")
    network = PlacementNetwork(**card["settings"])
    network.load_state_dict({name: torch.from_numpy(values) for name, values in files.arrays.items()})
    return PlacementPredictor(
        network=network.eval(),
        vocabulary=dict(card["vocabulary"]),
        settings=dict(card["settings"]),
        about=str(card["about"]),
    )
