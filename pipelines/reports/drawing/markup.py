"""HTML and SVG as values: text is always escaped, for a string can only ever be text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from pipelines.reports.errors import ReportError

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
    given = [(name, value) for name, value in attributes.items() if value is not None and value is not False]
    named = tuple(_attribute(name, value) for name, value in given)
    kept = tuple(_flat(children))
    for name in (tag, *(name for name, _ in named)):
        if not _NAME.fullmatch(name):
            raise ReportError(f"a name in markup must be letters, digits and hyphens, got {name!r}")
    if tag in VOID_TAGS and kept:
        raise ReportError(f"an element that ends itself must have no content, got some in {tag}")
    return Element(tag=tag, attributes=named, children=kept)


def number(value: float) -> str:
    """A coordinate: at most two decimals, no trailing zeros, no negative zero."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def render(root: Element) -> str:
    """The text of an element and all in it.

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
