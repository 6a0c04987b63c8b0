"""Time of the table functions at many rows.

    python tests/benchmarks/polars_tables.py [--rows 100000] [--folder FOLDER]

Copies the tables of `releases/v1` under new ids until there are so many designs, labels and runs. FOLDER
keeps the copies, so that another version of the project can be measured on the same files. Prints one JSON
object per function: the least processor time and the least wall-clock time of three runs, in seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from assets.deployments import local_deployment
from assets.overview import survey
from assets.releases.importing import _by_design
from models.labelled import Selection, load_labelled_designs
from pipelines.dataset.features.extraction import _sorted
from pipelines.dataset.releases import Manifest, Reproduction
from pipelines.dataset.releases.card import card_text
from pipelines.dataset.reports import read_report
from pipelines.schemas import table_spec

RELEASE = Path(__file__).resolve().parents[2] / "releases" / "v1"
COPIED = ("programs", "loops", "designs", "labels", "runs", "splits", "cross_checks", "stage_reports")
RUNS = 3


def copy_tables(folder: Path, rows: int) -> None:
    """Write tables of at least so many designs below a data folder."""
    designs = pq.read_table(RELEASE / "tables" / "designs").num_rows
    copies = pl.DataFrame({"copy": range(-(-rows // designs))})
    for table in (*COPIED, "cdfg_edges"):
        content = pl.read_parquet(RELEASE / "tables" / table / "*.parquet")
        if table == "cdfg_edges":
            content = content.head(rows)
        elif table != "stage_reports":
            content = content.join(copies, how="cross").with_columns(
                pl.format("{}{}", pl.col(name).str.slice(3), pl.col("copy").cast(pl.String).str.zfill(3))
                for name in ("program_id", "design_id", "parent")
                if name in content.columns
            )
        spec = table_spec(table)
        path = folder / "data" / "tables" / table / "all.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        ordered = content.select(spec.schema().names).sort(spec.key)
        pq.write_table(ordered.to_arrow().cast(spec.schema()), path, write_page_checksum=True)


def measured_functions(folder: Path) -> Mapping[str, Callable[[], Any]]:
    """What is measured, by name; reading is part of the first three."""
    data_dir = folder / "data"
    tables: dict[str, pa.Table] = {
        name: pq.read_table(data_dir / "tables" / name / "all.parquet") for name in COPIED
    }
    edges = pq.read_table(data_dir / "tables" / "cdfg_edges" / "all.parquet")
    pieces = [edges.slice(start, 100) for start in range(0, edges.num_rows, 100)][::-1]
    manifest = Manifest.model_validate_json((RELEASE / "manifest.json").read_bytes())
    reproduction = Reproduction(commands=(), seeds={})
    return {
        "load_labelled_designs": lambda: load_labelled_designs(data_dir, Selection(split="by_kernel_v1")),
        "read_report": lambda: read_report(data_dir, name="benchmark"),
        "survey": lambda: survey(local_deployment(folder)),
        "card_text": lambda: card_text(manifest, tables, reproduction),
        "features._sorted": lambda: _sorted("cdfg_edges", pieces),
        "releasing._by_design": lambda: _by_design(edges),
    }


def measure(function: Callable[[], Any]) -> dict[str, float]:
    """Least times of a few runs."""
    times: list[tuple[float, float]] = []
    for _ in range(RUNS):
        wall, processor = time.perf_counter(), time.process_time()
        function()
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    wall_s, processor_s = (min(column) for column in zip(*times, strict=True))
    return {"processor_s": round(processor_s, 3), "wall_s": round(wall_s, 3)}


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--rows", type=int, default=100_000, help="designs, labels and runs")
    arguments.add_argument("--folder", type=Path, help="keeps the tables; made when it does not exist")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder: Path = chosen.folder or Path(scratch) / "project"
        if not folder.exists():
            copy_tables(folder, chosen.rows)
        for name, function in measured_functions(folder).items():
            sys.stdout.write(json.dumps({"function": name, **measure(function)}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
