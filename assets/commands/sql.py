"""`simfoundry sql`: the answer of a query as text."""

from __future__ import annotations

import json
import math
from typing import Any, cast

from assets.commands.aligned import aligned_lines
from assets.deployments import find_deployment
from assets.queries import as_records, run_query

WIDTH_LIMIT = 80


def answer_query(query: str, *, as_json: bool) -> str:
    """Answer a query as an aligned table, or as a JSON list of objects.

    Raises: FoundryError: not one read-only statement, not valid SQL, or it reads a damaged file.
    """
    result = run_query(find_deployment().data_dir, query)
    if as_json:
        return json.dumps(_finite(as_records(result)), indent=2, default=str, allow_nan=False)
    lines = aligned_lines([list(result.columns), *[[_shown(v) for v in row] for row in result.rows]])
    return "\n".join([*lines, f"{len(result.rows)} rows"])


def _finite(value: Any) -> Any:
    """A value with null in place of NaN and infinities, which JSON has not."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast("dict[str, Any]", value).items()}
    return [_finite(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def _shown(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.6g}"
    text = " ".join(str(value).split())
    return text if len(text) <= WIDTH_LIMIT else text[: WIDTH_LIMIT - 1] + "…"
