"""GNNHLS: a graph neural network over a design's control/data-flow graph (Wu et al., DAC 2022).

The package holds graphs as tensors, the network of torch-geometric's layers, and its training. The graphs
themselves are made by `pipelines.dataset.features`. Importing this package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from models.catalogue import ENGINE_REQUIREMENTS, PredictorSpec, Trained, TrainingInput
from models.label_tasks import all_labels_task, label_answers
from models.options import Count, Decay, Dropout, LabelOptions, Rate, one_of
from models.tasks import LABEL_TABLES

if TYPE_CHECKING:
    from models.gnnhls.predictor import GraphPredictor
    from models.model_files import ModelFiles

_VERSION = "1"
"""Raised by hand when the same tables, options and seed would train another network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions(LabelOptions):
    """How to train.

    Attributes:
        layer: of torch-geometric: rgcn, with weights per kind of edge, or gine, with an embedding of it.
        width: of the states. layers: of messages.
        loop_bounds: nodes know how often their block is executed by the loops' trip counts.
        dropout: share of the readout silenced in training.
        learning_rate: the highest of one cycle. weight_decay: of AdamW.
        batch_nodes: of a step, at most, or of one graph.
        max_epochs: passes over the training part. patience: epochs without a better validation loss.
        threads: of training.
    """

    layer: Annotated[str, one_of("rgcn", "gine")] = "rgcn"
    width: Count = 64
    layers: Count = 3
    loop_bounds: bool = True
    dropout: Dropout = 0.1
    learning_rate: Rate = 2e-3
    weight_decay: Decay = 0.01
    batch_nodes: Count = 8192
    max_epochs: Count = 40
    patience: Count = 10
    threads: Count = 1


def _train(data: TrainingInput) -> Trained:
    from models.gnnhls.train import train  # lazy import: loads what training needs

    return train(data)


def _load(files: ModelFiles) -> GraphPredictor:
    from models.gnnhls.predictor import GraphPredictor

    return GraphPredictor.of_files(files)


_TASK = all_labels_task("hls", tables=(*LABEL_TABLES, "cdfg_nodes", "cdfg_edges"))
PREDICTOR = PredictorSpec(
    name="gnnhls",
    version=_VERSION,
    description="A graph neural network over the control/data-flow graph (GNNHLS, after Wu et al. 2022).",
    task=_TASK,
    options=TrainOptions,
    train_with=_train,
    load_with=_load,
    answers=label_answers(_TASK),
    libraries=("torch", "torch-geometric", "lightning", "numpy"),
    requirements=ENGINE_REQUIREMENTS,
)
