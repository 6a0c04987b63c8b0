"""The engine's own estimates as predictors: nothing is learned, every model has to beat them at its level.

The package reads the estimates of tables and of questions by target; `pipelines.features` computes them.
Importing this package loads no learning framework.
"""

from __future__ import annotations

from models.catalogue import PredictorSpec
from models.options import LabelOptions
from models.tasks import LABEL_TABLES, Column, Level, all_labels_task

_VERSION = "1"
"""Raised by hand when the same tables would give other estimates."""


def _spec(level: Level, tables: tuple[str, ...], words: str) -> PredictorSpec:
    task = all_labels_task(level, tables=(*LABEL_TABLES, *tables))
    return PredictorSpec(
        name=f"engine-estimate-{level}",
        version=_VERSION,
        description=f"The engine's own estimates {words}, untrained.",
        task=task,
        options=LabelOptions,
        train_with=f"models.engine_estimate.estimates:train_{level}",
        load_with="models.engine_estimate.estimates:load",
        answer_with="models.base:answer_queries",
        answers=(
            *(Column(name=name, unit=unit) for name, unit in task.targets.items()),
            Column(name="confidence"),
            Column(name="outside_training", kind="string"),
        ),
        libraries=("numpy",),
        requirements=(
            "filelock",
            "islpy",
            "polars",
            "pyarrow",
            "pycparser",
            "pydantic",
            "pyscipopt",
            "scipy",
        ),
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
