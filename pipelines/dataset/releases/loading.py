"""A release's tables in one line: `load_release("releases/v2")["runs"]` is a lazy Polars frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq

from pipelines.dataset.releases.manifest import FileEntry, Manifest, ReleaseError, read_manifest
from pipelines.dataset.releases.reading import open_release
from pipelines.schemas import is_readable, table_spec
from pipelines.schemas.timing import with_timing

if TYPE_CHECKING:
    import polars as pl

_PARQUET = pads.ParquetFileFormat(page_checksum_verification=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseTables(Mapping[str, "pl.LazyFrame"]):
    """Tables by name; a column that an older release lacks is null in every row.

    Attributes:
        folder: of the release; manifest: what it says; files: by table.
    """

    folder: Path
    manifest: Manifest
    files: Mapping[str, tuple[FileEntry, ...]] = field(repr=False)

    def __getitem__(self, table: str) -> pl.LazyFrame:
        """Return the rows of a table in the order of its files; a query reads the columns that it names.

        Those of a table with a longest path have `slack_ns` and `timing_met` besides.

        Raises: KeyError: no such table. ReleaseError: a file does not fit the table.
                ImportError: Polars is not installed; `arrow` does without.
        """
        return with_timing(
            table, self._rows(table), lambda name: self._rows(name) if name in self.files else None
        )

    def _rows(self, table: str) -> pl.LazyFrame:
        import polars as pl

        return pl.scan_pyarrow_dataset(self._dataset(table))

    def arrow(self, table: str) -> pa.Table:
        """Return all rows of a table.

        Raises: KeyError: no such table. ReleaseError: a file does not fit the table.
        """
        return self._dataset(table).to_table()

    def _dataset(self, table: str) -> pads.Dataset:
        schema = table_spec(table).schema()
        paths = [self.folder / entry.path for entry in self.files[table]]
        for path in paths:
            own = _schema(path)
            if not is_readable(own, schema):
                raise ReleaseError(
                    f"a shard must have the columns {', '.join(schema.names)} of table {table}, "
                    f"got {', '.join(own.names)} ({path})"
                )
        return pads.dataset([str(path) for path in paths], schema, _PARQUET)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)


def load_release(folder: Path | str, *, verify: bool = False) -> ReleaseTables:
    """Load a release, finished or not, without a project.

    Args:   folder: of the release. verify: compare every file with its SHA-256 in the manifest first.
    Raises: ReleaseError: no manifest, or, with `verify`, the first file that is not what it says.
    """
    folder = Path(folder)
    manifest = open_release(folder).manifest if verify else read_manifest(folder)
    names = dict.fromkeys(entry.table for entry in manifest.files if entry.table is not None)
    files = {name: tuple(e for e in manifest.files if e.table == name) for name in names}
    return ReleaseTables(folder=folder, manifest=manifest, files=files)


def _schema(path: Path) -> pa.Schema:
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise ReleaseError(f"a shard must be a Parquet file, got a damaged one ({path})") from error
