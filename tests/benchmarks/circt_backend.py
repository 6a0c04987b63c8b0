"""Both flows of CIRCT on the kernels: status, outputs against native C, cycles against the engine's own.

    python -m tests.benchmarks.circt_backend --size small
    python -m tests.benchmarks.circt_backend --kernels gemm collatz --flows calyx --delay 5

Prints a Markdown table, a row a kernel and flow. The exit status is 1 when an output differs. The engine's
cycles are those of its design without directives, by its cycle model.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pipelines.c.signature import DataSet
from pipelines.circt import FLOWS, CirctResult, compile_with_circt, simulate_circt_design
from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import NativeRun, run_native
from pipelines.programs import SIZES, SUITES, draw_data, kernel_programs
from pipelines.rtl.simulation import MemoryTiming, SimulationResult
from pipelines.schemas import ProgramRow
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.benchmarks.hls_runs import difference

CYCLE_LIMIT = 5_000_000
HEADER = "kernel | flow | status | equal | cycles | engine | ratio | compile s | build s | run s"


def own_cycles(program: ProgramRow, data: DataSet, timing: MemoryTiming, folder: Path) -> int | None:
    """Cycles of the engine's own design without directives."""
    options = HlsOptions(
        memory_read_delay_cycles=timing.read_delay_cycles,
        memory_write_delay_cycles=timing.write_delay_cycles,
    )
    compiled = compile_program(program.source, top=program.top, options=options)
    folder.mkdir()
    return count_cycles(compiled, data, folder=folder, cycle_limit=CYCLE_LIMIT).latency_cycles


def print_result(
    program: ProgramRow, design: CirctResult, result: SimulationResult, native: NativeRun, engine: int | None
) -> bool:
    """Print one row of the table. Returns: whether it is free of a difference."""
    name = program.top.removeprefix("kernel_")
    if result.status != "ok":
        reason = f"{result.status}: {result.reason}".replace("|", "\\|")
        print_row(name, design.tool, reason, "", "", engine, "", f"{design.wall_s:.1f}", "", "")
        return True
    equal = difference(native, result) is None
    ratio = f"{result.latency_cycles / engine:.2f}" if result.latency_cycles and engine else ""
    times = f"{design.wall_s:.1f} | {result.build_wall_s:.1f} | {result.simulate_wall_s:.2f}"
    said = "yes" if equal else "NO"
    print_row(name, design.tool, "ok", said, result.latency_cycles, engine, ratio, times)
    return equal


def not_simulated(design: CirctResult) -> SimulationResult:
    """The row of a design that was not made."""
    return SimulationResult(
        status=design.status,
        reason=design.reason,
        latency_cycles=None,
        returned=None,
        outputs={},
        build_wall_s=0.0,
        simulate_wall_s=0.0,
    )


def measure(program: ProgramRow, flow: str, timing: MemoryTiming, folder: Path, runtime: Path) -> bool:
    """Run one kernel through one flow and print its row; False when an output differs."""
    design = compile_with_circt(
        program.source, top=program.top, flow=flow, folder=folder / "circt", timeout_s=120, timing=timing
    )
    if design.interface is None:
        print_row(program.top, design.tool, f"{design.status}: {design.reason}", "", "", "", "", "", "", "")
        return True
    data = draw_data(design.interface, program.inputs, seed=1)
    native = run_native(program.source, design.interface, data, folder=folder / "native")
    engine = own_cycles(program, data, timing, folder / "engine")
    result = not_simulated(design)
    if design.status == "ok":
        (folder / "rtl").mkdir()
        result = simulate_circt_design(
            design,
            data,
            folder=folder / "rtl",
            runtime_folder=runtime,
            timeout_s=300,
            cycle_limit=CYCLE_LIMIT,
        )
    return print_result(program, design, result, native, engine)


def main() -> int:
    parser = options_parser(__doc__)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--kernels", nargs="+", help="names without kernel_; all when not given")
    parser.add_argument("--flows", nargs="+", choices=FLOWS, default=list(FLOWS))
    parser.add_argument("--delay", type=int, default=2, help="of external memories, in cycles")
    chosen = parser.parse_args()
    timing = MemoryTiming(read_delay_cycles=chosen.delay, write_delay_cycles=chosen.delay)
    programs = kernel_programs(suites=SUITES, sizes=(chosen.size,))
    if chosen.kernels is not None:
        wanted = {f"kernel_{k.replace('-', '_')}" for k in chosen.kernels}
        programs = [p for p in programs if p.top in wanted]
    print_header(HEADER)
    good = True
    with tempfile.TemporaryDirectory() as base:
        for program in programs:
            for flow in chosen.flows:
                with tempfile.TemporaryDirectory(dir=base) as name:
                    good &= measure(program, flow, timing, Path(name), Path(base) / "runtime")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
