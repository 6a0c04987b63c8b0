"""GNNHLS: a graph neural network over a design's control/data-flow graph (Wu et al., DAC 2022).

The package holds graphs as tensors, the network of torch-geometric's layers, and its training. The graphs
themselves are made by `pipelines.features`. Importing this package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.catalogue import PredictorSpec
from models.tasks import LABEL_TABLES, Column, all_labels_task

LAYERS = ("rgcn", "gine")
_VERSION = "1"
"""Raised by hand when the same tables, options and seed would train another network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """How to train.

    Attributes:
        split, tool, liberty: see models.labelled.Selection.
        layer: of torch-geometric: rgcn, with weights per kind of edge, or gine, with an embedding of it.
        width: of the states. layers: of messages.
        loop_bounds: nodes know how often their block is executed by the loops' trip counts.
        dropout: share of the readout silenced in training.
        learning_rate: the highest of one cycle. weight_decay: of AdamW.
        batch_nodes: of a step, at most, or of one graph.
        max_epochs: passes over the training part. patience: epochs without a better validation loss.
        threads: of training.
        bootstrap_resamples: draws behind each leaderboard interval.
    """

    split: str = "by_kernel_v2"
    tool: str | None = None
    liberty: str | None = None
    layer: str = "rgcn"
    width: int = 64
    layers: int = 3
    loop_bounds: bool = True
    dropout: float = 0.1
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    batch_nodes: int = 8192
    max_epochs: int = 40
    patience: int = 10
    threads: int = 1
    bootstrap_resamples: int = 1000

    def __post_init__(self) -> None:
        """Raises: ValueError: an option outside its range."""
        if self.layer not in LAYERS:
            raise ValueError(f"layer out of range: {self.layer!r}; accepted: {', '.join(LAYERS)}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout out of range: {self.dropout!r}; accepted: from 0 to below 1")
        for name in ("width", "layers", "batch_nodes", "max_epochs", "patience", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} out of range: {getattr(self, name)!r}; accepted: at least 1")


_TASK = all_labels_task("hls", tables=(*LABEL_TABLES, "cdfg_nodes", "cdfg_edges"))
PREDICTOR = PredictorSpec(
    name="gnnhls",
    version=_VERSION,
    description="A graph neural network over the control/data-flow graph (GNNHLS, after Wu et al. 2022).",
    task=_TASK,
    options=TrainOptions,
    train_with="models.gnnhls.train:train",
    load_with="models.gnnhls.predictor:load",
    answer_with="models.base:answer_queries",
    answers=(
        *(Column(name=name, unit=unit) for name, unit in _TASK.targets.items()),
        Column(name="confidence"),
        Column(name="outside_training", kind="string"),
    ),
    libraries=("torch", "torch-geometric", "lightning", "numpy"),
    requirements=("filelock", "islpy", "polars", "pyarrow", "pycparser", "pydantic", "pyscipopt", "scipy"),
)
