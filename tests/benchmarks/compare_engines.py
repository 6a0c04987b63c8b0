"""Every engine on the same designs: native C, cycle model, Verilator and Icarus.

    python tests/benchmarks/compare_engines.py --from 0 --count 200
    python tests/benchmarks/compare_engines.py --typed --engines model verilator

Random programs under delays, a clock and directives that depend on the seed; with --typed of every type, else
of int. Outputs must be equal in all engines, cycles and accesses in those that have them. Ends with counts
and the median times; a difference is printed with its seed and makes the exit status 1. The same seeds give
the same programs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

from pipelines.c import Directive, HlsError, read_function
from pipelines.c.signature import DataSet, same_values
from pipelines.cyclemodel import CycleResult, count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program, innermost_loops
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.rtl.simulation import (
    MemoryTiming,
    SimulationResult,
    simulate_design,
    simulate_with_icarus,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))
from random_programs import random_program
from typed_programs import typed_program

CYCLE_LIMIT = 5_000_000
ENGINES = ("model", "verilator", "icarus")
UNDEFINED = "undefined"
"""A program whose data make native C undefined: nothing to compare."""


def some_directives(source: str, random: Random) -> list[Directive]:
    """Directives on the loops and arrays of a program; those that do not apply are outcomes of their own."""
    function = read_function(source, top="fuzz")
    inner = innermost_loops(function)
    found = [Directive(kind="pipeline", loop=loop) for loop in inner if random.random() < 0.7]
    found += [
        Directive(kind="unroll", loop=loop, value=random.choice([2, 3, None]))
        for loop in inner
        if random.random() < 0.3
    ]
    for name, dimensions in (("A", 1), ("B", 1), ("M", 2)):
        if random.random() < 0.4:
            style = random.choice(["cyclic", "block", "complete"])
            found.append(
                Directive(
                    kind="partition",
                    variable=name,
                    style=style,
                    value=None if style == "complete" else random.choice([2, 3, 4]),
                    dimension=random.randint(1, dimensions),
                )
            )
    return found


def options_of(source: str, seed: int) -> HlsOptions:
    """A configuration that depends on the seed."""
    return HlsOptions(
        memory_read_delay_cycles=1 + seed % 5,
        memory_write_delay_cycles=1 + seed % 3,
        clock_period_ns=3.0 + seed % 7,
        directives=tuple(some_directives(source, Random(seed))) if seed % 3 else (),
    )


def run_engines(
    compiled: CompiledDesign,
    options: HlsOptions,
    data: DataSet,
    engines: list[str],
    folder: Path,
    runtime: Path,
) -> dict[str, CycleResult | SimulationResult]:
    """What each engine gives."""
    rtl = {
        "verilog": compiled.verilog,
        "module": compiled.module,
        "interface": compiled.interface,
        "data": data,
        "timing": MemoryTiming(
            read_delay_cycles=options.memory_read_delay_cycles,
            write_delay_cycles=options.memory_write_delay_cycles,
        ),
        "banks": compiled.banks,
        "cycle_limit": CYCLE_LIMIT,
    }
    found: dict[str, CycleResult | SimulationResult] = {}
    for name in engines:
        own = folder / name
        own.mkdir()
        if name == "model":
            found[name] = count_cycles(compiled, data, folder=own, cycle_limit=CYCLE_LIMIT)
        elif name == "verilator":
            found[name] = simulate_design(**rtl, folder=own, runtime_folder=runtime)
        else:
            found[name] = simulate_with_icarus(**rtl, folder=own)
    return found


def compare(
    seed: int, *, typed: bool, engines: list[str], folder: Path, runtime: Path, times: dict[str, list[float]]
) -> str:
    """`equal`, or what differs."""
    source = typed_program(seed).text if typed else random_program(seed)
    options = options_of(source, seed)
    compiled = compile_program(source, top="fuzz", options=options)
    data = draw_data(compiled.interface, "{}", seed=seed)
    native = run_native(source, compiled.interface, data, folder=folder / "native")
    if native.status != "ok":
        return f"{UNDEFINED if native.status == 'rejected' else 'native C'}: {native.reason}"
    found = run_engines(compiled, options, data, engines, folder, runtime)
    first = next(iter(found))
    for name, result in found.items():
        run_wall_s = result.run_wall_s if isinstance(result, CycleResult) else result.simulate_wall_s
        times[f"{name} build"].append(result.build_wall_s)
        times[f"{name} run"].append(run_wall_s)
        if result.status != "ok":
            return f"{name} {result.status}: {result.reason}"
        differing = [n for n, v in native.outputs.items() if not same_values(v, result.outputs[n])]
        if differing or result.returned != native.returned:
            return f"{name} outputs: {', '.join(differing) or 'the result'} differs from native C"
        if result.latency_cycles != found[first].latency_cycles:
            return f"{name} cycles: {result.latency_cycles}, {first} {found[first].latency_cycles}"
        if (result.loads, result.stores) != (found[first].loads, found[first].stores):
            return f"{name} accesses: differ from those of {first}"
    return "equal"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--typed", action="store_true")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    chosen = parser.parse_args()
    counts: Counter[str] = Counter()
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as base:
        for seed in range(chosen.first, chosen.first + chosen.count):
            with tempfile.TemporaryDirectory(dir=base) as name:
                try:
                    verdict = compare(
                        seed,
                        typed=chosen.typed,
                        engines=chosen.engines,
                        folder=Path(name),
                        runtime=Path(base) / "runtime",
                        times=times,
                    )
                except HlsError as error:
                    verdict = f"refused: {error}"
            counts[verdict.split(":")[0]] += 1
            if verdict != "equal":
                print(f"seed {seed}: {verdict}", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    print(", ".join(f"{name} {statistics.median(found):.3f} s" for name, found in times.items()))
    return int(not set(counts) <= {"equal", UNDEFINED, "refused"})


if __name__ == "__main__":
    sys.exit(main())
