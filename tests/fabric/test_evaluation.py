"""Measured throughput: no flow is faster than its most loaded link allows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.fabric import (
    Edge,
    Fabric,
    FabricError,
    Graph,
    Node,
    family_graphs,
    measure,
    read_fabric,
    simulate,
)
from pipelines.fabric.evaluation import LEAST_SHARE, SAMPLES, WINDOW
from pipelines.fabric.explaining import explain_throughput
from pipelines.fabric.routing import problem_of, route

# A placement that 256 samples measure 36 % faster than its most loaded link allows.
LAYER = 49
UNITS = (
    "41 85 86 58 71 92 59 30 93 87 79 56 15 63 62 52 24 36 76 74 54 95 63 64 85 20 38 35 29 6 25 55 23 51 83 "
    "40 72 57 47"
)


@pytest.fixture
def present(repository: Path) -> Fabric:
    return read_fabric(repository / "conf" / "fabric" / "present.yaml")


def test_buffers_that_empty_do_not_pass_for_a_steady_flow(present: Fabric, engine_folder: Path) -> None:
    [graph] = family_graphs("mlp", present, seed=LAYER)
    units = [int(unit) for unit in UNITS.split()]
    [routing] = route(graph, present, [units], engine_folder=engine_folder)
    short = problem_of(graph, present, routing.routes, samples=SAMPLES, window=WINDOW)
    first, truth = simulate([short, replace(short, samples=4096, window=0)], engine_folder=engine_folder)
    [result] = measure(graph, present, [units], engine_folder=engine_folder)
    limit = explain_throughput(graph, present, units, routing.routes, truth).limits[0]
    link = limit.cycles
    assert limit.cause == "link"
    assert first.interval_cycles < 0.75 * link
    assert result.simulated.interval_cycles >= LEAST_SHARE * link
    assert result.simulated.interval_cycles == pytest.approx(truth.interval_cycles, rel=0.02)


def chains(*sizes: tuple[float, float]) -> Graph:
    """A chain of three operations for each work and words; no edges join two chains."""
    nodes, edges = list[Node](), list[Edge]()
    for number, (work, words) in enumerate(sizes):
        names = [f"{name}{number}" for name in "xyz"]
        for name, kind, stage in zip(names, ("buffer", "gemm", "buffer"), range(3), strict=True):
            nodes.append(Node(name=name, kind=kind, stage=stage, work=work))
        edges += [Edge(source=a, target=b, words=words) for a, b in itertools.pairwise(names)]
    return Graph(name="chains", nodes=tuple(nodes), edges=tuple(edges))


def row_fabric() -> Fabric:
    """One row of tiles, where there is one route between two units."""
    operations = {"gemm": {"unit": "compute", "rate": 1}, "buffer": {"unit": "memory", "rate": 1}}
    fields = {"name": "row", "rows": 1, "columns": 6, "pattern": ["MMCCMM"], "operations": operations}
    sizes = {"link_words": 16, "port_words": 64, "compute_samples": 1, "memory_samples": 2}
    return Fabric.model_validate({**fields, **sizes})


def test_parts_of_a_graph_run_at_rates_of_their_own(engine_folder: Path) -> None:
    """A chain that ends its batch first leaves the links to the other: 32 of 48 cycles."""
    graph = chains((1, 512), (4, 256))
    [result] = measure(graph, row_fabric(), [[0, 2, 4, 1, 3, 5]], engine_folder=engine_folder)
    assert not result.simulated.is_steady
    assert 32 < result.simulated.interval_cycles < LEAST_SHARE * 48


def test_a_flow_that_stays_too_fast_is_an_error(engine_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.fabric.evaluation.LEAST_SHARE", 2.0)
    monkeypatch.setattr("pipelines.fabric.evaluation.REPEATS", 2)
    graph, fabric, units = chains((1, 512)), row_fabric(), [[0, 2, 4]]
    message = (
        "^chains is not steady after 64 samples: [0-9]+ cycles per sample, below the 64 of its most loaded "
        "link; buffers are too deep, or the simulator is wrong$"
    )
    with pytest.raises(FabricError, match=message):
        measure(graph, fabric, units, engine_folder=engine_folder, samples=16, window=4)
    [batch] = measure(graph, fabric, units, engine_folder=engine_folder, samples=16, window=0)
    assert len(batch.simulated.finished) == 16
