"""Place and route on a reconfigurable dataflow fabric.

Belongs here: fabrics, dataflow graphs, placements, routes and their simulated throughput. Does not: learned
cost models.
"""

from pipelines.fabric.errors import FabricError
from pipelines.fabric.graphs import Edge, Graph, Node, read_graph, require_acyclic, require_room
from pipelines.fabric.machine import Fabric, OperationRate, read_fabric
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
    "Edge",
    "Fabric",
    "FabricError",
    "Flow",
    "Graph",
    "Node",
    "OperationRate",
    "Problem",
    "RouteOptions",
    "Routing",
    "Simulated",
    "problem_of",
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
