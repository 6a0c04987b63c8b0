"""Time of a clock cycle with the library of `simfoundry verilate` and with Verilator's model, by one bench.

    python -m tests.benchmarks.rtl_models [--cycles 100000] [--record]

The bench draws all inputs, calls `eval` with the clock low and high, and adds the outputs up, which must be
equal for both.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from pipelines.rtl.reuse.designs import FAMILIES
from pipelines.rtl.reuse.verilated import write_model
from pipelines.rtl.reuse.verilator import OPTIONS
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.benchmarks.recording import add_record_option, record, unmeasured
from tests.rtlreuse.model_benches import LIMIT_S, Run, run_with_ours, run_with_verilator

DESIGNS = {"rv32im": 1, "gemm_os": 16, "mesh": 4}
"""Families and their sizes: one core, a systolic array, a network of routers."""
COMMAND = "python -m tests.benchmarks.rtl_models"


def timing_bench(inputs: Mapping[str, int], outputs: Mapping[str, int], clock: str, *, cycles: int) -> str:
    """Return a bench that prints the sum of the outputs and ns of processor time per cycle."""
    words = {
        port: range(-(-width // 32)) for port, width in (*inputs.items(), *outputs.items()) if width > 64
    }
    lines = ['#include "Vtop.h"', '#include "verilated.h"', "#include <stdio.h>", "#include <time.h>"]
    lines += ["static uint64_t x = 88172645463325252ull;"]
    lines += ["static uint64_t draw() { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x; }"]
    lines += ["int main() {", "  Vtop* top = new Vtop;", "  uint64_t sum = 0;"]
    lines += ["  const clock_t start = clock();", f"  for (int i = 0; i < {cycles}; i++) {{"]
    for port, width in inputs.items():
        if port in ("rst", "reset"):
            lines.append(f"    top->{port} = i < 4;")
        elif width > 64:
            lines += [f"    top->{port}[{i}] = (uint32_t)draw();" for i in words[port]]
        else:
            lines.append(f"    top->{port} = draw() & {(1 << width) - 1:#x}ull;")
    lines += [f"    top->{clock} = 0, top->eval();", f"    top->{clock} = 1, top->eval();"]
    for port in outputs:
        places = [f"[{i}]" for i in words[port]] if port in words else [""]
        lines += [f"    sum = sum * 31 + top->{port}{place};" for place in places]
    lines += ["  }", "  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;"]
    lines += [f'  printf("%llx %.1f\\n", (unsigned long long)sum, 1e9 * seconds / {cycles});', "}"]
    return "\n".join(lines) + "\n"


def measure(family: str, size: int, cycles: int, scratch: Path) -> dict[str, float]:
    """Return ns per cycle of both. Raises: SystemExit: their outputs differ."""
    source = FAMILIES[family](size)
    model = write_model(source.verilog, top=source.top, prefix="Vtop", timeout_s=LIMIT_S, files=source.files)
    bench = timing_bench(model.inputs, model.outputs, model.clocks[0], cycles=cycles)
    runs: dict[str, Run] = {
        "reuse": run_with_ours(source.verilog, top=source.top, bench=bench, scratch=scratch),
        "Verilator": run_with_verilator(
            source.verilog,
            top=source.top,
            bench=bench,
            scratch=scratch,
            programs=scratch,
            options=[option for option in OPTIONS if option != "--cc"],
            flags=["-O3", "-march=native"],
        ),
    }
    sums = {name: run.text.split()[0] for name, run in runs.items()}
    if len(set(sums.values())) > 1:
        raise SystemExit(f"{family}: outputs differ: {sums}")
    return {name: float(run.text.split()[1]) for name, run in runs.items()}


def main() -> None:
    """Measure all designs."""
    parser = options_parser(__doc__)
    parser.add_argument("--cycles", type=int, default=100_000)
    add_record_option(parser)
    options = parser.parse_args()
    print_header("design", "reuse ns", "Verilator ns")
    for family, size in DESIGNS.items():
        with tempfile.TemporaryDirectory(prefix="models-") as name:
            Path(name).chmod(0o755)
            times = measure(family, size, options.cycles, Path(name))
        print_row(f"{family} {size}", times["reuse"], times["Verilator"])
        if options.record:
            new = unmeasured(
                area="rtl_simulation",
                section="Models for C++ benches, ns per cycle",
                figure=f"{family}, size {size}",
                command=COMMAND,
                engines=("rtl_reuse",),
            )
            record("rtl_simulation", new.figure, {f"{n} ns": t for n, t in times.items()}, new=new)


if __name__ == "__main__":
    main()
