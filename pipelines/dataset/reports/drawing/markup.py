"""HTML and SVG as values, numbers as words, tables and panels.

Text is always escaped: a string is text and never markup.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from pipelines.dataset.reports.tables import ReportError

Attribute: TypeAlias = str | int | float | bool | None

VOID_TAGS = frozenset({"meta", "link", "br", "hr", "img", "input", "col"})
RAW_TAGS = frozenset({"style", "script"})
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9:-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One element; attributes in the order they were given."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Element | str, ...]


Child: TypeAlias = Element | str | Iterable["Element | str | None"] | None


def element(tag: str, *children: Child, **attributes: Attribute) -> Element:
    """Make an element.

    Args:
        children: elements, texts, or iterables of them; None is left out.
        attributes: `class_` gives class, `stroke_width` stroke-width. None and False are left out, True has
            no value, numbers are written with at most two decimals.
    Raises: ReportError: not a name of an element or attribute, or children in one that has none.
    """
    present = [
        (name, value) for name, value in attributes.items() if value is not None and value is not False
    ]
    named = tuple(_attribute(name, value) for name, value in present)
    kept = tuple(_flat(children))
    for name in (tag, *(name for name, _ in named)):
        if not _NAME.fullmatch(name):
            raise ReportError(f"a name in markup must be letters, digits and hyphens, got {name!r}")
    if tag in VOID_TAGS and kept:
        raise ReportError(f"an element that ends itself must have no content, got some in {tag}")
    return Element(tag=tag, attributes=named, children=kept)


def number(value: float) -> str:
    """Return a coordinate: at most two decimals, no trailing zeros, no negative zero."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def render(root: Element) -> str:
    """Return the text of an element and all in it.

    Raises: ReportError: content of `style` or `script` could end its element.
    """
    parts: list[str] = []
    _write(root, parts)
    return "".join(parts)


def _write(node: Element | str, parts: list[str]) -> None:
    if isinstance(node, str):
        parts.append(escape(node, quote=False))
        return
    attributes = "".join(f' {n}="{escape(v)}"' if v else f" {n}" for n, v in node.attributes)
    parts.append(f"<{node.tag}{attributes}>")
    if node.tag in VOID_TAGS:
        return
    if node.tag in RAW_TAGS:
        parts.append(_raw(node))
    else:
        for child in node.children:
            _write(child, parts)
    parts.append(f"</{node.tag}>")


def _raw(node: Element) -> str:
    text = "".join(child for child in node.children if isinstance(child, str))
    if "</" in text or "<!--" in text:
        raise ReportError(f"content of {node.tag} must not hold an end tag or a comment, got one")
    return text


def _attribute(name: str, value: str | float) -> tuple[str, str]:
    spelled = name.rstrip("_").replace("_", "-")
    if value is True:
        return spelled, ""
    return spelled, value if isinstance(value, str) else number(value)


def _flat(children: Iterable[Child]) -> Iterable[Element | str]:
    for child in children:
        if isinstance(child, Element | str):
            yield child
        elif child is not None:
            yield from (inner for inner in child if inner is not None)


# ---- words -----------------------------------------------------------------------------------------


NOTHING = "–"
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def count(value: int) -> str:
    """Return an integer with its thousands apart: 12,345."""
    return f"{value:,}"


def figure(value: float | None) -> str:
    """Return three significant digits: 0.0123, 4.56, 24.0, 789, 1,230, 12.3k, 1.23M; a dash for nothing."""
    if value is None or not math.isfinite(value):
        return NOTHING
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 9_995:
        scale, prefix = next((s, p) for s, p in _PREFIXES if size >= s * 0.9995)
        return _plain(value / scale) + prefix
    if size < 0.001:
        return f"{value:.1e}".replace("e-0", "e-")
    return _plain(value)


def _plain(value: float) -> str:
    rounded = float(f"{value:.3g}")
    digits = 2 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.0f}" if value == int(value) else f"{rounded:,.{max(0, digits)}f}"


def tick(value: float) -> str:
    """Return a label of an axis: 0.01, 5, 20, 1k, 50k, 2M."""
    size = abs(value)
    scale, prefix = next(((s, p) for s, p in _PREFIXES if size >= s * 0.9999), (1.0, ""))
    text = f"{size / scale:g}" if size >= 1e-4 or size == 0 else f"{size:.0e}".replace("e-0", "e-")
    return f"{'−' if value < 0 else ''}{text}{prefix}"


def percent(fraction: float | None, *, digits: int = 0) -> str:
    """Return a share: 12 %, <1 %, >99 % where rounding would say none or all."""
    if fraction is None or not math.isfinite(fraction):
        return NOTHING
    shown = f"{fraction * 100:.{digits}f}"
    step = 10.0**-digits
    if 0 < fraction < 1 and float(shown) in (0.0, 100.0):
        return f"<{step:g} %" if float(shown) == 0 else f">{100 - step:g} %"
    return f"{shown} %".replace("-", "−")


def signed_percent(fraction: float) -> str:
    """Return a deviation: +3.1 %, −12 %."""
    size = abs(fraction) * 100
    shown = f"{size:.1f}" if size < 10 else f"{size:,.0f}"
    sign = "+" if fraction > 0 else "−"
    return f"{'' if float(shown.replace(',', '')) == 0 else sign}{shown} %"


def coefficient(value: float | None) -> str:
    """Return a correlation without its zero: .87, −.05, 1."""
    if value is None:
        return NOTHING
    text = f"{abs(value):.2f}"
    text = "1" if text == "1.00" else text.removeprefix("0")
    return f"−{text}" if value < 0 and text != ".00" else text


def duration(seconds: float) -> str:
    """Return a time: 0.04 s, 12 s, 3.5 min, 2.1 h."""
    if seconds < 60:
        return f"{figure(seconds)} s"
    if seconds < 3600:
        return f"{figure(seconds / 60)} min"
    return f"{figure(seconds / 3600)} h"


def plural(number: int, word: str, words: str | None = None) -> str:
    """Return a number with its word: 1 design, 2 designs."""
    return f"{count(number)} {word if number == 1 else words or word + 's'}"


def deviation(fraction: float) -> str:
    """Return a deviation that may be tiny: +1.23 %, −0.02 %, 0 %, +0.0001 %."""
    size = abs(fraction) * 100
    sign = "" if size == 0 else "+" if fraction > 0 else "−"
    return f"{sign}{figure(size)} %"


# ---- tables and panels -----------------------------------------------------------------------------


MANY_COLUMNS = 11
"""A table of more columns has smaller letters and less room between them."""

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
    """Return a table in a box that scrolls by itself when it is too wide; the first cell heads its row."""
    head = [element("th", c.title, scope="col", class_=_class_of(c)) for c in columns]
    body = [element("tr", _cells(columns, row)) for row in rows]
    table = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", head)),
        element("tbody", body),
        class_="sortable" if sortable and len(rows) > 1 else None,
    )
    return element("div", table, class_="table dense" if len(columns) > MANY_COLUMNS else "table")


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


def heat_table(
    caption: str, heads: Sequence[str], groups: Sequence[tuple[str, Sequence[Element]]], *, class_: str
) -> Element:
    """Return a table of shades: rows below their group's title; `class_` is that of the box around it."""
    head = element("tr", element("td"), [element("th", element("span", h), scope="col") for h in heads])
    bodies = [
        element(
            "tbody",
            element("tr", element("th", title, scope="rowgroup", colspan=len(heads) + 1), class_="group"),
            rows,
        )
        for title, rows in groups
    ]
    shown = element("caption", element("span", caption))
    return element(
        "div", element("table", shown, element("thead", head), bodies, class_="heat"), class_=class_
    )


def heat_row(title: str, cells: Sequence[tuple[str, float | None]], *before: Element) -> Element:
    """Return a row of `heat_table`: (text, strength -1 to 1) per cell, after cells without shade."""
    shaded = [
        element(
            "td",
            element("span", shown),
            class_=None if strength is None else "falls" if strength < 0 else "rises",
            style=None if strength is None else f"--strength:{min(abs(strength), 1.0):.2f}",
        )
        for shown, strength in cells
    ]
    return element("tr", element("th", title, scope="row"), *before, shaded)


def section(name: str, title: str, *children: Child) -> Element:
    """Return a section with its heading; the navigation points to its name."""
    return element("section", element("h2", title, id=f"{name}-heading"), *children, id=name)


def note(*words: str) -> Element:
    """Return a paragraph that explains."""
    return element("p", *words, class_="note")


def panel(title: str, unit: str, *children: Child) -> Element:
    """Return a chart with its heading and what belongs to it."""
    heading = element("h3", title, element("span", f" {unit}", class_="unit") if unit else None)
    return element("article", heading, *children, class_="panel")


def slug(name: str) -> str:
    """Return a name as part of a class or an id."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower())
