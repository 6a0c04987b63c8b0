"""Histograms of columns as small pictures in Markdown, which the Dagster UI shows without a click.

The UI draws a Markdown entry in place when it has fewer than 1000 characters, and hides a longer one behind a
link. A picture of one column as SVG in a data URI fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipelines.schemas import OK

BINS = 20
BAR_WIDTH, BAR_GAP, HEIGHT = 11, 1, 70
TEXT_HEIGHT = 15
INLINE_CHARACTERS = 1000
"""Length from which the Dagster UI hides a Markdown entry behind a link."""


def histograms(content: pa.Table, columns: Sequence[str]) -> dict[str, str]:
    """Return the histograms of columns over the rows that are ok; over all rows of a table without a status.

    Returns: Markdown by label; a sentence where no row has a value.
    """
    rows = content
    if "status" in content.column_names:
        is_ok = [status == OK for status in content.column("status").to_pylist()]
        rows = content.filter(pa.array(is_ok, type=pa.bool_()))
    return {f"distribution of {name}": _picture(name, rows.column(name)) for name in columns}


def _picture(name: str, column: pa.ChunkedArray) -> str:
    """Return an image in Markdown of one column."""
    values = np.asarray(column.drop_null().to_numpy(), np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return "No row has a value."
    counts, edges = np.histogram(values, bins=BINS)
    svg = quote(_svg(counts, low=_short(edges[0]), high=_short(edges[-1])), safe="/:=,;'")
    return f"![distribution of {name}](data:image/svg+xml,{svg})"


def _short(value: float) -> str:
    """Return four digits; whole numbers of more digits without an exponent, up to a billion."""
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def _svg(counts: NDArray[np.int64], *, low: str, high: str) -> str:
    """Return the bars as one path, the ends of the axis below them, the counts above."""
    width, base = BINS * (BAR_WIDTH + BAR_GAP), TEXT_HEIGHT + HEIGHT
    most = int(counts.max())
    heights = [-(-int(count) * HEIGHT // most) for count in counts]  # rounded up: one row is seen
    bars = "".join(
        f"M{place * (BAR_WIDTH + BAR_GAP)},{base}v-{height}h{BAR_WIDTH}v{height}"
        for place, height in enumerate(heights)
        if height
    )
    total = base + TEXT_HEIGHT
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{total}' "
        "font-family='sans-serif' font-size='11' fill='#888'>"
        f"<path fill='#48d' d='{bars}M0,{base}h{width}v1H0'/>"
        f"<text y='11'>{int(counts.sum())} rows, at most {most} per bar</text>"
        f"<text y='{total - 3}'>{low}</text>"
        f"<text x='{width}' y='{total - 3}' text-anchor='end'>{high}</text></svg>"
    )
