"""A predictor of labels in one file: it answers with the median of the training part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.base import Estimate, LabelPredictor, read_rows
from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.label_tasks import label_answers, labels_task
from models.labelled import Query, training_designs
from models.leaderboard import paired
from models.model_files import ModelFiles
from models.options import LabelOptions
from pipelines.c import read_function


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(LabelOptions):
    """Attributes: factor: of the median."""

    factor: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianPredictor(LabelPredictor):
    medians: Mapping[str, float]

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(self.medians)

    def predict(self, queries: Sequence[Query]) -> list[Estimate]:
        return read_rows(self._estimate, queries)

    def _estimate(self, query: Query) -> Estimate:
        read_function(query.source, top=query.top)
        return Estimate(values=self.medians, outside_training=())


def train(data: TrainingInput) -> Trained:
    designs = training_designs(data.data_dirs, data.options)
    learned = [design.labels for design in designs if design.part == "train"]
    medians = {t: data.options.factor * float(np.median([own[t] for own in learned])) for t in TASK.targets}
    return Trained(
        files=ModelFiles(card={"medians": medians}, arrays={}),
        seen_groups=sorted({design.group for design in designs if design.part == "train"}),
        predictions=paired(designs, [medians] * len(designs)),
        split=data.options.split,
        resamples=data.options.bootstrap_resamples,
    )


def load(files: ModelFiles) -> MedianPredictor:
    return MedianPredictor(medians=files.card["medians"])


TASK = labels_task("static")
PREDICTOR = PredictorSpec(
    name="median",
    version="1",
    description="The median of the training part.",
    task=TASK,
    options=Options,
    train_with=train,
    load_with=load,
    answers=label_answers(TASK),
    libraries=("numpy",),
)
