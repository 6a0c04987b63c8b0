"""Fabrics, graphs and routes: what is read, what is refused, and that routes are legal."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipelines.fabric import (
    Edge,
    Fabric,
    FabricError,
    Graph,
    Node,
    OperationRate,
    RouteOptions,
    measure,
    read_fabric,
    read_graph,
    require_room,
    route,
    slowest_cycles,
)

OPERATIONS: dict[str, dict[str, Any]] = {
    "gemm": {"unit": "compute", "rate": 64.0, "delay_cycles": 8},
    "buffer": {"unit": "memory", "rate": 16.0},
}


def fabric_fields(**changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": "small", "rows": 4, "columns": 4, "pattern": ["CM", "MC"]}
    return {**fields, "link_words": 4.0, "port_words": 8.0, "operations": OPERATIONS, **changes}


def graph_fields(**changes: Any) -> dict[str, Any]:
    nodes = [
        {"name": "x", "kind": "buffer", "stage": 0, "work": 256},
        {"name": "y", "kind": "gemm", "stage": 1, "work": 4096},
        {"name": "z", "kind": "buffer", "stage": 2, "work": 256},
    ]
    edges = [{"source": "x", "target": "y", "words": 256}, {"source": "y", "target": "z", "words": 256}]
    return {"name": "one", "nodes": nodes, "edges": edges, **changes}


def test_a_fabric_alternates_its_units(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_text(yaml.safe_dump(fabric_fields()))
    fabric = read_fabric(path)
    assert fabric.unit_types[:5] == ("compute", "memory", "compute", "memory", "memory")
    assert len(fabric.links.ends) == 2 * 16 + 2 * 24  # ports, then both directions of the grid


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": 0}, r"^rows: 0 \(.*fabric.yaml\); accepted: 1 or more$"),
        ({"link_words": float("nan")}, r"^link_words: nan \(.*\); accepted: a finite number$"),
        (
            {"operations": {"gemm": {"unit": "compute", "rate": float("nan")}}},
            "operations.gemm.rate: nan ",
        ),
        ({"pattern": ["CX"]}, r"^unknown unit in pattern: X \(.*fabric.yaml\); accepted: C, M$"),
        ({"pattern": ["C"]}, "fabric without memory units"),
        ({"colour": 1}, r"^unknown key: colour \(.*\); accepted: name, rows, columns, "),
    ],
)
def test_a_fabric_rejects_what_it_cannot_be(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_text(yaml.safe_dump(fabric_fields(**changes)))
    with pytest.raises(FabricError, match=message):
        read_fabric(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"edges": [*graph_fields()["edges"], {"source": "z", "target": "y", "words": 1}]},
            "cycle in the graph, through some of: y, z",
        ),
        (
            {"edges": [{"source": "x", "target": "w", "words": 1}]},
            r"unknown operation at an edge: w \(x to w\)",
        ),
        ({"nodes": graph_fields()["nodes"] * 2}, "two operations of one name: x"),
        ({"nodes": []}, "nodes: "),
    ],
)
def test_a_graph_rejects_what_it_cannot_be(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph_fields(**changes)))
    with pytest.raises(FabricError, match=message):
        read_graph(path)


def test_room_rejects_a_graph_that_is_too_large_or_unknown() -> None:
    fabric = Fabric.model_validate(fabric_fields(rows=1, columns=2))
    many = Graph(name="many", nodes=tuple(Node(name=f"g{n}", kind="gemm", stage=n, work=1) for n in range(2)))
    with pytest.raises(
        FabricError, match="graph too large: 2 operations on compute units; small has room for 1"
    ):
        require_room(many, fabric)
    odd = Graph(name="odd", nodes=(Node(name="f", kind="fft", stage=0, work=1),))
    with pytest.raises(FabricError, match="unknown operation: fft; accepted: buffer, gemm"):
        require_room(odd, fabric)


def layers(count: int) -> Graph:
    nodes = [Node(name="in", kind="buffer", stage=0, work=256)]
    edges: list[Edge] = []
    for n in range(count):
        nodes.append(Node(name=f"g{n}", kind="gemm", stage=2 * n + 1, work=8192))
        nodes.append(Node(name=f"b{n}", kind="buffer", stage=2 * n + 2, work=512))
        edges.append(Edge(source=nodes[-3].name, target=f"g{n}", words=512))
        edges.append(Edge(source=f"g{n}", target=f"b{n}", words=512))
    return Graph(name="layers", nodes=tuple(nodes), edges=tuple(edges))


def random_units(graph: Graph, fabric: Fabric, draw: random.Random) -> list[int]:
    free = [u for u in range(len(fabric.unit_types)) for _ in range(fabric.slots(u))]
    draw.shuffle(free)
    units: list[int] = []
    for node in graph.nodes:
        unit = next(u for u in free if fabric.unit_types[u] == fabric.operation(node.kind).unit)
        free.remove(unit)
        units.append(unit)
    return units


@pytest.mark.parametrize("seed", range(10))
def test_routes_join_their_units_and_overuse_nothing_at_convergence(seed: int, engine_folder: Path) -> None:
    fabric = Fabric.model_validate(fabric_fields(memory_slots=2, link_words=8.0))
    graph, draw = layers(7), random.Random(seed)
    units = random_units(graph, fabric, draw)
    [routing] = route(graph, fabric, [units], RouteOptions(rounds=60), engine_folder=engine_folder)
    load = [0.0] * len(fabric.links.ends)
    for edge, path in zip(graph.edges, routing.routes, strict=True):
        switches = [units[graph.numbers[edge.source]]]
        for link in path:
            begin, end = fabric.links.ends[link]
            assert begin == switches[-1]
            switches.append(end)
            load[link] += edge.words / fabric.link_words / slowest_cycles(graph, fabric)
        assert switches[-1] == units[graph.numbers[edge.target]]
        assert [fabric.links.is_port(link) for link in path] == [True, *[False] * (len(path) - 2), True]
    over = [u for link, u in enumerate(load) if not fabric.links.is_port(link) and u > 1.0 + 1e-9]
    assert (routing.overuse == 0.0) == (not over)
    assert routing.overuse == 0.0


def test_a_longer_way_round_is_taken_when_the_short_one_is_full(engine_folder: Path) -> None:
    fabric = Fabric.model_validate(fabric_fields())
    nodes = tuple(Node(name=n, kind=k, stage=0, work=6400) for n, k in (("a", "gemm"), ("b", "gemm")))
    ends = tuple(Node(name=n, kind="buffer", stage=1, work=100) for n in "cd")
    edges = (Edge(source="a", target="c", words=300), Edge(source="b", target="d", words=300))
    graph = Graph(name="two", nodes=nodes + ends, edges=edges)
    units = [0, 2, 3, 11]  # a to c goes along the first row, past b
    shared, apart = (
        route(graph, fabric, [units], RouteOptions(limit=limit, spread=0.0), engine_folder=engine_folder)[0]
        for limit in (2.0, 1.0)
    )
    assert set(shared.routes[0]) & set(shared.routes[1])
    assert not set(apart.routes[0]) & set(apart.routes[1])


def test_a_placement_rejects_a_unit_of_another_type(tmp_path: Path) -> None:
    fabric = Fabric.model_validate(fabric_fields())
    graph = Graph.model_validate(graph_fields())
    with pytest.raises(FabricError, match="x needs a memory unit; 0 is of compute"):
        route(graph, fabric, [[0, 2, 3]], engine_folder=tmp_path)
    with pytest.raises(FabricError, match="unit 1 has more operations than slots: 1"):
        route(graph, fabric, [[1, 0, 1]], engine_folder=tmp_path)


def test_an_operation_that_takes_too_long_is_refused() -> None:
    fabric = Fabric.model_validate(fabric_fields(operations={"gemm": {"unit": "compute", "rate": 1e-300}}))
    graph = Graph(name="slow", nodes=(Node(name="y", kind="gemm", stage=0, work=1),))
    with pytest.raises(FabricError, match="too slow: y takes 1e\\+300 cycles; accepted: 1e\\+12 at most"):
        slowest_cycles(graph, fabric)


def test_a_placed_chain_runs_at_the_theoretical_bound(tmp_path: Path) -> None:
    fabric = Fabric.model_validate(fabric_fields(compute_samples=2))
    edges = [{**edge, "words": 128} for edge in graph_fields()["edges"]]
    graph = Graph.model_validate(graph_fields(edges=edges))
    [result] = measure(graph, fabric, [[1, 0, 4]], engine_folder=tmp_path, samples=40)
    assert result.simulated.interval_cycles == slowest_cycles(graph, fabric) == 64
    assert result.throughput == 1.0
    assert OperationRate.model_validate(OPERATIONS["gemm"]) == fabric.operation("gemm")
