"""Fitting: examples in, a trained network out, the same on every run of one machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from models.program_lm import TrainingOptions
from models.program_lm.examples import Example
from models.program_lm.network import ProgramLm, Size, untrained
from models.training import Loggers, Training, deterministic, fit
from pipelines.base.summation import ordered_sum

CONTEXT_WEIGHT = 0.1
"""Weight in the loss of tokens that are given when sampling; those that are sampled have 1."""
WARM_UP_STEPS = 40
POOL_BATCHES = 20
"""Batches whose examples are sorted by length together."""
OnStep = Callable[[int, int, float], None]
"""Called with the step, the steps of the training, and the loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A trained network and how the training went.

    Attributes:
        losses: nats a token of the middle, each the mean of a twentieth of the steps.
        held_out_loss, held_out_accuracy: of middles of programs that were not trained on.
    """

    network: ProgramLm
    losses: tuple[float, ...]
    held_out_loss: float
    held_out_accuracy: float


Batch = tuple[Tensor, Tensor]
"""Token numbers and loss weights of the tokens, each (batch, time); padding weighs 0."""


def batch_of(examples: Sequence[Example]) -> Batch:
    """Return the examples side by side."""
    longest = max(len(e.ids) for e in examples)
    ids = torch.zeros(len(examples), longest, dtype=torch.long)
    weights = torch.zeros(len(examples), longest)
    for row, example in enumerate(examples):
        length = len(example.ids)
        ids[row, :length] = torch.tensor(example.ids)
        weights[row, :length] = CONTEXT_WEIGHT
        weights[row, length - example.middle : length] = 1.0
    return ids, weights


def batches_of(examples: Sequence[Example], options: TrainingOptions, seed: int) -> list[Batch]:
    """Return one batch per step, each of examples of similar length."""
    generator = Random(seed)  # noqa: S311 - batches, no secrets
    batches: list[Batch] = []
    pool = POOL_BATCHES * options.batch_size
    while len(batches) < options.steps:
        order = list(range(len(examples)))
        generator.shuffle(order)
        for begin in range(0, len(order), pool):
            some = sorted(order[begin : begin + pool], key=lambda k: (len(examples[k].ids), k))
            groups = [some[k : k + options.batch_size] for k in range(0, len(some), options.batch_size)]
            generator.shuffle(groups)
            batches += [batch_of([examples[k] for k in group]) for group in groups]
    return batches[: options.steps]


class _Training(Training[ProgramLm]):
    """The loss and the learning rate of every step."""

    def __init__(self, network: ProgramLm, options: TrainingOptions, on_step: OnStep) -> None:
        super().__init__(network, learning_rate=options.learning_rate, weight_decay=options.weight_decay)
        self.options = options
        self.on_step = on_step
        self.losses: list[float] = []

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean loss of the tokens by their weights."""
        ids, weights = batch
        logits, _ = self.network(ids[:, :-1])
        each = functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
        weights = weights[:, 1:]
        middle = (weights == 1.0).float()
        self.losses.append(float((each.detach() * middle).sum() / middle.sum()))
        self.on_step(len(self.losses), self.options.steps, self.losses[-1])
        return (each * weights).sum() / weights.sum()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return AdamW whose rate is set before each step."""
        return torch.optim.AdamW(
            self.network.parameters(),
            lr=self.options.learning_rate,
            weight_decay=self.options.weight_decay,
            betas=(0.9, 0.98),
        )

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        del batch, batch_idx
        for group in self.trainer.optimizers[0].param_groups:
            group["lr"] = self.options.learning_rate * rate_at(len(self.losses), self.options.steps)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["step_losses"] = self.losses

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.losses = list(checkpoint["step_losses"])


def rate_at(step: int, steps: int) -> float:
    """Return share of the learning rate at a step: a linear warm-up, then half a cosine down to a tenth."""
    warm_up = min(WARM_UP_STEPS, max(1, steps // 10))
    if step < warm_up:
        return (step + 1) / warm_up
    way = (step - warm_up) / max(1, steps - warm_up)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * way))


def fit_network(
    examples: Sequence[Example],
    held_out: Sequence[Example],
    size: Size,
    options: TrainingOptions,
    *,
    seed: int,
    on_step: OnStep,
    checkpoints: Path | None = None,
    loggers: Loggers | None = None,
) -> Fit:
    """Train a network on examples.

    Same arguments give the same bits on one machine. Another processor may round differently. A twentieth of
    the steps is an epoch of the trainer.

    Args: checkpoints, loggers: see `models.training.fit`.
    """
    batches = batches_of(examples, options, seed)
    part = max(1, len(batches) // 20)
    training = _Training(untrained(size, seed), options, on_step)
    fit(
        lambda: training,
        lambda epoch: batches[epoch * part : (epoch + 1) * part],
        epochs=-(-len(batches) // part),
        seed=seed,
        gradient_limit=1.0,
        checkpoints=checkpoints,
        loggers=loggers,
    )
    with deterministic(seed):
        loss, accuracy = _judge(training.network, held_out)
    parts = [training.losses[k : k + part] for k in range(0, len(training.losses), part)]
    return Fit(
        network=training.network,
        losses=tuple(ordered_sum(p) / len(p) for p in parts),
        held_out_loss=loss,
        held_out_accuracy=accuracy,
    )


@torch.inference_mode()
def _judge(network: ProgramLm, examples: Sequence[Example]) -> tuple[float, float]:
    """Return the loss and accuracy of the tokens of middles."""
    loss, right, count = 0.0, 0.0, 0.0
    ordered = sorted(examples, key=lambda e: len(e.ids))
    for begin in range(0, len(ordered), 32):
        ids, weights = batch_of(ordered[begin : begin + 32])
        logits, _ = network(ids[:, :-1])
        middle = (weights[:, 1:] == 1.0).float()
        each = functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
        loss += float((each * middle).sum())
        right += float(((logits.argmax(-1) == ids[:, 1:]) * middle).sum())
        count += float(middle.sum())
    return loss / max(1.0, count), right / max(1.0, count)
