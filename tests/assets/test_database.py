"""The DuckDB file beside the tables: views, comments, usual questions, replaced while others read it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import foundry_fakes
import pytest

from assets import database
from assets.database import DATABASE_FILE, QUESTIONS, write_database
from assets.settings import Settings, ignore_progress
from assets.step import read_rows
from assets.steps import step_named
from pipelines.schemas import TableSpec, table_path, table_spec, write_table


@pytest.fixture
def data_dir(settings: Settings) -> Path:
    """Two programs with a design, a label and a run each, one of them failed."""
    step_named("programs").make(settings, "stencil", ignore_progress)
    folder = settings.deployment.data_dir
    designs = [foundry_fakes.make_design(p, 2) for p in read_rows(settings, "programs", "stencil")]
    labels = [foundry_fakes.make_label(d) for d in designs[:1]]
    late = {"status": "tool_error", "reason": "it's broken", "delay_ns": 12.5}
    labels.append(foundry_fakes.make_label(designs[1], **late))
    for table, rows in (("designs", designs), ("labels", labels)):
        write_table(folder, table_spec(table), rows, "stencil")
    write_table(folder, table_spec("runs"), [foundry_fakes.make_run(designs[0])], "stencil")
    return folder


def test_every_table_and_question_is_a_view_with_comments(data_dir: Path) -> None:
    assert write_database(data_dir) == []
    with duckdb.connect(str(data_dir / DATABASE_FILE), read_only=True) as connection:
        views = dict(
            connection.execute("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall()
        )
        assert set(views) == {*TableSpec.registry, *QUESTIONS}
        assert all(views.values())
        [(comment,)] = connection.execute(
            "SELECT comment FROM duckdb_columns() WHERE table_name = 'labels' AND column_name = 'area_um2'"
        ).fetchall()
        assert comment.endswith("Unit: um2.")
        [(storage,)] = connection.execute(
            "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'simfoundry'"
        ).fetchall()
        assert storage.startswith("v1.4.0")


def test_usual_questions_are_answered(data_dir: Path) -> None:
    write_database(data_dir)
    with duckdb.connect(str(data_dir / DATABASE_FILE), read_only=True) as connection:
        wide = connection.execute("SELECT label_status, run_status, reason FROM designs_wide").fetchall()
        assert sorted(wide, key=str) == [("ok", "ok", None), ("tool_error", None, "it's broken")]
        failures = connection.execute("FROM failures").fetchall()
        assert failures == [("labels", "tool_error", "it's broken", 1)]
        steps = connection.execute("SELECT step FROM cost_of_a_label WHERE total_s > 0").fetchall()
        assert ("synthesis_wall_s",) in steps
        assert connection.execute("FROM leaderboard_best").fetchall() == []


def test_slack_stands_in_views(data_dir: Path) -> None:
    write_database(data_dir)
    with duckdb.connect(str(data_dir / DATABASE_FILE), read_only=True) as connection:
        timing = connection.execute(
            "SELECT clock_period_ns, delay_ns, slack_ns, timing_met FROM timing ORDER BY delay_ns"
        )
        assert timing.fetchall() == [(10.0, 3.0, 7.0, True), (10.0, 12.5, -2.5, False)]
        wide = connection.execute("SELECT slack_ns, timing_met FROM designs_wide ORDER BY label_status")
        assert wide.fetchall() == [(7.0, True), (-2.5, False)]


def test_a_reader_keeps_the_former_file_while_it_is_replaced(data_dir: Path) -> None:
    write_database(data_dir)
    with duckdb.connect(str(data_dir / DATABASE_FILE), read_only=True) as connection:
        assert write_database(data_dir) == []
        assert connection.execute("SELECT count(*) FROM designs").fetchall() == [(2,)]
    assert [p.name for p in data_dir.iterdir() if p.name.startswith(".database-")] == []


def test_a_damaged_table_is_left_out_and_named(data_dir: Path) -> None:
    table_path(data_dir, table_spec("runs"), "stencil").write_bytes(b"not parquet")
    [problem] = write_database(data_dir)
    assert problem.startswith("runs is not in simfoundry.duckdb: ")
    with duckdb.connect(str(data_dir / DATABASE_FILE), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM labels").fetchall() == [(2,)]


def test_a_full_disk_leaves_the_former_file_and_says_so(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_database(data_dir)
    former = (data_dir / DATABASE_FILE).read_bytes()

    def full(*_: object) -> None:
        raise duckdb.TransactionException("Failed to commit:\nNo space left on device")

    monkeypatch.setattr(database, "_comment", full)
    (problem,) = write_database(data_dir)
    assert problem.startswith(f"{DATABASE_FILE} was not written: ")
    assert "\n" not in problem
    assert (data_dir / DATABASE_FILE).read_bytes() == former
