"""RouteNet: a graph neural network for the latency of flows, to compare the correction of theory with.

Belongs here: features of graphs, the network, its training. Does not: queueing theory
(`pipelines.network.queueing`) and its correction (`models.queue_correction`), simulated runs as arrays
(`models.queue_correction.data`). Importing this package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.queue_correction import NETWORK_LATENCY
from models.tasks import Column

if TYPE_CHECKING:
    from models.model_files import ModelFiles
    from models.routenet.network import RouteNetPredictor

_VERSION = "1"
"""Raised by hand when the same tables, options and seed would train another network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How to train.

    Attributes:
        width: of the states. rounds: of messages.
        epochs: passes over all runs.
        learning_rate: the highest of one cycle (Smith and Topin 2019). weight_decay: of AdamW.
        gradient_limit: norm to which the gradients of a step are cut.
        loss_width: error of the logarithm below which the loss is quadratic.
    """

    width: int = 24
    rounds: int = 4
    epochs: int = 24
    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    gradient_limit: float = 1.0
    loss_width: float = 0.02


def _train(data: TrainingInput) -> Trained:
    from models.routenet.train import train  # lazy import: loads what training needs

    return train(data)


def _load(files: ModelFiles) -> RouteNetPredictor:
    from models.routenet.network import load

    return load(files)


PREDICTOR = PredictorSpec(
    name="routenet",
    version=_VERSION,
    description="A graph neural network whose flows and queues exchange messages (RouteNet).",
    task=NETWORK_LATENCY,
    options=FitOptions,
    train_with=_train,
    load_with=_load,
    answers=(Column(name="rtt_us", unit="us"),),
    libraries=("torch", "lightning", "numpy"),
    requirements=("networkx", "pyarrow", "scipy"),
)
