"""Routes of placed graphs by negotiated congestion."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.fabric.errors import FabricError
from pipelines.fabric.graphs import Graph
from pipelines.fabric.machine import Fabric
from pipelines.fabric.simulation import Flow, Problem

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
    """

    limit: float = 1.0
    rounds: int = 30
    growth: float = 1.5
    history: float = 0.5


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


def route(graph: Graph, fabric: Fabric, units: Sequence[int], options: RouteOptions | None = None) -> Routing:
    """Route every edge, cheapest path first, and rip up what overused links carry until none is left.

    Raises: FabricError: the placement is not legal.
    Source: PathFinder (McMurchie and Ebeling 1995): present and historical price of shared links.
    """
    require_legal(graph, fabric, units)
    options = options or RouteOptions()
    ends = [(units[graph.numbers[e.source]], units[graph.numbers[e.target]]) for e in graph.edges]
    slowest = slowest_cycles(graph, fabric)
    loads = [e.words / fabric.link_words / slowest for e in graph.edges]
    count = len(fabric.links.ends)
    use, past, price = [0.0] * count, [0.0] * count, 0.5
    routes: list[Route] = [()] * len(ends)
    rounds = 0
    while rounds < options.rounds:
        rounds += 1
        for number in sorted(range(len(ends)), key=lambda n: (-loads[n], n)):
            old = routes[number]
            if old and all(use[link] <= options.limit for link in old):
                continue
            for link in old:
                use[link] -= loads[number]
            costs = [
                (1.0 + past[link]) * (1.0 + price * max(0.0, use[link] + loads[number] - options.limit))
                for link in range(count)
            ]
            routes[number] = _cheapest(fabric, *ends[number], costs)
            for link in routes[number]:
                use[link] += loads[number]
        over = [
            max(0.0, u - options.limit) if not fabric.links.is_port(k) else 0.0 for k, u in enumerate(use)
        ]
        if not any(o > 1e-9 for o in over):
            break
        price *= options.growth
        past = [p + options.history * (o > 1e-9) for p, o in zip(past, over, strict=True)]
    left = sum(max(0.0, u - options.limit) for k, u in enumerate(use) if not fabric.links.is_port(k))
    return Routing(routes=tuple(routes), overuse=left if left > 1e-9 else 0.0, rounds=rounds)


def _cheapest(fabric: Fabric, source: int, target: int, costs: Sequence[float]) -> Route:
    """Links of the cheapest path between two units, ports included (Dijkstra)."""
    best = {source: 0.0}
    came: dict[int, tuple[int, int]] = {}
    queue = [(0.0, source)]
    while queue:
        cost, switch = heapq.heappop(queue)
        if switch == target:
            break
        if cost > best[switch]:
            continue
        for link, other in fabric.links.neighbours[switch]:
            reached = cost + costs[link]
            if reached < best.get(other, math.inf):
                best[other], came[other] = reached, (link, switch)
                heapq.heappush(queue, (reached, other))
    path: list[int] = []
    at = target
    while at != source:
        link, at = came[at]
        path.append(link)
    return (2 * source, *reversed(path), 2 * target + 1)


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
            )
            for edge, path in zip(graph.edges, routes, strict=True)
        ),
        latencies=(fabric.hop_cycles,) * len(links.ends),
        samples=samples,
        packets=fabric.packets,
        hop_packets=fabric.hop_packets,
        buffer_samples=fabric.buffer_samples,
    )
