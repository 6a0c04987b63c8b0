"""The network as a cost model of the annealer: a batch of moves shares one call of router and network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from models.pnr_gnn.network import PlacementPredictor, tensors_of, with_routes
from pipelines.fabric.features import graph_features
from pipelines.fabric.graphs import Graph
from pipelines.fabric.heuristic import routed_costs
from pipelines.fabric.machine import Fabric
from pipelines.fabric.placing import Bools, Floats, Ints
from pipelines.fabric.routing import Features, Router

SMOOTH_SHARE = 1.0
"""Weight of the smooth maximum of loads in the cost."""


class LearnedCost:
    """-log of the predicted throughput, and a share of the smooth maximum of the loads.

    The prediction is the same for many placements with one load in common; the second term tells them apart.
    """

    def __init__(
        self, predictor: PlacementPredictor, graph: Graph, fabric: Fabric, *, engine_folder: Path
    ) -> None:
        self.predictor, self.features = predictor, graph_features(graph, fabric)
        self.router = Router(graph, fabric, engine_folder=engine_folder)
        torch.set_num_threads(1)  # the matrices are small: a second thread costs more than it gives

    def start(self, units: Ints) -> Floats:
        self.tensors = tensors_of(self.features, self.predictor.vocabulary, len(units))
        return self._costs(self.router.start(units))

    def propose(self, moved: Ints, units: Ints) -> Floats:
        return self._costs(self.router.propose(moved, units))

    def accept(self, accepted: Bools) -> None:
        self.router.accept(accepted)

    def _costs(self, routes: Features) -> Floats:
        with torch.inference_mode():
            answers = self.predictor.network(with_routes(self.tensors, self.features, routes))
        return SMOOTH_SHARE * routed_costs(routes) - answers.numpy().astype(np.float64)
