"""Opening a release: every file checked against the manifest before anything is read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.base.files import open_regular
from pipelines.dataset.releases.manifest import (
    MANIFEST_FILE,
    MEASURED_FILE,
    FileEntry,
    Manifest,
    MeasuredManifest,
    ReleaseError,
    read_manifest,
    read_measured_manifest,
)
from pipelines.schemas import SchemaError, TableSpec, conform, read_arrow, table_spec

PARAMETERS_FILE = "params.yaml"
CARD_FILE = "README.md"
FILE_LIMIT_BYTES = 1 << 30
ROW_LIMIT = 1_000_000
DECODED_LIMIT_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release whose files are what its manifest says.

    Attributes:
        folder: it lies in; manifest: of what follows from the inputs; measured: of wall-clock times.
    """

    folder: Path
    manifest: Manifest
    measured: MeasuredManifest

    def tables(self) -> tuple[str, ...]:
        """Return the names of the tables in it."""
        return tuple(dict.fromkeys(f.table for f in self.manifest.files if f.table is not None))

    def partitions(self, table: str) -> tuple[str, ...]:
        """Return the partitions of a table, in order of name."""
        return tuple(sorted({f.partition for f in self.manifest.files if f.table == table and f.partition}))

    def empty(self, table: str) -> pa.Table:
        """Return a table's columns without rows."""
        return table_spec(table).schema().empty_table()

    def arrow(self, table: str, partition: str, *, measured: bool = False) -> pa.Table:
        """Return the rows of a partition; of its wall-clock columns no rows when they were not released.

        Raises: ReleaseError: a shard is damaged or does not fit the schema.
        """
        files = self.measured.files if measured else self.manifest.files
        entries = [f for f in files if f.table == table and f.partition == partition]
        shards = [(self.folder / f.path, f.rows) for f in sorted(entries, key=lambda f: f.path)]
        return read_shards(shards, table_spec(table), measured=measured)

    def times(self, table: str, partition: str) -> pa.Table:
        """Return key and wall-clock columns of a partition; null in every row when they were not released.

        Raises: ReleaseError: a shard is damaged or does not fit the schema.
        """
        spec = table_spec(table)
        keys = self.arrow(table, partition).select(list(spec.key))
        beside = self.arrow(table, partition, measured=True)
        if beside.select(list(spec.key)).equals(keys):
            return beside
        schema = spec.schema(measured=True)
        columns = {name: keys.column(name) for name in spec.key}
        columns |= {f.name: pa.nulls(keys.num_rows, f.type) for f in schema if f.name not in columns}
        return pa.table(columns).select(schema.names).cast(schema)

    def rows(self, table: str, partition: str) -> list[Any]:
        """Return the rows of a partition with their wall-clock columns, which are None when not released.

        Raises: ReleaseError: a shard is damaged or does not fit the schema.
        """
        spec = table_spec(table)
        content = self.arrow(table, partition)
        if spec.has_measured:
            content = _joined(content, self.arrow(table, partition, measured=True), spec)
        return spec.from_arrow(content)


def open_release(folder: Path) -> Release:
    """Open a release and check every file: its length, its SHA-256, and that nothing is missing or added.

    Raises: ReleaseError: the first thing that is wrong.
    """
    manifest = read_manifest(folder)
    measured = read_measured_manifest(folder)
    for entry in (*manifest.files, *measured.files):
        _check(folder, entry)
    _check_names(folder, {entry.path for entry in (*manifest.files, *measured.files)})
    for name in {f.table for f in (*manifest.files, *measured.files) if f.table is not None}:
        try:
            table_spec(name)
        except SchemaError as error:
            raise ReleaseError(f"{error} ({folder}); import it with the version that wrote it") from error
    return Release(folder=folder, manifest=manifest, measured=measured)


def _check_names(folder: Path, listed: Set[str]) -> None:
    """Require that the manifests name every necessary file and every file that is there."""
    lacking = sorted({PARAMETERS_FILE, CARD_FILE} - listed)
    if lacking:
        raise ReleaseError(f"a manifest must name {', '.join(lacking)}, got no such file ({folder})")
    own = {MANIFEST_FILE, MEASURED_FILE}
    present = {
        p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir() or p.is_symlink()
    }
    added = sorted(present - listed - own)
    if added:
        raise ReleaseError(
            f"a release must have the files of its manifests alone, got {added[0]} too ({folder})"
        )


def _check(folder: Path, entry: FileEntry) -> None:
    path = folder / entry.path
    try:
        if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
            raise ReleaseError(f"a file of a release must lie in its folder, got a link ({path})")
        size = path.stat().st_size
        if size != entry.bytes or size > FILE_LIMIT_BYTES:
            raise ReleaseError(
                f"a file must have {entry.bytes} bytes as the manifest says, got {size} ({path})"
            )
        with open_regular(
            path, what="file of a release", most_bytes=FILE_LIMIT_BYTES, error=ReleaseError
        ) as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ReleaseError(
            f"a release must have the file {entry.path}, got {error.strerror} ({path})"
        ) from error
    if digest != entry.sha256:
        raise ReleaseError(
            f"a file must have SHA-256 {entry.sha256} as the manifest says, got {digest} ({path})"
        )


def _joined(content: pa.Table, beside: pa.Table, spec: TableSpec) -> pa.Table:
    """Return the table with its wall-clock columns; both are sorted by key, so equal keys are equal rows."""
    names: Sequence[str] = [c.name for c in spec.columns if c.measured]
    if not beside.select(list(spec.key)).equals(content.select(list(spec.key))):
        return content
    for name in names:
        content = content.append_column(name, beside.column(name))
    return content


# ---- shards ----------------------------------------------------------------------------------------


def read_shards(
    files: Sequence[tuple[Path, int | None]], spec: TableSpec, *, measured: bool = False
) -> pa.Table:
    """Read the rows of a partition's shards, in order.

    Columns of an older release come under their present names; see `schemas.conform`.

    Args:   files: each shard with its number of rows in the manifest.
    Raises: ReleaseError: a shard is damaged, or has columns that the table does not know.
    """
    expected = spec.schema(measured=measured)
    pieces: list[pa.Table] = []
    for path, rows in files:
        _check_size(path, rows)
        try:
            piece = read_arrow(path)
        except SchemaError as error:
            raise ReleaseError(f"a shard must be a Parquet file, got a damaged one ({path})") from error
        try:
            pieces.append(conform(piece, expected, spec))
        except SchemaError as error:
            raise ReleaseError(f"{error} ({path}); import it with the version that wrote it") from error
    table = pa.concat_tables(pieces) if pieces else expected.empty_table()
    problems = [] if measured else spec.violations(table)
    if problems:
        raise ReleaseError(
            f"table {spec.name} must fit its schema: {'; '.join(problems)} ({files[0][0].parent})"
        )
    return table


def _check_size(path: Path, rows: int | None) -> None:
    """Check the size before anything is decoded: a small file may declare terabytes."""
    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise ReleaseError(f"a shard must be a Parquet file, got a damaged one ({path})") from error
    if metadata.num_rows != rows:
        raise ReleaseError(
            f"a shard must have {rows} rows as the manifest says, got {metadata.num_rows} ({path})"
        )
    if metadata.num_rows > ROW_LIMIT:
        raise ReleaseError(f"a shard must have at most {ROW_LIMIT} rows, got {metadata.num_rows} ({path})")
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    if size > DECODED_LIMIT_BYTES:
        raise ReleaseError(
            f"a shard must have at most {DECODED_LIMIT_BYTES} bytes decoded, got {size} ({path})"
        )
