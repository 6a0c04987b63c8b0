"""`simfoundry report`: the page of what is in the tables, or in a release.

Belongs here: where it is read from and written to, the answer as JSON. Does not: its figures or its looks
(`pipelines.reports`), files of single designs (report.py).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assets.deployments import Deployment
from assets.errors import FoundryError
from pipelines.reports import Report, draw_page, read_report
from pipelines.schemas import write_bytes_atomically

PAGE_FILE = "report.html"
OWN_TITLE = "What the foundry made"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPage:
    """A page on disk and the figures in it."""

    path: Path
    content: bytes
    report: Report

    def as_json(self) -> dict[str, Any]:
        """Where it is and what it says; single points of drawings left out."""
        figures = asdict(self.report)
        for estimate in figures["estimates"]:
            del estimate["points"]
        if figures["coverage"] is not None and figures["coverage"]["projection"] is not None:
            del figures["coverage"]["projection"]["points"]
        page = {
            "page": str(self.path),
            "bytes": len(self.content),
            "sha256": hashlib.sha256(self.content).hexdigest(),
        }
        return {**page, **_plain(figures)}


def write_page(
    deployment: Deployment, *, release: Path | None = None, out: Path | None = None
) -> WrittenPage:
    """Draw the tables of a deployment, or of a release, and write the page.

    Args:
        release: folder of tables, `<table>/*.parquet` in it or in its folder `tables`.
        out: file of the page; by default in the data folder.
    Raises: FoundryError: the release is no folder, or the page cannot be written. ReportError: no tables.
    """
    if release is not None and not release.is_dir():
        raise FoundryError(f"a release must be a folder with tables, got no folder ({release})")
    name = OWN_TITLE if release is None else f"Release {release.resolve().name}"
    report = read_report(deployment.data_dir if release is None else release, name=name)
    default = PAGE_FILE if release is None else f"report-{release.resolve().name}.html"
    path = deployment.data_dir / default if out is None else out
    content = draw_page(report).encode()
    try:
        write_bytes_atomically(path, content)
    except OSError as error:
        raise FoundryError(
            f"a page must be a file that can be written, got {error.strerror} ({path})"
        ) from error
    return WrittenPage(path=path, content=content, report=report)


def summary_lines(page: WrittenPage) -> list[str]:
    """What a person reads when the page is written."""
    inventory, timing = page.report.inventory, page.report.timing
    lines = [
        f"{inventory.program_count} programs, {inventory.design_count} designs, "
        f"{inventory.labelled_count} fully labelled"
    ]
    if timing is not None:
        lines.append(f"{timing.designs_per_core_hour:.0f} labelled designs a core-hour")
    return [*lines, *page.report.problems, f"page: {page.path}"]


def _plain(value: Any) -> Any:
    """The same as JSON values: keys that are tuples joined, no NaN."""
    if isinstance(value, Mapping):
        return {" ".join(k) if isinstance(k, tuple) else k: _plain(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
