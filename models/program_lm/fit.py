"""Fitting: examples in, a trained network out, the same on every run of one machine."""

from __future__ import annotations

import logging
import math
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import torch
from lightning.pytorch import LightningModule, Trainer
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from models.program_lm.examples import Example
from models.program_lm.network import ProgramLm, Size, untrained

CONTEXT_WEIGHT = 0.1
"""Weight in the loss of tokens that are given when sampling; those that are sampled have 1."""
WARM_UP_STEPS = 40
POOL_BATCHES = 20
"""Batches whose examples are sorted by length together."""

OnStep = Callable[[int, int, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How long and how fast to train.

    Attributes:
        steps: of `batch_size` examples each; examples repeat when there are fewer.
        learning_rate: after the warm-up; it falls to a tenth along a cosine.
    """

    steps: int
    batch_size: int
    learning_rate: float
    weight_decay: float


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
    """Examples side by side."""
    longest = max(len(e.ids) for e in examples)
    ids = torch.zeros(len(examples), longest, dtype=torch.long)
    weights = torch.zeros(len(examples), longest)
    for row, example in enumerate(examples):
        length = len(example.ids)
        ids[row, :length] = torch.tensor(example.ids)
        weights[row, :length] = CONTEXT_WEIGHT
        weights[row, length - example.middle : length] = 1.0
    return ids, weights


def batches_of(examples: Sequence[Example], schedule: Schedule, seed: int) -> list[Batch]:
    """As many batches as there are steps, of examples of about one length."""
    generator = Random(seed)  # noqa: S311 - batches, no secrets
    batches: list[Batch] = []
    pool = POOL_BATCHES * schedule.batch_size
    while len(batches) < schedule.steps:
        order = list(range(len(examples)))
        generator.shuffle(order)
        for begin in range(0, len(order), pool):
            some = sorted(order[begin : begin + pool], key=lambda k: (len(examples[k].ids), k))
            groups = [some[k : k + schedule.batch_size] for k in range(0, len(some), schedule.batch_size)]
            generator.shuffle(groups)
            batches += [batch_of([examples[k] for k in group]) for group in groups]
    return batches[: schedule.steps]


class _Batches(Dataset[Batch]):
    """Batches in their order."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.batches = batches

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> Batch:
        return self.batches[index]


class _Training(LightningModule):
    """The loss and the optimiser around a network."""

    def __init__(self, network: ProgramLm, schedule: Schedule, on_step: OnStep) -> None:
        super().__init__()
        self.network = network
        self.schedule = schedule
        self.on_step = on_step
        self.losses: list[float] = []

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Mean loss of the tokens by their weights."""
        ids, weights = batch
        logits, _ = self.network(ids[:, :-1])
        each = functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
        weights = weights[:, 1:]
        middle = (weights == 1.0).float()
        self.losses.append(float((each.detach() * middle).sum() / middle.sum()))
        self.on_step(batch_idx + 1, self.schedule.steps, self.losses[-1])
        return (each * weights).sum() / weights.sum()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """AdamW whose rate is set before each step."""
        return torch.optim.AdamW(
            self.network.parameters(),
            lr=self.schedule.learning_rate,
            weight_decay=self.schedule.weight_decay,
            betas=(0.9, 0.98),
        )

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """Set the learning rate of a step."""
        del batch
        for group in self.trainer.optimizers[0].param_groups:
            group["lr"] = self.schedule.learning_rate * rate_at(batch_idx, self.schedule.steps)


def rate_at(step: int, steps: int) -> float:
    """Share of the learning rate at a step: a linear warm-up, then half a cosine down to a tenth."""
    warm_up = min(WARM_UP_STEPS, max(1, steps // 10))
    if step < warm_up:
        return (step + 1) / warm_up
    way = (step - warm_up) / max(1, steps - warm_up)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * way))


def fit_network(
    examples: Sequence[Example],
    held_out: Sequence[Example],
    size: Size,
    schedule: Schedule,
    *,
    seed: int,
    on_step: OnStep,
) -> Fit:
    """Train a network on examples.

    Same arguments give the same bits on one machine: one thread, deterministic kernels, seeded weights
    and batches. Another processor may round differently.
    """
    network = untrained(size, seed)
    model = _Training(network, schedule, on_step)
    with deterministic(seed), _quiet(), tempfile.TemporaryDirectory() as scratch:
        trainer = Trainer(
            accelerator="cpu",
            devices=1,
            max_steps=schedule.steps,
            max_epochs=1,
            gradient_clip_val=1.0,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
            default_root_dir=scratch,
        )
        trainer.fit(model, DataLoader(_Batches(batches_of(examples, schedule, seed)), batch_size=None))
        network.eval()
        loss, accuracy = _judge(network, held_out)
    part = max(1, len(model.losses) // 20)
    parts = [model.losses[k : k + part] for k in range(0, len(model.losses), part)]
    return Fit(
        network=network,
        losses=tuple(sum(p) / len(p) for p in parts),
        held_out_loss=loss,
        held_out_accuracy=accuracy,
    )


@torch.inference_mode()
def _judge(network: ProgramLm, examples: Sequence[Example]) -> tuple[float, float]:
    """Loss and accuracy of the tokens of middles."""
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


@contextmanager
def deterministic(seed: int) -> Iterator[None]:
    """Seeded random state, one thread and deterministic kernels; all restored afterwards."""
    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(strict)
            torch.set_num_threads(threads)


@contextmanager
def _quiet() -> Iterator[None]:
    """Lightning's notices off: the devices it found, advice on loading, its own use of torch."""
    loggers = [logging.getLogger(n) for n in ("lightning.pytorch", "lightning.fabric")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*does not have many workers.*")
            warnings.filterwarnings("ignore", message=".*LeafSpec.* is deprecated")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
