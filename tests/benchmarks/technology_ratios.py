"""How area, flip-flops, delay and power of one Verilog differ between two standard-cell libraries.

    python -m tests.benchmarks.technology_ratios [--count 300] [--rows FILE] [--liberty FILE] [--record]

Designs of a release that have area, delay and power in osu018 are drawn by seed, up to an estimated area and
a number of cycles. Each is compiled again from the program of the release; its Verilog must have the SHA-256
of the release. That Verilog is mapped to the cells of another library by the present synthesis, and its
netlist is simulated on the first data set, as labelling does. A design's ratio is the other library's figure
by that of osu018. The constant factor of a figure is the median ratio; the last columns say for how many
designs a label by that factor would be wrong by over 5 %. Designs of the release that have osu035 labels,
too, are compared in the same way.

`--rows` keeps the figures of each design, so that an interrupted run goes on. A liberty file may be
compressed by gzip. Without `--liberty` it is SkyWater's library of 130 nm beside the checkout.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assets.figures import Figure
from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling import LabelContext, label_designs
from pipelines.dataset.releases import Release, open_release
from pipelines.dataset.splits import design_part
from pipelines.hls import TOOL
from pipelines.schemas import DRAWN, OK, DesignRow, LabelRow, ProgramRow, RunRow
from pipelines.silicon.synthesis import TOOL as SYNTHESIS_TOOL
from pipelines.silicon.synthesis import Target, find_liberty
from pipelines.silicon.synthesis import tool_version as synthesis_version
from tests.benchmarks.harness import (
    ROOT,
    KeptRows,
    Row,
    options_parser,
    print_header,
    print_machine,
    print_row,
)
from tests.benchmarks.recording import add_record_option, record
from tests.support.labelling import label_options

SPLIT = "by_kernel_v2"
SKY130 = ROOT.parent / "shared" / "data" / "liberty" / "sky130hd_tt.lib.gz"
OPTIONS = label_options(
    workers=1, audit_fraction=0.0, timed_cycles=8192, power_timeout_s=600.0, verilator_timeout_s=300.0
)
"""How release v2 was labelled, without audits; the limit of time of power is wider."""
OF_LABEL = ("area_um2", "flip_flop_count", "cell_count", "delay_ns", "leakage_mw")
OF_RUN = ("power_mw", "internal_power_mw", "switching_power_mw", "leakage_power_mw", "energy_nj")
FIGURES = (*OF_LABEL, *OF_RUN[:-1])
TOLERANCE = 0.05
FEWEST = 5
"""Designs of a part or suite that has a row of its own."""
POWER_GATING = re.compile(r"lpflow|probe")
"""Cells of sky130 that gate or probe supplies and are no logic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A design of a release with its labels in osu018."""

    program: ProgramRow
    design: DesignRow
    part: str
    figures: Mapping[str, float]
    cycles: int
    osu035: Mapping[str, float] | None


def powered_designs(release: Release) -> Iterator[Design]:
    """Return the designs of the engine with area, delay and power in osu018 by the present synthesis."""
    parts = {
        row.program_id: row.part
        for partition in release.partitions("splits")
        for row in release.rows("splits", partition)
        if row.split == SPLIT
    }
    for partition in release.partitions("designs"):
        programs = {row.program_id: row for row in release.rows("programs", partition)}
        labels = list(release.rows("labels", partition))
        own = {row.design_id: row for row in labels if row.tool == SYNTHESIS_TOOL and row.area_um2}
        other = {row.design_id: row for row in labels if row.liberty == "osu035" and row.area_um2}
        runs = {
            r.design_id: r for r in release.rows("runs", partition) if r.data_kind == DRAWN and r.power_mw
        }
        for design in release.rows("designs", partition):
            label, run = own.get(design.design_id), runs.get(design.design_id)
            if design.tool != TOOL or label is None or run is None or run.latency_cycles is None:
                continue
            if label.tool_version != synthesis_version() or design.program_id not in parts:
                continue
            delays = (design.memory_read_delay_cycles, design.memory_write_delay_cycles)
            second = other.get(design.design_id)
            yield Design(
                program=programs[design.program_id],
                design=design,
                part=design_part(SPLIT, parts[design.program_id], *delays),
                figures=figures_of(label, run),
                cycles=run.latency_cycles,
                osu035=None if second is None else figures_of(second, None),
            )


def figures_of(label: LabelRow, run: RunRow | None) -> dict[str, float]:
    """Return the figures of a label, and of a run with power."""
    values = {name: getattr(label, name) for name in OF_LABEL}
    if run is not None:
        values |= {name: getattr(run, name) for name in OF_RUN}
    return {name: float(value) for name, value in values.items() if value is not None}


def unpack_liberty(path: Path, folder: Path) -> Path:
    """Return a liberty file, decompressed into a folder if it is compressed."""
    if path.suffix != ".gz":
        return find_liberty(str(path))
    plain = folder / path.stem
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    return find_liberty(str(plain))


def measure(one: Design, liberty: Path, folder: Path) -> Row:
    """Return the figures of a design's Verilog in another library, or why there are none."""
    target = Target(liberty=liberty, clock_period_ns=one.design.clock_period_ns)
    context = LabelContext(target=target, cache=ContentCache(folder=folder), options=OPTIONS)
    tables = label_designs([one.program], [one.design], context)
    (label,), runs = tables.labels, tables.runs
    row: Row = {"design": one.design.design_id}
    if label.status != OK or not runs or runs[0].power_status != OK:
        reason = label.reason or (runs[0].power_reason if runs else "no run")
        return {**row, "status": label.status, "reason": reason}
    if runs[0].latency_cycles != one.cycles:
        return {**row, "status": "other cycles", "reason": f"{runs[0].latency_cycles}, not {one.cycles}"}
    cells: dict[str, int] = json.loads(label.cells_by_type or "{}")
    gating = sum(count for name, count in cells.items() if POWER_GATING.search(name))
    return {**row, "status": OK, "gating_cells": gating, "figures": figures_of(label, runs[0])}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Ratios of a figure: the constant factor, their spread, and how often the factor fails."""

    count: int
    factor: float
    low: float
    high: float
    failing: float
    median_error: float

    @classmethod
    def of(cls, ratios: Sequence[float]) -> Spread:
        """Return the spread of some ratios."""
        values = np.array(ratios)
        factor = float(np.median(values))
        errors = np.abs(factor / values - 1.0)  # of a label that is osu018's times the factor
        low, high = np.quantile(values, (0.05, 0.95))
        return cls(
            count=len(values),
            factor=factor,
            low=float(low),
            high=float(high),
            failing=float(np.mean(errors > TOLERANCE)),
            median_error=float(np.median(errors)),
        )

    @property
    def cells(self) -> tuple[str, ...]:
        """Cells of its row in a table."""
        relative = f"{self.low / self.factor - 1:+.1%} to {self.high / self.factor - 1:+.1%}"
        return (
            str(self.count),
            f"{self.factor:.4g}",
            f"{self.low:.4g} to {self.high:.4g}",
            relative,
            f"{self.failing:.0%}",
            f"{self.median_error:.1%}",
        )


HEAD = ("figure", "designs", "factor", "5 to 95 %", "by the factor", "wrong by over 5 %", "median error")


def spreads(pairs: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]) -> dict[str, Spread]:
    """Return the spread of each figure's ratios over pairs of figures: osu018's, and the other library's."""
    kept: dict[str, Spread] = {}
    for name in FIGURES:
        both = [(own[name], other[name]) for own, other in pairs if own.get(name) and other.get(name)]
        if both:
            kept[name] = Spread.of([other / own for own, other in both])
    return kept


def report(designs: Mapping[str, Design], rows: Sequence[Row], other: str) -> dict[str, Spread]:
    """Print the spread of all designs, of parts and of suites. Returns: the spread of all by figure."""
    labelled = [row for row in rows if row["status"] == OK]
    pairs = [(designs[row["design"]].figures, row["figures"]) for row in labelled]
    for row in rows:
        if row["status"] != OK:
            print(f"{row['design']}: {row['status']}: {row['reason']}")
    if not labelled:
        return {}
    cells = sum(row["figures"]["cell_count"] for row in labelled)
    gating = sum(row["gating_cells"] for row in labelled) / cells
    print(f"{len(labelled)} of {len(rows)} designs ok; cells that gate or probe supplies: {gating:.1%}")
    print(f"\n{other} by osu018\n")
    print_header(*HEAD)
    whole = spreads(pairs)
    for name, spread in whole.items():
        print_row(name, *spread.cells)
    for group in ("part", "suite"):
        print(f"\nBy {group}\n")
        print_header(group, *HEAD)
        names = [
            designs[row["design"]].part if group == "part" else designs[row["design"]].design.suite
            for row in labelled
        ]
        for group_name in sorted(set(names)):
            own = [pair for pair, name in zip(pairs, names, strict=True) if name == group_name]
            if len(own) >= FEWEST:
                for name, spread in spreads(own).items():
                    if name in ("area_um2", "delay_ns", "power_mw"):
                        print_row(group_name, name, *spread.cells)
    return whole


def report_osu035(designs: Sequence[Design]) -> dict[str, Spread]:
    """Print the spread of osu035 by osu018 over the designs of the release that have both."""
    own = spreads([(one.figures, one.osu035) for one in designs if one.osu035 is not None])
    print("\nosu035 by osu018, all designs of the release with both\n")
    print_header(*HEAD)
    for name, spread in own.items():
        print_row(name, *spread.cells)
    return own


def record_spreads(whole: Mapping[str, Spread], library: str, command: str) -> None:
    """Record factor, spread and failures of area, delay and power."""
    for name, words in (("area_um2", "area"), ("delay_ns", "delay"), ("power_mw", "power")):
        spread = whole.get(name)
        if spread is None:
            continue
        figure = f"{words}, {library} by osu018: factor; 5 to 95 % by it; wrong by over 5 %"
        new = Figure(
            area="synthesis",
            section="Technologies",
            figure=figure,
            value="",
            command=command,
            commit="",
            engines={"hls": "", "power": "", "synthesis": ""},
            machine="",
            date="",
        )
        text = "; ".join((spread.cells[1], spread.cells[3], f"{spread.cells[4]} of {spread.count}"))
        record("synthesis", figure, text, new=new)


def main() -> None:
    """Measure the designs that the file of rows lacks, then report on all drawn ones."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most-um2", type=float, default=600_000.0, help="largest estimated area")
    parser.add_argument("--most-cycles", type=int, default=200_000)
    parser.add_argument("--liberty", type=Path, default=SKY130)
    parser.add_argument("--rows", type=Path, help="JSON lines of the figures of each design")
    parser.add_argument("--stored", action="store_true", help="report on the rows that are there")
    add_record_option(parser)
    asked = parser.parse_args()
    every = list(powered_designs(open_release(asked.release)))
    small = sorted(
        (d for d in every if d.cycles <= asked.most_cycles and _area(d) <= asked.most_um2),
        key=lambda one: one.design.design_id,
    )
    random.Random(asked.seed).shuffle(small)
    drawn = {one.design.design_id: one for one in small[: asked.count]}
    kept = KeptRows(asked.rows, lambda row: row["design"])
    print_machine()
    print(
        f"{len(drawn)} designs drawn of {len(small)}; {len(every)} have area, delay and power\n", flush=True
    )
    library = asked.liberty.name.removesuffix(".gz").removesuffix(".lib")
    with tempfile.TemporaryDirectory(prefix="simfoundry-") as name:
        liberty = unpack_liberty(asked.liberty, Path(name))
        for identity, one in drawn.items():
            if not asked.stored:
                kept.measured(identity, lambda one=one: measure(one, liberty, Path(name) / "cache"))
    whole = report(drawn, [kept.rows[n] for n in drawn if n in kept.rows], library)
    second = report_osu035(every)
    if asked.record:
        command = f"python -m tests.benchmarks.technology_ratios --count {asked.count}"
        record_spreads(whole, library, command)
        record_spreads(second, "osu035", command)


def _area(one: Design) -> float:
    return one.design.estimated_area_um2 or 0.0


if __name__ == "__main__":
    main()
