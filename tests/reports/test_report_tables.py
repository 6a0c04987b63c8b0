from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.dataset.reports import ReportError, read_tables

Write = Callable[[Path, Any], Path]


def test_tables_are_read_from_a_data_folder_and_from_a_release(tmp_path: Path, write_rows: Write) -> None:
    rows = {"programs": [{"program_id": "a", "stage": "ast"}]}
    write_rows(tmp_path / "data" / "tables", rows)
    write_rows(tmp_path / "release", rows)
    own = read_tables(tmp_path / "data", name="x")
    release = read_tables(tmp_path / "release", name="x")
    assert own.row_count("programs") == release.row_count("programs") == 1
    assert own.fingerprint == release.fingerprint


def test_shards_of_different_columns_are_one_table(tmp_path: Path, write_rows: Write) -> None:
    write_rows(tmp_path / "old", {"labels": [{"design_id": "a", "area_um2": 2.0}]})
    write_rows(tmp_path / "new", {"labels": [{"design_id": "b", "area_um2": 3.0, "leakage_mw": 0.5}]})
    folder = tmp_path / "both" / "labels"
    folder.mkdir(parents=True)
    (tmp_path / "old/labels/all.parquet").rename(folder / "0.parquet")
    (tmp_path / "new/labels/all.parquet").rename(folder / "1.parquet")
    tables = read_tables(tmp_path / "both", name="x")
    rows = tables.scan("labels", numbers=("area_um2", "leakage_mw")).collect()
    assert rows["area_um2"].to_list() == [2.0, 3.0]
    assert rows["leakage_mw"].to_list() == [None, 0.5]
    assert tables.problems == ()


def test_wall_clock_columns_are_joined_by_key(tmp_path: Path, write_rows: Write) -> None:
    write_rows(tmp_path / "tables", {"designs": [{"design_id": d, "suite": "s"} for d in "abc"]})
    write_rows(
        tmp_path / "measured", {"designs": [{"design_id": d, "hls_wall_s": ord(d) * 1.0} for d in "ca"]}
    )
    tables = read_tables(tmp_path, name="x")
    assert tables.contents["designs"]["hls_wall_s"].to_list() == [97.0, None, 99.0]


def test_wall_clock_times_do_not_change_the_fingerprint(tmp_path: Path, write_rows: Write) -> None:
    write_rows(tmp_path / "tables", {"designs": [{"design_id": "a"}]})
    before = read_tables(tmp_path, name="x").fingerprint
    write_rows(tmp_path / "measured", {"designs": [{"design_id": "a", "hls_wall_s": 1.0}]})
    assert read_tables(tmp_path, name="x").fingerprint == before
    write_rows(tmp_path / "tables", {"designs": [{"design_id": "b"}]})
    assert read_tables(tmp_path, name="x").fingerprint != before


def test_a_damaged_shard_is_named_and_left_out(tmp_path: Path, write_rows: Write) -> None:
    folder = write_rows(tmp_path, {"programs": [{"program_id": "a"}]})
    (folder / "programs" / "zz.parquet").write_bytes(b"PAR1 but no more")
    tables = read_tables(folder, name="x")
    assert tables.row_count("programs") == 1
    (problem,) = tables.problems
    assert problem.startswith("a shard must be Parquet that fits the others, got ")
    assert problem.endswith("(programs/zz.parquet)")


def test_a_shard_of_another_type_is_named_and_left_out(tmp_path: Path, write_rows: Write) -> None:
    write_rows(tmp_path / "a", {"labels": [{"design_id": "a", "area_um2": 2.0}]})
    write_rows(tmp_path / "b", {"labels": [{"design_id": "a", "area_um2": "large"}]})
    (tmp_path / "b/labels/all.parquet").rename(tmp_path / "a/labels/b.parquet")
    tables = read_tables(tmp_path / "a", name="x")
    assert tables.row_count("labels") == 1
    assert tables.problems[0].endswith("(labels/b.parquet)")


def test_columns_that_are_not_there_are_empty(tmp_path: Path, write_rows: Write) -> None:
    tables = read_tables(write_rows(tmp_path, {"programs": [{"program_id": "a"}]}), name="x")
    rows = tables.scan("programs", texts=("stage",), numbers=("source_bytes",), flags=("x",)).collect()
    assert rows.rows() == [(0, "", None, None)]
    assert tables.scan("labels", texts=("status",)).collect().is_empty()


@pytest.mark.parametrize("make", [False, True])
def test_reading_rejects_a_folder_without_tables(tmp_path: Path, make: bool) -> None:
    folder = tmp_path / "empty"
    if make:
        (folder / "programs").mkdir(parents=True)
    with pytest.raises(ReportError, match=r"a folder of tables must hold <table>/\*\.parquet, got none \(in"):
        read_tables(folder, name="x")
