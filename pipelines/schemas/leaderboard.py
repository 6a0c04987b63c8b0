"""The table of results: accuracy of each predictor on each target of each frozen split."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import column, table


@table("leaderboard", stage="models")
@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRow:
    """One metric of one predictor on one target of one split."""

    predictor: str = column("Registered name of the predictor.", key=True)
    version: str = column("Hash of code, data and settings the predictor was trained with.", key=True)
    target: str = column("Predicted column.", key=True)
    split: str = column("Frozen split.", key=True)
    part: str = column("Part of the split.", key=True, choices=("train", "validation", "test", "evaluation"))
    metric: str = column("Metric.", key=True, choices=("mape", "r2", "spearman"))
    value: float | None = column("Value of the metric, MAPE as a fraction; null where it is undefined.")
    interval_low: float | None = column("Lower end of the 95 % bootstrap interval; null where undefined.")
    interval_high: float | None = column("Upper end of the 95 % bootstrap interval; null where undefined.")
    row_count: int = column("Rows that the metric is computed over.")
