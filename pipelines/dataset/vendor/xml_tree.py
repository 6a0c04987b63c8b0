"""XML of unknown origin as a plain tree, read by defusedxml.

A document type is refused: entities are declared in it alone, and no report has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, ParseError

from pipelines.base.files import read_bounded
from pipelines.dataset.vendor.errors import VendorError

SIZE_LIMIT_BYTES = 16 << 20  # attributes take 27 times the memory of their text
DEPTH_LIMIT = 100
ELEMENT_LIMIT = 1_000_000
_WHOLE = re.compile(r"\d{1,18}")
_DECIMAL = re.compile(r"\d{1,12}(\.\d{1,12})?")


@dataclass(slots=True, kw_only=True)
class Element:
    """An element: its name, attributes, children in order, and its own text.

    Attributes:
        line: of its start, from 1; pieces: of the text, in order.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list["Element"])
    pieces: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        """The element's own text without space around it."""
        return "".join(self.pieces).strip()

    def child(self, *path: str) -> Element | None:
        """Return the first element down a path of names, None when a step is missing."""
        element: Element | None = self
        for tag in path:
            element = next((c for c in element.children if c.tag == tag), None) if element else None
        return element

    def text_at(self, *path: str) -> str | None:
        """Return the text of the first element down a path; None without one, or when it is empty."""
        element = self.child(*path)
        return None if element is None else element.text or None


def read_xml(path: Path) -> Element:
    """Read an XML file.

    Returns: its root.
    Raises:  VendorError: not readable, larger than 16 MiB, not well-formed, nested more than 100 deep, or
             with a document type.
    """
    content = read_bounded(path, what="report", most_bytes=SIZE_LIMIT_BYTES, error=VendorError)
    return parse_xml(content, where=str(path))


def parse_xml(content: bytes, *, where: str) -> Element:
    """Parse XML; see `read_xml` for what is refused.

    Args: where: name of the text in messages.
    """
    builder = _Builder(where=where)
    parser = DefusedXMLParser(target=builder, forbid_dtd=True)
    builder.line = lambda: parser.parser.CurrentLineNumber
    try:
        parser.feed(content)
        parser.close()
    except DefusedXmlException as error:
        raise VendorError(
            f"a report must have no document type and no entities, got one ({where}:{builder.line()})"
        ) from error
    except ParseError as error:
        problem, line = str(error).partition(":")[0], error.position[0]
        raise VendorError(f"a report must be well-formed XML, got {problem} ({where}:{line})") from error
    except LookupError as error:
        raise VendorError(f"a report must be well-formed XML, got {error} ({where})") from error
    return builder.roots[0]


def _no_line() -> int:
    return 0


@dataclass(slots=True, kw_only=True)
class _Builder:
    """Builds the tree as the parser reads.

    Attributes:
        line: the parser's line, from 1.
    """

    where: str
    line: Callable[[], int] = _no_line
    open_elements: list[Element] = field(default_factory=list[Element])
    roots: list[Element] = field(default_factory=list[Element])
    count: int = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.line()
        if len(self.open_elements) >= DEPTH_LIMIT:
            raise VendorError(
                f"a report must nest at most {DEPTH_LIMIT} deep, got more ({self.where}:{line})"
            )
        self.count += 1
        if self.count > ELEMENT_LIMIT:
            raise VendorError(
                f"a report must have at most {ELEMENT_LIMIT} elements, got more ({self.where}:{line})"
            )
        element = Element(tag=tag, attributes=attributes, line=line)
        (self.open_elements[-1].children if self.open_elements else self.roots).append(element)
        self.open_elements.append(element)

    def end(self, tag: str) -> None:
        del tag  # the parser has checked that it is the open one
        self.open_elements.pop()

    def data(self, piece: str) -> None:
        self.open_elements[-1].pieces.append(piece)


def whole_number(element: Element | None, *, where: str, unknown: tuple[str, ...] = ()) -> int | None:
    """Return whole number an element has; None without an element, without text, or for a word for unknown.

    Args:   unknown: such words.
    Raises: VendorError: the text is something else.
    """
    if element is None or not element.text or element.text in unknown:
        return None
    if not _WHOLE.fullmatch(element.text):
        raise VendorError(
            f"{element.tag} must be a whole number, got {element.text[:40]!r} ({where}:{element.line})"
        )
    return int(element.text)


def decimal_number(element: Element | None, *, where: str) -> float | None:
    """Return the number an element has; None without one or without text.

    Raises: VendorError: the text is something else.
    """
    if element is None or not element.text:
        return None
    if not _DECIMAL.fullmatch(element.text):
        raise VendorError(
            f"{element.tag} must be a number, got {element.text[:40]!r} ({where}:{element.line})"
        )
    return float(element.text)
