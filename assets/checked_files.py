"""One file of a table under check, and the form of a rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from assets.settings import Settings
from pipelines.schemas import read_arrow, table_path, table_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRule:
    """One thing that must hold of a table.

    Attributes:
        name: of the check.
        description: what holds, one sentence.
        blocking: whether a breach stops what reads the table; else it warns.
        problems: every breach in one file of the table.
    """

    name: str
    description: str
    blocking: bool
    problems: Callable[[CheckedFile], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFile:
    """One file of a table under check."""

    settings: Settings
    table: str
    partition: str
    content: pa.Table = field(repr=False)

    @property
    def data_dir(self) -> Path:
        """The data folder."""
        return self.settings.deployment.data_dir

    def neighbour(self, table: str) -> list[dict[str, Any]]:
        """Rows of another table: of the same partition, or of all when it has none of that name."""
        return self.neighbour_columns(table).to_pylist()

    def neighbour_columns(self, table: str) -> pa.Table:
        """The same as columns, for tables with many rows."""
        spec = table_spec(table)
        same = table_path(self.data_dir, spec, self.partition)
        folder = self.data_dir / "tables" / table
        paths = [same] if same.is_file() else sorted(folder.glob("*.parquet"))
        return pa.concat_tables([spec.schema().empty_table(), *(read_arrow(path) for path in paths)])


def open_file(settings: Settings, table: str, partition: str) -> CheckedFile:
    """Read one file of a table to check it.

    Raises: SchemaError: damaged. FileNotFoundError: not there.
    """
    path = table_path(settings.deployment.data_dir, table_spec(table), partition)
    return CheckedFile(settings=settings, table=table, partition=partition, content=read_arrow(path))
