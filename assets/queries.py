"""SQL over the tables: DuckDB in memory, one view a table, and nothing else within reach.

Belongs here: the views and the lock-down. Does not: how results are shown (cli).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from assets.errors import FoundryError
from pipelines.schemas import TableSpec

READ_ONLY_STATEMENTS = ("SELECT", "EXPLAIN")
_SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.list_(pa.string()): "VARCHAR[]",
    pa.list_(pa.int64()): "BIGINT[]",
    pa.list_(pa.float64()): "DOUBLE[]",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """Columns and rows of an answer, values as Python objects."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def run_query(data_dir: Path, query: str) -> QueryResult:
    """Answer one read-only SQL statement over the tables of a data folder.

    A table that has no file yet is an empty view with its declared columns. Wall-clock columns are
    joined from the files beside the tables.

    Args:   query: one SELECT, WITH, FROM, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN statement.
    Raises: FoundryError: not one read-only statement, not valid SQL, or it reads a damaged file.
    """
    with _connection(data_dir) as (connection, damaged):
        try:
            _require_read_only(connection.extract_statements(query))
            answer = connection.execute(query)
            columns = tuple(d[0] for d in answer.description or [])
            return QueryResult(columns=columns, rows=tuple(answer.fetchall()))
        except duckdb.Error as error:
            for table, problem in damaged.items():
                if re.search(rf"\b{table}\b", query):
                    raise FoundryError(problem) from error
            raise FoundryError(
                f"a query must be valid SQL over the tables, got: {error}; "
                f"tables: {', '.join(sorted(TableSpec.registry))}"
            ) from error


@contextmanager
def _connection(data_dir: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, dict[str, str]]]:
    """A connection with every view and no other reach, and what is wrong with damaged tables."""
    settings = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    connection = duckdb.connect(":memory:", config={**settings, "temp_directory": ""})
    try:
        rooms = [_literal(str(data_dir / room)) for room in ("tables", "measured")]
        connection.execute(f"SET allowed_directories = [{', '.join(rooms)}]")
        connection.execute("SET enable_external_access = false")
        damaged: dict[str, str] = {}
        for spec in TableSpec.registry.values():
            problem = _damage(data_dir, spec)
            if problem is None:
                connection.execute(_view(data_dir, spec))
            else:
                damaged[spec.name] = problem
        connection.execute("SET lock_configuration = true")
        yield connection, damaged
    finally:
        connection.close()


def _require_read_only(statements: list[Any]) -> None:
    kinds = [statement.type.name for statement in statements]
    if len(kinds) != 1 or kinds[0] not in READ_ONLY_STATEMENTS:
        raise FoundryError(
            "a query must be one read-only statement (SELECT, WITH, DESCRIBE, SHOW, SUMMARIZE or "
            f"EXPLAIN), got {', '.join(kinds) or 'nothing'}"
        )


def _damage(data_dir: Path, spec: TableSpec) -> str | None:
    """What is wrong with the first file of a table that cannot be read, if any."""
    for measured in (False, True):
        expected = spec.schema(measured=measured)
        for path in _files(data_dir, spec, measured=measured):
            try:
                found = pq.read_schema(path)
            except (pa.ArrowException, OSError) as error:
                return (
                    f"{path} must be a Parquet file, got a damaged one "
                    f"({str(error).splitlines()[0]}); {_remedy(spec)}"
                )
            if not found.equals(expected, check_metadata=False):
                return (
                    f"{path} must have the columns {', '.join(expected.names)}, got "
                    f"{', '.join(found.names)}; {_remedy(spec)}"
                )
    return None


def _remedy(spec: TableSpec) -> str:
    if spec.stage == "vendor":
        return "delete it and import its sources again"
    return f"`simfoundry stage {spec.stage}` rebuilds it"


def _view(data_dir: Path, spec: TableSpec) -> str:
    """The statement that makes the view of a table."""
    if not _files(data_dir, spec, measured=False):
        columns = (f"NULL::{_SQL_TYPES[c.arrow_type]} AS {_name(c.name)}" for c in spec.columns)
        return f"CREATE VIEW {spec.name} AS SELECT {', '.join(columns)} WHERE false"
    source = f"{_scan(data_dir, spec, measured=False)} AS t"
    beside = spec.has_measured and bool(_files(data_dir, spec, measured=True))
    if beside:
        keys = ", ".join(_name(k) for k in spec.key)
        source += f" LEFT JOIN {_scan(data_dir, spec, measured=True)} AS m USING ({keys})"
    columns = (_column(c.name, _SQL_TYPES[c.arrow_type], c.measured, beside) for c in spec.columns)
    return f"CREATE VIEW {spec.name} AS SELECT {', '.join(columns)} FROM {source}"  # noqa: S608


def _column(name: str, sql_type: str, measured: bool, beside: bool) -> str:
    if not measured:
        return f"t.{_name(name)}"
    return f"m.{_name(name)}" if beside else f"NULL::{sql_type} AS {_name(name)}"


def _scan(data_dir: Path, spec: TableSpec, *, measured: bool) -> str:
    paths = ", ".join(_literal(str(p)) for p in _files(data_dir, spec, measured=measured))
    return f"read_parquet([{paths}], hive_partitioning = false)"


def _files(data_dir: Path, spec: TableSpec, *, measured: bool) -> list[Path]:
    room = "measured" if measured else "tables"
    return sorted((data_dir / room / spec.name).glob("*.parquet"))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def as_records(result: QueryResult) -> list[Mapping[str, Any]]:
    """Rows as objects by column name, for JSON."""
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]
