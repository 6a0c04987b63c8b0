"""`simfoundry place`: units and routes of a dataflow graph on a fabric, its throughput and what limits it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from textwrap import TextWrapper
from typing import Any

from assets.deployments import find_deployment
from assets.errors import FoundryError
from assets.settings import CONFIGURATION_FOLDER
from models.catalogue import predictors
from pipelines.base.folders import replacing_file
from pipelines.base.limited import reading
from pipelines.fabric import Fabric, Graph, read_fabric, read_graph, slowest_cycles
from pipelines.fabric.evaluation import Measured, SimulatedCost, measure
from pipelines.fabric.explaining import explain_throughput, link_loads, require_fit
from pipelines.fabric.heuristic import HeuristicCost, RoutedCost
from pipelines.fabric.layers import cut
from pipelines.fabric.picture import placement_picture
from pipelines.fabric.placing import Annealed, CostModel, Schedule, anneal
from pipelines.fabric.routing import Router
from simfoundry.commands.aligned import aligned_lines
from simfoundry.commands.dimensions import sizes_of
from simfoundry.commands.predict import registered_model
from simfoundry.questions import DEFAULT_FABRIC, File, PlaceQuestion

HEURISTIC, SIMULATOR, LEARNED = "heuristic", "simulator", "pnr-gnn"
CHAINS = 8
"""Annealed at a time; the end of each is simulated, and the best one is the answer. The heuristic takes turns
with the same rules on real routes: each finds placements that the other misses."""
LISTED = 12
"""Tiles of a route that the text names."""
TILE_LIMIT = 1024
"""Tiles of a fabric: tables of the cost models grow with its square, 1 GiB at this size."""
_WRAPPER = TextWrapper(width=110, subsequent_indent=" " * 13, break_long_words=False, break_on_hyphens=False)


def answer_place(question: PlaceQuestion) -> dict[str, Any]:
    """Place every graph, and write its picture when that is asked for.

    Raises: FabricError: graph, model or fabric is not acceptable, or the graph does not fit. FoundryError: an
            option is not acceptable, or no placement works.
    """
    if question.svg is not None and not Path(question.svg).parent.is_dir():
        raise FoundryError(f"no such folder: {Path(question.svg).parent} (--svg {question.svg})")
    with reading(f"the graph {question.graph}"):
        fabric = read_fabric(Path(question.fabric or CONFIGURATION_FOLDER / DEFAULT_FABRIC))
        tiles = len(fabric.unit_types)
        if tiles > TILE_LIMIT:
            raise FoundryError(
                f"fabric too large: {tiles} tiles ({fabric.name}); accepted: {TILE_LIMIT} at most"
            )
        graphs, notes = _read_graphs(question, fabric)
    answers = [
        _place(graph, fabric, question, number if len(graphs) > 1 else None)
        for number, graph in enumerate(graphs)
    ]
    cycles = sum(answer["cycles_per_sample"] for answer in answers)
    return {
        "fabric": fabric.name,
        "cost_model": question.cost_model,
        "seed": question.seed,
        "cycles_per_sample": cycles,
        "samples_per_second": _per_second(cycles, question.clock),
        "notes": notes,
        "graphs": answers,
    }


def _read_graphs(question: PlaceQuestion, fabric: Fabric) -> tuple[list[Graph], list[str]]:
    """Read the graph of a JSON file, or the graphs of an ONNX model with what was assumed about it."""
    path = Path(question.graph)
    if path.suffix.lower() == ".onnx":
        from pipelines.fabric.onnx_graphs import read_onnx  # lazy import: takes 0.2 s

        network = read_onnx(path, dimensions=sizes_of(question.dimension))
        return cut(path.stem[:100], network.operations, fabric), list(network.notes)
    if question.dimension:
        raise FoundryError("--dimension is for ONNX models: a graph has sizes for all its data")
    graph = read_graph(path)
    require_fit(graph, fabric)
    if not graph.edges:
        raise FoundryError(f"graph {graph.name} has no edges; accepted: 1 or more ({path})")
    return [graph], []


def _place(graph: Graph, fabric: Fabric, question: PlaceQuestion, number: int | None) -> dict[str, Any]:
    engine_folder = find_deployment().cache_dir / "engines"
    with cost_model(question.cost_model, graph, fabric, engine_folder) as model:
        models = [model]
        if isinstance(model, HeuristicCost):
            models.append(RoutedCost(graph, fabric, engine_folder=engine_folder))
        found = [
            _search(graph, fabric, each, question, turn, len(models)) for turn, each in enumerate(models)
        ]
    measured = [result for _, results in found for result in results]
    best = max(measured, key=lambda result: result.throughput or 0.0)
    if best.throughput is None:
        raise FoundryError(
            f"no placement of {graph.name} works: all {len(measured)} that were simulated ended in a "
            "deadlock; accepted: a fabric with larger buffers, another --seed or more --moves"
        )
    return {
        **_answer(graph, fabric, best, question.clock),
        "heuristic_throughput": round(_estimated(graph, fabric, best), 4),
        "moves": sum(annealed.moves for annealed, _ in found),
        "wall_s": round(sum(annealed.wall_s for annealed, _ in found), 3),
        "picture": _draw(graph, fabric, best, question.svg, number),
    }


def _search(
    graph: Graph, fabric: Fabric, model: CostModel, question: PlaceQuestion, turn: int, turns: int
) -> tuple[Annealed, list[Measured]]:
    """Return the chains with their share of the moves under one of several cost models, and their ends,
    simulated.

    Ends of a cost model that routes are simulated with the routes that were judged, too.
    """
    engine_folder = find_deployment().cache_dir / "engines"
    moves = _share(question.moves, turn, turns)
    schedules = [Schedule(moves=_share(moves, chain, CHAINS)) for chain in range(CHAINS)]
    say = question.on_step or (lambda step: None)  # noqa: ARG005
    search = f"{graph.name}: search {turn + 1} of {turns}"
    say(f"{search}, {moves:,} moves")
    annealed = anneal(
        graph,
        fabric,
        model,
        schedules,
        seed=question.seed,
        on_tenth=lambda tenth: say(f"{search}, {10 * tenth} % of the moves"),
    )
    say(f"{search}, simulation of {CHAINS} placements")
    measured = measure(graph, fabric, annealed.units.tolist(), engine_folder=engine_folder)
    if isinstance(router := getattr(model, "router", None), Router):
        routings, last = [router.routing(chain) for chain in range(CHAINS)], annealed.last.tolist()
        measured += measure(graph, fabric, last, engine_folder=engine_folder, routings=routings)
    return annealed, measured


def _share(moves: int, part: int, parts: int) -> int:
    return moves // parts + (part < moves % parts)


def _estimated(graph: Graph, fabric: Fabric, best: Measured) -> float:
    import numpy as np

    return float(HeuristicCost(graph, fabric).throughput(np.array([best.units]))[0])


@contextmanager
def cost_model(name: str, graph: Graph, fabric: Fabric, engine_folder: Path) -> Iterator[CostModel]:
    """Open the cost model of a name.

    Raises: FoundryError: an unknown one, or one that is not registered.
    """
    predictor, _, alias = name.partition("@")
    if name == HEURISTIC:
        yield HeuristicCost(graph, fabric)
    elif name == SIMULATOR:
        yield SimulatedCost(graph, fabric, engine_folder=engine_folder)
    elif predictor == LEARNED and alias:
        if LEARNED not in {spec.name for spec in predictors()}:
            raise FoundryError(f"no predictor {LEARNED} is registered; accepted: {HEURISTIC}, {SIMULATOR}")
        with registered_model(predictor, alias) as model:
            learned = model.unwrap_python_model().predictor
            yield import_module("models.pnr_gnn").cost_model(
                fabric, graph, predictor=learned, engine_folder=engine_folder
            )
    else:
        raise FoundryError(
            f"unknown cost model: {name}; accepted: {HEURISTIC}, {SIMULATOR}, {LEARNED}@champion"
        )


# ---- answers ---------------------------------------------------------------------------------------


def _answer(graph: Graph, fabric: Fabric, best: Measured, clock: float | None) -> dict[str, Any]:
    routes, interval = best.routing.routes, best.simulated.interval_cycles
    explanation = explain_throughput(graph, fabric, best.units, routes, best.simulated)
    return {
        "graph": graph.name,
        "throughput": round(best.throughput or 0.0, 4),
        "cycles_per_sample": interval,
        "samples_per_second": _per_second(interval, clock),
        "slowest_operation_cycles": slowest_cycles(graph, fabric),
        "bottleneck": explanation.text,
        "limits": [
            {"cause": limit.cause, "what": limit.text, "cycles": limit.cycles, "share": round(limit.share, 4)}
            for limit in explanation.limits
        ],
        "placement": [
            {"operation": node.name, "kind": node.kind, "stage": node.stage, "unit": unit}
            | dict(zip(("row", "column"), divmod(unit, fabric.columns), strict=True))
            for node, unit in zip(graph.nodes, best.units, strict=True)
        ],
        "routes": [
            {
                "source": edge.source,
                "target": edge.target,
                "words": edge.words,
                "links": list(route),
                "tiles": _tiles(fabric, route),
            }
            for edge, route in zip(graph.edges, routes, strict=True)
        ],
    }


def _tiles(fabric: Fabric, route: Sequence[int]) -> list[tuple[int, int]]:
    """Return row and column of every tile of a route."""
    ends = fabric.links.ends
    switches = [ends[route[0]][0], *(ends[link][1] for link in route if not fabric.links.is_port(link))]
    return [divmod(switch, fabric.columns) for switch in switches]


def _per_second(cycles: float, clock: float | None) -> float | None:
    return None if clock is None else clock * 1e6 / cycles


def _draw(graph: Graph, fabric: Fabric, best: Measured, svg: File | None, number: int | None) -> str | None:
    """Write the picture; with several graphs, each file name has its number before the ending."""
    if svg is None:
        return None
    path = Path(svg)
    if number is not None:
        path = path.with_name(f"{path.stem}.{number}{path.suffix}")
    loads = link_loads(best.simulated)
    try:
        with replacing_file(path) as new:
            new.write_text(
                placement_picture(graph, fabric, best.units, best.routing.routes, loads), encoding="utf-8"
            )
    except OSError as error:
        raise FoundryError(f"cannot write --svg {path}: {error.strerror}") from error
    return str(path)


# ---- text ------------------------------------------------------------------------------------------


def place_text(answer: Mapping[str, Any]) -> str:
    """Return the answer as text."""
    lines = [f"note         {note}" for note in answer["notes"]]
    for graph in answer["graphs"]:
        lines += [*_graph_lines(graph, answer), ""]
    if len(answer["graphs"]) > 1:
        lines.append(f"{len(answer['graphs'])} graphs, one after the other: {_speed(answer)}")
    return "\n".join(map(_printable, lines)).rstrip("\n")


def _printable(line: str) -> str:
    """Return a line without control characters, which names may have."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in line)


def _graph_lines(graph: Mapping[str, Any], answer: Mapping[str, Any]) -> list[str]:
    rows = [
        [str(place[name]) for name in ("operation", "kind", "stage", "row", "column")]
        for place in graph["placement"]
    ]
    routes = [
        [route["source"], route["target"], f"{route['words']:,.0f}", _path(route["tiles"])]
        for route in graph["routes"]
    ]
    plain = {
        "graph": f"{graph['graph']} on {answer['fabric']}: {len(rows)} operations, {len(routes)} edges",
        "throughput": f"{graph['throughput']:.4f} of that of the slowest operation",
        "speed": _speed(graph),
        "bottleneck": graph["bottleneck"],
        "heuristic": f"throughput {graph['heuristic_throughput']:.4f}",
        "search": f"{graph['moves']:,} moves by {answer['cost_model']} in {graph['wall_s']:.2f} s",
        **({"picture": graph["picture"]} if graph["picture"] else {}),
    }
    lines = [line for name, text in plain.items() for line in _WRAPPER.wrap(f"{name:<12} {_printable(text)}")]
    lines += ["", *aligned_lines([("operation", "kind", "stage", "row", "column"), *rows])]
    if routes:
        lines += ["", *aligned_lines([("from", "to", "words", "tiles (row,column)"), *routes])]
    return lines


def _speed(figures: Mapping[str, Any]) -> str:
    cycles = f"{figures['cycles_per_sample']:,.0f} cycles per sample"
    rate = figures["samples_per_second"]
    return cycles if rate is None else f"{rate:,.1f} samples per second, {cycles}"


def _path(tiles: Sequence[tuple[int, int]]) -> str:
    shown = [f"{row},{column}" for row, column in tiles]
    if len(shown) > LISTED:
        shown = [*shown[: LISTED // 2], "…", *shown[-LISTED // 2 :]]
    return " ".join(shown)
