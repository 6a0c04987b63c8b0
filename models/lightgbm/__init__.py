"""Gradient-boosted trees on plain counts: the baseline of every label, at four levels of information.

This package has the trees and their training. `models.text_work` and `models.scheduled` make their features.
Importing it loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

from models.catalogue import ENGINE_REQUIREMENTS, PredictorSpec, Trained, TrainingInput
from models.label_tasks import Level, all_labels_task, label_answers, labels_and_power_task
from models.options import LabelOptions, Search

if TYPE_CHECKING:
    from models.lightgbm.trees import TreePredictor
    from models.model_files import ModelFiles

_VERSION = "6"
"""Raised by hand when the same tables, options and seed would train other trees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions(LabelOptions):
    """How to train.

    Attributes:
        trees: per target. leaves: of a tree. leaf_designs: least designs of a leaf.
        learning_rate: share of the answer of a tree that counts.
        feature_share: share of features that a tree may use.
        converted_liberty: cell library whose labels, by constant factors, stand for those that training
            designs lack; see `models.labelled.add_converted_labels`. None for none. Level run does without,
            for only designs with labels of the chosen library have features of a run.
    """

    trees: Annotated[int, Search(100, 1600)] = 400
    leaves: Annotated[int, Search(4, 63)] = 15
    leaf_designs: Annotated[int, Search(3, 60)] = 10
    learning_rate: Annotated[float, Search(0.01, 0.2)] = 0.05
    feature_share: Annotated[float, Search(0.2, 1.0, is_log=False)] = 0.7
    converted_liberty: str | None = None


def _train(data: TrainingInput, *, level: str) -> Trained:
    from models.lightgbm.trees import train  # lazy import: loads what training needs

    return train(data, level)


def _load(files: ModelFiles) -> TreePredictor:
    from models.lightgbm.trees import load

    return load(files)


def _spec(level: Level, features: str) -> PredictorSpec:
    task = all_labels_task(level, tables=labels_and_power_task(level).tables)
    return PredictorSpec(
        name=f"lightgbm-{level}",
        version=_VERSION,
        description=f"Gradient-boosted trees on {features}.",
        task=task,
        options=TrainOptions,
        train_with=partial(_train, level=level),
        load_with=_load,
        answers=label_answers(task),
        libraries=("lightgbm", "numpy"),
        requirements=ENGINE_REQUIREMENTS,
    )


PREDICTORS = (
    _spec("text", "the work of the source text: operations by kind and how often loops repeat them"),
    _spec("static", "the schedule of a program: units, registers, expected cycles"),
    _spec("hls", "what high-level synthesis gives: estimates, operations and counted cycles"),
    _spec("run", "what a run of the cycle model gives: cycles, toggles and power by part"),
)
