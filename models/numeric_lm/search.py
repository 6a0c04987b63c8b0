"""Beam search over digits, and the distribution over values that it leaves.

Each step keeps the likeliest prefixes. Each prefix that is dropped stays as a leaf: all values that begin
with it, with its probability. So the leaves hold the whole probability, and quantiles need no sampling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.base import PASSES
from models.intervals import COVERED
from models.numeric_lm.answers import AnswerForm
from models.numeric_lm.network import DigitDecoder, Memory, Past

NEAR = 0.1
"""Relative distance within which the confidence of an answer counts probability."""
_LEAST_LOG = -20.0

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distribution:
    """A distribution over values: uniform within each leaf.

    Attributes:
        low, high: ends of each leaf, (leaves,). mass: its probability; they sum to 1.
        best: classes of the likeliest whole answer that the search met.
        best_value: its value.
        probabilities, logits: of each class of `best`, given the classes before it.
    """

    low: Vector
    high: Vector
    mass: Vector
    best: tuple[int, ...]
    best_value: float
    probabilities: tuple[float, ...]
    logits: tuple[float, ...]

    def quantile(self, share: float) -> float:
        """Return the value below which a share of the probability lies."""
        ends = np.unique(np.concatenate([self.low, self.high]))
        return float(np.interp(share, self._below(ends), ends))

    def probability(self, low: float, high: float) -> float:
        """Return the probability of the values between two."""
        below = self._below(np.array([low, high]))
        return float(below[1] - below[0])

    def _below(self, values: Vector) -> Vector:
        width = np.maximum(self.high - self.low, 1e-9)  # a leaf may be a point
        parts = np.clip((values[:, None] - self.low) / width, 0.0, 1.0)
        return parts @ self.mass


def search(
    decoder: DigitDecoder,
    memory: Memory,
    anchors: Tensor,
    forms: Sequence[AnswerForm],
    *,
    beams: int,
    metrics: Sequence[int] | None = None,
) -> list[list[Distribution]]:
    """Return the distributions by prompt and metric.

    Args:
        anchors: see `network.AnswerBatch`. forms: of all metrics. beams: prefixes that are kept, at least 1.
        metrics: numbers of those that are searched; None for all.
    """
    numbers = range(len(forms)) if metrics is None else metrics
    batch, count = len(anchors), len(numbers)
    pasts = [Past() for _ in decoder.layers]
    trees = [_Trees(batch, forms[n], beams) for n in numbers]
    classes: Tensor | None = None
    with torch.inference_mode():
        for step in range(decoder.steps):
            logits = decoder.step(memory, step, classes, anchors, pasts, numbers)
            kept = [tree.grow(step, logits[:, n].double().cpu().numpy()) for n, tree in enumerate(trees)]
            width = max(chosen.shape[1] for _, chosen in kept)
            parents = np.stack([_padded(parent, width) for parent, _ in kept], axis=1)
            chosen = np.stack([_padded(chosen, width) for _, chosen in kept], axis=1)
            rows = np.arange(batch * count).reshape(batch, count, 1) * logits.shape[2] + parents
            for past in pasts:
                past.select(torch.from_numpy(rows.reshape(-1)).to(anchors.device))
            classes = torch.from_numpy(chosen).to(anchors.device)
    return [[tree.distribution(row) for tree in trees] for row in range(batch)]


def _padded(values: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the columns, the first repeated up to a width, for metrics with fewer prefixes than others."""
    missing = width - values.shape[1]
    return np.concatenate([values, np.repeat(values[:, :1], missing, axis=1)], axis=1) if missing else values


class _Trees:
    """Prefixes and leaves of one metric's answers, one tree per prompt."""

    def __init__(self, batch: int, form: AnswerForm, beams: int) -> None:
        self._form, self._beams = form, beams
        self._prefixes = np.zeros((batch, 1, 0), np.int64)  # (batch, beams, steps)
        self._logs = np.zeros((batch, 1))
        self._chances = np.zeros((batch, 1, 0))
        self._logits = np.zeros((batch, 1, 0))
        self._leaves: list[list[tuple[Vector, Vector, Vector]]] = [[] for _ in range(batch)]

    def grow(self, step: int, logits: Vector) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Add a class to the prefixes and keep the likeliest. logits: (batch, beams, classes).

        Returns: parent and class of each prefix that is kept, (batch, kept).
        """
        batch, known = self._logs.shape
        if step >= len(self._form.choices):
            return np.tile(np.arange(known), (batch, 1)), np.zeros((batch, known), np.int64)
        logits = logits[:, :known, : self._form.choices[step]]
        logs = logits - _log_sum(logits)
        totals = (self._logs[:, :, None] + logs).reshape(batch, -1)
        order = np.argsort(-totals, axis=1, kind="stable")
        parents, classes = np.divmod(order, logits.shape[2])
        rows = np.arange(batch)[:, None]
        prefixes = np.concatenate([self._prefixes[rows, parents], classes[:, :, None]], axis=2)
        sorted_logs = totals[rows, order]
        kept = min(self._beams, order.shape[1])
        for row in range(batch):
            self._close(row, prefixes[row, kept:], sorted_logs[row, kept:])
        parents, classes = parents[:, :kept], classes[:, :kept]
        self._prefixes, self._logs = prefixes[:, :kept], sorted_logs[:, :kept]
        self._chances = _extended(self._chances, rows, parents, np.exp(logs)[rows, parents, classes])
        self._logits = _extended(self._logits, rows, parents, logits[rows, parents, classes])
        return parents, classes

    def distribution(self, row: int) -> Distribution:
        """Return the search's result for one prompt."""
        self._close(row, self._prefixes[row], self._logs[row])
        low, high, logs = (np.concatenate(parts) for parts in zip(*self._leaves[row], strict=True))
        mass = np.exp(logs)
        best = tuple(int(n) for n in self._prefixes[row, 0])
        return Distribution(
            low=low,
            high=high,
            mass=mass / mass.sum(),
            best=best,
            best_value=self._form.value(best),
            probabilities=tuple(map(float, self._chances[row, 0])),
            logits=tuple(map(float, self._logits[row, 0])),
        )

    def _close(self, row: int, prefixes: NDArray[np.int64], logs: Vector) -> None:
        likely = logs > _LEAST_LOG
        if likely.any():
            low, high = self._form.intervals(prefixes[likely])
            self._leaves[row].append((low, high, logs[likely]))


def _extended(known: Vector, rows: NDArray[np.int64], parents: NDArray[np.int64], last: Vector) -> Vector:
    return np.concatenate([known[rows, parents], last[:, :, None]], axis=2)


def _log_sum(logits: Vector) -> Vector:
    top = logits.max(axis=-1, keepdims=True)
    return top + np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer for one metric.

    Attributes:
        value: median of the distribution, in the target's unit. likeliest: value of the best beam.
        low, high: ends of the interval that holds `COVERED` of the probability.
        confidence: probability within `NEAR` of the value.
        samples: values at the middles of `PASSES` equal shares of the probability, for pass_at_5.
        digits: class and probability of each step of the best beam. logit: mean logit of its classes.
    """

    value: float
    likeliest: float
    low: float
    high: float
    confidence: float
    samples: tuple[float, ...]
    digits: tuple[tuple[int, float], ...]
    logit: float


def answer_of(distribution: Distribution, scale: float) -> Answer:
    """Return the answer that a distribution gives.

    Args: scale: the engine's estimate where ratios are answered, else 1.
    """
    value = distribution.quantile(0.5)
    tail = (1.0 - COVERED) / 2
    return Answer(
        value=value * scale,
        likeliest=distribution.best_value * scale,
        low=distribution.quantile(tail) * scale,
        high=distribution.quantile(1.0 - tail) * scale,
        confidence=distribution.probability(value * (1 - NEAR), value * (1 + NEAR)),
        samples=tuple(distribution.quantile((n + 0.5) / PASSES) * scale for n in range(PASSES)),
        digits=tuple(zip(distribution.best, distribution.probabilities, strict=True)),
        logit=math.fsum(distribution.logits) / len(distribution.logits),
    )
