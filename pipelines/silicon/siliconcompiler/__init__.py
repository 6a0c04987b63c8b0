"""SiliconCompiler: Verilog to placed sky130 cells with yosys and OpenROAD, when they are found on PATH.

Belongs here: the flow, running it, and its manifest as figures. Does not: the project's own logic synthesis
(`pipelines.silicon.synthesis`), rows (`pipelines.dataset.labelling`).

Outside this package only the names below are used.
"""

from pipelines.silicon.siliconcompiler.runner import (
    LIBRARY,
    TOOL,
    SiliconCompilerError,
    parse_manifest,
    require_flow,
    run_flow,
    tool_version,
)

__all__ = [
    "LIBRARY",
    "TOOL",
    "SiliconCompilerError",
    "parse_manifest",
    "require_flow",
    "run_flow",
    "tool_version",
]
