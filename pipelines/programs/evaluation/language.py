"""The language workloads of LLMulator's Table 2, 10 to 14, in miniature.

Fixed point of 5 bits behind the point: activations within +-127 (4.0), weights within +-16 (0.5), so that
sums of at most 16 products stay below 2^16 and the mean of squares below 2^16. Differences between
the models are kept: position of the norms, biases, encoding of positions, keys of a query, gating of the
inner layer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from pipelines.programs.evaluation.workload import INT8, Call, Specification, Workload, call


def _uniform(low: int, high: int) -> Specification:
    return {"kind": "uniform", "low": low, "high": high}


_DATA: Mapping[str, Specification] = {
    "id": _uniform(2, 16),
    "word": _uniform(-64, 65),
    "position": _uniform(-24, 25),
    "segment": _uniform(-12, 13),
    "w_*": _uniform(-16, 17),
    "b_*": _uniform(-8, 9),
    "gain_*": _uniform(16, 49),
    "table": _uniform(-32, 33),
    "x": _uniform(-64, 65),
}
_SIZES = {"TOKENS": 9, "WORDS": 16, "HIDDEN": 8, "INNER": 16, "HEADS": 2, "HEAD": 4}
_HEADS = "N=TOKENS J=TOKENS A=HEADS D=HEAD"
_ROW = "N=TOKENS K=HIDDEN"


def _turned(function: Callable[[float], float]) -> Specification:
    """Cosines or sines of the rotary angles, place / 10000^(2 i / HEAD), 5 bits behind the point."""
    angles = [[place / 10000 ** (2 * i / 4) for i in range(2)] for place in range(6)]
    return {"kind": "values", "values": [[round(32 * function(a)) for a in row] for row in angles]}


def _linear(x: str, role: str, out: str, sizes: str = "K=HIDDEN M=HIDDEN") -> Call:
    return call("linear", f"N=TOKENS {sizes}", f"x={x} weight=w_{role} bias=b_{role} tokens out={out}")


def _project(x: str, role: str, out: str, sizes: str = "K=HIDDEN M=HIDDEN") -> Call:
    return call("project", f"N=TOKENS {sizes}", f"x={x} weight=w_{role} tokens out={out}")


def _self_attention(x: str) -> tuple[Call, ...]:
    """Projections, attention of HEADS heads, and the projection of its result."""
    return (
        _linear(x, "query", "query"),
        _linear(x, "key", "key"),
        _linear(x, "value", "value"),
        call("attention", f"{_HEADS} S=6", "query=query key=key value=value tokens keys=valid out=mixed"),
        _linear("mixed", "mix", "attended"),
    )


def _inner_layer(x: str) -> tuple[Call, ...]:
    """HIDDEN to INNER and back with GELU between."""
    return (
        _linear(x, "inner", "inner", "K=HIDDEN M=INNER"),
        call("gelu", "N=TOKENS K=INNER", "x=inner tokens out=active"),
        _linear("active", "outer", "outer", "K=INNER M=HIDDEN"),
    )


def _add_norm(x: str, rest: str, role: str, out: str) -> Call:
    return call("add_norm", _ROW, f"x={x} rest={rest} gain=gain_{role} bias=b_{role} tokens out={out}")


def _post_norm_layer(x: str, out: str) -> tuple[Call, ...]:
    """A layer of BERT: attention, add and norm, inner layer, add and norm."""
    return (
        *_self_attention(x),
        _add_norm("attended", x, "first", "middle"),
        *_inner_layer("middle"),
        _add_norm("outer", "middle", "second", out),
    )


BERT = Workload(
    name="bert-base",
    source="BERT: embeddings of words, positions and segments, and a post-norm layer with GELU",
    element=INT8,
    sizes=_SIZES,
    scalars={"tokens": 6, "first": 4, "valid": 6},
    calls=(
        call("embed", f"V=WORDS {_ROW}", "id word position segment tokens first out=embedded"),
        call("layer_norm", _ROW, "x=embedded gain=gain_0 bias=b_0 tokens out=h"),
        *_post_norm_layer("h", "y"),
    ),
    data=_DATA,
)

ALBERT = Workload(
    name="albert",
    source="ALBERT: factorised embeddings, and one layer that runs as often as there are layers",
    element=INT8,
    sizes={**_SIZES, "TOKENS": 6, "NARROW": 4, "INNER": 12},
    scalars={"tokens": 4, "first": 2, "valid": 4, "layers": 2},
    calls=(
        call("embed", "V=WORDS N=TOKENS K=NARROW", "id word position segment tokens first out=embedded"),
        call("layer_norm", "N=TOKENS K=NARROW", "x=embedded gain=gain_0 bias=b_0 tokens out=normal"),
        _linear("normal", "widen", "h", "K=NARROW M=HIDDEN"),
        *_post_norm_layer("h", "h"),
    ),
    data=_DATA,
    repeated=(3, "layers"),
)

T5 = Workload(
    name="t5-base",
    source="T5: an encoder layer with relative position buckets, cross-attention; RMS norm first",
    element=INT8,
    sizes={**_SIZES, "TOKENS": 6, "BUCKETS": 8},
    scalars={"tokens": 4},
    calls=(
        call("embed_words", f"V=WORDS {_ROW}", "id word tokens out=h"),
        call("rms_norm", _ROW, "x=h gain=gain_0 tokens out=normal_0"),
        _project("normal_0", "query", "query"),
        _project("normal_0", "key", "key"),
        _project("normal_0", "value", "value"),
        call("relative_bias", "N=TOKENS B=BUCKETS A=HEADS", "table tokens out=bias"),
        call("biased_attention", f"{_HEADS} S=5", "query key value bias tokens keys=tokens out=mixed"),
        _project("mixed", "mix", "attended"),
        call("add_tokens", _ROW, "x=attended y=h tokens out=h_1"),
        call("rms_norm", _ROW, "x=h_1 gain=gain_1 tokens out=normal_1"),
        _project("normal_1", "inner", "inner", "K=HIDDEN M=INNER"),
        call("relu_tokens", "N=TOKENS K=INNER", "x=inner tokens out=active"),
        _project("active", "outer", "outer", "K=INNER M=HIDDEN"),
        call("add_tokens", _ROW, "x=outer y=h_1 tokens out=encoded"),
        call("rms_norm", _ROW, "x gain=gain_2 tokens out=normal_2"),
        _project("normal_2", "cross_query", "cross_query"),
        _project("encoded", "cross_key", "cross_key"),
        _project("encoded", "cross_value", "cross_value"),
        call(
            "attention",
            f"{_HEADS} S=5",
            "query=cross_query key=cross_key value=cross_value tokens keys=tokens out=crossed",
        ),
        _project("crossed", "cross_mix", "cross_attended"),
        call("add_tokens", _ROW, "x=cross_attended y=x tokens out=decoded"),
    ),
    data=_DATA,
)

ROBERTA = Workload(
    name="roberta",
    source="RoBERTa: positions counted over what is no padding; queries, keys and values in one product",
    element=INT8,
    sizes={**_SIZES, "POSITIONS": 11, "FUSED": 24},
    scalars={"tokens": 6, "keys": 6},
    calls=(
        call("embed_counted", f"V=WORDS {_ROW}", "id word position tokens out=embedded"),
        call("layer_norm", _ROW, "x=embedded gain=gain_0 bias=b_0 tokens out=h"),
        _linear("h", "fused", "fused", "K=HIDDEN M=FUSED"),
        call("fused_attention", f"{_HEADS} S=6", "x=fused id tokens keys out=mixed"),
        _linear("mixed", "mix", "attended"),
        _add_norm("attended", "h", "first", "middle"),
        *_inner_layer("middle"),
        _add_norm("outer", "middle", "second", "y"),
    ),
    data={**_DATA, "id": {"kind": "values", "values": [2, 7, 5, 14, 9, 1, 11, 3, 1]}},
)

LLAMA = Workload(
    name="llama",
    source="LLaMA: RMS norm, rotary positions, causal attention of grouped queries, SiLU gate",
    element=INT8,
    sizes={**_SIZES, "TOKENS": 6, "GROUPS": 1, "FUSED": 16, "ROTATED": 12, "INNER": 12},
    scalars={"tokens": 4},
    calls=(
        call("rms_norm", _ROW, "x gain=gain_0 tokens out=normal"),
        _project("normal", "fused", "fused", "K=HIDDEN M=FUSED"),
        call("rotate", "N=TOKENS M=FUSED R=ROTATED D=HEAD", "x=fused cosine sine tokens out=rotated"),
        call(
            "grouped_attention",
            "N=TOKENS J=TOKENS A=HEADS G=GROUPS D=HEAD S=6",
            "x=rotated tokens keys=tokens out=mixed",
        ),
        call("project_add", "N=TOKENS K=HIDDEN M=HIDDEN", "x=mixed weight=w_mix rest=x tokens out=middle"),
        call("rms_norm", _ROW, "x=middle gain=gain_1 tokens out=normal_1"),
        call("silu_gate", "N=TOKENS K=HIDDEN M=INNER", "x=normal_1 gate=w_gate up=w_up tokens out=gated"),
        call("project_add", "N=TOKENS K=INNER M=HIDDEN", "x=gated weight=w_down rest=middle tokens out=y"),
    ),
    data={**_DATA, "cosine": _turned(math.cos), "sine": _turned(math.sin)},
)

LANGUAGE = (BERT, ALBERT, T5, ROBERTA, LLAMA)
