"""Which queues a flow goes through.

Belongs here: shortest paths and the choice among equal ones. Does not: what a flow carries.
"""

from pipelines.network.routing.shortest import ROUTINGS, Routing, route_flows

__all__ = ["ROUTINGS", "Routing", "route_flows"]
