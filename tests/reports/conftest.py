"""A small folder of tables that has something of everything the page shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from report_examples import example_rows

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


@pytest.fixture
def write_rows() -> Callable[[Path, Rows], Path]:
    """Write rows as one Parquet file a table, `<folder>/<table>/all.parquet`."""

    def write(folder: Path, rows: Rows) -> Path:
        for table, content in rows.items():
            path = folder / table / "all.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.Table.from_pylist(list(content)), path)
        return folder

    return write


@pytest.fixture
def example(tmp_path: Path, write_rows: Callable[[Path, Rows], Path]) -> Path:
    """Folder of the example tables."""
    return write_rows(tmp_path / "example", example_rows())
