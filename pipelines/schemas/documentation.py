"""The page of all tables, derived from their declarations."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from pipelines.schemas import ColumnSpec, TableSpec

STAGE_ORDER = (
    "programs",
    "designs",
    "labels",
    "features",
    "records",
    "network",
    "fabric",
    "accelerators",
    "pragmas",
    "models",
    "vendor",
)

_INTRODUCTION = """\
# Tables

Derived from `pipelines/schemas/` by `make docs`; edit the declarations, not this page.

A table lies in `data/tables/<table>/`, one Parquet file a partition. Its wall-clock columns, marked
*measured*, lie in `data/measured/<table>/` with the same key: they differ between two runs of the
same inputs, all other columns do not. A column has a value in every row unless it says *or null*.
"""


def tables_page(tables: Iterable[TableSpec] | None = None) -> str:
    """The Markdown page of the tables, in the order of the stages that make them.

    Args:   tables: what to describe; every declared table when None.
    Raises: ValueError: a table's stage has no place in the order.
    """
    known = TableSpec.registry.values() if tables is None else tables
    ordered = sorted(known, key=lambda table: (_stage_index(table), table.name))
    parts = [_INTRODUCTION, _summary(ordered), *(table_section(table) for table in ordered)]
    return "\n".join(parts)


def _stage_index(table: TableSpec) -> int:
    if table.stage not in STAGE_ORDER:
        raise ValueError(
            f"stage of table {table.name} must be one of {', '.join(STAGE_ORDER)}, got {table.stage!r}"
        )
    return STAGE_ORDER.index(table.stage)


def _summary(tables: Sequence[TableSpec]) -> str:
    rows = [(f"[`{t.name}`](#{t.name})", t.stage, t.description, _code_list(t.key)) for t in tables]
    return markdown_table(("table", "stage", "one row is", "key"), rows)


def table_section(table: TableSpec) -> str:
    """The section of one table: what a row is, and its columns with types and units."""
    heading = f"## {table.name}\n\n{table.description} Stage `{table.stage}`.\n"
    rows = [(f"`{c.name}`", _type(c), c.unit or "", _meaning(c)) for c in table.columns]
    return f"{heading}\n{markdown_table(('column', 'type', 'unit', 'meaning'), rows)}"


def _type(column: ColumnSpec) -> str:
    arrow = column.arrow_field().type
    name = f"list of {arrow.value_type}" if pa.types.is_list(arrow) else str(arrow)
    return f"{name} or null" if column.nullable else name


def _meaning(column: ColumnSpec) -> str:
    marks = ["*Key.*"] * column.key + ["*Measured.*"] * column.measured
    accepted = [f"One of {_code_list(column.choices)}."] if column.choices else []
    return " ".join([*marks, column.description, *accepted])


def _code_list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
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
