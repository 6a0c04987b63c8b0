"""What confinement costs: the same commands with `run_tool` and with `run_confined`, in turns.

    python -m tests.benchmarks.sandbox_overhead --repeats 30

The commands are those of a native run of a 32 x 32 integer matrix product: one compilation with sanitizers,
one plain one, and both runs; and a program that does nothing, for the cost by itself. Printed are the least
and the median wall time in milliseconds, and the ratio of the least ones.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pipelines.base.sandbox import Limits, run_confined
from pipelines.base.tools import ToolRun, find_tool, run_tool, stopwatch
from tests.benchmarks.harness import options_parser

SOURCE = b"""#include <stdio.h>
static int a[32][32], b[32][32], c[32][32];
int main(void) {
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 32; j++) { a[i][j] = i + j; b[i][j] = i - j; }
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 32; j++)
            for (int k = 0; k < 32; k++) c[i][j] += a[i][k] * b[k][j];
    FILE *file = fopen("outputs.bin", "wb");
    return fwrite(c, sizeof c, 1, file) != 1 || fclose(file) != 0;
}
"""
SANITIZERS = ("-g", "-fsanitize=undefined,address", "-fno-sanitize-recover=all", "-no-pie")
LIMITS = Limits(wall_s=120, processes=8, address_bytes=None)

Command = tuple[str, ...]
Runner = Callable[[Command, Path, Path], ToolRun]


def unconfined(command: Command, folder: Path, source: Path) -> ToolRun:
    return run_tool(
        command,
        folder=folder,
        timeout_s=120,
        memory_bytes=None,
        environment={"TMPDIR": ".", "ASAN_OPTIONS": "detect_leaks=0"},
    )


def confined(command: Command, folder: Path, source: Path) -> ToolRun:
    program = Path(command[0])
    return run_confined(
        command,
        folder=folder,
        readable=(source, program) if source.parent == program.parent else (source,),
        limits=LIMITS,
        environment={"TMPDIR": ".", "ASAN_OPTIONS": "detect_leaks=0"},
    )


def commands(base: Path, source: Path) -> dict[str, Command]:
    gcc = (find_tool("gcc", "gcc"), "-std=c11", "-O1", str(source))
    return {
        "nothing": (find_tool("true", "coreutils"),),
        "compile, sanitizers": (*gcc, *SANITIZERS, "-o", "program"),
        "compile, plain": (*gcc, "-o", "program"),
        "run, sanitizers": (str(base / "checked"),),
        "run, plain": (str(base / "plain"),),
    }


def build(base: Path, source: Path) -> None:
    gcc = find_tool("gcc", "gcc")
    for name, options in (("checked", SANITIZERS), ("plain", ())):
        run = run_tool(
            (gcc, "-O1", str(source), *options, "-o", name), folder=base, timeout_s=120, memory_bytes=None
        )
        if run.returncode != 0:
            sys.exit(run.last_words())


def measure(runner: Runner, command: Command, source: Path) -> float:
    with tempfile.TemporaryDirectory() as name:
        start = stopwatch()
        run = runner(command, Path(name), source)
        elapsed = stopwatch() - start
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: {run.last_words()}")
    return elapsed * 1000


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=30)
    repeats = parser.parse_args().repeats
    print("command               unconfined  median   confined  median   ratio   added ms")
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        source = base / "program.c"
        source.write_bytes(SOURCE)
        build(base, source)
        for label, command in commands(base, source).items():
            rows = [[measure(r, command, source) for r in (unconfined, confined)] for _ in range(repeats)]
            before, after = (sorted(column) for column in zip(*rows, strict=True))
            print(
                f"{label:20} {before[0]:11.1f} {statistics.median(before):7.1f} {after[0]:10.1f} "
                f"{statistics.median(after):7.1f} {after[0] / before[0]:7.2f} {after[0] - before[0]:10.1f}"
            )


if __name__ == "__main__":
    main()
