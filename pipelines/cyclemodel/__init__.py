"""Exact cycles without RTL simulation: a scheduled design as native C that counts.

Outside this package only the names below are used.
"""

from pipelines.cyclemodel.control import (
    UNKNOWN_TRIPS,
    ControlEstimate,
    LoopCount,
    estimate_cycles,
    late_loop,
    natural_loops,
)
from pipelines.cyclemodel.expected import expected_cycles
from pipelines.cyclemodel.expressions import CycleModelError
from pipelines.cyclemodel.program import write_program
from pipelines.cyclemodel.runner import (
    CYCLE_LIMIT,
    ENGINE,
    CycleModel,
    CycleResult,
    build_model,
    count_cycles,
    count_cycles_of,
    engine_version,
    run_model,
)
from pipelines.cyclemodel.toggles import operand_widths

__all__ = [
    "CYCLE_LIMIT",
    "ENGINE",
    "UNKNOWN_TRIPS",
    "ControlEstimate",
    "CycleModel",
    "CycleModelError",
    "CycleResult",
    "LoopCount",
    "build_model",
    "count_cycles",
    "count_cycles_of",
    "engine_version",
    "estimate_cycles",
    "expected_cycles",
    "late_loop",
    "natural_loops",
    "operand_widths",
    "run_model",
    "write_program",
]
