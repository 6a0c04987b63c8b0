"""Tenset-MLP: a multi-layer perceptron on coarse handcrafted features (LLMulator, section 7.1).

Belongs here: the features, the network, its training. Does not: metrics, the registry. Importing this package
loads no learning framework.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from models.catalogue import ENGINE_REQUIREMENTS, PredictorSpec, Trained, TrainingInput
from models.label_tasks import all_labels_task, label_answers, labels_task
from models.options import ABOVE_0, Decay, Dropout, LabelOptions, Rate, check_ranges, one_of, require
from models.tasks import LABEL_TABLES, Task

if TYPE_CHECKING:
    from models.model_files import ModelFiles
    from models.tenset_mlp.predictor import TensetMlpPredictor

_VERSION = "2"
"""Raised by hand when the same tables, options and seed would train another network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions(LabelOptions):
    """How to train.

    Attributes:
        features: compact for a few programs, full for many.
        hidden_sizes: width of each hidden layer.
        dropout: share of hidden units silenced in training, 0 to below 1.
        learning_rate, weight_decay: of AdamW.
        batch_size: designs per step.
        max_epochs: passes over the training part.
        patience: epochs without a better validation loss before stopping.
        stopping_groups: groups that the validation part needs for its loss to stop training; with fewer,
            every epoch is run, for one odd kernel must not say when to stop.
    """

    features: Annotated[str, one_of("compact", "full")] = "compact"
    hidden_sizes: Sequence[int] = (64, 64)
    dropout: Dropout = 0.1
    learning_rate: Rate = 3e-3
    weight_decay: Decay = 1.0
    batch_size: Annotated[int, ABOVE_0] = 32
    max_epochs: Annotated[int, ABOVE_0] = 150
    patience: Annotated[int, ABOVE_0] = 60
    stopping_groups: Annotated[int, ABOVE_0] = 3

    def __post_init__(self) -> None:
        """Refuse an option outside its range. Raises: ValueError."""
        object.__setattr__(self, "hidden_sizes", tuple(self.hidden_sizes))
        check_ranges(self)
        for size in self.hidden_sizes:
            require("a hidden size", size, size >= 1, "at least 1")


def _train(data: TrainingInput, *, level: str) -> Trained:
    from models.tenset_mlp.train import train  # lazy import: loads what training needs

    return train(data, level)


def _load(files: ModelFiles) -> TensetMlpPredictor:
    from models.tenset_mlp.predictor import load

    return load(files)


def _spec(name: str, task: Task, features: str) -> PredictorSpec:
    return PredictorSpec(
        name=name,
        version=_VERSION,
        description=f"A multi-layer perceptron on {features} (LLMulator, section 7.1).",
        task=task,
        options=TrainOptions,
        train_with=partial(_train, level=task.level),
        load_with=_load,
        answers=label_answers(task),
        libraries=("torch", "lightning", "numpy"),
        requirements=ENGINE_REQUIREMENTS,
    )


PREDICTOR = _spec(
    "tenset-mlp",
    replace(
        all_labels_task("static"), name="labels-static", reference_set=labels_task("static").reference_set
    ),  # judged as its shipped weights were, on area, flip-flops and cycles
    "coarse handcrafted features",
)
PROFILED = _spec(
    "tenset-mlp-run",
    all_labels_task("run", tables=(*LABEL_TABLES, "loop_runs")),
    "coarse handcrafted features with profiled loop ranges",
)
PREDICTORS = (PREDICTOR, PROFILED)
