"""Parquet shards: a table's partition as files of bounded rows, the same bytes for the same rows.

Bytes depend on the version of pyarrow, which is pinned; nothing else of the machine goes into a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.releases.errors import ReleaseError
from pipelines.schemas import SchemaError, TableSpec, read_arrow

COMPRESSION_LEVEL = 19
ROW_LIMIT = 1_000_000
DECODED_LIMIT_BYTES = 1 << 30


def shard_bytes(table: pa.Table) -> bytes:
    """One shard: one row group, zstd, dictionaries wherever values repeat."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=True,
        write_statistics=True,
        row_group_size=max(1, table.num_rows),
        data_page_size=8 << 20,
        dictionary_pagesize_limit=16 << 20,
    )
    return sink.getvalue().to_pybytes()


def shards(table: pa.Table, rows: int) -> Iterator[pa.Table]:
    """Pieces of at most `rows` rows in order; one empty piece of an empty table."""
    for start in range(0, max(1, table.num_rows), rows):
        yield table.slice(start, rows)


def read_shards(
    files: Sequence[tuple[Path, int | None]], spec: TableSpec, *, measured: bool = False
) -> pa.Table:
    """The rows of a partition's shards, in order.

    Args:   files: each shard with the number of its rows that the manifest says.
    Raises: ReleaseError: a shard is damaged, or has other columns than the table has here.
    """
    expected = spec.schema(measured=measured)
    pieces: list[pa.Table] = []
    for path, rows in files:
        _check_size(path, rows)
        try:
            piece = read_arrow(path)
        except SchemaError as error:
            raise ReleaseError(f"a shard must be a Parquet file, got a damaged one ({path})") from error
        if not piece.schema.equals(expected, check_metadata=False):
            raise ReleaseError(
                f"table {spec.name} must have the columns {_columns(expected)}, "
                f"got {_columns(piece.schema)} ({path}); import it with the version that wrote it"
            )
        pieces.append(piece.cast(expected))
    table = pa.concat_tables(pieces) if pieces else expected.empty_table()
    problems = [] if measured else spec.violations(table)
    if problems:
        raise ReleaseError(
            f"table {spec.name} must fit its schema: {'; '.join(problems)} ({files[0][0].parent})"
        )
    return table


def _check_size(path: Path, rows: int | None) -> None:
    """Before anything is decoded: a small file may say that it holds terabytes."""
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


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)
