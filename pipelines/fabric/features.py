"""Features of placed graphs for learned cost models: of operations, of edges, and of their routes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.fabric.errors import FabricError
from pipelines.fabric.graphs import Edge, Graph, Node
from pipelines.fabric.machine import Fabric
from pipelines.fabric.routing import Features, Ints, service_cycles, slowest_cycles

NODE_NUMBERS = ("service", "delay")
"""Features of an operation: service time and delay, as shares of the slowest stage's time."""
EDGE_NUMBERS = ("link_load", "port_load")
"""Features of an edge: its own load of a link and of a port, as shares of the slowest stage's time."""
_STEPS = {"n": (-1, 0), "e": (0, 1), "s": (1, 0), "w": (0, -1)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphFeatures:
    """What a cost model may know of a graph on a fabric before it is placed.

    Attributes:
        kinds: of operation, by node. is_memory: (nodes,) whether a memory unit does it. stages: (nodes,).
        nodes: (nodes, NODE_NUMBERS). sources, targets: (edges,) operations. edges: (edges, EDGE_NUMBERS).
    """

    kinds: tuple[str, ...]
    is_memory: NDArray[np.bool_]
    stages: Ints
    nodes: Features
    sources: Ints
    targets: Ints
    edges: Features


def graph_features(graph: Graph, fabric: Fabric) -> GraphFeatures:
    """Return the features of a graph.

    Raises: FabricError: an operation is unknown, or takes too long.
    """
    slowest, numbers = slowest_cycles(graph, fabric), graph.numbers
    operations = [fabric.operation(node.kind) for node in graph.nodes]
    services = np.array(service_cycles(graph, fabric), np.float64)
    delays = np.array([operation.delay_cycles for operation in operations], np.float64)
    words = np.array([edge.words for edge in graph.edges], np.float64)
    loads = [words / fabric.link_words, words / fabric.port_words]
    return GraphFeatures(
        kinds=tuple(node.kind for node in graph.nodes),
        is_memory=np.array([operation.unit == "memory" for operation in operations]),
        stages=np.array([node.stage for node in graph.nodes], np.int64),
        nodes=(np.stack([services, delays], axis=1) / slowest).astype(np.float32),
        sources=np.array([numbers[edge.source] for edge in graph.edges], np.int64),
        targets=np.array([numbers[edge.target] for edge in graph.edges], np.int64),
        edges=(np.stack(loads, axis=1) / slowest).astype(np.float32),
    )


class RouteReader:
    """Route features of decisions as table `placements` writes them; equal to those of the router."""

    def __init__(self, graph: Graph, fabric: Fabric) -> None:
        self.fabric = fabric
        self.features = graph_features(graph, fabric)
        ends = fabric.links.ends
        self.link_between = {end: link for link, end in enumerate(ends) if end[0] != end[1]}

    def read(self, units: str, routes: str) -> Features:
        """Return the features of one placement's routes: (edges, ROUTE_FEATURES).

        Args:   units: number of the unit of every operation. routes: letters of every edge.
        Raises: FabricError: they are not a placement and routes of the graph.
        """
        places = self._units(units)
        links = self._links(places, routes)
        flat = np.array([link for route in links for link in route], np.int64)
        lengths = np.array([len(route) for route in links], np.int64)
        owner = np.repeat(np.arange(len(links)), lengths)
        count = len(self.fabric.links.ends)
        own = self.features.edges.astype(np.float64)
        use = np.zeros(count)
        np.add.at(use, flat, own[owner, 0])
        sharers = np.bincount(flat, minlength=count)
        outward, inward = 2 * places[self.features.sources], 2 * places[self.features.targets] + 1
        use += np.bincount(outward, own[:, 1], count) + np.bincount(inward, own[:, 1], count)
        result = np.zeros((len(links), 5), np.float64)
        result[:, 0] = lengths
        np.maximum.at(result[:, 1], owner, use[flat])
        result[:, 2] = np.bincount(owner, use[flat], len(links))
        np.maximum.at(result[:, 3], owner, sharers[flat])
        result[:, 4] = np.maximum(use[outward], use[inward])
        return result.astype(np.float32)

    def _units(self, text: str) -> Ints:
        words = text.split()
        count, accepted = len(self.features.kinds), len(self.fabric.unit_types)
        if len(words) != count or not all(word.isdecimal() and int(word) < accepted for word in words):
            raise FabricError(f"not a placement: {text[:60]!r}; accepted: {count} units below {accepted}")
        return np.array([int(word) for word in words], np.int64)

    def _links(self, units: Ints, text: str) -> list[list[int]]:
        words = text.split()
        if len(words) != len(self.features.sources):
            raise FabricError(
                f"not routes of the graph: {len(words)}; it has {len(self.features.sources)} edges"
            )
        starts, ends = units[self.features.sources].tolist(), units[self.features.targets].tolist()
        return [self._walk(start, end, word) for start, end, word in zip(starts, ends, words, strict=True)]

    def _walk(self, start: int, end: int, word: str) -> list[int]:
        columns, at = self.fabric.columns, start
        links: list[int] = []
        for letter in "" if word == "-" else word:
            row, column = _STEPS.get(letter, (0, 0))
            after = at + row * columns + column
            if (at, after) not in self.link_between:
                raise FabricError(
                    f"not a route: {word} from unit {start}; accepted: letters n, e, s, w, or -"
                )
            links.append(self.link_between[at, after])
            at = after
        if at != end:
            raise FabricError(f"route {word} from unit {start} ends at {at}; expected: {end}")
        return links


def graph_of_rows(name: str, nodes: Iterable[Mapping[str, Any]], edges: Iterable[Mapping[str, Any]]) -> Graph:
    """Return a graph of its rows in tables `fabric_nodes` and `fabric_edges`, in order of their numbers."""
    operations: tuple[Node, ...] = tuple(
        Node(name=row["name"], kind=row["kind"], stage=row["stage"], work=row["work"]) for row in nodes
    )
    names = [node.name for node in operations]
    between = tuple(
        Edge(source=names[int(row["source"])], target=names[int(row["target"])], words=row["words"])
        for row in edges
    )
    return Graph(name=name, nodes=operations, edges=between)
