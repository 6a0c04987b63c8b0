"""Predictors by level of information: errors, and the error of the most certain answers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.dataset.reports.inventory import LEVELS, Entry, sort_entries

RISK_PART = "test and evaluation"
"""Parts of the split that curves are measured on, together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certainty:
    """What a stored training says of intervals and confidence for one target.

    Attributes:
        curve: (share of the answers, their median error), the most certain first; shares ascend to 1.
        inside: share of labels inside a 90 % interval, by part. factor: median of its end over the value.
    """

    curve: tuple[tuple[float, float], ...]
    inside: Mapping[str, float]
    factor: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPredictor:
    """What is stored about a predictor beside the tables.

    Attributes:
        version: hash of its training inputs; empty where none is stored.
        entries: its errors, as rows of the leaderboard.
        certainties: by target; empty where no confidence was measured.
    """

    predictor: str
    version: str
    entries: tuple[Entry, ...]
    certainties: Mapping[str, Certainty] = field(default_factory=dict[str, Certainty])


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelEntry:
    """A predictor on one target and split, with its certainty where a training of this version stored it."""

    entry: Entry
    certainty: Certainty | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Predictors of labels by target and level, the smallest test error first.

    Attributes:
        absent: levels that no predictor here has.
        uncertain: predictors with errors and without a curve, with their level.
    """

    entries: tuple[LevelEntry, ...]
    absent: tuple[str, ...]
    uncertain: tuple[str, ...]


def read_levels(board: Sequence[Entry], stored: Sequence[StoredPredictor]) -> Levels | None:
    """Put errors and certainties of the predictors of LEVELS side by side; None when there is none.

    Args:
        board: the leaderboard of the tables. Where it is empty, the errors that are stored stand for it.
        stored: the first of several trainings of a predictor counts.
    """
    entries = [entry for entry in board or _stored_entries(stored) if entry.level in LEVELS]
    if not entries:
        return None
    certainties = {(s.predictor, s.version): s.certainties for s in reversed(stored)}
    rows = [
        LevelEntry(entry=e, certainty=certainties.get((e.predictor, e.version), {}).get(e.target))
        for e in entries
    ]
    known = {(row.entry.predictor, row.entry.level) for row in rows if row.certainty is not None}
    all_names = dict.fromkeys((row.entry.predictor, row.entry.level) for row in rows)
    return Levels(
        entries=tuple(rows),
        absent=tuple(level for level in LEVELS if all(e.level != level for e in entries)),
        uncertain=tuple(f"{name} ({level})" for name, level in all_names if (name, level) not in known),
    )


def _stored_entries(stored: Sequence[StoredPredictor]) -> list[Entry]:
    first: dict[str, StoredPredictor] = {}
    for predictor in stored:
        first.setdefault(predictor.predictor, predictor)
    return sort_entries(entry for predictor in first.values() for entry in predictor.entries)
