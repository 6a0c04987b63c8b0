"""Every engine on the same designs: native C, cycle model, Verilator and Icarus.

    python tests/benchmarks/compare_engines.py --from 0 --count 200

Random programs under delays, a clock and directives that depend on the seed. Outputs must be equal in all
four, cycles and accesses in the three that have them. Ends with counts and the median times; a difference is
printed with its seed and makes the exit status 1. The same seeds give the same programs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

from pipelines.cyclemodel import count_cycles
from pipelines.hls import Directive, HlsError, HlsOptions, compile_program, innermost_loops, read_function
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.rtlsim import MemoryTiming, simulate_design, simulate_with_icarus
from pipelines.values import same_values

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))
from random_programs import random_program

CYCLE_LIMIT = 5_000_000


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


def compare(seed: int, folder: Path, runtime: Path, times: dict[str, list[float]]) -> str:
    """`equal`, or what differs."""
    source = random_program(seed)
    options = options_of(source, seed)
    compiled = compile_program(source, top="fuzz", options=options)
    data = draw_data(compiled.interface, "{}", seed=seed)
    native = run_native(source, compiled.interface, data, folder=folder / "native")
    if native.status != "ok":
        return f"native C: {native.status} {native.reason}"
    timing = MemoryTiming(
        read_delay_cycles=options.memory_read_delay_cycles,
        write_delay_cycles=options.memory_write_delay_cycles,
    )
    rtl = {
        "verilog": compiled.verilog,
        "module": compiled.module,
        "interface": compiled.interface,
        "data": data,
        "timing": timing,
        "banks": compiled.banks,
        "cycle_limit": CYCLE_LIMIT,
    }
    for name in ("verilator", "icarus"):
        (folder / name).mkdir()
    found = {
        "model": count_cycles(compiled, data, folder=folder / "model", cycle_limit=CYCLE_LIMIT),
        "verilator": simulate_design(**rtl, folder=folder / "verilator", runtime_folder=runtime),
        "icarus": simulate_with_icarus(**rtl, folder=folder / "icarus"),
    }
    for name, result in found.items():
        run_wall_s = result.run_wall_s if name == "model" else result.simulate_wall_s
        times[f"{name} build"].append(result.build_wall_s)
        times[f"{name} run"].append(run_wall_s)
        if result.status != "ok":
            return f"{name} {result.status}: {result.reason}"
        differing = [n for n, v in native.outputs.items() if not same_values(v, result.outputs[n])]
        if differing or result.returned != native.returned:
            return f"{name} outputs: {', '.join(differing) or 'the result'} differs from native C"
    first = found["verilator"]
    for name, result in found.items():
        if result.latency_cycles != first.latency_cycles:
            return f"{name} cycles: {result.latency_cycles}, Verilator {first.latency_cycles}"
        if (result.loads, result.stores) != (first.loads, first.stores):
            return f"{name} accesses: differ from Verilator's"
    return "equal"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    chosen = parser.parse_args()
    counts: Counter[str] = Counter()
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as base:
        for seed in range(chosen.first, chosen.first + chosen.count):
            with tempfile.TemporaryDirectory(dir=base) as name:
                try:
                    verdict = compare(seed, Path(name), Path(base) / "runtime", times)
                except HlsError as error:
                    verdict = f"refused: {error}"
            counts[verdict.split(":")[0]] += 1
            if verdict != "equal":
                print(f"seed {seed}: {verdict}", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    print(", ".join(f"{name} {statistics.median(found):.3f} s" for name, found in times.items()))
    return int(set(counts) != {"equal"})


if __name__ == "__main__":
    sys.exit(main())
