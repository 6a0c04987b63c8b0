"""How a table is declared: one frozen dataclass per table, one `column` per field."""

from __future__ import annotations

import dataclasses
import itertools
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar, Literal, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

OK = "ok"
TIMEOUT = "timeout"
TOOL_ERROR = "tool_error"
INFEASIBLE = "infeasible"
REJECTED = "rejected"

STATUSES = (OK, TIMEOUT, TOOL_ERROR, INFEASIBLE, REJECTED)


def is_lasting(status: str) -> bool:
    """Tell whether an outcome follows from its inputs, so that another attempt gives the same.

    A `timeout` is of processor time, cycles or steps. A `tool_error` may be the machine's fault: no space, no
    memory, a killed tool, too much elapsed time. This is the one place that decides what may be cached.
    """
    return status in (OK, TIMEOUT, INFEASIBLE, REJECTED)


_FINITE = "finite numbers, and null where there is none"

RowClass = TypeVar("RowClass", bound=type)


LEVELS = ("text", "static", "hls", "run")
"""What a column may be known from: source text, front end, high-level synthesis, a run of the cycle model.

Each includes those before it.
"""


NONE = "none"
"""In the place of an independent check: no program but the column's own computes it."""
REST = "*"
"""All columns of a table that `checked_by` does not name."""

ReleaseRole = Literal["released", "optional", "derived", "internal"]
"""What a release has of a table: its rows; its rows unless the release is too large; their hashes at most,
because they follow from the other tables; nothing."""


class SchemaError(ValueError):
    """A row, a table or a Parquet file does not fit its declared schema."""


def column(
    description: str,
    *,
    unit: str | None = None,
    key: bool = False,
    measured: bool = False,
    choices: Sequence[str] = (),
    references: str | None = None,
    level: str | None = None,
    target: bool = False,
) -> Any:
    """Declare one column of a table.

    Args:
        description: what the value means, one sentence.
        unit: unit of the value as the column's suffix names it; None for text and flags.
        key: the column is part of the table's key.
        measured: the value is a wall-clock measurement. It differs between two runs of the same
            inputs, so it is stored beside the table and never in the file that is hashed.
        choices: the accepted values, for a column of a closed vocabulary.
        references: a table, or a column as TABLE.COLUMN, that has a row of this value. Other columns of that
            table's key refer to those of the same name here, where there are such.
        level: of information, one of LEVELS, for a column that predictors may read.
        target: the check of a release compares the ranges of this label between training and evaluation.
    """
    return dataclasses.field(
        metadata={
            "description": description,
            "unit": unit,
            "key": key,
            "measured": measured,
            "choices": tuple(choices),
            "references": references,
            "level": level,
            "target": target,
        }
    )


_ARROW_TYPES: Mapping[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSpec:
    """One declared column, resolved to its Arrow type."""

    name: str
    arrow_type: pa.DataType
    nullable: bool
    description: str
    unit: str | None
    key: bool
    measured: bool
    choices: tuple[str, ...]
    references: str | None
    level: str | None = None
    target: bool = False
    checked_by: str = NONE

    def arrow_field(self) -> pa.Field:
        """Return the pyarrow field, with unit and description as metadata."""
        metadata = {"description": self.description, "unit": self.unit or ""}
        return pa.field(self.name, self.arrow_type, nullable=self.nullable, metadata=metadata)


def _arrow_type(annotation: Any) -> tuple[pa.DataType, bool]:
    """Return the arrow type and nullability of a field annotation."""
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        inner = [a for a in typing.get_args(annotation) if a is not type(None)]
        return _arrow_type(inner[0])[0], True
    if typing.get_origin(annotation) is tuple:
        return pa.list_(_ARROW_TYPES[typing.get_args(annotation)[0]]), False
    return _ARROW_TYPES[annotation], False


def infinities(table: pa.Table) -> list[str]:
    """Return the columns of an Arrow table with NaN or infinities, in lists too; null is neither."""
    problems: list[str] = []
    for name in table.column_names:
        values = table.column(name)
        if pa.types.is_list(values.type):
            values = pc.list_flatten(values)
        if not pa.types.is_floating(values.type):
            continue
        count = pc.sum(pc.invert(pc.is_finite(values))).as_py() or 0
        if count:
            problems.append(f"column {name} has {count} values that are NaN or infinite; accepted: {_FINITE}")
    return problems


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Columns of a table that name a row of another: the other table, and its columns in the same order."""

    columns: tuple[str, ...]
    table: str
    keys: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """A table: its name, its row class and everything that derives from the row class; see `table`."""

    registry: ClassVar[dict[str, TableSpec]] = {}

    name: str
    row: type
    stage: str
    columns: tuple[ColumnSpec, ...]
    release: ReleaseRole = "released"
    group: str | None = None
    tool_columns: tuple[tuple[str, str], ...] = ()
    in_manifest: bool = True
    tools: tuple[str, ...] = ()
    card: tuple[str, ...] = ()
    report: tuple[str, ...] = ()
    hashes: str | None = None

    @property
    def description(self) -> str:
        """What one row is: the first line of the row class's docstring."""
        return (self.row.__doc__ or "").strip().splitlines()[0]

    @property
    def key(self) -> tuple[str, ...]:
        """Names of the key columns, in order."""
        return tuple(c.name for c in self.columns if c.key)

    def schema(self, *, measured: bool = False) -> pa.Schema:
        """Return the Arrow schema of the content file, or of the measured sibling (key and measures)."""
        kept = [c for c in self.columns if (c.key or c.measured if measured else not c.measured)]
        return pa.schema([c.arrow_field() for c in kept])

    @property
    def references(self) -> tuple[Reference, ...]:
        """Foreign keys, in the order of their columns."""
        return tuple(self._reference(c.name, c.references) for c in self.columns if c.references)

    def _reference(self, name: str, target: str) -> Reference:
        other, _, key = target.partition(".")
        pairs = [(name, key or name)]
        own = {c.name for c in self.columns}
        pairs += [(k, k) for k in table_spec(other).key if k in own and k not in (name, key)]
        pairs.sort(key=lambda pair: pair[0] == name)
        return Reference(columns=tuple(a for a, _ in pairs), table=other, keys=tuple(b for _, b in pairs))

    @property
    def has_measured(self) -> bool:
        """Whether the table has wall-clock columns, stored beside it."""
        return any(c.measured for c in self.columns)

    def to_arrow(self, rows: Iterable[Any], *, measured: bool = False) -> pa.Table:
        """Return the rows as an Arrow table, sorted by key so that the same rows give the same bytes."""
        schema = self.schema(measured=measured)
        records = [{n: getattr(r, n) for n in schema.names} for r in rows]
        for record in records:
            self._check_record(record)
        records.sort(key=lambda r: tuple((r[k] is not None, r[k]) for k in self.key))
        self._check_keys(records)
        arrays = [
            pa.array(
                [list(r[f.name]) if isinstance(r[f.name], tuple) else r[f.name] for r in records],
                type=f.type,
            )
            for f in schema
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def _check_keys(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Refuse two rows of one key; the records are sorted by key."""
        for one, next_one in itertools.pairwise(records):
            if self.key and all(one[k] == next_one[k] for k in self.key):
                named = ", ".join(f"{k}={one[k]!r}" for k in self.key)
                raise SchemaError(f"{self.name} has two rows with the key {named}")

    def _check_record(self, record: Mapping[str, Any]) -> None:
        for spec in self.columns:
            if spec.name not in record:
                continue
            value = record[spec.name]
            if value is None and not spec.nullable:
                raise SchemaError(f"{self.name}.{spec.name} has no value")
            if spec.choices and value is not None and value not in spec.choices:
                raise SchemaError(
                    f"unknown {self.name}.{spec.name}: {value!r}; accepted: {', '.join(spec.choices)}"
                )
            if isinstance(value, float) and not math.isfinite(value):
                named = ", ".join(f"{k}={record[k]!r}" for k in self.key)
                raise SchemaError(f"{self.name}.{spec.name} is {value} in {named}; accepted: {_FINITE}")

    def violations(self, table: pa.Table) -> list[str]:
        """Return every way in which an Arrow table breaks this schema; empty when it fits."""
        expected = self.schema()
        problems = [f"column {f.name} is missing" for f in expected if f.name not in table.column_names]
        problems += [
            f"column {f.name} is {table.schema.field(f.name).type}; accepted: {f.type}"
            for f in expected
            if f.name in table.column_names and table.schema.field(f.name).type != f.type
        ]
        extra = [n for n in table.column_names if n not in expected.names]
        problems += [f"column {n} is not declared" for n in extra]
        if problems:
            return problems
        for spec in (c for c in self.columns if not c.measured):
            values = table.column(spec.name)
            if not spec.nullable and values.null_count:
                problems.append(f"column {spec.name} has {values.null_count} nulls; accepted: none")
            if spec.choices:
                alien = sorted(set(values.drop_null().unique().to_pylist()) - set(spec.choices))
                if alien:
                    problems.append(
                        f"unknown values in column {spec.name}: {', '.join(map(str, alien))}; "
                        f"accepted: {', '.join(spec.choices)}"
                    )
        problems += infinities(table)
        repeats = self.repeat_count(table)
        if repeats:
            problems.append(f"key {self.key} is repeated {repeats} times")
        return problems

    def repeat_count(self, table: pa.Table) -> int:
        """Return the rows of a table whose key stands in an earlier row."""
        if self.is_sorted(table):
            return 0
        return table.num_rows - table.group_by(list(self.key)).aggregate([]).num_rows

    def is_sorted(self, table: pa.Table) -> bool:
        """Tell whether every row's key is greater than the one before: ten times as fast as counting keys."""
        above: Any = False
        for name in reversed(self.key):
            column = table.column(name).combine_chunks()
            before, after = column.slice(0, max(0, len(column) - 1)), column.slice(1)
            same = pc.and_(pc.equal(after, before), above)
            above = pc.or_(pc.greater(after, before), same)
        return bool(self.key) and table.num_rows > 1 and above.null_count == 0 and bool(pc.all(above).as_py())

    def from_arrow(self, table: pa.Table) -> list[Any]:
        """Return the rows of an Arrow table; measured columns that are absent become None."""
        names = [c.name for c in self.columns]
        columns = {n: table.column(n).to_pylist() for n in names if n in table.column_names}
        lists = {c.name for c in self.columns if pa.types.is_list(c.arrow_type)}
        rows: list[Any] = []
        for index in range(table.num_rows):
            values: dict[str, Any] = {n: columns[n][index] if n in columns else None for n in names}
            rows.append(self.row(**{n: tuple(v) if n in lists else v for n, v in values.items()}))
        return rows


def table(
    name: str,
    *,
    stage: str,
    checked_by: Mapping[str, str],
    release: ReleaseRole = "released",
    group: str | None = None,
    tool_columns: tuple[tuple[str, str], ...] = (),
    in_manifest: bool = True,
    tools: tuple[str, ...] = (),
    card: tuple[str, ...] = (),
    report: tuple[str, ...] = (),
    hashes: str | None = None,
) -> Callable[[RowClass], RowClass]:
    """Return the class decorator: register a frozen dataclass as the row of a Parquet table.

    Args:
        name: the table's name, also its folder, its DuckDB view and its Dagster asset.
        stage: the DVC stage and asset group that make it.
        checked_by: independent check by names of columns, with spaces between: another program, or an
            implementation for the check alone. It is of every row, of a sample of each run
            (`labelling.audit_fraction` and `cross_check_fraction`), or of examples in the tests. Other
            columns have the one of REST, or none; {} says that no column has one.
        release: what a release has of it.
        group: group of the configuration that a release without this table does not have.
        tool_columns: pairs of columns that name a tool and its version.
        in_manifest: whether the manifest of a release takes versions from these columns.
        tools: tools whose versions are in hashes of its rows.
        card: columns whose distribution the card of a release shows.
        report: the only columns that the report reads, of a table of many or long rows; all if empty.
        hashes: table whose rows the ids of this table hash, so that a DVC stage need not name that table.

    Raises: SchemaError: `checked_by` names a column twice, or one that the table lacks.
    """

    def register(row: RowClass) -> RowClass:
        hints = typing.get_type_hints(row)
        checks = _check_by_column(name, [f.name for f in dataclasses.fields(row)], checked_by)
        columns: list[ColumnSpec] = []
        for f in dataclasses.fields(row):
            arrow_type, nullable = _arrow_type(hints[f.name])
            own: dict[str, Any] = {"name": f.name, "checked_by": checks[f.name], **f.metadata}
            columns.append(ColumnSpec(arrow_type=arrow_type, nullable=nullable, **own))
        TableSpec.registry[name] = TableSpec(
            name=name,
            row=row,
            stage=stage,
            columns=tuple(columns),
            release=release,
            group=group,
            tool_columns=tool_columns,
            in_manifest=in_manifest,
            tools=tools,
            card=card,
            report=report,
            hashes=hashes,
        )
        return row

    return register


def _check_by_column(table: str, columns: Sequence[str], checked_by: Mapping[str, str]) -> dict[str, str]:
    checks: dict[str, str] = {}
    for names, check in checked_by.items():
        for name in names.split() if names != REST else ():
            if name not in columns or name in checks:
                raise SchemaError(f"checks of table {table} name {name} twice, or it has no such column")
            checks[name] = check
    return {name: checks.get(name, checked_by.get(REST, NONE)) for name in columns}


def tables_of_role(*roles: ReleaseRole) -> tuple[str, ...]:
    """Return the names of the tables with one of these roles in a release."""
    return tuple(spec.name for spec in TableSpec.registry.values() if spec.release in roles)


NEAREST_COUNT = 3


def unknown_table(name: str, names: Iterable[str]) -> str:
    """Return one line about a name that no table has, with those that are spelled most like it."""
    nearest = get_close_matches(name.lower(), sorted(names), n=NEAREST_COUNT, cutoff=0.0)
    return f"unknown table: {name}; nearest: {', '.join(nearest)}"


def table_spec(name: str) -> TableSpec:
    """Return the declared table of that name.

    Raises: SchemaError: no such table.
    """
    if name not in TableSpec.registry:
        raise SchemaError(unknown_table(name, TableSpec.registry))
    return TableSpec.registry[name]
