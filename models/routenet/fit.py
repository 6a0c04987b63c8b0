"""Training RouteNet with Lightning: simulated runs in, a predictor out, the same bits on one machine.

A run is a batch. The loss is Huber's of the logarithm of a flow's mean over the simulated one, averaged over
the flows of the run: runs weigh the same, however many flows they have. Runs of more flows than `FLOW_LIMIT`
are left out of training, not thinned: a flow less would be another load.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from lightning.pytorch import LightningModule, Trainer
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset

from models.base import PredictorError
from models.lightning_runs import deterministic, quiet
from models.queue_correction import SimulatedRun
from models.routenet.graph import graph_of
from models.routenet.network import GraphTensors, RouteNet, tensors_of
from models.routenet.predictor import RouteNetPredictor

FLOW_LIMIT = 1500
"""Flows of a run that is trained on, at most: a run must not take longer than hundreds of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How to train.

    Attributes:
        width: of the states. rounds: of messages.
        epochs: passes over all runs.
        learning_rate: the highest of one cycle (Smith and Topin 2019). weight_decay: of AdamW.
        gradient_limit: norm to which a step's gradients are cut.
        loss_width: error of the logarithm below which the loss is quadratic.
    """

    width: int = 24
    rounds: int = 4
    epochs: int = 24
    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    gradient_limit: float = 1.0
    loss_width: float = 0.02


Example = tuple[GraphTensors, Tensor, Tensor]
"""A graph, its flows of which a packet came (counted,), logarithms of their means in seconds (counted,)."""


def training_examples(runs: Iterable[SimulatedRun]) -> list[Example]:
    """Runs of at most `FLOW_LIMIT` flows, in their order."""
    examples: list[Example] = []
    for run in runs:
        counted = np.flatnonzero(run.truth_s > 0)  # NaN is not
        if len(run.truth_s) <= FLOW_LIMIT and len(counted):
            targets = np.log(run.truth_s[counted]).astype(np.float32)
            graph = tensors_of(graph_of(run.model))
            examples.append((graph, torch.from_numpy(counted), torch.from_numpy(targets)))
    return examples


def fit_routenet(
    examples: Sequence[Example], options: FitOptions, *, seed: int, about: str
) -> RouteNetPredictor:
    """Train a network; the same arguments give the same bits on one machine.

    Raises: PredictorError: there is nothing to train on.
    """
    if not examples:
        raise PredictorError(f"RouteNet must have runs of up to {FLOW_LIMIT} flows to learn from, got none")
    with deterministic(seed), quiet():
        network = RouteNet(width=options.width, rounds=options.rounds)
        measure_features(network, [graph for graph, _, _ in examples])
        trainer = Trainer(
            accelerator="cpu",
            devices=1,
            max_epochs=options.epochs,
            gradient_clip_val=options.gradient_limit,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        fit = _Fit(network, options, len(examples))
        trainer.fit(fit, DataLoader(_Runs(examples, seed), batch_size=None))
    return RouteNetPredictor(network=network.eval(), about=about)


def measure_features(network: RouteNet, graphs: Sequence[GraphTensors]) -> None:
    """Take means and deviations of features from graphs; of queues and places that flows go through."""
    network.flow_features.measure(torch.cat([graph.flows for graph in graphs]))
    network.queue_features.measure(torch.cat([graph.queues[graph.queues[:, 0] > 0] for graph in graphs]))
    network.place_features.measure(torch.cat([graph.places[graph.utilisation > 0] for graph in graphs]))


class _Runs(IterableDataset[Example]):
    """Runs in another order every epoch."""

    def __init__(self, examples: Sequence[Example], seed: int) -> None:
        self._examples = examples
        self._generator = torch.Generator().manual_seed(seed)

    def __iter__(self) -> Iterator[Example]:
        for place in torch.randperm(len(self._examples), generator=self._generator).tolist():
            yield self._examples[place]


class _Fit(LightningModule):
    """Huber loss of the logarithm, AdamW, one cycle of the learning rate."""

    def __init__(self, network: RouteNet, options: FitOptions, runs: int) -> None:
        super().__init__()
        self.network = network
        self._options, self._steps = options, runs * options.epochs

    def training_step(self, batch: Example) -> Tensor:
        """Loss of a run."""
        graph, counted, targets = batch
        answers = torch.log(self.network(graph))[counted]  # (counted,)
        return nn.functional.smooth_l1_loss(answers, targets, beta=self._options.loss_width)

    def configure_optimizers(self) -> dict[str, object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """AdamW under one cycle."""
        rate, decay = self._options.learning_rate, self._options.weight_decay
        optimizer = torch.optim.AdamW(self.parameters(), lr=rate, weight_decay=decay)
        cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=self._steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": cycle, "interval": "step"}}
