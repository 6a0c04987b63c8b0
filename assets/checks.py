"""Checks of one table file as it is on disk: the form of a rule, and the rules of every table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets.settings import Settings
from pipelines.schemas import OK, Reference, fill_columns, read_arrow, table_path, table_spec

PROBLEM_LIMIT = 20


@dataclass(frozen=True, slots=True)
class CheckRule:
    """One rule of a table.

    Attributes:
        name: of the check.
        description: what holds, one sentence.
        problems: every breach in one file of the table.
        blocking: whether a breach stops what reads the table; else it warns.
    """

    name: str
    description: str
    problems: Callable[[CheckedFile], list[str]]
    blocking: bool = True


@dataclass(frozen=True, kw_only=True)
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

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the file; for tables with few of them."""
        return self.content.to_pylist()

    def neighbour(self, table: str) -> list[dict[str, Any]]:
        """Return rows of another table: of the same partition, or of all when it has none of that name."""
        return self.neighbour_columns(table).to_pylist()

    def neighbour_columns(self, table: str) -> pa.Table:
        """Return the rows of `neighbour` as columns, for tables with many rows."""
        spec = table_spec(table)
        same = table_path(self.data_dir, spec, self.partition)
        folder = self.data_dir / "tables" / table
        paths = [same] if same.is_file() else sorted(folder.glob("*.parquet"))
        schema = spec.schema()
        return pa.concat_tables(
            [schema.empty_table(), *(fill_columns(read_arrow(path), schema) for path in paths)]
        )


def open_file(settings: Settings, table: str, partition: str) -> CheckedFile:
    """Read one file of a table to check it.

    Raises: SchemaError: damaged. FileNotFoundError: not there.
    """
    path = table_path(settings.deployment.data_dir, table_spec(table), partition)
    return CheckedFile(settings=settings, table=table, partition=partition, content=read_arrow(path))


def general_rules(table: str) -> tuple[CheckRule, ...]:
    """Return the rules that follow from a table's declaration, blocking ones first."""
    spec = table_spec(table)
    rules = [_SCHEMA, _UNIQUE_KEY]
    rules += [_FOREIGN_KEYS] if spec.references else []
    rules += [_FAILURE_RATE] if "status" in spec.schema().names else []
    return tuple(rules)


def schema_problems(file: CheckedFile) -> list[str]:
    """Return the ways in which the file, or its wall-clock sibling, does not fit the declared schema."""
    spec = table_spec(file.table)
    problems = spec.violations(file.content)
    if not spec.has_measured or problems:
        return problems
    measured = read_arrow(table_path(file.data_dir, spec, file.partition, measured=True))
    keys = list(spec.key)
    if not measured.select(keys).equals(file.content.select(keys)):
        problems.append("the measured file has other keys than the table")
    return problems


def repeated_keys(file: CheckedFile) -> list[str]:
    """Return the keys of more than one row."""
    spec = table_spec(file.table)
    keys = spec.key
    if spec.is_sorted(file.content):
        return []
    counts = file.content.group_by(list(keys)).aggregate([([], "count_all")])
    repeated = counts.filter(pc.greater(counts.column("count_all"), 1)).to_pylist()
    return [f"{keys} {_values(row, keys)} stands in {row['count_all']} rows" for row in repeated]


def dangling_references(file: CheckedFile) -> list[str]:
    """Return the rows that name a row of another table that is not there."""
    return [p for reference in table_spec(file.table).references for p in _dangling(file, reference)]


def _dangling(file: CheckedFile, reference: Reference) -> list[str]:
    columns = reference.columns
    known = file.neighbour_columns(reference.table).select(list(reference.keys)).rename_columns(list(columns))
    lacking = _absent_rows(file.content.select(list(columns)), known)
    return [
        f"{columns} {value} is not in table {reference.table}"
        for value in sorted(_values(row, columns) for row in lacking)
    ]


def _absent_rows(rows: pa.Table, known: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of one table, each once, that are not in another with the same columns."""
    names = rows.column_names
    if len(names) == 1:  # five times as fast as the join
        once = rows.column(names[0]).unique()
        return [{names[0]: v} for v in once.filter(pc.invert(pc.is_in(once, known.column(0)))).to_pylist()]
    return rows.group_by(names).aggregate([]).join(known, keys=names, join_type="left anti").to_pylist()


def failure_fraction(content: pa.Table) -> float:
    """Return the share of rows that are not ok, 0 for an empty table."""
    statuses: list[str] = content.column("status").to_pylist()
    return sum(status != OK for status in statuses) / max(len(statuses), 1)


def too_many_failures(file: CheckedFile) -> list[str]:
    """List the problem that the share of failed rows is above the configured one, if it is."""
    limit = file.settings.max_failure_fraction
    share = failure_fraction(file.content)
    return [] if share <= limit else [f"{share:.1%} of rows failed; accepted: at most {limit:.0%}"]


def _values(row: Mapping[str, Any], columns: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[c] for c in columns)


_SCHEMA = CheckRule("schema", "Columns, types and vocabularies are the declared ones.", schema_problems)
_UNIQUE_KEY = CheckRule("unique_key", "No two rows have the same key.", repeated_keys)
_FOREIGN_KEYS = CheckRule("foreign_keys", "Every row that is referred to is there.", dangling_references)
_FAILURE_RATE = CheckRule(
    "failure_rate",
    "The share of failed rows is at most quality.max_failure_fraction.",
    too_many_failures,
    blocking=False,
)
