"""The trained predictor: a question is compiled, its graph read, the network asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from models.base import Estimate, PredictorError
from models.gnnhls.graphs import NODE_NUMBERS, SUMMARY, DesignGraph, query_graph
from models.gnnhls.network import GraphNetwork, joined
from models.labelled import Query
from models.model_files import ModelFiles
from models.regression import Matrix, TargetScale, Typicality
from models.training import network_arrays

BATCH_NODES = 16384
_FEATURES = {"nodes": list(NODE_NUMBERS), "summary": list(SUMMARY)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphPredictor:
    """Answers queries with a trained network. Satisfies `models.base.Predictor`.

    Attributes:
        vocabulary: number by opcode. engine: options of high-level synthesis.
        sizes: arguments of `GraphNetwork`. loop_bounds: whether nodes know their executions.
    """

    network: GraphNetwork
    sizes: Mapping[str, Any]
    vocabulary: Mapping[str, int]
    scale: TargetScale
    typicality: Typicality
    engine: Mapping[str, Any]
    loop_bounds: bool

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the predicted label columns."""
        return self.scale.names

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        """One estimate per query, in order.

        Raises: PredictorError: a query cannot be compiled; the message names its row, from 0.
        """
        if not queries:
            return []
        graphs: list[DesignGraph] = []
        for place, query in enumerate(queries):
            try:
                graphs.append(query_graph(query, self.engine, self.vocabulary, loop_bounds=self.loop_bounds))
            except ValueError as error:
                raise PredictorError(f"row {place}: {error}") from error
        summaries = np.stack([graph.summary for graph in graphs])
        return self.typicality.estimates(summaries, self.targets, self.predict_graphs(graphs))

    def predict_graphs(self, graphs: Sequence[DesignGraph]) -> Matrix:
        """Targets of graphs: (graphs, targets)."""
        outputs = np.empty((len(graphs), len(self.targets)), np.float64)
        with torch.inference_mode():
            for rows in batches_of(graphs, range(len(graphs)), BATCH_NODES):
                outputs[rows] = self.network(joined([graphs[row] for row in rows])).numpy()
        return self.scale.restore(outputs)

    @property
    def files(self) -> ModelFiles:
        """The predictor as plain data."""
        card = {
            "features": _FEATURES,
            "sizes": dict(self.sizes),
            "vocabulary": dict(self.vocabulary),
            "scale": self.scale.card(),
            "engine": dict(self.engine),
            "loop_bounds": self.loop_bounds,
        }
        weights = {name: values.numpy() for name, values in self.network.state_dict().items()}
        return ModelFiles(card=card, arrays={**weights, **self.typicality.arrays()})


def batches_of(graphs: Sequence[DesignGraph], order: Sequence[int], nodes: int) -> Iterator[list[int]]:
    """Graphs in an order, in batches of at most so many nodes, or of one graph."""
    batch: list[int] = []
    size = 0
    for row in order:
        if batch and size + len(graphs[row].opcodes) > nodes:
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += len(graphs[row].opcodes)
    if batch:
        yield batch


def load(files: ModelFiles) -> GraphPredictor:
    """The predictor of its files.

    Raises: PredictorError: it is of other features than this version computes. RuntimeError: of other shapes.
    """
    card = files.card
    if card.get("features") != _FEATURES:
        raise PredictorError("features of gnnhls are not those of this version; train again")
    network = GraphNetwork(**card["sizes"])
    network.load_state_dict(network_arrays(files.arrays))
    return GraphPredictor(
        network=network.eval(),
        sizes=card["sizes"],
        vocabulary=card["vocabulary"],
        scale=TargetScale.of_card(card["scale"]),
        typicality=Typicality.of_arrays(SUMMARY, files.arrays),
        engine=card["engine"],
        loop_bounds=card["loop_bounds"],
    )
