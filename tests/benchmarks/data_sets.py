"""Data sets of release programs: which cycles depend on data, whether class I is right, cost of each run.

    python -m tests.benchmarks.data_sets --release releases/v1 --count 60 [--suites ast dataflow]

One design of each program, that of the lowest id, under its own mapping on every kind of data set, without
logic synthesis. The programs of a suite are those of the lowest ids. One line a program; then for each suite
designs, runs and failures by kind, designs whose cycles depend on data, designs of class I and those of
them that took unequal cycles, drawn runs whose cycles are not those of the release, and seconds by the clock
that each data set adds to the drawn one.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.base.cache import ContentCache
from pipelines.base.tools import stopwatch
from pipelines.c import read_interface
from pipelines.dataset.features import control_class
from pipelines.dataset.labelling import ToolContext
from pipelines.dataset.labelling.flows import NativeFlow
from pipelines.dataset.releases import open_release
from pipelines.programs import data_sets
from pipelines.schemas import DATA_KINDS, DRAWN, OK, DesignRow, ProgramRow, RunRow
from tests.benchmarks.harness import options_parser
from tests.support.labelling import label_options


def measure(program: ProgramRow, design: DesignRow, cycles: int | None) -> dict[str, Any]:
    """Runs of a design on every kind of data, and seconds of the first one and of each other.

    Args: cycles: of the drawn run in the release.
    """
    interface = read_interface(program.source, program.top)
    seconds: dict[int, float] = {}
    rows: list[RunRow] = []
    for kinds in ((DRAWN,), DATA_KINDS):
        with tempfile.TemporaryDirectory(prefix="simfoundry-") as name:
            cache = ContentCache(folder=Path(name))
            context = ToolContext(cache=cache, options=label_options(audit_fraction=0.0))
            flow = NativeFlow(program=program, design=design, interface=interface, context=context)
            start = stopwatch()
            inputs = data_sets(program, interface, kinds)
            rows = [run.row() for run in flow.run(inputs, builds=cache.folder / "models")]
            seconds[len(rows)] = stopwatch() - start
    counted = [row.latency_cycles for row in rows if row.status == OK]
    return {
        "name": program.name,
        "suite": program.suite,
        "class": control_class(program),
        "runs": len(rows),
        "cycles": sorted({c for c in counted if c is not None}),
        "failures": Counter(f"{row.data_kind} {row.status}" for row in rows if row.status != OK),
        "as_released": cycles is None or rows[0].latency_cycles == cycles,
        "first_s": seconds[1],
        "other_s": (seconds[len(rows)] - seconds[1]) / max(1, len(rows) - 1),
    }


def summary(suite: str, rows: Sequence[dict[str, Any]]) -> str:
    """Figures of a suite."""
    dependent = [row for row in rows if len(row["cycles"]) > 1]
    first = [row for row in rows if row["class"] == "I"]
    failures = sum((row["failures"] for row in rows), Counter[str]())
    others = sorted(row["other_s"] for row in rows)
    return (
        f"{suite}: {len(rows)} designs, {sum(row['runs'] for row in rows)} runs, failures {dict(failures)}; "
        f"cycles depend on data in {len(dependent)}; class I {len(first)}, of them unequal "
        f"{[row['name'] for row in first if len(row['cycles']) > 1]}; "
        f"other cycles than the release {[row['name'] for row in rows if not row['as_released']]}; "
        f"first run {sum(row['first_s'] for row in rows) / len(rows):.2f} s, "
        f"each other {sum(others) / len(others):.3f} s (median {others[len(others) // 2]:.3f})"
    )


def main() -> None:
    """Measure and print."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v1"))
    parser.add_argument("--count", type=int, default=60, help="programs of all suites together")
    parser.add_argument("--suites", nargs="+", default=["ast", "dataflow"])
    arguments = parser.parse_args()
    release = open_release(arguments.release)
    every = {
        table: [row for part in release.partitions(table) for row in release.rows(table, part)]
        for table in ("programs", "designs", "runs")
    }
    programs = {row.program_id: row for row in every["programs"] if row.status == OK}
    cycles = {row.design_id: row.latency_cycles for row in every["runs"] if row.status == OK}
    designs: dict[str, DesignRow] = {}
    for design in sorted(every["designs"], key=lambda row: row.design_id):
        if design.design_id in cycles:
            designs.setdefault(design.program_id, design)
    share = arguments.count // len(arguments.suites)
    for suite in arguments.suites:
        chosen = sorted(k for k, row in programs.items() if row.suite == suite and k in designs)[:share]
        rows = []
        for identity in chosen:
            design = designs[identity]
            row = measure(programs[identity], design, cycles[design.design_id])
            rows.append(row)
            print(" ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
        print(summary(suite, rows))


if __name__ == "__main__":
    main()
