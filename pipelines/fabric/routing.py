"""Routes of placed graphs by negotiated congestion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipelines.fabric.engine import run_engine
from pipelines.fabric.errors import FabricError
from pipelines.fabric.graphs import Edge, Graph
from pipelines.fabric.machine import Fabric
from pipelines.fabric.simulation import Flow, Problem

_SOURCE = Path(__file__).with_name("router.cc")
Floats = NDArray[np.float64]

CYCLE_LIMIT = 1e12
"""Most cycles per sample or packet, so that sums stay in 64 bits."""
Route = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteOptions:
    """How to route.

    Attributes:
        limit: load of a link, as cycles per sample over those of the slowest stage, above which it is
            overused; links are time-shared, so routes of several flows may share one below it.
        rounds: at most; what is overused after them stays so, for that costs throughput only.
        growth: factor per round of the price of overuse. history: price added per round of overuse.
        spread: price of load below the limit.
    """

    limit: float = 1.0
    rounds: int = 30
    growth: float = 1.5
    history: float = 0.5
    spread: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Routes of every edge, and the overuse that is left: load beyond the limit, summed over links."""

    routes: tuple[Route, ...]
    overuse: float
    rounds: int


def require_legal(graph: Graph, fabric: Fabric, units: Sequence[int]) -> None:
    """Check a placement: every operation on a unit that can do it, no unit with more than its slots.

    Raises: FabricError: it is not legal; the operation and the unit are named.
    """
    if len(units) != len(graph.nodes):
        raise FabricError(f"a placement has one unit per operation: {len(units)} for {len(graph.nodes)}")
    used: dict[int, int] = {}
    for node, unit in zip(graph.nodes, units, strict=True):
        if not 0 <= unit < len(fabric.unit_types):
            raise FabricError(f"unknown unit: {unit} ({node.name})")
        needed = fabric.operation(node.kind).unit
        if fabric.unit_types[unit] != needed:
            raise FabricError(f"{node.name} needs a {needed} unit; {unit} is of {fabric.unit_types[unit]}")
        used[unit] = used.get(unit, 0) + 1
        if used[unit] > fabric.slots(unit):
            raise FabricError(f"unit {unit} has more operations than slots: {fabric.slots(unit)}")


def route(
    graph: Graph,
    fabric: Fabric,
    placements: Sequence[Sequence[int]],
    options: RouteOptions | None = None,
    *,
    engine_folder: Path,
    timeout_s: float = 600.0,
) -> list[Routing]:
    """Route every edge of placements, cheapest path first, and rip up what overused links carry.

    The cost of a link is (1 + past overuse) * (1 + spread * load + price * overuse), loads with this edge.

    Args:   engine_folder: folder of compiled programs, one per version.
    Raises: FabricError: a placement is not legal, or the router failed. ToolMissing: g++ is not installed.
    Source: PathFinder (McMurchie and Ebeling 1995): present and historical price of shared links.
    """
    for units in placements:
        require_legal(graph, fabric, units)
    options = options or RouteOptions()
    slowest, links = slowest_cycles(graph, fabric), fabric.links.ends
    head = [len(placements), fabric.columns, len(fabric.unit_types), len(links), len(graph.edges)]
    head += [options.limit, options.rounds, options.growth, options.history, options.spread]
    loads = [edge.words / fabric.link_words / slowest for edge in graph.edges]
    chosen = np.array(placements, np.float64).reshape(len(placements), len(graph.nodes))
    ends = np.concatenate([chosen[:, _ends(graph, "source")], chosen[:, _ends(graph, "target")]], axis=1)
    content = np.concatenate([head, np.ravel(links), loads, ends.ravel()])
    result = run_engine("fabric-router", _SOURCE, content, engine_folder=engine_folder, timeout_s=timeout_s)
    return _decode(result, ends.astype(int).tolist())


def _ends(graph: Graph, end: Literal["source", "target"]) -> list[int]:
    numbers = graph.numbers
    return [numbers[getattr(edge, end)] for edge in graph.edges]


def _decode(result: Floats, ends: Sequence[Sequence[int]]) -> list[Routing]:
    """Routes with their ports; the router writes links between switches only."""
    numbers = result.astype(np.int64).tolist()
    routings: list[Routing] = []
    at = 0
    for row in ends:
        edges = len(row) // 2
        rounds, left = numbers[at], float(result[at + 1])
        at += 2
        routes: list[Route] = []
        for source, target in zip(row[:edges], row[edges:], strict=True):
            end = at + 1 + numbers[at]
            routes.append((2 * source, *numbers[at + 1 : end], 2 * target + 1))
            at = end
        routings.append(Routing(routes=tuple(routes), overuse=left, rounds=rounds))
    if at != len(numbers):
        raise FabricError(f"the fabric router wrote {len(numbers)} numbers; expected {at}")
    return routings


def service_cycles(graph: Graph, fabric: Fabric) -> list[int]:
    """Cycles per sample of every operation on its unit.

    Raises: FabricError: an operation is unknown, or takes more than CYCLE_LIMIT.
    """
    return [_cycles(node.work / fabric.operation(node.kind).rate, node.name) for node in graph.nodes]


def _cycles(amount: float, what: str) -> int:
    if amount > CYCLE_LIMIT:
        raise FabricError(f"too slow: {what} takes {amount:.3g} cycles; accepted: {CYCLE_LIMIT:.0e} at most")
    return max(1, math.ceil(amount))


def slowest_cycles(graph: Graph, fabric: Fabric) -> int:
    """Cycles per sample of the slowest operation: the theoretical bound (section IV-A a)."""
    return max(service_cycles(graph, fabric))


def _stages_skipped(graph: Graph, edge: Edge) -> int:
    """Stages between the ends of an edge: its input buffer holds a sample more for each."""
    numbers = graph.numbers
    source, target = graph.nodes[numbers[edge.source]], graph.nodes[numbers[edge.target]]
    return max(0, target.stage - source.stage - 1)


def problem_of(graph: Graph, fabric: Fabric, routes: Sequence[Route], *, samples: int = 16) -> Problem:
    """What the simulator needs of a routed graph."""
    numbers, links = graph.numbers, fabric.links

    def duration(words: float, link: int) -> int:
        width = fabric.port_words if links.is_port(link) else fabric.link_words
        return _cycles(words / fabric.packets / width, f"a packet on link {link}")

    return Problem(
        services=tuple(service_cycles(graph, fabric)),
        delays=tuple(fabric.operation(node.kind).delay_cycles for node in graph.nodes),
        flows=tuple(
            Flow(
                source=numbers[edge.source],
                target=numbers[edge.target],
                links=path,
                durations=tuple(duration(edge.words, link) for link in path),
                output_samples=fabric.buffer_samples(graph.nodes[numbers[edge.source]].kind),
                input_samples=fabric.buffer_samples(graph.nodes[numbers[edge.target]].kind)
                + _stages_skipped(graph, edge),
            )
            for edge, path in zip(graph.edges, routes, strict=True)
        ),
        latencies=(fabric.hop_cycles,) * len(links.ends),
        samples=samples,
        packets=fabric.packets,
        hop_packets=fabric.hop_packets,
    )
