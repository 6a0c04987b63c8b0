"""Figures of high-level synthesis: gemm under its directives, and the time of large unrolled programs.

    python -m tests.benchmarks.hls_figures

gemm 16 x 16 x 16 in int with memory delay 2: cycles in Verilator and in the cycle model (which must agree,
and equal native C), and the best of five times from C to Verilog. Then every PolyBench program at size
small, with int and with float, its innermost loops unrolled by 32, and unrolled and pipelined: the best of
two times from C to Verilog, largest first. Times are processor seconds (the preprocessor's too), and in
brackets elapsed ones, which other work on the machine lengthens.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product
from pathlib import Path

from pipelines.c import Directive, read_function
from pipelines.cyclemodel import count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program, innermost_loops
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.programs.polybench_catalogue import POLYBENCH_KERNELS, polybench_program
from tests.benchmarks.harness import options_parser, repeated
from tests.benchmarks.hls_runs import difference, simulate_in_verilator

ACCUMULATOR = """
void gemm(int A[16][16], int B[16][16], int C[16][16])
{
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            int sum = 0;
            for (int k = 0; k < 16; k++)
                sum += A[i][k] * B[k][j];
            C[i][j] = sum;
        }
}
"""
IN_MEMORY = ACCUMULATOR.replace("int sum = 0;", "C[i][j] = 0;").replace("sum +=", "C[i][j] +=")
IN_MEMORY = IN_MEMORY.replace("            C[i][j] = sum;\n", "")

PIPELINE = Directive(kind="pipeline", loop="L2")
FLATTEN = Directive(kind="flatten", loop="L2")
UNROLL = (
    Directive(kind="unroll", loop="L2", value=4),
    Directive(kind="partition", variable="A", style="cyclic", value=4, dimension=2),
    Directive(kind="partition", variable="B", style="cyclic", value=4, dimension=1),
)
SETTINGS = {
    "plain": (),
    "pipelined": (PIPELINE,),
    "pipelined, nest flattened": (PIPELINE, FLATTEN),
    "and unrolled by 4, arrays in 4 banks": (PIPELINE, FLATTEN, *UNROLL),
}


def cycles_of(source: str, compiled: CompiledDesign, folder: Path) -> str:
    """Cycles that both engines agree on, or what differs."""
    data = draw_data(compiled.interface, "{}", seed=0)
    for name in ("native", "model"):
        (folder / name).mkdir(parents=True)
    native = run_native(source, compiled.interface, data, folder=folder / "native")
    model = count_cycles(compiled, data, folder=folder / "model")
    rtl = simulate_in_verilator(compiled, HlsOptions(), data, folder / "rtl", folder.parent / "runtime")
    for found in (model, rtl):
        if problem := difference(native, found):
            return problem
    if model.latency_cycles != rtl.latency_cycles:
        return f"cycles differ: {model.latency_cycles} and {rtl.latency_cycles}"
    return str(rtl.latency_cycles)


def gemm(base: Path) -> bool:
    """Print the table of gemm; whether all designs are right."""
    right = True
    for name, source in (("local accumulator", ACCUMULATOR), ("C[i][j] += in memory", IN_MEMORY)):
        print(name)
        for number, (setting, directives) in enumerate(SETTINGS.items()):
            options = HlsOptions(directives=directives)
            compiled, spent = repeated(
                lambda text=source, own=options: compile_program(text, top="gemm", options=own), 5
            )
            cycles = cycles_of(source, compiled, base / f"{name[0]}{number}")
            interval = compiled.intervals.get("L2", "")
            time_taken = f"C to Verilog {spent.processor_s:.2f} s ({spent.wall_s:.3f} s)"
            print(f"  {setting:<38} II {interval:<3} {cycles:>8} cycles  {time_taken}")
            right = right and cycles.isdigit()
    return right


def unrolled(factor: int) -> None:
    """Print the time of each PolyBench program with its innermost loops unrolled, largest first."""
    rows: list[tuple[float, str]] = []
    for kernel, data_type in product(POLYBENCH_KERNELS, ("int", "float")):
        program = polybench_program(kernel.name, size="small", data_type=data_type)
        loops = innermost_loops(read_function(program.source, top=program.top))
        unroll = tuple(Directive(kind="unroll", loop=loop, value=factor) for loop in loops)
        pipeline = tuple(Directive(kind="pipeline", loop=loop) for loop in loops)
        for setting, directives in (("unrolled", unroll), ("and pipelined", (*unroll, *pipeline))):
            options = HlsOptions(directives=directives)
            compiled, spent = repeated(
                lambda own=program, o=options: compile_program(own.source, top=own.top, options=o), 2
            )
            operations = sum(len(b.operations) for b in compiled.scheduled.graph.blocks)
            name = f"{kernel.name:<16} {data_type:<6} {setting:<14}"
            text = f"{name} {operations:>6} operations  {spent.processor_s:.2f} s ({spent.wall_s:.2f} s)"
            rows.append((spent.processor_s, text))
    for _, text in sorted(rows, reverse=True):
        print(f"  {text}")


def main() -> int:
    parser = options_parser(__doc__)
    parser.add_argument("--factor", type=int, default=32)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        right = gemm(Path(name))
    print(f"PolyBench small, innermost loops unrolled by {chosen.factor}")
    unrolled(chosen.factor)
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
