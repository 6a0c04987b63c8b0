"""Rules for loop nests in the style of Timeloop: iterations, reuse, and a cost per component.

The package reads loop nests from source, counts iterations and accesses, and fits a cost per component. It
uses no result of high-level synthesis. A program that the rules cannot describe has status "unsupported".
Importing this package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.label_tasks import label_answers, labels_and_power_task
from models.options import LabelOptions
from models.tasks import Column

if TYPE_CHECKING:
    from models.loop_rules.rules import RulePredictor
    from models.model_files import ModelFiles

_VERSION = "1"
"""Raised by hand when the same tables, options and seed would give other costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions(LabelOptions):
    """How the costs of components are measured.

    Attributes: rounds: of reweighted least squares, towards least absolute relative errors.
    """

    rounds: int = 20


def _train(data: TrainingInput) -> Trained:
    from models.loop_rules.rules import train  # lazy import: loads what training needs

    return train(data)


def _load(files: ModelFiles) -> RulePredictor:
    from models.loop_rules.rules import load

    return load(files)


_TASK = replace(labels_and_power_task("static"), name="labels-power-rules")
PREDICTOR = PredictorSpec(
    name="loop-rules",
    version=_VERSION,
    description="Rules for loop nests in the style of Timeloop, with costs of components measured on "
    "training designs; programs that they do not describe are unsupported.",
    task=_TASK,
    options=TrainOptions,
    train_with=_train,
    load_with=_load,
    answers=label_answers(
        _TASK,
        Column(name="status", kind="string"),
        Column(name="reason", kind="string"),
    ),
    libraries=("numpy", "scipy"),
    requirements=("polars", "pyarrow", "pycparser", "pydantic"),
    checks_ranges=False,
)
