"""Corrections of queueing theory, learned from simulated networks (chapter 5.3.5).

Belongs here: features of streams, training, the trained correction.
Does not: queueing theory itself (`pipelines.network.queueing`), metrics shared by predictors. Importing this
package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.tasks import Column, Reference, ReferenceSet, Task, part_groups

if TYPE_CHECKING:
    from models.model_files import ModelFiles
    from models.queue_correction.tails import NetworkPredictor

_VERSION = "1"
"""Raised by hand when the same tables, options and seed would train another correction."""
SPREAD_WEIGHT = 0.03
"""Weight of the second answer's loss beside the first's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How to train.

    Attributes:
        width: of the hidden layers. layers: their number.
        epochs: passes over all samples.
        learning_rate: the highest of one cycle (Smith and Topin 2019). weight_decay: of AdamW.
        batch_size: samples per step.
        loss_width: error below which the loss is quadratic.
        second_weight: of the loss of the second answer beside that of the first.
    """

    width: int = 64
    layers: int = 2
    epochs: int = 400
    learning_rate: float = 1e-2
    weight_decay: float = 0.0
    batch_size: int = 2048
    loss_width: float = 0.05
    second_weight: float = SPREAD_WEIGHT


def _reference_set(reference: Reference) -> ReferenceSet:
    from models.queue_correction.data import network_reference  # lazy import: reads tables

    return network_reference(reference)


NETWORK_LATENCY = Task(
    name="network-latency",
    tables=("network_runs", "network_flows", "network_hops"),
    targets={"rtt_mean_us": "us"},
    level="network",
    metric="absolute percentage error of mean round trips, at most 100 %, mean over flows of a network",
    baseline="queueing theory without correction",
    question=(
        Column(name="pods", kind="long", example=4),
        Column(name="pattern", kind="string", example="incast"),
        Column(name="load", example=0.5),
        Column(name="arrivals", kind="string", example="ge"),
        Column(name="scv", example=4.0),
        Column(name="routing", kind="string", example="ecmp"),
        Column(name="seed", kind="long", example=1),
    ),
    reference=Reference(
        release="releases/network-v2",
        split="group",
        parts=("grid-16", "grid-128"),
        minimum_programs=100,
    ),
    reference_set=_reference_set,
    reference_groups=part_groups,
)


def _train(data: TrainingInput) -> Trained:
    from models.queue_correction.train import train  # lazy import: loads what training needs

    return train(data)


def _load(files: ModelFiles) -> NetworkPredictor:
    from models.queue_correction.tails import load

    return load(files)


PREDICTOR = PredictorSpec(
    name="queue-correction",
    version=_VERSION,
    description="A perceptron that corrects the waits of queueing theory, stream by stream.",
    task=NETWORK_LATENCY,
    options=FitOptions,
    train_with=_train,
    load_with=_load,
    answers=(
        Column(name="rtt_us", unit="us"),
        Column(name="uncorrected_rtt_us", unit="us"),
        Column(name="rtt_p99_us", unit="us"),
        Column(name="busiest_utilisation"),
        Column(name="seen_in_training"),
    ),
    libraries=("torch", "lightning", "numpy", "scipy"),
    requirements=("networkx", "pyarrow", "scipy"),
)
