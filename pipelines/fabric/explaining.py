"""What limits the throughput of a placed graph, and what lacks when a graph does not fit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.fabric.errors import FabricError
from pipelines.fabric.graphs import Graph
from pipelines.fabric.machine import Fabric, UnitType
from pipelines.fabric.routing import Route, problem_of
from pipelines.fabric.simulation import Flow, Problem, Simulated

NEARLY_ALL = 0.95
"""Share of the interval from which on one thing alone explains it."""
SHOWN = 5
"""Limits of an explanation."""
UNIT_TYPES: tuple[UnitType, ...] = ("compute", "memory")
Cause = Literal["operation", "link", "port", "buffer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A lower bound on the cycles between two samples.

    Attributes:
        cause: "operation": the time that it is busy; "link" or "port": the time that it sends; "buffer": the
            time that a sample occupies an output buffer.
        number: of the operation, link or edge (buffer).
        cycles: per sample. share: of the measured interval, at most 1: buffers that were filled before it was
            measured can shorten it.
        text: in words.
    """

    cause: Cause
    number: int
    cycles: float
    share: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What limits the throughput.

    Attributes: interval_cycles: measured. limits: the highest first. text: one sentence about the first.
    """

    interval_cycles: float
    limits: tuple[Limit, ...]
    text: str


def explain_throughput(
    graph: Graph, fabric: Fabric, units: Sequence[int], routes: Sequence[Route], simulated: Simulated
) -> Explanation:
    """Return the highest lower bounds on the interval, and whether the first explains it.

    An operation starts a sample when each output buffer has room, which is free again when the sample has
    left. With buffers of n samples the interval is therefore at least 1 / n of the time of the operation, its
    delay, and the sending of its output.

    Raises: FabricError: the simulation ended in a deadlock.
    """
    if simulated.is_deadlocked:
        raise FabricError(f"deadlock after {simulated.cycles} cycles: there is no throughput to explain")
    problem = problem_of(graph, fabric, routes)
    interval = simulated.interval_cycles
    bounds = sorted(_bounds(problem), key=lambda bound: (-bound[2], bound[:2]))
    words = _Words(graph, fabric, units, routes)
    limits = tuple(
        Limit(
            cause=cause,
            number=number,
            cycles=cycles,
            share=min(1.0, cycles / interval),
            text=words.of(cause, number),
        )
        for cause, number, cycles in bounds[:SHOWN]
    )
    first = limits[0]
    share = f"{first.text}: {first.cycles:,.0f} cycles per sample, and a sample ends every {interval:,.0f}"
    if first.share >= NEARLY_ALL:
        return Explanation(interval_cycles=interval, limits=limits, text=share)
    reason = "nothing is busy all the time: flows wait for shared links and for full buffers"
    return Explanation(interval_cycles=interval, limits=limits, text=f"{reason}; most time takes {share}")


def link_loads(simulated: Simulated) -> list[float]:
    """Return the share of the interval in which each link sends; after a deadlock, of the whole time."""
    deadlocked = simulated.is_deadlocked
    cycles = max(1, simulated.cycles) if deadlocked else simulated.interval_cycles * simulated.complete
    return [min(1.0, sent / cycles) for sent in simulated.link_cycles]


def _bounds(problem: Problem) -> Iterator[tuple[Cause, int, float]]:
    """Yield cause, number and cycles of every lower bound on the interval."""
    for number, cycles in enumerate(problem.services):
        yield "operation", number, cycles
    ports = {link for flow in problem.flows for link in (flow.links[0], flow.links[-1])}
    sent: Counter[int] = Counter()
    for flow in problem.flows:
        for link, duration in zip(flow.links, flow.durations, strict=True):
            sent[link] += duration * problem.packets
    for link, cycles in sorted(sent.items()):
        yield "port" if link in ports else "link", link, cycles
    for number, flow in enumerate(problem.flows):
        held = problem.services[flow.source] + problem.delays[flow.source] + sending_cycles(problem, flow)
        yield "buffer", number, held / flow.output_samples


def sending_cycles(problem: Problem, flow: Flow) -> int:
    """Return the least cycles from the time when a sample is in the output buffer until its last packet has
    left it.

    Of P packets, a buffer between two links holds H. The last packet starts on the first link when all but H
    have been sent by the second link, the last of these when all but 2 H have been sent by the third, and so
    on. So P - j H packets take their durations one after the other on link j. Before them the first packet
    comes over j links and their latencies; after them one packet is sent by each of the j links.
    """
    most, before = 0, 0
    for hop, (link, duration) in enumerate(zip(flow.links, flow.durations, strict=True)):
        packets = problem.packets - problem.hop_packets * hop
        if packets <= 0:
            break
        most = max(most, packets * duration + before)
        before += 2 * duration + problem.latencies[link]
    return most


class _Words:
    """Names of operations, links, ports and buffers for people."""

    def __init__(self, graph: Graph, fabric: Fabric, units: Sequence[int], routes: Sequence[Route]) -> None:
        self.graph, self.fabric, self.units, self.routes = graph, fabric, units, routes

    def of(self, cause: Cause, number: int) -> str:
        if cause == "operation":
            node = self.graph.nodes[number]
            return f"operation {node.name} ({node.kind}) on the unit at {self._tile(self.units[number])}"
        if cause == "buffer":
            edge = self.graph.edges[number]
            return (
                f"the output buffer of {edge.source} to {edge.target}, which a sample fills until it is sent"
            )
        source, target = self.fabric.links.ends[number]
        carries = f"which carries {self._flows(number)}"
        if cause == "link":
            return f"the link from {self._tile(source)} to {self._tile(target)}, {carries}"
        end, unit_type = "input" if number % 2 else "output", self.fabric.unit_types[source]
        return f"the {end} port of the {unit_type} unit at {self._tile(source)}, {carries}"

    def _tile(self, unit: int) -> str:
        row, column = divmod(unit, self.fabric.columns)
        return f"row {row}, column {column}"

    def _flows(self, link: int) -> str:
        edges = zip(self.graph.edges, self.routes, strict=True)
        names = [f"{edge.source} to {edge.target}" for edge, route in edges if link in route]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return "; ".join(names[:3]) + more


def require_fit(graph: Graph, fabric: Fabric) -> None:
    """Check that a fabric has units for every operation; the message says how many are needed and there.

    Raises: FabricError: an operation is unknown, or there are too few units of a type.
    """
    needed = dict.fromkeys(UNIT_TYPES, 0)
    for node in graph.nodes:
        needed[fabric.operation(node.kind).unit] += 1
    if all(count <= fabric.room(unit) for unit, count in needed.items()):
        return
    counts = "; ".join(
        f"{count} operations on {unit} units, room for {fabric.room(unit)}" for unit, count in needed.items()
    )
    without = [unit for unit, count in needed.items() if count and not fabric.room(unit)]
    if without:
        raise FabricError(f"fabric {fabric.name} has no {' and no '.join(without)} units ({counts})")
    parts = max(math.ceil(count / fabric.room(unit)) for unit, count in needed.items() if count)
    raise FabricError(
        f"graph too large for {fabric.name}: {counts}; accepted: {parts} graphs or more in its place, or a "
        "larger fabric"
    )
