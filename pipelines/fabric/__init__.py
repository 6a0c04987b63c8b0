"""Place and route on a reconfigurable dataflow fabric.

Belongs here: fabrics, dataflow graphs, placements, routes and their simulated throughput. Does not: learned
cost models.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipelines.fabric.errors import FabricError
from pipelines.fabric.groups import MODEL_FAMILIES, TRAINING_FAMILIES, PlacementGroup

if TYPE_CHECKING:
    from pipelines.fabric.evaluation import Measured, SimulatedCost, measure
    from pipelines.fabric.families import family_graphs
    from pipelines.fabric.graphs import Edge, Graph, Node, read_graph, require_acyclic, require_room
    from pipelines.fabric.heuristic import HeuristicCost
    from pipelines.fabric.layers import Operation, cut, lower
    from pipelines.fabric.machine import Fabric, OperationRate, read_fabric
    from pipelines.fabric.placing import Annealed, CostModel, Schedule, anneal, random_placements
    from pipelines.fabric.routing import (
        RouteOptions,
        Routing,
        problem_of,
        require_legal,
        route,
        service_cycles,
        slowest_cycles,
    )
    from pipelines.fabric.simulation import Flow, Problem, Simulated, simulate

__all__ = [
    "MODEL_FAMILIES",
    "TRAINING_FAMILIES",
    "Annealed",
    "CostModel",
    "Edge",
    "Fabric",
    "FabricError",
    "Flow",
    "Graph",
    "HeuristicCost",
    "Measured",
    "Node",
    "Operation",
    "OperationRate",
    "PlacementGroup",
    "Problem",
    "RouteOptions",
    "Routing",
    "Schedule",
    "Simulated",
    "SimulatedCost",
    "anneal",
    "cut",
    "family_graphs",
    "lower",
    "measure",
    "problem_of",
    "random_placements",
    "read_fabric",
    "read_graph",
    "require_acyclic",
    "require_legal",
    "require_room",
    "route",
    "service_cycles",
    "simulate",
    "slowest_cycles",
]

_MODULES = (
    *("machine", "graphs", "layers", "families", "placing", "simulation", "routing", "heuristic"),
    "evaluation",
)


def __getattr__(name: str) -> Any:
    """Return the names of the engine's modules, which the configuration does not need."""
    for module in _MODULES if name in __all__ else ():
        loaded = import_module(f"{__name__}.{module}")
        if hasattr(loaded, name):
            return getattr(loaded, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
