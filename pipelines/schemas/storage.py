"""Tables on disk: one Parquet file a table and partition, written whole or not at all.

Layout under the data folder:

    tables/<table>/<partition>.parquet     content: the same inputs give the same bytes
    measured/<table>/<partition>.parquet   wall-clock columns of the same rows, by key
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.schemas.columns import SchemaError, TableSpec, infinities

if TYPE_CHECKING:
    import polars as pl

FORMER_NAMES: Mapping[str, Mapping[str, str]] = {}
"""Former column names by table: former name to present name. Releases keep the names of their time."""


def table_path(data_dir: Path, spec: TableSpec, partition: str, *, measured: bool = False) -> Path:
    """Return the file of one partition of a table, or of its wall-clock sibling."""
    return data_dir / ("measured" if measured else "tables") / spec.name / f"{partition}.parquet"


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a run after a crash, sees all of it or none of it.

    A device or a pipe is written to, and stays.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
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


def read_arrow(path: Path, *, columns: Sequence[str] | None = None, encoded: Sequence[str] = ()) -> pa.Table:
    """Read one Parquet file and verify its pages against their checksums, where it has them.

    Polars does not verify checksums, so every table is read here and handed to Polars afterwards.

    Args:   columns: names of the columns to read; None reads all. encoded: text columns of few distinct
            values, read as dictionaries.
    Raises: SchemaError: the file is not readable Parquet; the message names it and the way out.
    """
    try:
        content = pq.read_table(
            path,
            columns=columns,
            read_dictionary=list(encoded),
            partitioning=None,
            page_checksum_verification=True,
        )
        _ = content.column_names  # a damaged name is no UTF-8
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        first = str(error).splitlines()[0]
        raise SchemaError(
            f"{path} is damaged ({first}); delete it and run again: it is rebuilt from the cache"
        ) from error
    return content


def to_frame(content: pa.Table) -> pl.DataFrame:
    """Return an Arrow table as a Polars frame; numbers share their memory."""
    import polars as pl  # lazy import: takes 0.3 s

    # Without metadata: Polars ends with a panic where they are no UTF-8, and no checksum protects them.
    plain = [pa.field(field.name, field.type, nullable=field.nullable) for field in content.schema]
    return pl.DataFrame(content.cast(pa.schema(plain)))


def from_frame(frame: pl.DataFrame, schema: pa.Schema) -> pa.Table:
    """Return a Polars frame as an Arrow table of a declared schema, in one chunk."""
    return frame.select(schema.names).to_arrow().cast(schema).combine_chunks()


def conform(content: pa.Table, expected: pa.Schema, spec: TableSpec) -> pa.Table:
    """Return the columns of an older release under their present names, in the declared order.

    A nullable column that the release lacks is null in every row.

    Raises: SchemaError: a column is unknown, has another type, or is absent and not nullable.
    """
    former = FORMER_NAMES.get(spec.name, {})
    content = content.rename_columns([former.get(name, name) for name in content.column_names])
    content = fill_columns(content, expected)
    if not content.schema.equals(expected, check_metadata=False):
        raise SchemaError(
            f"table {spec.name} must have the columns {_listed(expected)}, got {_listed(content.schema)}"
        )
    return content.cast(expected)


def fill_columns(content: pa.Table, expected: pa.Schema) -> pa.Table:
    """Return the columns with those that an earlier version did not write, null in every row, in the declared
    order.

    A file of an earlier version lacks columns that were declared later. An absent column that is not nullable
    stays absent, so that the check of the schema names it.
    """
    for field in expected:
        if field.name not in content.column_names and field.nullable:
            content = content.append_column(field, pa.nulls(content.num_rows, field.type))
    is_whole = set(content.column_names) == set(expected.names)
    return content.select(expected.names) if is_whole else content


def is_readable(schema: pa.Schema, expected: pa.Schema) -> bool:
    """Tell whether a file's columns are the declared ones, those apart that `fill_columns` adds."""
    own = {field.name: field.type for field in schema}
    return own.keys() <= set(expected.names) and all(
        own[field.name] == field.type if field.name in own else field.nullable for field in expected
    )


def _listed(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


def scan_table(data_dir: Path, spec: TableSpec, partitions: Iterable[str] | None = None) -> pl.LazyFrame:
    """Return the rows of a table as a lazy Polars frame, all partitions in name order or only those named.

    Nullable columns that a file of an earlier version lacks are null.

    Raises: SchemaError: a file is damaged or does not fit the schema.
    """
    import polars as pl

    empty = spec.schema().empty_table()
    contents = [to_frame(content) for content in (empty, *_partitions(data_dir, spec, partitions))]
    return pl.concat(contents, rechunk=False).lazy()


def read_table(data_dir: Path, spec: TableSpec, partitions: Iterable[str] | None = None) -> list[Any]:
    """Return the rows of a table, all partitions in name order or only those named.

    Raises: SchemaError: a file is damaged or does not fit the schema.
    """
    return [row for content in _partitions(data_dir, spec, partitions) for row in spec.from_arrow(content)]


def _partitions(data_dir: Path, spec: TableSpec, partitions: Iterable[str] | None) -> Iterator[pa.Table]:
    folder = data_dir / "tables" / spec.name
    names = sorted(p.stem for p in folder.glob("*.parquet")) if partitions is None else partitions
    for name in names:
        path = table_path(data_dir, spec, name)
        content = fill_columns(read_arrow(path), spec.schema())
        problems = spec.violations(content)
        if problems:
            raise SchemaError(f"{path} does not fit table {spec.name}: {'; '.join(problems)}")
        yield content
