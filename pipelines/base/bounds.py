"""Accepted values of options that commands and engines share; importing it is cheap."""

from __future__ import annotations

MEMORY_DELAY_CYCLES = (1, 1000)
CLOCK_PERIOD_NS = (0.1, 1000.0)
