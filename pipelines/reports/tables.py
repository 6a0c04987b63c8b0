"""Tables of any folder `<table>/*.parquet`: the project's own, or a release."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.reports.errors import ReportError
from pipelines.schemas import TableSpec

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

COUNTED_TABLES: Mapping[str, tuple[str, ...]] = {
    "cdfg_nodes": ("suite", "design_id"),
    "cdfg_edges": ("suite", "design_id"),
    "network_flows": ("run_id", "delay_mean_ns", "rtt_mean_ns", "entropy_ns", "tree_ns"),
    "network_hops": ("run_id", "queue", "queue_type", "utilisation"),
}
"""Tables of many rows of which only these columns are read."""

REPEATED_TEXTS: Mapping[str, tuple[str, ...]] = {
    "network_flows": ("run_id",),
    "network_hops": ("run_id", "queue_type"),
}
"""Columns of few texts in many rows, held as numbers of these texts."""

FINGERPRINT_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSet:
    """The tables of one folder.

    Attributes:
        name: what the page calls them.
        contents: table by name; wall-clock columns joined to the rows they belong to.
        fingerprint: digits of the hash of all table files, wall-clock times left out.
        problems: a line for each file that cannot be read; it is left out.
    """

    name: str
    contents: Mapping[str, pa.Table]
    fingerprint: str
    problems: tuple[str, ...]

    def row_count(self, table: str) -> int:
        """Rows of a table; 0 when it is not there."""
        return int(self.contents[table].num_rows) if table in self.contents else 0

    def has_column(self, table: str, column: str) -> bool:
        """Whether some row of the table can have a value in the column."""
        return table in self.contents and column in self.contents[table].column_names

    def values(self, table: str, column: str) -> list[Any]:
        """Values of a column as Python objects; None in each row when there is no such column."""
        if self.has_column(table, column):
            return list(self.contents[table].column(column).to_pylist())
        return [None] * self.row_count(table)

    def texts(self, table: str, column: str) -> list[str]:
        """Values of a column as text, null as the empty one."""
        return ["" if value is None else str(value) for value in self.values(table, column)]

    def numbers(self, table: str, column: str) -> FloatArray:
        """Values of a column as floats, shape (rows,); NaN where there is none or it is no number."""
        if column not in self.number_columns(table):
            return np.full(self.row_count(table), np.nan)
        values = self.contents[table].column(column).cast(pa.float64(), safe=False)
        return np.array(values.to_numpy(), dtype=np.float64)

    def text_by(self, table: str, key: str, column: str) -> dict[str, str]:
        """Texts of a column by the text of a key column."""
        return dict(zip(self.texts(table, key), self.texts(table, column), strict=True))

    def number_columns(self, table: str) -> list[str]:
        """Names of the columns of integers and floats."""
        if table not in self.contents:
            return []
        return [f.name for f in self.contents[table].schema if _is_number(f.type)]


def read_tables(folder: Path, *, name: str) -> TableSet:
    """Read what a report needs of a folder.

    Args:
        folder: has `tables/<table>/*.parquet` or `<table>/*.parquet`; wall-clock columns lie in the same
            files or in `measured/<table>/*.parquet` beside them.
        name: what the page calls it.
    Raises: ReportError: no folder, or no Parquet file where one is looked for.
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


def _read_shards(table: str, paths: Sequence[Path], problems: list[str]) -> pa.Table:
    """All readable files of a table as one; a column that some of them lack is null there."""
    parts: list[Any] = []
    schema = pa.schema([])
    for path in paths:
        try:
            wanted, repeated = _wanted(table, path), list(REPEATED_TEXTS.get(table, ()))
            part = pq.read_table(
                path,
                columns=wanted,
                read_dictionary=repeated,
                partitioning=None,
                page_checksum_verification=True,
            )
            schema = pa.unify_schemas([schema, part.schema.remove_metadata()])
            parts.append(part)
        except (pa.ArrowException, OSError) as error:
            said = " ".join(str(error).split())[:200]
            problems.append(f"a shard must be Parquet that fits the others, got {said} ({table}/{path.name})")
    return pa.concat_tables(parts, promote_options="default") if parts else pa.table({})


def _wanted(table: str, path: Path) -> list[str]:
    names: list[str] = pq.read_schema(path).names
    if table in COUNTED_TABLES:
        return [name for name in COUNTED_TABLES[table] if name in names]
    return [name for name in names if name not in LONG_COLUMNS]


def _joined(table: str, content: pa.Table, measured: pa.Table) -> pa.Table:
    """The table with the wall-clock columns of the rows that have the same key."""
    spec = TableSpec.registry.get(table)
    known = () if spec is None else spec.key
    keys = [k for k in known if k in content.column_names and k in measured.column_names]
    added = [name for name in measured.column_names if name not in content.column_names]
    if not keys or not added:
        return content
    places = {key: index for index, key in enumerate(_rows(measured, keys))}
    order = pa.array([places.get(key) for key in _rows(content, keys)], type=pa.int64())
    for name in added:
        content = content.append_column(name, measured.column(name).take(order))
    return content


def _rows(content: pa.Table, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(content.column(name).to_pylist() for name in names), strict=True)


def _fingerprint(shards: Mapping[str, Sequence[Path]]) -> str:
    digest = hashlib.sha256()
    for table, paths in shards.items():
        for path in paths:
            content = path.read_bytes()
            digest.update(f"{table}/{path.name} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:FINGERPRINT_DIGITS]


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
