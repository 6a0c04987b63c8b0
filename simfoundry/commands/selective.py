"""`simfoundry predict --within`: the cheapest answer whose intervals are narrow enough, and what it took."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assets.errors import FoundryError, explain
from models.base import PredictorError
from models.champions import Champion
from models.intervals import BY_TRIPS
from models.local_registry import CHAMPION
from models.options import LABEL_LEVELS
from models.query import ALL_TARGETS, Query
from pipelines.base.tools import ToolMissing
from pipelines.schemas import OK
from simfoundry.commands.predict_text import LABEL

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """How good an answer must be, and what it may cost.

    Attributes:
        within: most relative distance from a value to an end of its interval, of each target.
        budget_s: seconds after which no further level is asked; None for no limit.
        targets: those that count.
    """

    within: float
    budget_s: float | None = None
    targets: Sequence[str] = ALL_TARGETS


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A way to an answer.

    Attributes:
        name: level of information. model: who answers. ask: gives the answer.
        expected_s: what it is expected to take; None for a moment.
    """

    name: str
    model: str
    ask: Callable[[], Answer]
    expected_s: Callable[[], float | None] | None = None


def answer_within(levels: Sequence[Level], asked: Within) -> Answer:
    """Ask level after level, the cheapest first, until every interval is narrow enough.

    A level that is expected to take longer than what is left of the budget is not asked.

    Returns: the answer, with `steps`: level, model, seconds, and the widest interval with its target or the
             reason of a refusal; `is_within`: whether the answer is as narrow as asked. Where none is, it is
             the narrowest.
    Raises:  FoundryError: no level can answer.
    """
    began, steps = time.monotonic(), list[Answer]()
    best: tuple[float, Answer] | None = None
    for level in levels:
        if asked.budget_s is not None:
            reason = _beyond_budget(level, asked.budget_s - (time.monotonic() - began), is_first=not steps)
            if reason:
                steps.append({"level": level.name, "model": level.model, "reason": reason})
                break
        start, width = time.monotonic(), math.inf
        try:
            answer = level.ask()
        except (FoundryError, PredictorError, ToolMissing, ValueError, OSError, ImportError) as error:
            known = {"reason": explain(error.__cause__ or error).removeprefix("row 0: ")}
        else:
            width, target = widest(answer, asked.targets)
            known = {"widest": width if math.isfinite(width) else None, "target": target}
            if best is None or width < best[0]:
                best = (width, {**answer, "model": level.model, "level": level.name})
        seconds = round(time.monotonic() - start, 3)
        steps.append({"level": level.name, "model": level.model, "seconds": seconds, **known})
        if width <= asked.within:
            break
    if best is None:
        reasons = "; ".join(f"{step['level']}: {step['reason']}" for step in steps)
        raise FoundryError(f"no level can answer: {reasons or 'there is no champion'}")
    return {**best[1], "is_within": best[0] <= asked.within, "within": asked.within, "steps": steps}


def _beyond_budget(level: Level, left_s: float, *, is_first: bool) -> str:
    """Say why a level is not asked; empty for one that is. The first one is, unless it takes longer."""
    if left_s <= 0 and not is_first:
        return "the budget is spent"
    expected = None if level.expected_s is None else level.expected_s()
    if expected is None or expected <= left_s:
        return ""
    return f"it takes some {expected:.0f} s, {max(0.0, left_s):.0f} s of the budget are left"


def widest(answer: Mapping[str, Any], targets: Sequence[str]) -> tuple[float, str]:
    """Return the largest relative distance from a value to an end of its interval, and its target.

    A target without a value or an end is as wide as can be.
    """
    widths: dict[str, float] = {}
    for target in targets:
        value, low, high = (answer.get(f"{target}{end}") for end in ("", "_low", "_high"))
        if value is None or low is None or high is None or not low > 0:
            widths[target] = math.inf
        else:
            widths[target] = max(high / value, value / low) - 1.0
    target = max(widths, key=lambda name: widths[name])
    return widths[target], target


def model_levels(
    query: Query,
    champions: Sequence[Champion],
    ask: Callable[[str, str, Answer, str], Answer],
    location: str,
) -> Iterator[Level]:
    """Yield the best champion of each level of information, the least information first.

    Args: champions: the best first. ask: answers a question by name and alias, as `ask_model`.
    """
    for name in LABEL_LEVELS:
        champion = next((own for own in champions if own.spec.task.level == name), None)
        if champion is not None:
            yield Level(
                name=name,
                model=champion.name,
                ask=lambda own=champion: {
                    **ask(own.spec.name, CHAMPION, asdict(query), location),
                    "reference_error": own.error,
                },
            )


LABEL_S, LABEL_S_PER_MM2 = 3.0, 24.0
"""Seconds of a label, and more per mm² of the estimated area, in osu018: 768 designs of release v2 have 0.54
mm² in the mean and take 13 s to map and to measure power."""


def label_level(label: Callable[[], Answer], area_um2: Callable[[], float | None] = lambda: None) -> Level:
    """Return the level of the label itself: synthesis and simulation. area_um2: estimated, if it is known."""

    def expected_s() -> float | None:
        area = area_um2()
        return None if area is None else LABEL_S + LABEL_S_PER_MM2 * area / 1e6

    return Level(name=LABEL, model=LABEL, ask=lambda: label_values(label()), expected_s=expected_s)


def label_values(rows: Mapping[str, Any]) -> Answer:
    """Return an answer whose intervals have no width from the rows of a label.

    Where `varies_with_data` says so, cycles and power are of drawn data, and have no interval.

    Raises: FoundryError: the label is not ok.
    """
    label, runs = rows["label"], rows["runs"]
    if label["status"] != OK:
        raise FoundryError(f"{label['status']}: {label['reason']}")
    run, varies = runs[0], bool(rows.get("varies_with_data"))
    values = {**label, "latency_cycles": run["latency_cycles"], "power_mw": run["power_mw"]}
    answer: Answer = (
        {"note": "cycles and power are of drawn data and vary with it; --data gives yours"} if varies else {}
    )
    for target in ALL_TARGETS:
        if values.get(target) is not None:
            is_certain = not (varies and target in BY_TRIPS)
            ends = {f"{target}{end}": values[target] for end in ("_low", "_high") if is_certain}
            answer |= {target: values[target], **ends}
            answer |= {f"{target}_confidence": 1.0} if is_certain else {}
    return answer
