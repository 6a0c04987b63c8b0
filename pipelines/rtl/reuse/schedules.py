"""Input clocks with periods: when each rises, in cycles of the simulation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from pipelines.rtl.reuse.errors import RtlError

_CLOCK = re.compile(r"([^=\s]+)=(\d{1,9})(?::(\d{1,9}))?", re.ASCII)


class Clock(NamedTuple):
    """A clock that rises at the end of every cycle whose number, divided by the period, leaves the phase."""

    period: int
    phase: int


NO_CLOCKS: Mapping[str, Clock] = MappingProxyType({})


def no_clocks() -> Mapping[str, Clock]:
    """Return no clocks with periods: the default of a field."""
    return NO_CLOCKS


def read_clocks(texts: Iterable[str]) -> dict[str, Clock]:
    """Return clocks of texts NAME=PERIOD or NAME=PERIOD:PHASE.

    Raises: RtlError: a text has another form, a phase that is not below the period, or a clock again.
    """
    clocks: dict[str, Clock] = {}
    for text in texts:
        match = _CLOCK.fullmatch(text)
        clock = None if match is None else Clock(int(match[2]), int(match[3] or 0))
        if match is None or clock is None or clock.phase >= clock.period:
            raise RtlError(
                f"--clock {text}; accepted: NAME=PERIOD or NAME=PERIOD:PHASE in cycles, a phase below the "
                "period"
            )
        if match[1] in clocks:
            raise RtlError(f"--clock {text}: {match[1]} has a period already; accepted: one")
        clocks[match[1]] = clock
    return clocks
