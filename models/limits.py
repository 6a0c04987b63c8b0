"""Limits of questions that come from outside: rows, texts and numbers, checked before a model sees them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.tasks import Column

LONG = (-(2**63), 2**63 - 1)
"""Numbers of a column of kind `long`."""
SHOWN = 40


class LimitError(ValueError):
    """A question that exceeds a limit or has not the columns; the message names the row, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a model is asked at most.

    Attributes:
        body_bytes: of one request.
        rows: of one request.
        text_bytes: of one text, as UTF-8.
    """

    body_bytes: int = 4 * 2**20
    rows: int = 256
    text_bytes: int = 64 * 2**10

    def check_rows(self, rows: Sequence[Any], columns: Sequence[Column]) -> None:
        """Check the rows of a request.

        Raises: LimitError: too many, none, or one that `row_problem` refuses.
        """
        if not 0 < len(rows) <= self.rows:
            raise LimitError(f"{len(rows):,} rows; accepted: 1 to {self.rows:,} per request")
        for place, row in enumerate(rows):
            if problem := self.row_problem(row, columns):
                raise LimitError(f"row {place}: {problem}")

    def row_problem(self, row: Any, columns: Sequence[Column]) -> str:
        """Return what is wrong with a row of a question, and what is accepted; empty where nothing is."""
        if not isinstance(row, Mapping):
            return f"not an object: {_shown(row)}; accepted: values by column"
        return next(self._row_problems(row, columns), "")

    def _row_problems(self, row: Mapping[Any, Any], columns: Sequence[Column]) -> Iterator[str]:
        known = {column.name: column for column in columns}
        for name in row:
            if name not in known:
                yield f"unknown column: {_shown(name)}; accepted: {', '.join(known)}"
        for name, column in known.items():
            if row.get(name) is not None:
                if problem := self._value_problem(row[name], column):
                    yield f"{name}: {problem}"
            elif column.required:
                yield f"no value of column {name}"

    def _value_problem(self, value: Any, column: Column) -> str:
        if column.kind == "string":
            return self._text_problem(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{_shown(value)}; accepted: a number"
        if column.kind == "long" and (not math.isfinite(value) or value != int(value)):
            return f"{_shown(value)}; accepted: a whole number"
        least, most = column.least, column.most
        if column.kind == "long":
            least, most = (LONG[0] if least is None else least), (LONG[1] if most is None else most)
        if isinstance(value, float) and not math.isfinite(value):
            return f"{value}; accepted: a finite number"
        if isinstance(value, int) and not LONG[0] <= value <= LONG[1]:
            return f"{_shown(value)}; accepted: a number of at most 64 bits"
        if (least is not None and value < least) or (most is not None and value > most):
            return f"{value}; accepted: {_range(least, most)}"
        return ""

    def _text_problem(self, value: Any) -> str:
        if not isinstance(value, str):
            return f"{_shown(value)}; accepted: text"
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            return "not Unicode text: half of a surrogate pair"
        if "\0" in value:
            return "a character NUL; accepted: text without it"
        if size > self.text_bytes:
            return f"{size:,} bytes of text; accepted: at most {self.text_bytes:,}"
        return ""


def _range(least: float | None, most: float | None) -> str:
    if least is None or most is None:
        return f"{most:g} or less" if least is None else f"{least:g} or more"
    return f"{least:g} to {most:g}"


def _shown(value: Any) -> str:
    text = (
        repr(value) if not isinstance(value, int) or abs(value) < 2**70 else "a number of more than 70 bits"
    )
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
