"""The test bench of HLS designs around any engine: its C++ drives a class like that of Verilator.

Registers begin with 0 and not with random bits as in `pipelines.rtl.simulation`, so a design that forgets to
reset is not found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from pipelines.base.tools import ToolRun, run_tool, stopwatch
from pipelines.c.signature import Bank, DataSet, Interface
from pipelines.rtl.reuse.arc_engine import ARC, build_arc
from pipelines.rtl.reuse.building import VERSION
from pipelines.rtl.reuse.cxxrtl import CXXRTL, build_cxxrtl
from pipelines.rtl.reuse.engines import REUSE, build_reuse
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.expressions import type_of
from pipelines.rtl.reuse.ir import LIMB
from pipelines.rtl.reuse.simulator import Ports, Program
from pipelines.rtl.simulation import (
    EXIT_CYCLE_LIMIT,
    MemoryTiming,
    SimulationResult,
    banks_of,
    decode_output,
    encode_input,
    failed_simulation,
    harness_text,
    missing_control,
    module_ports,
    observed_simulation,
)

AUDIT_ENGINES: dict[str, Callable[..., Program]] = {
    REUSE: build_reuse,
    ARC: build_arc,
    CXXRTL: build_cxxrtl,
}
"""Engines besides Verilator."""
_CLASS = "Vdesign"
_VERSION = "1"
"""Raise it when the class gives other cycles or outputs for the same design and data."""


def audit_version(engine: str) -> str:
    """Return the version of an engine and of this test bench."""
    return f"{engine}-{VERSION}+{_VERSION}"


def simulate_by(
    engine: str,
    verilog: str,
    *,
    module: str,
    interface: Interface,
    data: DataSet,
    timing: MemoryTiming,
    folder: Path,
    banks: Sequence[Bank] | None = None,
    timeout_s: float = 120.0,
    cycle_limit: int = 50_000_000,
) -> SimulationResult:
    """Simulate a design as `pipelines.rtl.simulation.simulate_design` does, by another engine.

    Args:    engine: of `AUDIT_ENGINES`; folder: empty, private to this call.
    Returns: latency and outputs, or the status and reason of the step that failed.
    Raises:  ToolMissing: a tool of the engine is not installed.
    """
    arrays = banks_of(interface, banks or ())
    ports = module_ports(verilog, module)
    missing = missing_control(ports)
    if missing is not None:
        return failed_simulation(engine, _failure(missing), 0.0)
    bench = harness_text(interface, _CLASS, timing, banks=arrays, ports=ports)
    start = stopwatch()
    try:
        program = AUDIT_ENGINES[engine](
            verilog,
            top=module,
            folder=folder / "build",
            timeout_s=timeout_s,
            closing=partial(_closing, bench),
        )
    except RtlError as error:
        return failed_simulation(engine, _failure(str(error)), stopwatch() - start)
    build_wall_s = stopwatch() - start
    (folder / "input.bin").write_bytes(encode_input(interface, data))
    argv = [str(program.path), str(cycle_limit)]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)
    if run.returncode == EXIT_CYCLE_LIMIT:
        run = ToolRun(returncode=None, stdout="", stderr="", wall_s=run.wall_s)
    if run.returncode != 0:
        return failed_simulation("the simulation", run, build_wall_s, run.wall_s)
    observed = decode_output(interface, arrays, (folder / "output.bin").read_bytes())
    return observed_simulation(observed, build_wall_s, run.wall_s)


def _closing(bench: str, ports: Ports) -> str:
    return class_text(ports) + bench


def _failure(reason: str) -> ToolRun:
    return ToolRun(returncode=1, stdout="", stderr=reason, wall_s=0.0)


def class_text(ports: Ports) -> str:
    """Return a class with the ports as members: an evaluation with the clock high is the clock edge.

    Raises: RtlError: a port of more than 64 bits.
    """
    return "\n".join(_class_lines(ports)) + "\n"


def _class_lines(ports: Ports) -> Iterator[str]:
    for port, width in (*ports.inputs.items(), *ports.outputs.items()):
        if width > LIMB:
            raise RtlError(f"port {port} of {width} bits in an audit; accepted: up to {LIMB}")
    yield "#include <new>"
    yield "#include <stdlib.h>"
    yield "struct Verilated { static void randReset(int) {} static void randSeed(int) {} };"
    yield f"struct {_CLASS} {{"
    yield "  State& st; int* rootp = 0; u8 clk = 0;"
    for port, width in (*ports.inputs.items(), *ports.outputs.items()):
        yield f"  {type_of(width)} {port.replace('__', '___05F')} = 0;"
    yield f"  {_CLASS}() : st(*new (aligned_alloc(64, (sizeof(State) + 63) / 64 * 64)) State) {{"
    yield "    initialise(st); }"
    yield "  void eval() {"
    yield "    if (clk) { advance(st); return; }"
    yield "    u64 in[INPUTS + 1], out[OUTPUTS + 1];"
    for i, port in enumerate(ports.inputs):
        yield f"    in[{i}] = {port.replace('__', '___05F')};"
    yield "    set_inputs(st, in); evaluate(st); get_outputs(st, out);"
    for i, (port, width) in enumerate(ports.outputs.items()):
        yield f"    {port.replace('__', '___05F')} = ({type_of(width)})out[{i}];"
    yield "  }"
    yield "};"
