"""Optimum of small graphs: equal to brute force, and never above what any placement reaches."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipelines.fabric import (
    Edge,
    Fabric,
    FabricError,
    Graph,
    Node,
    measure,
    problem_of,
    random_placements,
    require_legal,
    simulate,
)
from tests.support.fabric_bounds import edge_loads, highest_load, least_intervals
from tests.support.fabric_optimum import (
    TOLERANCE,
    Optimum,
    OptimumOptions,
    find_optimum,
    solve_loads,
    steady_interval,
)

OPERATIONS = {
    "gemm": {"unit": "compute", "rate": 4.0, "delay_cycles": 8},
    "buffer": {"unit": "memory", "rate": 16.0, "delay_cycles": 2},
}
Routes = tuple[tuple[int, ...], ...]


def fabric(rows: int = 2, columns: int = 3, **changes: Any) -> Fabric:
    fields: dict[str, Any] = {"name": "small", "rows": rows, "columns": columns, "pattern": ["CM", "MC"]}
    fields |= {"link_words": 1.0, "port_words": 4.0, "packets": 4, "memory_slots": 2, "compute_samples": 1}
    return Fabric.model_validate({**fields, "operations": OPERATIONS, **changes})


def graph_of(kinds: str, edges: Sequence[tuple[int, int, float]], work: float = 64) -> Graph:
    """Letters C and M for operations, and edges by number with their words."""
    names = {"C": "gemm", "M": "buffer"}
    nodes = [Node(name=f"n{k}", kind=names[c], stage=k, work=work) for k, c in enumerate(kinds)]
    return Graph(
        name="drawn",
        nodes=tuple(nodes),
        edges=tuple(Edge(source=f"n{a}", target=f"n{b}", words=words) for a, b, words in edges),
    )


def drawn_graph(rng: random.Random, kinds: str) -> Graph:
    """Every operation but the first reads one before it, and some read two."""
    edges = [(rng.randrange(b), b, 8.0 * rng.randint(1, 6)) for b in range(1, len(kinds))]
    edges += [(0, len(kinds) - 1, 8.0 * rng.randint(1, 6))]
    return graph_of(kinds, edges)


def simple_paths(fabric: Fabric, source: int, target: int) -> list[tuple[int, ...]]:
    """All routes between two units that visit no switch twice, ports included."""

    def onward(at: int, seen: tuple[int, ...], links: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if at == target:
            yield (2 * source, *links, 2 * target + 1)
            return
        for link, after in fabric.links.neighbours[at]:
            if after not in seen:
                yield from onward(after, (*seen, after), (*links, link))

    return list(onward(source, (source,), ()))


def all_decisions(graph: Graph, fabric: Fabric) -> Iterator[Routes]:
    """Routes of every legal placement and every choice of simple paths."""
    loads = edge_loads(graph, fabric)
    tiles = range(len(fabric.unit_types))
    paths = {ends: simple_paths(fabric, *ends) for ends in itertools.product(tiles, repeat=2)}
    for units in itertools.product(tiles, repeat=len(graph.nodes)):
        try:
            require_legal(graph, fabric, units)
        except FabricError:
            continue
        ends = zip(loads.sources, loads.targets, strict=True)
        yield from itertools.product(*(paths[units[a], units[b]] for a, b in ends))


@pytest.mark.parametrize(
    ("kinds", "edges", "shape"),
    [
        ("MCM", [(0, 1, 80), (0, 1, 40), (1, 2, 80)], {"columns": 2}),
        ("MCC", [(0, 1, 80), (0, 2, 80), (1, 2, 80)], {"columns": 2}),
        ("CCC", [(0, 1, 80), (0, 2, 64), (1, 2, 80)], {"columns": 3}),
        ("MMCM", [(0, 2, 40), (1, 2, 40), (0, 3, 40), (2, 3, 40)], {"columns": 2, "port_words": 1.0}),
        ("CCCC", [(0, 1, 80), (0, 2, 80), (0, 3, 80)], {"columns": 3, "pattern": ["C"]}),
        ("MMMC", [(0, 3, 40), (1, 3, 32), (2, 3, 24)], {"columns": 2, "memory_slots": 2}),
    ],
)
def test_the_least_load_equals_brute_force(
    kinds: str, edges: list[tuple[int, int, float]], shape: dict[str, Any]
) -> None:
    graph, small = graph_of(kinds, edges, work=1), fabric(rows=2, **shape)
    loads = edge_loads(graph, small)
    least = min(highest_load(loads, routes) for routes in all_decisions(graph, small))
    solved = solve_loads(graph, small, 1.0, nodes=-1)
    assert solved.is_least
    assert solved.bound_cycles == least
    units, routes = solved.decisions[0]
    require_legal(graph, small, units)
    assert highest_load(loads, routes) == least


def test_edges_that_leave_an_operation_share_the_links_of_its_switch() -> None:
    """All ways to send 5 edges over the 3 links of a switch in the middle of two rows."""
    for seed in range(20):
        rng = random.Random(seed)
        graph = graph_of("CCCCCC", [(0, k, 4.0 * rng.randint(1, 9)) for k in range(1, 6)], work=1)
        grid = fabric(2, 3, pattern=["C"])
        loads = edge_loads(graph, grid).link
        ways = itertools.product(range(3), repeat=5)
        least = min(
            max(sum(load for load, own in zip(loads, way, strict=True) if own == link) for link in range(3))
            for way in ways
        )
        bound = least_intervals(graph, grid)["output links of n0"]
        assert max(max(loads), sum(loads) / 3) <= bound <= least
    equal = graph_of("CCCCCC", [(0, k, 80) for k in range(1, 6)], work=1)
    assert least_intervals(equal, fabric(2, 3, pattern=["C"]))["output links of n0"] == 160


def test_no_decision_is_faster_than_the_optimum(engine_folder: Path) -> None:
    """Every placement with every routing of two graphs is simulated."""
    for edges in ([(0, 1, 80.0), (0, 1, 40.0), (1, 2, 80.0)], [(0, 1, 60.0), (0, 2, 20.0), (1, 2, 60.0)]):
        graph, small = graph_of("MCM", edges), fabric(columns=2)
        optimum = find_optimum(graph, small, engine_folder=engine_folder)
        decisions = list(all_decisions(graph, small))
        intervals = steady_interval(graph, small, decisions, engine_folder=engine_folder)
        assert min(intervals) >= optimum.bound_cycles * 0.99  # the window rounds
        assert optimum.decision.interval_cycles <= min(intervals) * 1.01
        assert optimum.proof != "none"


def test_the_bound_is_never_above_what_is_simulated(engine_folder: Path) -> None:
    """Random placements of random graphs, on fabrics with small buffers and large latencies."""
    for seed in range(24):
        rng = random.Random(seed)
        kinds = "".join(rng.choice("CM") for _ in range(rng.randint(3, 7)))
        changes = {name: rng.randint(1, 3) for name in ("compute_samples", "memory_samples", "hop_packets")}
        changes |= {"packets": rng.randint(1, 6), "hop_cycles": rng.choice((0, 3, 20))}
        other = fabric(4, 4, **changes, port_words=rng.choice((0.5, 1.0, 4.0)))
        graph = drawn_graph(rng, kinds)
        bounds = least_intervals(graph, other)
        units = random_placements(graph, other, 6, seed=seed).tolist()
        for result in measure(graph, other, units, engine_folder=engine_folder, samples=400, window=100):
            if result.throughput is not None and result.simulated.is_steady:
                routes = result.routing.routes
                load = highest_load(edge_loads(graph, other), routes)
                most = max(max(bounds.values()), load)
                samples = 1 + most_held(graph, other, routes)
                assert result.simulated.interval_cycles * 100 >= most * (100 - 1 - samples), (seed, bounds)


def most_held(graph: Graph, fabric: Fabric, routes: Routes) -> int:
    """Samples of one buffer, which can be full at the start of the window and empty at its end."""
    flows = problem_of(graph, fabric, routes).flows
    return max(max(flow.input_samples, flow.output_samples) for flow in flows)


def test_the_buffer_bound_is_exact_for_a_chain(engine_folder: Path) -> None:
    """A fast operation before a slow link, with an output buffer of one sample."""
    for hop_packets, links in itertools.product((1, 2, 3), (1, 2, 3)):
        row = fabric(1, 4, pattern=["CMMM"], hop_packets=hop_packets, hop_cycles=5, memory_samples=3)
        graph = graph_of("CM", [(0, 1, 64)], work=400)
        onward = (link for link, (a, b) in enumerate(row.links.ends) if b == a + 1 and b <= links)
        route = (0, *onward, 2 * links + 1)
        problem = problem_of(graph, row, [route], samples=200, window=40)
        [result] = simulate([problem], engine_folder=engine_folder)
        assert result.interval_cycles >= max(least_intervals(graph, row).values())
        if links == 1 and hop_packets > 1:
            assert result.interval_cycles == max(least_intervals(graph, row).values())


SIX_EDGES = [(0, 1, 80.0), (0, 2, 80.0), (1, 3, 80.0), (2, 3, 80.0), (0, 3, 80.0), (1, 2, 80.0)]
"""Between all pairs of four operations: on a row of four tiles, three of them share a link."""


def optimum_of_six_edges(engine_folder: Path, solver_nodes: int) -> Optimum:
    graph, row = graph_of("CCCC", SIX_EDGES, work=1), fabric(1, 4, pattern=["CCCC"])
    options = OptimumOptions(solver_nodes=solver_nodes, moves=100)
    return find_optimum(graph, row, engine_folder=engine_folder, options=options)


def test_the_solver_proves_what_the_constants_do_not(engine_folder: Path) -> None:
    graph, row = graph_of("CCCC", SIX_EDGES, work=1), fabric(1, 4, pattern=["CCCC"])
    least = min(highest_load(edge_loads(graph, row), routes) for routes in all_decisions(graph, row))
    optimum = optimum_of_six_edges(engine_folder, 1000)
    assert (optimum.constant_cycles, optimum.bound_cycles) == (160, least)
    assert least == 240
    assert optimum.proof == "solver"
    assert abs(optimum.gap) <= TOLERANCE


def test_without_solver_nodes_nothing_is_claimed(engine_folder: Path) -> None:
    """Five operations and an edge between any two: presolving alone does not decide it."""
    edges = [(a, b, 80.0) for a, b in itertools.combinations(range(5), 2)]
    graph, grid = graph_of("CCCCC", edges, work=1), fabric(2, 3, pattern=["C"])
    options = OptimumOptions(solver_nodes=0, moves=100)
    optimum = find_optimum(graph, grid, engine_folder=engine_folder, options=options)
    assert optimum.proof == "none"
    assert not optimum.is_load_least
    assert optimum.gap == pytest.approx(0.5)


def test_the_same_question_has_the_same_answer(engine_folder: Path) -> None:
    graph = graph_of("MCMC", [(0, 1, 80), (1, 2, 80), (2, 3, 80), (0, 3, 80)])
    first, second = (find_optimum(graph, fabric(), engine_folder=engine_folder) for _ in range(2))
    assert first == second


def test_an_optimum_rejects_what_is_too_large(engine_folder: Path) -> None:
    many = graph_of("M" * 17, [(k, k + 1, 8) for k in range(16)])
    with pytest.raises(FabricError) as caught:
        find_optimum(many, fabric(5, 5), engine_folder=engine_folder)
    assert str(caught.value) == (
        "graph too large for an optimum: 17 operations (drawn); accepted: 16 at most"
    )
    with pytest.raises(
        FabricError, match=r"fabric too large for an optimum: 81 tiles \(small\); accepted: 64"
    ):
        find_optimum(graph_of("MC", [(0, 1, 8)]), fabric(9, 9), engine_folder=engine_folder)


@pytest.mark.parametrize(
    ("kinds", "edges", "message"),
    [
        ("MCM", [(0, 1, 8)], r"no path between operations n0 and n2 \(drawn\)"),
        ("MC", [(0, 1, 8), (1, 0, 8)], "cycle in the graph, through some of: n0, n1"),
        ("CCCC", [(0, 1, 8), (1, 2, 8), (2, 3, 8)], "graph too large for small: 4 operations on compute"),
    ],
)
def test_an_optimum_rejects_other_graphs(
    kinds: str, edges: list[tuple[int, int, float]], message: str, engine_folder: Path
) -> None:
    with pytest.raises(FabricError, match=message):
        find_optimum(graph_of(kinds, edges), fabric(), engine_folder=engine_folder)


def test_options_reject_negative_limits() -> None:
    with pytest.raises(FabricError, match=r"negative limit: .*solver_nodes=-1"):
        OptimumOptions(solver_nodes=-1)
