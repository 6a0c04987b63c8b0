"""Families of layers: building blocks of neural networks and layers of two large models.

GEMM, MLP, MHA and FFN follow section IV-A of the learned cost model paper (arXiv 2511.01872); BERT-large
(Devlin et al. 2019) and GPT2-XL (Radford et al. 2019) have the sizes of their papers.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence

from pipelines.fabric.graphs import Graph
from pipelines.fabric.layers import Operation, cut
from pipelines.fabric.machine import Fabric

BERT_SIZES = {"width": 1024, "heads": 16, "hidden": 4096}
GPT_SIZES = {"width": 1600, "heads": 25, "hidden": 6400}


class Layer:
    """Operations of a layer, in the order in which they are added; every method returns the output's name."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.operations: list[Operation] = []

    def add(self, name: str, kind: str, work: float, words: float, *inputs: str, weights: float = 0.0) -> str:
        """Add an operation; see `Operation` for the arguments."""
        self.operations.append(
            Operation(name=name, kind=kind, work=work, words=words, inputs=inputs, weights=weights)
        )
        return name

    def input(self, name: str, width: int) -> str:
        """Return an input of tokens times width."""
        return self.add(name, "buffer", self.tokens * width, self.tokens * width)

    def gemm(self, name: str, source: str, inner: int, width: int) -> str:
        """Return the product of tokens times inner with a constant of inner times width."""
        tokens = self.tokens
        return self.add(name, "gemm", tokens * inner * width, tokens * width, source, weights=inner * width)

    def each(self, kind: str, name: str, width: int, *sources: str) -> str:
        """Return an elementwise operation on tensors of tokens times width."""
        return self.add(name, kind, self.tokens * width, self.tokens * width, *sources)

    def attention(self, source: str, *, width: int, heads: int, prefix: str = "") -> str:
        """Return the multi-head attention without its residual: from query, key and value to projection."""
        tokens = self.tokens
        q, k, v = (self.gemm(f"{prefix}{name}", source, width, width) for name in ("query", "key", "value"))
        scores = self.add(f"{prefix}scores", "matmul", tokens * tokens * width, heads * tokens * tokens, q, k)
        shares = self.add(
            f"{prefix}softmax", "softmax", heads * tokens * tokens, heads * tokens * tokens, scores
        )
        context = self.add(f"{prefix}context", "matmul", tokens * tokens * width, tokens * width, shares, v)
        return self.gemm(f"{prefix}projection", context, width, width)

    def feed_forward(
        self, source: str, *, width: int, hidden: int, activation: str = "gelu", prefix: str = ""
    ) -> str:
        """Return two products with an activation between them, without residual."""
        up = self.gemm(f"{prefix}up", source, width, hidden)
        return self.gemm(
            f"{prefix}down", self.each(activation, f"{prefix}{activation}", hidden, up), hidden, width
        )


def gemm(tokens: int, inner: int, width: int) -> list[Operation]:
    """Return one product of an input and a constant."""
    layer = Layer(tokens)
    layer.gemm("product", layer.input("input", inner), inner, width)
    return layer.operations


def mlp(tokens: int, widths: Sequence[int]) -> list[Operation]:
    """Return a perceptron with ReLU between its products; widths from input to output."""
    layer = Layer(tokens)
    at = layer.input("input", widths[0])
    for depth, (inner, width) in enumerate(itertools.pairwise(widths)):
        at = layer.gemm(f"linear{depth}", at, inner, width)
        if depth + 2 < len(widths):
            at = layer.each("relu", f"relu{depth}", width, at)
    return layer.operations


def mha(tokens: int, *, width: int, heads: int) -> list[Operation]:
    """Return the multi-head attention with residual and normalisation."""
    layer = Layer(tokens)
    start = layer.input("input", width)
    end = layer.attention(start, width=width, heads=heads)
    layer.each("layernorm", "norm", width, layer.each("add", "residual", width, end, start))
    return layer.operations


def ffn(tokens: int, *, width: int, hidden: int) -> list[Operation]:
    """Return a feed-forward network with GELU, residual and normalisation."""
    layer = Layer(tokens)
    start = layer.input("input", width)
    end = layer.feed_forward(start, width=width, hidden=hidden)
    layer.each("layernorm", "norm", width, layer.each("add", "residual", width, end, start))
    return layer.operations


def bert_layer(tokens: int, *, width: int, heads: int, hidden: int) -> list[Operation]:
    """Return a layer of BERT: normalisation after each residual."""
    layer = Layer(tokens)
    start = layer.input("input", width)
    attended = layer.each("add", "residual0", width, layer.attention(start, width=width, heads=heads), start)
    middle = layer.each("layernorm", "norm0", width, attended)
    end = layer.feed_forward(middle, width=width, hidden=hidden)
    layer.each("layernorm", "norm1", width, layer.each("add", "residual1", width, end, middle))
    return layer.operations


def gpt_layer(tokens: int, *, width: int, heads: int, hidden: int) -> list[Operation]:
    """Return a layer of GPT-2: normalisation before attention and before the feed-forward network."""
    layer = Layer(tokens)
    start = layer.input("input", width)
    normal = layer.each("layernorm", "norm0", width, start)
    middle = layer.each("add", "residual0", width, layer.attention(normal, width=width, heads=heads), start)
    normal = layer.each("layernorm", "norm1", width, middle)
    end = layer.feed_forward(normal, width=width, hidden=hidden)
    layer.each("add", "residual1", width, end, middle)
    return layer.operations


def _draw_gemm(rng: random.Random) -> list[Operation]:
    return gemm(rng.choice(_TOKENS), 64 * rng.randint(2, 32), 64 * rng.randint(2, 64))


def _draw_mlp(rng: random.Random) -> list[Operation]:
    return mlp(rng.choice(_TOKENS), [64 * rng.randint(2, 32) for _ in range(rng.randint(3, 7))])


def _draw_mha(rng: random.Random) -> list[Operation]:
    heads = rng.choice((4, 8, 12, 16, 20))
    return mha(rng.choice(_TOKENS), width=64 * heads, heads=heads)


def _draw_ffn(rng: random.Random) -> list[Operation]:
    width = 64 * rng.randint(4, 24)
    return ffn(rng.choice(_TOKENS), width=width, hidden=width * rng.randint(1, 4))


_TOKENS = (128, 192, 256, 384, 512)
DRAWN: Mapping[str, Callable[[random.Random], list[Operation]]] = {
    "gemm": _draw_gemm,
    "mlp": _draw_mlp,
    "mha": _draw_mha,
    "ffn": _draw_ffn,
}


def layer_operations(family: str, seed: int = 0) -> list[Operation]:
    """Return the operations of one draw of a family.

    BERT-large and GPT2-XL have one draw: one layer, on sequences of 384 tokens.
    """
    if family == "bert_large":
        return bert_layer(384, **BERT_SIZES)
    if family == "gpt2_xl":
        return gpt_layer(384, **GPT_SIZES)
    return DRAWN[family](random.Random(f"{family} {seed}"))  # noqa: S311 - a draw, no secret


def family_graphs(family: str, fabric: Fabric, *, seed: int = 0) -> list[Graph]:
    """Draw the graphs of a family; a layer that does not fit gives its subgraphs.

    Raises: FabricError: an operation alone does not fit.
    """
    return cut(family, layer_operations(family, seed), fabric)
