"""Heuristic cost model: rate of every operation alone, and estimated congestion (section IV-A b).

It knows the rates of operations, the widths of links and ports, and the units of a placement. It does not
know routes, buffers, latencies, or in which order packets share a link.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipelines.fabric.estimating import LoadEstimate
from pipelines.fabric.graphs import Graph
from pipelines.fabric.machine import Fabric
from pipelines.fabric.placing import Bools, Floats, Ints
from pipelines.fabric.routing import ROUTE_FEATURES, Features, Router

SHARPNESS = 16
"""Order of the norm that stands for the highest load: it also falls when the second highest does."""


class HeuristicCost:
    """Cost model for the annealer: log of the estimated interval over that of the slowest stage."""

    def __init__(self, graph: Graph, fabric: Fabric) -> None:
        self.estimate = LoadEstimate(graph, fabric)

    def start(self, units: Ints) -> Floats:
        """Return (chains,) costs of whole placements; see `CostModel`."""
        return _costs(self.estimate.start(units))

    def propose(self, moved: Ints, units: Ints) -> Floats:
        """Return (chains,) costs after one move per chain; see `CostModel`."""
        return _costs(self.estimate.propose(moved, units))

    def accept(self, accepted: Bools) -> None:
        """Make proposed placements the current ones."""
        self.estimate.accept(accepted)

    def throughput(self, units: Ints) -> Floats:
        """Return (placements,) estimated normalised throughput of (placements, nodes) units."""
        return 1.0 / np.maximum(1.0, self.estimate.start(units).max(axis=1))


def _costs(loads: Floats) -> Floats:
    """Return the slowest stage is a load of 1."""
    return np.log1p((np.maximum(loads, 0.0) ** SHARPNESS).sum(axis=1)) / SHARPNESS


class RoutedCost:
    """As `HeuristicCost`, with the loads of real routes: a stronger baseline that routes every move."""

    def __init__(self, graph: Graph, fabric: Fabric, *, engine_folder: Path) -> None:
        self.router = Router(graph, fabric, engine_folder=engine_folder)

    def start(self, units: Ints) -> Floats:
        """Return (chains,) costs of whole placements; see `CostModel`."""
        return routed_costs(self.router.start(units))

    def propose(self, moved: Ints, units: Ints) -> Floats:
        """Return (chains,) costs after one move per chain; see `CostModel`."""
        return routed_costs(self.router.propose(moved, units))

    def accept(self, accepted: Bools) -> None:
        """Make proposed placements the current ones."""
        self.router.accept(accepted)


def routed_costs(features: Features) -> Floats:
    """Return the smooth maximum of the loads of routes. features: (chains, edges, ROUTE_FEATURES)."""
    highest = np.maximum(features[:, :, _HIGHEST], features[:, :, _PORT]).astype(np.float64)
    return _costs(highest)


_HIGHEST, _PORT = ROUTE_FEATURES.index("highest_load"), ROUTE_FEATURES.index("port_load")
