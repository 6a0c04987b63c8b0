"""RTL simulation that reuses structure: one evaluator per unique module, instances and stimuli as lanes.

Compiles a design to a simulator by this project's engine or by another one, and runs stimuli. The test bench
of HLS designs is in `pipelines.rtl.simulation`.
"""

from pipelines.rtl.reuse.auditing import AUDIT_ENGINES, audit_version, simulate_by
from pipelines.rtl.reuse.building import VERSION
from pipelines.rtl.reuse.cxxrtl import build_cxxrtl
from pipelines.rtl.reuse.engines import ENGINES, REUSE, build_reuse
from pipelines.rtl.reuse.errors import CombinationalLoop, RtlError
from pipelines.rtl.reuse.languages import FIRRTL, LANGUAGES, SYSTEMVERILOG, VERILOG, language_of
from pipelines.rtl.reuse.simulator import Ports, Program, RunResult, Simulator
from pipelines.rtl.reuse.structure import words_of
from pipelines.rtl.reuse.verilator import VERILATOR, build_verilator

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
