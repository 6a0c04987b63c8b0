"""The hardware configurations a program is tried under.

Belongs here: the space and its enumeration for one program. Does not: what a directive does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from pipelines.hls import TOOL, Directive, Function, HlsOptions, TransformOptions, innermost_loops


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationSpace:
    """A grid of configurations.

    Attributes:
        memory_delays: cycles, of reads and writes.
        write_delay: cycles of writes in all configurations; None for those of reads.
        pipeline: whether innermost loops are pipelined; (False, True) tries both.
        clock_period_ns: period of every schedule.
        unsafe_math: floating sums may be reordered.
        unit_limits: most functional units of a class, as (class, number).
        tools: that make designs, of `TOOLS`; all but the project's own engine without pipelining.
    """

    memory_delays: tuple[int, ...] = (2, 5, 10, 15)
    pipeline: tuple[bool, ...] = (False, True)
    clock_period_ns: float = 10.0
    write_delay: int | None = None
    unsafe_math: bool = False
    unit_limits: tuple[tuple[str, int], ...] = ()
    tools: tuple[str, ...] = (TOOL,)


def configurations(function: Function, space: ConfigurationSpace, *, liberty: str) -> list[HlsOptions]:
    """Every configuration of the space for one program in the engine, without repeats.

    Source: LLMulator section 6.3 and Figure 12 for the delays 2, 5, 10 and 15.
    """
    loops = innermost_loops(function)
    found: dict[HlsOptions, None] = {}
    for delay, pipelined in product(space.memory_delays, space.pipeline):
        directives = tuple(Directive(kind="pipeline", loop=loop) for loop in loops) if pipelined else ()
        options = HlsOptions(
            memory_read_delay_cycles=delay,
            memory_write_delay_cycles=space.write_delay or delay,
            directives=directives,
            clock_period_ns=space.clock_period_ns,
            liberty=liberty,
            transforms=TransformOptions(unsafe_math=space.unsafe_math),
            unit_limits=space.unit_limits,
        )
        found[options] = None
    return list(found)


def plain_configurations(space: ConfigurationSpace, *, liberty: str) -> list[HlsOptions]:
    """The configurations of the space without directives: one a memory delay, the same for all programs."""
    return [
        HlsOptions(
            memory_read_delay_cycles=delay,
            memory_write_delay_cycles=space.write_delay or delay,
            clock_period_ns=space.clock_period_ns,
            liberty=liberty,
        )
        for delay in dict.fromkeys(space.memory_delays)
    ]
