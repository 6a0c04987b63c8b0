"""Layers of neural networks as dataflow graphs: operations are split over units, and tensors get buffers.

A layer is a sequence of `Operation`, in topological order. `lower` makes the graph that is placed. `cut`
splits a long sequence into subgraphs that fit a fabric (section II-C of the paper arXiv 2511.01872).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

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
        shares: of each of these outputs that it reads, above 0 to 1; without them it reads all of each.
        weights: words of its constant operand, read from memory once per sample.
    """

    name: str
    kind: str
    work: float
    words: float
    inputs: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    weights: float = 0.0


def lower(name: str, operations: Sequence[Operation], fabric: Fabric) -> Graph:
    """Return the graph of a layer on a fabric.

    An operation that takes longer than `fabric.stage_cycles`, or has an output or a constant of more than
    `fabric.stage_words`, becomes several nodes. A constant operand has a memory node per part. The output
    goes through a memory node per part, except to an elementwise operation of as many parts when
    `fabric.is_fused`; it is then sent directly. A contraction is split by its output or by the summed
    dimension, whichever moves fewer words. In the first case every part reads its whole first input, from a
    copy for every `fabric.fan_out` parts when there are more, and its share of a second; in the second case
    it reads its share of both, and further nodes add the partial outputs. Parts of other kinds read their
    share.

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
        cycles = operation.work / self.fabric.operation(operation.kind).rate
        words = max(operation.words, operation.weights)
        parts = math.ceil(max(cycles / self.fabric.stage_cycles, words / self.fabric.stage_words, 1.0))
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
        for name in names:
            self._node(name, operation.kind, operation.work / parts)
            if operation.weights:
                self._node(f"{name}.weights", "weights", operation.weights / parts)
                self._edge(f"{name}.weights", name, operation.weights / parts)
        is_inner = self._splits_inner(operation, parts)
        for place, source in enumerate(operation.inputs):
            is_whole = operation.kind in CONTRACTIONS and place == 0 and not is_inner
            read = self._read_whole if is_whole else self._read_share
            read(operation, source, names, self._words_read(operation, place))
        names = self._sums(operation, names) if is_inner else names
        self.outputs[operation.name] = self._buffered(operation, names)

    def _splits_inner(self, operation: Operation, parts: int) -> bool:
        """Tell whether parts by the summed dimension move fewer words than parts by the output."""
        if operation.kind not in CONTRACTIONS or parts == 1 or not operation.inputs:
            return False
        inward, outward = self._words_read(operation, 0), operation.words
        return inward + parts * outward < parts * inward + outward

    def _words_read(self, operation: Operation, place: int) -> float:
        words = self.operations[operation.inputs[place]].words
        return words * operation.shares[place] if operation.shares else words

    def _sums(self, operation: Operation, names: Sequence[str]) -> list[str]:
        """Return the nodes that add the partial outputs of parts by the summed dimension."""
        count = math.ceil(max(1.0, operation.words / self.fabric.stage_words))
        sums = [f"{operation.name}.sum{number}" for number in range(count)]
        for total in sums:
            self._node(total, "add", len(names) * operation.words / count)
            for name in names:
                self._edge(name, total, operation.words / count)
        return sums

    def _buffered(self, operation: Operation, names: list[str]) -> list[str]:
        """Return the nodes that readers of an output take it from."""
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

    def _read_whole(self, operation: Operation, source: str, names: Sequence[str], words: float) -> None:
        """Add edges by which every part reads all of an input."""
        for part, holders in enumerate(self._copies(operation, source, len(names), words)):
            for holder in holders:
                self._edge(holder, names[part], words / len(holders))

    def _read_share(self, operation: Operation, source: str, names: Sequence[str], words: float) -> None:
        """Add edges by which every part reads its share of an input."""
        del operation
        holders = self.outputs[source]
        for part, name in enumerate(names):
            for number, holder in enumerate(holders):
                high = min((part + 1) / len(names), (number + 1) / len(holders))
                share = high - max(part / len(names), number / len(holders))
                if share > 1e-9:
                    self._edge(holder, name, words * share)

    def _copies(self, operation: Operation, source: str, parts: int, words: float) -> list[list[str]]:
        """Return for each part the nodes from which it takes the whole of an input."""
        holders, most = self.outputs[source], self.fabric.fan_out
        if parts <= most:
            return [holders] * parts
        copies = [f"{operation.name}.copy{number}" for number in range(math.ceil(parts / most))]
        for copy in copies:
            self._node(copy, "buffer", words)
            for holder in holders:
                self._edge(holder, copy, words / len(holders))
        return [[copies[part * len(copies) // parts]] for part in range(parts)]

    def _node(self, name: str, kind: str, work: float) -> None:
        self.fabric.operation(kind)
        self.nodes.append(Node(name=name, kind=kind, stage=0, work=work))

    def _edge(self, source: str, target: str, words: float) -> None:
        self.edges.append(Edge(source=source, target=target, words=words))


def _staged(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Node]:
    """Return the nodes with their stage: that after the latest of their sources.

    Constants are in the stage before their reader.
    """
    inward: dict[str, list[str]] = {node.name: [] for node in nodes}
    for edge in edges:
        inward[edge.target].append(edge.source)
    stages: dict[str, int] = {}
    for name in TopologicalSorter(inward).static_order():
        sources = [source for source in inward[name] if not source.endswith(".weights")]
        stages[name] = max((stages[source] + 1 for source in sources), default=0)
    for edge in edges:
        if edge.source.endswith(".weights"):
            stages[edge.source] = max(0, stages[edge.target] - 1)
    return (node.model_copy(update={"stage": stages[node.name]}) for node in nodes)


def cut(name: str, operations: Sequence[Operation], fabric: Fabric, *, fill: float = 0.75) -> list[Graph]:
    """Return the subgraphs of a layer that fit a fabric: consecutive operations, each with buffers for what
    it reads.

    Args:   fill: share of the units of each type that a subgraph may take.
    Raises: FabricError: one operation alone does not fit.
    """
    graphs: list[Graph] = []
    start = 0
    while start < len(operations):
        end = start + 1
        best = _subgraph(f"{name}.{len(graphs)}", operations, start, end, fabric)
        _require_alone(operations[start], best, fabric)
        while end < len(operations):
            larger = _subgraph(f"{name}.{len(graphs)}", operations, start, end + 1, fabric)
            if not _fits(larger, fabric, fill):
                break
            best, end = larger, end + 1
        graphs.append(best)
        start = end
    return graphs


def _require_alone(operation: Operation, graph: Graph, fabric: Fabric) -> None:
    try:
        require_room(graph, fabric)
    except FabricError as error:
        raise FabricError(f"operation {operation.name} alone does not fit: {error}") from error


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
