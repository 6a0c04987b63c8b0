"""The table of results: how well each predictor does on each target of each frozen split."""

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
    part: str = column("Side of the split.", key=True, choices=("train", "validation", "test", "evaluation"))
    metric: str = column("Metric.", key=True, choices=("mape", "r2", "spearman"))
    value: float = column("Value of the metric; MAPE as a fraction.")
    interval_low: float = column("Lower end of the 95 % bootstrap interval.")
    interval_high: float = column("Upper end of the 95 % bootstrap interval.")
    row_count: int = column("Rows the metric was taken over.")
