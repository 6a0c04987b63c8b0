"""Placed graphs of the tables as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.reference_sets import Vector, reference_set_of, relative_errors
from models.tasks import DatasetError, Reference, ReferenceSet, table_files
from pipelines.fabric import MODEL_FAMILIES, TRAINING_FAMILIES
from pipelines.fabric.features import GraphFeatures, RouteReader, graph_of_rows
from pipelines.fabric.graphs import Graph
from pipelines.fabric.machine import Fabric
from pipelines.schemas import OK, fill_columns, read_arrow, table_spec


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedGraph:
    """A graph with its placements.

    Attributes:
        family, layer, fold: as table `fabric_graphs` has them.
        routes: (placements, edges, ROUTE_FEATURES). throughput, heuristic: (placements,), normalised.
    """

    graph_id: str
    group: str
    family: str
    layer: str
    fold: int
    graph: Graph
    fabric: Fabric
    features: GraphFeatures
    routes: NDArray[np.float32]
    throughput: NDArray[np.float64]
    heuristic: NDArray[np.float64]


def training_graphs(graphs: Sequence[PlacedGraph], fold: int) -> list[PlacedGraph]:
    """Return graphs of building blocks outside a fold, without those that equal one in it or one of a model.

    Drawn layers may coincide: three of 100 MHA layers have the sizes of BERT-large.
    """
    blocks = [graph for graph in graphs if graph.family in TRAINING_FAMILIES]
    held_out = {graph.graph.shape for graph in graphs if graph.family in MODEL_FAMILIES or graph.fold == fold}
    return [graph for graph in blocks if graph.fold != fold and graph.graph.shape not in held_out]


def read_placed(
    folders: Sequence[Path],
    *,
    fabric: str | None = None,
    groups: Sequence[str] = (),
    folds: Sequence[int] = (),
) -> list[PlacedGraph]:
    """Read the graphs with placements whose simulation is ok, in order of their ids.

    Args:   fabric, groups, folds: keep those only; all when empty.
    Raises: DatasetError: a table is missing.
    """
    chosen = [
        row
        for row in _rows(folders, "fabric_graphs")
        if row["status"] == OK
        and (fabric is None or row["fabric"] == fabric)
        and (not groups or row["group"] in groups)
        and (not folds or row["fold"] in folds)
    ]
    ids = {row["graph_id"] for row in chosen}
    nodes, edges, placements = (
        _by_graph(folders, table, ids) for table in ("fabric_nodes", "fabric_edges", "placements")
    )
    return [
        _placed(row, nodes[row["graph_id"]], edges[row["graph_id"]], placements[row["graph_id"]])
        for row in sorted(chosen, key=lambda row: row["graph_id"])
        if edges[row["graph_id"]] and placements[row["graph_id"]]
    ]


def _rows(folders: Sequence[Path], table: str) -> list[dict[str, Any]]:
    rows = [
        row
        for folder in folders
        for path in table_files(folder, table)
        for row in fill_columns(read_arrow(path), table_spec(table).schema()).to_pylist()
    ]
    if not rows:
        raise DatasetError(f"no rows in table {table} ({', '.join(map(str, folders))})")
    return rows


def _by_graph(folders: Sequence[Path], table: str, ids: set[str]) -> dict[str, list[dict[str, Any]]]:
    rows: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _rows(folders, table):
        if row["graph_id"] in ids and row.get("status", OK) == OK:
            rows[row["graph_id"]].append(row)
    return rows


def _placed(
    row: dict[str, Any],
    nodes: list[dict[str, Any]],
    edges: list[dict[str, Any]],
    placements: list[dict[str, Any]],
) -> PlacedGraph:
    fabric = Fabric.model_validate_json(row["configuration"])
    nodes.sort(key=lambda node: node["node"])
    edges.sort(key=lambda edge: edge["edge"])
    graph = graph_of_rows(row["name"], nodes, edges)
    reader = RouteReader(graph, fabric)
    return PlacedGraph(
        graph_id=row["graph_id"],
        group=row["group"],
        family=row["family"],
        layer=row["layer"],
        fold=row["fold"],
        graph=graph,
        fabric=fabric,
        features=reader.features,
        routes=np.stack([reader.read(p["units"], p["routes"]) for p in placements]),
        throughput=np.array([p["throughput"] for p in placements], np.float64),
        heuristic=np.array([p["heuristic_throughput"] for p in placements], np.float64),
    )


def placement_reference(reference: Reference) -> ReferenceSet:
    """Return placements; a graph's error is the mean over its placements, the baseline is the heuristic."""
    graphs = reference_graphs(reference)

    def score(predictor: Any) -> Vector:
        return np.array(
            [relative_errors(predictor.throughput(g.features, g.routes), g.throughput).mean() for g in graphs]
        )

    baseline = np.array([relative_errors(g.heuristic, g.throughput).mean() for g in graphs])
    groups = {graph.graph_id: graph.layer for graph in graphs}
    return reference_set_of([graph.graph_id for graph in graphs], groups, baseline, score)


def reference_graphs(reference: Reference) -> list[PlacedGraph]:
    """Read the graphs of parts: a group, or a group and a fold."""
    graphs: dict[str, PlacedGraph] = {}
    for part in reference.parts:
        group, *folds = part.split()
        chosen = read_placed([reference.folder], groups=[group], folds=[int(fold) for fold in folds])
        graphs |= {graph.graph_id: graph for graph in chosen}
    return [graphs[key] for key in sorted(graphs)]
