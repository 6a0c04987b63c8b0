"""The synthesis recipe: every yosys command from Verilog to a mapped netlist, in order.

No text from outside enters a command, except the name of the top module, which is checked to be an
identifier; so no path, quote or semicolon of a user is ever read by yosys.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from pipelines.identity import content_hash
from pipelines.synthesis.errors import SynthesisError

VERILOG_FILE = "design.v"
LIBERTY_FILE = "cells.lib"
CONSTANT_MULTIPLY_FILE = "constant_multiply.v"
CONSTRAINT_FILE = "constraints.txt"
COMMAND_FILE = "commands.txt"
LOG_FILE = "yosys.log"
NETLIST_FILE = "netlist.json"

# yosys gives abc absolute paths; through this one the working folder's own name stays out of them.
_HERE = "/proc/self/cwd"

OUTPUT_LOAD_PF = 0.02  # on every output port, in mapping and in timing
TIMING_MODEL = "nldm-1"  # raise when `timing.py` gives other numbers for the same netlist

# Level-preserving rewriting (`-l`) instead of `dc2`, which saves area but undoes parallel-prefix
# adders; then structural choices, mapping, buffers above fan-out 12, and sizing.
# docs/decisions/003-synthesis.md has the figures.
ABC_SCRIPT = (
    "+strash;ifraig;scorr;drw,-l;drf,-l;balance,-l;drw,-l;dch,-f;map,-B,0.9;"
    "topo;buffer,-c,-N,12;topo;upsize;dnsize"
)

# The coarse steps are those of yosys' own `synth`, without its SAT-based sharing (binding is the
# high-level synthesis' decision) and with multiplications by constants kept from the Booth encoder.
# Checks and messages, which are for simulation, go; a three-state driver stays visible as a cell (it
# would be taken as undefined otherwise) and is then rejected as one that is not in the library.
_COARSE = (
    "proc",
    "chformal -remove",
    "delete t:$print",
    "tribuf",
    "flatten -noscopeinfo",
    "opt_expr",
    "opt_clean",
    "opt -nodffe -nosdff",
    "fsm",
    "opt",
    "wreduce",
    "peepopt",
    "opt_clean",
    f"techmap -map {CONSTANT_MULTIPLY_FILE}",
    "booth",
    "chtype -set $mul t:$__constant_multiply",
    "alumacc",
    "opt",
    "memory -nomap",
    "opt_clean",
    "synth -noabc -run fine:check",
)

# Undefined bits become 0 only after optimisation, which may use them as it likes; what is left
# would be a floating gate input in the netlist and an unknown to the mapper.
_MAPPING = (
    f"dfflibmap -liberty {_HERE}/{LIBERTY_FILE}",
    "setundef -zero -undriven",
    f"abc -liberty {_HERE}/{LIBERTY_FILE} -constr {_HERE}/{CONSTRAINT_FILE} -script {ABC_SCRIPT}",
    "opt_clean -purge",
    f"write_json {NETLIST_FILE}",
)

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*", re.ASCII)


def constant_multiply_map() -> str:
    """Verilog text of the map that sets constant multiplications aside."""
    return files("pipelines.synthesis").joinpath(CONSTANT_MULTIPLY_FILE).read_text("utf-8")


def commands(top: str) -> tuple[str, ...]:
    """The yosys commands of one design.

    Args:   top: name of the top module.
    Raises: SynthesisError: the name is not a plain Verilog identifier.
    """
    if not _IDENTIFIER.fullmatch(top):
        raise SynthesisError(f"top must be a Verilog identifier [A-Za-z_][A-Za-z0-9_$]*, got {top!r}")
    read = (f"read_verilog -sv {VERILOG_FILE}", f"hierarchy -check -top {top}")
    return (*read, *_COARSE, *_MAPPING)


def constraints(driving_cell: str | None) -> str:
    """The mapper's constraints: the driver of registers' outputs and ports, and the output load.

    Without a driving cell the mapper takes registers as infinitely strong and buffers none of them.
    """
    driven = f"set_driving_cell {driving_cell}\n" if driving_cell else ""
    return f"{driven}set_load {OUTPUT_LOAD_PF * 1000:g}\n"  # in fF


def tool_version() -> str:
    """Version of pyosys and hash of the recipe: a change of either changes every result's key."""
    recipe = content_hash(commands("top"), constraints("cell"), constant_multiply_map(), TIMING_MODEL)[:8]
    return f"{_package_version()}+recipe.{recipe}"


@cache
def _package_version() -> str:
    """That of pyosys; reading it takes 2 ms, and every key of a cross-check asks."""
    return version("pyosys")
