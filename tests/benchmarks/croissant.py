"""Validate the Croissant description of a release with MLCommons' own reader, and read a row of every table.

    pip install simfoundry[croissant]; python -m tests.benchmarks.croissant releases/pragmas-v1

Writes a copy of the release with its description, because a release has the files of its manifest alone.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from pipelines.dataset.releases import load_release
from pipelines.dataset.releases.card import about_release
from pipelines.dataset.releases.croissant import CROISSANT_FILE, croissant_bytes
from tests.benchmarks.harness import options_parser


def main() -> None:
    """Print the errors and warnings of the reader, and the number of columns of a row of every table."""
    import mlcroissant  # pyright: ignore[reportMissingImports]

    parser = options_parser(__doc__)
    parser.add_argument("release", type=Path)
    folder = parser.parse_args().release
    manifest = load_release(folder).manifest
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(folder, Path(scratch) / folder.name))
        (copy / CROISSANT_FILE).write_bytes(croissant_bytes(manifest, about_release(manifest)))
        dataset = mlcroissant.Dataset(str(copy / CROISSANT_FILE))
        print(dataset.metadata.issues.report())
        for records in dataset.metadata.record_sets:
            row = next(iter(dataset.records(records.id)))
            print(f"{records.id}: {len(row)} columns")


if __name__ == "__main__":
    main()
