"""Options that several HLS tests share."""

from __future__ import annotations

from pipelines.c import Directive, read_function
from pipelines.hls import HlsOptions, innermost_loops


def options_for(source: str, top: str, *, pipeline: bool, delay: int = 2, period: float = 10.0) -> HlsOptions:
    """Options that pipeline every innermost loop, or none."""
    loops = innermost_loops(read_function(source, top=top)) if pipeline else []
    return HlsOptions(
        memory_read_delay_cycles=delay,
        memory_write_delay_cycles=delay,
        clock_period_ns=period,
        directives=tuple(Directive(kind="pipeline", loop=loop) for loop in loops),
    )
