"""Tables of place and route: a graph on a fabric, its operations and edges, a placement of it."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import STATUSES, column, table


@table("fabric_graphs", stage="fabric", checked_by={})
@dataclass(frozen=True, slots=True, kw_only=True)
class FabricGraphRow:
    """A dataflow graph for a fabric: a layer of a family, or a subgraph of one that fits."""

    graph_id: str = column("Hash of the fabric, the graph and the compiler's version.", key=True)
    group: str = column("Group of the configuration that it belongs to.")
    fabric: str = column("Name of the fabric.")
    configuration: str = column("JSON object of the fabric.")
    family: str = column("Family of layers, or model.")
    layer: str = column("Hash of the layer's operations, equal for every fabric.")
    fold: int = column("Part of the split by graph, 0 to 4; all graphs of a layer are in one.")
    name: str = column("Name of the graph.")
    status: str = column("Outcome.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    node_count: int = column("Operations.")
    edge_count: int = column("Edges.")
    stage_count: int = column("Pipeline stages.")
    slowest_cycles: int | None = column(
        "Cycles per sample of the slowest operation, the theoretical bound.", unit="cycles"
    )


@table("fabric_nodes", stage="fabric", checked_by={})
@dataclass(frozen=True, slots=True, kw_only=True)
class FabricNodeRow:
    """An operation of a graph."""

    graph_id: str = column("Graph.", key=True, references="fabric_graphs")
    node: int = column("Number of the operation in its graph.", key=True)
    name: str = column("Name of the operation.")
    kind: str = column("Kind of operation.")
    unit_type: str = column("Type of unit that does it.", choices=("compute", "memory"))
    stage: int = column("Pipeline stage, from 0.")
    work: float = column("Operations per sample.")
    service_cycles: int = column("Cycles per sample on its unit.", unit="cycles")
    delay_cycles: int = column("From the end of a sample's work to its output.", unit="cycles")


@table("fabric_edges", stage="fabric", checked_by={})
@dataclass(frozen=True, slots=True, kw_only=True)
class FabricEdgeRow:
    """Data between two operations of a graph."""

    graph_id: str = column("Graph.", key=True, references="fabric_graphs")
    edge: int = column("Number of the edge in its graph.", key=True)
    source: int = column("Operation that sends.")
    target: int = column("Operation that receives.")
    words: float = column("Words per sample.")


@table(
    "placements",
    stage="fabric",
    group="placements",
    card=("throughput", "heuristic_throughput", "overuse"),
    checked_by={
        "units routes": "every row: legal units, and routes that join them",
        "throughput interval_cycles": "tests: a simulator that steps through every cycle",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRow:
    """A placed and routed graph, its simulated throughput, and the heuristic's estimate."""

    placement_id: str = column("Hash of the graph, the placement and the engines' version.", key=True)
    graph_id: str = column("Graph.", references="fabric_graphs")
    moves: int = column("Moves of the annealing that it came from; 0 for a random placement.")
    hot: float = column("First temperature of the annealing.")
    cold: float = column("Last temperature of the annealing.")
    directed: float = column("Share of moves towards an operation's neighbours.")
    units: str = column("Unit of every operation, numbers in order.")
    routes: str = column("Steps between switches of every edge: north, east, south, west; edges by blanks.")
    overuse: float = column("Load of links beyond the router's limit, summed.")
    status: str = column("Outcome of the simulation.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    throughput: float | None = column("Simulated throughput over that of the slowest operation, 0 to 1.")
    interval_cycles: float | None = column("Simulated cycles per sample.", unit="cycles")
    heuristic_cost: float = column("Cost that the annealing minimised.")
    heuristic_throughput: float = column("Normalised throughput by the heuristic.")
    wall_s: float | None = column(
        "Elapsed time of annealing, routing and simulation, per placement.", unit="s", measured=True
    )
