"""Transfers from and to memory outside, and memory on chip.

Belongs here: theorems 6.18 and 6.19, equation 16. Does not: how they add to computation (`whole.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from pipelines.pragmas.bound.target import Target
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.summary import ROOT, ArrayFacts, Summary


def burst_cycles(elements: int, element_bits: int, burst_bits: int) -> int:
    """Cycles in which elements come or go, packed into bursts (theorem 6.18)."""
    return -(-elements * element_bits // burst_bits)


def transfers(summary: Summary, target: Target) -> tuple[dict[str, int], dict[str, int]]:
    """Cycles of each array's way in and way out, at least once each (theorems 6.18 and 6.19)."""
    if target.burst_bits is None:
        return {}, {}
    bits = target.burst_bits
    outside = [a for a in summary.arrays.values() if a.external and a.shape]
    into = {a.name: burst_cycles(a.elements_in, a.element_bits, bits) for a in outside if a.elements_in}
    out = {a.name: burst_cycles(a.elements_out, a.element_bits, bits) for a in outside if a.elements_out}
    return into, out


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
