"""`data/simfoundry.duckdb`: views over the tables for any DuckDB shell, with comments and usual questions.

The views read the Parquet files by absolute paths. The file is written beside its place and renamed, so that
a shell that has the former one open is never locked out and sees it whole.
"""
# Statements are put together from names of tables and columns, which are declared in this project.
# ruff: noqa: S608

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb
import pyarrow as pa

from pipelines.schemas import OK, ColumnSpec, TableSpec
from pipelines.schemas.timing import TIMED, timing_sql, timing_view

DATABASE_FILE = "simfoundry.duckdb"
STORAGE_VERSION = "v1.4.0"
"""Released shells open it; they refuse files of DuckDB 2.0."""
_TYPES: Mapping[str, str] = {
    "string": "VARCHAR",
    "int64": "BIGINT",
    "double": "DOUBLE",
    "bool": "BOOLEAN",
}
_SETTINGS = {"memory_limit": "1GB", "threads": 1, "autoinstall_known_extensions": False}


def write_database(data_dir: Path) -> list[str]:
    """Write the database of a data folder anew.

    Returns: one line per table that cannot be read; it and the views that need it are left out. One line
             where the file itself cannot be written; the former one stays.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        return _write(data_dir)
    except (duckdb.Error, OSError) as error:  # a full disk ends the transaction, too
        return [f"{DATABASE_FILE} was not written: {' '.join(str(error).split())}"]


def _write(data_dir: Path) -> list[str]:
    with tempfile.TemporaryDirectory(dir=data_dir, prefix=".database-") as folder:
        scratch = Path(folder) / DATABASE_FILE
        with duckdb.connect(":memory:", config=dict(_SETTINGS)) as connection:
            options = f"STORAGE_VERSION {_text(STORAGE_VERSION)}"
            connection.execute(f"ATTACH {_text(str(scratch))} AS simfoundry ({options})")
            connection.execute("USE simfoundry")
            problems = [*_create_views(connection, data_dir.resolve())]
            connection.execute("USE memory")
            connection.execute("DETACH simfoundry")
        scratch.replace(data_dir / DATABASE_FILE)
    return problems


def _create_views(connection: duckdb.DuckDBPyConnection, data_dir: Path) -> Iterator[str]:
    made: set[str] = set()
    for spec in TableSpec.registry.values():
        try:
            connection.execute(f"CREATE VIEW {_name(spec.name)} AS {_table_sql(data_dir, spec)}")
        except duckdb.Error as error:
            yield f"{spec.name} is not in {DATABASE_FILE}: {' '.join(str(error).split())}"
            continue
        made.add(spec.name)
        _comment(connection, spec.name, spec.description, {c.name: _meaning(c) for c in spec.columns})
    for name, (needed, comment, sql) in QUESTIONS.items():
        if made.issuperset(needed):
            connection.execute(f"CREATE VIEW {_name(name)} AS {sql}")
            _comment(connection, name, comment, {})


def _table_sql(data_dir: Path, spec: TableSpec) -> str:
    """Return all columns of a table; wall-clock columns come from the files beside it."""
    keys = ", ".join(_name(key) for key in spec.key)
    columns = ", ".join(_name(column.name) for column in spec.columns)
    content = _files_sql(data_dir, spec, measured=False)
    if not spec.has_measured:
        return f"SELECT {columns} FROM ({content})"
    beside = _files_sql(data_dir, spec, measured=True)
    return f"SELECT {columns} FROM ({content}) LEFT JOIN ({beside}) USING ({keys})"


def _files_sql(data_dir: Path, spec: TableSpec, *, measured: bool) -> str:
    """Return the rows of the files of a table; columns that an older file lacks are null."""
    fields = [(field.name, _sql_type(field.type)) for field in spec.schema(measured=measured)]
    typed = ", ".join(f"NULL::{kind} AS {_name(name)}" for name, kind in fields)
    empty = f"SELECT {typed} WHERE false"
    folder = data_dir / ("measured" if measured else "tables") / spec.name
    if not any(folder.glob("*.parquet")):
        return empty
    pattern = _text(f"{_literal(str(folder))}/*.parquet")
    return f"{empty} UNION ALL BY NAME SELECT * FROM read_parquet({pattern}, union_by_name = true)"


def _sql_type(kind: pa.DataType) -> str:
    return f"{_sql_type(kind.value_type)}[]" if pa.types.is_list(kind) else _TYPES[str(kind)]


def _literal(path: str) -> str:
    """Return a path whose brackets and stars name themselves in a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def _meaning(column: ColumnSpec) -> str:
    return column.description + (f" Unit: {column.unit}." if column.unit else "")


def _comment(
    connection: duckdb.DuckDBPyConnection, view: str, meaning: str, columns: Mapping[str, str]
) -> None:
    connection.execute("BEGIN")  # one write to the disk, not one a column
    connection.execute(f"COMMENT ON VIEW {_name(view)} IS {_text(meaning)}")
    for name, text in columns.items():
        connection.execute(f"COMMENT ON COLUMN {_name(view)}.{_name(name)} IS {_text(text)}")
    connection.execute("COMMIT")


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


# ---- usual questions -------------------------------------------------------------------------------


def _failures() -> tuple[tuple[str, ...], str]:
    tables = tuple(
        spec.name
        for spec in TableSpec.registry.values()
        if {"status", "reason"} <= {column.name for column in spec.columns}
    )
    parts = (
        f"SELECT {_text(table)} AS table_name, status, reason, count(*) AS row_count "
        f"FROM {_name(table)} WHERE status <> {_text(OK)} GROUP BY ALL"
        for table in tables
    )
    return tables, " UNION ALL ".join(parts) + " ORDER BY row_count DESC, table_name, status, reason"


def _costs() -> tuple[tuple[str, ...], str]:
    tables = ("designs", "labels", "runs")
    parts = (
        f"SELECT {_text(spec.name)} AS table_name, {_text(column.name)} AS step, suite, "
        f"{_name(column.name)} AS seconds FROM {_name(spec.name)}"
        for spec in map(TableSpec.registry.__getitem__, tables)
        for column in spec.columns
        if column.measured and column.name.endswith("_wall_s")
    )
    return tables, (
        "SELECT table_name, step, suite, count(seconds) AS row_count, median(seconds) AS median_s, "
        f"sum(seconds) AS total_s FROM ({' UNION ALL '.join(parts)}) GROUP BY ALL "
        "HAVING count(seconds) > 0 ORDER BY total_s DESC"
    )


def _questions() -> Iterator[tuple[str, tuple[tuple[str, ...], str, str]]]:
    yield (
        "designs_wide",
        (
            ("programs", "designs", "labels", "runs"),
            "One row per program, design, label and run that belong together.",
            "SELECT p.name, p.stage, p.size, d.* EXCLUDE (status, reason), d.status AS design_status, "
            "l.* EXCLUDE (design_id, suite, status, reason, tool, tool_version), l.tool AS synthesis_tool, "
            f"l.status AS label_status, {timing_sql('d.clock_period_ns', 'l.delay_ns')}, "
            "r.* EXCLUDE (design_id, suite, status, reason), "
            "r.status AS run_status, coalesce(d.reason, l.reason, r.reason) AS reason "
            "FROM programs p JOIN designs d USING (program_id) LEFT JOIN labels l USING (design_id) "
            "LEFT JOIN runs r USING (design_id)",
        ),
    )
    yield (
        "timing",
        (
            ("designs", *TIMED),
            "Longest paths against clock periods, one row per label: slack, and whether the clock is met.",
            timing_view(),
        ),
    )
    tables, sql = _failures()
    yield "failures", (tables, "Failed rows of every table by status and reason.", sql)
    yield (
        "leaderboard_best",
        (
            ("leaderboard",),
            "The predictor with the least test error (MAPE) of each target and split.",
            "SELECT target, split, arg_min(predictor, value) AS predictor, min(value) AS test_mape, "
            "arg_min(interval_low, value) AS interval_low, arg_min(interval_high, value) AS interval_high "
            "FROM leaderboard WHERE part = 'test' AND metric = 'mape' GROUP BY ALL ORDER BY ALL",
        ),
    )
    tables, sql = _costs()
    yield "cost_of_a_label", (tables, "Seconds per step and suite, of one core.", sql)


QUESTIONS: Mapping[str, tuple[tuple[str, ...], str, str]] = dict(_questions())
"""By view: the tables that it needs, what it shows, its statement."""
