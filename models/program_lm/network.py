"""The network: a small decoder-only transformer over the tokens of one example."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.nn import functional

from models.model_files import ModelFiles

Cache = list[tuple[Tensor, Tensor]]
"""Keys and values of every layer so far, each (batch, heads, time, head_dim)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a network is.

    Attributes:
        width: of the residual stream; a multiple of `heads`.
        layers, heads: of attention.
        tokens: of the vocabulary.
        block: longest example in tokens.
    """

    width: int
    layers: int
    heads: int
    tokens: int
    block: int


class Layer(nn.Module):
    """Attention and a perceptron, each behind a layer norm."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.attention_norm = nn.LayerNorm(size.width)
        self.queries_keys_values = nn.Linear(size.width, 3 * size.width)
        self.attention_out = nn.Linear(size.width, size.width)
        self.norm = nn.LayerNorm(size.width)
        self.up = nn.Linear(size.width, 4 * size.width)
        self.down = nn.Linear(4 * size.width, size.width)

    def forward(self, x: Tensor, past: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return x: (batch, time, width) -> the same, and keys and values of the past and of x."""
        batch, time, width = x.shape
        joined = self.queries_keys_values(self.attention_norm(x))  # (batch, time, 3 width)
        parts = joined.view(batch, time, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)  # each (batch, heads, time, head_dim)
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=past is None)
        x = x + self.attention_out(mixed.transpose(1, 2).reshape(batch, time, width))
        x = x + self.down(functional.gelu(self.up(self.norm(x))))
        return x, (key, value)


class ProgramLm(nn.Module):
    """Tokens to logits of the token after each; input and output share one embedding."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.embedding = nn.Embedding(size.tokens, size.width)
        self.positions = nn.Embedding(size.block, size.width)
        self.layers = nn.ModuleList(Layer(size) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                deep = name.endswith(("attention_out.weight", "down.weight"))
                nn.init.normal_(parameter, std=0.02 / (2 * size.layers) ** 0.5 if deep else 0.02)

    def forward(self, ids: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Return the logits of every next token.

        Args:    ids: (batch, time); one column when there is a cache. cache: of the tokens before.
        Returns: (batch, time, tokens), and the cache of all tokens so far.
        """
        start = cache[0][0].shape[2] if cache else 0
        places = torch.arange(start, start + ids.shape[1])
        x = self.embedding(ids) + self.positions(places)  # (batch, time, width)
        kept: Cache = []
        for number, layer in enumerate(self.layers):
            x, memory = layer(x, cache[number] if cache else None)
            kept.append(memory)
        return functional.linear(self.norm(x), self.embedding.weight), kept


def untrained(size: Size, seed: int) -> ProgramLm:
    """Return a network whose weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ProgramLm(size)


def weights_bytes(network: ProgramLm) -> bytes:
    """Return the weights as safetensors."""
    return save({name: tensor.contiguous() for name, tensor in network.state_dict().items()})


def load_weights(network: ProgramLm, content: bytes) -> None:
    """Fill a network and put it into prediction mode.

    Raises: ValueError: the content is not safetensors of this network's arrays.
    """
    try:
        network.load_state_dict(load(content))
    except Exception as error:  # safetensors raises a class of its own extension module, torch RuntimeError
        raise ValueError(f"weights must be safetensors of this network, got {error}") from error
    network.eval()


def network_files(network: ProgramLm) -> ModelFiles:
    """Return the network as plain data."""
    arrays = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    return ModelFiles(card={"size": asdict(network.size)}, arrays=arrays)
