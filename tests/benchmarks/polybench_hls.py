"""The thirty PolyBench programs through high-level synthesis: outputs and cycles against two judges.

    python -m tests.benchmarks.polybench_hls --sizes mini small --types int float --keep FOLDER

Every program is compiled at every size and data type under four directive settings. Its outputs must equal
native C bit by bit, in Verilator and in the cycle model, and both must count the same cycles. One JSON line a
design is kept in FOLDER, so that an interrupted run goes on; designs of another version of the engine are
made again. Ends with counts; anything that is not equal is printed and makes the exit status 1.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from pipelines.c import Directive, Function, HlsError, ir, read_function
from pipelines.cyclemodel import count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program, innermost_loops, tool_version
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.programs.polybench_catalogue import POLYBENCH_KERNELS, polybench_program
from pipelines.schemas import ProgramRow
from tests.benchmarks.harness import KeptRows, Row, options_parser
from tests.benchmarks.hls_runs import difference, simulate_in_verilator

LIMITS = {"cycle_limit": 200_000_000, "timeout_s": 900.0}


def _plain(_: Function) -> HlsOptions:
    return HlsOptions()


def _pipelined(function: Function) -> HlsOptions:
    return HlsOptions(
        directives=tuple(Directive(kind="pipeline", loop=loop) for loop in innermost_loops(function))
    )


def _unrolled(function: Function) -> HlsOptions:
    """Innermost loops unrolled by 2 and pipelined, every array dealt to two banks by its last index."""
    loops = innermost_loops(function)
    directives = [Directive(kind="unroll", loop=loop, value=2) for loop in loops]
    directives += [Directive(kind="pipeline", loop=loop) for loop in loops]
    directives += [
        Directive(kind="partition", variable=a.name, style="cyclic", value=2, dimension=len(a.shape))
        for a in function.parameters
        if isinstance(a, ir.Array)
    ]
    return HlsOptions(memory_read_delay_cycles=5, memory_write_delay_cycles=3, directives=tuple(directives))


def _buffered(function: Function) -> HlsOptions:
    """Every array in an on-chip buffer around each outermost loop; innermost loops flattened, pipelined."""
    outer = [s for s in function.body if isinstance(s, ir.For | ir.While)]
    directives: list[Directive] = []
    for loop in outer:
        used = {e.array.name for e in ir.all_expressions((loop,)) if isinstance(e, ir.Load)}
        used |= ir.stored_arrays((loop,))
        directives += [
            Directive(kind="cache", loop=loop.name, variable=a.name)
            for a in function.parameters
            if isinstance(a, ir.Array) and a.name in used
        ]
    for name in innermost_loops(function):
        directives += [Directive(kind="flatten", loop=name), Directive(kind="pipeline", loop=name)]
    return HlsOptions(memory_read_delay_cycles=10, memory_write_delay_cycles=10, directives=tuple(directives))


SETTINGS: dict[str, Callable[[Function], HlsOptions]] = {
    "plain": _plain,
    "pipelined": _pipelined,
    "unrolled": _unrolled,
    "buffered": _buffered,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One design of the experiment."""

    kernel: str
    size: str
    data_type: str
    setting: str

    @property
    def name(self) -> str:
        return f"{self.kernel} {self.size} {self.data_type} {self.setting}"


def _compile(row: Row, program: ProgramRow, setting: str) -> tuple[CompiledDesign, HlsOptions]:
    function = read_function(program.source, top=program.top, file=f"{program.name}.c")
    options = SETTINGS[setting](function)
    start = time.perf_counter()
    compiled = compile_program(program.source, top=program.top, options=options, file=f"{program.name}.c")
    row["hls_s"] = round(time.perf_counter() - start, 3)
    row["applied"] = sum(o.applied for o in compiled.outcomes)
    row["refused"] = [[o.directive, o.reason] for o in compiled.outcomes if not o.applied]
    row["intervals"] = compiled.intervals
    return compiled, options


def run_case(case: Case, runtime: Path) -> Row:
    """One design through native C, the cycle model and Verilator."""
    row: Row = {"case": case.name, "version": tool_version(), "verdict": "equal"}
    program = polybench_program(case.kernel, size=case.size, data_type=case.data_type)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            compiled, options = _compile(row, program, case.setting)
        except HlsError as error:
            return row | {"verdict": f"refused: {error}"}
        data = draw_data(compiled.interface, program.inputs, seed=0)
        (folder / "native").mkdir()
        native = run_native(program.source, compiled.interface, data, folder=folder / "native", timeout_s=120)
        if native.status != "ok":
            return row | {"verdict": f"native C: {native.status} {native.reason}"}
        (folder / "model").mkdir()
        model = count_cycles(compiled, data, folder=folder / "model", **LIMITS)
        row |= {"model_s": round(model.run_wall_s, 3), "model_cycles": model.latency_cycles}
        rtl = simulate_in_verilator(compiled, options, data, folder / "rtl", runtime, **LIMITS)
        row |= {"verilator_s": round(rtl.simulate_wall_s, 3), "verilator_cycles": rtl.latency_cycles}
        for engine, found in (("the cycle model", model), ("Verilator", rtl)):
            if problem := difference(native, found, every_bit=True):
                return row | {"verdict": f"{engine}: {problem}"}
        if model.latency_cycles != rtl.latency_cycles:
            row["verdict"] = f"cycles differ: {model.latency_cycles} and {rtl.latency_cycles}"
    return row


def attempt(case: Case, runtime: Path) -> Row:
    """`run_case`, where a crash is a row too."""
    try:
        return run_case(case, runtime)
    except Exception as error:
        return {
            "case": case.name,
            "version": tool_version(),
            "verdict": f"crash: {type(error).__name__} {error}",
        }


def _work(cases: list[Case], keep: Path, workers: int) -> Iterator[Row]:
    """Rows of all cases; those known come first, the others as they end."""
    kept = KeptRows(keep / "rows.jsonl", lambda row: row["case"])
    known = {
        name: row
        for name, row in kept.rows.items()
        if row["version"] == tool_version() and row["verdict"] == "equal"
    }
    yield from (known[c.name] for c in cases if c.name in known)
    todo = [c for c in cases if c.name not in known]
    with ProcessPoolExecutor(workers) as pool:
        yield from map(kept.add, pool.map(attempt, todo, [keep / "runtime"] * len(todo)))


def report(rows: list[Row]) -> None:
    """Counts and times of all rows."""
    verdicts = Counter("equal" if r["verdict"] == "equal" else "not equal" for r in rows)
    print(f"{len(rows)} designs: " + ", ".join(f"{n} {v}" for v, n in sorted(verdicts.items())))
    done = [r for r in rows if r["verdict"] == "equal"]
    if not done:
        return
    times = sorted(r["hls_s"] for r in done)
    print(f"C to Verilog: median {statistics.median(times):.3f} s, largest {times[-1]:.2f} s")
    faster = [r["verilator_s"] / max(r["model_s"], 0.001) for r in done]
    print(f"cycle model against Verilator, runs alone: median {statistics.median(faster):.1f} times")
    refused = Counter(reason.split(":")[0][:70] for r in done for _, reason in r["refused"])
    applied = sum(r["applied"] for r in done)
    print(f"directives: {applied} applied, {sum(refused.values())} not; most frequent reasons:")
    for reason, count in refused.most_common(8):
        print(f"  {count:5} {reason}")


def main() -> int:
    parser = options_parser(__doc__)
    names = [kernel.name for kernel in POLYBENCH_KERNELS]
    parser.add_argument("--kernels", nargs="+", default=names, choices=names, metavar="NAME")
    parser.add_argument("--sizes", nargs="+", default=["mini"], choices=["mini", "small"])
    parser.add_argument("--types", nargs="+", default=["int", "float"], choices=["int", "float", "double"])
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, required=True, help="folder of results")
    chosen = parser.parse_args()
    chosen.keep.mkdir(parents=True, exist_ok=True)
    cases = [
        Case(kernel=kernel, size=size, data_type=data_type, setting=setting)
        for size, data_type, kernel, setting in product(
            chosen.sizes, chosen.types, chosen.kernels, chosen.settings
        )
    ]
    rows: list[Row] = []
    for row in _work(cases, chosen.keep, chosen.workers):
        rows.append(row)
        if row["verdict"] != "equal":
            print(f"{row['case']}: {row['verdict']}", flush=True)
    report(rows)
    return int(any(row["verdict"] != "equal" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
