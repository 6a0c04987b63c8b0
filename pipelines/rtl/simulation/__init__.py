"""RTL simulation: Verilog run cycle by cycle on input data.

Outside this package only the names below are used.
"""

from pipelines.rtl.simulation.exchange import (
    SimulationResult,
    banks_of,
    decode_arrays,
    decode_output,
    encode_input,
    failed_run,
    failed_simulation,
    observed_simulation,
    value_of_bits,
    written_arrays,
)
from pipelines.rtl.simulation.harness import (
    EXIT_CYCLE_LIMIT,
    MemoryTiming,
    Port,
    element_lines,
    harness_text,
    missing_control,
    module_ports,
)
from pipelines.rtl.simulation.icarus import ICARUS, icarus_version, simulate_with_icarus
from pipelines.rtl.simulation.verilator import (
    ENGINE,
    SimulatorError,
    engine_version,
    simulate_design,
)

__all__ = [
    "ENGINE",
    "EXIT_CYCLE_LIMIT",
    "ICARUS",
    "MemoryTiming",
    "Port",
    "SimulationResult",
    "SimulatorError",
    "banks_of",
    "decode_arrays",
    "decode_output",
    "element_lines",
    "encode_input",
    "engine_version",
    "failed_run",
    "failed_simulation",
    "harness_text",
    "icarus_version",
    "missing_control",
    "module_ports",
    "observed_simulation",
    "simulate_design",
    "simulate_with_icarus",
    "value_of_bits",
    "written_arrays",
]
