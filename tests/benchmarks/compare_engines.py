"""Every engine on the same designs: native C, cycle model, Verilator and Icarus.

    python -m tests.benchmarks.compare_engines --from 0 --count 200
    python -m tests.benchmarks.compare_engines --typed --engines model verilator

Random programs under the delays, clock and directives of `fuzz_hls`: of every type with --typed, else those
of the AST stage with int alone. Outputs must be equal in all engines, cycles and accesses in those that have
them. Ends with counts and the median times; a difference is printed with its seed and makes the exit status
1. The same seeds give the same programs.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from pipelines.c import HlsError
from pipelines.c.signature import DataSet
from pipelines.cyclemodel import CycleResult, count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.rtl.simulation import SimulationResult, simulate_design, simulate_with_icarus
from tests.benchmarks.fuzz_hls import random_options
from tests.benchmarks.harness import options_parser
from tests.benchmarks.hls_runs import difference, timing_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))
from random_programs import random_program, typed_program

CYCLE_LIMIT = 5_000_000
ENGINES = ("model", "verilator", "icarus")
UNDEFINED = "undefined"
"""A program whose data make native C undefined: nothing to compare."""


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
        "timing": timing_of(options),
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
    program = typed_program(seed).row if typed else random_program(seed)
    options = random_options(program, seed)
    compiled = compile_program(program.source, top=program.top, options=options)
    data = draw_data(compiled.interface, program.inputs, seed=seed)
    native = run_native(program.source, compiled.interface, data, folder=folder / "native")
    if native.status != "ok":
        return f"{UNDEFINED if native.status == 'rejected' else 'native C'}: {native.reason}"
    found = run_engines(compiled, options, data, engines, folder, runtime)
    first = next(iter(found))
    for name, result in found.items():
        run_wall_s = result.run_wall_s if isinstance(result, CycleResult) else result.simulate_wall_s
        times[f"{name} build"].append(result.build_wall_s)
        times[f"{name} run"].append(run_wall_s)
        if problem := difference(native, result):
            return f"{name}: {problem}"
        if result.latency_cycles != found[first].latency_cycles:
            return f"{name} cycles: {result.latency_cycles}, {first} {found[first].latency_cycles}"
        if (result.loads, result.stores) != (found[first].loads, found[first].stores):
            return f"{name} accesses: differ from those of {first}"
    return "equal"


def main() -> int:
    parser = options_parser(__doc__)
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
