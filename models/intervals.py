"""Calibrated intervals and confidence of answers: conformal, normalised, by family of programs left out.

An interval reaches from value / exp(q s) to value · exp(q s). s is the difficulty of a question: larger where
the trees of an ensemble disagree and where properties lie outside training. q is the quantile of |error| / s
that holds 90 % of the programs of families that the answering model did not learn from; each family has the
same weight. Confidence is the probability of an error below 10 %, from the same scores.

Source: Papadopoulos et al. 2002 and 2011 (split and normalised conformal prediction), on logarithms. Differs
in the weights: a group of alike programs counts once, however many designs it has.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.dataset.records.layout import QUANTITIES

COVERED = 0.9
"""Share of labels that an interval is to hold."""
NEAR = 0.1
"""Relative error below which an answer counts as right in its confidence."""
MEASURED = ("test", "evaluation", "fields")
"""Parts on which coverage is measured."""
CALIBRATING = "validation"
"""Part of residuals of answers by models that did not learn from the program."""
TRIPS_KNOWN, TRIPS_ASSUMED, TRIPS_UNKNOWN = "known", "assumed", "unknown"
"""Every branch is counted; branches depend on data, but no loop does; a loop's trip count is unknown."""
BY_TRIPS = ("latency_cycles", "power_mw")
"""Targets whose errors are told apart by what is known of the trip counts."""
DIFFICULTY = "difficulty"
"""Entry of an answer that `with_intervals` takes out."""
COUNTS = frozenset(quantity.column for quantity in QUANTITIES if not quantity.decimals)
"""Targets that are whole numbers, 1 at least: the ends of their intervals are, too."""
_NEAR_COUNT = 0.01
"""From a whole number to an end that counts as equal to it."""
_LEAST = 1e-9
_ROUNDING = 1e-9
"""Widens an exact interval beyond the rounding of logarithms."""
LEAST_ERROR = 0.01
"""Added to errors before their logarithm, so that an exact answer by chance has no say."""
_LEAST_SPREAD = 1e-3
_FEW_GROUPS = 10
"""A kind of trip counts with fewer groups has the scores of all."""
_STEPS = 100
_CURVE = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of answers, the most confident first, of the risk-coverage curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """What makes a question hard for a predictor.

    Attributes:
        spread: disagreement on the logarithm of each target; none for a predictor that knows none.
        outside: number of properties outside the range of training.
        trips: what is known of the trip counts, of TRIPS_KNOWN and so on; empty where nothing is.
    """

    spread: Mapping[str, float] = field(default_factory=dict[str, float])
    outside: int = 0
    trips: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """An answer beside its label. family: suite of the program. group, part: of the split."""

    target: str
    family: str
    group: str
    part: str
    actual: float
    predicted: float
    difficulty: Difficulty = Difficulty()

    @property
    def error(self) -> float:
        """Distance of the logarithms of label and answer."""
        return abs(math.log(max(self.actual, _LEAST)) - math.log(max(self.predicted, _LEAST)))


def trips_of(features: Mapping[str, float]) -> str:
    """Return the state of trip counts that features show, as in `Difficulty`."""
    if features.get("trips_known"):
        return TRIPS_KNOWN
    unknown = ("loops_data", "unknown_bound_count", "text_unknown_loops")
    name = next((name for name in unknown if name in features), None)
    if name is None:
        return ""
    return TRIPS_UNKNOWN if features[name] > 0 else TRIPS_ASSUMED


def covering_score(scores: Iterable[tuple[str, float]], covered: float = COVERED) -> float:
    """Return the least score that a share of `covered` · (1 + 1 / groups) of the groups does not exceed.

    Args:    scores: group and score of every row; at least one.
    Returns: the largest score where there are too few groups for that share.
    """
    rows = list(scores)
    sizes = Counter(group for group, _ in rows)
    weighted = sorted((score, 1.0 / sizes[group] / len(sizes)) for group, score in rows)
    return _covering(weighted, len(sizes), covered)


def _covering(weighted: Sequence[tuple[float, float]], groups: int, covered: float = COVERED) -> float:
    """Return the covering score of scores in ascending order with weights that sum to 1."""
    required = covered * (1 + 1 / groups)
    inside = 0.0
    for score, weight in weighted:
        inside += weight
        if inside >= required - 1e-9:
            return score
    return weighted[-1][0]


# ---- calibration -----------------------------------------------------------------------------------


def calibrate(residuals: Sequence[Residual]) -> dict[str, dict[str, Any]]:
    """Return the calibration by target, from residuals of part `CALIBRATING`.

    Returns: plain JSON: `weights` of the difficulty (constant, logarithms of the spread and of the
             number of properties outside), the `most` of both in calibration, and by kind of trip counts the
             `width` and `scores`, quantiles in equal steps. A target without such residuals is left out.
    """
    calibrations: dict[str, dict[str, Any]] = {}
    for target in sorted({r.target for r in residuals}):
        own = [r for r in residuals if r.target == target and r.part == CALIBRATING]
        if own:
            calibrations[target] = _calibrated(own, target)
    return calibrations


def _calibrated(rows: Sequence[Residual], target: str) -> dict[str, Any]:
    exact = [r for r in rows if _kind(r.difficulty, target) == TRIPS_KNOWN]
    hard = [r for r in rows if _kind(r.difficulty, target) != TRIPS_KNOWN] or list(rows)
    most = [max(column) for column in zip(*(_reasons(r.difficulty, target) for r in hard), strict=True)]
    weights = _difficulty_weights(hard, target)
    known: dict[str, Any] = {"weights": weights, "most": most, "kinds": {}}
    kinds = {"": hard}
    for kind in (TRIPS_ASSUMED, TRIPS_UNKNOWN) if target in BY_TRIPS else ():
        kinds[kind] = [r for r in hard if r.difficulty.trips == kind]
    for kind, own in kinds.items():
        if not kind or len({r.group for r in own}) >= _FEW_GROUPS:
            known["kinds"][kind] = _scores([(r, r.error / _scale(known, r.difficulty, target)) for r in own])
    if exact:
        known["kinds"][TRIPS_KNOWN] = _scores([(r, r.error) for r in exact])
    return known


def _kind(difficulty: Difficulty, target: str) -> str:
    """Return the kind of trip counts that matters for a target; cycles alone if every branch is counted."""
    if target not in BY_TRIPS or (difficulty.trips == TRIPS_KNOWN and target != "latency_cycles"):
        return ""
    return difficulty.trips


def _reasons(difficulty: Difficulty, target: str) -> tuple[float, float]:
    """Return what difficulty grows with: logarithms of the spread and of the number of properties outside."""
    spread = difficulty.spread.get(target, 0.0)
    return math.log(spread + _LEAST_SPREAD), math.log1p(difficulty.outside)


def _scale(known: Mapping[str, Any], difficulty: Difficulty, target: str) -> float:
    """Return the expected error of an answer; features outside count at most as in the calibration."""
    constant, *slopes = known["weights"]
    spread, outside = _reasons(difficulty, target)
    return math.exp(constant + slopes[0] * spread + slopes[1] * min(outside, known["most"][1]))


def _difficulty_weights(rows: Sequence[Residual], target: str) -> list[float]:
    """Return the least squares of the logarithm of the error on the reasons, without a negative slope."""
    import numpy as np

    weights = np.array(_weights(rows))
    reasons = np.array([_reasons(r.difficulty, target) for r in rows])
    logs = np.log([r.error + LEAST_ERROR for r in rows])
    kept = [n for n in range(reasons.shape[1]) if np.ptp(reasons[:, n]) > 0]
    while kept:
        columns = np.column_stack([np.ones(len(rows)), reasons[:, kept]])
        root = np.sqrt(weights)
        solved = np.linalg.lstsq(columns * root[:, None], logs * root, rcond=None)[0]
        worst = int(np.argmin(solved[1:]))
        if solved[1 + worst] >= 0:
            slopes = dict(zip(kept, solved[1:].tolist(), strict=True))
            return [float(solved[0]), slopes.get(0, 0.0), slopes.get(1, 0.0)]
        kept.pop(worst)
    return [float((weights * logs).sum()), 0.0, 0.0]


def _weights(rows: Sequence[Residual]) -> list[float]:
    """Return the weights that sum to 1: equal families, in them equal groups, in those equal rows."""
    rows_of = Counter((r.family, r.group) for r in rows)
    groups_of = Counter(family for family, _ in rows_of)
    return [1 / rows_of[r.family, r.group] / groups_of[r.family] / len(groups_of) for r in rows]


def _scores(rows: Sequence[tuple[Residual, float]]) -> dict[str, Any]:
    """Return the score that covers, and quantiles of scores in equal steps; families have equal weights."""
    weighted = sorted(zip((score for _, score in rows), _weights([row for row, _ in rows]), strict=True))
    groups = len({(row.family, row.group) for row, _ in rows})
    return {"width": _covering(weighted, groups), "scores": _quantiles(weighted), "groups": groups}


def _quantiles(scores: Sequence[tuple[float, float]]) -> list[float]:
    """Return the scores below which a growing share of the weight lies, in equal steps up to all of it.

    Args: scores: and their weights, which sum to 1; in ascending order.
    """
    quantiles: list[float] = []
    inside = 0.0
    for score, weight in scores:
        inside += weight
        while len(quantiles) < _STEPS and inside >= (len(quantiles) + 1) / _STEPS - 1e-9:
            quantiles.append(score)
    return quantiles


# ---- answers ---------------------------------------------------------------------------------------


def half_width(known: Mapping[str, Any], difficulty: Difficulty, target: str) -> float:
    """Return the logarithm of the factor from the value to each end of its interval."""
    kind, scale = _scores_of(known, difficulty, target)
    return kind["width"] * scale


def error_scores(known: Mapping[str, Any], difficulty: Difficulty, target: str) -> list[float]:
    """Return the distances of the logarithms of label and answer that are expected, equally likely each."""
    kind, scale = _scores_of(known, difficulty, target)
    return [score * scale for score in kind["scores"]]


def confidence(known: Mapping[str, Any], difficulty: Difficulty, target: str) -> float:
    """Return the probability of an error below `NEAR`."""
    kind, scale = _scores_of(known, difficulty, target)
    reached = math.log1p(NEAR) / scale
    scores: Sequence[float] = kind["scores"]
    place = bisect_right(scores, reached)
    if place in (0, len(scores)):
        return place / len(scores)
    low, high = scores[place - 1], scores[place]
    return (place + (reached - low) / (high - low)) / len(scores)


def _scores_of(
    known: Mapping[str, Any], difficulty: Difficulty, target: str
) -> tuple[Mapping[str, Any], float]:
    kinds, kind = known["kinds"], _kind(difficulty, target)
    if kind == TRIPS_KNOWN and kind in kinds:
        return kinds[kind], 1.0
    return kinds.get(kind, kinds[""]), _scale(known, difficulty, target)


def with_intervals(
    answers: Sequence[Mapping[str, Any]], calibration: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the answers with `<target>_low`, `<target>_high` and `<target>_confidence`, and the mean
    `confidence`.

    Without a calibration the ends are the predictor's own, if it has any, and the confidence is unknown.
    """
    return [_with_ends(answer, calibration) for answer in answers]


def _with_ends(answer: Mapping[str, Any], calibration: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    difficulty = answer.get(DIFFICULTY)
    if not isinstance(difficulty, Difficulty):
        return dict(answer)
    replaced = {column for name in calibration for column in interval_columns(name)}
    whole: dict[str, Any] = {}
    confidences: list[float] = []
    for name, value in answer.items():
        if name in (DIFFICULTY, *replaced):
            continue
        whole[name] = value
        if name in calibration and isinstance(value, int | float) and math.isfinite(value):
            known = calibration[name]
            factor = math.exp(half_width(known, difficulty, name) + _ROUNDING)
            confidences.append(confidence(known, difficulty, name))
            low, high = value / factor, value * factor
            if name in COUNTS:
                low = max(1.0, float(math.floor(low + _NEAR_COUNT)))
                high = float(math.ceil(high - _NEAR_COUNT))
                whole[name] = min(max(value, low), high)  # 2748.9999 is 2749
            whole |= dict(zip(interval_columns(name), (low, high, confidences[-1]), strict=True))
    whole["confidence"] = math.fsum(confidences) / len(confidences) if confidences else None
    return whole


def interval_columns(target: str) -> tuple[str, str, str]:
    """Return the columns of the ends of an interval and of the confidence."""
    return f"{target}_low", f"{target}_high", f"{target}_confidence"


# ---- measured --------------------------------------------------------------------------------------


def measure_intervals(
    residuals: Sequence[Residual], calibration: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, float]]:
    """Return share of labels inside by target and part of `MEASURED`, and the risk-coverage curve over all.

    Returns: the share inside by part that has labels; `factor`: median of value to end; `risk_<share>`:
             median relative error of that share of answers, the most confident first.
    """
    return {target: _measured(residuals, target, known) for target, known in calibration.items()}


def _measured(residuals: Sequence[Residual], target: str, known: Mapping[str, Any]) -> dict[str, float]:
    own = [r for r in residuals if r.target == target and r.part in MEASURED]
    widths = {id(r): half_width(known, r.difficulty, target) for r in own}
    figures: dict[str, float] = {}
    for part in MEASURED:
        inside = [r.error <= widths[id(r)] + 1e-9 for r in own if r.part == part]
        if inside:
            figures[part] = sum(inside) / len(inside)
    if own:
        figures["factor"] = math.exp(_median(list(widths.values())))
        ordered = sorted(own, key=lambda r: -confidence(known, r.difficulty, target))
        for share in _CURVE:
            chosen = ordered[: max(1, round(share * len(ordered)))]
            figures[f"risk_{share:.0%}"] = _median([abs(r.predicted / r.actual - 1) for r in chosen])
    return figures


def _median(values: Sequence[float]) -> float:
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
