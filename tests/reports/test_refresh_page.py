"""What a run changed, by key, and the page that says it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from labelled_rows import table_row

from pipelines.dataset.reports import ModelDecision, Refresh, compare_tables, draw_refresh
from pipelines.dataset.reports.refresh import NewFailure, TableChange, summary
from pipelines.schemas import LabelRow, SchemaError, table_spec, write_table


def _write(folder: Path, rows: list[LabelRow], partition: str = "ast") -> Path:
    write_table(folder, table_spec("labels"), rows, partition)
    return folder / "tables"


@pytest.fixture
def rows() -> list[LabelRow]:
    named = {"tool": "pyosys", "tool_version": "1", "suite": "ast", "liberty": "osu018", "status": "ok"}
    return [table_row("labels", design_id=name, area_um2=10.0, **named) for name in "abcd"]


def test_rows_are_new_changed_removed_or_failed(tmp_path: Path, rows: list[LabelRow]) -> None:
    before = _write(tmp_path / "before", [rows[0], rows[1], rows[2]])
    area = (rows[1].area_um2 or 0) + 1
    failed = replace(rows[2], status="timeout", reason="after  60 s", area_um2=None)
    after = _write(tmp_path / "after", [replace(rows[1], area_um2=area), failed, rows[3]])
    changes, failures = compare_tables(before, after)
    assert changes == [
        TableChange(table="labels", rows=3, new=1, removed=1, changed=2, failed=1, newly_failed=1)
    ]
    assert failures == [NewFailure(table="labels", status="timeout", reason="after 60 s", rows=1)]


def test_what_failed_before_is_no_new_failure(tmp_path: Path, rows: list[LabelRow]) -> None:
    failed = replace(rows[0], status="timeout", reason="after 60 s")
    before = _write(tmp_path / "before", [failed, rows[1]])
    after = _write(tmp_path / "after", [failed, rows[1], rows[2]])
    _write(tmp_path / "before", [failed, rows[3]], "other")
    _write(tmp_path / "after", [failed, rows[3]], "other")
    changes, failures = compare_tables(before, after)
    assert changes == [TableChange(table="labels", rows=5, new=1, failed=2)]
    assert failures == []


def test_equal_tables_have_no_change(tmp_path: Path, rows: list[LabelRow]) -> None:
    before, after = (_write(tmp_path / name, rows) for name in ("before", "after"))
    changes, failures = compare_tables(before, after)
    assert not any(change.is_change for change in changes)
    assert failures == []
    page = draw_refresh([_refresh(changes=tuple(changes))])
    assert "Nothing new: every row is as it was." in page


def test_comparing_rejects_a_damaged_file(tmp_path: Path, rows: list[LabelRow]) -> None:
    before = _write(tmp_path / "before", rows)
    after = _write(tmp_path / "after", rows[:1])
    (after / "labels" / "ast.parquet").write_bytes(b"no Parquet")
    with pytest.raises(SchemaError, match=r"ast\.parquet"):
        compare_tables(before, after)


def _refresh(**changes: object) -> Refresh:
    values = {"started": "2026-01-02T02:00+00:00", "wall_s": 41.0, "changes": ()}
    return Refresh(**{**values, **changes})  # type: ignore[arg-type]


def test_the_page_says_rows_models_and_reasons() -> None:
    refresh = _refresh(
        changes=(TableChange(table="labels", rows=9, new=4, failed=2, newly_failed=1),),
        failures=(NewFailure(table="labels", status="timeout", reason="<b>60 s</b>", rows=1),),
        models=(
            ModelDecision(model="tlp", version="3", decision="promoted", reason="better by 4 %"),
            ModelDecision(model="gnnhls", version="1", decision="kept", reason="no new version"),
        ),
        problems=("labels stencil: the tool crashed",),
    )
    page = draw_refresh([_refresh(), refresh])
    assert summary(refresh) in page
    assert "1 promoted, 1 kept" in page
    assert "&lt;b>60 s" in page or "&lt;b&gt;60 s" in page
    for text in ("better by 4 %", "no new version", "labels stencil: the tool crashed"):
        assert text in page
    assert Refresh.of_json(refresh.as_json()) == refresh
