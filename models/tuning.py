"""Options of a training by search: `simfoundry train --tune`.

Optuna's sampler proposes options (Akiba et al. 2019; tree-structured Parzen estimator, Bergstra et al. 2011),
the first trial has those that the caller gave, and the least error on the validation part wins. The test part
and the evaluation are not looked at. A study lies in a file and goes on after an interruption.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from models.base import PredictorError
from models.catalogue import TrainingInput, require_trained
from models.intervals import CALIBRATING
from models.options import searched_options
from models.tasks import DatasetError

if TYPE_CHECKING:
    from models.catalogue import PredictorSpec
    from models.leaderboard import Prediction

LONGEST_ERROR = 1.0
"""An answer counts as no further off than this, as in the gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One training of a search. number: from 0. error: on the validation part; None if it failed."""

    number: int
    options: Mapping[str, Any]
    error: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """The result of a search. options: of the best trial. first: error of the caller's own options."""

    options: Any
    trials: Sequence[Trial]
    best: Trial
    first: float | None


def tune(
    spec: PredictorSpec[Any],
    data_dirs: Sequence[Path],
    options: Any,
    *,
    trials: int,
    seed: int,
    study: Path,
    fixed: Collection[str] = (),
    on_trial: Callable[[Trial], None],
) -> Tuned:
    """Train under other options until so many trials are there, and return the best ones.

    Args:   study: file of the trials, which is continued. fixed: options that are not searched.
            on_trial: hears of each new trial.
    Raises: PredictorError: the predictor has no options to search, or no trial succeeded. DatasetError: the
            tables cannot be trained on, or have no validation part.
    """
    import optuna  # lazy import: takes 1 s, and no other command needs it
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend
    from optuna.trial import TrialState

    ranges = {n: own for n, own in searched_options(spec.options).items() if n not in fixed}
    if not ranges:
        raise PredictorError(f"{spec.name} has no options to search")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study.parent.mkdir(parents=True, exist_ok=True)
    search = optuna.create_study(
        study_name=study.stem,
        storage=JournalStorage(JournalFileBackend(str(study))),
        sampler=optuna.samplers.TPESampler(seed=seed),
        load_if_exists=True,
    )
    if not search.trials:
        search.enqueue_trial({name: getattr(options, name) for name in ranges})
    done = (TrialState.COMPLETE, TrialState.FAIL)
    while len(search.get_trials(deepcopy=False, states=done)) < trials:
        asked = search.ask()
        chosen = {
            name: asked.suggest_int(name, int(own.low), int(own.high), log=own.is_log)
            if own.is_whole
            else asked.suggest_float(name, own.low, own.high, log=own.is_log)
            for name, own in ranges.items()
        }
        try:
            error = validation_error(spec, data_dirs, replace(options, **chosen), seed)
        except PredictorError as problem:  # these options cannot be trained with
            search.tell(asked, state=TrialState.FAIL)
            on_trial(Trial(number=asked.number, options=chosen, error=None, reason=str(problem)))
        else:
            search.tell(asked, error)
            on_trial(Trial(number=asked.number, options=chosen, error=error))
    known = [
        Trial(number=t.number, options=dict(t.params), error=t.value)
        for t in search.get_trials(deepcopy=False, states=done)
    ]
    ended = [trial for trial in known if trial.error is not None]
    if not ended:
        raise PredictorError(f"all {len(known)} trials of {spec.name} failed")
    best = min(ended, key=lambda trial: (trial.error, trial.number))
    return Tuned(options=replace(options, **best.options), trials=known, best=best, first=known[0].error)


def validation_error(spec: PredictorSpec[Any], data_dirs: Sequence[Path], options: Any, seed: int) -> float:
    """Return the mean over targets of the mean error on the validation part, each error at most 1.

    Raises: DatasetError: there is no validation part. Others: as `PredictorSpec.train`.
    """
    trained = spec.train_with(
        TrainingInput(data_dirs=tuple(data_dirs), dataset_hash="", options=options, seed=seed)
    )
    require_trained(trained)
    errors: dict[str, list[float]] = {}
    for one in trained.predictions:
        if one.part == CALIBRATING:
            errors.setdefault(one.target, []).append(_error(one))
    if not errors:
        raise DatasetError(f"no labelled designs in part {CALIBRATING} of split {trained.split}")
    return float(np.mean([np.mean(own) for own in errors.values()]))


def _error(one: Prediction) -> float:
    return min(LONGEST_ERROR, abs(one.predicted / one.actual - 1.0))
