"""NumPy references of the operators of the evaluation workloads, from a program's graph alone.

Fixed point is exact (int64 and floor shifts); floating operators work in float64. What a call does not write
keeps what was there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.schemas import ProgramRow

Values = NDArray[Any]
FRACTION = {"int8": 5, "int16": 8, "float": 0}
LIMIT = {"int8": 127, "int16": 4095, "float": math.inf}


@dataclass(frozen=True)
class Operands:
    """What a call is given: sizes by letter, tensors and scalars by role, the result as it was."""

    element: str
    size: Mapping[str, int]
    tensor: Mapping[str, Values]
    scalar: Mapping[str, int]
    out: Values

    @property
    def fraction(self) -> int:
        return FRACTION[self.element]

    @property
    def one(self) -> int:
        return 1 << self.fraction

    def saturate(self, values: Values) -> Values:
        return np.clip(values, -LIMIT[self.element], LIMIT[self.element])

    def requantise(self, values: Values) -> Values:
        return values if self.element == "float" else self.saturate(values >> self.fraction)

    def image(self, role: str = "x") -> Values:
        """The part of a map that is in use."""
        return self.tensor[role][:, : self.scalar["rows"], : self.scalar["columns"]]

    def put(self, values: Values) -> Values:
        """The result with new values at its start."""
        out = self.out.copy()
        out[tuple(slice(0, n) for n in values.shape)] = values
        return out

    def exponential(self, distance: Values) -> Values:
        index = np.minimum(distance >> (self.fraction - 4), 127)
        return np.round(1024 * np.exp(-index / 16)).astype(np.int64)

    def sigmoid(self, value: Values) -> Values:
        index = np.minimum(np.abs(value) >> (self.fraction - 3), 63)
        part = np.round(self.one / (1 + np.exp(-index / 8))).astype(np.int64)
        return np.where(value < 0, self.one - part, part)


def towards_zero(left: Values | int, right: Values | int) -> Values:
    """The quotient of C."""
    left, right = np.asarray(left), np.asarray(right)
    return np.sign(left) * np.sign(right) * (np.abs(left) // np.abs(right))


REFERENCES: dict[str, Callable[[Operands], Values]] = {}


def reference(function: Callable[[Operands], Values]) -> Callable[[Operands], Values]:
    REFERENCES[function.__name__] = function
    return function


# ---- feature maps ----


@reference
def normalise_image(o: Operands) -> Values:
    mean, inverse = o.tensor["mean"], o.tensor["inverse"]
    return o.put((o.image("image") / 255 - mean[:, None, None]) * inverse[:, None, None])


def _windows(x: Values, size: int, dilation: int = 1) -> Values:
    """Windows around every place, zero outside: (channels, rows, columns, size, size)."""
    pad = size // 2 * dilation
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    rows, columns = x.shape[1:]
    parts = [
        [padded[:, i * dilation :, j * dilation :][:, :rows, :columns] for j in range(size)]
        for i in range(size)
    ]
    return np.moveaxis(np.array(parts), (0, 1), (-2, -1))


def _biased(o: Operands, sums: Values, bias: Values) -> Values:
    return o.requantise(sums + bias * o.one)


@reference
def conv2d(o: Operands) -> Values:
    windows = _windows(o.image(), o.size["K"], o.size["D"])
    sums = np.einsum("crwij,mcij->mrw", windows, o.tensor["weight"])
    return o.put(_biased(o, sums, o.tensor["bias"][:, None, None]))


@reference
def depthwise_conv2d(o: Operands) -> Values:
    sums = np.einsum("crwij,cij->crw", _windows(o.image(), o.size["K"]), o.tensor["weight"])
    return o.put(_biased(o, sums, o.tensor["bias"][:, None, None]))


@reference
def pointwise_conv2d(o: Operands) -> Values:
    count = o.scalar["channels"]
    sums = np.einsum("crw,mc->mrw", o.image(), o.tensor["weight"][:count])
    return o.put(_biased(o, sums, o.tensor["bias"][:count, None, None]))


@reference
def batch_norm(o: Operands) -> Values:
    return o.put(_biased(o, o.image() * o.tensor["gain"][:, None, None], o.tensor["bias"][:, None, None]))


@reference
def classifier(o: Operands) -> Values:
    x = o.image()
    weight = o.tensor["weight"][:, :, : x.shape[1], : x.shape[2]]
    return _biased(o, np.einsum("crw,mcrw->m", x, weight), o.tensor["bias"])


@reference
def aggregate(o: Operands) -> Values:
    maps = np.array([o.image(role) for role in ("near", "middle", "far")])
    return o.put(np.maximum(o.requantise(np.einsum("pcrw,pc->crw", maps, o.tensor["weight"])), 0))


@reference
def relu(o: Operands) -> Values:
    return o.put(np.maximum(o.image(), 0))


@reference
def prelu(o: Operands) -> Values:
    x = o.image()
    return o.put(np.where(x > 0, x, o.requantise(x * o.tensor["slope"][:, None, None])))


@reference
def add(o: Operands) -> Values:
    return o.put(o.saturate(o.image() + o.image("y")))


@reference
def scale_channels(o: Operands) -> Values:
    return o.put(o.requantise(o.image() * o.tensor["gate"][:, None, None]))


@reference
def scale_positions(o: Operands) -> Values:
    return o.put(o.requantise(o.image() * o.sigmoid(o.image("map"))))


@reference
def tanh_image(o: Operands) -> Values:
    return o.put(2 * o.sigmoid(2 * o.image()) - o.one)


@reference
def concat2(o: Operands) -> Values:
    return o.put(np.concatenate([o.image("x0"), o.image("x1")]))


@reference
def concat4(o: Operands) -> Values:
    return o.put(np.concatenate([o.image(f"x{part}") for part in range(4)]))


def _quarters(o: Operands) -> Values:
    x = o.image()
    x = x[:, : x.shape[1] // 2 * 2, : x.shape[2] // 2 * 2]
    return x.reshape(x.shape[0], x.shape[1] // 2, 2, x.shape[2] // 2, 2)


@reference
def max_pool2d(o: Operands) -> Values:
    return o.put(_quarters(o).max(axis=(2, 4)))


@reference
def average_pool2d(o: Operands) -> Values:
    sums = _quarters(o).sum(axis=(2, 4))
    return o.put(sums / 4 if o.element == "float" else sums >> 2)


@reference
def adaptive_pool2d(o: Operands) -> Values:
    x, bins = o.image(), o.size["B"]
    edges = [[(i * n // bins, -(-(i + 1) * n // bins)) for i in range(bins)] for n in x.shape[1:]]
    return np.array(
        [
            [
                [towards_zero(x[k, a:b, c:d].sum(), (b - a) * (d - c)) for c, d in edges[1]]
                for a, b in edges[0]
            ]
            for k in range(x.shape[0])
        ]
    )


@reference
def resize_bins(o: Operands) -> Values:
    rows, columns, bins = o.scalar["rows"], o.scalar["columns"], o.size["B"]
    i, j = np.arange(rows) * bins // rows, np.arange(columns) * bins // columns
    return o.put(o.tensor["x"][:, i][:, :, j])


@reference
def upsample2d(o: Operands) -> Values:
    return o.put(o.image().repeat(2, axis=1).repeat(2, axis=2))


@reference
def pixel_shuffle(o: Operands) -> Values:
    x = o.image()
    parts = x.reshape(-1, 2, 2, *x.shape[1:]).transpose(0, 3, 1, 4, 2)
    return o.put(parts.reshape(-1, 2 * x.shape[1], 2 * x.shape[2]))


@reference
def global_average_pool(o: Operands) -> Values:
    return towards_zero(o.image().sum(axis=(1, 2)), o.scalar["rows"] * o.scalar["columns"])


@reference
def global_max_pool(o: Operands) -> Values:
    return o.image().max(axis=(1, 2))


@reference
def squeeze_excite(o: Operands) -> Values:
    hidden = np.maximum(o.requantise(o.tensor["squeeze"] @ o.tensor["x"]), 0)
    return o.requantise(o.tensor["excite"] @ hidden)


@reference
def sigmoid_gate(o: Operands) -> Values:
    return o.sigmoid(o.tensor["x"] + o.tensor["y"])


@reference
def channel_pool(o: Operands) -> Values:
    x = o.image()
    return o.put(np.array([towards_zero(x.sum(axis=0), len(x)), x.max(axis=0)]))


@reference
def argmax_map(o: Operands) -> Values:
    return o.put(o.image().argmax(axis=0))


# ---- detection ----


@reference
def decode_boxes(o: Operands) -> Values:
    rows, columns, anchors = (o.scalar[name] for name in ("rows", "columns", "anchors"))
    places = np.stack(np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij"), axis=-1)
    centre = places[:, :, None, :] * o.one + o.one // 2
    distance = o.tensor["distance"][:anchors, :, :rows, :columns].transpose(2, 3, 0, 1)
    reach = [distance[..., 2 * s : 2 * s + 2] * o.tensor["anchor"][:anchors] >> o.fraction for s in (0, 1)]
    ends = np.array([rows, columns]) * o.one
    sides = [np.clip(centre - reach[0], 0, ends), np.clip(centre + reach[1], 0, ends)]
    return o.put(np.concatenate(sides, axis=-1).reshape(-1, 4))


@reference
def select_top(o: Operands) -> Values:
    rows, columns, anchors = (o.scalar[name] for name in ("rows", "columns", "anchors"))
    score = o.tensor["score"][:anchors, :rows, :columns].transpose(1, 2, 0).reshape(-1)
    return o.put(np.argsort(-score, kind="stable")[: o.scalar["boxes"]])


@reference
def suppress(o: Operands) -> Values:
    boxes = o.tensor["box"][o.tensor["order"][: o.scalar["boxes"]]]
    kept: list[int] = []
    for box in boxes:
        earlier = [b for b, keep in zip(boxes, kept, strict=False) if keep]
        kept.append(int(not any(_too_close(box, other) for other in earlier)))
    return o.put(np.array(kept))


def _too_close(box: Values, other: Values) -> bool:
    sides = np.maximum(np.minimum(box[2:], other[2:]) - np.maximum(box[:2], other[:2]), 0)
    common = int(sides.prod())
    union = int((box[2:] - box[:2]).prod() + (other[2:] - other[:2]).prod()) - common
    return 2 * common > union


@reference
def roi_align(o: Operands) -> Values:
    x, bins = o.image(), o.size["P"]
    out = o.out.copy()
    for b in range(o.scalar["boxes"]):
        if o.tensor["keep"][b]:
            box = o.tensor["box"][o.tensor["order"][b]]
            for i in range(bins):
                for j in range(bins):
                    out[b, :, i, j] = _sample(o, x, box, i, j)
    return out


def _sample(o: Operands, x: Values, box: Values, i: int, j: int) -> Values:
    """Bilinear value of every channel in the middle of a bin."""
    total: Values | int = 0
    spots: list[list[tuple[int, int]]] = []
    for axis, bin_number in ((0, i), (1, j)):
        length = int(box[axis + 2] - box[axis]) // o.size["P"]
        at = int(box[axis]) + ((2 * bin_number + 1) * length >> 1) - o.one // 2
        at = min(max(at, 0), (x.shape[axis + 1] - 1) * o.one)
        low, part = divmod(at, o.one)
        spots.append([(low, o.one - part), (min(low + 1, x.shape[axis + 1] - 1), part)])
    for r, down in spots[0]:
        for c, across in spots[1]:
            total = total + x[:, r, c] * down * across
    return np.asarray(total) >> (2 * o.fraction)


@reference
def point_weights(o: Operands) -> Values:
    queries, points = o.scalar["queries"], o.scalar["points"]
    score = (o.tensor["x"][:queries] @ o.tensor["weight"][:points].T) >> o.fraction
    parts = o.exponential(score.max(axis=1, keepdims=True) - score)
    return o.put(parts * o.one // parts.sum(axis=1, keepdims=True))


@reference
def sample_views(o: Operands) -> Values:
    out = o.out.copy()
    for n in range(o.scalar["queries"]):
        seen = [v for v in range(o.size["V"]) if (o.tensor["place"][v, n] >= 0).all()]
        total = np.zeros(o.size["K"], np.int64)
        for v in seen:
            for p in range(o.scalar["points"]):
                at = o.tensor["place"][v, n] + o.tensor["offset"][n, 2 * p : 2 * p + 2]
                total += _corners(o, o.tensor["value"][v], at, int(o.tensor["share"][n, p]))
        out[n] = o.saturate(towards_zero(total, len(seen))) if seen else 0
    return out


def _corners(o: Operands, value: Values, at: Values, share: int) -> Values:
    total = np.zeros(value.shape[-1], np.int64)
    low, part = at >> o.fraction, at & (o.one - 1)
    for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
        spot = low + corner
        if (spot >= 0).all() and (spot < value.shape[:2]).all():
            down, across = (int(p) if c else o.one - int(p) for c, p in zip(corner, part, strict=True))
            weight = (down * across >> o.fraction) * share >> o.fraction
            total += value[spot[0], spot[1]] * weight >> o.fraction
    return total


# ---- language ----


def _tokens(o: Operands, role: str = "x") -> Values:
    return o.tensor[role][: o.scalar["tokens"]]


@reference
def embed(o: Operands) -> Values:
    sides = (np.arange(o.scalar["tokens"]) >= o.scalar["first"]).astype(int)
    rows = o.tensor["word"][_tokens(o, "id")] + _tokens(o, "position") + o.tensor["segment"][sides]
    return o.put(o.saturate(rows))


@reference
def embed_words(o: Operands) -> Values:
    return o.put(o.tensor["word"][_tokens(o, "id")])


@reference
def embed_counted(o: Operands) -> Values:
    ids = _tokens(o, "id")
    real = ids != 1
    return o.put(o.saturate(o.tensor["word"][ids] + o.tensor["position"][np.cumsum(real) * real + 1]))


@reference
def linear(o: Operands) -> Values:
    return o.put(_biased(o, _tokens(o) @ o.tensor["weight"].T, o.tensor["bias"]))


@reference
def project(o: Operands) -> Values:
    return o.put(o.requantise(_tokens(o) @ o.tensor["weight"]))


@reference
def project_add(o: Operands) -> Values:
    return o.put(_biased(o, _tokens(o) @ o.tensor["weight"], _tokens(o, "rest")))


def _roots(values: Values) -> Values:
    return np.array([math.isqrt(int(v)) for v in values])


def _normal(o: Operands, rows: Values) -> Values:
    count = rows.shape[1]
    far = rows - towards_zero(rows.sum(axis=1), count)[:, None]
    deviation = _roots((far**2).sum(axis=1) // count)[:, None] + 1
    return o.put(o.saturate(towards_zero(far * o.tensor["gain"], deviation) + o.tensor["bias"]))


@reference
def layer_norm(o: Operands) -> Values:
    return _normal(o, _tokens(o))


@reference
def add_norm(o: Operands) -> Values:
    return _normal(o, o.saturate(_tokens(o) + _tokens(o, "rest")))


@reference
def rms_norm(o: Operands) -> Values:
    x = _tokens(o)
    size = _roots((x**2).sum(axis=1) // x.shape[1])[:, None] + 1
    return o.put(o.saturate(towards_zero(x * o.tensor["gain"], size)))


@reference
def relu_tokens(o: Operands) -> Values:
    return o.put(np.maximum(_tokens(o), 0))


@reference
def add_tokens(o: Operands) -> Values:
    return o.put(o.saturate(_tokens(o) + _tokens(o, "y")))


@reference
def gelu(o: Operands) -> Values:
    x = _tokens(o)
    bound = 1769 * o.one // 1000
    rest = np.maximum(bound - (np.abs(x) * 181 >> 8), 0)
    error = o.one - ((rest * rest >> o.fraction) * 74 >> 8)
    return o.put(x * (o.one + np.where(x < 0, -error, error)) >> (o.fraction + 1))


@reference
def silu_gate(o: Operands) -> Values:
    left, right = (o.requantise(_tokens(o) @ o.tensor[role]) for role in ("gate", "up"))
    return o.put(o.requantise((left * o.sigmoid(left) >> o.fraction) * right))


@reference
def feed_forward(o: Operands) -> Values:
    x = o.tensor["x"][: o.scalar["queries"]]
    hidden = np.maximum(o.requantise(np.maximum(x @ o.tensor["inner"].T, 0)), 0)
    return o.put(_biased(o, hidden @ o.tensor["outer"].T, x))


@reference
def relative_bias(o: Operands) -> Values:
    count, half = o.scalar["tokens"], o.size["B"] // 2
    out = o.out.copy()
    for n in range(count):
        for j in range(count):
            distance = abs(j - n)
            exact = half // 2
            step = distance
            if distance >= exact:
                step = min(exact + int(math.log2(distance / exact)), half - 1)
            out[:, n, j] = o.tensor["table"][(half if j > n else 0) + step]
    return out


@reference
def rotate(o: Operands) -> Values:
    x = _tokens(o)
    turned, width = o.size["R"], o.size["D"]
    pairs = x[:, :turned].reshape(len(x), -1, width // 2, 2)
    cosine, sine = _tokens(o, "cosine")[:, None], _tokens(o, "sine")[:, None]
    left, right = pairs[..., 0], pairs[..., 1]
    both = np.stack([left * cosine - right * sine, left * sine + right * cosine], axis=-1)
    return o.put(np.concatenate([o.requantise(both).reshape(len(x), -1), x[:, turned:]], axis=1))


def _attended(o: Operands, query: Values, key: Values, value: Values, **given: Values) -> Values:
    """Softmax attention; query, key, value: (heads, tokens, features)."""
    score = query @ key.transpose(0, 2, 1) + given.get("bias", np.int64(0)) * o.one >> o.size["S"]
    seen = np.broadcast_to(given.get("seen", np.bool_(True)), score.shape)
    best = np.where(seen, score, -32767).max(axis=2, keepdims=True)
    parts = np.where(seen, o.exponential(best - np.where(seen, score, best)), 0)
    mixed = towards_zero(parts @ value, parts.sum(axis=2, keepdims=True))
    return o.put(mixed.transpose(1, 0, 2).reshape(mixed.shape[1], -1))


def _heads(o: Operands, x: Values) -> Values:
    return x.reshape(len(x), -1, o.size["D"]).transpose(1, 0, 2)


def _plain(o: Operands, **given: Values) -> Values:
    keys = o.scalar["keys"]
    query = _heads(o, _tokens(o, "query"))
    return _attended(o, query, *(_heads(o, o.tensor[r][:keys]) for r in ("key", "value")), **given)


@reference
def attention(o: Operands) -> Values:
    return _plain(o)


@reference
def biased_attention(o: Operands) -> Values:
    return _plain(o, bias=o.tensor["bias"][:, : o.scalar["tokens"], : o.scalar["keys"]])


@reference
def fused_attention(o: Operands) -> Values:
    count, keys = o.size["A"], o.scalar["keys"]
    x = _heads(o, o.tensor["x"])
    seen = o.tensor["id"][:keys] != 1
    query = x[:count, : o.scalar["tokens"]]
    return _attended(o, query, x[count : 2 * count, :keys], x[2 * count :, :keys], seen=seen)


@reference
def grouped_attention(o: Operands) -> Values:
    count, groups, keys = o.size["A"], o.size["G"], o.scalar["keys"]
    x = _heads(o, o.tensor["x"])
    key, value = x[count : count + groups, :keys], x[count + groups :, :keys]
    seen = np.arange(keys) <= np.arange(o.scalar["tokens"])[:, None]
    again = count // groups
    query = x[:count, : o.scalar["tokens"]]
    return _attended(o, query, key.repeat(again, axis=0), value.repeat(again, axis=0), seen=seen)


# ---- whole graphs ----


def expected(program: ProgramRow, data: Mapping[str, Values]) -> dict[str, Values]:
    """Every tensor after the graph has run on some data."""
    assert program.graph is not None
    graph: dict[str, Any] = json.loads(program.graph)
    element: str = graph["element"]
    state = {
        name: np.asarray(data[name]).astype(np.float64 if data[name].dtype.kind == "f" else np.int64)
        for name in graph["tensors"]
    }
    scalars = {name: int(data[name]) for name in graph["scalars"]}
    names = {**json.loads(program.parameters), **scalars}
    repeated = graph["repeated"] or {"nodes": [], "count": "1"}
    turns = int(scalars.get(repeated["count"], 1))
    once = [node for node in graph["nodes"] if node["name"] not in repeated["nodes"]]
    again = [node for node in graph["nodes"] if node["name"] in repeated["nodes"]]
    for node in [*once, *(n for _ in range(turns) for n in again)]:
        given = Operands(
            element=element,
            size=node["parameters"],
            tensor={role: state[name] for role, name in node["inputs"].items()},
            scalar={role: _number(text, names) for role, text in node["scalars"].items()},
            out=state[node["output"]],
        )
        state[node["output"]] = REFERENCES[node["operator"]](given)
    return state


def _number(text: str, names: Mapping[str, int]) -> int:
    """Value of a name or number, perhaps divided and multiplied by numbers."""
    value = 1
    sign = "*"
    for word in text.replace("/", " / ").replace("*", " * ").split():
        if word in ("*", "/"):
            sign = word
            continue
        number = int(word) if word.isdigit() else names[word]
        value = value * number if sign == "*" else value // number
    return value
