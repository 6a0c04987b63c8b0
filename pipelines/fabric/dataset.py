"""Placed graphs as rows: layers on a fabric, annealed with drawn parameters, routed and simulated."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.tools import stopwatch
from pipelines.base.workers import Outcome, ProgressCallback, run_all
from pipelines.fabric.errors import FabricError
from pipelines.fabric.evaluation import LEAST_SHARE, Measured, measure
from pipelines.fabric.families import layer_operations
from pipelines.fabric.features import RouteReader, graph_of_rows
from pipelines.fabric.graphs import Graph
from pipelines.fabric.groups import MODEL_FAMILIES, PlacementGroup
from pipelines.fabric.heuristic import HeuristicCost
from pipelines.fabric.layers import Operation, cut
from pipelines.fabric.machine import Fabric
from pipelines.fabric.placing import Annealed, Schedule, anneal
from pipelines.fabric.routing import ROUTE_FEATURES, Route, require_legal, service_cycles, slowest_cycles
from pipelines.schemas import (
    INFEASIBLE,
    OK,
    FabricEdgeRow,
    FabricGraphRow,
    FabricNodeRow,
    PlacementRow,
)

STEP = "fabric"
FOLDS = 5
VERSION = "3"
"""Raise it when the rows of a group change: families, compiler, annealer, heuristic, router or simulator."""
_ID_VERSION = "2"
"""Version of the ids of graphs, which follow from fabric and graph; draws of placements follow from them."""
_KIND, _ENGINES = "fabric", "engines"
_RANDOM_SHARE = 0.2
"""Share of placements that are random; the others are annealed for a drawn number of moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricTables:
    """Rows of a group, sorted by key."""

    graphs: list[FabricGraphRow]
    nodes: list[FabricNodeRow]
    edges: list[FabricEdgeRow]
    placements: list[PlacementRow]


def make_placements(
    group: PlacementGroup, fabric: Fabric, *, cache: ContentCache, workers: int, on_progress: ProgressCallback
) -> FabricTables:
    """Place, route and simulate the graphs of a group; what does not fit or deadlocks is a row.

    Args: fabric: the machine that the group names.
    """
    draws = [
        (family, seed)
        for family in group.families
        for seed in range(1 if family in MODEL_FAMILIES else group.draws)
    ]
    made = run_all(
        STEP,
        draws,
        partial(_layer, group=group, fabric=fabric, cache=cache),
        workers=workers,
        in_threads=False,
        on_progress=on_progress,
    )
    graphs = [FabricGraphRow(**row) for rows in made for row in rows["graphs"]]
    nodes = [FabricNodeRow(**row) for rows in made for row in rows["nodes"]]
    edges = [FabricEdgeRow(**row) for rows in made for row in rows["edges"]]
    placements = [PlacementRow(**row) for rows in made for row in rows["placements"]]
    return FabricTables(
        graphs=sorted({g.graph_id: g for g in graphs}.values(), key=lambda row: row.graph_id),
        nodes=sorted({(n.graph_id, n.node): n for n in nodes}.values(), key=lambda r: (r.graph_id, r.node)),
        edges=sorted({(e.graph_id, e.edge): e for e in edges}.values(), key=lambda r: (r.graph_id, r.edge)),
        placements=sorted({p.placement_id: p for p in placements}.values(), key=lambda row: row.placement_id),
    )


def group_key(group: PlacementGroup, fabric: Fabric) -> str:
    """Return the hash of all that the rows of a group follow from."""
    return content_hash(VERSION, asdict(group) | {"fabric": fabric.model_dump(mode="json")})


_Rows = dict[str, list[dict[str, Any]]]


def _layer(
    draw: tuple[str, int], *, group: PlacementGroup, fabric: Fabric, cache: ContentCache
) -> Outcome[_Rows]:
    """Return the rows of one layer, from the cache where it has them."""
    family, seed = draw
    machine = fabric.model_dump(mode="json")
    key = content_hash(VERSION, machine, family, seed, group.name, group.placements, group.moves, group.seed)
    rows: _Rows = cache.cached(_KIND, key, lambda: _make_layer(family, seed, group, fabric, cache), dict)
    failed = any(row["status"] != OK for row in rows["graphs"])
    return Outcome(result=rows, failed=failed, name=f"{family} {seed}")


def _make_layer(family: str, seed: int, group: PlacementGroup, fabric: Fabric, cache: ContentCache) -> _Rows:
    operations = layer_operations(family, seed)
    layer = layer_hash(operations)
    rows: _Rows = {"graphs": [], "nodes": [], "edges": [], "placements": []}
    name = family if family in MODEL_FAMILIES else f"{family}_{seed:04d}"
    try:
        graphs = cut(name, operations, fabric)
    except FabricError as error:
        rows["graphs"].append(_infeasible_row(family, name, layer, operations, group, fabric, str(error)))
        return rows
    for graph in graphs:
        row = _graph_row(family, layer, graph, group, fabric)
        rows["graphs"].append(asdict(row))
        rows["nodes"] += _node_rows(row.graph_id, graph, fabric)
        rows["edges"] += _edge_rows(row.graph_id, graph)
        rows["placements"] += _placement_rows(row.graph_id, graph, group, fabric, cache)
    return rows


def layer_hash(operations: Sequence[Operation]) -> str:
    """Return the hash of a layer's operations, the same on every fabric."""
    fields = ({k: v for k, v in asdict(operation).items() if k != "shares" or v} for operation in operations)
    return content_hash(list(fields))


def fold_of(layer: str) -> int:
    """Return the part of the split by graph of a layer, by its hash."""
    return int(layer[:8], 16) % FOLDS


def _graph_row(
    family: str, layer: str, graph: Graph, group: PlacementGroup, fabric: Fabric
) -> FabricGraphRow:
    return FabricGraphRow(
        graph_id=content_hash(_ID_VERSION, fabric.model_dump(mode="json"), graph.model_dump(mode="json")),
        group=group.name,
        fabric=fabric.name,
        configuration=fabric.model_dump_json(),
        family=family,
        layer=layer,
        fold=fold_of(layer),
        name=graph.name,
        status=OK,
        reason=None,
        node_count=len(graph.nodes),
        edge_count=len(graph.edges),
        stage_count=max(node.stage for node in graph.nodes) + 1,
        slowest_cycles=slowest_cycles(graph, fabric),
    )


def _infeasible_row(
    family: str,
    name: str,
    layer: str,
    operations: Sequence[Operation],
    group: PlacementGroup,
    fabric: Fabric,
    reason: str,
) -> dict[str, Any]:
    row = FabricGraphRow(
        graph_id=content_hash(_ID_VERSION, fabric.model_dump(mode="json"), name, layer),
        group=group.name,
        fabric=fabric.name,
        configuration=fabric.model_dump_json(),
        family=family,
        layer=layer,
        fold=fold_of(layer),
        name=name,
        status=INFEASIBLE,
        reason=reason,
        node_count=len(operations),
        edge_count=sum(len(operation.inputs) for operation in operations),
        stage_count=0,
        slowest_cycles=None,
    )
    return asdict(row)


def _node_rows(graph_id: str, graph: Graph, fabric: Fabric) -> list[dict[str, Any]]:
    services = service_cycles(graph, fabric)
    return [
        {
            "graph_id": graph_id,
            "node": number,
            "name": node.name,
            "kind": node.kind,
            "unit_type": fabric.operation(node.kind).unit,
            "stage": node.stage,
            "work": node.work,
            "service_cycles": services[number],
            "delay_cycles": fabric.operation(node.kind).delay_cycles,
        }
        for number, node in enumerate(graph.nodes)
    ]


def _edge_rows(graph_id: str, graph: Graph) -> list[dict[str, Any]]:
    numbers = graph.numbers
    return [
        {
            "graph_id": graph_id,
            "edge": number,
            "source": numbers[edge.source],
            "target": numbers[edge.target],
            "words": edge.words,
        }
        for number, edge in enumerate(graph.edges)
    ]


def _placement_rows(
    graph_id: str, graph: Graph, group: PlacementGroup, fabric: Fabric, cache: ContentCache
) -> list[dict[str, Any]]:
    begin = stopwatch()
    schedules = _draw_schedules(group, random.Random(f"{graph_id} {group.seed}"))  # noqa: S311 - a draw
    heuristic = HeuristicCost(graph, fabric)
    annealed = anneal(graph, fabric, heuristic, schedules, seed=int(graph_id[:8], 16) + group.seed)
    estimates = heuristic.throughput(annealed.units)
    engine_folder = cache.folder / _ENGINES
    results = measure(graph, fabric, annealed.units.tolist(), engine_folder=engine_folder)
    wall_s = (stopwatch() - begin) / len(results)
    return [
        _placement_row(graph_id, fabric, schedules[n], annealed, n, result, float(estimates[n]), wall_s)
        for n, result in enumerate(results)
    ]


def _draw_schedules(group: PlacementGroup, rng: random.Random) -> list[Schedule]:
    """Draw the random parameters of the annealer (section IV-A a)."""
    schedules: list[Schedule] = []
    for number in range(group.placements):
        is_random = number < _RANDOM_SHARE * group.placements
        hot = 10.0 ** rng.uniform(-2.0, 0.0)
        schedules.append(
            Schedule(
                moves=0 if is_random else round(group.moves ** rng.uniform(0.3, 1.0)),
                hot=hot,
                cold=hot * 10.0 ** rng.uniform(-3.0, 0.0),
                directed=rng.choice((0.0, 0.25, 0.5, 0.75)),
            )
        )
    return schedules


def _placement_row(
    graph_id: str,
    fabric: Fabric,
    schedule: Schedule,
    annealed: Annealed,
    number: int,
    result: Measured,
    estimate: float,
    wall_s: float,
) -> dict[str, Any]:
    is_deadlocked = result.throughput is None
    row = PlacementRow(
        placement_id=content_hash(graph_id, result.units),
        graph_id=graph_id,
        moves=schedule.moves,
        hot=schedule.hot,
        cold=schedule.cold,
        directed=schedule.directed,
        units=" ".join(map(str, result.units)),
        routes=encode_routes(result.routing.routes, fabric),
        overuse=result.routing.overuse,
        status=INFEASIBLE if is_deadlocked else OK,
        reason=f"deadlock after {result.simulated.cycles} cycles" if is_deadlocked else None,
        throughput=result.throughput,
        interval_cycles=None if is_deadlocked else result.simulated.interval_cycles,
        heuristic_cost=float(annealed.costs[number]),
        heuristic_throughput=estimate,
        wall_s=wall_s,
    )
    return asdict(row)


def decision_problems(
    configuration: str,
    nodes: Sequence[Mapping[str, Any]],
    edges: Sequence[Mapping[str, Any]],
    placements: Sequence[Mapping[str, Any]],
) -> dict[str, str]:
    """Find errors in rows of placements of one graph; return one per wrong placement.

    Args: configuration: JSON of the fabric. nodes, edges: rows of the graph, in order of their numbers.
    """
    fabric = Fabric.model_validate_json(configuration)
    graph = graph_of_rows("graph", nodes, edges)
    reader = RouteReader(graph, fabric)
    problems: dict[str, str] = {}
    for row in placements:
        try:
            features = reader.read(row["units"], row["routes"])
            require_legal(graph, fabric, [int(unit) for unit in row["units"].split()])
        except FabricError as error:
            problems[row["placement_id"]] = str(error)
            continue
        highest = max(1.0, float(features[:, _LOADS].max(initial=0.0)))
        if (row["throughput"] or 0.0) * highest > _MOST:
            problems[row["placement_id"]] = f"throughput {row['throughput']} with a load of {highest:.3f}"
    return problems


_LOADS = [ROUTE_FEATURES.index("highest_load"), ROUTE_FEATURES.index("port_load")]
_MOST = (1.0 + 1e-6) / LEAST_SHARE
"""Throughput times the highest load: what `measure` leaves, and the rounding of features."""


def encode_routes(routes: Sequence[Route], fabric: Fabric) -> str:
    """Return the steps of every route, as letters n, e, s, w; a route without steps is a minus."""
    letters = {-fabric.columns: "n", 1: "e", fabric.columns: "s", -1: "w"}
    ends = fabric.links.ends
    return " ".join(
        "".join(letters[ends[link][1] - ends[link][0]] for link in route[1:-1]) or "-" for route in routes
    )
