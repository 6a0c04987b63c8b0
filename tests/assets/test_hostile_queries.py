"""Statements that would write, or read elsewhere, through `simfoundry sql`; and those that are answered."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import Result
from invoking import invoke

from assets.settings import Settings, ignore_progress
from assets.steps import step_named
from pipelines.schemas import table_path, table_spec
from simfoundry.commands import sql as queries

NOT_READING = {
    # through EXPLAIN
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{table}' (FORMAT parquet)": "EXPLAIN COPY",
    "EXPLAIN COPY (SELECT 1) TO '{table}' (FORMAT parquet)": "EXPLAIN COPY",
    "explain analyze copy labels to '{table}'": "EXPLAIN COPY",
    "EXPLAIN (ANALYZE) COPY (SELECT 1) TO '{table}' (FORMAT parquet)": "EXPLAIN COPY",
    "EXPLAIN (ANALYZE, FORMAT json) COPY (SELECT 1) TO '{table}' (FORMAT parquet)": "EXPLAIN COPY",
    "/* a */ EXPLAIN ANALYZE COPY (SELECT 1) TO '{table}' (FORMAT parquet)": "EXPLAIN no statement",
    "EXPLAIN ANALYZE -- SELECT 1\nCOPY (SELECT 1) TO '{table}' (FORMAT parquet)": "EXPLAIN COPY",
    "EXPLAIN ANALYZE\n\t COPY (SELECT 1) TO '{new}' (FORMAT csv)": "EXPLAIN COPY",
    "EXPLAIN ANALYZE COPY (FROM labels) TO '{folder}' (FORMAT parquet, PARTITION_BY (suite))": "EXPLAIN COPY",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{outside}'": "EXPLAIN COPY",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO 'relative.csv'": "EXPLAIN COPY",
    "EXPLAIN ANALYZE COPY labels FROM '{table}'": "EXPLAIN COPY",
    "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1": "EXPLAIN CREATE",
    "EXPLAIN ANALYZE INSERT INTO labels SELECT * FROM labels": "EXPLAIN INSERT",
    "EXPLAIN ANALYZE DELETE FROM labels": "EXPLAIN DELETE",
    "EXPLAIN ANALYZE UPDATE labels SET status = 'ok'": "EXPLAIN UPDATE",
    "EXPLAIN ANALYZE DROP VIEW labels": "EXPLAIN DROP",
    "EXPLAIN ANALYZE WITH t AS (COPY (SELECT 1) TO '{table}' (FORMAT parquet)) FROM t": (
        "EXPLAIN SELECT with COPY"
    ),
    # through WITH
    "WITH t AS (COPY (SELECT 1) TO '{table}' (FORMAT parquet)) FROM t": "SELECT with COPY",
    "WITH t AS (COPY (SELECT 1) TO '{new}') SELECT 1": "SELECT with COPY",
    "WITH a AS (SELECT 1), b AS MATERIALIZED (COPY a TO '{table}') FROM a, b": "SELECT with COPY",
    "WITH t AS (INSERT INTO labels SELECT * FROM labels RETURNING *) FROM t": "SELECT with INSERT",
    "WITH t AS (UPDATE labels SET status = 'ok' RETURNING *) FROM t": "SELECT with UPDATE",
    "WITH t AS (DELETE FROM labels RETURNING *) FROM t": "SELECT with DELETE",
    "SELECT (WITH t AS (COPY (SELECT 1) TO '{table}') SELECT count(*) FROM t)": "SELECT with COPY",
    # plain
    "COPY (SELECT 1) TO '{table}' (FORMAT parquet)": "COPY",
    "COPY labels TO '{new}' (FORMAT json)": "COPY",
    "COPY labels FROM '{table}'": "COPY",
    "COPY FROM DATABASE memory TO other": "PRAGMA",
    "EXPORT DATABASE '{folder}'": "EXPORT",
    "IMPORT DATABASE '{folder}'": "PRAGMA",
    "ATTACH '{new}' AS other": "ATTACH",
    "ATTACH '{outside}' AS other (READ_ONLY)": "ATTACH",
    "ATTACH ':memory:' AS other": "ATTACH",
    "DETACH memory": "DETACH",
    "USE memory": "SET",
    "INSTALL httpfs": "LOAD",
    "LOAD httpfs": "LOAD",
    "LOAD '{outside}'": "LOAD",
    "UPDATE EXTENSIONS": "UNKNOWN",
    "PRAGMA database_list": "PRAGMA",
    "PRAGMA enable_profiling": "PRAGMA",
    "PRAGMA profiling_output = '{new}'": "SET",
    "SET enable_external_access = true": "SET",
    "SET lock_configuration = false": "SET",
    "SET allowed_directories = ['{folder}']": "SET",
    "SET GLOBAL temp_directory = '{folder}'": "SET",
    "RESET lock_configuration": "SET",
    "CALL enable_logging('QueryLog', storage = 'file', storage_path = '{folder}')": "CALL",
    "CALL force_checkpoint()": "CALL",
    "CHECKPOINT": "CALL",
    "VACUUM": "VACUUM",
    "CREATE TABLE t AS FROM labels": "CREATE",
    "CREATE OR REPLACE VIEW labels AS SELECT 1": "CREATE",
    "CREATE MACRO f(x) AS x": "CREATE",
    "CREATE PERSISTENT SECRET s (TYPE s3)": "CREATE",
    "ALTER VIEW labels RENAME TO other": "ALTER",
    "DROP VIEW labels": "DROP",
    "INSERT INTO labels SELECT * FROM labels": "INSERT",
    "UPDATE labels SET status = 'ok'": "UPDATE",
    "DELETE FROM labels": "DELETE",
    "TRUNCATE labels": "DELETE",
    "MERGE INTO labels USING runs USING (design_id) WHEN MATCHED THEN DELETE": "MERGE_INTO",
    "BEGIN": "TRANSACTION",
    "PREPARE p AS COPY (SELECT 1) TO '{table}'": "PREPARE",
    "EXECUTE p": "EXECUTE",
    "SELECT 1; COPY (SELECT 1) TO '{table}'": "SELECT, COPY",
    "EXPLAIN SELECT 1; COPY (SELECT 1) TO '{table}'": "EXPLAIN, COPY",
    "": "no statement",
    " -- nothing": "no statement",
}
"""Statements with the kind that the message names."""

READING_ELSEWHERE = (
    "FROM read_text('{outside}')",
    "FROM read_blob('{outside}')",
    "FROM read_csv('{outside}')",
    "FROM read_json('{outside}')",
    "FROM read_parquet('{table}')",
    "FROM parquet_metadata('{table}')",
    "FROM parquet_schema('{table}')",
    "FROM parquet_kv_metadata('{table}')",
    "FROM read_duckdb('{outside}')",
    "FROM sniff_csv('{outside}')",
    "FROM glob('{folder}/*')",
    "FROM '{outside}'",
    "FROM '{table}'",
    "FROM read_csv('https://example.com/x.csv')",
    "SELECT (SELECT content FROM read_text('{outside}'))",
    "EXPLAIN ANALYZE FROM read_text('{outside}')",
    "FROM query('FROM read_text(''{outside}'')')",
    "FROM query('WITH t AS (COPY (SELECT 1) TO ''{table}'') FROM t')",
    "FROM query_table('{outside}')",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''{outside}'')'))",
    "FROM json_execute_serialized_sql(json_serialize_sql("
    "'WITH t AS (COPY (SELECT 1) TO ''{table}'') FROM t'))",
    "FROM enable_logging('QueryLog', storage = 'file', storage_path = '{folder}')",
    "FROM enable_profiling(save_location = '{new}')",
    "FROM arrow_scan(1, 2, 3)",
    "FROM pandas_scan(1)",
    "FROM python_arrow_scan(1)",
    "FROM data_dir",
    "FROM damaged",
    "SELECT getenv('HOME')",
    "EXPLAIN /* SELECT 1; */ ANALYZE COPY (SELECT 1) TO '{table}' (FORMAT parquet)",
    "EXPLAIN (SELECT 1) COPY (SELECT 1) TO '{table}'",
    "EXPLAIN (FORMAT json /* ) SELECT 1 -- */, ANALYZE) COPY (SELECT 1) TO '{table}'",
)
"""Statements of a reading kind, or none, that DuckDB refuses."""

ANSWERED = (
    "SHOW TABLES",
    "SHOW ALL TABLES",
    "DESCRIBE labels",
    "DESCRIBE SELECT 1",
    "SUMMARIZE labels",
    "EXPLAIN SELECT * FROM labels",
    "EXPLAIN FROM labels",
    "explain analyze select * from labels",
    "EXPLAIN ANALYZE WITH t AS (FROM labels) FROM t",
    "EXPLAIN (ANALYZE, FORMAT json) SELECT * FROM labels",
    "EXPLAIN (FORMAT json) (SELECT 1)",
    "EXPLAIN (SELECT 1)",
    "EXPLAIN DESCRIBE labels",
    "WITH t AS (SELECT * FROM labels) SELECT count(*) FROM t",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 5) FROM t",
    "WITH t AS MATERIALIZED (SELECT 1) FROM t",
    "FROM labels LIMIT 1",
    "FROM labels SELECT status",
    "TABLE labels",
    "VALUES (1), (2)",
    "SELECT 1 UNION ALL SELECT 2",
    'SELECT \'COPY "type":"COPY_QUERY_NODE"\' AS text;',
    "PIVOT labels ON status IN ('ok') USING count(*)",
    "SELECT * FROM range(3)",
    "SELECT unnest([1, 2])",
    "SELECT COLUMNS('.*area.*') FROM labels",
    "SELECT count(*) FROM information_schema.tables",
    f"SELECT {' + '.join('1' * 600)}",
)


@pytest.fixture
def project_data(settings: Settings, engines: Any) -> Path:
    for name in ("programs", "designs", "labels"):
        step_named(name).make(settings, "stencil", ignore_progress)
    (settings.deployment.project / "outside.csv").write_text("a,b\n1,2\n")
    return settings.deployment.data_dir


def _filled(statement: str, data_dir: Path) -> str:
    """A statement with the paths of a project, which have a quote."""
    table = table_path(data_dir, table_spec("labels"), "stencil")
    places = {"table": table, "new": table.with_name("new.parquet"), "folder": table.parent}
    for name, path in (places | {"outside": data_dir.parent / "outside.csv"}).items():
        statement = statement.replace("{" + name + "}", str(path).replace("'", "''"))
    return statement


def _snapshot(data_dir: Path) -> dict[Path, bytes | None]:
    """Every file and folder of the project, and what the files hold."""
    return {p: p.read_bytes() if p.is_file() else None for p in sorted(data_dir.parent.rglob("*"))}


@pytest.fixture(params=[pytest.param(4, id="quarter"), pytest.param(1, id="all", marks=pytest.mark.slow)])
def every(request: pytest.FixtureRequest) -> int:
    """Every how-many-th statement is asked."""
    return request.param


def _ask(statement: str) -> Result:
    return invoke("sql", "--", statement)


def test_sql_refuses_statements_that_do_not_only_read(
    project_data: Path, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project_data.parent)
    before = _snapshot(project_data)
    for statement, kind in list(NOT_READING.items())[::every]:
        result = _ask(_filled(statement, project_data))
        assert result.stderr == (
            f"simfoundry: not one read-only statement: {kind}; accepted: SELECT, WITH, FROM, VALUES, "
            "DESCRIBE, SHOW, SUMMARIZE, and EXPLAIN of these\n"
        ), statement
        assert (result.exit_code, result.stdout) == (1, "")
        assert _snapshot(project_data) == before, statement


def test_sql_refuses_to_read_anything_but_the_tables(
    project_data: Path, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project_data.parent)
    before = _snapshot(project_data)
    for statement in READING_ELSEWHERE[::every]:
        result = _ask(_filled(statement, project_data))
        assert re.fullmatch(
            r"simfoundry: (a query must be valid SQL over the tables, got: (Permission|Catalog|Binder|Parser"
            r"|Invalid Input) Error: .*; SHOW TABLES lists them|unknown table: .*; nearest: \w+, \w+, \w+)\n",
            result.stderr,
        ), (statement, result.stderr)
        assert (result.exit_code, result.stdout) == (1, "")
        assert _snapshot(project_data) == before, statement


def test_connection_changes_no_file_whatever_the_statement(
    project_data: Path, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock-down alone: no statement is checked before it is executed."""
    monkeypatch.chdir(project_data.parent)
    before = _snapshot(project_data)
    naming_files = [statement for statement in (*NOT_READING, *READING_ELSEWHERE) if "{" in statement]
    for statement in naming_files[::every]:
        with (
            queries._connection(queries._FolderTables(project_data)) as (connection, _),
            suppress(duckdb.Error),
        ):
            connection.execute(_filled(statement, project_data))
            connection.fetchall()
        assert _snapshot(project_data) == before, statement


def test_sql_answers_statements_that_read(project_data: Path, every: int) -> None:
    for statement in ANSWERED[::every]:
        result = _ask(statement)
        assert (result.exit_code, result.stderr) == (0, ""), statement
        assert re.search(r"\n\d+ rows\n$", result.stdout), statement
