"""The leaderboard as the page lists it, best predictor first."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipelines.reports.samples import LABELS
from pipelines.reports.tables import TableSet

PARTS = ("test", "validation", "train")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A metric with its 95 % interval, and the rows it was taken over."""

    value: float
    low: float
    high: float
    row_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A predictor on a target and split.

    Attributes:
        version: digits of the hash of what it was trained with.
        scores: by (part, metric).
    """

    predictor: str
    version: str
    target: str
    split: str
    scores: dict[tuple[str, str], Score]

    @property
    def test_error(self) -> float:
        """MAPE on the test side as a fraction; infinite when there is none."""
        score = self.scores.get(("test", "mape"))
        return float("inf") if score is None else score.value


def read_leaderboard(tables: TableSet) -> list[Entry]:
    """Entries by split and target in the order of the page, the smallest test error first."""
    names = ("predictor", "version", "target", "split", "part", "metric")
    keys = list(zip(*(tables.texts("leaderboard", name) for name in names), strict=True))
    columns = [
        tables.numbers("leaderboard", c) for c in ("value", "interval_low", "interval_high", "row_count")
    ]
    entries: dict[tuple[str, ...], dict[tuple[str, str], Score]] = {}
    for index, (predictor, version, target, split, part, metric) in enumerate(keys):
        value, low, high, rows = (float(column[index]) for column in columns)
        if math.isnan(value):
            continue
        scores = entries.setdefault((predictor, version, target, split), {})
        scores[part, metric] = Score(
            value=value,
            low=value if math.isnan(low) else low,
            high=value if math.isnan(high) else high,
            row_count=0 if math.isnan(rows) else int(rows),
        )
    found = [
        Entry(predictor=p, version=v, target=t, split=s, scores=scores)
        for (p, v, t, s), scores in entries.items()
    ]
    order = {q.column: index for index, q in enumerate(LABELS)}
    return sorted(
        found,
        key=lambda e: (
            e.split,
            order.get(e.target, len(order)),
            e.target,
            e.test_error,
            e.predictor,
            e.version,
        ),
    )
