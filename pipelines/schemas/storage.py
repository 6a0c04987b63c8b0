"""Tables on disk: one Parquet file a table and partition, written whole or not at all.

Layout under the data folder:

    tables/<table>/<partition>.parquet     content: the same inputs give the same bytes
    measured/<table>/<partition>.parquet   wall-clock columns of the same rows, by key
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.schemas.columns import SchemaError, TableSpec, infinities


def table_path(data_dir: Path, spec: TableSpec, partition: str, *, measured: bool = False) -> Path:
    """File of one partition of a table, or of its wall-clock sibling."""
    return data_dir / ("measured" if measured else "tables") / spec.name / f"{partition}.parquet"


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a run after a crash, sees all of it or none of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _parquet_bytes(content: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(content, sink, compression="zstd", write_statistics=True, write_page_checksum=True)
    return sink.getvalue().to_pybytes()


def write_table(data_dir: Path, spec: TableSpec, rows: Sequence[Any], partition: str) -> Path:
    """Write one partition of a table, and its wall-clock columns beside it.

    Args:    rows: instances of spec.row, any order; they are sorted by key.
    Returns: path of the content file.
    Raises:  SchemaError: a row breaks the schema. OSError: the disk is full or not writable.
    """
    path = table_path(data_dir, spec, partition)
    write_bytes_atomically(path, _parquet_bytes(spec.to_arrow(rows)))
    if spec.has_measured:
        sibling = table_path(data_dir, spec, partition, measured=True)
        write_bytes_atomically(sibling, _parquet_bytes(spec.to_arrow(rows, measured=True)))
    return path


def write_arrow(
    data_dir: Path, spec: TableSpec, content: pa.Table, partition: str, *, measured: bool = False
) -> Path:
    """Write one partition of a table, or its wall-clock sibling, from columns that are sorted by key.

    Returns: path of the file; its bytes are those that `write_table` gives of the same rows.
    Raises:  SchemaError: the columns break the schema. OSError: the disk is full or not writable.
    """
    expected = spec.schema(measured=measured)
    problems = infinities(content) if measured else spec.violations(content)
    if problems or not content.schema.equals(expected, check_metadata=False):
        raise SchemaError(
            f"columns do not fit table {spec.name}: {'; '.join(problems) or content.schema.names}"
        )
    path = table_path(data_dir, spec, partition, measured=measured)
    write_bytes_atomically(path, _parquet_bytes(content.cast(expected).combine_chunks()))
    return path


def read_arrow(path: Path) -> pa.Table:
    """Read one Parquet file, its pages against their checksums where it has them.

    Raises: SchemaError: the file is not readable Parquet; the message names it and the way out.
    """
    try:
        return pq.read_table(path, partitioning=None, page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        first = str(error).splitlines()[0]
        raise SchemaError(
            f"{path} is damaged ({first}); delete it and run again: it is rebuilt from the cache"
        ) from error


def read_table(data_dir: Path, spec: TableSpec, partitions: Iterable[str] | None = None) -> list[Any]:
    """Rows of a table, all partitions in name order or only those named.

    Raises: SchemaError: a file is damaged or does not fit the schema.
    """
    folder = data_dir / "tables" / spec.name
    names = sorted(p.stem for p in folder.glob("*.parquet")) if partitions is None else partitions
    rows: list[Any] = []
    for name in names:
        path = table_path(data_dir, spec, name)
        content = read_arrow(path)
        problems = spec.violations(content)
        if problems:
            raise SchemaError(f"{path} does not fit table {spec.name}: {'; '.join(problems)}")
        rows.extend(spec.from_arrow(content))
    return rows
