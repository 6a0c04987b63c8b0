"""Verilator: build a simulator of a design and run it on data.

A design is one C++ translation unit, linked with a runtime that is compiled once per Verilator version:
compiling it for every design would take most of the build time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pipelines.base.sealing import build_once
from pipelines.base.summation import ordered_sum
from pipelines.base.tools import ToolRun, find_tool, run_tool
from pipelines.c.signature import Bank, DataSet, Interface
from pipelines.rtl.simulation.exchange import (
    SimulationResult,
    banks_of,
    decode_output,
    encode_input,
    failed_simulation,
    observed_simulation,
)
from pipelines.rtl.simulation.harness import (
    EXIT_CYCLE_LIMIT,
    MemoryTiming,
    harness_text,
    missing_control,
    module_ports,
)

ENGINE = "verilator"
_VERSION = "44ae777a"
"""Raise it when the test bench gives other cycles or outputs for the same design and data."""
MODEL_CLASS = "Vdesign"
COMPILER_FLAGS = (
    "-O1",
    "-fno-exceptions",
    "-w",
    "-std=gnu++17",
    "-DVM_TRACE=0",
    "-DVL_TIME_CONTEXT",
)
# Verilator 5.006 loses inversions in trees of single bits and then simulates wrongly (its issues 4059, 5186).
SAFE_OPTIMISATION = ("-O3", "-fno-const-bit-op-tree")
RUNTIME_SOURCES = ("verilated.cpp", "verilated_threads.cpp")


class SimulatorError(RuntimeError):
    """The simulator itself could not be set up; a design's own failure is a status instead."""


@cache
def _verilator_root() -> Path:
    executable = find_tool("verilator_bin", "verilator")
    for root in (
        Path(executable).parent.parent / "share" / "verilator",
        Path("/usr/share/verilator"),
    ):
        if (root / "include" / "verilated.cpp").is_file():
            return root
    raise SimulatorError(f"verilator's include folder not found beside {executable}")


@cache
def engine_version() -> str:
    """Return the version of Verilator, and of this test bench by its files' hash."""
    run = run_tool(
        [find_tool("verilator_bin", "verilator"), "--version"],
        folder=Path("/"),
        timeout_s=20,
        of_processor=True,
    )
    words = run.stdout.split()
    return f"{words[1] if len(words) > 1 else 'unknown'}+{_VERSION}"


def _include_flags() -> list[str]:
    include = _verilator_root() / "include"
    return [f"-I{include}", f"-I{include / 'vltstd'}"]


def prepare_runtime(runtime_folder: Path) -> Path:
    """Return the object files of Verilator's runtime, compiled once for each version.

    Returns: path of one relocatable object.
    Raises:  SimulatorError: the C++ compiler failed.
    """
    flags = " ".join(COMPILER_FLAGS)
    key = hashlib.sha256(f"{engine_version()} {flags}".encode()).hexdigest()[:16]
    return build_once(runtime_folder, f"verilated-{key}", _build_runtime)


def _build_runtime(folder: Path) -> Path:
    include, compiler = _verilator_root() / "include", find_tool("g++", "g++")
    objects: list[str] = []
    for source in RUNTIME_SOURCES:
        output = f"{Path(source).stem}.o"
        argv = [compiler, *COMPILER_FLAGS, *_include_flags(), "-c", str(include / source), "-o", output]
        run = run_tool(argv, folder=folder, timeout_s=300, of_processor=True)
        _expect(run, "compile Verilator's runtime")
        objects.append(output)
    joined = run_tool([compiler, "-r", "-nostdlib", *objects, "-o", "all.o"], folder=folder, timeout_s=60)
    _expect(joined, "join Verilator's runtime")
    return folder / "all.o"


def _expect(run: ToolRun, what: str) -> None:
    if run.returncode != 0:
        raise SimulatorError(f"g++ failed to {what}: {run.last_words()}")


def _translate(module: str, folder: Path, timeout_s: float) -> ToolRun:
    argv = [find_tool("verilator_bin", "verilator"), "--cc", "--no-timing", *SAFE_OPTIMISATION]
    argv += ["-Wno-fatal", "--prefix", MODEL_CLASS, "--top-module", module, "--Mdir", "model"]
    argv += ["--x-initial", "unique", "--x-assign", "unique", "design.v"]
    return run_tool(
        argv,
        folder=folder,
        timeout_s=timeout_s,
        of_processor=True,
        environment={"VERILATOR_ROOT": str(_verilator_root())},
    )


def _unit_text(folder: Path, bench: str) -> str:
    """Return one translation unit; functions that Verilator marks as slow run once and are not optimised."""
    sources = sorted(p.name for p in (folder / "model").glob("*.cpp"))
    fast = [f'#include "model/{name}"' for name in sources if not name.endswith("__Slow.cpp")]
    slow = [f'#include "model/{name}"' for name in sources if name.endswith("__Slow.cpp")]
    return "\n".join([*fast, bench, '#pragma GCC optimize ("O0")', *slow, ""])


def build_simulator(
    verilog: str,
    *,
    module: str,
    interface: Interface,
    timing: MemoryTiming,
    banks: Sequence[Bank],
    folder: Path,
    runtime_folder: Path,
    timeout_s: float,
    starts_zero: bool = False,
) -> Sequence[ToolRun]:
    """Build `simulator` in an empty folder.

    Args:    banks: of every array argument. starts_zero: see `harness_text`.
    Returns: the runs of Verilator and of the compiler; the last one failed or all succeeded.
    """
    runtime = prepare_runtime(runtime_folder)
    (folder / "design.v").write_text(verilog)
    translated = _translate(module, folder, timeout_s)
    if translated.returncode != 0:
        return (translated,)
    ports = module_ports(verilog, module)
    missing = missing_control(ports)
    if missing is not None:
        return (ToolRun(returncode=1, stdout="", stderr=missing, wall_s=translated.wall_s),)
    bench = harness_text(interface, MODEL_CLASS, timing, banks=banks, ports=ports, starts_zero=starts_zero)
    (folder / "unit.cpp").write_text(_unit_text(folder, bench))
    argv = [find_tool("g++", "g++"), *COMPILER_FLAGS, *_include_flags(), "-I", "model", "unit.cpp"]
    argv += [str(runtime), "-o", "simulator", "-pthread"]
    return translated, run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)


def simulate_design(
    verilog: str,
    *,
    module: str,
    interface: Interface,
    data: DataSet,
    timing: MemoryTiming,
    folder: Path,
    runtime_folder: Path,
    banks: Sequence[Bank] | None = None,
    timeout_s: float = 120.0,
    cycle_limit: int = 50_000_000,
    starts_zero: bool = False,
) -> SimulationResult:
    """Build a simulator of a design and run it on one data set.

    Args:    verilog: text; module: its top; folder: empty, private to this call;
             runtime_folder: where the compiled Verilator runtime is kept between calls;
             banks: of the partitioned array arguments; the others have one bank each;
             timeout_s: processor time of each tool;
             starts_zero: registers and memories start as zero; else as random numbers.
    Returns: latency and outputs, or the status and reason of the step that failed.
    Raises:  ToolMissing: Verilator or g++ is not installed. SimulatorError: the runtime does not compile.
    """
    ports_of_arrays = banks_of(interface, banks or ())
    runs = build_simulator(
        verilog,
        module=module,
        interface=interface,
        timing=timing,
        banks=ports_of_arrays,
        folder=folder,
        runtime_folder=runtime_folder,
        timeout_s=timeout_s,
        starts_zero=starts_zero,
    )
    build_wall_s = ordered_sum(r.wall_s for r in runs)
    if runs[-1].returncode != 0:
        return failed_simulation("verilator" if len(runs) == 1 else "g++", runs[-1], build_wall_s)
    (folder / "input.bin").write_bytes(encode_input(interface, data))
    argv = [os.fspath(folder / "simulator"), str(cycle_limit)]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)
    if run.returncode == EXIT_CYCLE_LIMIT:
        run = ToolRun(returncode=None, stdout="", stderr="", wall_s=run.wall_s)
    if run.returncode != 0:
        return failed_simulation("the simulation", run, build_wall_s, run.wall_s)
    observed = decode_output(interface, ports_of_arrays, (folder / "output.bin").read_bytes())
    return observed_simulation(observed, build_wall_s, run.wall_s)
