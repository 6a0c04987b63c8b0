"""Graphs and choices in torch: programs side by side, configurations as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from models.pragma_gnn.choices import Choices
from models.pragma_gnn.graph import EDGES, NODE_FEATURES, Places, ProgramGraph, Values
from models.pragma_gnn.network import WAYS, ChoiceTensors, ProgramTensors


def program_tensors(graphs: Sequence[ProgramGraph]) -> ProgramTensors:
    """Programs side by side; each has places for as many loops as the largest."""
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
    """Edges both ways as `ProgramTensors` has them: ends, ways, features."""
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
    """1 over the edges of one way that lead to one node. (edges, 1)"""
    _, place, count = np.unique(target * WAYS + way, return_inverse=True, return_counts=True)
    return (1.0 / count[place])[:, None].astype(np.float32)


def choice_tensors(choices: Sequence[Choices], tools: Sequence[Sequence[int]]) -> ChoiceTensors:
    """Configurations of programs, one after the other, padded to the loops of the largest.

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
    """Some of the configurations."""
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
