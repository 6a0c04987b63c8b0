"""Routes of placed graphs by negotiated congestion."""

from __future__ import annotations

import ctypes
import math
import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.base.compiling import compiled_program
from pipelines.fabric.errors import FabricError
from pipelines.fabric.graphs import Edge, Graph
from pipelines.fabric.machine import Fabric
from pipelines.fabric.simulation import Flow, Problem

_SOURCE = Path(__file__).with_name("router.cc")
_FLAGS = ("-std=c++17", "-O2", "-shared", "-fPIC")
Ints = NDArray[np.int64]
Features = NDArray[np.float32]

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
) -> list[Routing]:
    """Route every edge of placements, cheapest path first, and rip up what overused links carry.

    The cost of a link is (1 + past overuse) * (1 + spread * load + price * overuse), loads with this edge.

    Args:   engine_folder: folder of compiled programs, one per version.
    Raises: FabricError: a placement is not legal. ToolMissing: g++ is not installed.
    Source: PathFinder (McMurchie and Ebeling 1995): present and historical price of shared links.
    """
    for units in placements:
        require_legal(graph, fabric, units)
    router = Router(graph, fabric, options, engine_folder=engine_folder)
    router.start(np.array(placements, np.int64).reshape(len(placements), len(graph.nodes)))
    return [router.routing(number) for number in range(len(placements))]


ROUTE_FEATURES = ("hops", "highest_load", "summed_load", "sharers", "port_load")
"""What the router says of the route of an edge: links, highest load of one, summed load, most edges that
share one, and the higher load of its two ports. Loads are shares of the slowest stage's time."""


class Router:
    """Routes of a batch of placements of one graph, followed from move to move.

    A move routes the edges of the moved operations again, at a fixed price of overuse; all others stay.
    """

    def __init__(
        self, graph: Graph, fabric: Fabric, options: RouteOptions | None = None, *, engine_folder: Path
    ) -> None:
        options = options or RouteOptions()
        self._library = _library(engine_folder)
        self.edges, links = len(graph.edges), fabric.links.ends
        self.unit_count = len(fabric.unit_types)
        slowest, numbers = slowest_cycles(graph, fabric), graph.numbers
        loads = np.array([edge.words / fabric.link_words / slowest for edge in graph.edges], np.float64)
        sizes = (fabric.columns, self.unit_count, len(links), len(graph.nodes), self.edges, options.rounds)
        share = fabric.link_words / fabric.port_words
        prices = (options.limit, options.growth, options.history, options.spread, share)
        self._source = np.array([numbers[edge.source] for edge in graph.edges], np.int64)
        self._target = np.array([numbers[edge.target] for edge in graph.edges], np.int64)
        self._handle = ctypes.c_void_p(
            self._library.router_new(
                np.array(sizes, np.int64),
                np.array(prices, np.float64),
                np.array(links, np.int64).ravel(),
                loads,
                self._source,
                self._target,
            )
        )
        weakref.finalize(self, self._library.router_free, self._handle)

    def start(self, units: Ints) -> Features:
        """Route placements from scratch; they become the current ones.

        Args:    units: (placements, nodes), legal.
        Returns: (placements, edges, ROUTE_FEATURES).
        """
        count = len(units)
        self._units = self._proposed = units.copy()
        self._features = np.zeros((count, self.edges, len(ROUTE_FEATURES)), np.float32)
        self._rounds, self._left = np.zeros(count, np.int64), np.zeros(count, np.float64)
        content = np.ascontiguousarray(units, np.int64)
        self._library.router_start(self._handle, count, content, self._features, self._rounds, self._left)
        return self._features

    def propose(self, moved: Ints, units: Ints) -> Features:
        """Route one move per placement.

        Args: moved: (placements, 2) operations whose unit changes, -1 for none. units: after the move.
        """
        moved, units = (np.ascontiguousarray(array, np.int64) for array in (moved, units))
        self._proposed = units
        self._library.router_propose(self._handle, moved, units, self._features)
        return self._features

    def accept(self, accepted: NDArray[np.bool_]) -> None:
        """Make the proposed placements of some the current ones, and forget the others."""
        self._library.router_accept(self._handle, accepted.astype(np.uint8))
        self._units[accepted] = self._proposed[accepted]

    def routing(self, placement: int) -> Routing:
        """Return routes of a current placement, ports included; overuse and rounds as of `start`."""
        lengths = np.zeros(self.edges, np.int64)
        room = 0
        while True:
            links = np.zeros(room, np.int64)
            count = self._library.router_routes(self._handle, placement, room, lengths, links)
            if count <= room:
                break
            room = count
        at, routes, units = 0, list[Route](), self._units[placement]
        ends = zip(units[self._source].tolist(), units[self._target].tolist(), strict=True)
        for length, (source, target) in zip(lengths.tolist(), ends, strict=True):
            routes.append((2 * source, *links[at : at + length].tolist(), 2 * target + 1))
            at += length
        left, rounds = float(self._left[placement]), int(self._rounds[placement])
        return Routing(routes=tuple(routes), overuse=left, rounds=rounds)


@cache
def _library(engine_folder: Path) -> ctypes.CDLL:
    """Return the compiled router, loaded once per process."""
    program = compiled_program(
        engine_folder, engine="fabric-router", sources=(_SOURCE,), flags=_FLAGS, error=FabricError
    )
    library = ctypes.CDLL(os.fspath(program))
    ints, floats, numbers, flags = (
        np.ctypeslib.ndpointer(kind, flags="C_CONTIGUOUS")
        for kind in (np.int64, np.float64, np.float32, np.uint8)
    )
    handle, count = ctypes.c_void_p, ctypes.c_int64
    library.router_new.argtypes = [ints, floats, ints, floats, ints, ints]
    library.router_new.restype = handle
    library.router_free.argtypes = [handle]
    library.router_start.argtypes = [handle, count, ints, numbers, ints, floats]
    library.router_routes.argtypes = [handle, count, count, ints, ints]
    library.router_routes.restype = count
    library.router_propose.argtypes = [handle, ints, ints, numbers]
    library.router_accept.argtypes = [handle, flags]
    return library


def service_cycles(graph: Graph, fabric: Fabric) -> list[int]:
    """Return the cycles per sample of every operation on its unit.

    Raises: FabricError: an operation is unknown, or takes more than CYCLE_LIMIT.
    """
    return [_cycles(node.work / fabric.operation(node.kind).rate, node.name) for node in graph.nodes]


def _cycles(amount: float, what: str) -> int:
    if amount > CYCLE_LIMIT:
        raise FabricError(f"too slow: {what} takes {amount:.3g} cycles; accepted: {CYCLE_LIMIT:.0e} at most")
    return max(1, math.ceil(amount))


def slowest_cycles(graph: Graph, fabric: Fabric) -> int:
    """Return the cycles per sample of the slowest operation: the theoretical bound (section IV-A a)."""
    return max(service_cycles(graph, fabric))


def _stages_skipped(graph: Graph, edge: Edge) -> int:
    """Return the stages between the ends of an edge: its input buffer holds a sample more for each."""
    numbers = graph.numbers
    source, target = graph.nodes[numbers[edge.source]], graph.nodes[numbers[edge.target]]
    return max(0, target.stage - source.stage - 1)


def problem_of(
    graph: Graph, fabric: Fabric, routes: Sequence[Route], *, samples: int = 16, window: int = 0
) -> Problem:
    """Return the simulator's input for a routed graph."""
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
        window=window,
        packets=fabric.packets,
        hop_packets=fabric.hop_packets,
    )
