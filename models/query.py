"""The question to predictors of labels, and the targets. Importing it is cheap, for those who only ask."""

from __future__ import annotations

from dataclasses import dataclass

TARGETS = ("area_um2", "flip_flop_count", "latency_cycles")
POWER = "power_mw"
"""A further target, which labels have where power was estimated."""
DELAY = "delay_ns"
"""A further target, which labels have where a path was measured."""
ALL_TARGETS = (*TARGETS, POWER, DELAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A program under one configuration, before any tool has seen it.

    Attributes:
        source: complete C source.
        top: function that becomes hardware.
        memory_read_delay_cycles: cycles from address to data.
        memory_write_delay_cycles: cycles from a write until a read sees it.
        clock_period_ns: clock period of the schedule.
        directives: JSON list of directives, as in the designs table.
        inputs: JSON specification of the arguments' data, as in the programs table; read at level run only.
        data: run-time data in short, as `pipelines.records.summarise_data` gives them; empty for none.
    """

    source: str
    top: str
    memory_read_delay_cycles: int
    memory_write_delay_cycles: int
    clock_period_ns: float
    directives: str = "[]"
    inputs: str = "{}"
    data: str = ""
