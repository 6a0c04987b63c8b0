"""The dataflow stage: seconds a program, what was refused, and what the programs are like.

    python -m tests.benchmarks.dataflow_stage --count 300 --compile 60 --run 20

Draws programs and prints distributions: operators, loop depth, length, share of executed operations in
statements and conditions on arrays (the fact of the table program_facts). `--compile N` sends the first N
through high-level synthesis without directives; `--run N` also counts their cycles at memory delay 2 and
compares with native C, at every value of the sweep. Anything refused, unequal or unclean makes the exit
status 1.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pipelines.c import HlsError
from pipelines.cyclemodel import count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs import draw_data, program_facts
from pipelines.programs.dataflow import DataflowOptions, dataflow_program, swept_inputs
from pipelines.programs.dataflow.graph import Graph, estimated_cells
from pipelines.programs.dataflow.program import draw_graph
from pipelines.schemas import OK, ProgramRow
from tests.benchmarks.harness import options_parser
from tests.benchmarks.hls_runs import difference
from tests.programs.loop_depths import depth_of


def cells_of(graph: Graph) -> float:
    """Estimated standard cells but for local arrays."""
    body = [n for placed in graph.nodes for n in placed.body]
    return estimated_cells(body, graph.pool.element, local_bits=0)


def distribution(name: str, values: Sequence[float]) -> None:
    """Print quantiles of some values."""
    if not values:
        return
    ordered = sorted(values)
    quantiles = [ordered[min(len(ordered) - 1, int(q * len(ordered)))] for q in (0, 0.05, 0.5, 0.95, 1)]
    text = "  ".join(f"{value:10.4g}" for value in quantiles)
    print(f"{name:34} {text}  mean {statistics.fmean(values):.4g}")


def compiled(row: ProgramRow) -> CompiledDesign | str:
    """The design without directives, or why there is none."""
    try:
        return compile_program(row.source, top=row.top, options=HlsOptions())
    except HlsError as error:
        return f"{type(error).__name__}: {error}"


def check_run(row: ProgramRow, design: CompiledDesign, folder: Path) -> tuple[list[int], str | None]:
    """Cycles at every value of the sweep, and what is wrong."""
    cycles: list[int] = []
    for number, inputs in enumerate(swept_inputs(row)):
        data = draw_data(design.interface, inputs, seed=number)
        native = run_native(row.source, design.interface, data, folder=folder / "native")
        if native.status != OK:
            return cycles, f"{native.status}: {native.reason}"
        counted = count_cycles(design, data, folder=folder / "cycles")
        if problem := difference(native, counted):
            return cycles, problem
        assert counted.latency_cycles is not None
        cycles.append(counted.latency_cycles)
    return cycles, None


def main() -> int:
    """Measure and print."""
    parser = options_parser(__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", type=int, default=0)
    parser.add_argument("--run", type=int, default=0)
    arguments = parser.parse_args()
    options = DataflowOptions()
    begun = time.process_time()
    rows = [dataflow_program(k, seed=arguments.seed, options=options) for k in range(arguments.count)]
    seconds = (time.process_time() - begun) / max(1, len(rows))
    good = [(k, row) for k, row in enumerate(rows) if row.status == OK]
    print(f"{len(rows)} programs, {seconds:.4f} s of one core each, {len(good)} ok, ", end="")
    print(f"{len({row.source for row in rows})} distinct")
    for reason, count in Counter(row.reason for row in rows if row.status != OK).most_common():
        print(f"  refused {count}: {reason}")
    graphs = [draw_graph(k, seed=arguments.seed, options=options) for k, _ in good]
    print(f"{'':34} {'least':>10}  {'5 %':>10}  {'median':>10}  {'95 %':>10}  {'most':>10}")
    distribution("operators a program", [len(g.nodes) for g in graphs])
    distribution("loop depth a program", [max(depth_of(n.body) for n in g.nodes) for g in graphs])
    distribution("loop depth an operator", [depth_of(n.body) for g in graphs for n in g.nodes])
    distribution("bytes of source", [row.source_bytes for _, row in good])
    shares = [program_facts(row).array_operation_share or 0.0 for _, row in good]
    distribution("operations on arrays, executed", shares)
    distribution("estimated cycles", [g.cycles for g in graphs])
    distribution("estimated cells, local arrays apart", [cells_of(g) for g in graphs])
    distribution("run-time scalars", [len(g.scalars) for g in graphs])
    print("types", dict(Counter(g.pool.element.name for g in graphs).most_common()))
    print("families", dict(Counter(n.operator.family for g in graphs for n in g.nodes).most_common()))
    print("operators", dict(Counter(o for _, row in good for o in row.operators).most_common()))
    return _hardware(good[: max(arguments.compile, arguments.run)], arguments.run, graphs)


def _hardware(good: Sequence[tuple[int, ProgramRow]], run: int, graphs: Sequence[Graph]) -> int:
    wrong = 0
    times: list[float] = []
    cycles: list[float] = []
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for place, (number, row) in enumerate(good):
            begun = time.process_time()
            design = compiled(row)
            times.append(time.process_time() - begun)
            found, problem = [], design if isinstance(design, str) else None
            if not isinstance(design, str) and place < run:
                found, problem = check_run(row, design, Path(folder))
            cycles += found
            ratios += [found[len(found) // 2] / graphs[place].cycles] if found else []
            if problem:
                wrong += 1
                print(f"program {number}: {problem}")
    distribution("seconds of HLS", times)
    distribution("cycles, every value of the sweep", cycles)
    distribution("cycles over estimate", ratios)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
