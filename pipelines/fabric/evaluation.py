"""Measured throughput of placements: routed, then simulated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pipelines.fabric.errors import FabricError
from pipelines.fabric.graphs import Graph
from pipelines.fabric.machine import Fabric
from pipelines.fabric.placing import Bools, Floats, Ints
from pipelines.fabric.routing import RouteOptions, Routing, problem_of, route, slowest_cycles
from pipelines.fabric.simulation import Problem, Simulated, simulate

SAMPLES, WINDOW = 256, 24
"""Samples at most, and those between which the flow must be steady; a repeat doubles both."""
LEAST_SHARE = 0.98
"""Share of the interval that the most loaded link or port needs; a shorter one is measured again."""
REPEATS = 8
"""Data of the releases needs three."""

DEADLOCK_COST = 1e9
"""Cost of a placement that deadlocks: finite, for differences of costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A placement with its routes and what the simulator says.

    Attributes:
        throughput: normalised by the slowest stage, in 0 to 1 (section IV-A a); None after a deadlock.
    """

    units: tuple[int, ...]
    routing: Routing
    simulated: Simulated
    throughput: float | None


def measure(
    graph: Graph,
    fabric: Fabric,
    placements: Sequence[Sequence[int]],
    *,
    engine_folder: Path,
    samples: int = SAMPLES,
    window: int = WINDOW,
    options: RouteOptions | None = None,
    routings: Sequence[Routing] | None = None,
) -> list[Measured]:
    """Route and simulate placements of a graph.

    With a window, no flow is faster than its most loaded link allows, up to `LEAST_SHARE`: a flow can look
    steady while buffers behind that link still empty, so such a placement is simulated again with more
    samples and a longer window. Over n samples, buffers that hold b hide at most b / n of the interval.

    Args: routings: of the placements, where there are some already. window: 0 measures a batch as it is.

    Raises: FabricError: a placement is not legal, an engine failed, or the flow stays too fast.
            ToolMissing: g++ is not installed.
    """
    if routings is None:
        routings = route(graph, fabric, placements, options, engine_folder=engine_folder)
    problems = [
        problem_of(graph, fabric, routing.routes, samples=samples, window=window) for routing in routings
    ]
    results = simulate(problems, engine_folder=engine_folder)
    if window:
        results = _steady(graph, problems, results, engine_folder)
    slowest = slowest_cycles(graph, fabric)
    return [
        Measured(
            units=tuple(units),
            routing=routing,
            simulated=result,
            throughput=None if result.is_deadlocked else min(1.0, slowest / result.interval_cycles),
        )
        for units, routing, result in zip(placements, routings, results, strict=True)
    ]


def _steady(
    graph: Graph, problems: Sequence[Problem], results: Sequence[Simulated], engine_folder: Path
) -> list[Simulated]:
    """Return the results of which none is faster than its most loaded link allows."""
    parts, problems, results = _parts(graph), list(problems), list(results)
    least = [LEAST_SHARE * _link_cycles(problem, parts) for problem in problems]
    for _ in range(REPEATS):
        fast = [n for n, result in enumerate(results) if _is_faster(result, least[n])]
        if not fast:
            break
        for n in fast:
            problem = problems[n]
            problems[n] = replace(problem, samples=2 * problem.samples, window=2 * problem.window)
        again = simulate([problems[n] for n in fast], engine_folder=engine_folder)
        for n, result in zip(fast, again, strict=True):
            results[n] = result
    for problem, result, cycles in zip(problems, results, least, strict=True):
        if _is_faster(result, cycles):
            raise FabricError(
                f"{graph.name} is not steady after {problem.samples} samples: {result.interval_cycles:.0f} "
                f"cycles per sample, below the {cycles:.0f} of its most loaded link; buffers are too "
                "deep, or the simulator is wrong"
            )
    return results


def _is_faster(result: Simulated, cycles: float) -> bool:
    return not result.is_deadlocked and result.interval_cycles < cycles


def _link_cycles(problem: Problem, parts: Sequence[int]) -> int:
    """Return the cycles per sample that the most loaded link or port sends for one part of the graph."""
    sent: Counter[tuple[int, int]] = Counter()
    for flow in problem.flows:
        for link, duration in zip(flow.links, flow.durations, strict=True):
            sent[parts[flow.source], link] += duration * problem.packets
    return max(sent.values(), default=0)


def _parts(graph: Graph) -> list[int]:
    """Return connected part of every operation: parts that share links only may run at rates of their own."""
    numbers, parts = graph.numbers, list(range(len(graph.nodes)))
    for edge in graph.edges:
        ours, theirs = parts[numbers[edge.source]], parts[numbers[edge.target]]
        parts = [ours if part == theirs else part for part in parts]
    return parts


class SimulatedCost:
    """Cost model for the annealer: -log of the simulated throughput; it simulates every proposal."""

    def __init__(self, graph: Graph, fabric: Fabric, *, engine_folder: Path) -> None:
        self.graph, self.fabric, self.engine_folder = graph, fabric, engine_folder

    def start(self, units: Ints) -> Floats:
        """Return (chains,) costs of whole placements; see `CostModel`."""
        results = measure(self.graph, self.fabric, units.tolist(), engine_folder=self.engine_folder)
        return np.array([DEADLOCK_COST if not r.throughput else -np.log(r.throughput) for r in results])

    def propose(self, moved: Ints, units: Ints) -> Floats:
        """Return (chains,) costs after one move per chain; see `CostModel`."""
        del moved
        return self.start(units)

    def accept(self, accepted: Bools) -> None:
        """Do nothing: the model keeps no placements."""
        del accepted
