"""Where the time went: wall-clock columns by tool.

Rows that share one run of a tool (designs of one Verilog text, data sets of one program) have its time, bit
by bit, and it counts once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipelines.reports.measures import Quantiles, present, quantiles_of
from pipelines.reports.samples import Samples
from pipelines.reports.tables import TableSet
from pipelines.schemas import TableSpec

SECONDS_PER_HOUR = 3600.0
WALL_SUFFIX = "_wall_s"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """One wall-clock column.

    Attributes:
        step: name of the column without its ending, or of the table when nothing is left.
        meaning: what its declaration says.
        seconds: of each run of the step.
        share: of the time of all columns.
    """

    table: str
    step: str
    meaning: str
    seconds: Quantiles
    total_s: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """All steps, longest first.

    Attributes:
        labelled_count: designs that are ok with all labels.
        designs_per_core_hour: of these; a step's time is of one core, beside other work on the machine.
    """

    steps: tuple[StepTime, ...]
    total_s: float
    labelled_count: int
    designs_per_core_hour: float


def measure_time(tables: TableSet, designs: Samples) -> Timing | None:
    """Sum the wall-clock columns of all tables; None when there is none."""
    found = [
        (table, name, values)
        for table in sorted(tables.contents)
        for name in tables.number_columns(table)
        if f"_{name}".endswith(WALL_SUFFIX)
        for values in [np.unique(present(tables.numbers(table, name)))]
        if values.size and float(values.sum()) > 0
    ]
    total = float(sum(float(np.sum(values)) for _, _, values in found))
    if not found:
        return None
    steps = [
        StepTime(
            table=table,
            step=name.removesuffix(WALL_SUFFIX) if name.endswith(WALL_SUFFIX) else table,
            meaning=_meaning(table, name),
            seconds=quantiles_of(values),
            total_s=float(values.sum()),
            share=float(values.sum()) / total,
        )
        for table, name, values in found
    ]
    labelled = sum(designs.is_ok)
    return Timing(
        steps=tuple(sorted(steps, key=lambda s: (-s.total_s, s.table, s.step))),
        total_s=total,
        labelled_count=labelled,
        designs_per_core_hour=labelled / total * SECONDS_PER_HOUR,
    )


def _meaning(table: str, name: str) -> str:
    spec = TableSpec.registry.get(table)
    columns = spec.columns if spec is not None else ()
    return next((c.description for c in columns if c.name == name), "")
