"""Differential fuzzing of high-level synthesis: random programs and directives against native C.

    python -m tests.benchmarks.fuzz_hls --from 0 --count 5000 --keep FOLDER

Each seed gives one program of every type, loop, branch and call, random directives on its loops and arrays,
random delays and a random clock. Its hardware in Verilator must equal native C bit by bit. Every tenth
design is also run by the cycle model, which must give the same outputs and cycles, and its C under the
undefined behaviour sanitizer. `--icarus N` runs N designs in Icarus Verilog too. The same seeds give the
same programs. One JSON line a design is kept, so that an interrupted run goes on. A mismatch, a hang or a
crash is printed with its seed and makes the exit status 1; `--show SEED` prints a program and its
directives, `--shrink SEED` a smaller one that fails in the same way.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import numpy as np

from pipelines.c import Directive, Function, HlsError, directives_json, ir, read_function
from pipelines.c.signature import DataSet
from pipelines.cyclemodel import count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program, tool_version
from pipelines.programs import ProgramError, draw_data
from pipelines.rtl.simulation import simulate_with_icarus
from pipelines.schemas import ProgramRow
from tests.benchmarks.harness import KeptRows, Row, options_parser
from tests.benchmarks.hls_runs import timing_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))

from batches import CYCLE_LIMIT, Hardware, Outcome, difference, run_natively, simulate_all
from random_programs import TypedProgram, smaller, typed_program

BATCH = 10
AUDIT = 10
COMPILE_LIMIT_S = 300
SPECIAL_FLOATS = (0.0, -0.0, 1.0, 1e-40, -1e-42, 3e38, float("inf"), -float("inf"), 1e-310)


class _Slow(Exception):
    """A compilation ran past its limit."""


def random_directives(function: Function, random: Random) -> tuple[Directive, ...]:
    """Directives on some loops and arrays of a program."""
    found: list[Directive] = []
    loops = [s.name for s in ir.walk_statements(function.body) if isinstance(s, ir.For | ir.While)]
    for loop in loops:
        if random.random() < 0.45:
            value = random.choice([None, None, 1, 2, 3])
            found.append(Directive(kind="pipeline", loop=loop, value=value))
        if random.random() < 0.25:
            kind, value = random.choice(["unroll", "parallel"]), random.choice([None, 2, 3, 4])
            found.append(Directive(kind=kind, loop=loop, value=value))
        if random.random() < 0.2:
            found.append(Directive(kind="flatten", loop=loop))
        if random.random() < 0.12:
            found.append(Directive(kind="tile", loop=loop, value=random.randint(2, 4)))
    for array in function.arrays:
        if random.random() < 0.2:
            style = random.choice(["cyclic", "block", "complete"])
            value = None if style == "complete" else random.randint(2, 4)
            dimension = random.randint(0, len(array.shape))
            found.append(
                Directive(
                    kind="partition", variable=array.name, style=style, value=value, dimension=dimension
                )
            )
        if array.external and loops and random.random() < 0.1:
            found.append(Directive(kind="cache", loop=random.choice(loops), variable=array.name))
    return tuple(found)


def random_options(program: ProgramRow, seed: int) -> HlsOptions:
    """A configuration that depends on the seed."""
    random = Random(seed + 1_000_003)
    directives = random_directives(read_function(program.source, top=program.top), random)
    return HlsOptions(
        memory_read_delay_cycles=random.choice([1, 2, 2, 3, 5, 10]),
        memory_write_delay_cycles=random.choice([1, 2, 2, 3, 7]),
        clock_period_ns=random.choice([3.0, 5.0, 8.0, 10.0, 20.0]),
        directives=directives if random.random() < 0.85 else (),
    )


def random_data(compiled: CompiledDesign, inputs: str, seed: int) -> DataSet:
    """Values of every argument, with zeros, subnormals and infinities among the floating ones."""
    data = draw_data(compiled.interface, inputs, seed=seed)
    random = Random(seed)
    for argument in compiled.interface.arguments:
        if argument.type.floating and argument.is_array and random.random() < 0.5:
            place = random.randrange(argument.element_count)
            value = random.choice(SPECIAL_FLOATS)
            with np.errstate(over="ignore"):
                data[argument.name].reshape(-1)[place] = value
    return data


@dataclass(frozen=True)
class Case:
    """A seed's program, compiled."""

    text: str
    options: HlsOptions
    compiled: CompiledDesign
    data: DataSet

    @property
    def hardware(self) -> Hardware:
        return Hardware(compiled=self.compiled, data=self.data, timing=timing_of(self.options))


def _alarm(_number: int, _frame: FrameType | None) -> None:
    raise _Slow


def make_case(program: ProgramRow, seed: int, options: HlsOptions | None = None) -> Case | str:
    """The compiled case, or a verdict: refused, crash or hang."""
    signal.signal(signal.SIGPROF, _alarm)
    signal.setitimer(signal.ITIMER_PROF, COMPILE_LIMIT_S)
    try:
        chosen = options or random_options(program, seed)
        compiled = compile_program(program.source, top=program.top, options=chosen)
        data = random_data(compiled, program.inputs, seed)
        return Case(text=program.source, options=chosen, compiled=compiled, data=data)
    except HlsError as error:
        return f"refused: {error}"
    except _Slow:
        return f"hang: the compiler ran past {COMPILE_LIMIT_S} s of processor time"
    except Exception as error:
        return f"crash: {type(error).__name__} {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def judge(cases: dict[int, Case], base: Path, *, icarus: Sequence[int] = ()) -> dict[int, str]:
    """Verdict of each case: `equal`, or what is wrong."""
    runtime = base / "runtime"
    verdicts: dict[int, str] = {}
    with tempfile.TemporaryDirectory(dir=base) as name:
        folder = Path(name)
        (folder / "c").mkdir()
        (folder / "v").mkdir()
        programs = {n: (c.text, c.compiled.interface, c.data) for n, c in cases.items()}
        native = run_natively(programs, folder / "c")
        found = simulate_all({n: c.hardware for n, c in cases.items()}, folder / "v", runtime)
        for number, case in cases.items():
            verdicts[number] = _verdict(native[number], found[number], "Verilator")
            if verdicts[number] == "equal" and number % AUDIT == 0:
                verdicts[number] = _audit(number, case, native[number], found[number], folder)
            if verdicts[number] == "equal" and number in icarus:
                verdicts[number] = _icarus(number, case, native[number], found[number], folder)
    return verdicts


def _verdict(native: Outcome, other: Outcome, engine: str) -> str:
    if native.problem is not None:
        return f"native C: {native.problem}"
    if other.problem is not None:
        return f"{engine}: {other.problem}"
    differs = difference(native, other)
    return "equal" if differs is None else f"mismatch: {engine} differs from native C in {differs}"


def _agree(native: Outcome, rtl: Outcome, other: Any, engine: str) -> str:
    """Verdict on a second engine, whose cycles must be those of the first."""
    seen = Outcome(
        outputs=dict(other.outputs),
        returned=other.returned,
        cycles=other.latency_cycles,
        problem=None if other.status == "ok" else f"{other.status} {other.reason}",
    )
    verdict = _verdict(native, seen, engine)
    if verdict == "equal" and seen.cycles != rtl.cycles:
        return f"mismatch: {engine} counts {seen.cycles} cycles, Verilator {rtl.cycles}"
    return verdict


def _audit(number: int, case: Case, native: Outcome, rtl: Outcome, folder: Path) -> str:
    place = folder / f"model{number}"
    place.mkdir()
    checked = folder / f"checked{number}"
    checked.mkdir()
    programs = {number: (case.text, case.compiled.interface, case.data)}
    defined = run_natively(programs, checked, sanitize=True)[number]
    if defined.problem is not None:
        return f"undefined: {defined.problem}"
    counted = count_cycles(case.compiled, case.data, folder=place, cycle_limit=CYCLE_LIMIT)
    return _agree(native, rtl, counted, "the cycle model")


def _icarus(number: int, case: Case, native: Outcome, rtl: Outcome, folder: Path) -> str:
    place = folder / f"icarus{number}"
    place.mkdir()
    hardware = case.hardware
    found = simulate_with_icarus(
        case.compiled.verilog,
        module=case.compiled.module,
        interface=case.compiled.interface,
        data=case.data,
        timing=hardware.timing,
        folder=place,
        banks=case.compiled.banks,
        timeout_s=600,
    )
    return _agree(native, rtl, found, "Icarus")


def run_batch(seeds: Sequence[int], base: Path, icarus: int) -> list[dict[str, Any]]:
    """Rows of some seeds."""
    made = {seed: make_case(typed_program(seed).row, seed) for seed in seeds}
    cases = {seed: case for seed, case in made.items() if isinstance(case, Case)}
    verdicts = judge(cases, base, icarus=range(icarus)) if cases else {}
    verdicts |= {seed: case for seed, case in made.items() if isinstance(case, str)}
    return [{"seed": seed, "verdict": verdicts[seed], "version": tool_version()} for seed in seeds]


def shrunk(seed: int, base: Path) -> TypedProgram:
    """A smaller program that fails as the seed's does, its directives left out where they name lost loops."""
    options = random_options(typed_program(seed).row, seed)

    def kind_of_failure(program: TypedProgram) -> str:
        try:
            row = program.row
            loops = read_function(row.source, top=row.top)
        except (HlsError, ProgramError):
            return "not C"
        names = {s.name for s in ir.walk_statements(loops.body) if isinstance(s, ir.For | ir.While)}
        arrays = {a.name for a in loops.arrays}
        kept = tuple(
            d
            for d in options.directives
            if (not d.loop or d.loop in names) and (not d.variable or d.variable in arrays)
        )
        chosen = replace(options, directives=kept)
        case = make_case(row, seed, chosen)
        return (case if isinstance(case, str) else judge({0: case}, base)[0]).split(":")[0]

    return _reduced(typed_program(seed), kind_of_failure)


def _reduced(program: TypedProgram, kind_of_failure: Callable[[TypedProgram], str]) -> TypedProgram:
    wanted = kind_of_failure(program)
    while wanted != "equal":
        for candidate in smaller(program):
            if kind_of_failure(candidate) == wanted:
                program = candidate
                break
        else:
            return program
    return program


def _rows(chosen: argparse.Namespace) -> Iterator[Row]:
    kept = KeptRows(chosen.keep / "rows.jsonl", lambda row: row["seed"])
    known = {
        seed
        for seed, row in kept.rows.items()
        if row["verdict"] == "equal" and (chosen.any_version or row["version"] == tool_version())
    }
    wanted = range(chosen.first, chosen.first + chosen.count)
    yield from (kept.rows[seed] for seed in wanted if seed in known)
    todo = [seed for seed in wanted if seed not in known]
    batches = [todo[i : i + BATCH] for i in range(0, len(todo), BATCH)]
    with ProcessPoolExecutor(chosen.workers) as pool:
        count = len(batches)
        for rows in pool.map(run_batch, batches, [chosen.keep] * count, [chosen.icarus] * count):
            yield from map(kept.add, rows)


def main() -> int:
    parser = options_parser(__doc__)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--icarus", type=int, default=0, help="seeds below this are run in Icarus, too")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, required=True, help="folder of results")
    parser.add_argument("--any-version", action="store_true", help="keep rows of other engine versions")
    parser.add_argument("--show", type=int, help="print a seed's program")
    parser.add_argument("--shrink", type=int, help="print a smaller program that fails like this seed")
    chosen = parser.parse_args()
    chosen.keep.mkdir(parents=True, exist_ok=True)
    if chosen.show is not None or chosen.shrink is not None:
        seed = chosen.show if chosen.show is not None else chosen.shrink
        program = typed_program(seed) if chosen.show is not None else shrunk(seed, chosen.keep)
        options = random_options(typed_program(seed).row, seed)
        print(program.row.source)
        print(f"// {options}\n// {directives_json(options.directives)}")
        return 0
    counts: Counter[str] = Counter()
    for row in _rows(chosen):
        counts[row["verdict"].split(":")[0]] += 1
        if row["verdict"] != "equal":
            print(f"seed {row['seed']}: {row['verdict']}", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    return int(set(counts) != {"equal"})


if __name__ == "__main__":
    sys.exit(main())
