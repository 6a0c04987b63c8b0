"""The engine `cxxrtl`: the simulator that Yosys writes, one model per stimulus."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Unpack

from pipelines.rtl.reuse.building import (
    Closing,
    Source,
    build,
    compile_program,
    find_compiler,
    ports_of,
    read_design,
    serve,
)
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.harnesses import cxxrtl_harness
from pipelines.rtl.reuse.languages import NO_FILES, VERILOG, as_verilog, run_front_end, source_text
from pipelines.rtl.reuse.simulator import Ports, Program
from pipelines.silicon.synthesis import NORMALISE_MEMORIES

CXXRTL = "cxxrtl"
_FLAGS = ("-std=c++17", "-march=native", "-w", "-DNDEBUG")
"""Without assertions a read beyond a memory's end gives 0, as in Verilator; with them it ends the program."""
_CLANG_FLAGS = ("-fbracket-depth=100000",)
"""CXXRTL writes a chain of cells as one expression; clang accepts 256 nested brackets by default."""


def build_cxxrtl(
    verilog: str,
    *,
    top: str,
    folder: Path,
    stimuli: int = 1,
    timeout_s: float = 1200.0,
    compiler: str = "",
    ports: Ports | None = None,
    is_quick: bool = False,
    closing: Closing = serve,
    **source: Unpack[Source],
) -> Program:
    """Build a program by Yosys' CXXRTL with its defaults, which include a flat design.

    Attributes of a design can put text into its C++, so all steps and the program are confined.

    Args:   ports: of the design when they are known; it saves a second front end.
        is_quick: modules are kept and not optimised. closing: see `building.serve`.
    Raises: RtlError: the design is rejected. ToolMissing: no C++ compiler or bubblewrap is installed.
    """
    verilog, language = as_verilog(verilog, top, source.get("language", VERILOG))
    source = {**source, "language": language}
    files, unroll_limit, front_end = source.get("files", NO_FILES), source.get("unroll_limit"), ""
    if ports is None:
        design = read_design(verilog, top=top, timeout_s=timeout_s, stimuli=stimuli, **source)
        ports, front_end = ports_of(design), design.front_end
    if ports.has_gates:
        raise RtlError(
            f"gated clock {ports.clock} with engine {CXXRTL}, which runs its registers behind those of the "
            "clock; accepted: reuse, verilator"
        )
    compiler = compiler or find_compiler()
    include, flat = _include_folder(), "-noflatten " if is_quick else ""
    harness = cxxrtl_harness(ports, stimuli, closing(ports))
    flags = [*_FLAGS, *(_CLANG_FLAGS if Path(compiler).name.startswith("clang") else ())]
    flags += ["-O0" if is_quick else "-O3", f"-I{include}"]

    commands = [
        NORMALISE_MEMORIES,
        "setattr -mod -unset blackbox =*",  # which Yosys gives to modules without content
        f"rename {top} design",
        f"write_cxxrtl -g0 {flat}design.cc",
    ]

    def make(scratch: Path) -> Path:
        model, _ = run_front_end(
            verilog,
            top=top,
            language=language,
            commands=commands,
            output="design.cc",
            timeout_s=timeout_s,
            files=files,
            unroll_limit=unroll_limit,
        )
        return compile_program(
            model.decode() + harness,
            compiler,
            scratch=scratch,
            flags=flags,
            readable=[include],
            timeout_s=timeout_s,
        )

    content = (compiler, source_text(verilog), top, language, str(unroll_limit), harness, *commands, *flags)
    content += tuple(f"{name} {hashlib.sha256(files[name]).hexdigest()}" for name in sorted(files))
    path = build(folder, CXXRTL, content, make)
    return Program(path=path, ports=ports, engine=CXXRTL, stimuli=stimuli, front_end=front_end)


def _include_folder() -> Path:
    package = importlib.util.find_spec("pyosys")
    if package is None or package.origin is None:
        raise RtlError("pyosys is not installed")
    return Path(package.origin).parent / "share" / "include" / "backends" / "cxxrtl" / "runtime"
