"""RTL simulation that reuses structure: one evaluator per unique module, instances and stimuli as lanes.

Belongs here: Verilog to a compiled simulator of the connected design, the same with other engines, stimuli.
Does not: the test bench of HLS designs (`pipelines.rtlsim`).
"""

from pipelines.rtlreuse.engines import ENGINES, REUSE, VERILATOR, VERSION, build_reuse, build_verilator
from pipelines.rtlreuse.errors import CombinationalLoop, RtlError
from pipelines.rtlreuse.simulator import Ports, Program, RunResult, Simulator
from pipelines.rtlreuse.structure import words_of

__all__ = [
    "ENGINES",
    "REUSE",
    "VERILATOR",
    "VERSION",
    "CombinationalLoop",
    "Ports",
    "Program",
    "RtlError",
    "RunResult",
    "Simulator",
    "build_reuse",
    "build_verilator",
    "words_of",
]
