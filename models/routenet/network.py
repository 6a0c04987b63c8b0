"""RouteNet: a graph neural network whose flows and queues tell each other their states.

A flow's latency depends on the queues of its way, and a queue's wait on the flows that go through it: a
circle. RouteNet breaks it by starting both from their features and exchanging messages some rounds:

    every flow reads the states of its queues in turn with a recurrent cell; what the cell says at a queue is
    the flow's message to it, and where the cell ends is the flow's new state;
    every queue sums the messages of its flows, and a second recurrent cell makes its new state of them.

Then a perceptron reads the wait at each place of each way, and a flow's latency is what its packets take
without waits plus these.

Source: Rusek et al. 2020, RouteNet (message passing); Ferriol-Galmes et al. 2022, RouteNet-Erlang (arrivals
as features of flows), and their RouteNet-Fermi (waits read at every queue and added, so that longer ways have
a meaning). Differs: a message weighs what its flow loads the queue by, for a plain sum over 15 flows in
training and 1,023 later are two things; the wait is in mean times of sending and bounded by the queue's size;
a link's rate is not a feature, for it has a unit, but in what it makes of loads and sizes.
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
from torch_geometric.nn.aggr import SumAggregation

from models.base import PredictorError
from models.model_files import ModelFiles
from models.pragma_gnn.network import Standard
from models.queue_correction.data import network_models
from models.routenet.graph import FLOW_FEATURES, PLACE_FEATURES, QUEUE_FEATURES, Graph, graph_of
from pipelines.network.queueing import NetworkModel

_FEATURES = {"flows": FLOW_FEATURES, "queues": QUEUE_FEATURES, "places": PLACE_FEATURES}
LOG_WAIT_LIMIT = 10.0
"""Logarithm of a wait, in mean times of sending, at most: only queues without end come near."""


class GraphTensors(NamedTuple):
    """A `Graph` in torch, with the same fields; a tuple, for Lightning refuses frozen dataclasses."""

    flows: Tensor
    queues: Tensor
    places: Tensor
    queue: Tensor
    utilisation: Tensor
    service_s: Tensor
    last: Tensor
    base_s: Tensor
    inverse_capacity: Tensor


_FIELDS = GraphTensors._fields


def tensors_of(graph: Graph) -> GraphTensors:
    """Return the graph as tensors, without copying."""
    return GraphTensors(*(torch.from_numpy(np.asarray(getattr(graph, name))) for name in _FIELDS))


def _perceptron(inputs: int, width: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.SiLU(), nn.Linear(width, outputs))


class RouteNet(nn.Module):
    """Mean round trips of flows from a graph.

    Args: width: of the states of flows and of queues. rounds: of messages.
    """

    def __init__(self, *, width: int, rounds: int) -> None:
        super().__init__()
        self.rounds = rounds
        self.flow_features = Standard(len(FLOW_FEATURES))
        self.queue_features = Standard(len(QUEUE_FEATURES))
        self.place_features = Standard(len(PLACE_FEATURES))
        self.first_flow = _perceptron(len(FLOW_FEATURES), width, width)
        self.first_queue = _perceptron(len(QUEUE_FEATURES), width, width)
        self.along = nn.GRU(width + len(PLACE_FEATURES), width)
        self.gather = nn.GRUCell(width, width)
        self.heard = SumAggregation()
        self.wait = _perceptron(2 * width + len(PLACE_FEATURES), width, 1)

    def forward(self, graph: GraphTensors) -> Tensor:
        """Return the mean round trip of every flow in seconds, delay without acknowledgements. (flows,)"""
        waits = self.waits(graph) * graph.service_s  # (places, flows), 0 after the last
        return graph.base_s + waits.sum(dim=0)

    def waits(self, graph: GraphTensors) -> Tensor:
        """Return mean wait at every place in mean times of sending; anything after the last. (places, flows)

        It grows as the exponential of what the perceptron says until it nears the queue's size.
        """
        flows = self.first_flow(self.flow_features(graph.flows))  # (flows, width)
        queues = self.first_queue(self.queue_features(graph.queues))  # (queues, width)
        places = self.place_features(graph.places)  # (places, flows, features)
        said = places  # each round says it anew
        for _ in range(self.rounds):
            said, flows, queues = self.exchange(graph, places, flows, queues)
        # (places, flows, 2 width + features)
        seen = torch.cat([said, _at(queues, graph.queue), places], dim=-1)
        log_wait = self.wait(seen)[..., 0].clamp(-LOG_WAIT_LIMIT, LOG_WAIT_LIMIT)  # (places, flows)
        return 1.0 / (torch.exp(-log_wait) + graph.inverse_capacity)

    def exchange(
        self, graph: GraphTensors, places: Tensor, flows: Tensor, queues: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return one round of messages.

        Args:    places: standard features. (places, flows, features) flows, queues: states. (..., width)
        Returns: messages (places, flows, width), new states of flows and of queues.
        """
        inputs = torch.cat([_at(queues, graph.queue), places], dim=-1)  # (places, flows, width + features)
        said, _ = self.along(inputs, flows[None])  # (places, flows, width)
        ends = graph.last[None, :, None].expand(1, -1, said.shape[-1])
        flows = said.gather(0, ends)[0]  # (flows, width)
        weighed = said * graph.utilisation[..., None]  # (places, flows, width), 0 after the last
        heard = self.heard(weighed.flatten(0, 1), graph.queue.flatten(), dim_size=len(queues))
        return said, flows, self.gather(heard, queues)  # heard: (queues, width)


def _at(queues: Tensor, queue: Tensor) -> Tensor:
    """Return the states of queues at places: (queues, width), (places, flows) -> (places, flows, width)."""
    return queues.index_select(0, queue.flatten()).unflatten(0, queue.shape)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RouteNetPredictor:
    """A trained network. about: what it was trained on, for people."""

    network: RouteNet
    about: str

    def predict(self, model: NetworkModel) -> NDArray[np.float64]:
        """Predict the mean round trip of every flow in seconds, delay without acknowledgements. (flows,)"""
        with torch.inference_mode():
            return self.network(tensors_of(graph_of(model))).numpy().astype(np.float64)

    @property
    def parameter_count(self) -> int:
        """Trained numbers."""
        return sum(values.numel() for values in self.network.parameters())

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
        """Return the mean over flows of the round trip of fat-trees under traffic, one per row.

        Raises: PredictorError: a row is not acceptable; the message names the row, from 0.
        """
        return [{"rtt_us": float(self.predict(model).mean() * 1e6)} for model in network_models(rows)]

    @property
    def files(self) -> ModelFiles:
        """The predictor as plain data."""
        card = {
            "features": _FEATURES,
            "width": self.network.gather.hidden_size,
            "rounds": self.network.rounds,
            "about": self.about,
        }
        arrays = {name: values.numpy() for name, values in self.network.state_dict().items()}
        return ModelFiles(card=card, arrays=arrays)


def load(files: ModelFiles) -> RouteNetPredictor:
    """Load the predictor from its files.

    Raises: PredictorError: it is of other features than this version computes. RuntimeError: of other shapes.
    """
    card = files.card
    if card.get("features") != json.loads(json.dumps(_FEATURES)):
        raise PredictorError("features of RouteNet are not those of this version; train again")
    network = RouteNet(width=int(card["width"]), rounds=int(card["rounds"]))
    network.load_state_dict({name: torch.from_numpy(values) for name, values in files.arrays.items()})
    return RouteNetPredictor(network=network.eval(), about=str(card["about"]))
