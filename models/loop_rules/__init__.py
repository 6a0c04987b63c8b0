"""Rules for loop nests in the style of Timeloop: iterations, reuse, and a cost per component.

The package reads loop nests from source, counts iterations and accesses, and fits a cost per component. It
uses no result of high-level synthesis. A program that the rules cannot describe has status "unsupported".
Importing this package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.catalogue import PredictorSpec
from models.options import LabelOptions
from models.tasks import Column, labels_and_power_task

_VERSION = "1"
"""Raised by hand when the same tables, options and seed would give other costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions(LabelOptions):
    """How the costs of components are measured.

    Attributes: rounds: of reweighted least squares, towards least absolute relative errors.
    """

    rounds: int = 20


_TASK = replace(labels_and_power_task("static"), name="labels-power-rules")
PREDICTOR = PredictorSpec(
    name="loop-rules",
    version=_VERSION,
    description="Rules for loop nests in the style of Timeloop, with costs of components measured on "
    "training designs; programs that they do not describe are unsupported.",
    task=_TASK,
    options=TrainOptions,
    train_with="models.loop_rules.rules:train",
    load_with="models.loop_rules.rules:load",
    answer_with="models.loop_rules.rules:answer",
    answers=(
        *(Column(name=name, unit=unit) for name, unit in _TASK.targets.items()),
        Column(name="status", kind="string"),
        Column(name="reason", kind="string"),
        Column(name="confidence"),
        Column(name="outside_training", kind="string"),
    ),
    libraries=("numpy", "scipy"),
    requirements=("polars", "pyarrow", "pycparser", "pydantic"),
    checks_ranges=False,
)
