"""The network: a program's graph and a configuration in, the logarithm of measured over bound out.

    Program encoder (once a program): nodes tell each other their states along edges, each kind of edge, each
    way, with weights of its own.

    Pragma encoder (for each configuration): the states of the program's loops go through one module a kind of
    directive, each adding what its directive changes; then loops tell the loops around and inside theirs.

    Readout: a weighted mean over loops, weights learned, beside the program's arrays and what is known of the
    configuration as a whole.

Source: Sohrabizadeh, Bai, Sun and Cong 2023, HARP, for the plan that its abstract gives: nodes for the
hierarchy, the program apart from its transformations, pragmas as learned transformers. All else is ours: the
graph is of the polyhedral summary and not of LLVM's instructions, directives know what the tools make of
them, and the answer is relative to a proven bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.aggr import MeanAggregation

from models.pragma_gnn.choices import LOOP_FEATURES, WHOLE_FEATURES, Choices
from models.pragma_gnn.graph import EDGE_FEATURES, EDGES, NODE_FEATURES, Places, ProgramGraph, Values

WAYS = 2 * len(EDGES)
"""Kinds of edges, each way by itself."""


class ProgramTensors(NamedTuple):
    """Programs side by side as one graph; a tuple, for Lightning refuses frozen dataclasses.

    Attributes:
        nodes: features by kind of node; all are counted kind after kind. (nodes of a kind, features)
        ends: where each edge comes from and leads to, once each way. (2, edges)
        way: number of the edge's kind and way. (edges,)
        said: features of edges. (edges, features)
        share: 1 over the edges of this kind and way that lead to the same node. (edges, 1)
        program: of each node. (nodes,)
        loop: nodes of a program's loops, 0 after the last. (programs, loops)
        there: whether there is such a loop. (programs, loops)
        parents: as in `ProgramGraph`. (programs, loops, loops)
    """

    nodes: dict[str, Tensor]
    ends: Tensor
    way: Tensor
    said: Tensor
    share: Tensor
    program: Tensor
    loop: Tensor
    there: Tensor
    parents: Tensor


class ChoiceTensors(NamedTuple):
    """Configurations, of any of the programs.

    Attributes:
        program: of each. (batch,)
        tool: that measures, a number of the predictor's list. (batch,)
        loops: by group, 0 after the last loop. (batch, loops, features)
        whole: by group. (batch, features)
    """

    program: Tensor
    tool: Tensor
    loops: dict[str, Tensor]
    whole: dict[str, Tensor]


class Standard(nn.Module):
    """Features in standard deviations from their mean in training; those that never varied are 0."""

    center: Tensor
    factor: Tensor

    def __init__(self, count: int, *, furthest: float = math.inf) -> None:
        super().__init__()
        self._furthest = furthest
        self.register_buffer("center", torch.zeros(count))
        self.register_buffer("factor", torch.ones(count))

    def measure(self, features: Tensor) -> None:
        """Take mean and deviation from features: (rows, features)."""
        spread = features.std(dim=0, correction=0)
        self.center.copy_(features.mean(dim=0))
        self.factor.copy_(torch.where(spread > _NO_SPREAD, 1.0 / spread, torch.zeros_like(spread)))

    def forward(self, features: Tensor) -> Tensor:
        """Standardise features, (..., features), to at most `furthest` from the mean."""
        return ((features - self.center) * self.factor).clamp(-self._furthest, self._furthest)


_NO_SPREAD = 1e-5
_FURTHEST = 4.0


def _perceptron(inputs: int, width: int, outputs: int, dropout: float = 0.0) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.SiLU(), nn.Dropout(dropout), nn.Linear(width, outputs))


class ScaledMessages(MessagePassing):
    """The sum of messages along edges, each scaled and shifted by its kind and way.

    The weights are the encoder's. A matrix for each kind and way (`RGCNConv`) would be most of a step's time.
    """

    def __init__(self) -> None:
        super().__init__(aggr="sum")

    def forward(self, sent: Tensor, scale: Tensor, shift: Tensor, programs: ProgramTensors) -> Tensor:
        """Return messages of nodes (nodes, width); scales and shifts are of edges (edges, width)."""
        return self.propagate(programs.ends, x=sent, scale=scale, shift=shift, share=programs.share)

    def message(  # pyright: ignore[reportIncompatibleMethodOverride]: its parameters are those of propagate
        self, x_j: Tensor, scale: Tensor, shift: Tensor, share: Tensor
    ) -> Tensor:
        """Return the messages of edges, (edges, width)."""
        return nn.functional.silu(x_j * scale + shift) * share


class ProgramEncoder(nn.Module):
    """States of the nodes of programs.

    A round: every node has a message; an edge scales and shifts it by its kind and way, and adds what its
    features say; a node adds up the mean messages of its edges by kind and way.
    """

    def __init__(self, *, width: int, rounds: int) -> None:
        super().__init__()
        self.features = nn.ModuleDict(
            {k: Standard(len(names), furthest=_FURTHEST) for k, names in NODE_FEATURES.items()}
        )
        self.first = nn.ModuleDict({k: nn.Linear(len(names), width) for k, names in NODE_FEATURES.items()})
        self.message = nn.ModuleList([nn.Linear(width, width) for _ in range(rounds)])
        self.scale = nn.ModuleList([nn.Embedding(WAYS, width) for _ in range(rounds)])
        self.shift = nn.ModuleList([nn.Embedding(WAYS, width) for _ in range(rounds)])
        self.edge = nn.Linear(len(EDGE_FEATURES), width, bias=False)
        self.update = nn.ModuleList([_perceptron(2 * width, width, width) for _ in range(rounds)])
        self.exchange = ScaledMessages()

    def forward(self, programs: ProgramTensors) -> Tensor:
        """Return the states of nodes: (nodes, width)."""
        first = [self.first[kind](self.features[kind](f)) for kind, f in programs.nodes.items()]
        states = nn.functional.silu(torch.cat(first))  # (nodes, width)
        said = self.edge(programs.said)  # (edges, width)
        for message, scale, shift, update in zip(
            self.message, self.scale, self.shift, self.update, strict=True
        ):
            shifted = shift(programs.way) + said  # (edges, width)
            heard = self.exchange(message(states), scale(programs.way), shifted, programs)  # (nodes, width)
            states = states + update(torch.cat([states, heard], dim=-1))
        return states


class PragmaGnn(nn.Module):
    """Logarithm of measured over bound, or of measured where the bound is not used.

    Args:
        width: of states. rounds: of messages in the program's graph. climbs: of messages along the tree of
            loops. tools: whose measurements it answers for. with_bound: whether features may say what the
            bound says.
    """

    def __init__(
        self, *, width: int, rounds: int, climbs: int, tools: int, with_bound: bool, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.groups = [g for g in LOOP_FEATURES if with_bound or g != "bound"]
        self.whole_groups = [g for g in WHOLE_FEATURES if with_bound or g != "whole_bound"]
        self.climbs = climbs
        self.program = ProgramEncoder(width=width, rounds=rounds)
        self.loop_features = nn.ModuleDict(
            {g: Standard(len(LOOP_FEATURES[g]), furthest=_FURTHEST) for g in self.groups}
        )
        self.whole_features = nn.ModuleDict(
            {g: Standard(len(WHOLE_FEATURES[g]), furthest=_FURTHEST) for g in self.whole_groups}
        )
        self.pragma = nn.ModuleDict(
            {g: _perceptron(width + len(LOOP_FEATURES[g]), width, width, dropout) for g in self.groups}
        )
        self.climb = nn.ModuleList([_perceptron(3 * width, width, width, dropout) for _ in range(climbs)])
        self.weight = nn.Linear(width, 1)
        whole = sum(len(WHOLE_FEATURES[g]) for g in self.whole_groups)
        self.tool = nn.Embedding(tools, 2)
        self.answer = _perceptron(3 * width + whole + 2, width, 1, dropout)
        self.center = nn.Parameter(torch.zeros(1))
        self.mean = MeanAggregation()

    def forward(self, programs: ProgramTensors, choices: ChoiceTensors) -> Tensor:
        """Return one number a configuration. (batch,)"""
        return self.answers(programs, self.program(programs), choices)

    def answers(self, programs: ProgramTensors, states: Tensor, choices: ChoiceTensors) -> Tensor:
        """Run `forward` with precomputed states of programs."""
        there = programs.there[choices.program]  # (batch, loops)
        loops = self.directed(programs, states, choices)  # (batch, loops, width)
        weights = self.weight(loops)[..., 0].masked_fill(~there, -torch.inf).softmax(dim=-1)
        mean = (weights[..., None] * loops).sum(dim=1)  # (batch, width)
        most = loops.masked_fill(~there[..., None], -torch.inf).amax(dim=1)  # (batch, width)
        owners = len(programs.loop)
        program = self.mean(states, programs.program, dim_size=owners)[choices.program]  # (batch, width)
        whole = [self.whole_features[g](choices.whole[g]) for g in self.whole_groups]  # (batch, features)
        seen = torch.cat([mean, most, program, *whole, self.tool(choices.tool)], dim=-1)
        return self.center + self.answer(seen)[..., 0]

    def directed(self, programs: ProgramTensors, states: Tensor, choices: ChoiceTensors) -> Tensor:
        """Return the states of loops under their directives. (nodes, width) -> (batch, loops, width)"""
        loops = states[programs.loop][choices.program]  # (batch, loops, width)
        for group in self.groups:
            said = self.loop_features[group](choices.loops[group])  # (batch, loops, features)
            loops = loops + self.pragma[group](torch.cat([loops, said], dim=-1))
        there = programs.there[choices.program][..., None]  # (batch, loops, 1)
        upwards = programs.parents[choices.program]  # (batch, loops, loops)
        for climb in self.climb:
            loops = loops * there
            above = upwards @ loops  # (batch, loops, width): the parent's state
            below = upwards.mT @ loops  # (batch, loops, width): the sum of the children's
            loops = loops + climb(torch.cat([loops, above, below], dim=-1))
        return loops


def program_tensors(graphs: Sequence[ProgramGraph]) -> ProgramTensors:
    """Return the programs side by side; each has places for as many loops as the largest."""
    kinds = list(NODE_FEATURES)
    counts = np.array([[len(graph.nodes[kind]) for graph in graphs] for kind in kinds], np.int64)
    before = np.cumsum(counts).reshape(counts.shape) - counts  # (kinds, programs): the first node's place
    first = {kind: before[n] for n, kind in enumerate(kinds)}
    most = max((len(graph.loops) for graph in graphs), default=0)
    loop = np.zeros((len(graphs), most), np.int64)
    there = np.zeros((len(graphs), most), np.bool_)
    parents = np.zeros((len(graphs), most, most), np.float32)
    for n, graph in enumerate(graphs):
        count = len(graph.loops)
        loop[n, :count] = first["loop"][n] + np.arange(count)
        there[n, :count] = True
        parents[n, :count, :count] = graph.parents
    ends, way, said = _edges(graphs, first)
    return ProgramTensors(
        nodes={kind: _joined([graph.nodes[kind] for graph in graphs]) for kind in kinds},
        ends=torch.from_numpy(ends),
        way=torch.from_numpy(way),
        said=torch.from_numpy(said),
        share=torch.from_numpy(_shares(ends[1], way)),
        program=torch.from_numpy(np.repeat(np.tile(np.arange(len(graphs)), len(kinds)), counts.ravel())),
        loop=torch.from_numpy(loop),
        there=torch.from_numpy(there),
        parents=torch.from_numpy(parents),
    )


def _edges(graphs: Sequence[ProgramGraph], first: Mapping[str, Places]) -> tuple[Places, Places, Values]:
    """Return the edges both ways as `ProgramTensors` has them: ends, ways, features."""
    ends: list[Places] = []
    ways: list[Places] = []
    said: list[Values] = []
    for number, (kind, (source, target)) in enumerate(EDGES.items()):
        for n, graph in enumerate(graphs):
            places = graph.edges[kind] + np.array([[first[source][n]], [first[target][n]]])
            ends += [places, places[::-1]]
            ways += [np.full(places.shape[1], 2 * number), np.full(places.shape[1], 2 * number + 1)]
            said += [graph.edge_features[kind]] * 2
    return np.concatenate(ends, axis=1), np.concatenate(ways), np.concatenate(said)


def _shares(target: Places, way: Places) -> Values:
    """Return 1 over the edges of one way that lead to one node. (edges, 1)"""
    _, place, count = np.unique(target * WAYS + way, return_inverse=True, return_counts=True)
    return (1.0 / count[place])[:, None].astype(np.float32)


def choice_tensors(choices: Sequence[Choices], tools: Sequence[Sequence[int]]) -> ChoiceTensors:
    """Return the configurations of programs, one after the other, padded to the loops of the largest.

    Args: choices: by program, as in `program_tensors`. tools: of each configuration of each program.
    """
    most = max((c.loops["unroll"].shape[1] for c in choices), default=0)
    return ChoiceTensors(
        program=torch.from_numpy(np.repeat(np.arange(len(choices)), [len(c) for c in choices])),
        tool=torch.tensor([tool for row in tools for tool in row], dtype=torch.int64),
        loops={g: _joined([_padded(c.loops[g], most) for c in choices]) for g in choices[0].loops},
        whole={g: _joined([c.whole[g] for c in choices]) for g in choices[0].whole},
    )


def rows_of(choices: ChoiceTensors, rows: Tensor) -> ChoiceTensors:
    """Select rows of configurations."""
    return ChoiceTensors(
        program=choices.program[rows],
        tool=choices.tool[rows],
        loops={group: features[rows] for group, features in choices.loops.items()},
        whole={group: features[rows] for group, features in choices.whole.items()},
    )


def _padded(features: np.ndarray, loops: int) -> np.ndarray:
    return np.pad(features, ((0, 0), (0, loops - features.shape[1]), (0, 0)))


def _joined(parts: Sequence[np.ndarray], axis: int = 0) -> Tensor:
    return torch.from_numpy(np.concatenate(parts, axis=axis))
