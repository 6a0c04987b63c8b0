"""A folder of tables whose training part shares no group and no source with a model's reference set.

    python -m tests.benchmarks.apart_from_reference releases/v2 FOLDER [--split by_kernel_v2]
    simfoundry train lightgbm-hls --release FOLDER -o split=by_kernel_v2

Groups of generated programs are named by the generator's counter, so two releases have the same names for
different programs, and the gate refuses a model that was trained on a name of the reference set. Such groups,
and those of programs with a source of the reference set, move to the part validation.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from models.catalogue import predictor_named
from models.tasks import Reference
from pipelines.schemas import SplitRow, read_table, table_spec, write_table


def sources_of(folder: Path) -> dict[str, str]:
    """Source by program."""
    return {row.program_id: row.source for row in read_table(folder, table_spec("programs"))}


def write_apart(release: Path, folder: Path, split: str, reference: Reference) -> int:
    """Link the tables of a release into a folder, and write its splits anew.

    Returns: number of groups that were moved.
    """
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    for table in (release / "tables").iterdir():
        if table.name != "splits":
            (folder / "tables" / table.name).symlink_to(table.resolve(), target_is_directory=True)
    known = [
        row
        for row in read_table(reference.folder, table_spec("splits"))
        if row.split == reference.split and row.part in reference.parts
    ]
    names, texts = {row.group for row in known}, sources_of(reference.folder)
    seen = {texts[row.program_id] for row in known}
    own, rows = sources_of(release), read_table(release, table_spec("splits"))
    moved = {row.group for row in rows if row.group in names or own[row.program_id] in seen}

    def placed(row: SplitRow) -> SplitRow:
        is_moved = row.split == split and row.part == "train" and row.group in moved
        return replace(row, part="validation") if is_moved else row

    changed = [placed(row) for row in rows]
    write_table(folder, table_spec("splits"), changed, "all")
    return len({row.group for row, new in zip(rows, changed, strict=True) if row != new})


def main() -> None:
    """Read the arguments, write the folder, say what was moved."""
    parser = argparse.ArgumentParser(description="Tables apart from a reference set.")
    parser.add_argument("release", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="by_kernel_v2")
    parser.add_argument("--predictor", default="lightgbm-hls")
    options = parser.parse_args()
    reference = predictor_named(options.predictor).task.reference
    if reference is None:
        parser.error(f"{options.predictor} has no reference set")
    moved = write_apart(options.release, options.folder, options.split, reference)
    sys.stdout.write(f"{moved} groups moved to validation\n")


if __name__ == "__main__":
    main()
