"""Conformal intervals: a factor per target makes the model's intervals cover on the validation part.

Source: Romano, Patterson and Candès 2019 (conformalised quantile regression), on logarithms. Designs of one
group are alike, so a group counts once however many designs it has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from models.intervals import covering_score
from models.numeric_lm.search import Answer

_LEAST = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An answer beside its label. group: of the split. part: of the split."""

    target: str
    group: str
    part: str
    actual: float
    answer: Answer


def conformal_widths(judged: Iterable[Judged]) -> dict[str, float]:
    """Return logarithm of the factor by which each end moves outwards, by target; below 0 where too wide."""
    by_target: dict[str, list[Judged]] = {}
    for one in judged:
        by_target.setdefault(one.target, []).append(one)
    return {
        target: covering_score((one.group, _score(one)) for one in own) for target, own in by_target.items()
    }


def _score(one: Judged) -> float:
    """Return how far, in logarithms, the label is outside of the interval; below 0 inside."""
    actual = math.log(max(one.actual, _LEAST))
    ends = (math.log(max(end, _LEAST)) for end in (one.answer.low, one.answer.high))
    low, high = ends
    return max(low - actual, actual - high)


def widened(answer: Answer, width: float) -> Answer:
    """Return an answer with its interval wider by a factor of exp(width) at each end, around the value."""
    return replace(
        answer,
        low=min(answer.value, answer.low * math.exp(-width)),
        high=max(answer.value, answer.high * math.exp(width)),
    )


def coverage(judged: Iterable[Judged]) -> Mapping[str, float]:
    """Return share of labels inside, `coverage/<part>/<target>`, and the mean interval width in decades."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        for name in (one.target, "all"):
            groups.setdefault(f"{one.part}/{name}", []).append(one)
    inside = {f"coverage/{name}": _share_inside(own) for name, own in sorted(groups.items())}
    return inside | {f"decades/{name}": _mean_decades(own) for name, own in sorted(groups.items())}


def _share_inside(judged: Sequence[Judged]) -> float:
    return sum(one.answer.low <= one.actual <= one.answer.high for one in judged) / len(judged)


def _mean_decades(judged: Sequence[Judged]) -> float:
    ratios = (max(one.answer.high, _LEAST) / max(one.answer.low, _LEAST) for one in judged)
    return math.fsum(map(math.log10, ratios)) / len(judged)
