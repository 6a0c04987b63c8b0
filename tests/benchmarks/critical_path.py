"""The estimated longest path of designs against logic synthesis.

    python -m tests.benchmarks.critical_path [--suite kernels|polybench|machsuite] [--only A,B] [--keep FILE]
        [--liberty NAME|FILE] [--delays NAME]

The sixteen kernels (or PolyBench at its mini size with int and with float, or MachSuite at its small size)
under three settings: plain, innermost loops pipelined, and those scheduled for 5 ns instead of 10 ns. One
line a design; then the median, the largest deviation and the share within the bound, of each setting and of
all, and the share of designs whose path fits the clock period. `--keep` appends one JSON line a design, and
measures none that is in the file. `--liberty` maps designs to another library, which schedules them with its
operator delays where they were measured; `--delays osu018` schedules them with those of osu018.
Designs without a synthesised netlist are named and not counted.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.c import Directive, read_function
from pipelines.dataset.labelling import library_name
from pipelines.hls import CompiledDesign, HlsOptions, compile_program, delay_library, innermost_loops
from pipelines.programs import SUITES, kernel_programs
from pipelines.programs.machsuite_catalogue import machsuite_programs
from pipelines.programs.polybench_catalogue import polybench_programs
from pipelines.schemas import ProgramRow
from pipelines.silicon.synthesis import Target, find_liberty, synthesize_design
from tests.benchmarks.harness import KeptRows, options_parser, split_names

SETTINGS = {"plain": (False, 10.0), "pipelined": (True, 10.0), "fast": (True, 5.0)}
BOUND = 0.15


@dataclass(frozen=True, kw_only=True)
class Case:
    """One program under one setting."""

    program: ProgramRow
    setting: str
    delays: str

    @property
    def name(self) -> str:
        return f"{self.program.name} {self.setting}"

    def compiled(self) -> CompiledDesign:
        source, top = self.program.source, self.program.top
        pipelined, period = SETTINGS[self.setting]
        loops = innermost_loops(read_function(source, top=top)) if pipelined else []
        directives = tuple(Directive(kind="pipeline", loop=loop) for loop in loops)
        return compile_program(
            source,
            top=top,
            options=HlsOptions(clock_period_ns=period, directives=directives, liberty=self.delays),
        )


def programs_of(suite: str) -> list[ProgramRow]:
    """The programs of a suite."""
    match suite:
        case "polybench":
            return polybench_programs(sizes=("mini",), data_types=("int", "float"))
        case "machsuite":
            return machsuite_programs(sizes=("small",))
        case _:
            return kernel_programs(suites=SUITES, sizes=("small",))


def cases(suite: str, only: Sequence[str], delays: str) -> Iterator[Case]:
    """Every program of a suite under every setting; with `only` those with these names."""
    for program in programs_of(suite):
        if not only or any(f"{program.name}-".startswith(f"{name}-") for name in only):
            yield from (Case(program=program, setting=setting, delays=delays) for setting in SETTINGS)


def measured_ns(compiled: CompiledDesign, target: Target) -> float | str:
    """Longest path after synthesis, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        result = synthesize_design(compiled.verilog, top=compiled.module, target=target, folder=Path(folder))
    return f"{result.status}: {result.reason}" if result.delay_ns is None else result.delay_ns


def summary(name: str, deviations: Sequence[float]) -> str:
    """One line about some designs."""
    far = [d for d in deviations if abs(d) > BOUND]
    return (
        f"{name}: {len(deviations)} designs, median {statistics.median(map(abs, deviations)):.1%}, "
        f"largest {max(map(abs, deviations)):.1%}, {1 - len(far) / len(deviations):.0%} within {BOUND:.0%}\n"
    )


def main() -> int:
    """Print the table; 1 when a design is further off than the bound."""
    parser = options_parser(__doc__)
    parser.add_argument("--suite", choices=("kernels", "polybench", "machsuite"), default="kernels")
    parser.add_argument("--only", default="", help="names of programs, with commas between")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--liberty", default="osu018", help="installed library or liberty file")
    parser.add_argument("--delays", help="library whose operator delays schedule; that of --liberty without")
    options = parser.parse_args()
    kept = KeptRows(options.keep, lambda row: row["name"])
    target = Target(liberty=find_liberty(options.liberty), clock_period_ns=10.0)
    delays = options.delays or library_name(target.liberty)
    print(f"{library_name(target.liberty)}, scheduled with the delays of {delay_library(delays)}")
    fitting = dict.fromkeys(SETTINGS, 0)
    deviations: dict[str, list[float]] = {}
    for case in cases(options.suite, split_names(options.only), delays):
        compiled = case.compiled()
        estimate = compiled.report.critical_path_ns
        if case.name not in kept.rows:
            outcome = measured_ns(compiled, target)
            if isinstance(outcome, str):
                print(f"{case.name:40}{estimate:7.2f} {outcome}")
                continue
            kept.add({"name": case.name, "estimated_ns": estimate, "measured_ns": outcome})
        measured = kept.rows[case.name]["measured_ns"]
        deviation = estimate / measured - 1
        deviations.setdefault(case.setting, []).append(deviation)
        fitting[case.setting] += measured <= SETTINGS[case.setting][1]
        print(f"{case.name:40}{estimate:7.2f}{measured:7.2f} ns{deviation:+8.1%}", flush=True)
    every = [d for found in deviations.values() for d in found]
    for name, found in [*deviations.items(), ("all", every)]:
        sys.stdout.write(summary(name, found))
    for setting, own in deviations.items():
        print(f"{setting}: {fitting[setting]} of {len(own)} paths fit {SETTINGS[setting][1]:g} ns")
    return int(any(abs(d) > BOUND for d in every))


if __name__ == "__main__":
    sys.exit(main())
