"""Intervals of answers: a factor per target that makes intervals cover the validation part.

Source: Papadopoulos et al. 2002 (split conformal prediction), on logarithms. Designs of one group are alike,
so a group counts once however many designs it has. Coverage is measured on parts that chose nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.leaderboard import Prediction

COVERED = 0.9
"""Share of labels that an interval is to hold."""
FACTOR = "factor"
MEASURED = ("test", "evaluation")
"""Parts on which coverage is measured."""
_LEAST = 1e-9


def covering_score(scores: Iterable[tuple[str, float]], covered: float = COVERED) -> float:
    """The least score that a share of `covered` · (1 + 1 / groups) of the groups does not exceed.

    Args:    scores: group and score of every row; at least one.
    Returns: the largest score where there are too few groups for that share.
    """
    rows = list(scores)
    sizes = Counter(group for group, _ in rows)
    required = covered * (len(sizes) + 1)
    inside = 0.0
    ordered = sorted((score, 1.0 / sizes[group]) for group, score in rows)
    for score, weight in ordered:
        inside += weight
        if inside >= required - 1e-9:
            return score
    return ordered[-1][0]


def measure_intervals(predictions: Sequence[Prediction]) -> dict[str, dict[str, float]]:
    """Half-widths of intervals from the validation part, and their coverage, by target.

    Returns: `factor`: an interval reaches from value / factor to value · factor; and the share of labels
             inside, by part of `MEASURED`. A target without validation rows is left out.
    """
    intervals: dict[str, dict[str, float]] = {}
    for target in sorted({p.target for p in predictions}):
        own = [p for p in predictions if p.target == target]
        chosen = [(p.group, _distance(p)) for p in own if p.part == "validation"]
        if chosen:
            width = covering_score(chosen)
            coverage = {part: [_distance(p) <= width for p in own if p.part == part] for part in MEASURED}
            shares = {part: sum(inside) / len(inside) for part, inside in coverage.items() if inside}
            intervals[target] = {FACTOR: math.exp(width), **shares}
    return intervals


def _distance(prediction: Prediction) -> float:
    """Between the logarithms of label and answer."""
    return abs(math.log(max(prediction.actual, _LEAST)) - math.log(max(prediction.predicted, _LEAST)))


def with_intervals(
    answers: Sequence[Mapping[str, Any]], intervals: Mapping[str, Mapping[str, float]]
) -> list[dict[str, Any]]:
    """Answers with `<target>_low` and `<target>_high` of every target that has none of its own."""
    return [_with_ends(answer, intervals) for answer in answers]


def _with_ends(answer: Mapping[str, Any], intervals: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """An answer with the ends of each target behind it."""
    whole: dict[str, Any] = {}
    for name, value in answer.items():
        whole[name] = value
        if name in intervals and isinstance(value, int | float):
            factor = intervals[name][FACTOR]
            ends = {f"{name}_low": value / factor, f"{name}_high": value * factor}
            whole |= {end: number for end, number in ends.items() if end not in answer}
    return whole
