"""`simfoundry report`: the answer about a written page."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from assets.pages import WrittenPage


def page_as_json(page: WrittenPage) -> dict[str, Any]:
    """Return the page's path and content as JSON values, without the single points of drawings."""
    figures = asdict(page.report)
    for estimate in figures["estimates"]:
        del estimate["points"]
    if figures["coverage"] is not None and figures["coverage"]["projection"] is not None:
        del figures["coverage"]["projection"]["points"]
    about = {
        "page": str(page.path),
        "bytes": len(page.content),
        "sha256": hashlib.sha256(page.content).hexdigest(),
    }
    return {**about, **_plain(figures)}


def summary_lines(page: WrittenPage) -> list[str]:
    """Return the lines that summarise a page on the terminal after it is written."""
    inventory, timing = page.report.inventory, page.report.timing
    lines = [
        f"{inventory.program_count} programs, {inventory.design_count} designs, "
        f"{inventory.labelled_count} fully labelled"
    ]
    lines += [f"{figures.count} {figures.tile}" for figures in page.report.grouped]
    if timing is not None and timing.labelled_count:
        lines.append(f"{timing.designs_per_core_hour:.0f} labelled designs a core-hour")
    return [*lines, *page.report.problems, f"page: {page.path}"]


def _plain(value: Any) -> Any:
    """Return a value as JSON values: tuple keys joined, no NaN."""
    if isinstance(value, Mapping):
        return {" ".join(k) if isinstance(k, tuple) else k: _plain(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
