"""Logic synthesis: Verilog to standard cells with yosys and abc, and measures of the result.

Belongs here: area, flip-flops, cells by type and longest path of a design in a liberty library, and its
counts of cells in an FPGA.
Does not: where the Verilog comes from (`pipelines.hls`), what it computes (`pipelines.rtl.simulation`),
power.
"""

from pipelines.silicon.synthesis.design import TOOL, SynthesisResult, Target, synthesize_design
from pipelines.silicon.synthesis.liberty import (
    Cell,
    FlipFlop,
    InternalPower,
    Liberty,
    Pin,
    SynthesisError,
    Table,
    TableStack,
    TimingArc,
)
from pipelines.silicon.synthesis.liberty_reader import (
    find_liberty,
    liberty_hash,
    liberty_sha256,
    load_liberty,
    unique_liberty_name,
)
from pipelines.silicon.synthesis.netlist import (
    CellGroup,
    Netlist,
    netlist_record,
    read_netlist_record,
)
from pipelines.silicon.synthesis.recount import (
    SECOND_YOSYS,
    cell_models,
    recount_cells,
    second_yosys_version,
)
from pipelines.silicon.synthesis.timing import FALL, RISE, Timing, analyse_timing
from pipelines.silicon.synthesis.xilinx import (
    FAMILY,
    XILINX_TOOL,
    FpgaResult,
    synthesize_for_fpga,
    xilinx_version,
)
from pipelines.silicon.synthesis.yosys import (
    DERIVE_INSTANCES,
    DESCRIBE_MEMORIES,
    NORMALISE_MEMORIES,
    OUTPUT_LOAD_PF,
    REQUIRE_DECLARED,
    REQUIRE_REGISTERS,
    WIDER_PORT,
    YosysExceeded,
    YosysFailed,
    run_yosys,
    tool_version,
)

__all__ = [
    "DERIVE_INSTANCES",
    "DESCRIBE_MEMORIES",
    "FALL",
    "FAMILY",
    "NORMALISE_MEMORIES",
    "OUTPUT_LOAD_PF",
    "REQUIRE_DECLARED",
    "REQUIRE_REGISTERS",
    "RISE",
    "SECOND_YOSYS",
    "TOOL",
    "WIDER_PORT",
    "XILINX_TOOL",
    "Cell",
    "CellGroup",
    "FlipFlop",
    "FpgaResult",
    "InternalPower",
    "Liberty",
    "Netlist",
    "Pin",
    "SynthesisError",
    "SynthesisResult",
    "Table",
    "TableStack",
    "Target",
    "Timing",
    "TimingArc",
    "YosysExceeded",
    "YosysFailed",
    "analyse_timing",
    "cell_models",
    "find_liberty",
    "liberty_hash",
    "liberty_sha256",
    "load_liberty",
    "netlist_record",
    "read_netlist_record",
    "recount_cells",
    "run_yosys",
    "second_yosys_version",
    "synthesize_design",
    "synthesize_for_fpga",
    "tool_version",
    "unique_liberty_name",
    "xilinx_version",
]
