"""Tables of a page: caption, headers, aligned numbers, optional bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pipelines.reports.drawing.markup import Element, element

TEXT, NUMBER, PROSE = "text", "number", "prose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its header, and whether numbers, names or sentences are in it."""

    title: str
    kind: str = NUMBER


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell that sorts by another value than it shows, or has a bar or a key.

    Attributes:
        shown: text.
        sort: number that the row is sorted by; the text when None.
        share: length of a bar behind the number, 0 to 1.
        key: class of a coloured square before the text.
    """

    shown: str
    sort: float | None = None
    share: float | None = None
    key: str | None = None


Value: TypeAlias = "str | Cell"


def tabulate(
    caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Value]], *, sortable: bool = True
) -> Element:
    """A table in a box that scrolls by itself when it is too wide; the first cell heads its row."""
    head = [element("th", c.title, scope="col", class_=_class_of(c)) for c in columns]
    body = [element("tr", _cells(columns, row)) for row in rows]
    table = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", head)),
        element("tbody", body),
        class_="sortable" if sortable and len(rows) > 1 else None,
    )
    return element("div", table, class_="table")


def _cells(columns: Sequence[Column], row: Sequence[Value]) -> list[Element]:
    cells: list[Element] = []
    for index, (column, value) in enumerate(zip(columns, row, strict=True)):
        cell = value if isinstance(value, Cell) else Cell(shown=value)
        parts: list[Element | str] = [cell.shown]
        if cell.key is not None:
            parts.insert(0, element("span", class_=f"key {cell.key}", aria_hidden="true"))
        if cell.share is not None:
            width = f"width:{min(max(cell.share, 0.0), 1.0) * 100:.1f}%"
            parts.append(element("span", element("span", style=width), class_="bar", aria_hidden="true"))
        sort = None if cell.sort is None else repr(cell.sort)
        attributes = {"class_": _class_of(column), "data_sort": sort}
        tag = (
            element("th", parts, scope="row", **attributes)
            if index == 0
            else element("td", parts, **attributes)
        )
        cells.append(tag)
    return cells


def _class_of(column: Column) -> str | None:
    return None if column.kind == TEXT else column.kind
