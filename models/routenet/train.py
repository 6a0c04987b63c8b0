"""Training RouteNet with Lightning: simulated runs in, a predictor out, the same bits on one machine.

A run is a batch. The loss is Huber's of the logarithm of a flow's mean over the simulated one, averaged over
the flows of the run: runs weigh the same, however many flows they have. Runs of more flows than `FLOW_LIMIT`
are left out of training, not thinned: a flow less would be another load.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from models.base import PredictorError
from models.catalogue import Trained, TrainingInput
from models.queue_correction.data import SimulatedRun, groups_of, read_runs
from models.routenet import FitOptions
from models.routenet.graph import graph_of
from models.routenet.network import GraphTensors, RouteNet, RouteNetPredictor, tensors_of
from models.training import Loggers, Training, fit

FLOW_LIMIT = 1500
"""Flows of a run that is trained on, at most: a run must not take longer than hundreds of others."""
DRAWN = ("sampled-16", "sampled-54", "sampled-128", "sampled-two-tier")
"""Groups that are learned from: short runs of everything on fat-trees and trees of two tiers."""
Example = tuple[GraphTensors, Tensor, Tensor]
"""A graph, its flows of which a packet came (counted,), logarithms of their means in seconds (counted,)."""


def train(data: TrainingInput) -> Trained:
    """Train on all drawn groups of runs that the tables hold.

    Raises: PredictorError: no such group, or a file is missing.
    """
    examples: list[Example] = []
    names: list[str] = []
    for folder in data.data_dirs:
        groups = [name for name in groups_of(folder / "tables") if name in DRAWN]
        if groups:
            examples += training_examples(read_runs(folder / "tables", groups))
        names += groups
    about = f"{len(examples)} runs of {', '.join(names)}, seed {data.seed}"
    predictor = fit_routenet(
        examples,
        data.options,
        seed=data.seed,
        about=about,
        loggers=data.loggers,
    )
    return Trained(files=predictor.files, seen_groups=names, summary={"runs": float(len(examples))})


def training_examples(runs: Iterable[SimulatedRun]) -> list[Example]:
    """Return the runs of at most `FLOW_LIMIT` flows, in their order."""
    examples: list[Example] = []
    for run in runs:
        counted = np.flatnonzero(run.truth_s > 0)  # NaN is not
        if len(run.truth_s) <= FLOW_LIMIT and len(counted):
            targets = np.log(run.truth_s[counted]).astype(np.float32)
            graph = tensors_of(graph_of(run.model))
            examples.append((graph, torch.from_numpy(counted), torch.from_numpy(targets)))
    return examples


def fit_routenet(
    examples: Sequence[Example],
    options: FitOptions,
    *,
    seed: int,
    about: str,
    loggers: Loggers | None = None,
) -> RouteNetPredictor:
    """Train a network; the same arguments give the same bits on one machine.

    Raises: PredictorError: there is nothing to train on.
    """
    if not examples:
        raise PredictorError(f"no runs of up to {FLOW_LIMIT} flows to learn from")
    generator = torch.Generator().manual_seed(seed)

    def batches(epoch: int) -> Iterator[Example]:
        del epoch
        order = torch.randperm(len(examples), generator=generator).tolist()
        return (examples[place] for place in order)

    def build() -> _Fit:
        network = RouteNet(width=options.width, rounds=options.rounds)
        measure_features(network, [graph for graph, _, _ in examples])
        return _Fit(network, options, len(examples))

    fitted = fit(
        build,
        batches,
        epochs=options.epochs,
        seed=seed,
        gradient_limit=options.gradient_limit,
        generator=generator,
        loggers=loggers,
    )
    return RouteNetPredictor(network=fitted.network, about=about)


def measure_features(network: RouteNet, graphs: Sequence[GraphTensors]) -> None:
    """Take means and deviations of features from graphs; of queues and places that flows go through."""
    network.flow_features.measure(torch.cat([graph.flows for graph in graphs]))
    network.queue_features.measure(torch.cat([graph.queues[graph.queues[:, 0] > 0] for graph in graphs]))
    network.place_features.measure(torch.cat([graph.places[graph.utilisation > 0] for graph in graphs]))


class _Fit(Training[RouteNet]):
    """Huber loss of the logarithm."""

    def __init__(self, network: RouteNet, options: FitOptions, runs: int) -> None:
        super().__init__(
            network,
            learning_rate=options.learning_rate,
            weight_decay=options.weight_decay,
            cycle_steps=runs * options.epochs,
        )
        self._options = options

    def loss(self, batch: Example) -> Tensor:
        graph, counted, targets = batch
        answers = torch.log(self.network(graph))[counted]  # (counted,)
        return nn.functional.smooth_l1_loss(answers, targets, beta=self._options.loss_width)
