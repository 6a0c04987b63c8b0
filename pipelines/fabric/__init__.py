"""Place and route on a reconfigurable dataflow fabric.

Belongs here: fabrics, dataflow graphs, placements, routes and their simulated throughput. Does not: learned
cost models.
"""

from pipelines.fabric.errors import FabricError
from pipelines.fabric.simulation import Flow, Problem, Simulated, simulate

__all__ = ["FabricError", "Flow", "Problem", "Simulated", "simulate"]
