"""What predictors share: the question, the answer, the interface and the outcome of training."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, get_type_hints

from models.intervals import DIFFICULTY, Difficulty
from pipelines.schemas import LeaderboardRow, PredictorCostRow, WorkloadErrorRow

if TYPE_CHECKING:
    from models.query import Query


PASSES = 5
"""Answers of a predictor of which pass_at_5 takes the nearest to the label."""


class PredictorError(ValueError):
    """A question that a predictor cannot answer, or files that are not a predictor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A predictor's answer to one query.

    Attributes:
        values: value by target, in the unit the name ends with.
        outside_training: names of the features that lie outside the range of training.
        spread: disagreement of the parts of a predictor on the logarithm of a target, where it has parts.
        trips: what is known of the trip counts, see `models.intervals.Difficulty`; empty where nothing is.
    """

    values: Mapping[str, float]
    outside_training: tuple[str, ...]
    spread: Mapping[str, float] = field(default_factory=dict[str, float])
    trips: str = ""

    @property
    def difficulty(self) -> Difficulty:
        """What its interval and its confidence depend on."""
        return Difficulty(spread=self.spread, outside=len(self.outside_training), trips=self.trips)

    @property
    def further(self) -> dict[str, Any]:
        """Columns of the answer beside values, intervals and confidence; a predictor may have some."""
        return {}

    @property
    def answer(self) -> dict[str, Any]:
        """The answer by column, with what `models.intervals.with_intervals` needs."""
        outside = ", ".join(self.outside_training)
        return {**self.values, **self.further, DIFFICULTY: self.difficulty, "outside_training": outside}


class Answering(Protocol):
    """A loaded predictor: it answers rows with the columns of its task's question."""

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the answer of each row.

        Raises: PredictorError: a row cannot be answered; the message names the row, from 0.
        """
        ...


class LabelPredictor(ABC):
    """A trained model of the labels.

    The question is C source and a configuration, not a feature vector. Predictors differ in what they look
    at (coarse counts, graphs, text); were the features part of the interface, the leaderboard and the
    registry would need one path per predictor, and a user would have to compute features to ask. For the
    same reason a predictor reads nothing that is measured after synthesis: it must answer where no design
    exists yet.

    Queries come many at a time, because a batch costs a network little more than one row. The answer names
    its targets, because predictors may cover different ones. A query that cannot be read (a syntax error, an
    unknown loop) raises instead of giving a number: a guess about a program that was not understood looks
    like a real prediction.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def targets(self) -> tuple[str, ...]:
        """Names of the label columns that are predicted."""

    @abstractmethod
    def predict(self, queries: Sequence[Query]) -> Sequence[Estimate]:
        """Return one estimate per query, in order.

        Raises: PredictorError: a query cannot be read; the message names its row, from 0.
        """

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers to rows with the columns of a query. Raises: PredictorError: as `predict`."""
        estimates = self.predict(queries_of(rows))
        require_each("predict returned", estimates, Estimate, "one Estimate per query")
        return [estimate.answer for estimate in estimates]


def require_each(what: str, values: Any, kind: type[Any], accepted: str) -> None:
    """Refuse what code of a predictor returned unless it is a sequence of objects of a class.

    Args:   what: whose values they are, as `predict returned`.
    Raises: PredictorError: the message says what was returned and what is accepted.
    """
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise PredictorError(f"{what} {values!r:.60}; accepted: a list, {accepted}")
    for place, one in enumerate(values):
        if not isinstance(one, kind):
            raise PredictorError(f"{what} {one!r:.60} at place {place}; accepted: {accepted}")


Row = TypeVar("Row")
Read = TypeVar("Read")


def read_rows(
    read: Callable[[Row], Read],
    rows: Iterable[Row],
    refused: tuple[type[Exception], ...] = (ValueError,),
) -> list[Read]:
    """Apply a function to every row.

    Args:   refused: errors by which it refuses a row; the errors of every engine are ValueErrors.
    Raises: PredictorError: it refuses a row; the message names the row, from 0.
    """
    results: list[Read] = []
    for place, row in enumerate(rows):
        try:
            results.append(read(row))
        except refused as error:
            raise PredictorError(f"row {place}: {error}") from error
    return results


_OPTIONAL: dict[str, type] = {"data": str, "trips": str, "inputs": str, "unsafe_math": Integral}
"""Columns of a question that may be absent or empty, with the type of a value."""


def queries_of(rows: Sequence[Mapping[str, Any]]) -> list[Query]:
    """Return the questions from rows with their columns; `data`, `inputs` and `unsafe_math` may be absent or
    empty.

    Raises: PredictorError: a clock, delay or directive that no design has, or data that are no object of
            JSON; the message names the row, from 0.
    """
    from models.query import Query
    from pipelines.c import check_timing, parse_directives  # lazy: only questions about C programs need it

    kinds = get_type_hints(Query)

    def query_of(row: Mapping[str, Any]) -> Query:
        query = Query(
            **{
                name: kind(row[name])
                for name, kind in kinds.items()
                if name not in _OPTIONAL or isinstance(row.get(name), _OPTIONAL[name])
            }
        )
        parse_directives(query.directives)
        check_timing(
            memory_read_delay_cycles=query.memory_read_delay_cycles,
            memory_write_delay_cycles=query.memory_write_delay_cycles,
            clock_period_ns=query.clock_period_ns,
        )
        _ = query.scalars  # data and inputs are objects of JSON, whether the predictor reads them or not
        return query

    return read_rows(query_of, rows, (ValueError, OverflowError, TypeError))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOutcome:
    """A trained predictor on disk and how good it is. Needs no registry.

    Attributes:
        predictor: registered name, for example tenset-mlp.
        key: hash of tables, options, seed, version and libraries; the version on the leaderboard.
        folder: the predictor's files, all that predicting needs.
        source: name of the release that it was trained on; "tables" for those of a project.
        dataset_hash: hash of the tables that it was trained on.
        seed: of initial weights and batches.
        parameters: options, for the registry.
        seen_groups: groups of the split that training or stopping looked at.
        curves: value of every epoch, by name.
        leaderboard: rows of this predictor.
        workloads: its errors by program of the evaluation part.
        level: of information.
        intervals: figures of them by target; see `models.intervals.measure_intervals`.
        calibration: of intervals and confidence by target; see `models.intervals.calibrate`.
        costs: parameters and times; measured, so they are no part of what is hashed.
        summary: single figures beside the leaderboard, such as the best epoch.
        cached: whether an earlier training with the same key was reused.
    """

    predictor: str
    key: str
    folder: Path
    source: str
    dataset_hash: str
    seed: int
    parameters: Mapping[str, str | int | float]
    seen_groups: tuple[str, ...]
    curves: Mapping[str, tuple[float, ...]]
    leaderboard: tuple[LeaderboardRow, ...]
    summary: Mapping[str, float]
    cached: bool
    level: str = ""
    workloads: tuple[WorkloadErrorRow, ...] = ()
    intervals: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    calibration: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    costs: PredictorCostRow | None = field(default=None, compare=False)

    @property
    def metrics(self) -> dict[str, float]:
        """Leaderboard values by `<part>/<metric>/<target>`; undefined ones are left out."""
        return {f"{r.part}/{r.metric}/{r.target}": r.value for r in self.leaderboard if r.value is not None}


@contextmanager
def log_level(level: int, *loggers: str) -> Iterator[None]:
    """Silence loggers below a level; their levels are restored afterwards."""
    levels = {name: logging.getLogger(name).level for name in loggers}
    try:
        for name in loggers:
            logging.getLogger(name).setLevel(level)
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
