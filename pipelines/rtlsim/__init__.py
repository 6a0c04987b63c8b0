"""RTL simulation: Verilog run cycle by cycle on input data.

Outside this package only the names below are used.
"""

from pipelines.rtlsim.exchange import (
    SimulationResult,
    banks_of,
    decode_arrays,
    encode_input,
    failed_run,
    value_of_bits,
    written_arrays,
)
from pipelines.rtlsim.harness import MemoryTiming, Port, element_lines, module_ports
from pipelines.rtlsim.icarus import ICARUS, icarus_version, simulate_with_icarus
from pipelines.rtlsim.verilator import (
    ENGINE,
    SimulatorError,
    engine_version,
    simulate_design,
)

__all__ = [
    "ENGINE",
    "ICARUS",
    "MemoryTiming",
    "Port",
    "SimulationResult",
    "SimulatorError",
    "banks_of",
    "decode_arrays",
    "element_lines",
    "encode_input",
    "engine_version",
    "failed_run",
    "icarus_version",
    "module_ports",
    "simulate_design",
    "simulate_with_icarus",
    "value_of_bits",
    "written_arrays",
]
