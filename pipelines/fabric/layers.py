"""Layers of neural networks as dataflow graphs: operations are split over units, and tensors get buffers.

A layer is a sequence of `Operation`, in topological order. `lower` makes the graph that is placed. `cut` splits a
long sequence into subgraphs that fit a fabric (section II-C of the learned cost model paper, arXiv 2511.01872).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.fabric.errors import FabricError
from pipelines.fabric.graphs import Edge, Graph, Node, require_room
from pipelines.fabric.machine import Fabric

CONTRACTIONS = ("gemm", "matmul")
"""Kinds of which every part reads its whole first input."""
PART_LIMIT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a layer.

    Attributes:
        name: unique in the layer.
        kind: an operation of the fabric; "buffer" for an input of the layer.
        work: operations per sample; multiplications of a contraction, elements of the others.
        words: of its output, per sample.
        inputs: names of the operations whose outputs it reads.
        weights: words of its constant operand, read from memory once per sample.
    """

    name: str
    kind: str
    work: float
    words: float
    inputs: tuple[str, ...] = ()
    weights: float = 0.0


def lower(name: str, operations: Sequence[Operation], fabric: Fabric) -> Graph:
    """The graph of a layer on a fabric.

    An operation that takes longer than `fabric.stage_cycles` becomes several nodes, one per part of its output. A
    constant operand has a memory node per part. The output goes through a memory node per part, except to an
    elementwise operation of as many parts when `fabric.is_fused`; it is then sent directly. Every part of a
    contraction reads its whole first input and its share of a second; parts of other kinds read their share.

    Raises: FabricError: an unknown kind or input, or an operation of too many parts.
    """
    lowering = _Lowering(fabric, {op.name: op for op in operations})
    for operation in operations:
        lowering.add(operation)
    return Graph(name=name, nodes=tuple(_staged(lowering.nodes, lowering.edges)), edges=tuple(lowering.edges))


class _Lowering:
    def __init__(self, fabric: Fabric, operations: dict[str, Operation]) -> None:
        self.fabric = fabric
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.operations = operations
        self.outputs: dict[str, list[str]] = {}
        self.readers = {name: [op for op in operations.values() if name in op.inputs] for name in operations}

    def parts(self, operation: Operation) -> int:
        rate = self.fabric.operation(operation.kind).rate
        parts = max(1, math.ceil(operation.work / rate / self.fabric.stage_cycles))
        if parts > PART_LIMIT:
            raise FabricError(
                f"too much work: {operation.name} needs {parts} units of {self.fabric.name}; "
                f"accepted: {PART_LIMIT} at most"
            )
        return parts

    def add(self, operation: Operation) -> None:
        for name in operation.inputs:
            if name not in self.outputs:
                raise FabricError(f"unknown input of {operation.name}: {name}")
        parts = self.parts(operation)
        names = [f"{operation.name}.{k}" if parts > 1 else operation.name for k in range(parts)]
        for part, name in enumerate(names):
            self._node(name, operation.kind, operation.work / parts)
            for place, source in enumerate(operation.inputs):
                self._read(operation, place, source, part, parts, name)
            if operation.weights:
                self._node(f"{name}.weights", "weights", operation.weights / parts)
                self._edge(f"{name}.weights", name, operation.weights / parts)
        self.outputs[operation.name] = self._buffered(operation, names)

    def _buffered(self, operation: Operation, names: list[str]) -> list[str]:
        """Nodes that readers of an output take it from."""
        readers = self.readers[operation.name]
        is_direct = self.fabric.is_fused and len(readers) == 1 and self._takes_directly(readers[0], operation)
        if operation.kind == "buffer" or is_direct or not readers:
            return names
        for name in names:
            self._node(f"{name}.buffer", "buffer", operation.words / len(names))
            self._edge(name, f"{name}.buffer", operation.words / len(names))
        return [f"{name}.buffer" for name in names]

    def _takes_directly(self, reader: Operation, operation: Operation) -> bool:
        return reader.kind not in CONTRACTIONS and self.parts(reader) == self.parts(operation)

    def _read(self, operation: Operation, place: int, source: str, part: int, parts: int, name: str) -> None:
        """Edges of one input of one part: all of it, or the share that overlaps the part's."""
        holders = self.outputs[source]
        words = self.operations[source].words
        is_whole = operation.kind in CONTRACTIONS and place == 0
        low, high = (0.0, 1.0) if is_whole else (part / parts, (part + 1) / parts)
        for number, holder in enumerate(holders):
            share = min(high, (number + 1) / len(holders)) - max(low, number / len(holders))
            if share > 1e-9:
                self._edge(holder, name, words * share)

    def _node(self, name: str, kind: str, work: float) -> None:
        self.fabric.operation(kind)
        self.nodes.append(Node(name=name, kind=kind, stage=0, work=work))

    def _edge(self, source: str, target: str, words: float) -> None:
        self.edges.append(Edge(source=source, target=target, words=words))


def _staged(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Node]:
    """Nodes with their stage: that after the latest of their sources.

    Constants are in the stage before their reader.
    """
    stages = {node.name: 0 for node in nodes}
    order = {node.name: number for number, node in enumerate(nodes)}
    inward: dict[str, list[str]] = {node.name: [] for node in nodes}
    for edge in edges:
        inward[edge.target].append(edge.source)
    for node in sorted(nodes, key=lambda node: (node.kind == "weights", order[node.name])):
        sources = [source for source in inward[node.name] if not source.endswith(".weights")]
        stages[node.name] = max((stages[source] + 1 for source in sources), default=0)
    for edge in edges:
        if edge.source.endswith(".weights"):
            stages[edge.source] = max(0, stages[edge.target] - 1)
    return (node.model_copy(update={"stage": stages[node.name]}) for node in nodes)


def cut(name: str, operations: Sequence[Operation], fabric: Fabric, *, fill: float = 0.75) -> list[Graph]:
    """Subgraphs of a layer that fit a fabric: consecutive operations, each with buffers for what it reads.

    Args:   fill: share of the units of each type that a subgraph may take.
    Raises: FabricError: one operation alone does not fit.
    """
    graphs: list[Graph] = []
    start = 0
    while start < len(operations):
        end = start + 1
        best = _subgraph(f"{name}.{len(graphs)}", operations, start, end, fabric)
        require_room(best, fabric)
        while end < len(operations):
            larger = _subgraph(f"{name}.{len(graphs)}", operations, start, end + 1, fabric)
            if not _fits(larger, fabric, fill):
                break
            best, end = larger, end + 1
        graphs.append(best)
        start = end
    return graphs


def _subgraph(name: str, operations: Sequence[Operation], start: int, end: int, fabric: Fabric) -> Graph:
    inside = operations[start:end]
    names = {operation.name for operation in inside}
    needed = {source for operation in inside for source in operation.inputs} - names
    inputs = [
        Operation(name=op.name, kind="buffer", work=op.words, words=op.words)
        for op in operations[:start]
        if op.name in needed
    ]
    return lower(name, [*inputs, *inside], fabric)


def _fits(graph: Graph, fabric: Fabric, fill: float) -> bool:
    for unit in ("compute", "memory"):
        count = sum(fabric.operation(node.kind).unit == unit for node in graph.nodes)
        if count > fill * fabric.room(unit):
            return False
    return True
