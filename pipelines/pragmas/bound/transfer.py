"""Transfers from and to memory outside, and memory on chip."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pipelines.pragmas.bound.leaf import iterations
from pipelines.pragmas.bound.target import Target
from pipelines.pragmas.configuration import FINE, Configuration
from pipelines.pragmas.summary import ROOT, ArrayFacts, Summary


def burst_cycles(elements: int, element_bits: int, burst_bits: int) -> int:
    """Cycles in which elements come or go, packed into bursts (theorem 6.18)."""
    return -(-elements * element_bits // burst_bits)


def transfers(summary: Summary, target: Target) -> tuple[dict[str, int], dict[str, int]]:
    """Cycles of each array's way in and way out, at least once each (theorem 6.18)."""
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
    """Cycles that tiles wait for memory: each brings its data and takes it back, after an access of its own.

    Nests at different places are not added up, nor are tiles inside tiles: a lower bound still. Loops inside
    a pipeline have their data above it (equation 7), and a reduction's arrays may stay where they are. A
    factor takes its share of the tiles whether or not it makes copies.

    Returns: the cycles beyond the one access that `transfers` has.
    """
    rounds = max(
        (_tile_rounds(summary, configuration, completed, name) for name in summary.loops), default=1.0
    )
    directions = sum(any(cycles) for cycles in transfers(summary, target))
    return (rounds - 1) * target.access_cycles * directions


def _tile_rounds(
    summary: Summary, configuration: Configuration, completed: Configuration, name: str
) -> float:
    """How often the tiles of a loop are entered; 1 where data may stay from one to the next."""
    loop, choice = summary.loops[name], configuration.of(name)
    outermost = loop.parent is None
    above = completed.of(name).pipeline != FINE and loop.parallel
    tiles = -(-loop.trip_count_max // (choice.tile * choice.unroll)) if loop.constant else 1
    if choice.tile == 1 or choice.tile >= loop.trip_count_max or tiles == 1 or not (outermost or above):
        return 1.0
    around = (summary.loops[other] for other in summary.loops_around(name))
    return tiles * math.prod(float(iterations(other, completed.of(other.name).unroll)) for other in around)


def level_cycles(cycles: Iterable[int]) -> int:
    """Arrays that are transferred at one place go side by side (theorem 6.19)."""
    return max(cycles, default=0)


def onchip_bits(summary: Summary, configuration: Configuration) -> int:
    """Bits of cached arrays (equation 16); where the tool decides, none are sure."""
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
