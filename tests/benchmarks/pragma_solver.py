"""Every sub-problem of Algorithm 1's ladder, solved to a proof: how many are proven, and how long that takes.

    python -m tests.benchmarks.pragma_solver --keep FILE [--sizes medium large] [--kernels gemm cnn ...]
                                             [--all-copies]

The kernels are those of NLP-DSE, table 8, and its convolution layer (J,I=256, P,Q=5, H,W=224), in float for
the target u200; sub-problems are eleven limits of partitions, each with coarse and fine parallelism and with
fine alone. With --all-copies modules of inner loops are copied too, as in theorem 6.16: a larger space. One
JSON line a sub-problem is kept in FILE, so that an interrupted run goes on. Ends with a table and with
NLP-DSE's table 9, whose solver was BARON on another machine with 30 minutes a sub-problem. Anything that is
not proven makes the exit status 1.

Seconds are those of the whole answer, from summary to checked configuration; CPU seconds beside them are what
remains of them when other work shares the machine.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Target, read_target
from pipelines.pragmas.nlp import INFEASIBLE, OPTIMAL, SearchOptions, solve
from pipelines.pragmas.summary import Summary
from pipelines.programs import polybench_program
from tests.benchmarks.harness import KeptRows, Row, options_parser, table_text, timed
from tests.benchmarks.pragma_search import KERNELS as POLYBENCH_SEARCHED

RUNGS = (None, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 1)
KERNELS = (*POLYBENCH_SEARCHED, "cnn")
TIME_LIMIT_S = 300.0
Problem = tuple[str, str, int | None, bool]
"""Kernel, size, most partitions, and whether parallelism is fine alone."""

CNN = """
void cnn(float input[256][228][228], float weight[256][256][5][5], float output[256][224][224]) {
  for (int j = 0; j < 256; j++)
    for (int i = 0; i < 256; i++)
      for (int p = 0; p < 5; p++)
        for (int q = 0; q < 5; q++)
          for (int h = 0; h < 224; h++)
            for (int w = 0; w < 224; w++)
              output[j][h][w] += weight[j][i][p][q] * input[i][h + p][w + q];
}
"""


def _summary(kernel: str, size: str) -> Summary:
    if kernel == "cnn":
        return summarise(CNN, "cnn")
    row = polybench_program(kernel, data_type="float")
    return summarise(row.source.replace("MINI_DATASET", f"{size.upper()}_DATASET", 1), row.top)


def _problems(kernels: list[str], sizes: list[str]) -> Iterator[Problem]:
    for kernel in kernels:
        for size in ["layer"] if kernel == "cnn" else sizes:
            for rung in RUNGS:
                for fine_only in (False, True):
                    yield kernel, size, rung, fine_only


def _solved(
    summary: Summary, target: Target, kernel: str, size: str, rung: int | None, fine_only: bool
) -> Row:
    options = SearchOptions(most_partitions=rung, fine_only=fine_only, time_limit_s=TIME_LIMIT_S)
    solution, spent = timed(lambda: solve(summary, target, options))
    return {
        "problem": [kernel, size, rung, fine_only],
        "seconds": spent.wall_s,
        "cpu_s": spent.processor_s,
        "status": solution.status,
        "cycles": solution.latency_cycles,
        "gap": solution.gap,
        "nodes": solution.nodes,
    }


def _run(path: Path, target: Target, kernels: list[str], sizes: list[str]) -> list[Row]:
    kept = KeptRows(path, lambda row: tuple(row["problem"]))
    summary_of = lru_cache(maxsize=1)(_summary)

    def measured(problem: Problem) -> Row:
        return kept.measured(problem, lambda: _solved(summary_of(*problem[:2]), target, *problem))

    return [measured(problem) for problem in _problems(kernels, sizes)]


def _row(name: str, size: str, rows: list[Row]) -> tuple[object, ...]:
    proven = sum(row["status"] in (OPTIMAL, INFEASIBLE) for row in rows)
    times = [[row[name] for row in rows] for name in ("seconds", "cpu_s")]
    shown = [f"{value:.2f}" for own in times for value in (statistics.mean(own), max(own))]
    return (name, size, len(rows), proven, *shown)


def _table(rows: list[Row]) -> str:
    keys = dict.fromkeys(tuple(row["problem"][:2]) for row in rows)
    found = [_row(*key, [row for row in rows if tuple(row["problem"][:2]) == key]) for key in keys]
    for size in ("medium", "large"):
        if of_size := [row for row in rows if row["problem"][1] == size]:
            found.append(_row("all", size, of_size))
    head = "kernel | size | sub-problems | proven | mean s | max s | mean CPU s | max CPU s"
    return table_text([head], [*found, _row("all", "all", rows)])


def main() -> int:
    """Solve what is not kept yet and print the table."""
    parser = options_parser(__doc__)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS))
    parser.add_argument("--sizes", nargs="+", choices=("medium", "large"), default=["medium", "large"])
    parser.add_argument("--all-copies", action="store_true", help="modules of inner loops are copied too")
    options = parser.parse_args()
    target = read_target("u200")
    if options.all_copies:
        target = replace(target, outermost_copies=False)
    rows = _run(options.keep, target, options.kernels, options.sizes)
    print(_table(rows), end="")
    print(
        "NLP-DSE, table 9: 956 sub-problems, 126 timed out, mean 268 s (medium 55 s, large 479 s; CNN 3.71 s)"
    )
    return 0 if all(row["status"] in (OPTIMAL, INFEASIBLE) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
