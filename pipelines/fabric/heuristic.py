"""Heuristic cost model: rate of every operation alone, and estimated congestion (section IV-A b).

It knows the rates of operations, the widths of links and ports, and the units of a placement. It does not
know routes, buffers, latencies, or in which order packets share a link.
"""

from __future__ import annotations

import numpy as np

from pipelines.fabric.estimating import LoadEstimate
from pipelines.fabric.graphs import Graph
from pipelines.fabric.machine import Fabric
from pipelines.fabric.placing import Bools, Floats, Ints

SHARPNESS = 16
"""Order of the norm that stands for the highest load: it also falls when the second highest does."""


class HeuristicCost:
    """Cost model for the annealer: log of the estimated interval over that of the slowest stage."""

    def __init__(self, graph: Graph, fabric: Fabric) -> None:
        self.estimate = LoadEstimate(graph, fabric)

    def start(self, units: Ints) -> Floats:
        return _costs(self.estimate.start(units))

    def propose(self, moved: Ints, units: Ints) -> Floats:
        return _costs(self.estimate.propose(moved, units))

    def accept(self, accepted: Bools) -> None:
        self.estimate.accept(accepted)

    def throughput(self, units: Ints) -> Floats:
        """(placements,) estimated normalised throughput of (placements, nodes) units."""
        return 1.0 / np.maximum(1.0, self.estimate.start(units).max(axis=1))


def _costs(loads: Floats) -> Floats:
    """The slowest stage is a load of 1."""
    return np.log1p((np.maximum(loads, 0.0) ** SHARPNESS).sum(axis=1)) / SHARPNESS
