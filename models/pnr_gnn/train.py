"""Training the placement network with Lightning: placed graphs in, a predictor out.

The loss is Huber's of the logarithm of the throughput, and of its differences from the mean over the
placements of one graph: the first is what an answer is judged by, the second what an annealer sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from models.base import PredictorError
from models.catalogue import Trained, TrainingInput
from models.pnr_gnn import FitOptions
from models.pnr_gnn.data import PlacedGraph, read_placed, training_graphs
from models.pnr_gnn.network import (
    PlacedTensors,
    PlacementNetwork,
    PlacementPredictor,
    joined,
    tensors_of,
    with_routes,
)
from models.training import Loggers, Training, fit


class Batch(NamedTuple):
    """Placements of some graphs, as many of each. target: (placements,) logarithms of throughput."""

    placed: PlacedTensors
    target: Tensor
    each: int


def train(data: TrainingInput) -> Trained:
    """Train on graphs of building blocks outside the held-out fold.

    Raises: PredictorError: there are none.
    """
    options: FitOptions = data.options
    known = read_placed(data.data_dirs, fabric=options.fabric)
    chosen = training_graphs(known, options.fold)
    predictor, curves = fit_placements(chosen, options, seed=data.seed, loggers=data.loggers)
    return Trained(
        files=predictor.files,
        seen_groups=sorted({graph.layer for graph in chosen}),
        curves=curves,
        summary={"graphs": float(len(chosen))},
    )


def fit_placements(
    graphs: Sequence[PlacedGraph], options: FitOptions, *, seed: int, loggers: Loggers | None = None
) -> tuple[PlacementPredictor, dict[str, list[float]]]:
    """Train a network; the same arguments give the same bits on one machine.

    Raises: PredictorError: there is nothing to train on.
    """
    if not graphs:
        raise PredictorError(f"no placements of building blocks on fabric {options.fabric} to learn from")
    names = sorted({kind for graph in graphs for kind in graph.features.kinds})
    vocabulary = {name: number for number, name in enumerate(names, start=1)}  # 0: unknown
    settings: dict[str, Any] = {
        "kinds": len(names) + 1,
        "width": options.width,
        "layers": options.layers,
        "embedding": options.embedding,
        "annotated": options.annotated,
        "bounded": options.bounded,
        "node_features": options.node_features,
        "edge_features": options.edge_features,
    }
    generator = torch.Generator().manual_seed(seed)
    bases = [tensors_of(g.features, vocabulary, options.placements) for g in graphs]
    steps = -(-len(graphs) // options.graphs) * _passes(graphs, options)

    def batches(epoch: int) -> Iterator[Batch]:
        del epoch
        for _ in range(_passes(graphs, options)):
            order = torch.randperm(len(graphs), generator=generator).tolist()
            for start in range(0, len(order), options.graphs):
                yield _batch(graphs, bases, order[start : start + options.graphs], generator)

    fitted = fit(
        lambda: _Fit(PlacementNetwork(**settings), options, steps),
        batches,
        epochs=options.epochs,
        seed=seed,
        gradient_limit=1.0,
        generator=generator,
        loggers=loggers,
    )
    about = f"{len(graphs)} graphs on fabric {options.fabric}, without fold {options.fold}, seed {seed}"
    predictor = PlacementPredictor(
        network=fitted.network, vocabulary=vocabulary, settings=settings, about=about
    )
    return predictor, fitted.curves


def _passes(graphs: Sequence[PlacedGraph], options: FitOptions) -> int:
    """Return the visits to a graph in an epoch, so that about each placement is seen once."""
    return max(1, round(float(np.median([len(graph.routes) for graph in graphs])) / options.placements))


def _batch(
    graphs: Sequence[PlacedGraph],
    bases: Sequence[PlacedTensors],
    chosen: Sequence[int],
    generator: torch.Generator,
) -> Batch:
    each = bases[chosen[0]].parts
    placed: list[PlacedTensors] = []
    targets: list[np.ndarray[Any, Any]] = []
    for number in chosen:
        graph, base = graphs[number], bases[number]
        drawn = _drawn(len(graph.routes), base.parts, generator).numpy()
        placed.append(with_routes(base, graph.features, graph.routes[drawn]))
        targets.append(np.log(graph.throughput[drawn]))
    target = torch.from_numpy(np.concatenate(targets).astype(np.float32))
    return Batch(joined(placed), target, each)


def _drawn(count: int, parts: int, generator: torch.Generator) -> Tensor:
    """Return numbers of placements, each once where there are enough."""
    if count >= parts:
        return torch.randperm(count, generator=generator)[:parts]
    return torch.randint(count, (parts,), generator=generator)


class _Fit(Training[PlacementNetwork]):
    """Huber loss of logarithms and of their differences within a graph."""

    def __init__(self, network: PlacementNetwork, options: FitOptions, steps: int) -> None:
        super().__init__(
            network,
            learning_rate=options.learning_rate,
            weight_decay=options.weight_decay,
            cycle_steps=steps * options.epochs,
        )
        self._options = options

    def loss(self, batch: Batch) -> Tensor:
        answers, width = self.network(batch.placed), self._options.loss_width
        loss = nn.functional.smooth_l1_loss(answers, batch.target, beta=width)
        if self._options.within:
            ours, theirs = (_centred(values.view(-1, batch.each)) for values in (answers, batch.target))
            loss = loss + self._options.within * nn.functional.smooth_l1_loss(ours, theirs, beta=width)
        return loss


def _centred(values: Tensor) -> Tensor:
    """Return the differences from the mean of every row."""
    return values - values.mean(dim=1, keepdim=True)
