"""Rows as aligned text, for people."""

from __future__ import annotations

from collections.abc import Sequence


def aligned_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, each column as wide as its longest cell.

    Args: rows: the head first; all of one length.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(v.ljust(w) for v, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    rule = "  ".join("-" * width for width in widths)
    return [lines[0], rule, *lines[1:]]
