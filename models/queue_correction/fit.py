"""Training a correction with Lightning: simulated runs in, a correction out, the same bits on one machine.

A sample's weight is its packets times its wait, or theory's where that is longer: an error of its logarithm
counts as it adds to latencies, and so does a wait of nothing that theory makes long. A run's weight is the
fourth root of its samples' number, for streams of a large network say much the same.
Squared waits and the plain root were tried: bursts at low load were 5 to 7 % off in place of 2 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from lightning.pytorch import LightningModule, Trainer
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset

from models.lightning_runs import deterministic, quiet
from models.queue_correction.correction import Correction
from models.queue_correction.data import SimulatedRun
from models.queue_correction.features import SMALL_WAIT

SAMPLE_LIMIT = 4000
"""Samples of one run that are used, drawn evenly; others repeat what these say."""
SMALL_SPREAD = 0.01
"""Squared coefficients of variation of waits below are as good as none."""
LEAST_OPEN = 0.25
"""Share of an answer that counts, from which it is learned: below, theory is as good as exact."""
SPREAD_WEIGHT = 0.03
"""Of the second answer's loss beside the first's."""
WEIGHT_LIMIT = 200.0
"""Weight of one sample over the mean, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How to train.

    Attributes:
        width: of the hidden layers. layers: their number.
        epochs: passes over all samples.
        learning_rate: the highest of one cycle (Smith and Topin 2019). weight_decay: of AdamW.
        batch_size: samples a step.
        loss_width: error below which the loss is quadratic.
        second_weight: of the second answer's loss beside the first's.
    """

    width: int = 64
    layers: int = 2
    epochs: int = 400
    learning_rate: float = 1e-2
    weight_decay: float = 0.0
    batch_size: int = 2048
    loss_width: float = 0.05
    second_weight: float = SPREAD_WEIGHT


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """What is fitted. (samples, features), (samples, 2), (samples,)

    Attributes: targets: logarithms as `correction.py` has them; NaN where no packet waited.
    """

    features: NDArray[np.float32]
    targets: NDArray[np.float32]
    weights: NDArray[np.float32]


def training_samples(runs: Sequence[SimulatedRun], *, seed: int) -> Samples:
    """Samples of runs, those of large runs drawn."""
    stream = np.random.Generator(np.random.Philox(key=seed))
    parts: list[tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.float64]]] = []
    for run in runs:
        chosen = np.flatnonzero(run.packets > 0)
        if len(chosen) > SAMPLE_LIMIT:
            chosen = np.sort(stream.choice(chosen, SAMPLE_LIMIT, replace=False))
        service = run.service_s[chosen]
        wait = run.waits_s[chosen] / service + SMALL_WAIT
        target = np.log(wait / (run.theory_s[chosen] / service + SMALL_WAIT))
        open_share = 1.0 - run.exact[chosen]  # of the answer that counts
        target = np.where(open_share > LEAST_OPEN, target / np.maximum(open_share, LEAST_OPEN), np.nan)
        spread = np.log(np.maximum(SMALL_SPREAD, run.spread[chosen]) / run.theory_spread[chosen])
        weight = np.maximum(wait, run.theory_s[chosen] / service + SMALL_WAIT) * run.packets[chosen]
        weight *= len(chosen) ** 0.25 / weight.sum()
        parts.append((run.features[chosen], np.column_stack([target, spread]), weight))
    features, targets, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    weights = np.minimum(WEIGHT_LIMIT, weights / weights.mean())
    return Samples(
        features=features.astype(np.float32),
        targets=targets.astype(np.float32),
        weights=weights.astype(np.float32),
    )


def fit_correction(samples: Samples, options: FitOptions, *, seed: int, about: str) -> Correction:
    """Train a correction; the same arguments give the same bits on one machine."""
    center, scale = samples.features.mean(axis=0), samples.features.std(axis=0) + 1e-6
    with deterministic(seed), quiet():
        width = options.width
        hidden: list[nn.Module] = []
        for inputs in (samples.features.shape[1], *[width] * (options.layers - 1)):
            hidden += [nn.Linear(inputs, width), nn.SiLU()]
        network = nn.Sequential(*hidden, nn.Linear(width, 2))
        batches = _Batches(samples, (samples.features - center) / scale, options.batch_size, seed)
        trainer = Trainer(
            accelerator="cpu",
            devices=1,
            max_epochs=options.epochs,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(_Fit(network, options, batches.count), DataLoader(batches, batch_size=None))
    layers = [layer for layer in network if isinstance(layer, nn.Linear)]
    return Correction(
        center=center,
        scale=scale,
        least=samples.features.min(axis=0),
        most=samples.features.max(axis=0),
        weights=tuple(np.ascontiguousarray(layer.weight.detach().numpy().T) for layer in layers),
        biases=tuple(layer.bias.detach().numpy().copy() for layer in layers),
        lowest=np.nanmin(samples.targets, axis=0),
        highest=np.nanmax(samples.targets, axis=0),
        about=about,
    )


class _Batches(IterableDataset[tuple[Tensor, Tensor, Tensor]]):
    """Batches in another order every epoch."""

    def __init__(self, samples: Samples, features: NDArray[np.float32], size: int, seed: int) -> None:
        self._values = tuple(torch.from_numpy(v) for v in (features, samples.targets, samples.weights))
        self._size = size
        self._generator = torch.Generator().manual_seed(seed)

    @property
    def count(self) -> int:
        """Batches an epoch."""
        return -(-len(self._values[0]) // self._size)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        order = torch.randperm(len(self._values[0]), generator=self._generator)
        for chosen in order.split(self._size):
            features, targets, weights = (values[chosen] for values in self._values)
            yield features, targets, weights


class _Fit(LightningModule):
    """Weighted Huber loss of the logarithm, AdamW, one cycle of the learning rate."""

    def __init__(self, network: nn.Module, options: FitOptions, steps: int) -> None:
        super().__init__()
        self.network = network
        self._options, self._steps = options, steps * options.epochs

    def training_step(self, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Loss of a batch: (batch, features), (batch, 2), (batch,)."""
        features, targets, weights = batch
        answers = self.network(features)  # (batch, 2)
        known = torch.isfinite(targets)
        width = self._options.loss_width
        losses = nn.functional.smooth_l1_loss(
            torch.where(known, answers, 0.0), torch.where(known, targets, 0.0), reduction="none", beta=width
        )
        return (weights * (losses[:, 0] + self._options.second_weight * losses[:, 1])).mean()

    def configure_optimizers(self) -> dict[str, object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """AdamW under one cycle."""
        rate, decay = self._options.learning_rate, self._options.weight_decay
        optimizer = torch.optim.AdamW(self.parameters(), lr=rate, weight_decay=decay)
        cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=self._steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": cycle, "interval": "step"}}
