"""The engine's own estimates as predictors: nothing is learned, every model has to beat them at its level.

The package reads the estimates of tables and of questions by target; `pipelines.dataset.features` computes
them.
Importing this package loads no learning framework.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from models.catalogue import ENGINE_REQUIREMENTS, PredictorSpec, Trained, TrainingInput
from models.label_tasks import Level, all_labels_task, label_answers
from models.options import LabelOptions
from models.tasks import LABEL_TABLES

if TYPE_CHECKING:
    from models.engine_estimate.estimates import EngineEstimate
    from models.model_files import ModelFiles

_VERSION = "1"
"""Raised by hand when the same tables would give other estimates."""


def _train(data: TrainingInput, *, level: str) -> Trained:
    from models.engine_estimate.estimates import train  # lazy import: loads what training needs

    return train(data, level)


def _load(files: ModelFiles) -> EngineEstimate:
    from models.engine_estimate.estimates import load

    return load(files)


def _spec(level: Level, tables: tuple[str, ...], words: str) -> PredictorSpec:
    task = all_labels_task(level, tables=(*LABEL_TABLES, *tables))
    return PredictorSpec(
        name=f"engine-estimate-{level}",
        version=_VERSION,
        description=f"The engine's own estimates {words}, untrained.",
        task=task,
        options=LabelOptions,
        train_with=partial(_train, level=level),
        load_with=_load,
        answers=label_answers(task),
        libraries=("numpy",),
        requirements=ENGINE_REQUIREMENTS,
        checks_ranges=False,
    )


PREDICTORS = (
    _spec("hls", ("features",), "after high-level synthesis"),
    _spec(
        "run",
        ("features", "run_features"),
        "after a run of the cycle model; its cycles are counted, not estimated",
    ),
)
