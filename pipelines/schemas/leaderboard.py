"""Tables of predictors: accuracy on each target of each frozen split, costs, and the gate's decisions."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import column, table

_PARTS = ("train", "validation", "test", "evaluation", "fields")
LEADERBOARD_METRICS = ("mape", "median_ape", "mse", "r2", "spearman", "pass_at_5")


@table("leaderboard", stage="models", checked_by={}, release="internal")
@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRow:
    """One metric of one predictor on one target of one split."""

    predictor: str = column("Registered name of the predictor.", key=True)
    version: str = column("Hash of code, data and settings the predictor was trained with.", key=True)
    level: str = column("Level of information that the predictor was given; levels are never compared.")
    target: str = column("Predicted column.", key=True)
    split: str = column("Frozen split.", key=True)
    part: str = column("Part of the split.", key=True, choices=_PARTS)
    metric: str = column(
        "Metric; pass_at_5 is the error of the best of five drawn answers, of predictors that draw them.",
        key=True,
        choices=LEADERBOARD_METRICS,
    )
    value: float | None = column(
        "Value of the metric, percentage errors as fractions, MSE in the target's squared unit; null where "
        "undefined."
    )
    interval_low: float | None = column("Lower end of the 95 % bootstrap interval; null where undefined.")
    interval_high: float | None = column("Upper end of the 95 % bootstrap interval; null where undefined.")
    row_count: int = column("Rows that the metric is computed over, those without an answer left out.")


@table("workload_errors", stage="models", checked_by={}, release="internal")
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadErrorRow:
    """The error of one predictor on one target of one program of the evaluation suite."""

    predictor: str = column("Registered name of the predictor.", key=True)
    version: str = column("Hash of code, data and settings the predictor was trained with.", key=True)
    level: str = column("Level of information that the predictor was given; levels are never compared.")
    target: str = column("Predicted column.", key=True)
    split: str = column("Frozen split.", key=True)
    workload: str = column("Name of the program.", key=True)
    value: float = column("Mean absolute percentage error over the program's designs, a fraction.")
    row_count: int = column("Designs with an answer.")


@table("predictor_costs", stage="models", checked_by={}, release="internal")
@dataclass(frozen=True, slots=True, kw_only=True)
class PredictorCostRow:
    """What one version of a predictor costs."""

    predictor: str = column("Registered name of the predictor.", key=True)
    version: str = column("Hash of code, data and settings the predictor was trained with.", key=True)
    level: str = column("Level of information that the predictor was given.")
    parameter_count: int | None = column("Trained numbers; null where they are not counted.")
    training_wall_s: float | None = column("Time of training.", unit="s", measured=True)
    predict_wall_s: float | None = column(
        "Median time of one question, asked alone and for the first time, with everything that the level "
        "needs, such as high-level synthesis; null for tasks without labelled programs.",
        unit="s",
        measured=True,
    )


PROMOTION_DECISIONS = ("promoted", "refused", "candidate", "rolled_back")


@table("promotions", stage="models", checked_by={}, release="internal")
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
