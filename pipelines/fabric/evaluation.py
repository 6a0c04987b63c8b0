"""Measured throughput of placements: routed, then simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines.fabric.graphs import Graph
from pipelines.fabric.machine import Fabric
from pipelines.fabric.placing import Bools, Floats, Ints
from pipelines.fabric.routing import RouteOptions, Routing, problem_of, route, slowest_cycles
from pipelines.fabric.simulation import Simulated, simulate

SAMPLES, WINDOW = 256, 24
"""Samples at most, and those between which the flow must be steady."""

DEADLOCK_COST = 1e9
"""Cost of a placement that deadlocks: finite, for differences of costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A placement with its routes and what the simulator says.

    Attributes:
        throughput: normalised by the slowest stage, in 0 to 1 (section IV-A a); None after a deadlock.
    """

    units: tuple[int, ...]
    routing: Routing
    simulated: Simulated
    throughput: float | None


def measure(
    graph: Graph,
    fabric: Fabric,
    placements: Sequence[Sequence[int]],
    *,
    engine_folder: Path,
    samples: int = SAMPLES,
    window: int = WINDOW,
    options: RouteOptions | None = None,
    routings: Sequence[Routing] | None = None,
) -> list[Measured]:
    """Route and simulate placements of a graph.

    Args: routings: of the placements, where there are some already.

    Raises: FabricError: a placement is not legal, or an engine failed. ToolMissing: g++ is not installed.
    """
    if routings is None:
        routings = route(graph, fabric, placements, options, engine_folder=engine_folder)
    problems = [
        problem_of(graph, fabric, routing.routes, samples=samples, window=window) for routing in routings
    ]
    results = simulate(problems, engine_folder=engine_folder)
    slowest = slowest_cycles(graph, fabric)
    return [
        Measured(
            units=tuple(units),
            routing=routing,
            simulated=result,
            throughput=None if result.is_deadlocked else min(1.0, slowest / result.interval_cycles),
        )
        for units, routing, result in zip(placements, routings, results, strict=True)
    ]


class SimulatedCost:
    """Cost model for the annealer: -log of the simulated throughput; it simulates every proposal."""

    def __init__(self, graph: Graph, fabric: Fabric, *, engine_folder: Path) -> None:
        self.graph, self.fabric, self.engine_folder = graph, fabric, engine_folder

    def start(self, units: Ints) -> Floats:
        """(chains,) costs of whole placements; see `CostModel`."""
        results = measure(self.graph, self.fabric, units.tolist(), engine_folder=self.engine_folder)
        return np.array([DEADLOCK_COST if not r.throughput else -np.log(r.throughput) for r in results])

    def propose(self, moved: Ints, units: Ints) -> Floats:
        """(chains,) costs after one move per chain; see `CostModel`."""
        del moved
        return self.start(units)

    def accept(self, accepted: Bools) -> None:
        """Nothing: the model keeps no placements."""
        del accepted
