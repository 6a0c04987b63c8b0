"""Estimated load of links and ports before routing, followed from move to move.

Half of an edge's words go along each of the two paths with at most one turn.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from pipelines.fabric.graphs import Graph
from pipelines.fabric.machine import Fabric
from pipelines.fabric.placing import Bools, Floats, Ints
from pipelines.fabric.routing import slowest_cycles


@dataclass(frozen=True, slots=True)
class PathTable:
    """Links of both paths between any two units.

    Attributes:
        links: (units, units, 2, hops) link numbers; the number of links where a path has ended.
        hops: (units, units) links between the two switches.
    """

    links: Ints
    hops: Ints


def path_table(fabric: Fabric) -> PathTable:
    """Return the links of the two paths with at most one turn, ports included, for every pair of units."""
    columns, count = fabric.columns, len(fabric.unit_types)
    number = {ends: link for link, ends in enumerate(fabric.links.ends) if ends[0] != ends[1]}
    longest = fabric.rows + columns - 2 + 2
    links = np.full((count, count, 2, longest), len(fabric.links.ends), np.int64)
    hops = np.zeros((count, count), np.int64)
    for source in range(count):
        for target in range(count):
            corners = (
                source // columns * columns + target % columns,
                target // columns * columns + source % columns,
            )
            for path, corner in enumerate(corners):
                switches = [*_straight(source, corner, columns), *_straight(corner, target, columns)[1:]]
                between = [number[ends] for ends in itertools.pairwise(switches)]
                links[source, target, path, : len(between) + 2] = (2 * source, *between, 2 * target + 1)
                hops[source, target] = len(between)
    return PathTable(links, hops)


def _straight(begin: int, end: int, columns: int) -> list[int]:
    """Return the switches from one to another of its row or column, both included."""
    step = (columns if begin % columns == end % columns else 1) * (1 if end >= begin else -1)
    return list(range(begin, end + step, step))


class LoadEstimate:
    """Estimated loads of the placements of a batch, as shares of the slowest stage's time.

    Attributes:
        loads: (chains, links + 1) of the current placements; the last column stands for no link.
    """

    def __init__(self, graph: Graph, fabric: Fabric) -> None:
        numbers = graph.numbers
        self.table = path_table(fabric)
        self.sources = np.array([numbers[e.source] for e in graph.edges], np.int64)
        self.targets = np.array([numbers[e.target] for e in graph.edges], np.int64)
        ports = 2 * len(fabric.unit_types)
        widths = np.full(len(fabric.links.ends) + 1, float(fabric.link_words))
        widths[:ports], widths[-1] = fabric.port_words, np.inf
        slowest = slowest_cycles(graph, fabric)
        words = np.array([edge.words for edge in graph.edges], np.float64)
        self.shares = words / slowest / 2
        self.widths = widths
        self.touching = _touching(len(graph.nodes), self.sources, self.targets)
        self.loads: Floats = np.zeros((0, len(widths)))

    def start(self, units: Ints) -> Floats:
        """Return the loads of whole placements, (chains, links + 1); they become the current ones."""
        edges = np.tile(np.arange(len(self.shares)), (len(units), 1))
        self.loads = self._added(edges, units)
        self.units = units.copy()
        return self.loads

    def propose(self, moved: Ints, units: Ints) -> Floats:
        """Return the loads after one move per chain, (chains, links + 1); only moved edges change."""
        edges = self._edges_of(moved)
        self.proposed = self.loads + self._added(edges, units) - self._added(edges, self.units)
        self.proposed_units = units
        return self.proposed

    def accept(self, accepted: Bools) -> None:
        """Make proposed placements the current ones."""
        self.loads[accepted] = self.proposed[accepted]
        self.units[accepted] = self.proposed_units[accepted]

    def _edges_of(self, moved: Ints) -> Ints:
        """Return (chains, most) edges at the moved operations, each once; -1 where there are fewer."""
        edges = self.touching[moved].reshape(len(moved), -1)
        edges.sort(axis=1)
        edges[:, 1:][edges[:, 1:] == edges[:, :-1]] = -1
        return edges

    def _added(self, edges: Ints, units: Ints) -> Floats:
        real = np.maximum(edges, 0)
        source = np.take_along_axis(units, self.sources[real], axis=1)
        target = np.take_along_axis(units, self.targets[real], axis=1)
        links = self.table.links[source, target]  # (chains, edges, 2, hops)
        shares = np.where(edges >= 0, self.shares[real], 0.0)
        flat = links + np.arange(len(units))[:, None, None, None] * len(self.widths)
        weights = np.broadcast_to(shares[:, :, None, None], links.shape)
        counted = np.bincount(flat.ravel(), weights.ravel(), len(units) * len(self.widths))
        return counted.reshape(len(units), -1) / self.widths


def _touching(nodes: int, sources: Ints, targets: Ints) -> Ints:
    """Return edges of every operation, (nodes + 1, most), -1 beyond its number; last row: no operation."""
    edges: list[list[int]] = [[] for _ in range(nodes + 1)]
    for number in range(len(sources)):
        for node in {int(sources[number]), int(targets[number])}:
            edges[node].append(number)
    most = max(1, *map(len, edges))
    return np.array([[*of, *[-1] * (most - len(of))] for of in edges], np.int64)
