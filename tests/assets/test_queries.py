from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from assets.database import DATABASE_FILE, QUESTIONS, write_database
from assets.errors import FoundryError
from assets.settings import Settings, ignore_progress
from assets.steps import step_named
from pipelines.schemas import TableSpec, table_path, table_spec
from simfoundry.commands import sql
from simfoundry.commands.sql import as_records, run_query


@pytest.fixture
def data_dir(settings: Settings, engines: Any) -> Path:
    for name in ("programs", "designs", "labels"):
        step_named(name).make(settings, "stencil", ignore_progress)
    return settings.deployment.data_dir


def test_every_table_is_a_view_before_it_has_a_file(tmp_path: Path) -> None:
    for name, spec in TableSpec.registry.items():
        found = run_query(tmp_path, f"SELECT * FROM {name}")
        assert found.columns == tuple(c.name for c in spec.columns)
        assert found.rows == ()


def test_columns_have_the_same_types_with_and_without_files(data_dir: Path, tmp_path: Path) -> None:
    empty = run_query(tmp_path / "nothing", "DESCRIBE designs").rows
    assert run_query(data_dir, "DESCRIBE designs").rows == empty


def test_views_join_wall_clock_columns(data_dir: Path) -> None:
    query = "SELECT count(*) AS n, avg(hls_wall_s) AS mean FROM designs"
    assert as_records(run_query(data_dir, query)) == [{"n": 4, "mean": 0.25}]


@pytest.mark.parametrize(
    ("query", "is_joined"),
    [
        ("SELECT count(*) FROM designs", False),
        ("SELECT suite, sum(rtl_bytes) FROM designs GROUP BY suite", False),
        ("SELECT sum(HLS_wall_s) FROM designs", True),
        ("SELECT * FROM designs", True),
        ("FROM designs", True),
    ],
)
def test_wall_clock_files_are_read_when_they_are_asked_for(
    data_dir: Path, query: str, is_joined: bool
) -> None:
    [(_, plan)] = run_query(data_dir, f"EXPLAIN {query}").rows
    assert ("hls_wall_s" in plan or "JOIN" in plan) == is_joined


def test_a_query_has_the_same_answer_with_wall_clock_columns_unasked(data_dir: Path) -> None:
    plain = "SELECT design_id, status FROM designs WHERE clock_period_ns > 0 ORDER BY ALL"
    joined = f"{plain} -- hls_wall_s"
    assert run_query(data_dir, plain).rows == run_query(data_dir, joined).rows != ()


def test_views_do_without_the_wall_clock_files(data_dir: Path) -> None:
    table_path(data_dir, table_spec("designs"), "stencil", measured=True).unlink()
    assert run_query(data_dir, "SELECT DISTINCT hls_wall_s FROM designs").rows == ((None,),)


def test_tables_join(data_dir: Path) -> None:
    query = """
        SELECT p.name, l.area_um2, r.latency_cycles FROM labels l
        JOIN designs d USING (design_id) JOIN programs p USING (program_id) JOIN runs r USING (design_id)
        WHERE p.name = 'jacobi-1d' ORDER BY ALL
    """
    rows = run_query(data_dir, query).rows
    assert rows == (("jacobi-1d", 1002.0, 200), ("jacobi-1d", 1010.0, 1000))


@pytest.mark.parametrize("query", ["SHOW TABLES", "FROM runs LIMIT 1", "SUMMARIZE runs", "EXPLAIN FROM runs"])
def test_reading_statements_are_answered(data_dir: Path, query: str) -> None:
    assert run_query(data_dir, query).rows


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("DROP VIEW runs", "DROP"),
        ("CREATE TABLE t AS SELECT 1", "CREATE"),
        ("SET lock_configuration = false", "SET"),
        ("ATTACH 'other.db'", "ATTACH"),
        ("SELECT 1; SELECT 2", "SELECT, SELECT"),
        ("", "no statement"),
    ],
)
def test_query_rejects_what_does_not_only_read(data_dir: Path, query: str, kind: str) -> None:
    with pytest.raises(FoundryError, match=f"^not one read-only statement: {kind}; accepted: "):
        run_query(data_dir, query)


def test_query_rejects_writing_beside_the_tables(data_dir: Path) -> None:
    target = data_dir / "tables" / "new.csv"
    with pytest.raises(FoundryError, match=r"^not one read-only statement: COPY; "):
        run_query(data_dir, f"COPY (SELECT 1) TO '{str(target).replace(chr(39), chr(39) * 2)}'")
    assert not target.exists()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_csv('https://example.com/x.csv')",
    ],
)
def test_query_rejects_reading_anything_else(data_dir: Path, query: str) -> None:
    with pytest.raises(FoundryError, match="a query must be valid SQL over the tables"):
        run_query(data_dir, query)


def test_query_rejects_wrong_sql(data_dir: Path) -> None:
    with pytest.raises(FoundryError, match=r"(?s)^a query must be .*, got: .*; SHOW TABLES lists them$"):
        run_query(data_dir, "SELECT nothing_such FROM runs")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("desings", "designs, designs_wide, vendor_designs"), ("Failure", "failures, features, run_features")],
)
def test_query_rejects_an_unknown_table_and_names_the_nearest(
    data_dir: Path, name: str, nearest: str
) -> None:
    with pytest.raises(FoundryError, match=rf"^unknown table: {name}; nearest: {nearest}$"):
        run_query(data_dir, f"SELECT * FROM {name}")


def test_query_rejects_reading_a_file_by_its_name(data_dir: Path) -> None:
    with pytest.raises(FoundryError, match=r"^unknown table: /etc/passwd; nearest: "):
        run_query(data_dir, "SELECT * FROM '/etc/passwd'")


def test_usual_questions_are_views_as_in_the_file_beside_the_tables(data_dir: Path, tmp_path: Path) -> None:
    write_database(data_dir)
    with duckdb.connect(str(data_dir / DATABASE_FILE), read_only=True) as connection:
        for name in QUESTIONS:
            shown = f"SELECT * FROM {name} ORDER BY ALL"
            answer = connection.execute(shown)
            columns = tuple(column[0] for column in answer.description or ())
            result = run_query(data_dir, shown)
            assert (result.columns, result.rows) == (columns, tuple(answer.fetchall()))
    assert run_query(data_dir, "SELECT count(*) FROM designs_wide").rows == ((4,),)
    assert run_query(tmp_path / "nothing", "FROM failures").rows == ()


def test_query_rejects_a_view_of_a_damaged_table_by_the_file(data_dir: Path) -> None:
    path = table_path(data_dir, table_spec("labels"), "stencil")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(FoundryError, match=r"labels/stencil\.parquet must be a Parquet file, got a damaged"):
        run_query(data_dir, "FROM designs_wide")
    assert run_query(data_dir, "FROM leaderboard_best").rows == ()


def test_query_rejects_an_answer_without_end(tmp_path: Path) -> None:
    with pytest.raises(FoundryError, match=r"^an answer of more than 1000000 rows; use LIMIT or aggregates$"):
        run_query(tmp_path, "FROM range(1000000000000)")


def test_json_has_null_for_numbers_that_are_not_finite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "find_deployment", lambda: SimpleNamespace(data_dir=tmp_path, catalogue=None))
    answer = sql.answer_query("SELECT 'nan'::DOUBLE AS a, ['inf'::DOUBLE, 1.0] AS b", as_json=True)
    assert json.loads(answer) == [{"a": None, "b": [None, 1.0]}]


def test_query_rejects_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(FoundryError, match=r"^not UTF-8: character 9 of the query$"):
        run_query(tmp_path, b"SELECT '\xff'".decode(errors="surrogateescape"))


def test_query_rejects_a_damaged_file_by_name_and_answers_the_others(data_dir: Path) -> None:
    path = table_path(data_dir, table_spec("runs"), "stencil")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(FoundryError, match=r"runs/stencil\.parquet must be a Parquet file, got a damaged"):
        run_query(data_dir, "SELECT * FROM runs")
    assert run_query(data_dir, "SELECT count(*) FROM labels").rows == ((4,),)


def test_query_rejects_a_damaged_page_by_name(data_dir: Path) -> None:
    path = table_path(data_dir, table_spec("runs"), "stencil")
    content = bytearray(path.read_bytes())
    column = pq.read_metadata(path).row_group(0).column(0)
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(
        FoundryError,
        match=r"^/.*/runs/stencil\.parquet must be a Parquet file, got a damaged one \(.*CRC checksum "
        r"verification failed.*\); `simfoundry stage labels` rebuilds it$",
    ):
        run_query(data_dir, "SELECT * FROM runs")
    assert run_query(data_dir, "SELECT count(*) FROM labels").rows == ((4,),)


def test_query_rejects_a_file_with_other_columns(data_dir: Path) -> None:
    labels = table_path(data_dir, table_spec("labels"), "stencil")
    table_path(data_dir, table_spec("runs"), "stencil").write_bytes(labels.read_bytes())
    with pytest.raises(FoundryError, match=r"runs/stencil\.parquet must have the columns .*stage labels"):
        run_query(data_dir, "SELECT * FROM runs")
