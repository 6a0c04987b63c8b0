"""Routes that follow moves, and their features beside those read from a table."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from pipelines.fabric import Fabric, FabricError, Graph, Schedule, anneal, random_placements
from pipelines.fabric.dataset import encode_routes
from pipelines.fabric.features import RouteReader, graph_of_rows
from pipelines.fabric.heuristic import RoutedCost
from pipelines.fabric.placing import Bools, Floats, Ints
from pipelines.fabric.routing import Features, Router


def text(units: list[int]) -> str:
    return " ".join(map(str, units))


def require_joined(router: Router, graph: Graph, fabric: Fabric, placement: int, units: list[int]) -> None:
    """Check that current routes go from unit to unit over neighbouring switches."""
    for edge, path in zip(graph.edges, router.routing(placement).routes, strict=True):
        source, target = units[graph.numbers[edge.source]], units[graph.numbers[edge.target]]
        assert (path[0], path[-1]) == (2 * source, 2 * target + 1)
        ends = [fabric.links.ends[link] for link in path]
        assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))
        assert [fabric.links.is_port(link) for link in path[1:-1]] == [False] * (len(path) - 2)


class Watched:
    """The routed cost; after every move the features equal those read from the current routes."""

    def __init__(self, graph: Graph, fabric: Fabric, engine_folder: Path) -> None:
        self.graph, self.fabric = graph, fabric
        self.model = RoutedCost(graph, fabric, engine_folder=engine_folder)
        self.reader = RouteReader(graph, fabric)
        self.proposed = 0

    def start(self, units: Ints) -> Floats:
        self.units = units.copy()
        return self.model.start(units)

    def propose(self, moved: Ints, units: Ints) -> Floats:
        self.after = units.copy()
        return self.model.propose(moved, units)

    def accept(self, accepted: Bools) -> None:
        features = self.model.router._features.copy()
        self.model.accept(accepted)
        for chain in np.flatnonzero(accepted).tolist():
            self.units[chain] = self.after[chain]
            np.testing.assert_allclose(features[chain], self.read(chain), rtol=1e-5, atol=1e-6)
            self.proposed += 1

    def read(self, chain: int) -> Features:
        units = self.units[chain].tolist()
        require_joined(self.model.router, self.graph, self.fabric, chain, units)
        routes = encode_routes(self.model.router.routing(chain).routes, self.fabric)
        return self.reader.read(text(units), routes)


def test_loads_after_moves_equal_those_of_the_routes(
    small_graph: Graph, small_fabric: Fabric, engine_folder: Path
) -> None:
    model = Watched(small_graph, small_fabric, engine_folder)
    anneal(small_graph, small_fabric, model, [Schedule(moves=80)] * 3, seed=1)
    assert model.proposed > 30


def test_features_of_a_start_equal_those_of_the_table(
    small_graph: Graph, small_fabric: Fabric, engine_folder: Path
) -> None:
    router, reader = (
        Router(small_graph, small_fabric, engine_folder=engine_folder),
        RouteReader(small_graph, small_fabric),
    )
    units = random_placements(small_graph, small_fabric, 6, seed=2)
    features = router.start(units)
    assert features[:, :, 3].max() >= 3  # edges share links
    for number, row in enumerate(units.tolist()):
        routes = encode_routes(router.routing(number).routes, small_fabric)
        np.testing.assert_allclose(reader.read(text(row), routes), features[number], rtol=1e-5, atol=1e-6)
        require_joined(router, small_graph, small_fabric, number, row)


def test_a_rejected_move_leaves_no_trace_and_an_accepted_one_stays(
    small_graph: Graph, small_fabric: Fabric, engine_folder: Path
) -> None:
    router = Router(small_graph, small_fabric, engine_folder=engine_folder)
    [first] = random_placements(small_graph, small_fabric, 1, seed=3)
    a, b = (n for n, node in enumerate(small_graph.nodes) if node.name in ("up.0", "norm"))
    swapped = first.copy()
    swapped[[a, b]] = first[[b, a]]
    before = router.start(np.stack([first, first])).copy()
    routes = router.routing(0).routes
    moved, units = np.array([[a, b]] * 2), np.stack([swapped, swapped])
    proposed = router.propose(moved, units).copy()
    assert np.abs(proposed - before).max() > 0.1
    assert proposed[0].tolist() == proposed[1].tolist()
    assert router.routing(0).routes == routes  # nothing is accepted yet
    router.accept(np.array([True, False]))
    assert router.routing(1).routes == routes
    require_joined(router, small_graph, small_fabric, 0, swapped.tolist())
    still = np.full((2, 2), -1)
    stayed = router.propose(still, np.stack([swapped, first]))
    np.testing.assert_array_equal(stayed[0], proposed[0])
    np.testing.assert_array_equal(stayed[1], before[1])


def test_only_edges_of_moved_operations_get_other_routes(
    small_graph: Graph, small_fabric: Fabric, engine_folder: Path
) -> None:
    router = Router(small_graph, small_fabric, engine_folder=engine_folder)
    units = random_placements(small_graph, small_fabric, 1, seed=4)
    router.start(units)
    before = router.routing(0).routes
    a, b = (n for n, node in enumerate(small_graph.nodes) if node.name in ("up.0", "norm"))
    after = units.copy()
    after[0, [a, b]] = units[0, [b, a]]
    router.propose(np.array([[a, b]]), after)
    router.accept(np.array([True]))
    for edge, old, new in zip(small_graph.edges, before, router.routing(0).routes, strict=True):
        assert ({edge.source, edge.target} & {"up.0", "norm"} != set()) == (old != new)


UNITS, ROUTES = "1 0 5", "w se"


@pytest.fixture
def reader() -> RouteReader:
    """A chain of three operations on 2 rows and 4 columns of units."""
    fields = {"rows": 2, "columns": 4, "pattern": ["CM"], "link_words": 2, "port_words": 4}
    rates = {"gemm": {"unit": "compute", "rate": 1}, "buffer": {"unit": "memory", "rate": 1}}
    nodes = [
        {"name": name, "kind": kind, "stage": stage, "work": 100}
        for stage, (name, kind) in enumerate([("x", "buffer"), ("y", "gemm"), ("z", "buffer")])
    ]
    edges = [{"source": 0, "target": 1, "words": 100}, {"source": 1, "target": 2, "words": 50}]
    graph = graph_of_rows("chain", nodes, edges)
    return RouteReader(graph, Fabric.model_validate({"name": "row", **fields, "operations": rates}))


def test_features_of_routes_are_what_they_say(reader: RouteReader) -> None:
    features = reader.read(UNITS, ROUTES)
    # hops, highest load, summed load, sharers, load of the busier port
    assert features.tolist() == [[1, 0.5, 0.5, 1, 0.25], [2, 0.25, 0.5, 1, 0.125]]
    shared = reader.read("1 2 7", "eew es")  # from switch 2 to 3 both
    assert shared.tolist() == [[3, 0.75, 1.75, 2, 0.25], [2, 0.75, 1.0, 2, 0.125]]
    own = reader.read("1 1 1", "- -")
    assert own.tolist() == [[0, 0, 0, 0, 0.375]] * 2


@pytest.mark.parametrize("units", ["1 0", "", "1 0 8", "1 0 -1", "1 0 x", "1 0 5 5"])
def test_routes_rejects_what_is_no_placement(reader: RouteReader, units: str) -> None:
    with pytest.raises(FabricError, match=f"not a placement: '{units}'; accepted: 3 units below 8"):
        reader.read(units, ROUTES)


@pytest.mark.parametrize(
    ("units", "routes", "message"),
    [
        (UNITS, "w", "not routes of the graph: 1; it has 2 edges"),
        (UNITS, "w se n", "not routes of the graph: 3; it has 2 edges"),
        (UNITS, "n se", "not a route: n from unit 1; accepted: letters n, e, s, w, or -"),
        (UNITS, "w sx", "not a route: sx from unit 0; accepted: letters n, e, s, w, or -"),
        (UNITS, "w s", "route s from unit 0 ends at 4; expected: 5"),
        (UNITS, "- se", "route - from unit 1 ends at 1; expected: 0"),
        ("3 4 5", "e e", "not a route: e from unit 3; accepted: letters n, e, s, w, or -"),  # next row
    ],
)
def test_routes_rejects_other_routes(reader: RouteReader, units: str, routes: str, message: str) -> None:
    with pytest.raises(FabricError, match=f"^{message}$"):
        reader.read(units, routes)
