"""Line coverage of each engine by the inputs whose results are recorded.

    python tests/benchmarks/golden_coverage.py [--engines hls power ...] [--lines]

Prints per package its statements, the share that the inputs of `tests/golden_outputs` reach, and the
processor time of the inputs; with --lines the lines that none reaches. Functions that Numba compiles run as
Python here, so that their lines count. What runs in other processes is not measured.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import coverage

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "pipelines/hls": ("hls",),
    "pipelines/cyclemodel": ("cyclemodel",),
    "pipelines/native": ("native",),
    "pipelines/rtlsim": ("rtlsim",),
    "pipelines/synthesis": ("synthesis",),
    "pipelines/power": ("power", "opensta"),
    "pipelines/circt": ("circt",),
    "pipelines/bambu": ("bambu",),
    "pipelines/siliconcompiler": ("siliconcompiler",),
    "pipelines/network": ("network_simulation", "network_workload", "network_runs", "network_tcp"),
    "pipelines/pragmas": ("pragma_bound", "pragma_search"),
    "pipelines/programs": ("programs", "program_variants"),
    "pipelines/features": ("features",),
    "pipelines/records": ("records",),
    "pipelines/fabric": ("fabric",),
}
"""Engines whose inputs are for a package."""

EXCLUDED = (
    "pipelines/fabric/explaining.py",
    "pipelines/fabric/onnx_graphs.py",
    "pipelines/fabric/picture.py",
    "pipelines/hls/gantt.py",
    "pipelines/programs/llm/provider.py",
    "pipelines/programs/llm/replies.py",
    "pipelines/programs/llm/server.py",
    "pipelines/programs/llm/stage.py",
    "pipelines/siliconcompiler/flow.py",
    "pipelines/synthesis/worker.py",
    "pipelines/circt/worker.py",
)
"""Modules without a version: drawings, explanations, readers of models, texts for tests, conversations with
models, and other processes."""


@dataclass(frozen=True)
class Covered:
    """Statements of a package, those that were reached, and the lines of the others by file."""

    statements: int
    reached: int
    missed: dict[str, list[int]]


def processor_s() -> float:
    """Processor time of this process and its ended children, in seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def covered(measured: coverage.Coverage, package: str) -> Covered:
    """What was reached of a package, modules of `EXCLUDED` left out."""
    statements, missed = 0, dict[str, list[int]]()
    for path in sorted((ROOT / package).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if name in EXCLUDED:
            continue
        _, lines, _, absent, _ = measured.analysis2(str(path))
        statements += len(lines)
        if absent:
            missed[name] = absent
    return Covered(statements, statements - sum(map(len, missed.values())), missed)


def ranges(lines: Sequence[int]) -> str:
    """Lines as `1-3, 7`."""
    parts: list[list[int]] = []
    for line in lines:
        if parts and line == parts[-1][1] + 1:
            parts[-1][1] = line
        else:
            parts.append([line, line])
    return ", ".join(f"{a}-{b}" if a < b else str(a) for a, b in parts)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--engines", nargs="*", help="names of engines; all by default")
    arguments.add_argument("--lines", action="store_true", help="print the lines that no input reaches")
    chosen = arguments.parse_args()
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    measured = coverage.Coverage(data_file=None, source=[str(ROOT / "pipelines")], config_file=False)
    measured.start()
    sys.path[:0] = [str(ROOT / "tests" / "golden_outputs"), str(ROOT / "tests")]
    from engine_outputs import Folders, hashed_outputs
    from engines import ENGINES, HLS

    engines = {engine.name: engine for engine in (HLS, *ENGINES)}
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as shared:
        for name in chosen.engines or engines:
            if not engines[name].installed():
                continue
            begun = processor_s()
            with tempfile.TemporaryDirectory() as scratch:
                folders = Folders(scratch=Path(scratch), runtimes=Path(shared), engines=Path(shared))
                hashed_outputs(engines[name], folders)
            seconds[name] = processor_s() - begun
    measured.stop()
    print("| package | statements | reached | % | processor s |\n| --- | --- | --- | --- | --- |")
    for package, names in PACKAGES.items():
        used = [seconds[name] for name in names if name in seconds]
        if not used:
            continue
        result = covered(measured, package)
        share = 100 * result.reached / result.statements
        print(f"| {package} | {result.statements} | {result.reached} | {share:.1f} | {sum(used):.1f} |")
        for name, lines in result.missed.items() if chosen.lines else ():
            print(f"    {name}: {ranges(lines)}")


if __name__ == "__main__":
    main()
