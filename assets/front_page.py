"""Tables of the README that derive from releases and shipped weights.

    python -m assets.front_page README.md

A table stands between a comment `<!-- derived: NAME -->` and the next empty line.
"""

from __future__ import annotations

import argparse
import re
import statistics
from pathlib import Path

from assets.engines import ROOT
from assets.errors import FoundryError
from models.catalogue import PredictorSpec, predictors
from models.model_files import REFERENCE_FILE, read_sealed_json
from pipelines.dataset.releases.card import main_table
from pipelines.dataset.releases.manifest import Manifest, read_manifest
from pipelines.schemas import write_bytes_atomically
from pipelines.schemas.documentation import markdown_table

_DERIVED = re.compile(r"(?<=<!-- derived: )(\w+)( -->\n\n)(?:\|.*\n)*")
_MIB = 1 << 20
_QUESTIONS = {
    "text": "cost of a C program, from its text",
    "static": "cost of a C program, from its schedule, without Verilog",
    "hls": "cost of a C program, from the report of high-level synthesis",
    "network": "latencies of a network",
    "compilation": "power and energy of a neural network in hardware (`-fixed`: as a pipeline of its own)",
    "placements": "throughput of a placement on a fabric",
    "directives": "cycles under directives",
    "rtl": "the fastest RTL simulator of a design",
}
"""What a predictor is asked, by its level of information."""


def with_tables(text: str) -> str:
    """Return a page with its derived tables as they are now.

    Raises: FoundryError: the page names a table that nothing derives.
    """
    return _DERIVED.sub(lambda mark: mark.group(1) + mark.group(2) + _table(mark.group(1)), text)


def _table(name: str) -> str:
    tables = {"releases": releases_table, "predictors": predictors_table}
    if name not in tables:
        raise FoundryError(f"unknown derived table: {name}; accepted: {', '.join(tables)}")
    return tables[name]()


def releases_table(folder: Path = ROOT / "releases") -> str:
    """Return the complete releases with their rows and size."""
    rows: list[tuple[str, ...]] = []
    for release in sorted(path.parent for path in folder.glob("*/manifest.json")):
        manifest = read_manifest(release)
        if not manifest.pending:
            size = sum(file.stat().st_size for file in release.rglob("*") if file.is_file())
            link = f"[`{release.name}`](releases/{release.name}/README.md)"
            rows.append((link, _contents(manifest), f"{size / _MIB:.1f}"))
    return markdown_table(("release", "rows", "MiB"), rows)


def _contents(manifest: Manifest) -> str:
    """Return the numbers of rows of the tables that a release is about."""
    main = main_table(manifest)
    shown = ("programs", "designs", "labels", "runs") if main == "labels" else (main,)
    return ", ".join(f"{manifest.rows[table]:,} {table.replace('_', ' ')}" for table in shown)


def predictors_table() -> str:
    """Return the predictors whose weights come with the project, with their errors."""
    shipped = [spec for spec in predictors() if (spec.shipped_folder / REFERENCE_FILE).is_file()]
    header = ("predictor", "question", "error", "trivial baseline")
    return markdown_table(header, [_predictor_row(spec) for spec in shipped])


def _predictor_row(spec: PredictorSpec) -> tuple[str, ...]:
    content = read_sealed_json(spec.shipped_folder / REFERENCE_FILE)
    errors = (statistics.fmean(content[name]) for name in ("errors", "baseline_errors"))
    return f"`{spec.name}`", _QUESTIONS[spec.task.level], *(f"{error:.1%}" for error in errors)


def main() -> None:
    """Write the tables into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    page: Path = parser.parse_args().page
    write_bytes_atomically(page, with_tables(page.read_text(encoding="utf-8")).encode())


if __name__ == "__main__":
    main()
