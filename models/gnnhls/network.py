"""The network: messages along edges by torch-geometric's layers, then a readout of the whole graph.

    h_v = embedding(opcode) + linear(numbers)
    h_v <- h_v + ReLU(norm(layer(h)_v))          RGCNConv, or GINEConv with an embedding of the relation
    size = log(sum over nodes of softplus(linear(h_v)))
    work = log(sum over nodes of executions_v * softplus(linear(h_v)))
    answer = MLP(mean h, max h, size, work, configuration) + linear(size, work, configuration)

Area, flip-flops and power grow with the sum over nodes, cycles with the sum over executions; a mean forgets
both, and a logarithm of a sum continues beyond the sizes of training.

Source: Wu, Yang, Xie, Li and Hao 2022, sections 3 and 4 (graphs of high-level synthesis, RGCN among the best
    layers). Differs: sums over nodes in the readout, executions of nodes, the configuration, one network for
    all targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus
from torch_geometric.nn import GINEConv, RGCNConv, global_add_pool, global_max_pool, global_mean_pool

from models.gnnhls.graphs import CONFIGURATION, NODE_NUMBERS, RELATIONS, SUMMARY, DesignGraph
from models.pragma_gnn.network import Standard

CHANNELS = 8
"""Sums over nodes of each kind."""
_BASES = 4
"""Matrices whose sums are the matrices of the relations (Schlichtkrull et al. 2018, section 2.2)."""
_LEAST = 1e-3


class GraphTensors(NamedTuple):
    """Graphs side by side as one; a tuple, for Lightning refuses frozen dataclasses.

    Attributes:
        opcodes: (nodes,). numbers: (nodes, numbers). ends: (2, edges). relations: (edges,).
        graph: of each node. (nodes,) graphs: how many.
        configuration: (graphs, CONFIGURATION).
    """

    opcodes: Tensor
    numbers: Tensor
    ends: Tensor
    relations: Tensor
    graph: Tensor
    graphs: int
    configuration: Tensor


def joined(graphs: Sequence[DesignGraph]) -> GraphTensors:
    """Join graphs into one of separate parts."""
    sizes = [len(graph.opcodes) for graph in graphs]
    starts = np.cumsum([0, *sizes])[:-1]
    ends = [graph.ends + start for graph, start in zip(graphs, starts, strict=True)]
    return GraphTensors(
        opcodes=torch.from_numpy(np.concatenate([graph.opcodes for graph in graphs])),
        numbers=torch.from_numpy(np.concatenate([graph.numbers for graph in graphs])),
        ends=torch.from_numpy(np.concatenate(ends, axis=1)),
        relations=torch.from_numpy(np.concatenate([graph.relations for graph in graphs])),
        graph=torch.arange(len(graphs)).repeat_interleave(torch.tensor(sizes)),
        graphs=len(graphs),
        configuration=torch.tensor(
            np.stack([graph.summary[: len(CONFIGURATION)] for graph in graphs]), dtype=torch.float32
        ),
    )


class GraphNetwork(nn.Module):
    """Scaled log targets of graphs.

    Args: opcodes: in the vocabulary. layer: rgcn or gine. targets: of the answer.
    """

    def __init__(
        self, *, opcodes: int, layer: str, width: int, layers: int, dropout: float, targets: int
    ) -> None:
        super().__init__()
        self.numbers = Standard(len(NODE_NUMBERS))
        self.configuration = Standard(len(CONFIGURATION))
        self.opcode = nn.Embedding(opcodes + 1, width)
        self.number = nn.Linear(len(NODE_NUMBERS), width)
        self.relation = nn.Embedding(RELATIONS, width) if layer == "gine" else None
        self.layers = nn.ModuleList([_layer(layer, width) for _ in range(layers)])
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(layers)])
        self.size = nn.Linear(width, CHANNELS)
        self.work = nn.Linear(width, CHANNELS)
        sums = 2 * CHANNELS + len(CONFIGURATION)
        self.hidden = nn.Sequential(
            nn.Linear(2 * width + sums, 2 * width),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(2 * width, targets),
        )
        self.linear = nn.Linear(sums, targets, bias=False)

    def forward(self, graphs: GraphTensors) -> Tensor:
        """Return the scaled log targets: (graphs, targets)."""
        states = self.states(graphs)  # (nodes, width)
        executions = torch.exp2(graphs.numbers[:, _EXECUTIONS])[:, None]  # (nodes, 1)
        size = global_add_pool(softplus(self.size(states)), graphs.graph, graphs.graphs)
        work = global_add_pool(executions * softplus(self.work(states)), graphs.graph, graphs.graphs)
        sums = torch.cat(
            [torch.log(_LEAST + size), torch.log(_LEAST + work), self.configuration(graphs.configuration)],
            dim=1,
        )  # (graphs, 2 channels + configuration)
        pooled = [pool(states, graphs.graph, graphs.graphs) for pool in (global_mean_pool, global_max_pool)]
        return self.hidden(torch.cat([*pooled, sums], dim=1)) + self.linear(sums)

    def states(self, graphs: GraphTensors) -> Tensor:
        """Return the states of nodes after all messages: (nodes, width)."""
        states = self.opcode(graphs.opcodes) + self.number(self.numbers(graphs.numbers))
        for layer, norm in zip(self.layers, self.norms, strict=True):
            of_edges = graphs.relations if self.relation is None else self.relation(graphs.relations)
            states = states + torch.relu(norm(layer(states, graphs.ends, of_edges)))
        return states

    def measure(self, graphs: Sequence[DesignGraph]) -> None:
        """Take means and deviations of numbers and of the configuration from graphs."""
        tensors = joined(graphs)
        self.numbers.measure(tensors.numbers)
        self.configuration.measure(tensors.configuration)


_EXECUTIONS = NODE_NUMBERS.index("log2_executions")
assert SUMMARY[: len(CONFIGURATION)] == CONFIGURATION


def _layer(layer: str, width: int) -> nn.Module:
    if layer == "gine":
        return GINEConv(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)))
    return RGCNConv(width, width, RELATIONS, num_bases=_BASES)
