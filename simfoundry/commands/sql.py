"""`simfoundry sql`: the tables in DuckDB, in memory, and the answer of a query as text.

There is a view per table, and the views over them that data/simfoundry.duckdb has (`assets.database`).

The connection has no access to files at all: the views read the tables through pyarrow, which DuckDB can only
scan. What a statement says is checked besides, for an early and clear refusal.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import duckdb
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq

from assets.database import QUESTIONS
from assets.deployments import SUITES_FOLDER, find_deployment
from assets.errors import FoundryError
from assets.shared_tables import open_catalogue
from assets.signals import interrupted_by_signals, was_signalled
from pipelines.base.sealing import StoreError
from pipelines.schemas import SchemaError, TableSpec, is_readable, unknown_table
from simfoundry.commands.aligned import aligned_lines

if TYPE_CHECKING:
    from assets.catalogue import Catalogue

ROW_LIMIT = 1_000_000
_LOCKED = {
    "memory_limit": "2GB",  # above the 0.5 GB that joins of the releases' largest tables take
    "enable_external_access": False,  # no files, no extensions, no other databases
    "python_enable_replacements": False,  # a name in a query is never a variable of this program
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "temp_directory": "",
    "lock_configuration": True,
}
_UNKNOWN_TABLE = re.compile(r"Table with name (\S+) does not exist")
_READ_FAILED = "reading the Arrow source failed"  # DuckDB's words for what pyarrow refuses to read
_PARQUET = pads.ParquetFileFormat(page_checksum_verification=True)
_READING_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_EXPLAIN = re.compile(r"\s*EXPLAIN\s*(ANALYZE\b|\(\s*(ANALYZE|FORMAT)\b[\w\s,]*\))?", re.IGNORECASE)
"""Words alone: no comment or string can begin in it, so DuckDB reads what follows as a statement too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """Columns and rows of an answer, values as Python objects."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class _Tables(Protocol):
    """Where the rows of tables are."""

    def rows(self, spec: TableSpec, *, measured: bool) -> pads.Dataset | pa.Table:
        """Return the rows of a table, or its wall-clock columns, unread."""
        ...

    def damage(self, spec: TableSpec, *, whole: bool = False) -> str | None:
        """Describe the first file of a table that cannot be read, if any.

        Args: whole: also read every page, in place of the schema alone.
        """
        ...


@dataclass(frozen=True, slots=True)
class _FolderTables:
    """The files of a data folder."""

    data_dir: Path

    def rows(self, spec: TableSpec, *, measured: bool) -> pads.Dataset | pa.Table:
        files = [str(path) for path in _files(self.data_dir, spec, measured=measured)]
        schema = spec.schema(measured=measured)
        return pads.dataset(files, schema, _PARQUET) if files else schema.empty_table()

    def damage(self, spec: TableSpec, *, whole: bool = False) -> str | None:
        return _damage(self.data_dir, spec, whole=whole)


@dataclass(frozen=True, slots=True)
class _SharedTables:
    """The present files of a catalogue, read where they are; the data folder may be empty."""

    catalogue: Catalogue

    def rows(self, spec: TableSpec, *, measured: bool) -> pads.Dataset | pa.Table:
        dataset = self.catalogue.dataset(spec, measured=measured)
        return spec.schema(measured=measured).empty_table() if dataset is None else dataset

    def damage(self, spec: TableSpec, *, whole: bool = False) -> str | None:
        """Describe the first object whose content does not have its hash."""
        for measured in (False, True) if whole else ():
            state = self.catalogue.state(spec.name, measured=measured)
            for shard, url in state.files.items():
                try:
                    self.catalogue.fetch(url, state.shards[shard])
                except (SchemaError, StoreError) as error:
                    return str(error)
        return None


def run_query(data_dir: Path, query: str, catalogue: Catalogue | None = None) -> QueryResult:
    """Answer one read-only SQL statement over the tables of a catalogue, or of a data folder without one.

    A table that has no file yet is an empty view with its declared columns. Wall-clock columns are
    joined from the files beside the tables.

    Args:   query: one SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW or SUMMARIZE, or EXPLAIN of one.
    Raises: FoundryError: not one read-only statement, not valid SQL, two columns of one name, more than
            `ROW_LIMIT` rows, or a damaged file is read.
    """
    tables = _FolderTables(data_dir) if catalogue is None else _SharedTables(catalogue)
    with (
        _connection(tables, is_timeless=_is_timeless(query)) as (connection, damaged),
        interrupted_by_signals(connection.interrupt),
    ):
        try:
            answer = connection.execute(_reading_statement(connection, query))
            columns = tuple(d[0] for d in answer.description or [])
            _require_distinct(columns)
            rows = answer.fetchmany(ROW_LIMIT + 1)
            if len(rows) > ROW_LIMIT:
                raise FoundryError(f"an answer of more than {ROW_LIMIT} rows; use LIMIT or aggregates")
            return QueryResult(columns=columns, rows=tuple(rows))
        except (duckdb.InterruptException, RuntimeError):  # DuckDB's when it meets the signal itself
            if was_signalled():
                raise KeyboardInterrupt from None
            raise
        except duckdb.Error as error:
            for spec in _named(query):
                problem = damaged.get(spec.name)
                if problem is None and _READ_FAILED in str(error):
                    problem = tables.damage(spec, whole=True)
                if problem is not None:
                    raise FoundryError(problem) from error
            unknown = _UNKNOWN_TABLE.search(str(error))
            if unknown is not None:
                raise FoundryError(unknown_table(unknown[1], {*TableSpec.registry, *QUESTIONS})) from error
            raise FoundryError(
                f"a query must be valid SQL over the tables, got: {error}; SHOW TABLES lists them"
            ) from error


def _require_distinct(columns: Sequence[str]) -> None:
    repeated = next((name for name, count in Counter(columns).items() if count > 1), None)
    if repeated is not None:
        raise FoundryError(
            f"two columns of the answer are called {repeated}; accepted: a name for each, by AS"
        )


def _named(query: str) -> list[TableSpec]:
    """Return the tables that a query names, itself or by a view over them."""
    words = set(re.findall(r"\w+", query))
    words |= {table for view in words & set(QUESTIONS) for table in QUESTIONS[view][0]}
    return [spec for name, spec in TableSpec.registry.items() if name in words]


@contextmanager
def _connection(
    tables: _Tables, *, is_timeless: bool = False
) -> Iterator[tuple[duckdb.DuckDBPyConnection, dict[str, str]]]:
    """Open a connection with every view and no other access; yield it and the problems of damaged tables."""
    connection = duckdb.connect(":memory:", config=_LOCKED)
    try:
        damaged: dict[str, str] = {}
        for spec in TableSpec.registry.values():
            problem = tables.damage(spec)
            if problem is None:
                _create_view(connection, tables, spec, is_timeless=is_timeless)
            else:
                damaged[spec.name] = problem
        for name, (needed, _, sql) in QUESTIONS.items():
            if not damaged.keys() & set(needed):
                connection.execute(f'CREATE VIEW "{name}" AS {sql}')
        yield connection, damaged
    finally:
        connection.close()


def _reading_statement(connection: duckdb.DuckDBPyConnection, query: str) -> duckdb.Statement:
    """Return the one statement of a query, which only reads.

    DuckDB's parser names the kind of a statement. Of an EXPLAIN it does not name what is explained, and a
    common table expression may write: the rest of the text, and the nodes of the parsed statement, tell.
    """
    try:
        query.encode()
    except UnicodeEncodeError as error:  # the shell's bytes are another encoding
        raise FoundryError(f"not UTF-8: character {error.start + 1} of the query") from error
    statements = connection.extract_statements(query)
    kinds = _kinds(statements)
    prefix, body = "", query
    if kinds == ["EXPLAIN"]:
        match = _EXPLAIN.match(query)
        prefix, body = "EXPLAIN ", query[match.end() :] if match else ""
        kinds = _kinds(connection.extract_statements(body))
    if kinds != ["SELECT"]:
        raise _not_reading(prefix + (", ".join(kinds) or "no statement"))
    [(parsed,)] = connection.execute("SELECT json_serialize_sql(?)", [body]).fetchall()
    # quotes inside texts are escaped there: what a query says cannot look like a key
    nodes = set(re.findall(r'"type":"(\w+_NODE)"', parsed))
    if not nodes or nodes - _READING_NODES:
        writing = sorted(node.removesuffix("_QUERY_NODE") for node in nodes - _READING_NODES)
        raise _not_reading(f"{prefix}SELECT with {', '.join(writing)}")
    return statements[0]


def _kinds(statements: list[duckdb.Statement]) -> list[str]:
    """Return the kinds of statements: UNKNOWN where DuckDB has no Python name, UPDATE EXTENSIONS for one."""
    names: list[str] = []
    for statement in statements:
        try:
            names.append(statement.type.name)
        except ValueError:
            names.append("UNKNOWN")
    return names


def _not_reading(kind: str) -> FoundryError:
    return FoundryError(
        f"not one read-only statement: {kind}; "
        "accepted: SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW, SUMMARIZE, and EXPLAIN of these"
    )


def _damage(data_dir: Path, spec: TableSpec, *, whole: bool = False) -> str | None:
    """Describe the first file of a table that cannot be read, if any.

    Args: whole: also read every page, in place of the schema alone.
    """
    for measured in (False, True):
        expected = spec.schema(measured=measured)
        for path in _files(data_dir, spec, measured=measured):
            try:
                schema = pq.read_schema(path)
                if whole:
                    pq.read_table(path, partitioning=None, page_checksum_verification=True)
            except (pa.ArrowException, OSError) as error:
                return (
                    f"{path} must be a Parquet file, got a damaged one "
                    f"({str(error).splitlines()[0]}); {_remedy(spec)}"
                )
            if not is_readable(schema, expected):
                return (
                    f"{path} must have the columns {', '.join(expected.names)}, got "
                    f"{', '.join(schema.names)}; {_remedy(spec)}"
                )
    return None


def _remedy(spec: TableSpec) -> str:
    if spec.stage == "vendor":
        return "delete it and import its sources again"
    return f"`simfoundry stage {spec.stage}` rebuilds it"


def _is_timeless(query: str) -> bool:
    """Tell whether a query seems to ask for no wall-clock column; a wrong guess costs only time."""
    plain = re.sub(r"count\s*\(\s*\*\s*\)", "", query, flags=re.IGNORECASE)
    words = set(re.findall(r"\w+", plain.lower()))
    measured = {c.name for spec in TableSpec.registry.values() for c in spec.columns if c.measured}
    return "*" not in plain and "select" in words and not words & measured


def _create_view(
    connection: duckdb.DuckDBPyConnection, tables: _Tables, spec: TableSpec, *, is_timeless: bool
) -> None:
    """Create the view of a table; its columns are read when a query needs them.

    Args: is_timeless: wall-clock columns are grouped by their key. So DuckDB sees that the key is unique, and
          a query that asks for none of them reads none and joins nothing; one that does takes more memory.
    """
    rows = connection.from_arrow(tables.rows(spec, measured=False)).set_alias("t")
    if spec.has_measured:
        beside = connection.from_arrow(tables.rows(spec, measured=True))
        if is_timeless:
            keys = ", ".join(f'"{key}"' for key in spec.key)
            values = ", ".join(f'any_value("{c.name}") AS "{c.name}"' for c in spec.columns if c.measured)
            beside = beside.aggregate(f"{keys}, {values}", keys)
        beside = beside.set_alias("m")
        same_key = " AND ".join(f't."{key}" = m."{key}"' for key in spec.key)
        columns = (f'{"m" if c.measured else "t"}."{c.name}"' for c in spec.columns)
        rows = rows.join(beside, same_key, how="left").select(", ".join(columns))
    rows.create_view(spec.name)


def _files(data_dir: Path, spec: TableSpec, *, measured: bool) -> list[Path]:
    room = "measured" if measured else "tables"
    return sorted((data_dir / room / spec.name).glob("*.parquet"))


def as_records(result: QueryResult) -> list[Mapping[str, Any]]:
    """Return the rows as objects by column name, for JSON."""
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


WIDTH_LIMIT = 80


def answer_query(query: str, *, as_json: bool, suite: str | None = None) -> str:
    """Answer a query as an aligned table, or as a JSON list of objects.

    Args:   suite: of the user's own, whose tables are read instead of the project's.
    Raises: FoundryError: not one read-only statement, not valid SQL, it reads a damaged file, or no suite.
    """
    deployment = find_deployment() if suite is None else find_deployment().of_suite(suite)
    if suite is not None and not deployment.data_dir.is_dir():
        raise FoundryError(f"no suite {suite}: {deployment.data_dir}; accepted: {_suites()}")
    result = run_query(deployment.data_dir, query, open_catalogue(deployment))
    if as_json:
        return json.dumps(_finite(as_records(result)), indent=2, default=str, allow_nan=False)
    lines = aligned_lines([list(result.columns), *[[_shown(v) for v in row] for row in result.rows]])
    return "\n".join([*lines, f"{len(result.rows)} rows"])


def _suites() -> str:
    folder = find_deployment().data_dir / SUITES_FOLDER
    return ", ".join(sorted(path.name for path in folder.glob("[!.]*") if path.is_dir())) or "none yet"


def _finite(value: Any) -> Any:
    """Return a value with null in place of NaN and infinities, which JSON has not."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast("dict[str, Any]", value).items()}
    return [_finite(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def _shown(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.6g}"
    text = " ".join(str(value).split())
    return text if len(text) <= WIDTH_LIMIT else text[: WIDTH_LIMIT - 1] + "…"
