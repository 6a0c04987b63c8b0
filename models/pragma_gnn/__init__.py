"""A graph neural network for the latency of directives, relative to the bound that is proven of them.

Belongs here: graphs of programs, features of configurations, the network, its training. Does not: bounds
(`pipelines.pragmas.bound`), searches (`pipelines.pragmas`). Importing this package loads no learning
framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.tasks import EXAMPLE_SOURCE, Column, Reference, ReferenceSet, Task

if TYPE_CHECKING:
    from models.model_files import ModelFiles
    from models.pragma_gnn.predictor import PragmaGnnPredictor

_VERSION = "2"
"""Raised by hand when the same designs, options and seed would train another network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How to train.

    Attributes:
        width: of states. rounds: of messages in the graph of a program. climbs: along the tree of loops.
        with_bound: answer relative to the bound, and read its features.
        members: networks of seeds of their own, whose answers are averaged.
        epochs: at most, of `steps` batches of `batch` designs each.
        patience: epochs without a better validation error before stopping; the best epoch is kept.
        validation_share: of the configurations of each program, that stop the training; 0: every epoch runs.
        validate_programs: the share is of groups of programs (sizes and variants of one) instead, each
            member's its own: for answers about programs that it will not have seen, which get worse long
            before those about others do.
        learning_rate: the highest of one cycle (Smith and Topin 2019). weight_decay: of AdamW.
        dropout: in the modules of directives and after. any_tool: share of designs whose tool is hidden.
        gradient_limit: norm to which the gradients of a step are cut.
        loss_width: error of the logarithm below which the loss is quadratic.
        ranking: weight of the second loss.
    """

    width: int = 32
    rounds: int = 2
    climbs: int = 2
    with_bound: bool = True
    members: int = 1
    epochs: int = 16
    steps: int = 50
    batch: int = 128
    patience: int = 12
    validation_share: float = 0.1
    validate_programs: bool = False
    learning_rate: float = 5e-3
    weight_decay: float = 1e-2
    dropout: float = 0.1
    any_tool: float = 0.1
    gradient_limit: float = 1.0
    loss_width: float = 0.3
    ranking: float = 1.0


def _reference_set(reference: Reference) -> ReferenceSet:
    from models.pragma_gnn.data import pragma_reference  # lazy import: reads tables

    return pragma_reference(reference)


PRAGMA_LATENCY = Task(
    name="pragma-latency",
    tables=("programs", "splits", "pragma_designs"),
    targets={"latency_cycles": "cycle"},
    level="directives",
    metric="absolute percentage error, at most 100 %, mean over configurations of a program",
    baseline="the proven bound",
    question=(
        Column(name="source", kind="string", example=EXAMPLE_SOURCE),
        Column(name="top", kind="string", example="scale"),
        Column(name="configuration", kind="string", example='{"caches": null, "loops": {}}'),
    ),
    reference=Reference(
        release="releases/pragmas-v1",
        split="by_kernel_v1",
        parts=("test", "evaluation"),
        minimum_programs=10,
    ),
    reference_set=_reference_set,
)


def _train(data: TrainingInput) -> Trained:
    from models.pragma_gnn.train import train  # lazy import: loads what training needs

    return train(data)


def _load(files: ModelFiles) -> PragmaGnnPredictor:
    from models.pragma_gnn.predictor import load

    return load(files)


PREDICTOR = PredictorSpec(
    name="pragma-gnn",
    version=_VERSION,
    description="A graph neural network for latency under directives, relative to the proven bound.",
    task=PRAGMA_LATENCY,
    options=FitOptions,
    train_with=_train,
    load_with=_load,
    answers=(Column(name="latency_cycles", unit="cycle"), Column(name="bound_cycles", unit="cycle")),
    libraries=("torch", "lightning", "numpy"),
    requirements=("pycparser", "pydantic", "scipy"),
)
