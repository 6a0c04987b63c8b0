"""The synthesis recipe, and yosys and ABC on one design: a process of its own, confined and bounded.

No text from outside enters a command, except the name of the top module, which is checked to be an
identifier; so no path, quote or semicolon of a user is ever read by yosys.
"""

from __future__ import annotations

import importlib.util
import math
import re
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from pipelines.base.sandbox import ConfinedRun, Limits, SandboxError, read_output, run_confined
from pipelines.base.tools import MEMORY_LIMIT_BYTES, OUTPUT_LIMIT_BYTES, PATIENCE, signal_name
from pipelines.schemas.columns import TIMEOUT, TOOL_ERROR
from pipelines.silicon.synthesis.liberty import SynthesisError

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
_VERSION = "f069fb87"
"""Raise it when the recipe maps a design to other cells, or `timing.py` times the same netlist otherwise."""

# Level-preserving rewriting (`-l`) instead of `dc2`, which saves area but undoes parallel-prefix
# adders; then structural choices, mapping, buffers above fan-out 12, and sizing.
# docs/decisions/003-synthesis.md has the figures.
ABC_SCRIPT = (
    "+strash;ifraig;scorr;drw,-l;drf,-l;balance,-l;drw,-l;dch,-f;map,-B,0.9;"
    "topo;buffer,-c,-N,12;topo;upsize;dnsize"
)

# The coarse steps are those of yosys' own `synth`, without its SAT-based sharing (binding is the
# high-level synthesis' decision) and with multiplications by constants kept from the Booth encoder.
# Checks and messages, which are for simulation, are removed; a three-state driver stays visible as a cell (it
# would be taken as undefined otherwise) and is then rejected, because the library lacks it.
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

# Undefined bits become 0 only after optimisation, which may choose their values; remaining ones
# would be floating gate inputs in the netlist and unknown to the mapper.
_MAPPING = (
    f"dfflibmap -liberty {_HERE}/{LIBERTY_FILE}",
    "setundef -zero -undriven",
    f"abc -liberty {_HERE}/{LIBERTY_FILE} -constr {_HERE}/{CONSTRAINT_FILE} -script {ABC_SCRIPT}",
    "opt_clean -purge",
    f"write_json {NETLIST_FILE}",
)

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*", re.ASCII)


def constant_multiply_map() -> str:
    """Return Verilog text of the map that sets constant multiplications aside."""
    return files("pipelines.silicon.synthesis").joinpath(CONSTANT_MULTIPLY_FILE).read_text("utf-8")


def read_commands(top: str) -> tuple[str, ...]:
    """Read the yosys commands that read a design.

    Args:   top: name of the top module.
    Raises: SynthesisError: the name is not a plain Verilog identifier.
    """
    if not _IDENTIFIER.fullmatch(top):
        raise SynthesisError(f"top is not a Verilog identifier [A-Za-z_][A-Za-z0-9_$]*: {top!r}")
    return (f"read_verilog -sv {VERILOG_FILE}", f"hierarchy -check -top {top}")


def commands(top: str, *, repeated: str | None = None, delay_ns: float = 0.0) -> tuple[str, ...]:
    """Return the yosys commands of one design.

    Args:   top: name of the top module. repeated: name of a module, each variant of which is mapped once, for
            paths of at most `delay_ns`; instances are dissolved afterwards.
    Raises: SynthesisError: a name is not a plain Verilog identifier.
    """
    if repeated is None:
        return (*read_commands(top), *_COARSE, *_MAPPING)
    if not _IDENTIFIER.fullmatch(repeated):
        raise SynthesisError(f"not a Verilog identifier [A-Za-z_][A-Za-z0-9_$]*: {repeated!r}")
    chosen, flatten = f"*\\{repeated} {repeated}", "flatten -noscopeinfo"
    place, abc = _COARSE.index(flatten), next(c for c in _MAPPING if c.startswith("abc "))
    constrained = abc.replace("map,-B,0.9", f"map,-B,0.9,-D,{1000 * delay_ns:.0f}")
    steps = (*_COARSE[:place], f"setattr -mod -set keep_hierarchy 1 {chosen}", *_COARSE[place:], *_MAPPING)
    mapped = (f"{constrained} {chosen}", f"{abc} {top}", "setattr -mod -unset keep_hierarchy *", flatten)
    at = steps.index(abc)
    return (*read_commands(top), *steps[:at], *mapped, *steps[at + 1 :])


def constraints(driving_cell: str | None) -> str:
    """Return the mapper's constraints: the driver of registers' outputs and ports, and the output load.

    Without a driving cell the mapper takes registers as infinitely strong and buffers none of them.
    """
    driven = f"set_driving_cell {driving_cell}\n" if driving_cell else ""
    return f"{driven}set_load {OUTPUT_LOAD_PF * 1000:g}\n"  # in fF


def tool_version() -> str:
    """Return the version of pyosys and of the recipe: a change of either changes every result's key."""
    return f"{package_version()}+recipe.{_VERSION}"


@cache
def package_version() -> str:
    """Return the version of pyosys; reading it takes 2 ms, and every key of a cross-check needs it."""
    return version("pyosys")


DERIVE_INSTANCES = "derive_instances"
"""A command of the worker's own before `hierarchy`, which it makes faster; its argument is the top module."""
REQUIRE_REGISTERS = "require_registers"
"""A command of the worker's own behind that of slang, which loses some asynchronous resets; its argument is
the name of the design's file."""
REQUIRE_DECLARED = "require_declared"
"""A command of the worker's own behind Yosys' reader of Verilog, which declares any name that it meets."""
LIMIT_READING, WAS_READ = "limit_reading", "was-read"
"""A command of the worker's own, with bytes, and the file that says that this limit was taken off."""
DESCRIBE_MEMORIES = "describe_memories"
"""A command of the worker's own; its argument is the JSON file with name, first address and size of every
memory."""
NORMALISE_MEMORIES = "normalise_memories"
"""A command of the worker's own before `write_cxxrtl`, which errs where the first word of a memory is not
word 0, and with wide addresses."""
WIDER_PORT = "a port is wider than the expression that it is connected to"
"""Words of the worker's error about Verilog of which yosys would lose a carry or a sign."""
MEMORY_BITS, SIGNAL_BITS = "bits of memories", "bits of a signal"
"""Words of the worker's error about a design with too large memories."""
_WORKER = Path(__file__).with_name("worker.py")
_FILE_BYTES = 1 << 30
_PROCESSES = 256  # pyosys may start a thread per core, and abc runs in a shell
_REASON_LENGTH = 400
_NO_MEMORY = ("MemoryError", "bad_alloc", "annot allocate memory", "failed to map segment")
_SEE_LOG = "see full log for details"
_ABC_FAILED = re.compile(r'ABC: execution of script ".*" failed: return code (\d+)')
_SIGNAL_BASE, _LAST_SIGNAL = 128, 64  # a shell's exit status for a program that a signal ended


class YosysFailed(SynthesisError):
    """Yosys did not succeed.

    Attributes: status: timeout or tool_error.
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class YosysExceeded(YosysFailed):
    """The design needs more memory than it may, or has larger memories; another reader would not help."""


def run_yosys(
    commands: Sequence[str],
    *,
    files: Mapping[str, bytes],
    outputs: Sequence[str],
    folder: Path,
    timeout_s: float,
    program: str | None = None,
    memory_bytes: int = MEMORY_LIMIT_BYTES,
    reading_bytes: int | None = None,
) -> list[bytes]:
    """Run yosys commands in a fresh process that sees only its own program and a folder.

    Args:
        program: path of a yosys executable of the system; None for pyosys.
        commands: their working directory is the folder.
        files: name and content of what they read.
        outputs: names of the files that they write; the log is `LOG_FILE`.
        folder: emptied, created if absent; it keeps all files of yosys.
        timeout_s: limit of processor time in seconds. memory_bytes: of yosys with abc.
        reading_bytes: of pyosys before `DESCRIBE_MEMORIES`; None for no other limit.
    Returns: content of the outputs.
    Raises:  YosysFailed: a command failed, a limit ended it, or the machine forbids confinement.
             ToolMissing: bubblewrap is not installed.
    """
    _empty(folder)
    if reading_bytes is not None:
        commands = [f"{LIMIT_READING} {reading_bytes}", *commands]
    cpu_s = math.ceil(timeout_s)
    limits = Limits(
        cpu_s=cpu_s,
        wall_s=PATIENCE * cpu_s,
        memory_bytes=memory_bytes,
        address_bytes=memory_bytes,
        file_bytes=_FILE_BYTES,
        folder_bytes=2 * _FILE_BYTES,
        output_bytes=OUTPUT_LIMIT_BYTES,
        processes=_PROCESSES,
    )
    try:
        run = run_confined(
            # By path and isolated, not as a module: imports of this package would take four times as long as
            # the start of pyosys.
            (sys.executable, "-I", str(_WORKER), COMMAND_FILE, LOG_FILE)
            if program is None
            else (program, "-q", "-l", LOG_FILE, "-s", COMMAND_FILE),
            folder=folder,
            readable=_readable() if program is None else (),
            files={**files, COMMAND_FILE: "\n".join(commands).encode()},
            limits=limits,
            environment={"TMPDIR": "."},  # of abc, relative to the folder
        )
        if run.returncode != 0:
            if reading_bytes is not None and not (folder / WAS_READ).exists():
                memory_bytes = reading_bytes
            raise _failure(run, folder, cpu_s, memory_bytes)
        return [read_output(folder / name, most_bytes=_FILE_BYTES) for name in outputs]
    except SandboxError as error:
        raise YosysFailed(TOOL_ERROR, str(error)) from error


def _empty(folder: Path) -> None:
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _readable() -> list[Path]:
    """Return the interpreter, its library and pyosys, and nothing else of their environment."""
    package = importlib.util.find_spec("pyosys")
    if package is None or package.origin is None:
        raise SynthesisError("pyosys is not installed")
    paths = [_WORKER, Path(package.origin).parent, Path(sys.executable)]
    environment = Path(sys.prefix) / "pyvenv.cfg"
    if environment.is_file():
        paths.append(environment)
    if sys.base_prefix != "/usr":  # that folder is visible anyway
        paths.append(Path(sys.base_prefix))
    return paths


def _failure(run: ConfinedRun, folder: Path, cpu_s: int, memory_bytes: int) -> YosysFailed:
    if run.machine_fault is not None:
        return YosysFailed(TOOL_ERROR, f"yosys: {run.machine_fault}")
    late = YosysFailed(TIMEOUT, f"yosys or abc took more than {cpu_s} s of processor time")
    if run.timed_out:
        return late
    if run.stopped_by is not None:
        return YosysExceeded(TOOL_ERROR, f"yosys and abc used too much: {run.stopped_by}")
    log = folder / LOG_FILE
    text = read_output(log, most_bytes=_FILE_BYTES).decode(errors="replace") if log.exists() else ""
    errors = [line.strip() for line in text.splitlines() if "ERROR:" in line]
    if len(errors) > 1 and _SEE_LOG in errors[-1]:
        errors = errors[:1]  # the first of the messages of slang, which come before
    if not errors and any(word in run.last_words() for word in _NO_MEMORY):
        return YosysExceeded(
            TOOL_ERROR,
            f"yosys needs more than {memory_bytes >> 20} MiB of memory; accepted: less, or a higher limit",
        )
    if not errors and any(words in run.last_words() for words in (MEMORY_BITS, SIGNAL_BITS)):
        return YosysExceeded(TOOL_ERROR, run.last_words())
    if not errors:
        ending = "" if (run.returncode or 0) < 0 else f"ended with status {run.returncode}: "
        return YosysFailed(TOOL_ERROR, f"yosys {ending}{run.last_words()}"[:_REASON_LENGTH])
    of_abc = _ABC_FAILED.search(errors[-1])
    if of_abc is None:
        return YosysFailed(TOOL_ERROR, errors[-1][:_REASON_LENGTH])
    status = int(of_abc[1])
    if status == _SIGNAL_BASE + signal.SIGXCPU:
        return late
    return YosysFailed(TOOL_ERROR, _abc_ending(status, text)[:_REASON_LENGTH])


def _abc_ending(status: int, log: str) -> str:
    """Describe how abc ended, by the exit status of its shell."""
    number = status - _SIGNAL_BASE
    ending = f"by {signal_name(number)}" if 0 < number <= _LAST_SIGNAL else f"with status {status}"
    said = [line.removeprefix("ABC: ").strip() for line in log.splitlines() if line.startswith("ABC: ")]
    said = [line for line in said if line.lower() not in ending]  # the shell's name of the signal
    return f"abc ended {ending}: {said[-1] if said else 'no output'}"
