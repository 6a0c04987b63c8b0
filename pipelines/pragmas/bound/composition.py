"""What is above pipelines: sequences, coarse-grained copies and stages, flattened nests; and resources.

A place's cycles are two numbers: those that every execution takes anew, and the *fill* that a nest of loops
which is flattened into one pipeline takes only once.

Source: NLP-DSE definition 6.15, theorems 6.16, 6.17 and 6.20, section 4.1 (flattening).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.pragmas.bound.completion import child_loops, flattened, fully_unrolled, straight_inside
from pipelines.pragmas.bound.leaf import (
    body_latency,
    busy_units,
    chain_latency,
    iterations,
    leaf,
    longest_path,
    statements_in,
)
from pipelines.pragmas.bound.straight import critical_path
from pipelines.pragmas.bound.target import Target
from pipelines.pragmas.configuration import COARSE, FINE, Configuration
from pipelines.pragmas.summary import RAW, Summary

Units = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A place's lower bound.

    Attributes:
        cycles: of one execution; fill_cycles: the part of them that a flattened nest takes once.
        units: least units by (kind, type) at work at once; limit: what holds the slowest part, in words.
    """

    cycles: float
    fill_cycles: float
    units: Units
    limit: str


def cost_of(summary: Summary, completed: Configuration, child: str | int, target: Target) -> Cost:
    """Bound of a child of a body."""
    if isinstance(child, int):
        return _straight(summary, child, target)
    loop, choice = summary.loops[child], completed.of(child)
    if choice.pipeline == FINE:
        found = leaf(summary, child, choice.unroll, target, choice.interval)
        fill = max(0, found.latency_cycles - found.interval_cycles) if loop.trip_count_min > 0 else 0
        limit = f"interval {found.interval_cycles} of {child}: {found.limit}"
        return Cost(cycles=found.cycles, fill_cycles=fill, units=found.units, limit=limit)
    if fully_unrolled(loop, choice) and straight_inside(summary, completed, child):
        return _straight(summary, child, target)
    return _above(summary, completed, child, target)


def _straight(summary: Summary, child: str | int, target: Target) -> Cost:
    """Code without loops, executed once (theorem 6.9)."""
    if isinstance(child, int):
        statements, factors = [summary.statements[child]], dict[str, int]()
        cycles = critical_path(summary.statements[child], target)
    else:
        statements = [summary.statements[s] for s in statements_in(summary, child)]
        factors = {i: summary.loops[i].trip_count_max for i in (child, *summary.loops_inside(child))}
        body = body_latency(summary, child, target, {child: summary.loops[child].trip_count_max})
        cycles = max(body, chain_latency(summary, child, target))
    limit = f"critical path of {child if isinstance(child, str) else f'line {statements[0].line}'}"
    return Cost(cycles=cycles, fill_cycles=0, units=busy_units(statements, factors, cycles), limit=limit)


def _above(summary: Summary, completed: Configuration, name: str, target: Target) -> Cost:
    """A loop that has loops to execute: in sequence (6.15), as copies (6.16), as stages (COARSE)."""
    loop, choice = summary.loops[name], completed.of(name)
    children = summary.children(name)
    costs = {c: cost_of(summary, completed, c, target) for c in children}
    steps = float(iterations(loop, choice.unroll))
    units = {key: n * min(choice.unroll, max(1, loop.trip_count_max)) for key, n in shared(costs).items()}
    if flattened(summary, name):
        inner = costs[next(child_loops(summary, name))]
        fill = inner.fill_cycles if loop.trip_count_min > 0 else 0
        cycles = steps * (inner.cycles - inner.fill_cycles) + fill
        return Cost(cycles=cycles, fill_cycles=fill, units=units, limit=inner.limit)
    if staged(summary, completed, name):
        slowest = max(costs.values(), key=lambda cost: cost.cycles)
        return Cost(cycles=steps * slowest.cycles, fill_cycles=0, units=units, limit=slowest.limit)
    body, way = longest_path(summary, name, {c: cost.cycles for c, cost in costs.items()})
    slowest = max(way, key=lambda c: costs[c].cycles)
    return Cost(cycles=steps * body, fill_cycles=0, units=units, limit=costs[slowest].limit)


def staged(summary: Summary, completed: Configuration, name: str) -> bool:
    """Whether stages of a loop's body overlap: it is asked for, and no value goes back to an earlier stage.

    A value that a later child makes for an earlier one of a next iteration keeps the two in order. One that
    stays in a stage, or goes forward, does not; what is only overwritten can have two buffers.
    """
    if completed.of(name).pipeline != COARSE:
        return False
    place = {s: n for n, c in enumerate(summary.children(name)) for s in statements_in(summary, c)}
    return not any(
        d.kind == RAW and d.loop == name and place[d.source] > place[d.target] for d in summary.dependences
    )


def shared(costs: Mapping[str | int, Cost]) -> dict[tuple[str, str], float]:
    """Units of parts that take turns: the most of any (equation 15)."""
    found: dict[tuple[str, str], float] = {}
    for cost in costs.values():
        for key, count in cost.units.items():
            found[key] = max(found.get(key, 0.0), count)
    return found
