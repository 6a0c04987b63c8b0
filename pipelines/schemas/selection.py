"""Table of the ranking of designs that logic synthesis has not mapped."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import column, table

REASONS = ("uncertainty", "distance", "coverage")


@table("selection", stage="selection", release="internal", group="selection", checked_by={})
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRow:
    """A training design without area, by what its label would teach per second of labelling."""

    design_id: str = column("Design.", key=True, references="designs")
    suite: str = column("Suite of the program.")
    rank: int = column("Place in the ranking, 1 is the best.")
    score: float = column("Weighted mean of the three parts over the estimated seconds.")
    uncertainty: float = column("Rank of the disagreement of trees on area and power, 0 to 1 is the most.")
    feature_distance: float = column(
        "Distance to the nearest labelled or better design, as a share of the largest."
    )
    coverage: float = column("Mean of 1 / (1 + labelled designs) over its suite and its stage.")
    reason: str = column("Part of the score that is largest.", choices=REASONS)
    estimated_cost_s: float = column("Estimated seconds of mapping and power.", unit="s")
    chosen: bool = column("Whether it is within `selection.budget_core_hours`.")
