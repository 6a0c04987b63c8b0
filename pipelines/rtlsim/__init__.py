"""RTL simulation: Verilog run cycle by cycle on input data.

Outside this package only the names below are used.
"""

from pipelines.rtlsim.harness import MemoryTiming
from pipelines.rtlsim.result import SimulationResult
from pipelines.rtlsim.verilator import (
    ENGINE,
    SimulatorError,
    engine_version,
    simulate_design,
)

__all__ = [
    "ENGINE",
    "MemoryTiming",
    "SimulationResult",
    "SimulatorError",
    "engine_version",
    "simulate_design",
]
