"""A folder of tables to train on: a release, and the designs of an earlier one as further training rows.

    python -m tests.benchmarks.joined_releases releases/v2 releases/v1 FOLDER [--split by_kernel_v2] [--runs]
    simfoundry train lightgbm-hls --release FOLDER -o split=by_kernel_v2

Both releases must have labels of the same versions of tools. Of the earlier release come programs of the
training stages that the first neither has nor rejects and that share little text with its held-out programs,
and their designs mapped to cells with a memory delay of the training part. Features that the earlier release
lacks are made, with --runs those of a run of the cycle model too; a cache in the folder resumes that.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipelines.base.cache import ContentCache
from pipelines.base.workers import Progress
from pipelines.dataset.features import (
    EVALUATION,
    SEEN_DELAYS,
    extract_design_features,
    extract_run_features,
)
from pipelines.dataset.labelling import LabelOptions
from pipelines.dataset.releases.checking import NEAR
from pipelines.dataset.releases.near_duplicates import nearest
from pipelines.schemas import OK, DesignRow, ProgramRow, SplitRow, read_table, table_spec, write_table

TRAINING = "train"
TOOLS = ("simfoundry-hls", "pyosys", "cycle_model", "netlist-simulator")
PROGRESS_STEP = 100


def require_same_tools(first: Path, other: Path) -> None:
    """Refuse releases whose labels are of different versions. Raises: SystemExit: they are."""
    tools = [json.loads((r / "manifest.json").read_bytes())["toolset"]["tools"] for r in (first, other)]
    changed = [name for name in TOOLS if tools[0].get(name) != tools[1].get(name)]
    if changed:
        raise SystemExit(f"{first} and {other} have labels of other versions of {', '.join(changed)}")


def further_programs(first: Path, other: Path, split: str) -> list[ProgramRow]:
    """Programs of the earlier release that may be trained on beside the first one's."""
    programs = read_table(first, table_spec("programs"))
    known = {row.program_id: row for row in programs if row.status == OK}
    parts = {
        row.program_id: row.part for row in read_table(first, table_spec("splits")) if row.split == split
    }
    held = [row.source for name, row in known.items() if parts.get(name, EVALUATION) != TRAINING]
    sources = {row.source for row in programs}  # also of those that it rejects
    found = [
        row
        for row in read_table(other, table_spec("programs"))
        if row.status == OK and row.stage != EVALUATION and row.source not in sources
    ]
    shares, _ = nearest([row.source for row in found], held)
    return [row for row, share in zip(found, shares, strict=True) if share < NEAR]


def further_designs(other: Path, programs: Mapping[str, ProgramRow]) -> list[DesignRow]:
    """Their designs with an area, whose delays belong to the training part."""
    mapped = {
        row.design_id
        for row in read_table(other, table_spec("labels"))
        if row.status == OK and row.area_um2 is not None
    }
    return [
        row
        for row in read_table(other, table_spec("designs"))
        if row.program_id in programs
        and row.design_id in mapped
        and all(d in SEEN_DELAYS for d in (row.memory_read_delay_cycles, row.memory_write_delay_cycles))
    ]


def _show(progress: Progress) -> None:
    if progress.done % PROGRESS_STEP == 0:
        sys.stderr.write(f"features of {progress.done} of {progress.total} designs\n")


def join(first: Path, other: Path, folder: Path, split: str, *, with_runs: bool) -> Mapping[str, int]:
    """Write the folder.

    Args:    with_runs: make table `run_features` of the earlier release's designs.
    Returns: rows from the earlier release by table.
    """
    require_same_tools(first, other)
    programs = {row.program_id: row for row in further_programs(first, other, split)}
    designs = further_designs(other, programs)
    programs = {name: programs[name] for name in {row.program_id for row in designs}}
    groups = {row.program_id: row.group for row in read_table(other, table_spec("splits"))}
    made: dict[str, Any] = {
        "cache": ContentCache(folder=folder / "cache"),
        "options": LabelOptions(),
        "on_progress": _show,
    }
    features, profiles = extract_design_features(list(programs.values()), designs, **made)
    chosen = {row.design_id for row in designs}
    runs = [row for row in read_table(other, table_spec("runs")) if row.design_id in chosen]
    rows: dict[str, Sequence[Any]] = {
        "programs": sorted(
            (replace(row, parent=None) for row in programs.values()), key=lambda row: row.program_id
        ),
        "splits": [
            SplitRow(split=split, program_id=name, group=f"{other.name}-{groups[name]}", part=TRAINING)
            for name in sorted(programs)
        ],
        "designs": designs,
        "loops": [row for row in read_table(other, table_spec("loops")) if row.program_id in programs],
        "labels": [row for row in read_table(other, table_spec("labels")) if row.design_id in chosen],
        "runs": runs,
        "features": features,
        "loop_profiles": profiles,
    }
    if with_runs:
        rows["run_features"] = extract_run_features(list(programs.values()), designs, runs, **made)
    for table in sorted((first / "tables").iterdir()):
        own = folder / "tables" / table.name
        own.mkdir(parents=True, exist_ok=True)
        for file in table.glob("*.parquet"):
            if not (own / file.name).exists():
                (own / file.name).symlink_to(file.resolve())
    for table, own in rows.items():
        write_table(folder, table_spec(table), own, f"of_{other.name}")
    return {table: len(own) for table, own in rows.items()}


def main() -> None:
    """Read the arguments and join."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("first", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="by_kernel_v2")
    parser.add_argument("--runs", action="store_true", help="make features of runs, for level run")
    options = parser.parse_args()
    paths = (options.first, options.other, options.folder)
    for table, count in join(*paths, options.split, with_runs=options.runs).items():
        sys.stdout.write(f"{table}: {count} rows of {options.other}\n")


if __name__ == "__main__":
    main()
