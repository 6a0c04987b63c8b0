"""Steps of building a simulator: confined compilers and tools, and names of compiled designs."""

from __future__ import annotations

import hashlib
import math
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TypedDict, Unpack

from pipelines.base.limited import memory_limit, reading
from pipelines.base.sandbox import Limits, SandboxError, read_output, run_confined
from pipelines.base.sealing import build_once
from pipelines.base.tools import MEMORY_LIMIT_BYTES, PATIENCE, find_tool
from pipelines.rtl.reuse.elaboration import Design, elaborate, instance_counts, state_bytes
from pipelines.rtl.reuse.errors import CombinationalLoop, RtlError
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.schedules import Clock
from pipelines.rtl.reuse.simulator import Ports
from pipelines.rtl.reuse.structure import Structure, analyse

VERSION = "4"
"""Raise it when a design gives other outputs."""
HEADERS = ("words.h", "apart.h", "runner.h", "server.h", "batch.h", "batch_cuda.h", "gpu_io.h", "hetero.h")
FLAGS = ("-std=gnu++17", "-O3", "-march=native", "-w")
CLOSING = '#include "runner.h"\n#include "server.h"\n'
"""Last lines of every simulator's text."""
Closing = Callable[[Ports], str]
COMPILERS = ("clang++", "clang++-14", "g++")
MOST_INSTANCES = 1 << 20
"""Instances of modules that the analysis of a design keeps apart."""
_PROCESSES = 64
_FILE_BYTES = 4 << 30
_ENTRIES = 100_000


class Source(TypedDict, total=False):
    """How the text of a design is read: what all builders of simulators take beside its top.

    Attributes:
        language: of the text, see `languages`. files: of memories, by name. clocks: with periods.
        unroll_limit: see `languages.read_commands`.
    """

    language: str
    files: Mapping[str, bytes]
    unroll_limit: int | None
    clocks: Mapping[str, Clock]


def find_compiler() -> str:
    """Find clang if it is there, else g++.

    Raises: ToolMissing: neither is installed.
    """
    return next((path for name in COMPILERS if (path := shutil.which(name))), None) or find_tool("g++", "g++")


def read_design(
    text: str,
    *,
    top: str,
    timeout_s: float,
    stimuli: int = 1,
    is_driven: bool = False,
    **source: Unpack[Source],
) -> Design:
    """Read an elaborated design that fits the memory of this process for so many stimuli.

    Raises: RtlError: it is rejected; the message says why.
    """
    with reading(f"design {top}"):
        design = elaborate(read_verilog(text, top=top, timeout_s=timeout_s, is_driven=is_driven, **source))
    _require_size(design, stimuli)
    return design


def read_structure(
    text: str,
    *,
    top: str,
    timeout_s: float,
    stimuli: int = 1,
    is_driven: bool = False,
    **source: Unpack[Source],
) -> Structure:
    """Read a design as `read_design` does, with its instances and levels.

    A word between modules may have bits that depend on each other, such as a structure that holds what a
    module reads and what it computes. Modules that seem to be a loop by their words join their parents,
    where bits are told apart.

    Raises: RtlError: it is rejected; the message says why. CombinationalLoop: of single bits.
    """
    joined: frozenset[str] = frozenset()
    first: CombinationalLoop | None = None
    with reading(f"design {top}"):
        netlist = read_verilog(text, top=top, timeout_s=timeout_s, is_driven=is_driven, **source)
        while True:
            try:
                design = elaborate(netlist, joined)
                _require_size(design, stimuli)
                return analyse(design)
            except CombinationalLoop as loop:
                first = first or loop
                more = loop.blocks - joined - {netlist.top}
            if not more:
                raise first
            joined |= more


def _require_size(design: Design, stimuli: int) -> None:
    """Check instances and state. Raises: RtlError: more than fits, with both numbers."""
    numbers = instance_counts(design)
    if (total := sum(numbers.values())) > MOST_INSTANCES:
        most = max(numbers, key=lambda name: numbers[name]).removeprefix("$paramod\\").partition("\\")[0]
        raise RtlError(f"{total} instances, most of module {most}; accepted: at most {MOST_INSTANCES}")
    state = sum(number * state_bytes(design.blocks[name]) for name, number in numbers.items())
    if state * stimuli > memory_limit():
        raise RtlError(
            f"{stimuli} stimuli of {state} bytes of registers and memories: {state * stimuli} bytes; "
            f"accepted: at most {memory_limit()} bytes"
        )


def ports_of(design: Design) -> Ports:
    """Return the ports of a design, without its clock."""
    of_clocks = {design.clock, *design.clocks}
    inputs = {port: width for port, width in design.inputs.items() if port not in of_clocks}
    return Ports(
        inputs=inputs,
        outputs=design.outputs,
        clock=design.clock,
        has_falling=design.has_falling,
        has_gates=design.has_gates,
        clocks=design.clocks,
    )


def require_rising(design: Design, what: str) -> None:
    """Refuse clocks whose edges are inputs. Raises: RtlError: falling edges, or clocks with periods."""
    if design.clocks:
        raise RtlError(f"--clock with {what}; accepted: engine verilator or cxxrtl, or reuse without")
    if design.has_falling:
        raise RtlError(
            f"falling edge of clock {design.clock} with {what}; accepted: engine verilator "
            "or cxxrtl, or reuse without"
        )


def serve(ports: Ports) -> str:  # noqa: ARG001
    """Return the request server to append to the model's text; another text makes another program."""
    return CLOSING


def headers(names: Sequence[str] = HEADERS) -> dict[str, bytes]:
    """Return the name and content of our headers, those of simulators without names."""
    folder = files("pipelines.rtl.reuse")
    return {name: folder.joinpath(name).read_bytes() for name in names}


def build(folder: Path, engine: str, sources: Sequence[str], make: Callable[[Path], Path]) -> Path:
    """Build a program that the folder holds, or that `make` builds in a folder which every user may read."""
    digest = hashlib.sha256()
    for part in (VERSION, *sources, *(text.decode() for text in headers().values())):
        digest.update(part.encode() + b"\0")

    def build_readable(scratch: Path) -> Path:
        scratch.chmod(0o755)
        content = read_output(make(scratch), most_bytes=_FILE_BYTES)
        program = scratch / "program"
        program.write_bytes(content)
        program.chmod(0o755)
        return program

    return build_once(folder.absolute(), f"{engine}-{digest.hexdigest()[:16]}", build_readable)


def run_step(
    argv: Sequence[str],
    *,
    scratch: Path,
    readable: Sequence[Path] = (),
    contents: Mapping[str, bytes] | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_s: float,
    error_mark: str | None = None,
) -> Path:
    """Run a compiler or another tool, confined: it works on what a user wrote.

    Args:    contents: files in its working folder. timeout_s: of processor time.
        error_mark: beginning of lines of output that are errors; None for the last lines.
    Returns: its working folder, below the scratch folder.
    Raises:  RtlError: it fails or a limit ends it.
    """
    folder = Path(tempfile.mkdtemp(dir=scratch))
    folder.chmod(0o755)
    cpu_s = math.ceil(timeout_s)
    limits = Limits(
        cpu_s=cpu_s,
        wall_s=PATIENCE * cpu_s,
        memory_bytes=MEMORY_LIMIT_BYTES,
        file_bytes=_FILE_BYTES,
        folder_bytes=_FILE_BYTES,
        folder_entries=_ENTRIES,
        processes=_PROCESSES,
    )
    name = Path(argv[0]).name
    program = argv[0] if Path(argv[0]).is_absolute() else find_tool(argv[0], argv[0])
    try:
        run = run_confined(
            [program, *argv[1:]],
            folder=folder,
            readable=readable,
            files=contents,
            limits=limits,
            environment=environment,
        )
    except SandboxError as error:
        raise RtlError(f"{name} cannot run: {error}") from error
    if run.timed_out:
        raise RtlError(f"{name} took more than {cpu_s} s of processor time")
    if run.returncode != 0:
        errors = [line for line in run.stderr.splitlines() if error_mark and line.startswith(error_mark)]
        raise RtlError(f"{name} failed: {errors[0] if errors else run.last_words()}")
    return folder


def compile_program(
    text: str,
    compiler: str,
    *,
    scratch: Path,
    flags: Sequence[str] = FLAGS,
    objects: Sequence[Path] = (),
    readable: Sequence[Path] = (),
    timeout_s: float,
) -> Path:
    """Compile one translation unit and link it with objects.

    Raises: RtlError: it does not compile.
    """
    argv = [compiler, *flags, "design.cpp", *map(str, objects), "-o", "design", "-pthread"]
    folder = run_step(
        argv,
        scratch=scratch,
        readable=[*readable, *objects],
        contents={**headers(), "design.cpp": text.encode()},
        timeout_s=timeout_s,
    )
    return folder / "design"
