"""Parquet files from outside: rows and pages are counted before anything is decoded."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile_parquet import parquet_with_a_page_of

from pipelines import parquet_files
from pipelines.parquet_files import open_parquet

NUMBERS = pa.table({"a": np.random.default_rng(1).random(20_000), "b": ["x", "a long text" * 100] * 10_000})


def _written(**options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(NUMBERS, sink, **options)
    return sink.getvalue()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compression": "none", "use_dictionary": False},
        {"compression": "zstd", "data_page_version": "2.0"},
        {"compression": "gzip", "row_group_size": 700},
        {"write_page_index": True, "max_rows_per_page": 100, "write_page_checksum": True},
    ],
)
def test_files_of_all_kinds_are_read(options: dict[str, Any]) -> None:
    content = open_parquet(
        io.BytesIO(_written(**options)), columns=("a", "b"), most_rows=20_000, error=LookupError
    )
    assert content.read().equals(NUMBERS)


def test_a_file_without_rows_is_read() -> None:
    sink = io.BytesIO()
    pq.write_table(NUMBERS.slice(0, 0), sink)
    assert open_parquet(sink, columns=("a", "b"), most_rows=0, error=LookupError).read().num_rows == 0


def test_released_tables_are_read(repository: Path) -> None:
    files = sorted((repository / "releases").rglob("*.parquet"))[::20]
    for path in files:
        with path.open("rb") as file:
            names = pq.read_schema(path).names
            open_parquet(file, columns=names, most_rows=1_000_000, error=LookupError)
    assert files


def _few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "PAGE_LIMIT", 3)


@pytest.mark.parametrize(
    ("content", "most_rows", "prepare", "message"),
    [
        (_written(), 19_999, None, "20000 rows; accepted: at most 19999"),
        (
            parquet_with_a_page_of(NUMBERS, 1 << 30),
            20_000,
            None,
            "a page of 1073741824 bytes decoded; accepted: at most 64 MiB",
        ),
        (_written(max_rows_per_page=100), 20_000, _few_pages, "more than 3 pages; accepted: at most 3"),
    ],
)
def test_open_parquet_rejects_what_takes_too_much_memory(
    content: bytes,
    most_rows: int,
    prepare: Callable[[pytest.MonkeyPatch], None] | None,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if prepare is not None:
        prepare(monkeypatch)
    with pytest.raises(LookupError, match=f"^{message}$"):
        open_parquet(io.BytesIO(content), columns=("a", "b"), most_rows=most_rows, error=LookupError)


def test_pages_of_other_columns_do_not_count() -> None:
    content = io.BytesIO(parquet_with_a_page_of(NUMBERS, 1 << 30))
    found = open_parquet(content, columns=("b",), most_rows=20_000, error=LookupError)
    assert found.read(columns=["b"]).equals(NUMBERS.select(["b"]))


def test_open_parquet_rejects_damaged_page_headers() -> None:
    content = bytearray(_written(compression="none", use_dictionary=False))
    for start in range(4, 40):
        for value in (0x00, 0x1C, 0x7F, 0xFF):
            damaged = io.BytesIO(content[:start] + bytes([value]) + content[start + 1 :])
            try:
                open_parquet(damaged, columns=("a", "b"), most_rows=20_000, error=LookupError)
            except (pa.ArrowException, OSError, LookupError):
                continue
