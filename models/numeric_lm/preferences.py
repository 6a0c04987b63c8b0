"""Preferences: triplets of a question, a right and a predicted answer, and the loss that learns from them.

Source: LLMulator section 5.1 and equation 2: direct preference optimisation (Rafailov et al. 2023).
The loss may add the cross-entropy of the right answer; without it the probability of both answers may fall.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from models.numeric_lm.network import DigitDecoder, Memory

_KEPT = 2
"""Prompts of a minibatch that the term `keep` looks at; prompts of one program hardly differ."""
Item = TypeVar("Item")
UNKNOWN = -100
"""Class of a step that an answer does not have."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Preference:
    """A triplet ({x, data}, y_w, y_l) of one metric.

    Attributes:
        states: of the prompt's tokens, (tokens, width). mask: which metric reads which, (metrics, tokens).
        anchors: (metrics,), see `network.AnswerBatch`.
        answers: classes of the right and of the predicted answer, (2, steps).
        reference: logarithms of their probabilities by the frozen model, (2,).
        kept: classes of the frozen model's answers, (metrics, steps), `UNKNOWN` for this metric.
    """

    states: Tensor
    mask: Tensor
    anchors: Tensor
    answers: Tensor
    reference: Tensor
    kept: Tensor


class Likelihoods(NamedTuple):
    """Logarithms of the probabilities of answers, each (batch,)."""

    chosen: Tensor
    rejected: Tensor


class ReplayBuffer(Generic[Item]):
    """The latest profiles, up to a window; with a window of 1 the last one alone decides an update."""

    def __init__(self, window: int) -> None:
        self._known: deque[Item] = deque(maxlen=window)

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._known)

    def add(self, items: Iterable[Item]) -> None:
        """Take profiles in; the oldest ones beyond the window go."""
        self._known.extend(items)

    def draw(self, count: int, generator: torch.Generator) -> list[int]:
        """Draw the places of a minibatch without repetition, of all profiles where there are fewer."""
        return torch.randperm(len(self._known), generator=generator)[:count].tolist()


def dpo_loss(policy: Likelihoods, reference: Likelihoods, beta: float) -> Tensor:
    """Return the negative of equation 2's reward, mean over the batch.

    Args: beta: how far the policy may leave the reference; smaller is farther.
    """
    chosen = policy.chosen - reference.chosen
    rejected = policy.rejected - reference.rejected
    return -logsigmoid(beta * (chosen - rejected)).mean()


def log_probability(logits: Tensor, classes: Tensor) -> Tensor:
    """Return the logarithm of the probability of answers, summed over known steps: (batch, answers).

    Args: logits: (batch, answers, steps, classes). classes: (batch, answers, steps).
    """
    known = classes != UNKNOWN
    logs = logits.log_softmax(dim=-1).gather(-1, classes.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return torch.where(known, logs, 0.0).sum(dim=2)


class PreferenceBatch(NamedTuple):
    """Preferences of equal length with padding; see `Preference`, with a first axis of the batch."""

    states: Tensor
    mask: Tensor
    anchors: Tensor
    answers: Tensor
    reference: Tensor
    kept: Tensor


def batch_of(preferences: Sequence[Preference]) -> PreferenceBatch:
    """Return the preferences as one batch."""
    states, mask = padded([p.states for p in preferences], [p.mask for p in preferences])
    names = ("anchors", "answers", "reference", "kept")
    rest = {name: torch.stack([getattr(p, name) for p in preferences]) for name in names}
    return PreferenceBatch(states=states, mask=mask, **rest)


def padded(states: Sequence[Tensor], masks: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return padded states (tokens, width) and masks (metrics, tokens) of prompts; nothing reads padding."""
    pad = torch.nn.utils.rnn.pad_sequence
    mask = pad([mask.T for mask in masks], batch_first=True)  # (batch, tokens, metrics)
    return pad(list(states), batch_first=True), mask.transpose(1, 2)


def answer_likelihoods(
    decoder: DigitDecoder, memory: Memory, anchors: Tensor, answers: Tensor, metric: int
) -> Tensor:
    """Return the logarithms of the probabilities of several answers (batch, answers, steps) of a metric."""
    metrics = [metric] * answers.shape[1]
    return log_probability(decoder(memory, answers, anchors, metrics), answers)


def preference_loss(
    decoder: DigitDecoder,
    batch: PreferenceBatch,
    metric: int,
    *,
    beta: float,
    supervised: float = 0.0,
    keep: float = 0.0,
) -> Tensor:
    """Compute equation 2 and optional terms.

    Args:
        decoder: that is trained. metric: number of the metric that the preferences are about.
        supervised: weight of the cross-entropy of the right answer, per answer.
        keep: weight of the cross-entropy of the frozen model's answers to the other metrics.
    """
    memory = decoder.remember(batch.states, batch.mask)
    likelihoods = answer_likelihoods(decoder, memory, batch.anchors, batch.answers, metric)
    policy, reference = Likelihoods(*likelihoods.unbind(1)), Likelihoods(*batch.reference.unbind(1))
    loss = dpo_loss(policy, reference, beta)
    if supervised:
        loss = loss - supervised * policy.chosen.mean()
    if keep:
        few = slice(0, _KEPT)
        known = Memory(tuple((k[few], v[few]) for k, v in memory.keys), memory.mask[few])
        logits = decoder(known, batch.kept[few], batch.anchors[few])
        loss = loss - keep * log_probability(logits, batch.kept[few]).sum(dim=1).mean()
    return loss
