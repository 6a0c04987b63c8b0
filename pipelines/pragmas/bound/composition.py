"""The bound of a program: nests above pipelines, transfers, resources, and latencies that cannot be.

A place's cycles are two numbers: those that every execution takes anew, and the *fill* that a nest of loops
which is flattened into one pipeline takes only once.

Source: NLP-DSE definition 6.15, theorems 6.16 to 6.21, section 4.1 (flattening).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pipelines.base.summation import ordered_sum
from pipelines.pragmas.bound.completion import (
    complete,
    flattened,
    fully_unrolled,
    straight_inside,
)
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
from pipelines.pragmas.summary import RAW, ROOT, ArrayFacts, Summary

COMPUTATION, TRANSFER = "computation", "transfer"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundPart:
    """A part of the bound: the computation of a top-level nest, or a transfer.

    Attributes:
        place: loop or array; kind: COMPUTATION or TRANSFER.
        critical: it is on the longest path.
        limit: its cause, in words (`interval 5 of L2: sum of tmp`, `in: 1798 bursts of 512 bits`).
    """

    place: str
    kind: str
    cycles: float
    critical: bool
    limit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A lower bound on a configuration's latency and resources (theorems 6.17 and 6.21)."""

    latency_cycles: float
    computation_cycles: float
    transfer_cycles: float
    dsp_count: float
    onchip_bits: int
    parts: tuple[BoundPart, ...]


Units = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A place's lower bound.

    Attributes:
        cycles: of one execution; fill_cycles: the part of them that a flattened nest takes once.
        units: least units by (kind, type) at work at once; limit: cause of the slowest part, in words.
    """

    cycles: float
    fill_cycles: float
    units: Units
    limit: str


def cost_of(summary: Summary, completed: Configuration, child: str | int, target: Target) -> Cost:
    """Return the bound of a child of a body."""
    if isinstance(child, int):
        return _straight(summary, child, target)
    loop, choice = summary.loops[child], completed.of(child)
    if choice.pipeline == FINE:
        pipeline = leaf(summary, child, choice.unroll, target, choice.interval)
        return Cost(
            cycles=pipeline.cycles,
            fill_cycles=pipeline.fill_cycles,
            units=pipeline.units,
            limit=f"interval {pipeline.interval_cycles} of {child}: {pipeline.limit}",
        )
    if fully_unrolled(loop, choice) and straight_inside(summary, completed, child):
        return _straight(summary, child, target)
    return _above(summary, completed, child, target)


def _straight(summary: Summary, child: str | int, target: Target) -> Cost:
    """Return the code without loops, executed once (theorem 6.9)."""
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
    """Return a loop that has loops to execute: in sequence (6.15), as copies (6.16), as stages (COARSE)."""
    loop, choice = summary.loops[name], completed.of(name)
    children = summary.children(name)
    costs = {c: cost_of(summary, completed, c, target) for c in children}
    steps = float(iterations(loop, choice.unroll))
    units = {key: n * min(choice.unroll, max(1, loop.trip_count_max)) for key, n in shared(costs).items()}
    if flattened(summary, name):
        inner = costs[summary.child_loops(name)[0]]
        fill = inner.fill_cycles if loop.trip_count_min > 0 else 0
        cycles = steps * (inner.cycles - inner.fill_cycles) + fill
        return Cost(cycles=cycles, fill_cycles=fill, units=units, limit=inner.limit)
    if staged(summary, completed, name):
        slowest = max(costs.values(), key=lambda cost: cost.cycles)
        return Cost(cycles=steps * slowest.cycles, fill_cycles=0, units=units, limit=slowest.limit)
    body, path = longest_path(summary, name, {c: cost.cycles for c, cost in costs.items()}, target)
    slowest = max(path, key=lambda c: costs[c].cycles)
    return Cost(cycles=steps * body, fill_cycles=0, units=units, limit=costs[slowest].limit)


def staged(summary: Summary, completed: Configuration, name: str) -> bool:
    """Tell whether stages of a loop's body overlap: it is asked for, and no value goes back to an earlier
    stage.

    A value from a later child for an earlier one in a next iteration keeps the two in order. One that stays
    in a stage, or goes forward, does not; a value that is only overwritten can have two buffers.
    """
    if completed.of(name).pipeline != COARSE:
        return False
    place = {s: n for n, c in enumerate(summary.children(name)) for s in statements_in(summary, c)}
    return not any(
        d.kind == RAW and d.loop == name and place[d.source] > place[d.target] for d in summary.dependences
    )


def shared(costs: Mapping[str | int, Cost]) -> dict[tuple[str, str], float]:
    """Return the units of parts that share them: the most of any part (equation 15)."""
    most_units: dict[tuple[str, str], float] = {}
    for cost in costs.values():
        for key, count in cost.units.items():
            most_units[key] = max(most_units.get(key, 0.0), count)
    return most_units


def burst_cycles(elements: int, element_bits: int, burst_bits: int) -> int:
    """Return the cycles in which elements come or go, packed into bursts (theorem 6.18)."""
    return -(-elements * element_bits // burst_bits)


def transfers(summary: Summary, target: Target) -> tuple[dict[str, int], dict[str, int]]:
    """Return the cycles of each array transfer in and out, at least once each (theorem 6.18)."""
    if target.burst_bits is None:
        return {}, {}
    bits, wait = target.burst_bits, target.access_cycles
    outside = [a for a in summary.arrays.values() if a.external and a.shape]
    into = {
        a.name: wait + burst_cycles(a.elements_in, a.element_bits, bits) for a in outside if a.elements_in
    }
    out = {
        a.name: wait + burst_cycles(a.elements_out, a.element_bits, bits) for a in outside if a.elements_out
    }
    return into, out


def tile_cycles(
    summary: Summary, configuration: Configuration, completed: Configuration, target: Target
) -> float:
    """Return cycles that tiles wait for memory: each loads and stores its data, after an access of its own.

    Nests at different places are not added up, nor are tiles inside tiles: this is a lower bound. Loops
    inside a pipeline have their data above it (equation 7), and a reduction's arrays may stay on chip. A
    factor takes its share of the tiles whether or not it makes copies.

    Returns: the cycles beyond the one access of `transfers`.
    """
    rounds = max(
        (_tile_rounds(summary, configuration, completed, name) for name in summary.loops), default=1.0
    )
    directions = sum(any(cycles) for cycles in transfers(summary, target))
    return (rounds - 1) * target.access_cycles * directions


def _tile_rounds(
    summary: Summary, configuration: Configuration, completed: Configuration, name: str
) -> float:
    """Count how often the tiles of a loop are entered; 1 where data may stay between tiles."""
    loop, choice = summary.loops[name], configuration.of(name)
    outermost = loop.parent is None
    above = completed.of(name).pipeline != FINE and loop.parallel
    tiles = -(-loop.trip_count_max // (choice.tile * choice.unroll)) if loop.constant else 1
    if choice.tile == 1 or choice.tile >= loop.trip_count_max or tiles == 1 or not (outermost or above):
        return 1.0
    around = (summary.loops[other] for other in summary.loops_around(name))
    return tiles * math.prod(float(iterations(other, completed.of(other.name).unroll)) for other in around)


def level_cycles(cycles: Iterable[int]) -> int:
    """Return the cycles of arrays that are transferred together at one place (theorem 6.19)."""
    return max(cycles, default=0)


def onchip_bits(summary: Summary, configuration: Configuration) -> int:
    """Return the bits of cached arrays (equation 16); 0 where the tool decides."""
    if configuration.caches is None:
        return 0
    return sum(
        _footprint(summary, summary.arrays[array], loop) * summary.arrays[array].element_bits
        for loop, array in configuration.caches
    )


def _footprint(summary: Summary, array: ArrayFacts, loop: str) -> int:
    whole = 1
    for extent in array.shape:
        whole *= extent
    return summary.footprints.get((loop, array.name), whole if loop == ROOT else 0)


def bound(summary: Summary, configuration: Configuration, target: Target) -> Bound:
    """Return the least latency and resources that a configuration can have on a target (theorems 6.17, 6.20
    and 6.21).

    Computation and transfers do not overlap (6.21), not even under COARSE of an outermost loop, whose double
    buffers might overlap them: no measured row is below the sum (docs/pragmas.md, rules of the tools).

    Raises: PragmaError: a directive of a loop that the program has not, or an impossible one.
    """
    completed = complete(summary, configuration, target)
    if not _usual(summary, completed, target):
        target = replace(target, banked_reads=False)
    costs = {c: cost_of(summary, completed, c, target) for c in summary.children(ROOT)}
    computation, path = longest_path(summary, ROOT, {c: cost.cycles for c, cost in costs.items()}, target)
    into, out = transfers(summary, target)
    transfer = level_cycles(into.values()) + level_cycles(out.values())
    transfer += tile_cycles(summary, configuration, completed, target)
    return Bound(
        latency_cycles=computation + transfer,
        computation_cycles=computation,
        transfer_cycles=transfer,
        dsp_count=dsp_count(shared(costs), target),
        onchip_bits=onchip_bits(summary, configuration),
        parts=(
            *_computations(summary, costs, path),
            *_transfers(into, "in", target),
            *_transfers(out, "out", target),
        ),
    )


def _usual(summary: Summary, completed: Configuration, target: Target) -> bool:
    """Tell whether loops without a constant trip count have factors that a search may use, so that arrays
    have as few banks as `leaf.surely_banked` supposes.
    """
    factors = (completed.of(name).unroll for name, loop in summary.loops.items() if not loop.constant)
    return all(factor in (1, *target.varying_factors) for factor in factors)


def dsp_count(units: Units, target: Target) -> float:
    """Return DSP blocks of units (equation 15)."""
    return ordered_sum(count * target.cost(*key).dsp_count for key, count in units.items())


def _computations(
    summary: Summary, costs: dict[str | int, Cost], path: tuple[str | int, ...]
) -> tuple[BoundPart, ...]:
    return tuple(
        BoundPart(
            place=child if isinstance(child, str) else f"line {summary.statements[child].line}",
            kind=COMPUTATION,
            cycles=cost.cycles,
            critical=child in path,
            limit=cost.limit,
        )
        for child, cost in costs.items()
        if cost.cycles > 0
    )


def _transfers(cycles: dict[str, int], direction: str, target: Target) -> tuple[BoundPart, ...]:
    most, wait = level_cycles(cycles.values()), target.access_cycles
    after = f" after an access of {wait} cycles" if wait else ""
    return tuple(
        BoundPart(
            place=array,
            kind=TRANSFER,
            cycles=count,
            critical=count == most,
            limit=f"{direction}: {count - wait} bursts of {target.burst_bits} bits{after}",
        )
        for array, count in cycles.items()
    )


def impossible(summary: Summary, target: Target, latency_cycles: int) -> str | None:
    """Return reason why a latency is too small for the transfers of its data, by bursts alone (theorem 6.18).

    Ports of arrays work in parallel, each `burst_bits` per cycle; the time until the first bits is not
    counted. A report may leave out loops without a trip count, and with them the transfers of their data: its
    number is then no latency of the program.

    Returns: None where it is not too small, or nothing is transferred on the target.
    """
    if target.burst_bits is None:
        return None
    bits = target.burst_bits
    transfers_of_arrays = [
        (burst_cycles(elements, array.element_bits, bits), array.name, elements, direction)
        for array in summary.arrays.values()
        if array.external and array.shape
        for elements, direction in ((array.elements_in, "come in"), (array.elements_out, "go out"))
    ]
    least, name, elements, direction = max(transfers_of_arrays, default=(0, "", 0, ""))
    if latency_cycles >= least:
        return None
    return (
        f"a latency must be at least {least} cycles, in which {elements} elements of {name} {direction} by "
        f"{bits} bits a cycle, got {latency_cycles}: the report leaves parts of the program out"
    )
