"""Run-time data as a few numbers per argument, for the block `Data` of a prompt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.base.identity import canonical_json
from pipelines.c.signature import DataSet, finite_values
from pipelines.dataset.records.layout import RecordError

SUMMARY = ("minimum", "maximum", "mean", "zero_share", "is_sorted")
"""What is said of an array: smallest, largest and mean element, share of zeros, and whether the elements
ascend in C order, equal ones included (0 or 1)."""


def summarise_data(data: DataSet) -> str:
    """Return JSON of a data set: a number per scalar, an object with the names of `SUMMARY` per array.

    Numbers have four significant digits.
    """
    return canonical_json(
        {
            name: _array(v.ravel()) if v.ndim else _rounded(finite_values(v.ravel())[0].item())
            for name, v in data.items()
        }
    )


def summarise_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Summarise a data set from its rows in table `inputs`, as `summarise_data`."""
    return canonical_json(
        {
            row["argument"]: _rounded(json.loads(row["values"])[0] or row["minimum"])  # null is not finite
            if row["shape"] == "[]"
            else {name: _rounded(float(row[name])) for name in SUMMARY}
            for row in rows
        }
    )


def data_text(summary: str) -> dict[str, str]:
    """Return text by argument of what `summarise_data` gave; none for an empty text.

    Raises: RecordError: not such a JSON object.
    """
    try:
        parsed: dict[str, Any] = json.loads(summary or "{}")
        return {name: _value_text(value) for name, value in parsed.items()}
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise RecordError(
            "run-time data are not a summary; accepted: a JSON object of numbers, and of objects with "
            f"{', '.join(SUMMARY)}"
        ) from error


def _value_text(value: float | Mapping[str, float]) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={float(value[name]):.4g}" for name in SUMMARY)
    return f"{float(value):.10g}"


def _array(values: NDArray[Any]) -> dict[str, float]:
    numbers = values.astype(np.float64)
    finite = finite_values(numbers)
    figures = (
        finite.min(),
        finite.max(),
        finite.mean(),
        1.0 - int(np.count_nonzero(numbers)) / numbers.size,  # as in the table, to the last digit
        (np.diff(numbers) >= 0).all(),
    )
    return dict(zip(SUMMARY, (_rounded(float(f)) for f in figures), strict=True))


def _rounded(value: float) -> float | int:
    return value if isinstance(value, int) else float(f"{value:.4g}")
