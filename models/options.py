"""Options of training that predictors share, and the ranges that options are checked against."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

_T = TypeVar("_T")
Level = Literal["text", "static", "hls", "run"]
"""What a predictor of labels may look at: source text, what a front end reads, what high-level synthesis
gives, that and a run of the cycle model."""
LABEL_LEVELS: tuple[Level, ...] = ("text", "static", "hls", "run")
"""Levels of predictors of labels, least information first."""
JUDGED_PARTS = ("test", "evaluation", "fields")
"""Parts of a split on which answers are judged."""


@dataclass(frozen=True, slots=True)
class Range:
    """Accepted values of an option, in words for messages and as a test."""

    words: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Search:
    """Values of an option among which `train --tune` searches, both ends included.

    Attributes: is_log: whether equal ratios count as equal steps.
    """

    low: float
    high: float
    is_log: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether the values are whole numbers."""
        return isinstance(self.low, int)


def one_of(*choices: Any) -> Range:
    """Return the range that holds some values alone."""
    return Range(f"one of {', '.join(map(str, choices))}", lambda value: value in choices)


ABOVE_0 = Range("above 0", lambda value: 0 < value < math.inf)
Count = Annotated[int, Range("at least 1", lambda value: value >= 1)]
Rate = Annotated[float, ABOVE_0, Search(1e-4, 1e-2)]
AT_LEAST_0 = Range("at least 0", lambda value: 0 <= value < math.inf)
Weight = Annotated[float, AT_LEAST_0]
Decay = Annotated[float, AT_LEAST_0, Search(1e-3, 3.0)]
Dropout = Annotated[
    float, Range("from 0 to below 1", lambda value: 0 <= value < 1), Search(0.0, 0.4, is_log=False)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which labels are learned and on which frozen split.

    Attributes:
        split: name in the splits table.
        tool: logic synthesis tool of the labels; None for the one with the most labels.
        liberty: cell library of the labels; None for the one with the most labels.
    """

    split: str = "by_kernel_v2"
    tool: str | None = None
    liberty: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions(Selection):
    """How to train a predictor of labels.

    Attributes: bootstrap_resamples: draws behind each leaderboard interval.
    """

    bootstrap_resamples: Count = 1000

    def __post_init__(self) -> None:
        """Refuse an option outside its range. Raises: ValueError."""
        check_ranges(self)


def check_ranges(options: Any) -> None:
    """Check every field of a dataclass whose annotation has a `Range`.

    Raises: ValueError: a value outside its range.
    """
    for name, accepted in _ranges(type(options)).items():
        value = getattr(options, name)
        require(name, value, accepted.holds(value), accepted.words)


def require(name: str, value: Any, holds: bool, rule: str) -> None:
    """Raise ValueError with the option, its value and what is accepted, unless the rule holds."""
    if not holds:
        raise ValueError(f"{name} out of range: {value!r}; accepted: {rule}")


def make_options(kind: type[Any], settings: Mapping[str, Any]) -> Any:
    """Make options of a training from values by name; others keep their defaults, which are checked, too.

    Raises: ValueError: a value of another type than its field, or outside its range.
    """
    from pydantic import TypeAdapter, ValidationError  # lazy import: listing predictors needs no validation

    defaults = {f.name: f.default for f in fields(kind) if f.default is not MISSING}
    try:
        return TypeAdapter(kind).validate_python({**defaults, **settings})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if isinstance(rule := first.get("ctx", {}).get("error"), ValueError):
            raise rule from error
        name = ".".join(map(str, first["loc"]))
        raise ValueError(f"option {name}: {first['msg']}, got {first['input']!r}") from error


def ordered_fields(options: type[Any]) -> list[Field[Any]]:
    """Return the fields of options in the order of params.yaml: the leaderboard's fields stand last."""
    return sorted(fields(options), key=lambda field: field.name == "bootstrap_resamples")


def searched_options(options: type[Any]) -> dict[str, Search]:
    """Return what `train --tune` searches, by name of the option."""
    return _marks(options, Search)


@cache
def _ranges(options: type[Any]) -> dict[str, Range]:
    return _marks(options, Range)


def _marks(options: type[Any], kind: type[_T]) -> dict[str, _T]:
    """Return what annotations of fields say of a kind, by name."""
    hints = get_type_hints(options, include_extras=True)
    marks = ((name, mark) for name, hint in hints.items() for mark in getattr(hint, "__metadata__", ()))
    return {name: mark for name, mark in marks if isinstance(mark, kind)}
