"""Latencies that no design of a program can have, whatever its directives.

A report may leave out what its tool does not know: loops without a trip count, and with them the transfers of
what they hold. Such a number is no latency of the program.
"""

from __future__ import annotations

from pipelines.pragmas.bound.target import Target
from pipelines.pragmas.bound.transfer import burst_cycles
from pipelines.pragmas.summary import Summary


def impossible(summary: Summary, target: Target, latency_cycles: int) -> str | None:
    """Why a latency is too small for the data that come and go, bursts alone (theorem 6.18).

    Ports of arrays work side by side, each `burst_bits` a cycle, and no time until the first bits is counted.

    Returns: None where it is not too small, or nothing is transferred on the target.
    """
    if target.burst_bits is None:
        return None
    bits = target.burst_bits
    ways = [
        (burst_cycles(elements, array.element_bits, bits), array.name, elements, way)
        for array in summary.arrays.values()
        if array.external and array.shape
        for elements, way in ((array.elements_in, "come in"), (array.elements_out, "go out"))
    ]
    least, name, elements, way = max(ways, default=(0, "", 0, ""))
    if latency_cycles >= least:
        return None
    return (
        f"a latency must be at least {least} cycles, in which {elements} elements of {name} {way} by "
        f"{bits} bits a cycle, got {latency_cycles}: the report leaves parts of the program out"
    )
