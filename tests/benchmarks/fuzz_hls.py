"""Differential fuzzing of high-level synthesis: random programs, Verilog in Verilator against native C.

    python tests/benchmarks/fuzz_hls.py --from 0 --count 200

Each program runs plainly and with every innermost loop pipelined, under delays and a clock that depend on
the seed. Ends with counts; a mismatch, a hang or a crash is printed with its seed and makes the exit status
1. The same seeds give the same programs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from pipelines.hls import Directive, HlsError, HlsOptions, compile_program, innermost_loops, read_function
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.rtlsim import MemoryTiming, simulate_design

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))
from random_programs import random_program

CYCLE_LIMIT = 5_000_000


def options_of(source: str, seed: int, *, pipeline: bool) -> HlsOptions:
    """A configuration that depends on the seed."""
    loops = innermost_loops(read_function(source, top="fuzz")) if pipeline else []
    return HlsOptions(
        memory_read_delay_cycles=1 + seed % (5 if pipeline else 4),
        memory_write_delay_cycles=1 + seed % 3,
        clock_period_ns=3.0 + seed % 7,
        directives=tuple(Directive(kind="pipeline", loop=loop) for loop in loops),
    )


def compare(source: str, seed: int, options: HlsOptions, folder: Path, runtime: Path) -> str:
    """`equal`, or what is wrong."""
    compiled = compile_program(source, top="fuzz", options=options)
    data = draw_data(compiled.interface, "{}", seed=seed)
    native = run_native(source, compiled.interface, data, folder=folder / "native")
    if native.status != "ok":
        return f"native C: {native.status} {native.reason}"
    (folder / "rtl").mkdir()
    found = simulate_design(
        compiled.verilog,
        module=compiled.module,
        interface=compiled.interface,
        data=data,
        timing=MemoryTiming(
            read_delay_cycles=options.memory_read_delay_cycles,
            write_delay_cycles=options.memory_write_delay_cycles,
        ),
        folder=folder / "rtl",
        runtime_folder=runtime,
        cycle_limit=CYCLE_LIMIT,
    )
    if found.status != "ok":
        return f"{found.status}: {found.reason}"
    differing = [n for n in native.outputs if not np.array_equal(found.outputs[n], native.outputs[n])]
    if differing or found.returned != native.returned:
        return f"mismatch in {', '.join(differing) or 'the result'}"
    return "equal"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    chosen = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as base:
        for seed in range(chosen.first, chosen.first + chosen.count):
            for pipeline in (False, True):
                source = random_program(seed)
                with tempfile.TemporaryDirectory(dir=base) as name:
                    try:
                        options = options_of(source, seed, pipeline=pipeline)
                        verdict = compare(source, seed, options, Path(name), Path(base) / "runtime")
                    except HlsError as error:
                        verdict = f"refused: {error}"
                counts[verdict.split(":")[0]] += 1
                if verdict != "equal":
                    print(f"seed {seed} pipeline {pipeline}: {verdict}", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    return int(set(counts) != {"equal"})


if __name__ == "__main__":
    sys.exit(main())
