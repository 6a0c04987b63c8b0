"""Inputs of place and route: groups of placements, layers, annealings, simulations, and what is rejected."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from engine_outputs import Folders, Output, outcome

from pipelines import fabric
from pipelines.base.cache import ContentCache
from pipelines.fabric import PlacementGroup
from pipelines.fabric.dataset import (
    encode_routes,
    fold_of,
    group_key,
    layer_hash,
    make_placements,
)
from pipelines.fabric.evaluation import SimulatedCost
from pipelines.fabric.families import DRAWN, layer_operations
from pipelines.fabric.features import RouteReader, graph_of_rows
from pipelines.fabric.heuristic import RoutedCost

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = {
    "gemm": {"unit": "compute", "rate": 64, "delay_cycles": 8},
    "softmax": {"unit": "compute", "rate": 8},
    "buffer": {"unit": "memory", "rate": 16},
    "weights": {"unit": "memory", "rate": 16},
    "add": {"unit": "compute", "rate": 8},
    "matmul": {"unit": "compute", "rate": 32},
}
SMALL: dict[str, Any] = {
    "name": "small",
    "rows": 4,
    "columns": 5,
    "pattern": ["CM", "MC"],
    "link_words": 2,
    "port_words": 8,
    "memory_slots": 2,
    "stage_cycles": 3000,
    "operations": OPERATIONS,
}
WRONG_FABRICS = (
    "",
    "a: [",
    "{" * 2000,
    *(str({**SMALL, **change}) for change in (
        {"rows": 0}, {"pattern": ["CX"]}, {"pattern": [""]}, {"pattern": ["C"]}, {"colour": 1}
    )),
)  # fmt: skip
NODES = [{"name": name, "kind": "gemm", "stage": 0, "work": 64} for name in "ab"]
WRONG_GRAPHS: tuple[dict[str, Any], ...] = (
    {},
    {"nodes": NODES[:1] * 2},
    {"nodes": NODES, "edges": [{"source": "a", "target": "c", "words": 1}]},
    {"nodes": NODES, "edges": [{"source": a, "target": b, "words": 1} for a, b in ("ab", "ba")]},
)


def _fabrics() -> dict[str, fabric.Fabric]:
    folder = ROOT / "conf" / "fabric"
    named = {name: fabric.read_fabric(folder / f"{name}.yaml") for name in ("present", "past")}
    return {**named, "small": fabric.Fabric.model_validate(SMALL)}


def _layer(parts: int = 2, sum_words: float = 2000.0) -> list[fabric.Operation]:
    """A layer with every rule of the compiler: parts, copies, sums, shares, constants, direct readers."""
    make = fabric.Operation
    return [
        make(name="x", kind="buffer", work=512, words=512),
        make(name="p", kind="gemm", work=parts * 190_000, words=512, inputs=("x",), weights=300),
        make(name="s", kind="softmax", work=800, words=512, inputs=("p",)),
        make(name="q", kind="matmul", work=180_000, words=sum_words, inputs=("s", "x"), shares=(0.5, 1.0)),
        make(name="t", kind="add", work=1000, words=64, inputs=("q", "x")),
    ]


def _placed(tables: Any) -> object:
    """Rows in an order that does not depend on ids, which hash versions."""
    names = {row.graph_id: f"{row.fabric} {row.name}" for row in tables.graphs}
    rows = [asdict(row) for part in (tables.graphs, tables.nodes, tables.edges) for row in part]
    placements = sorted(tables.placements, key=lambda p: (names[p.graph_id], p.units, p.hot))
    return [
        [list(names.values())],
        sorted((_named(row, names) for row in rows), key=str),
        [_named(asdict(row), names) for row in placements],
    ]


def _named(row: dict[str, Any], names: dict[str, str]) -> list[object]:
    kept = {k: v for k, v in row.items() if k not in ("graph_id", "placement_id", "reason", "wall_s")}
    return [names[row["graph_id"]], *kept.values()]


def _rejected(folder: Path) -> Iterator[Output]:
    path = folder / "file"
    for number, text in enumerate(WRONG_FABRICS):
        path.write_text(text)
        yield f"wrong fabric {number}", outcome(lambda: fabric.read_fabric(path))
    for number, change in enumerate(WRONG_GRAPHS):
        path.write_text(str({"name": "g", **change}).replace("'", '"'))
        yield f"wrong graph {number}", outcome(lambda: fabric.read_graph(path))
    small = _fabrics()["small"]
    for number, change in enumerate(({"kind": "fft"}, {"inputs": ("y",)}, {"work": 1e9}, {"work": 1e20})):
        layer = [replace(_layer()[1], **{"inputs": (), **change})]
        yield f"wrong layer {number}", outcome(lambda layer=layer: fabric.cut("layer", layer, small))
    group = {"name": "few", "families": ("gemm",)}
    for number, wrong in enumerate(({"families": ("lstm",)}, {"draws": 0})):
        yield f"wrong group {number}", outcome(lambda w=wrong: PlacementGroup(**{**group, **w}))
    yield "wrong schedule", outcome(lambda: fabric.Schedule(moves=-1))


def _wrong_placements(graph: fabric.Graph, small: fabric.Fabric, units: list[int]) -> Iterator[Output]:
    for number, other in enumerate(
        (units[:-1], [999, *units[1:]], [1 - units[0] % 2] * len(units), [1] * 99)
    ):
        yield f"wrong units {number}", outcome(lambda o=other: fabric.require_legal(graph, small, o))
    reader = RouteReader(graph, small)
    text = " ".join(map(str, units))
    lines = [(text, "n"), (text, "x " * len(graph.edges)), (text, "- " * len(graph.edges)), ("1", "")]
    for number, (place, routes) in enumerate(lines):
        yield f"wrong routes {number}", outcome(lambda p=place, r=routes: reader.read(p, r))


def _problems(draw: random.Random) -> Iterator[fabric.Problem]:
    flow = {"source": 0, "target": 1, "links": (0,), "durations": (1,)}
    for _ in range(20):
        count = draw.randint(2, 6)
        pairs = [(a, b) for a in range(count) for b in range(a + 1, count) if draw.random() < 0.5] or [(0, 1)]
        flows = tuple(
            fabric.Flow(
                source=a, target=b, links=tuple(draw.sample(range(5), 2)), durations=(1, 2), input_samples=2
            )
            for a, b in pairs
        )
        services = tuple(draw.randint(1, 30) for _ in range(count))
        common = {"delays": (1,) * count, "latencies": (1,) * 5, "flows": flows}
        yield fabric.Problem(services=services, samples=60, window=draw.choice((0, 8)), **common)
    back = (fabric.Flow(**flow), fabric.Flow(**{**flow, "source": 1, "target": 0}))
    yield fabric.Problem(services=(1, 1), delays=(0, 0), flows=back, latencies=(1,))


def _wrong_problems() -> Iterator[Output]:
    problem = {"services": (1, 1), "delays": (0, 0), "flows": (), "latencies": (1,)}
    flow = {"source": 0, "target": 1, "links": (0,), "durations": (1,)}
    changes: tuple[dict[str, Any], ...] = (
        {"services": ()}, {"delays": (0, -1)}, {"samples": 1}, {"window": 3}, {"packets": 0},
        *({"flows": (fabric.Flow(**{**flow, **c}),)} for c in (
            {"durations": (0,)}, {"links": (7,)}, {"target": 9}, {"input_samples": 0}
        )),
    )  # fmt: skip
    for number, change in enumerate(changes):
        yield f"wrong problem {number}", outcome(lambda c=change: fabric.Problem(**{**problem, **c}))


def _rows(result: fabric.Annealed) -> list[object]:
    return [result.units, result.costs, result.moves, result.best]


def fabric_outputs(folders: Folders) -> Iterator[Output]:
    """Rows of placements, and the results of compiler, annealer, router, heuristic and simulator alone."""
    cache = ContentCache(folder=folders.scratch / "cache")
    cache.folder.mkdir()
    (cache.folder / "engines").symlink_to(folders.engines, target_is_directory=True)
    fabrics = _fabrics()
    few = PlacementGroup(name="few", families=("gemm",), placements=4, moves=50)
    for name, machine in fabrics.items():
        made = make_placements(few, machine, cache=cache, workers=1, on_progress=lambda _: None)
        yield f"placements {name}", _placed(made)
    yield "keys", len({group_key(replace(few, seed=seed), fabrics["small"]) for seed in range(3)})
    for family in (*DRAWN, *fabric.MODEL_FAMILIES):
        operations = [layer_operations(family, seed) for seed in range(3)]
        yield f"layers {family}", operations
        yield f"folds {family}", [fold_of(layer_hash(layer)) for layer in operations]
        for name in ("present", "past"):
            yield f"graphs {family} {name}", fabric.family_graphs(family, fabrics[name], seed=1)
    small = fabrics["small"]
    for parts in (1, 2, 6):
        yield f"lowered in {parts} parts", fabric.lower("layer", _layer(parts), small)
        short = small.model_copy(update={"is_fused": False, "stage_words": 100.0, "fan_out": 1})
        yield f"lowered in {parts} parts of few words", fabric.lower("layer", _layer(parts), short)
    yield "cut", fabric.cut("layer", _layer(4), small)
    yield from _alone(folders, small)
    yield from _rejected(folders.scratch)
    yield from _wrong_problems()


def _alone(folders: Folders, small: fabric.Fabric) -> Iterator[Output]:
    engines = folders.engines
    graph = fabric.lower("layer", _layer(sum_words=400.0), small)
    costs = {
        "heuristic": fabric.HeuristicCost(graph, small),
        "routed": RoutedCost(graph, small, engine_folder=engines),
        "simulated": SimulatedCost(graph, small, engine_folder=engines),
    }
    units = fabric.random_placements(graph, small, 4, seed=1)
    yield "random placements", units
    for name, model in costs.items():
        schedules = [fabric.Schedule(moves=4 if name == "simulated" else 60), fabric.Schedule(moves=3)]
        yield f"annealed by {name} cost", _rows(fabric.anneal(graph, small, model, schedules, seed=2))
    yield "heuristic throughput", costs["heuristic"].throughput(units)
    for limit in (0.5, 1.0):
        options = fabric.RouteOptions(limit=limit, rounds=5)
        routings = fabric.route(graph, small, units.tolist(), options, engine_folder=engines)
        yield f"routes, limit {limit}", routings
        problems = [fabric.problem_of(graph, small, routing.routes) for routing in routings]
        yield f"problems, limit {limit}", problems
    results = fabric.simulate([*problems, *_problems(random.Random(3))], engine_folder=engines)
    yield "simulated", results
    yield "intervals", [outcome(lambda r=result: r.interval_cycles) for result in results]
    reader = RouteReader(graph, small)
    decisions = [
        (" ".join(map(str, u)), encode_routes(r.routes, small)) for u, r in zip(units, routings, strict=True)
    ]
    yield "features of routes", [reader.read(*decision) for decision in decisions]
    yield from _wrong_placements(graph, small, units[0].tolist())
    path = folders.scratch / "graph"
    path.write_text(graph.model_dump_json())
    yield "read graph", fabric.read_graph(path)
    rows = [
        {"source": graph.numbers[e.source], "target": graph.numbers[e.target], "words": e.words}
        for e in graph.edges
    ]
    yield "graph of rows", graph_of_rows("g", [node.model_dump() for node in graph.nodes], rows)
