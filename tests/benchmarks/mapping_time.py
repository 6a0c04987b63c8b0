"""Shorter ways to a label against the present one: processor time, and change of area, delay and power.

    python -m tests.benchmarks.mapping_time --kept FILE [--designs 12] [--seed 54] [--record]

Designs with area, delay and power are drawn from the release, one per group of equal size by cells, and
compiled again. For each way of `WAYS` a new process runs the commands of the recipe one by one: a process
that maps twice gives other netlists. The mapped netlists are timed and simulated on the drawn data of the
release; the present one also with other numbers of timed cycles. A change is against the present way, which
itself is compared with the release. Designs of more than `--most-cycles` cycles have no power of other
ways: length takes time and says nothing of the netlist. FILE keeps a row per design, and an interrupted
run goes on.

`renamed` is a control: the names of wires change before mapping, and nothing else. It shows how far a
label moves without a cause in the design.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from assets.figures import Figure
from pipelines.base.cache import ContentCache
from pipelines.c import read_interface
from pipelines.dataset.labelling.runs import memory_timing
from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOL
from pipelines.hls import CompiledDesign, compile_program, options_of
from pipelines.power import DesignRun, build_engine, estimate_power
from pipelines.programs import data_sets
from pipelines.schemas import DRAWN, OK, DesignRow, LabelRow, ProgramRow, RunRow, read_table, table_spec
from pipelines.silicon.synthesis import Netlist, analyse_timing, find_liberty, load_liberty, yosys
from pipelines.silicon.synthesis.netlist import cell_area_um2, parse_netlist
from tests.benchmarks.harness import (
    KeptRows,
    Row,
    options_parser,
    print_header,
    print_row,
    processor_s,
    run_apart,
    timed,
)
from tests.benchmarks.recording import add_record_option, record

LIBERTY = find_liberty("osu018")
PRESENT = "present"
TIMED_CYCLES = (8192, 4096, 2048, 1024)
"""The first one is that of the configuration."""
MOST_S = 3600.0
WORST = 0.01
"""Change of a label that an attempt may make."""
GATES = ("opt -fast -full", "memory_map", "opt -undriven -fine", "techmap", "opt_clean")
"""`synth -noabc -run fine:check` without its optimisation of gates."""
SELDOM = ("AND2X1", "OR2X1", "NOR3X1", "MUX2X1", "CLKBUF1", "CLKBUF2", "CLKBUF3")
"""Cells that are less than 1 % of the mapped ones in release v2, without stronger variants of other cells."""


ALLOCATION = {
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=60000:glibc.malloc.trim_threshold=1000000000:"
    "glibc.malloc.mmap_threshold=1000000000:glibc.malloc.top_pad=67108864"
}
"""Memory is not given back to the system, and freed blocks are kept by size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How gates are mapped, as a change of the recipe.

    Attributes:
        script: replacements in abc's script. without: cells that abc may not use.
        before: commands before `dfflibmap`. gates: commands in place of the recipe's `synth`.
        environment: variables of the process.
    """

    script: Mapping[str, str] | None = None
    without: Sequence[str] = ()
    before: Sequence[str] = ()
    gates: Sequence[str] = ()
    environment: Mapping[str, str] | None = None

    def commands(self, module: str) -> list[str]:
        """Return the commands of a design."""
        changed: list[str] = []
        for command in yosys.commands(module):
            if command.startswith("synth "):
                changed += [*(self.gates or [command]), *self.before]
            elif command.startswith("abc "):
                for old, new in (self.script or {}).items():
                    command = command.replace(old, new, 1)
                changed.append(command + "".join(f" -dont_use {cell}" for cell in self.without))
            else:
                changed.append(command)
        return changed


WAYS: Mapping[str, Way] = {
    PRESENT: Way(),
    "other allocation of memory": Way(environment=ALLOCATION),
    "script without `ifraig` and `scorr`": Way(script={"ifraig;scorr;": ""}),
    "script with `dch -f -x`": Way(script={"dch,-f": "dch,-f,-x"}),
    "script without `dch`": Way(script={"dch,-f;": ""}),
    "fewer cells": Way(without=SELDOM),
    "no optimisation of gates": Way(gates=GATES),
    "renamed": Way(before=("rename -enumerate -pattern w_%_",)),
}


# ---- in a process of its own ---------------------------------------------------------------------------


def run_commands(folder: Path, commands: Sequence[str]) -> list[tuple[str, float]]:
    """Run commands of yosys in a folder with their files. Returns: processor seconds of each."""
    os.chdir(folder)
    os.environ["TMPDIR"] = "."
    start = processor_s()
    from pyosys import libyosys

    design: Any = libyosys.Design()
    spent = [("start", processor_s() - start)]
    for command in commands:
        quiet = f"tee -q -a {yosys.LOG_FILE} {command}"
        spent.append((command, timed(partial(libyosys.run_pass, quiet, design))[1].processor_s))
    return spent


# ---- one design ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A design of the release with its rows."""

    program: ProgramRow
    design: DesignRow
    label: LabelRow
    run: RunRow


def draw_designs(release: Path, count: int, seed: int) -> list[Drawn]:
    """Draw one design of each of `count` groups by number of cells."""
    labels = {
        row.design_id: row
        for row in read_table(release, table_spec("labels"))
        if row.tool == SYNTHESIS_TOOL and row.status == OK and row.cell_count
    }
    runs: dict[str, RunRow] = {}
    for row in read_table(release, table_spec("runs")):
        if row.power_mw is not None and row.data_kind == DRAWN and row.design_id in labels:
            runs.setdefault(row.design_id, row)
    designs = {d.design_id: d for d in read_table(release, table_spec("designs")) if d.design_id in runs}
    programs = {p.program_id: p for p in read_table(release, table_spec("programs"))}
    order = sorted(designs, key=lambda name: (labels[name].cell_count or 0, name))
    generator = random.Random(seed)
    bounds = [len(order) * k // count for k in range(count + 1)]
    chosen = [generator.choice(order[a:b]) for a, b in pairwise(bounds)]
    return [
        Drawn(
            program=programs[designs[name].program_id],
            design=designs[name],
            label=labels[name],
            run=runs[name],
        )
        for name in chosen
    ]


def measure_design(drawn: Drawn, cache: ContentCache, most_cycles: int) -> Row:
    """Measure a design in each way."""
    compiled = compile_program(
        drawn.program.source,
        top=drawn.program.top,
        options=options_of(drawn.design),
        file=f"{drawn.program.name}.c",
    )
    liberty = load_liberty(LIBERTY)
    row: Row = {"design": drawn.design.design_id, "name": drawn.program.name, "ways": {}}
    power, texts = partial(measure_power, drawn, compiled, cache), dict[str, bytes]()
    for name, way in WAYS.items():
        spent, texts[name] = map_way(way, compiled)
        (netlist, delay_ns), reading = timed(partial(read_netlist, texts[name], compiled.module))
        own = row["ways"][name] = {
            "s": sum(seconds for _, seconds in spent),
            "area_um2": cell_area_um2(netlist, liberty),
            "delay_ns": delay_ns,
            "is equal": texts[name] == texts[PRESENT],
        }
        if name == PRESENT:
            own["commands"] = [*spent, ("statistics and timing", reading.processor_s)]
            row["power"] = {cycles: power(netlist, cycles) for cycles in TIMED_CYCLES}
            own["power_mw"] = row["power"][TIMED_CYCLES[0]]["power_mw"]
        elif (drawn.run.latency_cycles or 0) <= most_cycles:
            own["power_mw"] = power(netlist, TIMED_CYCLES[0])["power_mw"]
    row["cycles"] = drawn.run.latency_cycles
    row["release"] = [drawn.label.area_um2, drawn.label.delay_ns, drawn.run.power_mw]
    return row


def map_way(way: Way, compiled: CompiledDesign) -> tuple[list[tuple[str, float]], bytes]:
    """Map a design in a new process. Returns: processor seconds of each command, and the netlist's text."""
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, way.environment or {}):
        folder = Path(name)
        write_files(folder, compiled.verilog)
        work = partial(run_commands, folder, way.commands(compiled.module))
        return run_apart(work, timeout_s=MOST_S).result, (folder / yosys.NETLIST_FILE).read_bytes()


def write_files(folder: Path, verilog: str) -> None:
    """Write what the recipe reads."""
    smallest = load_liberty(LIBERTY).smallest_buffer
    (folder / yosys.LIBERTY_FILE).write_bytes(LIBERTY.read_bytes())
    (folder / yosys.VERILOG_FILE).write_text(verilog, "utf-8")
    (folder / yosys.CONSTRAINT_FILE).write_text(yosys.constraints(smallest), "utf-8")
    (folder / yosys.CONSTANT_MULTIPLY_FILE).write_text(yosys.constant_multiply_map(), "utf-8")


def read_netlist(text: bytes, module: str) -> tuple[Netlist, float]:
    """Read a netlist and time its longest path."""
    netlist = parse_netlist(text, module)
    return netlist, analyse_timing(netlist, load_liberty(LIBERTY)).delay_ns


def measure_power(
    drawn: Drawn, compiled: CompiledDesign, cache: ContentCache, netlist: Netlist, timed_cycles: int
) -> Row:
    """Simulate a netlist on the data of the release's run. Returns: power and processor seconds."""
    interface = read_interface(drawn.program.source, drawn.program.top)
    (data,) = data_sets(drawn.program, interface, seeds=(drawn.run.seed,))
    cycles = drawn.run.latency_cycles or 0
    run = DesignRun(
        interface=interface,
        data=data.values,
        timing=memory_timing(drawn.design),
        banks=compiled.banks,
        cycle_limit=cycles + 16,
        timed_share=min(1.0, timed_cycles / cycles),
    )
    result, spent = timed(
        lambda: estimate_power(
            netlist,
            liberty=load_liberty(LIBERTY),
            clock_period_ns=drawn.design.clock_period_ns,
            run=run,
            folder=cache.folder / "power",
            engine_folder=cache.folder / "engines",
        )
    )
    if result.power_mw is None or result.latency_cycles != cycles:
        raise SystemExit(f"{drawn.program.name}: no power of a netlist: {result.status}: {result.reason}")
    return {"power_mw": result.power_mw, "s": spent.processor_s}


# ---- summary -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Changes of a label over designs, and of processor time.

    Attributes: ratio: of processor seconds. worst, median: of the absolute change, by column.
    """

    ratio: float
    worst: Mapping[str, float]
    median: Mapping[str, float]

    @property
    def is_small(self) -> bool:
        """Tell whether no label changes by more than an attempt may change it."""
        return all(value <= WORST for value in self.worst.values())

    def values(self) -> Mapping[str, str]:
        """Return the figures of a row."""
        columns = {"area_um2": "area", "delay_ns": "delay", "power_mw": "power"}
        return {
            "processor time": f"{self.ratio:.3f}",
            **{
                f"{short}: worst, median": f"{self.worst[name]:.2%}, {self.median[name]:.2%}"
                for name, short in columns.items()
                if name in self.worst
            },
        }


def change_of_way(rows: Sequence[Row], way: str) -> Change:
    """Compare a way with the present one."""
    changes: dict[str, list[float]] = {}
    for row in rows:
        new, old = row["ways"][way], row["ways"][PRESENT]
        for column in ("area_um2", "delay_ns", "power_mw"):
            if column in new:
                changes.setdefault(column, []).append(abs(new[column] / old[column] - 1))
    return _change(rows, lambda row: row["ways"][way]["s"], lambda row: row["ways"][PRESENT]["s"], changes)


def change_of_cycles(rows: Sequence[Row], cycles: int) -> Change:
    """Compare a number of timed cycles with the present one."""
    old, new = str(TIMED_CYCLES[0]), str(cycles)
    changes = {"power_mw": [abs(r["power"][new]["power_mw"] / r["power"][old]["power_mw"] - 1) for r in rows]}
    return _change(rows, lambda row: row["power"][new]["s"], lambda row: row["power"][old]["s"], changes)


def _change(
    rows: Sequence[Row],
    new_s: Callable[[Row], float],
    old_s: Callable[[Row], float],
    changes: Mapping[str, Sequence[float]],
) -> Change:
    return Change(
        ratio=sum(map(new_s, rows)) / sum(map(old_s, rows)),
        worst={name: max(own) for name, own in changes.items()},
        median={name: statistics.median(own) for name, own in changes.items()},
    )


def print_parts(rows: Sequence[Row]) -> None:
    """Print mean processor seconds of the parts of a label."""
    parts: dict[str, float] = {}
    for row in rows:
        power = ("power", row["power"][str(TIMED_CYCLES[0])]["s"])
        for command, seconds in (*row["ways"][PRESENT]["commands"], power):
            name = command.split(" -top ")[0][:40]
            parts[name] = parts.get(name, 0.0) + seconds / len(rows)
    print_header("part", "mean processor s", "share")
    for name, seconds in sorted(parts.items(), key=lambda item: -item[1])[:12]:
        print_row(f"`{name}`", f"{seconds:.2f}", f"{seconds / sum(parts.values()):.1%}")
    print_row("all", f"{sum(parts.values()):.2f}", "")


def main() -> None:
    """Measure what is missing, then print the tables."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument("--designs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=54)
    parser.add_argument("--most-cycles", type=int, default=200_000)
    add_record_option(parser)
    chosen = parser.parse_args()
    kept = KeptRows(chosen.kept, lambda row: row["design"])
    drawn = draw_designs(chosen.release, chosen.designs, chosen.seed)
    with tempfile.TemporaryDirectory() as name:
        cache = ContentCache(folder=Path(name))
        build_engine(cache.folder / "engines")
        for one in drawn:
            if one.design.design_id not in kept.rows:
                kept.add(measure_design(one, cache, chosen.most_cycles))
    kept = KeptRows(chosen.kept, lambda row: row["design"])  # keys are text, as in the file
    rows = [kept.rows[one.design.design_id] for one in drawn]
    print_parts(rows)
    print()
    changes = {way: change_of_way(rows, way) for way in WAYS if way != PRESENT}
    changes |= {f"{cycles} timed cycles": change_of_cycles(rows, cycles) for cycles in TIMED_CYCLES[1:]}
    print_header("way", "figures")
    for way, change in changes.items():
        print_row(way, ", ".join(f"{name} {value}" for name, value in change.values().items()))
        if chosen.record:
            record_change(way, change, len(rows))
    same = sum(
        [row["ways"][PRESENT][c] for c in ("area_um2", "delay_ns", "power_mw")] == row["release"]
        for row in rows
    )
    print(f"\nThe present way gives area, delay and power of the release in {same} of {len(rows)} designs.")


def record_change(way: str, change: Change, count: int) -> None:
    """Write the row of a way; an attempt misses when it does not halve the time without changing a label."""
    new = Figure(
        figure=f"{way}, against the present label",
        area="synthesis",
        section="Time of a label",
        value="",
        goal="half the time, at most 1 % on any label",
        command=f"python -m tests.benchmarks.mapping_time --kept FILE --designs {count}",
        commit="",
        engines={"synthesis": "", "power": ""},
        machine="",
        date="",
    )
    missed = way != "renamed" and not (change.is_small and change.ratio <= 1 / 2)
    record("synthesis", new.figure, change.values(), missed=missed, new=new)


if __name__ == "__main__":
    main()
