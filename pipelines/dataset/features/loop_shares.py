"""Shares of the loops in the estimated area and cycles of a design.

A part of the area counts for the innermost loops whose blocks use it, the same for each: a unit that three
loops share counts a third for each of them. A block counts for the innermost loop around it. So shares sum to
1, and say what a loop has of its own; without it, the design keeps what it shares with others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.base.summation import ordered_sum
from pipelines.cyclemodel import ControlEstimate, natural_loops
from pipelines.hls import CompiledDesign, area_parts

OUTSIDE = ""
"""Stands for the name of a loop where a part is in none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopShare:
    """What a loop has of a design. loop: of the scheduled design, `OUTSIDE` for none; shares: 0 to 1."""

    loop: str
    area: float
    cycles: float


def loop_shares(compiled: CompiledDesign, estimate: ControlEstimate) -> list[LoopShare]:
    """Return the shares of all loops, the largest area first."""
    blocks = compiled.scheduled.graph.blocks
    names = [OUTSIDE] * len(blocks)
    for loop in sorted(natural_loops(blocks), key=lambda own: -len(own.body)):
        for index in loop.body:
            names[index] = blocks[loop.header].loop or OUTSIDE
    areas: dict[str, float] = defaultdict(float)
    for part in area_parts(compiled.scheduled):
        users = {names[index] for index in part.blocks} or {OUTSIDE}
        for name in users:
            areas[name] += part.area_um2 / len(users)
    entries = {loop.header: loop.entries for loop in estimate.loops}
    cycles: dict[str, float] = defaultdict(float)
    for index, (schedule, visits) in enumerate(
        zip(compiled.scheduled.schedules, estimate.visits, strict=True)
    ):
        interval, entered = schedule.interval_cycles, entries.get(index, 1)
        own = visits * schedule.length_cycles
        if interval is not None:
            own = entered * schedule.length_cycles + max(0, visits - entered) * interval
        cycles[names[index]] += own
    area, time = _shares(areas), _shares(cycles)
    shares = [
        LoopShare(loop=name, area=area.get(name, 0.0), cycles=time.get(name, 0.0)) for name in {*area, *time}
    ]
    return sorted(shares, key=lambda share: (-share.area, -share.cycles, share.loop))


def _shares(values: Mapping[str, float]) -> dict[str, float]:
    total = ordered_sum(values.values())
    return {name: value / total for name, value in values.items()} if total else {}
