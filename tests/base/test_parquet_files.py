"""Parquet files from outside: what they decode to is tried in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile_parquet import parquet_with_a_page_of

from pipelines.base.parquet_files import open_parquet

NUMBERS = pa.table({"a": np.random.default_rng(1).random(20_000), "b": ["x", "a long text" * 100] * 10_000})


def opened(path: Path, columns: tuple[str, ...] = ("a", "b"), most_rows: int = 20_000) -> pa.Table:
    with path.open("rb") as file:
        content = open_parquet(file, columns=columns, most_rows=most_rows, error=LookupError, encoded=("b",))
        return content.read(columns=list(columns))


@pytest.mark.parametrize("options", [{}, {"compression": "zstd", "data_page_version": "2.0"}])
def test_files_of_all_kinds_are_read(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(NUMBERS, path, **options)
    assert opened(path).cast(NUMBERS.schema).equals(NUMBERS)


@pytest.mark.parametrize(
    ("decoded", "most_rows", "message"),
    [
        (None, 19_999, "20000 rows; accepted: at most 19999"),
        (1 << 30, 20_000, "columns that take more than 640 MiB to decode"),
    ],
)
def test_open_parquet_rejects_what_takes_too_much_memory(
    tmp_path: Path, decoded: int | None, most_rows: int, message: str
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(NUMBERS, path)
    if decoded is not None:
        path.write_bytes(parquet_with_a_page_of(NUMBERS, decoded))
    with pytest.raises(LookupError, match=f"^{message}$"):
        opened(path, most_rows=most_rows)


def test_pages_of_other_columns_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet_with_a_page_of(NUMBERS, 1 << 30))
    assert opened(path, columns=("b",)).cast(NUMBERS.select(["b"]).schema).equals(NUMBERS.select(["b"]))


def test_open_parquet_rejects_what_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(NUMBERS, path, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[8:20] = bytes(12)
    path.write_bytes(content)
    with pytest.raises(LookupError, match=r"^damaged content \(.*\)$"):
        opened(path)
