"""Tables of predictors: accuracy on each target of each frozen split, and the gate's decisions."""

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


PROMOTION_DECISIONS = ("promoted", "refused", "candidate", "rolled_back")


@table("promotions", stage="models")
@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionRow:
    """The decision about one version of a model, and the errors that it was taken on."""

    model: str = column("Registered name of the model.", key=True)
    version: str = column("Version in the registry.", key=True)
    compared_with: str | None = column("Version of the champion then; null for none.")
    reference_set: str | None = column("Release, split and parts of the reference set; null for none.")
    row_count: int = column("Programs of the reference set that were scored.")
    error: float | None = column("Mean error over programs, a fraction; null where it was not scored.")
    champion_error: float | None = column("Mean error of the champion; null for none.")
    baseline_error: float | None = column("Mean error of the trivial baseline; null where not scored.")
    interval_low: float | None = column(
        "Lower end of the 95 % interval of the improvement over the champion; over the baseline without one."
    )
    interval_high: float | None = column("Upper end of the interval.")
    decision: str = column("What became of the version.", choices=PROMOTION_DECISIONS)
    reason: str = column("Why.")
