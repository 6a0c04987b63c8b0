"""Tables of any folder `<table>/*.parquet` as Polars frames: the project's own, or a release."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.schemas import SchemaError, TableSpec, read_arrow, to_frame

FloatArray = npt.NDArray[np.float64]

LONG_COLUMNS = (
    "source",
    "inputs",
    "graph",
    "cells_by_type",
    "engine_options",
    "initiation_intervals",
    "operations",
)
"""Long texts that no figure needs."""

REPEATED_TEXTS = ("design_id", "run_id", "queue_type")
"""Texts of these tables that are read as dictionaries, for each stands in many rows."""

FINGERPRINT_DIGITS = 16

_UNREADABLE = (SchemaError, pa.ArrowException, pl.exceptions.PolarsError, OSError, UnicodeDecodeError)


class ReportError(ValueError):
    """There is nothing to report on; the message says what was looked for, and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSet:
    """The tables of one folder.

    Attributes:
        name: title of the page.
        contents: frame by table; wall-clock columns are joined to the rows they belong to.
        fingerprint: first digits of the hash of all table files without wall-clock columns.
        problems: one line per file that cannot be read; its rows are left out.
    """

    name: str
    contents: Mapping[str, pl.DataFrame]
    fingerprint: str
    problems: tuple[str, ...]

    def row_count(self, table: str) -> int:
        """Return the rows of a table; 0 when the folder does not have it."""
        return self.contents[table].height if table in self.contents else 0

    def has_column(self, table: str, column: str) -> bool:
        """Tell whether the table has the column."""
        return table in self.contents and column in self.contents[table].columns

    def number_columns(self, table: str) -> list[str]:
        """Return the names of the columns of integers and floats."""
        if table not in self.contents:
            return []
        return [name for name, kind in self.contents[table].schema.items() if kind.is_numeric()]

    def scan(
        self, table: str, *, texts: Sequence[str] = (), numbers: Sequence[str] = (), flags: Sequence[str] = ()
    ) -> pl.LazyFrame:
        """Return columns of a table for expressions; a column that the table lacks has no value in any row.

        Args:
            texts: columns as text, null as the empty text.
            numbers: columns as finite floats or null; a column of another type is null.
            flags: columns of truth values, or null.
        """
        frame = self.contents.get(table, pl.DataFrame())
        known = set(self.number_columns(table))
        columns = [
            pl.col(name).cast(pl.String).fill_null("") if name in frame.columns else pl.lit("").alias(name)
            for name in texts
        ]
        columns += [
            finite(pl.col(name).cast(pl.Float64)) if name in known else _nothing(name, pl.Float64)
            for name in numbers
        ]
        columns += [
            pl.col(name) if frame.schema.get(name) == pl.Boolean else _nothing(name, pl.Boolean)
            for name in flags
        ]
        # The row number keeps the height of a table that has none of the columns.
        return frame.lazy().with_row_index("row").select("row", *columns)


def finite(values: pl.Expr) -> pl.Expr:
    """Return the values of a column; null in place of NaN and infinities."""
    return pl.when(values.is_finite()).then(values)


def _nothing(name: str, kind: type[pl.DataType]) -> pl.Expr:
    return pl.lit(None, dtype=kind).alias(name)


def read_tables(folder: Path, *, name: str) -> TableSet:
    """Read what a report needs of a folder.

    Args:
        folder: has `tables/<table>/*.parquet` or `<table>/*.parquet`; wall-clock columns lie in the same
            files or in `measured/<table>/*.parquet` beside them.
        name: title of the page.
    Raises: ReportError: no such folder, or no Parquet file in it.
    """
    root = folder / "tables" if (folder / "tables").is_dir() else folder
    beside = root.parent if root.name == "tables" else root
    shards = {place.name: sorted(place.rglob("*.parquet")) for place in _folders(root)}
    shards = {table: paths for table, paths in shards.items() if paths and table != "measured"}
    if not shards:
        raise ReportError(
            f"a folder of tables must hold <table>/*.parquet, got none (in {root}); "
            "`simfoundry run` makes the project's own"
        )
    problems: list[str] = []
    contents = {table: _read_shards(table, paths, problems) for table, paths in shards.items()}
    for table in contents:
        measured = sorted((beside / "measured" / table).rglob("*.parquet"))
        if measured:
            contents[table] = _joined(table, contents[table], _read_shards(table, measured, problems))
    return TableSet(name=name, contents=contents, fingerprint=_fingerprint(shards), problems=tuple(problems))


def _folders(root: Path) -> list[Path]:
    return sorted(place for place in root.iterdir() if place.is_dir()) if root.is_dir() else []


def _read_shards(table: str, paths: Sequence[Path], problems: list[str]) -> pl.DataFrame:
    """Read all readable files of a table as one frame; a column that some of them lack is null there."""
    parts: list[pl.DataFrame] = []
    types: dict[str, pl.DataType] = {}
    for path in paths:
        try:
            part = _read_shard(table, path)
            for column, kind in part.schema.items():
                known = types.get(column, kind)
                if pl.Null not in (known, kind) and known != kind:
                    raise SchemaError(f"column {column} of type {kind}; accepted: {known}")
            types |= {column: kind for column, kind in part.schema.items() if kind != pl.Null}
            parts.append(part)
        except _UNREADABLE as error:
            said = " ".join(str(error.__cause__ or error).split())[:200]
            problems.append(f"a shard must be Parquet that fits the others, got {said} ({table}/{path.name})")
    return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()


def _read_shard(table: str, path: Path) -> pl.DataFrame:
    names: list[str] = pq.read_schema(path).names
    spec = TableSpec.registry.get(table)
    if spec is None or not spec.report:
        return to_frame(read_arrow(path, columns=[name for name in names if name not in LONG_COLUMNS]))
    chosen = [name for name in spec.report if name in names]
    return to_frame(read_arrow(path, columns=chosen, encoded=REPEATED_TEXTS))


def _joined(table: str, content: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Return the table with the wall-clock columns of the rows that have the same key."""
    spec = TableSpec.registry.get(table)
    keys = [
        key
        for key in (() if spec is None else spec.key)
        if key in content.columns and content.schema[key] == measured.schema.get(key)
    ]
    if not keys or not set(measured.columns) - set(content.columns):
        return content
    added = measured.select(*keys, *(name for name in measured.columns if name not in content.columns))
    added = added.unique(keys, keep="last")
    return content.join(added, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _fingerprint(shards: Mapping[str, Sequence[Path]]) -> str:
    digest = hashlib.sha256()
    for table, paths in shards.items():
        for path in paths:
            content = path.read_bytes()
            digest.update(f"{table}/{path.name} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:FINGERPRINT_DIGITS]
