"""What is known of the compiler without importing it: its name, its version, and the timing that it accepts.

The version covers reading, too, and is part of the keys of what is only read.
"""

from __future__ import annotations

from pipelines.base.bounds import CLOCK_PERIOD_NS, MEMORY_DELAY_CYCLES
from pipelines.base.files import shown
from pipelines.c.errors import HlsError

TOOL = "simfoundry-hls"

_VERSION = "6863e752dc86"
"""Raise it when the Verilog, schedule, directive outcomes or status of a program change, not for reasons.
A rule that changes few programs is one of `pipelines.hls.rules` instead; all others keep their designs."""


def tool_version() -> str:
    """Return the version of this engine, a part of every design's id."""
    return _VERSION


def check_timing(
    *, memory_read_delay_cycles: int, memory_write_delay_cycles: int, clock_period_ns: float
) -> None:
    """Check delays and clock of a design. Raises: HlsError: a value that no design has."""
    least, most = MEMORY_DELAY_CYCLES
    delays = {
        "memory_read_delay_cycles": memory_read_delay_cycles,
        "memory_write_delay_cycles": memory_write_delay_cycles,
    }
    for name, value in delays.items():
        if not least <= value <= most:
            raise HlsError(f"{name} must be {least} to {most}", shown(str(value)))
    shortest, longest = CLOCK_PERIOD_NS
    if not shortest <= clock_period_ns <= longest:
        raise HlsError(f"clock_period_ns must be {shortest:g} to {longest:g}", str(clock_period_ns))
