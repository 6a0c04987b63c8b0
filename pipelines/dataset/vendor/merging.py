"""Rows of an import among rows of earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pipelines.dataset.vendor.errors import VendorError
from pipelines.schemas import TableSpec


def merge_rows(spec: TableSpec, present: Sequence[Any], imported: Iterable[Any]) -> tuple[list[Any], int]:
    """Return the rows of earlier imports and of this one; of one key this one's stay.

    Returns: all rows, and how many earlier ones were replaced by different ones.
    Raises:  VendorError: two different rows of one key in the same import.
    """
    merged = {_key(spec, row): row for row in present}
    earlier = dict(merged)
    new: dict[tuple[Any, ...], Any] = {}
    for row in imported:
        key = _key(spec, row)
        if new.setdefault(key, row) != row:
            named = ", ".join(f"{name} {str(value)[:60]}" for name, value in zip(spec.key, key, strict=True))
            raise VendorError(
                f"one import must have one row of {spec.name} a key, got two that differ of {named}; "
                "import the files one by one with --kernel or --directives"
            )
    merged |= new
    return list(merged.values()), sum(key in earlier and earlier[key] != row for key, row in new.items())


def _key(spec: TableSpec, row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in spec.key)
