"""Logic synthesis: Verilog to standard cells with yosys and abc, and what the result measures.

Belongs here: area, flip-flops, cells by type and longest path of a design in a liberty library.
Does not: where the Verilog comes from (`pipelines.hls`), what it computes (`pipelines.rtlsim`),
power.
"""

from pipelines.synthesis.design import SynthesisResult, Target, synthesize_design
from pipelines.synthesis.errors import SynthesisError
from pipelines.synthesis.liberty import Cell, Liberty
from pipelines.synthesis.liberty_reader import find_liberty, liberty_hash, load_liberty
from pipelines.synthesis.recipe import tool_version

__all__ = [
    "Cell",
    "Liberty",
    "SynthesisError",
    "SynthesisResult",
    "Target",
    "find_liberty",
    "liberty_hash",
    "load_liberty",
    "synthesize_design",
    "tool_version",
]
