"""RTL simulation that reuses structure: one evaluator per unique module, instances and stimuli as lanes.

Belongs here: a design to a compiled simulator of the connected design, the same with other engines, stimuli.
Does not: the test bench of HLS designs (`pipelines.rtlsim`).
"""

from pipelines.rtlreuse.auditing import AUDIT_ENGINES, audit_version, simulate_by
from pipelines.rtlreuse.building import VERSION
from pipelines.rtlreuse.cxxrtl import build_cxxrtl
from pipelines.rtlreuse.engines import ENGINES, REUSE, build_reuse
from pipelines.rtlreuse.errors import CombinationalLoop, RtlError
from pipelines.rtlreuse.languages import FIRRTL, LANGUAGES, SYSTEMVERILOG, VERILOG, language_of
from pipelines.rtlreuse.simulator import Ports, Program, RunResult, Simulator
from pipelines.rtlreuse.structure import words_of
from pipelines.rtlreuse.verilator import VERILATOR, build_verilator

__all__ = [
    "AUDIT_ENGINES",
    "ENGINES",
    "FIRRTL",
    "LANGUAGES",
    "REUSE",
    "SYSTEMVERILOG",
    "VERILATOR",
    "VERILOG",
    "VERSION",
    "CombinationalLoop",
    "Ports",
    "Program",
    "RtlError",
    "RunResult",
    "Simulator",
    "audit_version",
    "build_cxxrtl",
    "build_reuse",
    "build_verilator",
    "language_of",
    "simulate_by",
    "words_of",
]
