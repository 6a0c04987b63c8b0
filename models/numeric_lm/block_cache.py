"""Repeated prediction: the states of blocks that a change does not reach are kept (LLMulator section 5.3).

The paper keeps the four corners of an attention matrix that do not touch the changed operator. Here a block
only reads blocks before it, and positions count within blocks, so what a block gives depends on its own text
and on the texts of the blocks that it reads, in every layer. These texts are its key. The answers are those
of the masked network on the whole prompt, but for rounding.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import torch

from models.numeric_lm.network import (
    CompactBackbone,
    Keys,
    Memory,
    NumericNetwork,
    PromptBatch,
    metric_mask,
    pad_prompts,
    reads,
)
from models.numeric_lm.prompts import EncodedPrompt, Kind

MOST_TOKENS = 32768
"""Tokens that a cache keeps; 5 KB each at the default sizes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Block:
    """Keys of a block in every layer of the encoder, and in every layer of the decoder."""

    encoder: Sequence[Keys]
    decoder: Sequence[Keys]
    tokens: int


class BlockCache:
    """Encodes prompts one at a time and keeps their blocks; those used longest ago go.

    Attributes:
        computed_tokens, kept_tokens: of the last prompt, those encoded and those that were known.
        static_name: of the blocks of the last prompt that static metrics read.
    """

    def __init__(self, network: NumericNetwork, *, most_tokens: int = MOST_TOKENS) -> None:
        self._network, self._most = network, most_tokens
        self._blocks: OrderedDict[bytes, _Block] = OrderedDict()
        self._tokens = 0
        self.computed_tokens = self.kept_tokens = 0
        self.static_name = b""

    def read(self, prompt: EncodedPrompt) -> Memory:
        """Read a prompt as the decoder reads it, a batch of one."""
        batch = pad_prompts([prompt])
        self.computed_tokens = self.kept_tokens = 0
        bounds = [0, *((batch.block[0].diff() != 0).nonzero().flatten() + 1).tolist(), len(prompt)]
        starts = bounds[:-1]
        kinds, dynamic = batch.kind[0, starts].tolist(), batch.dynamic[0, starts].tolist()
        names: list[bytes] = []
        blocks: list[_Block] = []
        for number, (start, end) in enumerate(zip(starts, bounds[1:], strict=True)):
            before = reads(kinds, dynamic, number)
            own = PromptBatch(*(part[:, start:end] for part in batch))
            names.append(_name(own, [names[other] for other in before]))
            blocks.append(self._block(names[-1], own, [blocks[other] for other in before]))
        self._forget()
        self.static_name = b"".join(
            name for name, kind in zip(names, kinds, strict=True) if kind != Kind.DATA
        )
        layers = range(len(self._network.decoder.layers))
        keys = tuple(_joined([block.decoder[layer] for block in blocks]) for layer in layers)
        return Memory(keys, metric_mask(batch))

    def _block(self, name: bytes, own: PromptBatch, before: Sequence[_Block]) -> _Block:
        known = self._blocks.get(name)
        tokens = own.ids.shape[1]
        if known is not None:
            self._blocks.move_to_end(name)
            self.kept_tokens += tokens
            return known
        backbone = self._network.backbone
        if not isinstance(backbone, CompactBackbone):
            raise TypeError(f"no blocks of a back-bone of type {type(backbone).__name__}")
        with torch.inference_mode():
            states, keys = backbone.read_block(own, [block.encoder for block in before])
            remembered = self._network.decoder.remember(states, metric_mask(own))
        block = _Block(encoder=keys, decoder=remembered.keys, tokens=tokens)
        self._blocks[name] = block
        self._tokens += tokens
        self.computed_tokens += tokens
        return block

    def _forget(self) -> None:
        while self._tokens > self._most and len(self._blocks) > 1:
            _, block = self._blocks.popitem(last=False)
            self._tokens -= block.tokens


def _name(block: PromptBatch, before: Sequence[bytes]) -> bytes:
    digest = sha256(b"".join(before))
    for part in (block.kind[:, :1], block.dynamic[:, :1], block.ids, block.magnitudes):
        digest.update(part.contiguous().numpy().tobytes())
    return digest.digest()


def _joined(parts: Sequence[Keys]) -> Keys:
    keys, values = (torch.cat(side, dim=2) for side in zip(*parts, strict=True))
    return keys, values
