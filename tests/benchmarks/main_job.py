"""The main job, timed: uncached, cached, and each stage of a design.

    python -m tests.benchmarks.main_job [--scale smoke] [--keep FOLDER] [--record]

Runs `simfoundry run` twice in a new folder (a clone of this checkout's tracked files), the first time with
an empty cache. Prints Markdown: elapsed times, designs by status, mismatches with native C, and median and
95th percentile of each stage's wall-clock time from the measured columns.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb

from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOL
from tests.benchmarks.harness import (
    clone_project,
    options_parser,
    print_header,
    print_machine,
    print_row,
    run_simfoundry,
)
from tests.benchmarks.recording import add_record_option, record

STAGES = {
    "C to Verilog": ("designs", "hls_wall_s"),
    "native C (compile and run twice)": ("runs", "native_wall_s"),
    "cycle model build": ("runs", "build_wall_s"),
    "counting cycles": ("runs", "simulate_wall_s"),
    "Verilator build, audited designs": ("runs", "audit_build_wall_s"),
    "simulation, audited designs": ("runs", "audit_simulate_wall_s"),
    "logic synthesis and timing": ("labels", "synthesis_wall_s"),
}


def tables_digest(folder: Path) -> dict[str, bytes]:
    """Content of every table file."""
    tables = folder / "data" / "tables"
    return {str(p.relative_to(tables)): p.read_bytes() for p in sorted(tables.rglob("*.parquet"))}


def one(folder: Path, query: str) -> tuple[object, ...]:
    """First row of a query; $T and $M stand for the content and measured folders."""
    text = query.replace("$T", f"{folder}/data/tables").replace("$M", f"{folder}/data/measured")
    rows = duckdb.sql(text).fetchall()
    assert len(rows) == 1
    return rows[0]


def report(folder: Path, first: float, second: float, *, same: bool) -> dict[str, tuple[float | str, bool]]:
    """Print the tables; return the figures that have rows, and whether each misses its goal."""
    print_machine()
    total, ok = one(
        folder,
        "select count(*), count(*) filter (status = 'ok') from '$T/labels/*.parquet' "
        f"where tool = '{SYNTHESIS_TOOL}'",
    )
    unequal = one(folder, "select count(*) from '$T/runs/*.parquet' where outputs_equal is false")[0]
    print_header("what | measured")
    print_row("run with an empty cache", f"{first:.0f} s")
    print_row("cached second run", f"{second:.1f} s")
    print_row("designs", total)
    print_row("labelled (`ok`)", ok)
    print_row("mismatches with native C", unequal)
    print_row("tables byte-identical after the second run", "yes" if same else "NO")
    print()
    print_header("stage of a design | median (s) | p95 (s) | designs")
    for name, (table, column) in STAGES.items():
        median, high, count = one(
            folder,
            f"select median({column}), quantile_cont({column}, 0.95), count({column}) "
            f"from '$M/{table}/*.parquet' where {column} > 0",
        )
        print_row(name, f"{median:.3f}", f"{high:.3f}", count)
    return {
        "first run": (round(first), first > 600),
        "designs labelled `ok`": (f"{ok} of {total}", int(str(ok)) < 100),
        "mismatches with native C": (int(str(unequal)), unequal != 0),
        "tables byte-identical after the second run": ("yes" if same else "no", not same),
    }


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--scale", default="smoke")
    parser.add_argument("--keep", type=Path, help="work here and keep the folder")
    add_record_option(parser)
    chosen = parser.parse_args()
    if chosen.record and chosen.scale != "smoke":
        parser.error("--record is of --scale smoke")
    with tempfile.TemporaryDirectory() as base:
        folder = clone_project(chosen.keep or Path(base) / "checkout")
        arguments = ("run", f"scale={chosen.scale}")
        first = run_simfoundry(arguments, folder, code=folder)
        before = tables_digest(folder)
        second = run_simfoundry(arguments, folder, code=folder)
        same = before == tables_digest(folder)
        figures = report(folder, first.wall_s, second.wall_s, same=same)
    if chosen.record:
        for figure, (value, missed) in figures.items():
            record("main_job", figure, value, missed=missed)


if __name__ == "__main__":
    main()
