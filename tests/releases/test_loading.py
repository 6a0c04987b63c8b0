"""Releases of earlier versions load everywhere: columns that were declared later are null."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.dataset.releases import ReleaseError, load_release, open_release
from pipelines.schemas import SchemaError, TableSpec, read_table, scan_table, table_spec
from simfoundry.commands.sql import run_query

V1 = Path(__file__).resolve().parents[2] / "releases" / "v1"
ROWS = 3243


def declare(monkeypatch: pytest.MonkeyPatch, table: str, name: str, *, nullable: bool) -> None:
    """Declare one more column of a table, as a later version would."""
    spec = table_spec(table)
    later = dataclasses.replace(
        spec.columns[-1], name=name, arrow_type=pa.int64(), nullable=nullable, measured=False
    )
    fields: list[Any] = [(c.name, Any) for c in (*spec.columns, later)]
    row = dataclasses.make_dataclass("Row", fields, frozen=True, kw_only=True)
    monkeypatch.setitem(
        TableSpec.registry, table, dataclasses.replace(spec, columns=(*spec.columns, later), row=row)
    )


def test_a_release_loads_in_one_line() -> None:
    tables = load_release(V1, verify=True)
    assert set(tables) == set(open_release(V1).tables())
    runs = tables["runs"].select("design_id", "status").collect()
    assert runs["status"].to_list() == ["ok"] * ROWS
    assert tables.arrow("runs").num_rows == ROWS


def test_a_later_column_is_null_in_every_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, "runs", "later_kind", nullable=True)
    spec = table_spec("runs")
    kinds = [
        load_release(V1)["runs"].select("later_kind").collect()["later_kind"],
        open_release(V1).arrow("runs", "modern").column("later_kind"),
        scan_table(V1, spec).select("later_kind").collect()["later_kind"],
        pl.Series([row.later_kind for row in read_table(V1, spec, ["modern-0000"])]),
    ]
    assert [
        set(values.unique().to_pylist() if isinstance(values, pa.ChunkedArray) else values)
        for values in kinds
    ] == [{None}] * 4
    assert len(kinds[0]) == len(kinds[2]) == ROWS
    counted = run_query(V1, "SELECT count(*), count(later_kind), count(simulate_wall_s) FROM runs")
    assert counted.rows == ((ROWS, 0, ROWS),)


READERS: dict[str, Callable[[], object]] = {
    "load": lambda: load_release(V1)["runs"],
    "open": lambda: open_release(V1).arrow("runs", "modern"),
    "scan": lambda: scan_table(V1, table_spec("runs")),
}


@pytest.mark.parametrize("reader", READERS)
def test_readers_reject_an_absent_column_that_is_not_nullable(
    reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(monkeypatch, "runs", "data_number", nullable=False)
    with pytest.raises((ReleaseError, SchemaError), match=r"data_number"):
        READERS[reader]()


def test_loading_rejects_a_changed_file_when_asked(tmp_path: Path) -> None:
    folder = shutil.copytree(V1, tmp_path / "v1")
    path = folder / "tables" / "splits" / "by_kernel_v1-0000.parquet"
    pq.write_table(pq.read_table(path, partitioning=None).slice(1), path)
    load_release(folder)
    with pytest.raises(ReleaseError, match=r"a file must have \d+ bytes as the manifest says"):
        load_release(folder, verify=True)
    with pytest.raises(ReleaseError, match=r"no such file|cannot read"):
        load_release(tmp_path / "nowhere")
