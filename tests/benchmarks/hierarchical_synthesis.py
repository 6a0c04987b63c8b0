"""Mapping the modules of a design apart against flattening it first: time, area and delay.

    python -m tests.benchmarks.hierarchical_synthesis [--count N]

Designs are the first generated programs of the stage dataflow whose Verilog has several modules (dividers,
floating-point units). Apart, every module is optimised and mapped by itself; the netlist is flattened last.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pipelines.base.tools import stopwatch
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from pipelines.programs.dataflow import DataflowOptions, dataflow_program
from pipelines.silicon.synthesis import (
    SynthesisResult,
    Target,
    find_liberty,
    synthesize_design,
    yosys,
)
from tests.benchmarks.harness import options_parser, print_header, print_row

FLATTEN = "flatten -noscopeinfo"


def apart(top: str, **options: Any) -> tuple[str, ...]:
    """The recipe with its flattening after the mapping."""
    commands = [c for c in FLAT(top, **options) if c != FLATTEN]
    place = next(i for i, c in enumerate(commands) if c.startswith("abc ")) + 1
    return (*commands[:place], FLATTEN, *commands[place:])


FLAT = yosys.commands


def synthesised(compiled: CompiledDesign, target: Target) -> tuple[SynthesisResult, float]:
    with tempfile.TemporaryDirectory() as folder:
        start = stopwatch()
        text, top = compiled.verilog, compiled.module
        result = synthesize_design(text, top=top, target=target, folder=Path(folder), timeout_s=600.0)
        return result, stopwatch() - start


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--count", type=int, default=12)
    chosen = parser.parse_args()
    target = Target(liberty=find_liberty(None), clock_period_ns=10.0)
    ratios: list[tuple[float, float, float]] = []
    print_header("program | modules | cells flat | cells apart | delay flat | delay apart | s flat | s apart")
    for number in range(8 * chosen.count):
        program = dataflow_program(number, seed=0, options=DataflowOptions())
        compiled = compile_program(program.source, top=program.top, options=HlsOptions())
        if len(ratios) == chosen.count or compiled.report.module_count < 3:
            continue
        flat, flat_s = synthesised(compiled, target)
        with patch.object(yosys, "commands", apart):
            divided, divided_s = synthesised(compiled, target)
        if flat.area_um2 is None or divided.area_um2 is None or not flat.delay_ns or not divided.delay_ns:
            print_row(program.name, flat.reason or divided.reason)
            continue
        ratios.append(
            (divided.area_um2 / flat.area_um2, divided.delay_ns / flat.delay_ns, divided_s / flat_s)
        )
        print_row(
            f"{program.name} | {compiled.report.module_count} | {flat.cell_count} | {divided.cell_count}",
            f"{flat.delay_ns:.2f} | {divided.delay_ns:.2f} | {flat_s:.1f} | {divided_s:.1f}",
        )
    for name, values in zip(("area", "delay", "time"), zip(*ratios, strict=True), strict=True):
        spread = f"{min(values):.3f}, {statistics.median(values):.3f}, {max(values):.3f}"
        print(f"{name} apart over flat, least, median, most: {spread}")


if __name__ == "__main__":
    main()
