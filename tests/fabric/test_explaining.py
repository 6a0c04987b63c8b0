"""What limits a placed graph: the operation, link, port or buffer that the simulation shows."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from pipelines.fabric import Edge, Fabric, FabricError, Graph, Node, problem_of, simulate
from pipelines.fabric.explaining import (
    Explanation,
    explain_throughput,
    link_loads,
    require_fit,
    sending_cycles,
)

OPERATIONS = {
    "gemm": {"unit": "compute", "rate": 1.0, "delay_cycles": 10},
    "buffer": {"unit": "memory", "rate": 1.0},
}


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engines")


def fabric(**changes: Any) -> Fabric:
    """A row of memory, two compute units, memory."""
    fields: dict[str, Any] = {"name": "row", "rows": 1, "columns": 4, "pattern": ["MCCM"], "hop_cycles": 0}
    fields |= {"link_words": 1.0, "port_words": 4.0, "packets": 8, "hop_packets": 8}
    return Fabric.model_validate({**fields, "operations": OPERATIONS, **changes})


def chain(*works: float, words: float = 80) -> Graph:
    kinds = ("buffer", "gemm", "gemm", "buffer")
    nodes = tuple(Node(name=f"n{k}", kind=kinds[k], stage=k, work=work) for k, work in enumerate(works))
    names = [node.name for node in nodes]
    edges = tuple(Edge(source=a, target=b, words=words) for a, b in itertools.pairwise(names))
    return Graph(name="chain", nodes=nodes, edges=edges)


def explained(graph: Graph, fabric: Fabric, engines: Path) -> Explanation:
    """Operations on the units of their numbers, so that every route is one link and two ports."""
    links = {ends: link for link, ends in enumerate(fabric.links.ends) if ends[0] != ends[1]}
    routes = [(2 * k, links[k, k + 1], 2 * k + 3) for k in range(len(graph.edges))]
    [result] = simulate([problem_of(graph, fabric, routes)], engine_folder=engines)
    return explain_throughput(graph, fabric, range(len(graph.nodes)), routes, result)


def test_a_slow_operation_is_named(engines: Path) -> None:
    found = explained(chain(10, 500, 20, 10), fabric(compute_samples=2), engines)
    assert found.limits[0].cause == "operation"
    assert found.limits[0].share == pytest.approx(1.0)
    assert found.text == (
        "operation n1 (gemm) on the unit at row 0, column 1: 500 cycles per sample, "
        "and a sample ends every 500"
    )


def test_a_slow_link_is_named_with_what_it_carries(engines: Path) -> None:
    found = explained(chain(10, 100, 20, 10, words=400), fabric(compute_samples=2), engines)
    assert found.limits[0].cause == "link"
    assert found.text.startswith(
        "the link from row 0, column 0 to row 0, column 1, which carries n0 to n1: 400 "
    )


def test_a_slow_port_is_named(engines: Path) -> None:
    wide = fabric(compute_samples=2, link_words=100.0, port_words=1.0)
    found = explained(chain(10, 100, 20, 10, words=400), wide, engines)
    assert found.limits[0].cause == "port"
    assert found.text.startswith(
        "the output port of the memory unit at row 0, column 0, which carries n0 to n1: 4"
    )


def test_a_buffer_of_one_sample_is_named(engines: Path) -> None:
    """An operation of 300 cycles that sends for 20 more before it starts again."""
    found = explained(chain(10, 300, 20, 10), fabric(compute_samples=1), engines)
    assert found.limits[0].cause == "buffer"
    assert found.limits[0].share >= 0.95
    assert found.text.startswith("the output buffer of n1 to n2, which a sample fills until it is sent: 3")


def test_no_limit_exceeds_the_interval(engines: Path) -> None:
    for words, samples, hop_packets in itertools.product((8, 80, 800), (1, 2, 3), (1, 4)):
        small = fabric(compute_samples=samples, memory_samples=samples, hop_packets=hop_packets, hop_cycles=3)
        found = explained(chain(10, 300, 200, 10, words=words), small, engines)
        for limit in found.limits:
            assert limit.cycles <= found.interval_cycles + 1e-9, limit


def test_loads_are_shares_of_the_interval(engines: Path) -> None:
    graph, row = chain(10, 100, 20, 10, words=400), fabric(compute_samples=2)
    links = {ends: link for link, ends in enumerate(row.links.ends) if ends[0] != ends[1]}
    routes = [(2 * k, links[k, k + 1], 2 * k + 3) for k in range(3)]
    problem = problem_of(graph, row, routes)
    [result] = simulate([problem], engine_folder=engines)
    loads = link_loads(result)
    assert loads[links[0, 1]] == pytest.approx(1.0, rel=0.02)
    assert loads[links[1, 0]] == 0
    assert sending_cycles(problem, problem.flows[0]) == 104  # 8 packets of 13 cycles on the port


def test_a_graph_that_fits_is_accepted() -> None:
    require_fit(chain(1, 1, 1, 1), fabric())


def test_a_graph_too_large_is_refused_with_what_lacks() -> None:
    nodes = tuple(Node(name=f"n{k}", kind="gemm", stage=0, work=1) for k in range(5))
    with pytest.raises(FabricError) as caught:
        require_fit(Graph(name="five", nodes=nodes), fabric())
    assert str(caught.value) == (
        "graph too large for row: 5 operations on compute units, room for 2; 0 operations on memory units, "
        "room for 2; accepted: 3 graphs or more in its place, or a larger fabric"
    )


def test_a_fabric_without_a_type_of_unit_is_refused() -> None:
    with pytest.raises(FabricError, match="fabric row has no memory units"):
        require_fit(chain(1, 1, 1, 1), fabric(pattern=["CCCC"]))
