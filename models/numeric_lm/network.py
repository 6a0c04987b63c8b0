"""The network: a back-bone that encodes a prompt once, and a decoder of digits that reads it per metric.

The mask of LLMulator sections 5.2 and 5.3 holds in every layer, in training too:

* a block reads itself and the blocks of `_READS`; different operators do not read each other;
* only data read data, and data read operators of class II, not of class I. The paper conceals the pairs of
  class I and data and lets operators of class II read data; here the data read the operators, so that no
  other block depends on data and one encoding serves static and dynamic metrics;
* static metrics do not read data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, huber_loss, scaled_dot_product_attention

from models.numeric_lm.answers import METRICS, AnswerForm
from models.numeric_lm.prompts import EncodedPrompt, Kind

_READS = {
    Kind.GRAPH: (),
    Kind.OPERATOR: (Kind.GRAPH,),
    Kind.PARAMS: (Kind.GRAPH, Kind.OPERATOR),
    Kind.FEATURES: (Kind.PARAMS,),
    Kind.DATA: (Kind.GRAPH, Kind.OPERATOR, Kind.PARAMS),
}
"""Kinds of blocks that a block reads besides itself."""
_FREQUENCIES = 12
_NO_BLOCK = -1


class PromptBatch(NamedTuple):
    """Prompts of one length with padding; all (batch, tokens), see `EncodedPrompt`. block: -1 is padding."""

    ids: Tensor
    magnitudes: Tensor
    position: Tensor
    block: Tensor
    kind: Tensor
    dynamic: Tensor


class AnswerBatch(NamedTuple):
    """Answers of some prompts.

    classes: (batch, metrics, steps) int64, -100 where a label is unknown or an answer has fewer steps.
    anchors: (batch, metrics), decimal logarithm of 1 + the engine's estimate, NaN for none.
    differences: (batch, metrics), logarithm of the ratio of the label to that of the same program without
        directives, NaN where one of them is unknown; None for a network that does not learn it.
    """

    classes: Tensor
    anchors: Tensor
    differences: Tensor | None = None


def pad_prompts(prompts: Sequence[EncodedPrompt]) -> PromptBatch:
    """Return the prompts as one batch."""
    size = (len(prompts), max(map(len, prompts)))
    batch = PromptBatch(
        ids=torch.zeros(size, dtype=torch.int64),
        magnitudes=torch.full(size, math.nan),
        position=torch.zeros(size, dtype=torch.int64),
        block=torch.full(size, _NO_BLOCK, dtype=torch.int64),
        kind=torch.zeros(size, dtype=torch.int64),
        dynamic=torch.zeros(size, dtype=torch.bool),
    )
    for row, prompt in enumerate(prompts):
        for name in PromptBatch._fields:
            values = torch.from_numpy(np.ascontiguousarray(getattr(prompt, name)))
            getattr(batch, name)[row, : len(prompt)] = values
    return batch


def reads(kinds: Sequence[int], dynamic: Sequence[bool], block: int) -> list[int]:
    """Return the earlier blocks that a block reads, by the same rule as `prompt_mask`.

    Args: kinds, dynamic: of all blocks of a prompt, see `prompts.Block`.
    """
    kind = Kind(kinds[block])
    return [
        other
        for other in range(block)
        if Kind(kinds[other]) in _READS[kind]
        and (dynamic[other] or (kind, kinds[other]) != (Kind.DATA, Kind.OPERATOR))
    ]


def prompt_mask(batch: PromptBatch) -> Tensor:
    """Return which token reads which: (batch, tokens, tokens), rows read columns."""
    kinds = len(Kind)
    table = torch.zeros((kinds, kinds), dtype=torch.bool, device=batch.kind.device)
    for kind, others in _READS.items():
        table[kind, [int(other) for other in others]] = True
    rows, columns = batch.kind.unsqueeze(2), batch.kind.unsqueeze(1)
    others = table[rows, columns]  # (batch, tokens, tokens)
    concealed = (rows == Kind.DATA) & (columns == Kind.OPERATOR) & ~batch.dynamic.unsqueeze(1)
    real = (batch.block != _NO_BLOCK).unsqueeze(1) & (batch.block != _NO_BLOCK).unsqueeze(2)
    own = batch.block.unsqueeze(2) == batch.block.unsqueeze(1)  # padding reads padding
    return own | (others & ~concealed & real)


def metric_mask(batch: PromptBatch) -> Tensor:
    """Return which metric reads which token: (batch, metrics, tokens)."""
    real = (batch.block != _NO_BLOCK).unsqueeze(1)
    is_data = (batch.kind == Kind.DATA).unsqueeze(1)
    dynamic = torch.tensor([metric.dynamic for metric in METRICS], device=batch.kind.device)
    return real & (dynamic.view(1, -1, 1) | ~is_data)


Keys = tuple[Tensor, Tensor]
"""Keys and values of some tokens in a layer: (rows, heads, tokens, head width) each."""


class Backbone(Protocol):
    """What encodes prompts. `width` is that of its states."""

    width: int

    def __call__(self, batch: PromptBatch) -> Tensor:
        """Return the states of the tokens: (batch, tokens, width)."""
        ...


def sinusoids(values: Tensor, count: int, longest: float) -> Tensor:
    """Return sines and cosines of values at geometric wavelengths, 2π to 2π · longest: (..., 2 · count)."""
    steps = torch.arange(count, device=values.device) / max(1, count - 1)
    angles = values.unsqueeze(-1) / longest**steps
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class MagnitudeEmbedding(nn.Module):
    """An embedding of decimal logarithms by sines and cosines; zero where there is no number."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(2 * _FREQUENCIES + 1, width, bias=False)

    def forward(self, magnitudes: Tensor) -> Tensor:  # (...) -> (..., width)
        """Return the embedding of each magnitude."""
        known = ~magnitudes.isnan()
        values = torch.where(known, magnitudes, 0.0)
        # wavelengths from 0.13 to 32 decades
        waves = sinusoids(values * 50.0, _FREQUENCIES, 256.0)
        return self.project(torch.cat([waves, values.unsqueeze(-1)], dim=-1)) * known.unsqueeze(-1)


class _Attention(nn.Module):
    """Multi-head attention; queries and keys may come from different states."""

    def __init__(self, width: int, source_width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.keys = nn.Linear(source_width, 2 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def keys_of(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys, values of states (rows, tokens, source width): (rows, heads, tokens, head width)."""
        keys, values = self.keys(states).chunk(2, dim=-1)
        return self._split(keys), self._split(values)

    def forward(
        self, states: Tensor, keys: tuple[Tensor, Tensor], mask: Tensor | None, causal: bool = False
    ) -> Tensor:
        """Return the states (rows, queries, width) after reading keys; mask: (rows, 1, queries, keys)."""
        read = scaled_dot_product_attention(
            self._split(self.query(states)), *keys, attn_mask=mask, is_causal=causal
        )
        return self.out(read.transpose(1, 2).flatten(2))

    def _split(self, states: Tensor) -> Tensor:
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def _feed_forward(width: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        nn.LayerNorm(width),
        nn.Linear(width, 4 * width),
        nn.GELU(),
        nn.Linear(4 * width, width),
        nn.Dropout(dropout),
    )


class _EncoderLayer(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = _Attention(width, width, heads)
        self.dropout = nn.Dropout(dropout)
        self.feed_forward = _feed_forward(width, dropout)

    def forward(
        self, states: Tensor, mask: Tensor | None, before: Sequence[Keys] = ()
    ) -> tuple[Tensor, Keys]:
        """Return the states after reading themselves and the keys of blocks before, and their own keys."""
        normed = self.norm(states)
        own = self.attention.keys_of(normed)
        keys, values = (torch.cat(parts, dim=2) for parts in zip(*before, own, strict=True))
        states = states + self.dropout(self.attention(normed, (keys, values), mask))
        return states + self.feed_forward(states), own


class CompactBackbone(nn.Module):
    """An encoder that is trained from scratch.

    Positions count from 0 in every block, so that the length of one block does not move the others.
    """

    def __init__(
        self, vocabulary: int, width: int, layers: int, heads: int, dropout: float, magnitudes: bool
    ) -> None:
        super().__init__()
        self.width = width
        self.tokens = nn.Embedding(vocabulary, width)
        self.kinds = nn.Embedding(len(Kind), width)
        self.classes = nn.Embedding(2, width)
        self.positions = nn.Linear(2 * _FREQUENCIES, width, bias=False)
        self.magnitudes = MagnitudeEmbedding(width) if magnitudes else None
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList([_EncoderLayer(width, heads, dropout) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        for table in (self.tokens, self.kinds, self.classes):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, batch: PromptBatch) -> Tensor:
        """Return the states of the tokens: (batch, tokens, width)."""
        states = self.dropout(self.embed(batch))
        mask = prompt_mask(batch).unsqueeze(1)  # (batch, 1, tokens, tokens)
        for layer in self.layers:
            states, _ = layer(states, mask)
        return self.norm(states)

    def read_block(self, block: PromptBatch, before: Sequence[Sequence[Keys]]) -> tuple[Tensor, list[Keys]]:
        """Read the states of one block, and its keys in every layer.

        Args: block: its tokens alone. before: keys in every layer of each block that it reads.
        """
        states = self.embed(block)
        keys: list[Keys] = []
        for number, layer in enumerate(self.layers):
            states, own = layer(states, None, [known[number] for known in before])
            keys.append(own)
        return self.norm(states), keys

    def embed(self, batch: PromptBatch) -> Tensor:
        """Return the inputs of the first layer: (batch, tokens, width)."""
        states = self.tokens(batch.ids) + self.kinds(batch.kind) + self.classes(batch.dynamic.long())
        states = states + self.positions(sinusoids(batch.position.float(), _FREQUENCIES, 1000.0))
        if self.magnitudes is not None:
            states = states + self.magnitudes(batch.magnitudes)
        return states


class _DecoderLayer(nn.Module):
    """Attention to the earlier digits of the answer, then to the prompt."""

    def __init__(self, width: int, memory_width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.own_norm, self.norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.own = _Attention(width, width, heads)
        self.prompt = _Attention(width, memory_width, heads)
        self.dropout = nn.Dropout(dropout)
        self.feed_forward = _feed_forward(width, dropout)

    def forward(
        self, states: Tensor, memory: tuple[Tensor, Tensor], mask: Tensor, past: Past | None
    ) -> Tensor:
        """Return the states (batch, answers, steps, width); mask: (batch, 1, answers * steps, tokens)."""
        batch, answers, steps, _ = states.shape
        normed = self.own_norm(states).flatten(0, 1)  # (batch * answers, steps, width)
        keys = self.own.keys_of(normed)
        if past is not None:
            keys = past.extend(keys)
        read = self.own(normed, keys, None, causal=past is None)
        states = states + self.dropout(read.unflatten(0, (batch, answers)))
        read = self.prompt(self.norm(states).flatten(1, 2), memory, mask)
        states = states + self.dropout(read.unflatten(1, (answers, steps)))
        return states + self.feed_forward(states)


class Past:
    """Keys and values of the steps that a search has made, of one layer."""

    def __init__(self) -> None:
        self.keys: tuple[Tensor, Tensor] | None = None

    def extend(self, keys: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Add a step; all steps: (rows, heads, steps, head width)."""
        if self.keys is not None:
            keys = (torch.cat([self.keys[0], keys[0]], 2), torch.cat([self.keys[1], keys[1]], 2))
        self.keys = keys
        return keys

    def select(self, rows: Tensor) -> None:
        """Go on with these rows."""
        if self.keys is not None:
            self.keys = self.keys[0][rows], self.keys[1][rows]


class Memory(NamedTuple):
    """A prompt as the decoder reads it. keys: of each layer. mask: (batch, metrics, tokens)."""

    keys: tuple[tuple[Tensor, Tensor], ...]
    mask: Tensor


class DigitDecoder(nn.Module):
    """Classes of each step of each metric's answer, from the highest digit down (LLMulator section 4.2)."""

    def __init__(
        self,
        forms: Sequence[AnswerForm],
        memory_width: int,
        *,
        width: int,
        layers: int,
        heads: int,
        dropout: float,
        differences: bool = False,
    ) -> None:
        super().__init__()
        self.difference = nn.Linear(width, 1) if differences else None
        self.steps = max(len(form.choices) for form in forms)
        self.class_count = max(max(form.choices) for form in forms)
        self.metrics = nn.Embedding(len(forms), width)
        self.anchors = MagnitudeEmbedding(width)
        self.digits = nn.Embedding(self.class_count, width)
        self.places = nn.Parameter(torch.randn(len(forms), self.steps, width) * 0.1)
        self.layers = nn.ModuleList(
            [_DecoderLayer(width, memory_width, heads, dropout) for _ in range(layers)]
        )
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, self.class_count)
        allowed = torch.zeros((len(forms), self.steps, self.class_count), dtype=torch.bool)
        for number, form in enumerate(forms):
            for step, count in enumerate(form.choices):
                allowed[number, step, :count] = True
        allowed[~allowed.any(dim=2)] = True  # steps after the end of a shorter answer
        self.register_buffer("allowed", allowed, persistent=False)
        for table in (self.metrics, self.digits):
            nn.init.normal_(table.weight, std=0.1)

    def remember(self, states: Tensor, mask: Tensor) -> Memory:
        """Return the states (batch, tokens, memory width) of prompts, ready to be read."""
        return Memory(tuple(layer.prompt.keys_of(states) for layer in self.layers), mask)  # pyright: ignore

    def forward(
        self, memory: Memory, classes: Tensor, anchors: Tensor, metrics: Sequence[int] | None = None
    ) -> Tensor:
        """Return the logits of every step when the earlier classes are known.

        Args:
            classes: (batch, answers, steps), -100 counts as 0. anchors: see `AnswerBatch`.
            metrics: metric of each answer; None for one answer per metric.
        Returns: (batch, answers, steps, classes).
        """
        return self.logits(self.states(memory, classes, anchors, metrics), metrics)

    def logits(self, states: Tensor, metrics: Sequence[int] | None = None) -> Tensor:
        """Return the logits of states of every step, those of classes that a step lacks -inf."""
        chosen = list(range(len(self.places))) if metrics is None else list(metrics)
        return self._logits(states).masked_fill(~self.allowed[chosen], -math.inf)  # pyright: ignore

    def states(
        self, memory: Memory, classes: Tensor, anchors: Tensor, metrics: Sequence[int] | None = None
    ) -> Tensor:
        """Return the states of every step, see `forward`: (batch, answers, steps, width)."""
        chosen = list(range(len(self.places))) if metrics is None else list(metrics)
        before = self.digits(classes.clamp(min=0))[:, :, :-1]
        first = self._start(anchors)[:, chosen].unsqueeze(2)
        states = torch.cat([first, before], dim=2) + self.places[chosen]
        mask = memory.mask[:, chosen].repeat_interleave(self.steps, dim=1).unsqueeze(1)
        for layer, keys in zip(self.layers, memory.keys, strict=True):
            states = layer(states, keys, mask, None)
        return states

    def step(
        self,
        memory: Memory,
        step: int,
        classes: Tensor | None,
        anchors: Tensor,
        pasts: Sequence[Past],
        metrics: Sequence[int],
    ) -> Tensor:
        """Return the logits of one step of a search over some prefixes of each answer.

        Args:
            classes: (batch, answers, beams), the class before; None at step 0, where there is one prefix.
            metrics: metric of each answer.
        Returns: (batch, answers, beams, classes).
        """
        chosen, batch = list(metrics), len(anchors)
        inputs = self._start(anchors)[:, chosen].unsqueeze(2) if classes is None else self.digits(classes)
        inputs = inputs + self.places[chosen, step].unsqueeze(1)  # (batch, answers, beams, width)
        beams = inputs.shape[2]
        states = inputs.reshape(batch, len(chosen) * beams, 1, -1)
        mask = memory.mask[:, chosen].repeat_interleave(beams, dim=1).unsqueeze(1)
        for layer, keys, past in zip(self.layers, memory.keys, pasts, strict=True):
            states = layer(states, keys, mask, past)
        logits = self._logits(states).view(batch, len(chosen), beams, -1)
        return logits.masked_fill(~self.allowed[chosen, step].unsqueeze(1), -math.inf)  # pyright: ignore

    def _start(self, anchors: Tensor) -> Tensor:
        return self.metrics.weight + self.anchors(anchors)  # (batch, metrics, width)

    def _logits(self, states: Tensor) -> Tensor:
        return self.out(self.norm(states))


class NumericNetwork(nn.Module):
    """A back-bone and a decoder of digits.

    Args: difference_weight: of the loss of the differences to the program without directives.
    """

    def __init__(self, backbone: nn.Module, decoder: DigitDecoder, difference_weight: float = 0.0) -> None:
        super().__init__()
        self.backbone, self.decoder = backbone, decoder
        self._difference_weight = difference_weight

    def read(self, prompts: PromptBatch) -> Memory:
        """Read prompts, encoded once for all metrics."""
        return self.decoder.remember(self.backbone(prompts), metric_mask(prompts))

    def forward(self, prompts: PromptBatch, answers: AnswerBatch) -> Tensor:
        """Return the logits of every step, earlier classes known: (batch, metrics, steps, classes)."""
        return self.decoder(self.read(prompts), answers.classes, answers.anchors)

    def loss(self, prompts: PromptBatch, answers: AnswerBatch) -> Tensor:
        """Return the cross-entropy per digit, mean over known digits (LLMulator equation 1).

        A decoder that learns differences adds their mean Huber loss, from the state of the first step.
        """
        memory = self.read(prompts)
        states = self.decoder.states(memory, answers.classes, answers.anchors)
        logits = self.decoder.logits(states).float()
        loss = cross_entropy(logits.flatten(0, 2), answers.classes.flatten(), ignore_index=-100)
        if self.decoder.difference is None or answers.differences is None:
            return loss
        predicted = self.decoder.difference(states[:, :, 0]).squeeze(-1).float()  # (batch, metrics)
        known = torch.isfinite(answers.differences)
        errors = huber_loss(
            predicted, torch.where(known, answers.differences, predicted.detach()), reduction="none"
        )
        return loss + self._difference_weight * errors.sum() / known.sum().clamp(min=1)
