"""Lengths of prompts: their distribution over the records of each format, stage and part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

LENGTH_COLUMNS = ("format", "stage", "part", "prompt_characters", "left_out")
"""Columns of table records that lengths are computed from."""
_GROUP = ("format", "stage", "part")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLengths:
    """Characters of the prompts of one format, stage and part.

    Attributes:
        records: whose length is known; left_out: those that lack something because of the context limit.
        p5, median, p95: quantiles, linear between neighbours.
    """

    format: str
    stage: str
    part: str
    records: int
    p5: float
    median: float
    p95: float
    maximum: int
    left_out: int


def prompt_lengths(records: pl.LazyFrame) -> list[PromptLengths]:
    """Return the distribution of the lengths of prompts, sorted by format, stage and part.

    Args: records: LENGTH_COLUMNS of table records; `left_out` is null or empty where nothing is left out.
    """
    import polars as pl  # records of a question need none of it

    length = pl.col("prompt_characters")
    quantiles = {"p5": 0.05, "median": 0.5, "p95": 0.95}
    rows = (
        records.filter(length.is_not_null())
        .group_by(_GROUP)
        .agg(
            records=pl.len(),
            **{name: length.quantile(level, "linear") for name, level in quantiles.items()},
            maximum=length.max().cast(pl.Int64),
            left_out=(pl.col("left_out").fill_null("") != "").sum(),
        )
        .sort(_GROUP)
    )
    return [PromptLengths(**row) for row in rows.collect().to_dicts()]
