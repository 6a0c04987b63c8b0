"""The page of all tables, derived from their declarations."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter
from pathlib import Path

import pyarrow as pa

from pipelines.schemas import ColumnSpec, TableSpec, table_spec
from pipelines.schemas.columns import NONE

_INTRODUCTION = """\
# Tables

Derived from `pipelines/schemas/` by `make docs`; edit the declarations, not this page.

A table lies in `data/tables/<table>/`, one Parquet file per partition. Its wall-clock columns, marked
*measured*, lie in `data/measured/<table>/` with the same key: they differ between two runs of the
same inputs, all other columns do not. A column has a value in every row unless it says *or null*.

Below each table stand the independent checks of its columns: by another program, or by an implementation for
the check alone, of every row, of a sample of each run, or of examples in the tests.
"""


def tables_page(tables: Iterable[TableSpec] | None = None) -> str:
    """Return the Markdown page of the tables, by stage.

    Args:   tables: the tables to describe; every declared table when None.
    """
    ordered = ordered_tables(TableSpec.registry.values() if tables is None else tables)
    parts = [_INTRODUCTION, _summary(ordered), *(table_section(table) for table in ordered)]
    return "\n".join(parts)


def ordered_tables(tables: Iterable[TableSpec]) -> list[TableSpec]:
    """Sort tables by stage, then by name."""
    known = list(tables)
    stages = stage_order(known)
    return sorted(known, key=lambda table: (stages.index(table.stage), table.name))


def stage_order(tables: Iterable[TableSpec]) -> list[str]:
    """Return the stages of some tables: each after the stages that its tables refer to, then by name.

    Stages without references to or from another stage come last.
    """
    before: dict[str, set[str]] = {}
    for table in tables:
        targets = {table_spec(reference.table).stage for reference in table.references}
        before.setdefault(table.stage, set()).update(targets - {table.stage})
    linked = {stage for stage, targets in before.items() if targets}.union(*before.values())
    sorter = TopologicalSorter(before)
    sorter.prepare()
    order: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += ready
        sorter.done(*ready)
    return sorted(order, key=lambda stage: stage not in linked)


def _summary(tables: Sequence[TableSpec]) -> str:
    rows = [(f"[`{t.name}`](#{t.name})", t.stage, t.description, _code_list(t.key)) for t in tables]
    return markdown_table(("table", "stage", "one row is", "key"), rows)


def table_section(table: TableSpec) -> str:
    """Return the section of one table: what a row is, and its columns with types and units."""
    heading = f"## {table.name}\n\n{table.description} Stage `{table.stage}`.\n"
    rows = [(f"`{c.name}`", _type(c), c.unit or "", _meaning(c)) for c in table.columns]
    columns = markdown_table(("column", "type", "unit", "meaning"), rows)
    return f"{heading}\n{columns}\n{_checks(table)}"


def _checks(table: TableSpec) -> str:
    """Return the columns by their independent check, in order of first columns; without one last."""
    columns: dict[str, list[str]] = {}
    for column in table.columns:
        columns.setdefault(column.checked_by, []).append(column.name)
    unchecked = columns.pop(NONE, [])
    rows = [(_code_list(names), check) for check, names in columns.items()]
    if unchecked:
        rows.append((_code_list(unchecked) if rows else "all", NONE))
    return markdown_table(("columns", "independent check"), rows)


def _type(column: ColumnSpec) -> str:
    arrow = column.arrow_field().type
    name = f"list of {arrow.value_type}" if pa.types.is_list(arrow) else str(arrow)
    return f"{name} or null" if column.nullable else name


def _meaning(column: ColumnSpec) -> str:
    marks = ["*Key.*"] * column.key + ["*Measured.*"] * column.measured
    accepted = [f"One of {_code_list(column.choices)}."] if column.choices else []
    level = [f"Level `{column.level}`."] if column.level else []
    return " ".join([*marks, column.description, *accepted, *level])


def _code_list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def main(arguments: Sequence[str]) -> None:
    """Write the page to the file named by the only argument.

    Raises: SystemExit: not exactly one argument.
    """
    if len(arguments) != 1:
        raise SystemExit(f"expected one argument, the file of the page; got {list(arguments)}")
    Path(arguments[0]).write_text(tables_page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
