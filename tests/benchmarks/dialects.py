"""Programs of the stages ast and dataflow in every dialect: equal results, acceptance, constructs of C.

    python -m tests.benchmarks.dialects [--count 60] [--seed 0] [--hardware 0] [--json FILE]

Draws N programs, half of each stage, and writes each of them in every dialect. Native C of both texts must
give equal results on two data sets; undefined behaviour of the new text is a failure. HLS without directives
must accept the new text, and the cycle model of the first `--hardware` programs per dialect must equal native
C. Prints per dialect the share of texts with constructs of C (`c_features`), beside the stages' own texts and
the kernels of suite `written`, which are the goal. The exit status is 1 when a result differs.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.c import HlsError, read_interface
from pipelines.c.signature import DataSet, same_values
from pipelines.cyclemodel import count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from pipelines.native import NativeRun, run_native_sets
from pipelines.programs.ast import AstOptions, ast_program
from pipelines.programs.collections import WRITTEN_FOLDER, c_features, read_collection
from pipelines.programs.data import draw_data
from pipelines.programs.dataflow import DataflowOptions, dataflow_program
from pipelines.programs.dialects import DIALECTS, OWN, in_dialect
from pipelines.schemas import OK, ProgramRow
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, write_json

DATA_SEEDS = (0, 1)
CYCLE_LIMIT = 2_000_000
SHOWN = (
    "unsigned",
    "long",
    "size-t",
    "stdint",
    "struct",
    "typedef",
    "while",
    "do-while",
    "pointer-walk",
    "continue",
    "case-table",
    "helper-function",
    "function-macro",
)


@dataclass(slots=True, kw_only=True)
class Counts:
    """Figures of one dialect.

    Attributes: features: texts with each construct; problems: a sentence per program that failed.
    """

    programs: int = 0
    equal: int = 0
    accepted: int = 0
    simulated: int = 0
    agreeing: int = 0
    features: Counter[str] = field(default_factory=Counter[str])
    problems: list[str] = field(default_factory=list[str])


def drawn_programs(count: int, seed: int) -> Iterator[tuple[int, ProgramRow]]:
    """Accepted programs of both stages with their numbers, as many of each."""
    dataflow = DataflowOptions(control_weight=4.0)
    for stage in range(2):
        number, left = 0, (count + 1 - stage) // 2
        while left:
            row = (
                dataflow_program(number, seed=seed, options=dataflow)
                if stage
                else ast_program(number, seed=seed, options=AstOptions())
            )
            if row.status == OK:
                yield number, row
                left -= 1
            number += 1


def native_runs(row: ProgramRow) -> list[NativeRun]:
    """Run a program natively on every data set."""
    interface = read_interface(row.source, row.top)
    sets = [draw_data(interface, row.inputs, seed=seed) for seed in DATA_SEEDS]
    with tempfile.TemporaryDirectory() as folder:
        return run_native_sets(row.source, interface, sets, folder=Path(folder) / "run")


def is_equal(one: NativeRun, other: NativeRun) -> bool:
    """Tell whether two runs ended well with equal results."""
    return (
        one.status == other.status == OK
        and one.returned == other.returned
        and one.outputs.keys() == other.outputs.keys()
        and all(same_values(one.outputs[name], other.outputs[name]) for name in one.outputs)
    )


def judge(dialect: str, row: ProgramRow, own: Sequence[NativeRun], counts: Counts, *, hardware: int) -> None:
    """Count what holds for a rewritten program."""
    counts.programs += 1
    counts.features.update(c_features(row.source))
    runs = own if dialect == OWN else native_runs(row)
    if all(is_equal(one, other) for one, other in zip(own, runs, strict=True)):
        counts.equal += 1
    else:
        counts.problems.append(f"{row.name}: other results, {runs[0].status} {runs[0].reason or ''}")
    try:
        compiled = compile_program(row.source, top=row.top, options=HlsOptions())
    except HlsError as error:
        counts.problems.append(f"{row.name}: HLS: {str(error)[:120]}")
        return
    counts.accepted += 1
    if counts.simulated < hardware:
        counts.simulated += 1
        data = draw_data(compiled.interface, row.inputs, seed=DATA_SEEDS[0])
        if (problem := hardware_problem(compiled, data, runs[0])) is None:
            counts.agreeing += 1
        else:
            counts.problems.append(f"{row.name}: cycle model: {problem}")


def hardware_problem(compiled: CompiledDesign, data: DataSet, native: NativeRun) -> str | None:
    """Tell how the cycle model differs from native C; None when it does not."""
    with tempfile.TemporaryDirectory() as folder:
        run = count_cycles(compiled, data, folder=Path(folder), cycle_limit=CYCLE_LIMIT, timeout_s=60)
    if run.status != OK:
        return f"{run.status} {run.reason or ''}"
    same = run.returned == native.returned and all(
        same_values(run.outputs[name], native.outputs[name]) for name in native.outputs
    )
    return None if same else "other results"


def shares(features: Counter[str], texts: int) -> list[str]:
    """Shares of texts with the constructs shown, in per cent."""
    return [f"{100 * features[name] / texts:.0f}" for name in SHOWN]


def main() -> None:
    """Draw, rewrite, judge and print."""
    parser = options_parser(__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hardware", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    counts = {dialect: Counts() for dialect in DIALECTS}
    for number, row in drawn_programs(arguments.count, arguments.seed):
        own = native_runs(row)
        for dialect in DIALECTS:
            rewritten = in_dialect(row, dialect, seed=arguments.seed, number=number)
            judge(dialect, rewritten, own, counts[dialect], hardware=arguments.hardware)
    written = read_collection(WRITTEN_FOLDER)
    goal: Counter[str] = Counter(feature for kernel in written for feature in c_features(kernel.text))
    print_machine()
    print_header("dialect", "programs", "equal results", "accepted by HLS", "cycle model equal", *SHOWN)
    for dialect, figures in counts.items():
        cells = (figures.equal, figures.accepted, f"{figures.agreeing} of {figures.simulated}")
        print_row(dialect, figures.programs, *cells, *shares(figures.features, figures.programs))
    print_row("suite written", len(written), "", "", "", *shares(goal, len(written)))
    for dialect, figures in counts.items():
        for problem in figures.problems:
            print(f"{dialect}: {problem}")
    content = {
        dialect: {
            "programs": figures.programs,
            "equal": figures.equal,
            "accepted": figures.accepted,
            "features": figures.features,
        }
        for dialect, figures in counts.items()
    }
    write_json(arguments.json, content | {"written": {"programs": len(written), "features": goal}})
    sys.exit(any(figures.equal < figures.programs for figures in counts.values()))


if __name__ == "__main__":
    main()
