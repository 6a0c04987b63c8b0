"""What every predictor is: the question, the answer, the interface and the outcome of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from models.labelled import Query, Selection
from pipelines.schemas import LeaderboardRow


class PredictorError(ValueError):
    """A predictor was given something it cannot answer, or its files are not as it wrote them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A predictor's answer to one query.

    Attributes:
        values: target name to value, in the unit the name ends with.
        confidence: share of the features that lie inside the range seen in training, 0 to 1. It
            says whether the query looks like the training data; it is not a probability of being
        right. outside_training: names of the features that do not.
    """

    values: Mapping[str, float]
    confidence: float
    outside_training: tuple[str, ...]


class Predictor(Protocol):
    """A trained model of the labels.

    The question is C source and a configuration, not a feature vector. Predictors differ in what
    they look at (coarse counts, graphs, text); were the features part of the interface, the
    leaderboard and the registry would need one path a predictor, and a user would have to compute
    features to ask. For the same reason a predictor reads nothing that is measured after synthesis:
    it must answer where no design exists yet.

    Queries come many at a time, because a batch costs a network little more than one row. The
    answer names its targets, because predictors may cover different ones. A query that cannot be
    read (a syntax error, an unknown loop) raises instead of giving a number: a guess about a
    program that was not understood is indistinguishable from a real prediction.
    """

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the label columns that are predicted."""
        ...

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        """One estimate a query, in order.

        Raises: PredictorError: a query cannot be read; the message names its position.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOutcome:
    """A trained predictor on disk and how good it is. Needs no registry.

    Attributes:
        predictor: registered name, for example tenset-mlp.
        key: hash of code, data, options and seed; the version on the leaderboard.
        folder: the predictor's files, all that predicting needs.
        pyfunc_script: the code with which the registry serves the folder.
        data_dir: data folder that it was trained from.
        dataset_hash: hash of the tables that it was trained from.
        selection: which labels and which frozen split.
        seed: seed of initial weights and batches.
        parameters: settings, for the registry.
        seen_groups: groups of the split that training or stopping looked at.
        curves: a value an epoch, by name.
        leaderboard: rows of this predictor.
        summary: single figures beside the leaderboard, such as the best epoch.
        cached: whether an earlier training with the same key was reused.
    """

    predictor: str
    key: str
    folder: Path
    pyfunc_script: Path
    data_dir: Path
    dataset_hash: str
    selection: Selection
    seed: int
    parameters: Mapping[str, str | int | float]
    seen_groups: tuple[str, ...]
    curves: Mapping[str, tuple[float, ...]]
    leaderboard: tuple[LeaderboardRow, ...]
    summary: Mapping[str, float]
    cached: bool

    @property
    def metrics(self) -> dict[str, float]:
        """Leaderboard values by `<part>/<metric>/<target>`; undefined ones are left out."""
        return {f"{r.part}/{r.metric}/{r.target}": r.value for r in self.leaderboard if r.value is not None}
