"""Every sub-problem of Algorithm 1's ladder, solved to a proof: how many are proven, and how long that takes.

    python tests/benchmarks/pragma_solver.py --keep FILE [--sizes medium large] [--kernels gemm cnn ...]
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

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Target, read_target
from pipelines.pragmas.nlp import INFEASIBLE, OPTIMAL, SearchOptions, solve
from pipelines.pragmas.summary import Summary
from pipelines.programs import polybench_program

RUNGS = (None, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 1)
KERNELS = (
    *("2mm", "3mm", "atax", "bicg", "covariance", "doitgen", "durbin", "fdtd-2d", "floyd-warshall", "gemm"),
    *("gemver", "gesummv", "gramschmidt", "heat-3d", "jacobi-1d", "jacobi-2d", "lu", "mvt", "seidel-2d"),
    *("symm", "syr2k", "syrk", "trisolv", "trmm", "cnn"),
)
TIME_LIMIT_S = 300.0

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

Row = dict[str, Any]


def _summary(kernel: str, size: str) -> Summary:
    if kernel == "cnn":
        return summarise(CNN, "cnn")
    row = polybench_program(kernel, data_type="float")
    return summarise(row.source.replace("MINI_DATASET", f"{size.upper()}_DATASET", 1), row.top)


def _problems(kernels: list[str], sizes: list[str]) -> Iterator[tuple[str, str, int | None, bool]]:
    for kernel in kernels:
        for size in ["layer"] if kernel == "cnn" else sizes:
            for rung in RUNGS:
                for fine_only in (False, True):
                    yield kernel, size, rung, fine_only


def _solved(
    summary: Summary, target: Target, kernel: str, size: str, rung: int | None, fine_only: bool
) -> Row:
    options = SearchOptions(most_partitions=rung, fine_only=fine_only, time_limit_s=TIME_LIMIT_S)
    start, cpu = time.perf_counter(), time.process_time()
    solution = solve(summary, target, options)
    return {
        "problem": [kernel, size, rung, fine_only],
        "seconds": time.perf_counter() - start,
        "cpu_s": time.process_time() - cpu,
        "status": solution.status,
        "cycles": solution.latency_cycles,
        "gap": solution.gap,
        "nodes": solution.nodes,
    }


def _run(kept: Path, target: Target, kernels: list[str], sizes: list[str]) -> list[Row]:
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done = {tuple(row["problem"]): row for row in rows}
    summary, of = None, ("", "")
    wanted = list(_problems(kernels, sizes))
    for problem in wanted:
        if problem not in done:
            if summary is None or of != problem[:2]:
                summary, of = _summary(*problem[:2]), problem[:2]
            done[problem] = _solved(summary, target, *problem)
            with kept.open("a") as stream:
                stream.write(json.dumps(done[problem]) + "\n")
    return [done[problem] for problem in wanted]


def _line(name: str, size: str, rows: list[Row]) -> str:
    proven = sum(row["status"] in (OPTIMAL, INFEASIBLE) for row in rows)
    wall, cpu = [row["seconds"] for row in rows], [row["cpu_s"] for row in rows]
    return (
        f"| {name} | {size} | {len(rows)} | {proven} | {statistics.mean(wall):.2f} | {max(wall):.2f} "
        f"| {statistics.mean(cpu):.2f} | {max(cpu):.2f} |"
    )


def _table(rows: list[Row]) -> list[str]:
    lines = ["| kernel | size | sub-problems | proven | mean s | max s | mean CPU s | max CPU s |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for key in dict.fromkeys(tuple(row["problem"][:2]) for row in rows):
        lines.append(_line(*key, [row for row in rows if tuple(row["problem"][:2]) == key]))
    for size in ("medium", "large"):
        if of_size := [row for row in rows if row["problem"][1] == size]:
            lines.append(_line("all", size, of_size))
    return [*lines, _line("all", "all", rows)]


def main() -> int:
    """Solve what is not kept yet and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS))
    parser.add_argument("--sizes", nargs="+", choices=("medium", "large"), default=["medium", "large"])
    parser.add_argument("--all-copies", action="store_true", help="modules of inner loops are copied too")
    options = parser.parse_args()
    target = read_target("u200")
    if options.all_copies:
        target = replace(target, outermost_copies=False)
    rows = _run(options.keep, target, options.kernels, options.sizes)
    print("\n".join(_table(rows)))
    print(
        "NLP-DSE, table 9: 956 sub-problems, 126 timed out, mean 268 s (medium 55 s, large 479 s; CNN 3.71 s)"
    )
    return 0 if all(row["status"] in (OPTIMAL, INFEASIBLE) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
