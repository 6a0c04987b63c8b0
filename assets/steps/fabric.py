"""Place and route: graphs on fabrics, and their placements with simulated throughput."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from assets.checks import CheckedFile, CheckRule
from assets.engines import FABRIC
from assets.label_settings import label_options
from assets.settings import CONFIGURATION_FOLDER, Groups, Listener, Settings
from assets.step import Output, Partitioning, Step
from pipelines.fabric import MODEL_FAMILIES, PlacementGroup
from pipelines.schemas import OK

if TYPE_CHECKING:
    from pipelines.fabric import Fabric

FABRICS = CONFIGURATION_FOLDER / "fabric"


class Placements(Groups[PlacementGroup]):
    """Groups of placements."""


def fabric_of(group: PlacementGroup) -> Fabric:
    """Read the description of the machine that a group names.

    Raises: FabricError: there is none, or it is not acceptable.
    """
    from pipelines.fabric import read_fabric  # lazy import: the engine, which the configuration does not need

    return read_fabric(FABRICS / f"{group.fabric}.yaml")


def require_groups(settings: Settings) -> None:
    """Check the machine of every group, before work begins.

    Raises: FabricError: a fabric is not acceptable.
    """
    for group in settings.group(Placements).groups.values():
        fabric_of(group)


def make_fabric(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the graphs of a group, their operations and edges, and their placements."""
    from pipelines.fabric.dataset import make_placements

    group = settings.group(Placements).named(partition)
    tables = make_placements(
        group,
        fabric_of(group),
        cache=settings.cache,
        workers=label_options(settings).workers,
        on_progress=listen,
    )
    return Output(
        rows={
            "fabric_graphs": tables.graphs,
            "fabric_nodes": tables.nodes,
            "fabric_edges": tables.edges,
            "placements": tables.placements,
        }
    )


def _version(settings: Settings, partition: str) -> str:
    from pipelines.fabric.dataset import group_key

    group = settings.group(Placements).named(partition)
    return group_key(group, fabric_of(group))


def impossible_throughputs(file: CheckedFile) -> list[str]:
    """List ok placements with a throughput outside of 0 to 1; others with one or without a reason."""
    return [
        f"throughput {row['throughput']} of a placement with status {row['status']}: {row['placement_id']}; "
        "accepted: above 0, at most 1 when ok, none and a reason otherwise"
        for row in file.rows
        if (
            not 0 < (row["throughput"] or 0) <= 1
            if row["status"] == OK
            else row["throughput"] is not None or row["reason"] is None
        )
    ]


def illegal_placements(file: CheckedFile) -> list[str]:
    """Return placements with illegal units, routes that do not join their ends, or too high a throughput."""
    from pipelines.fabric.dataset import decision_problems

    graphs = {row["graph_id"]: row for row in file.neighbour("fabric_graphs")}
    nodes, edges = _parts_by_graph(file)
    problems: list[str] = []
    for graph_id, rows in _by_graph(file.rows).items():
        graph = graphs[graph_id]
        wrong = decision_problems(graph["configuration"], nodes[graph_id], edges[graph_id], rows)
        problems += [f"{problem}: {placement}" for placement, problem in wrong.items()]
    return problems


def _parts_by_graph(file: CheckedFile) -> list[_Grouped]:
    """Return operations, and edges, of every graph in order of their numbers."""
    return [
        _by_graph(sorted(file.neighbour(table), key=lambda row: row[number]))
        for table, number in (("fabric_nodes", "node"), ("fabric_edges", "edge"))
    ]


_Grouped = defaultdict[str, list[Mapping[str, Any]]]


def _by_graph(rows: Iterable[Mapping[str, Any]]) -> _Grouped:
    grouped: _Grouped = defaultdict(list)
    for row in rows:
        grouped[row["graph_id"]].append(row)
    return grouped


def split_layers(file: CheckedFile) -> list[str]:
    """Return the layers whose graphs are in several folds."""
    folds: defaultdict[str, set[int]] = defaultdict(set)
    for row in file.rows:
        folds[row["layer"]].add(row["fold"])
    return [f"layer in several folds: {layer} ({sorted(of)})" for layer, of in folds.items() if len(of) > 1]


def split_graphs(file: CheckedFile) -> list[str]:
    """List equal graphs (but for names) in several folds, and graphs of models in any."""
    from pipelines.fabric.features import graph_of_rows

    blocks = [row for row in file.rows if row["status"] == OK and row["family"] not in MODEL_FAMILIES]
    nodes, edges = _parts_by_graph(file)
    same: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in blocks:
        graph = graph_of_rows(row["name"], nodes[row["graph_id"]], edges[row["graph_id"]])
        same[row["configuration"], graph.shape].append(row)
    return [
        "equal graphs in several folds: " + ", ".join(f"{row['name']} ({row['fold']})" for row in rows)
        for rows in same.values()
        if len({row["fold"] for row in rows}) > 1
    ]


STEP = Step(
    name="fabric",
    description="Place and route: graphs on fabrics, and placements with their simulated throughput.",
    run=make_fabric,
    tables=("fabric_graphs", "fabric_nodes", "fabric_edges", "placements"),
    partitioned=Partitioning(
        name="placements", names=lambda configuration: tuple(configuration.placements.groups)
    ),
    pool="simulation",
    configuration={"placements": Placements},
    parameters=("placements",),
    engines=(FABRIC,),
    files=("conf/fabric",),
    version=_version,
    checks={
        "placements": [
            CheckRule(
                "throughput_possible",
                "Every ok placement has a throughput in 0 to 1; a failed one has a reason.",
                impossible_throughputs,
            ),
            CheckRule(
                "decision_legal",
                "Units are legal, routes join them, and no flow is faster than its most loaded link.",
                illegal_placements,
                blocking=False,
            ),
        ],
        "fabric_graphs": [
            CheckRule("layers_apart", "All graphs of a layer are in one fold.", split_layers),
            CheckRule(
                "folds_apart",
                "No two folds have equal graphs; training leaves those of them out that equal held-out ones.",
                split_graphs,
                blocking=False,
            ),
        ],
    },
    require=require_groups,
)
