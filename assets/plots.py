"""Plots for asset metadata."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Sequence

import pyarrow as pa

from pipelines.cache import ContentCache
from pipelines.identity import content_hash
from pipelines.schemas import OK

PANEL_INCHES = (3.0, 2.4)
DOTS_PER_INCH = 80
KIND, VERSION = "plots", "histograms-1"
"""Of entries of the cache; a new version for every change that gives another picture."""


def cached_plot(content: pa.Table, columns: Sequence[str], cache: ContentCache) -> str:
    """What `plot_distributions` gives, drawn once: drawing takes half a second.

    Raises: OSError: the disk is full or not writable.
    """
    digest = hashlib.sha256()
    for name in ("status", *columns):
        digest.update(repr(content.column(name).to_pylist()).encode() + b"\0")
    key = content_hash(VERSION, list(columns), digest.hexdigest())
    return cache.cached(KIND, key, lambda: plot_distributions(content, columns), str)


def plot_distributions(content: pa.Table, columns: Sequence[str]) -> str:
    """Histograms of columns over the rows that are ok.

    Returns: Markdown with one PNG as a data URI; a sentence when no row is ok.
    """
    is_ok = [status == OK for status in content.column("status").to_pylist()]
    rows = content.filter(pa.array(is_ok, type=pa.bool_()))
    if not rows.num_rows:
        return "No row is ok."
    from matplotlib.figure import Figure

    width, height = PANEL_INCHES
    figure = Figure(figsize=(width * len(columns), height), layout="constrained")
    panels = figure.subplots(1, len(columns), squeeze=False)[0]
    for panel, name in zip(panels, columns, strict=True):
        panel.hist(rows.column(name).drop_null().to_numpy(), bins=20)
        panel.set_xlabel(name)
    panels[0].set_ylabel("designs")
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=DOTS_PER_INCH)
    encoded = base64.b64encode(picture.getvalue()).decode("ascii")
    return f"![distribution of {', '.join(columns)}](data:image/png;base64,{encoded})"
