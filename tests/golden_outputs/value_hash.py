"""Hash of result values: what a change of an engine must not alter while its version stays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import BaseModel

DIGITS = 12
"""Significant digits of a float: the last bits of library sums differ between processors."""


def value_hash(value: object) -> str:
    """First 16 hexadecimal digits of the SHA-256 of a value without ids, reasons, times and versions.

    The fields of a class count by their order and not by their names: a renamed field changes nothing.

    Raises: TypeError: a value of an unknown type.
    """
    text = json.dumps(_canonical(value), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def is_excluded(name: str) -> bool:
    """Whether a field or column names a row, explains it, or says when and by what it was computed."""
    return name in ("reason", "file", "folder", "executable", "evaluator", "node_ids") or name.endswith(
        ("_id", "_reason", "wall_s", "solver_s", "version", "_sha256")
    )


LATER_FIELDS = ("structure", "static", "objects", "is_constant", "own", "steps")
"""Fields that came after the recorded results: left out while they are empty, so that old hashes stay."""


def _is_kept(name: str, value: Any) -> bool:
    return not is_excluded(name) and not (name in LATER_FIELDS and not value)


def _canonical(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            return f"{float(value):.{DIGITS}g}"
        case bytes():
            return value.hex()
        case Fraction():
            return str(value)
        case np.bool_():
            return bool(value)
        case np.ndarray():
            return [value.dtype.str, list(value.shape), [_canonical(v) for v in value.reshape(-1).tolist()]]
        case pa.Table():
            columns = {n: value.column(n).to_pylist() for n in value.column_names if not is_excluded(n)}
            return _canonical(columns)
        case BaseModel():
            names = type(value).model_fields
            return [_canonical(getattr(value, name)) for name in names if not is_excluded(name)]
        case Mapping():
            return sorted((json.dumps(_canonical(k)), _canonical(v)) for k, v in value.items())  # type: ignore[misc]
        case Set():
            return sorted(json.dumps(_canonical(v)) for v in value)  # type: ignore[misc]
        case Sequence() | Iterator():
            return [_canonical(v) for v in value]  # type: ignore[misc]
        case _ if is_dataclass(value):
            named = ((f.name, getattr(value, f.name)) for f in fields(value))
            return [_canonical(own) for name, own in named if _is_kept(name, own)]
        case _:
            raise TypeError(f"a value without a canonical form: {type(value).__name__}")
