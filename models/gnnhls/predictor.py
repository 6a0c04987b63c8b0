"""The trained predictor: a question is compiled, its graph read, the network asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from models.gnnhls.graphs import NODE_NUMBERS, SUMMARY, DesignGraph, query_graph
from models.gnnhls.network import GraphNetwork, GraphTensors, joined
from models.label_network import NetworkPredictor
from models.labelled import Query

BATCH_NODES = 16384


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphPredictor(NetworkPredictor[DesignGraph]):
    """Answers queries with a trained network over graphs.

    Attributes:
        vocabulary: number by opcode. engine: options of high-level synthesis.
        loop_bounds: whether nodes know their executions.
    """

    network_class = GraphNetwork
    features: ClassVar = {"nodes": NODE_NUMBERS, "summary": SUMMARY}
    what = "features of gnnhls"
    vocabulary: Mapping[str, int]
    engine: Mapping[str, Any]
    loop_bounds: bool

    def read(self, query: Query) -> DesignGraph:
        """Compile a query and read its graph. Raises: ValueError: it cannot be compiled."""
        return query_graph(query, self.engine, self.vocabulary, loop_bounds=self.loop_bounds)

    def batches(self, examples: Sequence[DesignGraph]) -> Iterator[list[int]]:
        """Return batches of at most so many nodes."""
        return batches_of(examples, range(len(examples)), BATCH_NODES)

    def join(self, examples: Sequence[DesignGraph]) -> GraphTensors:
        """Return graphs as one."""
        return joined(examples)

    @property
    def further_card(self) -> dict[str, Any]:
        """Vocabulary, engine and loop bounds."""
        return {
            "vocabulary": dict(self.vocabulary),
            "engine": dict(self.engine),
            "loop_bounds": self.loop_bounds,
        }


def batches_of(graphs: Sequence[DesignGraph], order: Sequence[int], nodes: int) -> Iterator[list[int]]:
    """Yield the graphs in an order, in batches of at most so many nodes, or of one graph."""
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
