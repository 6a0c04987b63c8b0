"""The evaluation workloads in the cells of other libraries, beside the labels of a release.

    python -m tests.benchmarks.other_technologies --liberty sky130hd.lib osu035 [--release releases/v2]
        [--delay 10]

One design per workload of LLMulator's Table 2 and ten PolyBench kernels, the first with that memory delay.
Its Verilog, scheduled for the release's library, is mapped to the cells of each liberty file (a name or a
path). Area, flip-flops and longest path are compared by rank and by the ratio to those of the release.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from models.metrics import spearman
from pipelines.hls import compile_program, options_of
from pipelines.programs import EVALUATION_WORKLOADS, untyped_name
from pipelines.schemas import OK, DesignRow, ProgramRow, read_table, table_spec
from pipelines.synthesis import SynthesisResult, Target, find_liberty, synthesize_design

FIGURES = ("area_um2", "flip_flop_count", "delay_ns")


def workload_designs(release: Path, delay: int) -> list[tuple[ProgramRow, DesignRow]]:
    """A design per workload, in the order of the frozen list."""
    programs = {row.program_id: row for row in read_table(release, table_spec("programs"))}
    found: dict[str, tuple[ProgramRow, DesignRow]] = {}
    for design in sorted(read_table(release, table_spec("designs")), key=lambda row: row.design_id):
        program = programs[design.program_id]
        is_asked = program.stage == "evaluation" and not program.name.endswith("-float")
        if is_asked and design.status == OK and design.memory_read_delay_cycles == delay:
            found.setdefault(untyped_name(program.name), (program, design))
    return [found[w.name] for w in EVALUATION_WORKLOADS if w.name in found]


def mapped(program: ProgramRow, design: DesignRow, liberty: Path) -> SynthesisResult:
    """The design in the cells of a library."""
    compiled = compile_program(
        program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
    )
    target = Target(liberty=liberty, clock_period_ns=design.clock_period_ns)
    with tempfile.TemporaryDirectory() as folder:
        return synthesize_design(
            compiled.verilog, top=compiled.module, target=target, folder=Path(folder), timeout_s=600.0
        )


def main() -> None:
    """Read the arguments, map, and write a table per library."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--liberty", nargs="+", required=True)
    parser.add_argument("--delay", type=int, default=10)
    options = parser.parse_args()
    labels = {
        row.design_id: row
        for row in read_table(options.release, table_spec("labels"))
        if row.tool == "pyosys" and row.cell_count is not None
    }
    designs = [
        pair for pair in workload_designs(options.release, options.delay) if pair[1].design_id in labels
    ]
    for name in options.liberty:
        liberty = find_liberty(name)
        ratios: dict[str, list[float]] = {figure: [] for figure in FIGURES}
        pairs: dict[str, list[tuple[float, float]]] = {figure: [] for figure in FIGURES}
        sys.stdout.write(f"\n{liberty.stem}\n| workload | {' | '.join(FIGURES)} | seconds |\n")
        for program, design in designs:
            result, label = mapped(program, design, liberty), labels[design.design_id]
            if result.status != OK:
                sys.stdout.write(f"| {program.name} | {result.status}: {result.reason} |\n")
                continue
            for figure in FIGURES:
                pair = (float(getattr(result, figure)), float(getattr(label, figure)))
                pairs[figure].append(pair)
                ratios[figure].append(pair[0] / pair[1])
            shown = " | ".join(f"{getattr(result, figure):.6g}" for figure in FIGURES)
            sys.stdout.write(f"| {program.name} | {shown} | {result.wall_s:.1f} |\n")
            sys.stdout.flush()
        for figure in FIGURES:
            own = np.array(pairs[figure])
            values = ratios[figure]
            sys.stdout.write(
                f"{figure}: {len(own)} designs, rank {spearman(*own.T):.3f}, ratio to the release: "
                f"median {np.median(values):.3f}, {min(values):.3f} to {max(values):.3f}\n"
            )


if __name__ == "__main__":
    main()
