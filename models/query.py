"""The question to predictors of labels, and the targets. Importing it is cheap, for those who only ask."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

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
        inputs: JSON specification of the arguments' data, as in the programs table; with the values of a
            given data set. Levels below run read the scalar arguments that it fixes.
        trips: JSON of mean iterations per entry by loop, where the front end knows none and data fix them, as
            `models.trips` counts them.
        data: run-time data in short, by `pipelines.dataset.records.summarise_data`; empty for none.
        unsafe_math: floating sums may be reordered; levels before high-level synthesis do not read it.
    """

    source: str
    top: str
    memory_read_delay_cycles: int
    memory_write_delay_cycles: int
    clock_period_ns: float
    directives: str = "[]"
    inputs: str = "{}"
    data: str = ""
    unsafe_math: bool = False
    trips: str = ""

    @property
    def scalars(self) -> dict[str, float]:
        """Scalar arguments whose value is known: from the data, or fixed by the specification.

        Raises: ValueError: data or specification are not JSON objects.
        """
        try:
            fixed = {
                n: own["value"] for n, own in json.loads(self.inputs).items() if own["kind"] == "constant"
            }
            data: dict[str, Any] = json.loads(self.data or "{}")
            return fixed | {name: value for name, value in data.items() if not isinstance(value, dict)}
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("data and inputs of a question must be JSON objects") from error
