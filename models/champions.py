"""The order in which champions are asked when no model is named: by level of information, then by error."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from models.catalogue import PredictorSpec, predictors
from models.local_registry import CHAMPION, find_local, shipped_error, shipped_refusal
from models.model_files import OUTCOME_FILE
from models.options import LABEL_LEVELS

_ERROR_DIGITS = 2
"""Errors are compared in whole percents: the standard error of a mean over the 151 programs is 0.6 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Champion:
    """A champion that answers questions about labels.

    Attributes: error: mean error on the reference set; None where it was not scored.
    """

    spec: PredictorSpec
    error: float | None

    @property
    def name(self) -> str:
        """NAME@ALIAS."""
        return f"{self.spec.name}@{CHAMPION}"


def label_predictors() -> list[PredictorSpec]:
    """Return the predictors that answer the question about labels."""
    return [spec for spec in predictors() if spec.task.level in LABEL_LEVELS]


def local_champions(tracking_uri: str) -> list[Champion]:
    """Return the champions of labels in a registry on this machine; without one, the weights that come with
    the project.

    Raises: PredictorError: shipped weights are damaged.
    """
    champions: list[Champion] = []
    for spec in label_predictors():
        local = find_local(tracking_uri, spec.name, CHAMPION)
        if local is not None:
            champions.append(Champion(spec=spec, error=local.error))
        elif (spec.shipped_folder / OUTCOME_FILE).is_file() and not shipped_refusal(spec):
            champions.append(Champion(spec=spec, error=shipped_error(spec.shipped_folder)))
    return champions


def rank_champions(champions: Iterable[Champion]) -> list[Champion]:
    """Sort champions: the most information first, then the lowest error, then the fewest libraries.

    Libraries stand for the cost: their import is most of the time of one answer.
    """
    return sorted(champions, key=_rank)


def _rank(champion: Champion) -> tuple[int, float, int, str]:
    error = math.inf if champion.error is None else round(champion.error, _ERROR_DIGITS)
    spec = champion.spec
    return -LABEL_LEVELS.index(spec.task.level), error, len(spec.libraries), spec.name
