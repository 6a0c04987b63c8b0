"""Lower bounds on the interval of a graph that hold for every placement and routing, and loads of routes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.fabric.explaining import sending_cycles
from pipelines.fabric.graphs import Graph
from pipelines.fabric.machine import Fabric
from pipelines.fabric.routing import Route, problem_of, service_cycles
from pipelines.fabric.simulation import Problem


def least_intervals(graph: Graph, fabric: Fabric) -> Mapping[str, float]:
    """Lower bounds on the steady interval of every placement and routing, by cause.

    Let T be the long-run mean of the cycles between two starts of an operation. It is the same for all
    operations of a connected graph, because buffers are finite.

    - operation: starts are at least the service time apart, so T is at least the service time.
    - link and port: a sample of an edge occupies each link of its route for `packets` times the cycles of a
      packet, one packet at a time, so T is at least the sum over all edges on one link. For every placement,
      all edges of an operation use the ports of its unit. An edge uses one link or more unless both ends are
      in one unit, which only memory units of several slots can be. The edges of an operation that leave its
      unit leave by at most four links, or fewer where all such units are at the border (`_shared`).
    - buffer: start k + n of an operation waits until sample k has left an output buffer of n samples. Sample
      k is in the buffer its service time and delay after start k, and leaves after at least `sending_cycles`.
      So T is at least the sum of the three over n. The route is the one for which the sum is least; from
      packets / hop_packets links on, further links do not change it.
    """
    problems = [_problem_of_length(graph, fabric, links) for links in _lengths(fabric)]
    bounds: dict[str, float] = {}
    for node, cycles in zip(graph.nodes, service_cycles(graph, fabric), strict=True):
        bounds[f"operation {node.name}"] = cycles
    for number, edge in enumerate(graph.edges):
        fitting = [p for p in problems if len(p.flows[number].links) > 2 or may_share(graph, fabric, number)]
        bounds[f"buffer {edge.source} to {edge.target}"] = min(_held(p, number) for p in fitting)
    loads = edge_loads(graph, fabric)
    for number, node in enumerate(graph.nodes):
        for direction, ends in (("output", loads.sources), ("input", loads.targets)):
            edges = [e for e, end in enumerate(ends) if end == number]
            bounds[f"{direction} port of {node.name}"] = sum(loads.port[e] for e in edges)
            leaving = [loads.link[e] for e in edges if not may_share(graph, fabric, e)]
            bounds[f"{direction} links of {node.name}"] = _shared(leaving, _degree(fabric, node.kind))
    return bounds


def _held(problem: Problem, number: int) -> float:
    """Cycles in which a sample occupies an output buffer, over the samples that it holds."""
    flow = problem.flows[number]
    own = problem.services[flow.source] + problem.delays[flow.source]
    return (own + sending_cycles(problem, flow)) / flow.output_samples


def _lengths(fabric: Fabric) -> range:
    """Links of routes that are told apart: longer ones have the same least time of sending."""
    longest = len(fabric.unit_types) - 1
    return range(min(longest, fabric.packets // fabric.hop_packets + 1) + 1)


def _problem_of_length(graph: Graph, fabric: Fabric, links: int) -> Problem:
    """A problem whose routes all have so many links between their ports."""
    first = 2 * len(fabric.unit_types)
    return problem_of(graph, fabric, [(0, *([first] * links), 1)] * len(graph.edges))


def may_share(graph: Graph, fabric: Fabric, number: int) -> bool:
    """Whether both ends of an edge can be in one unit."""
    edge, numbers = graph.edges[number], graph.numbers
    kinds = {fabric.operation(graph.nodes[numbers[end]].kind).unit for end in (edge.source, edge.target)}
    return kinds == {"memory"} and fabric.memory_slots > 1


def _degree(fabric: Fabric, kind: str) -> int:
    """Most links that leave the switch of a unit that can do an operation."""
    needed = fabric.operation(kind).unit
    ways = zip(fabric.unit_types, fabric.links.neighbours, strict=True)
    return max(1, *(len(links) for unit, links in ways if unit == needed))


def _shared(loads: Sequence[int], links: int) -> int:
    """Least highest load of links that carry some edges: of n links + 1 edges, n + 1 share one."""
    falling = sorted(loads, reverse=True)
    bounds = [math.ceil(sum(falling) / links)]
    for together in range(1, (len(falling) - 1) // links + 2):
        most = (together - 1) * links + 1
        if most <= len(falling):
            bounds.append(sum(falling[most - together : most]))
    return max(bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeLoads:
    """Cycles per sample of every edge on a link and on a port, and the operations at its ends."""

    link: tuple[int, ...]
    port: tuple[int, ...]
    sources: tuple[int, ...]
    targets: tuple[int, ...]


def edge_loads(graph: Graph, fabric: Fabric) -> EdgeLoads:
    """Cycles in which an edge occupies each link and port of its route, as the simulator counts them."""
    links = 1 if len(fabric.unit_types) > 1 else 0
    problem = _problem_of_length(graph, fabric, links)
    packets, flows = problem.packets, problem.flows
    return EdgeLoads(
        link=tuple(packets * flow.durations[links] for flow in flows),
        port=tuple(packets * flow.durations[0] for flow in flows),
        sources=tuple(flow.source for flow in flows),
        targets=tuple(flow.target for flow in flows),
    )


def highest_load(loads: EdgeLoads, routes: Sequence[Route]) -> int:
    """Cycles per sample of the link or port that is used most."""
    sums: dict[int, int] = {}
    for path, on_link, on_port in zip(routes, loads.link, loads.port, strict=True):
        for link in path:
            sums[link] = sums.get(link, 0) + (on_port if link in (path[0], path[-1]) else on_link)
    return max(sums.values(), default=0)
