"""Slack of labels, from clock period and longest path: derived where rows are read, never stored."""
# Statements are put together from names of tables and columns, which are declared in this project.
# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pipelines.schemas.accelerators import FIXED_CLOCK_PERIOD_NS

if TYPE_CHECKING:
    import polars as pl

SLACK, TIMING_MET = "slack_ns", "timing_met"
_PERIOD, _DELAY = "clock_period_ns", "delay_ns"
_JSON_PATH = f"$.{_PERIOD}"
TIMED: Mapping[str, str] = {
    "labels": f"(SELECT {_PERIOD} FROM designs WHERE designs.design_id = labels.design_id)",
    "accelerators": f"CAST(configuration ->> '{_JSON_PATH}' AS DOUBLE)",
    "fixed_networks": f"CAST({FIXED_CLOCK_PERIOD_NS} AS DOUBLE)",
}
"""Tables with a longest path, and where their clock period stands, in SQL."""


def timing_of(clock_period_ns: float | None, delay_ns: float | None) -> dict[str, float | bool | None]:
    """Return slack and whether the clock is met; both None where the longest path or the clock is unknown."""
    if clock_period_ns is None or delay_ns is None:
        return {SLACK: None, TIMING_MET: None}
    return {SLACK: clock_period_ns - delay_ns, TIMING_MET: delay_ns <= clock_period_ns}


def timing_sql(clock_period_ns: str, delay_ns: str) -> str:
    """Return the columns of slack and of whether the clock is met."""
    return f"{clock_period_ns} - {delay_ns} AS {SLACK}, {delay_ns} <= {clock_period_ns} AS {TIMING_MET}"


def timing_view() -> str:
    """Return all longest paths against their clocks, a row per label."""
    columns = {
        "labels": "design_id, suite, tool",
        "accelerators": "accelerator_id, NULL, NULL",
        "fixed_networks": 'fixed_id, "group", tool',
    }
    parts = [
        f"SELECT '{table}', {columns[table]}, {period}, {_DELAY} FROM {table}"
        for table, period in TIMED.items()
    ]
    head = f"table_name, id, suite, tool, {_PERIOD}, {_DELAY}"
    rows = f"({' UNION ALL '.join(parts)}) AS timed({head})"
    return f"SELECT *, {timing_sql(_PERIOD, _DELAY)} FROM {rows} WHERE {_DELAY} IS NOT NULL"


def with_timing(table: str, rows: pl.LazyFrame, other: Callable[[str], pl.LazyFrame | None]) -> pl.LazyFrame:
    """Return the rows with slack and whether the clock is met, if their table has a longest path.

    Args: other: another table of the same release, None if it lacks the table.
    """
    import polars as pl

    if table not in TIMED:
        return rows
    if table == "labels":
        designs = other("designs")
        if designs is None:
            rows = rows.with_columns(pl.lit(None, pl.Float64).alias(_PERIOD))
        else:
            periods = designs.select("design_id", _PERIOD).unique("design_id")
            rows = rows.join(periods, on="design_id", how="left", maintain_order="left")
    elif table == "accelerators":
        period = pl.col("configuration").str.json_path_match(_JSON_PATH)
        rows = rows.with_columns(period.cast(pl.Float64).alias(_PERIOD))
    else:
        rows = rows.with_columns(pl.lit(FIXED_CLOCK_PERIOD_NS).alias(_PERIOD))
    slack = pl.col(_PERIOD) - pl.col(_DELAY)
    met = pl.col(_DELAY) <= pl.col(_PERIOD)
    return rows.with_columns(slack.alias(SLACK), met.alias(TIMING_MET)).drop(_PERIOD)
