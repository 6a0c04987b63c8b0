"""The bound of a program: computation and transfer together, resources, and what each part takes."""

from __future__ import annotations

from dataclasses import replace

from pipelines.pragmas.bound.completion import complete
from pipelines.pragmas.bound.composition import Cost, Units, cost_of, shared
from pipelines.pragmas.bound.leaf import longest_path
from pipelines.pragmas.bound.result import COMPUTATION, TRANSFER, Bound, BoundPart
from pipelines.pragmas.bound.target import Target
from pipelines.pragmas.bound.transfer import level_cycles, onchip_bits, tile_cycles, transfers
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.summary import ROOT, Summary


def bound(summary: Summary, configuration: Configuration, target: Target) -> Bound:
    """Least latency and resources that a configuration can have on a target (theorems 6.17, 6.20 and 6.21).

    Computation and transfers take turns (6.21), under COARSE of an outermost loop too, whose double buffers
    might overlap them: no measured row is below the sum (docs/pragmas.md, rules of the tools).

    Raises: PragmaError: a directive of a loop that the program has not, or an impossible one.
    """
    completed = complete(summary, configuration, target)
    if not _usual(summary, completed, target):
        target = replace(target, banked_reads=False)
    costs = {c: cost_of(summary, completed, c, target) for c in summary.children(ROOT)}
    computation, way = longest_path(summary, ROOT, {c: cost.cycles for c, cost in costs.items()})
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
            *_computations(summary, costs, way),
            *_transfers(into, "in", target),
            *_transfers(out, "out", target),
        ),
    )


def _usual(summary: Summary, completed: Configuration, target: Target) -> bool:
    """Whether loops of no constant trip count have factors that a search may ask for, so that the banks of
    arrays are as few as `banks.surely_banked` supposes."""
    factors = (completed.of(name).unroll for name, loop in summary.loops.items() if not loop.constant)
    return all(factor in (1, *target.varying_factors) for factor in factors)


def dsp_count(units: Units, target: Target) -> float:
    """DSP blocks of units that are at work at once (equation 15)."""
    return sum(count * target.cost(*key).dsp_count for key, count in units.items())


def _computations(
    summary: Summary, costs: dict[str | int, Cost], way: tuple[str | int, ...]
) -> tuple[BoundPart, ...]:
    return tuple(
        BoundPart(
            place=child if isinstance(child, str) else f"line {summary.statements[child].line}",
            kind=COMPUTATION,
            cycles=cost.cycles,
            critical=child in way,
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
