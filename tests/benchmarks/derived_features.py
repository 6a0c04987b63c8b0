"""A folder of tables for release v1 with the table `features`, which that release does not have.

Run: python -m tests.benchmarks.derived_features releases/v1 FOLDER [--share 0.4]
"""

from __future__ import annotations

import argparse
import logging
from collections import defaultdict
from pathlib import Path

from pipelines.cache import ContentCache
from pipelines.features import extract_design_features
from pipelines.identity import content_hash
from pipelines.labelling import LabelOptions
from pipelines.schemas import DesignRow, LabelRow, read_table, table_spec, write_table

_LOG = logging.getLogger(__name__)
_ALWAYS = ("modern", "polybench", "stationary")
"""Suites of the evaluation, which are never drawn from."""


def derive_features(release: Path, folder: Path, *, share: float = 1.0) -> int:
    """Link the tables of a release into a folder, and write features and labels there; a cache resumes it.

    Args:    share: of the programs, drawn by their identity; the others lose their labels.
    Returns: number of designs with features.
    """
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for table in sorted((release / "tables").iterdir()):
        if table.name != "labels" and not (tables / table.name).exists():
            (tables / table.name).symlink_to(table.resolve(), target_is_directory=True)
    programs = read_table(release, table_spec("programs"))
    chosen = {p.program_id for p in programs if p.suite in _ALWAYS or _draw(p.program_id) < share}
    labels = {row.design_id: row for row in read_table(release, table_spec("labels"))}
    by_suite: dict[str, list[DesignRow]] = defaultdict(list)
    for design in read_table(release, table_spec("designs")):
        if design.design_id in labels and design.program_id in chosen:
            by_suite[design.suite].append(design)
    for suite, designs in sorted(by_suite.items(), reverse=True):
        rows, _ = extract_design_features(
            programs,
            designs,
            cache=ContentCache(folder=folder / "cache"),
            options=LabelOptions(workers=1),
        )
        own: list[LabelRow] = [labels[design.design_id] for design in designs]
        write_table(folder, table_spec("features"), rows, suite)
        write_table(folder, table_spec("labels"), own, suite)
        _LOG.info("%s: %d designs", suite, len(rows))
    return sum(map(len, by_suite.values()))


def _draw(program_id: str) -> float:
    return int(content_hash("features", program_id)[:8], 16) / 16**8


def main() -> None:
    """Read the arguments and derive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    derive_features(options.release, options.folder, share=options.share)


if __name__ == "__main__":
    main()
