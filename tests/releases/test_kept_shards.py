"""Shards of a release that is written again: files whose rows are the same stay as they are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pipelines.dataset.releases.writing import _Shelf, shard_bytes  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(("value", "stays"), [(None, True), (False, False)])
def test_a_shard_without_a_column_that_was_declared_later_stays_where_it_is_null(
    tmp_path: Path, value: bool | None, stays: bool
) -> None:
    early = pa.table({"design_id": ["a", "b"]})
    file = tmp_path / "tables" / "designs" / "stencil-0000.parquet"
    file.parent.mkdir(parents=True)
    file.write_bytes(shard_bytes(early))
    later = early.append_column("is_constant", pa.array([None, value], pa.bool_()))
    [written] = _Shelf(folder=tmp_path, rows=100).files("tables", "designs", "stencil", later)
    assert (written.content == file.read_bytes()) is stays
    [other] = _Shelf(folder=tmp_path, rows=100).files("tables", "designs", "stencil", later.slice(1))
    assert other.content == shard_bytes(later.slice(1))
