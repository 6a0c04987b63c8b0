"""What each operator of the dataflow stage computes, in NumPy, from the graph's JSON alone.

Integers are computed in int64, floating numbers in double. Loop trees play no part here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import erf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.schemas import ProgramRow

Values = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One node: its inputs by role, run-time scalars by role, parameters, and the shape of its result."""

    inputs: Mapping[str, Values]
    scalars: Mapping[str, int]
    parameters: Mapping[str, Any]
    shape: tuple[int, ...]
    floating: bool

    def __getitem__(self, role: str) -> Values:
        return self.inputs[role]

    def get(self, name: str, default: Any = 0) -> Any:
        """A parameter."""
        return self.parameters.get(name, default)

    def length(self, role: str, default: int) -> int:
        """A run-time length, or the whole extent."""
        return self.scalars.get(role, default)

    def finish(self, x: Values) -> Values:
        """Scaled to the element type."""
        shift = self.get("shift")
        if self.floating:
            return x * 2.0**-shift
        assert np.abs(x).max(initial=0) < 2**31
        x = x >> shift
        limit = self.get("saturate", None)
        return x if limit is None else np.clip(x, -limit, limit)

    def keep(self, x: Values, role: str, axis: int = 0) -> Values:
        """Zero from a run-time length on."""
        if role in self.scalars:
            x = x.copy()
            np.moveaxis(x, axis, 0)[self.scalars[role] :] = 0
        return x

    def mean(self, total: Values, count: int) -> Values:
        return total / count if self.floating else truncated(total, count)


def truncated(a: Any, b: Any) -> Values:
    """Quotient towards zero."""
    quotient = np.abs(a) // np.abs(b)
    return np.where((np.asarray(a) < 0) != (np.asarray(b) < 0), -quotient, quotient)


def root(x: Values) -> Values:
    return np.minimum(np.sqrt(x.astype(np.float64)).astype(np.int64), 32767)


OPERATIONS: dict[str, Callable[[Call], Values]] = {}


def operation(function: Callable[[Call], Values]) -> Callable[[Call], Values]:
    OPERATIONS[function.__name__] = function
    return function


# ---- linear algebra ----


@operation
def matmul(c: Call) -> Values:
    a = c["a"].T if c.get("layout") == "tn" else c["a"]
    b = c["b"].T if c.get("layout") == "nt" else c["b"]
    return c.keep(c.finish(a @ b + c.inputs.get("bias", 0)), "rows")


@operation
def matvec(c: Call) -> Values:
    a = c["a"].T if c.get("transposed") else c["a"]
    n = c.length("columns", a.shape[1])
    return c.finish(a[:, :n] @ c["x"][:n] + c.inputs.get("bias", 0))


@operation
def batched_matmul(c: Call) -> Values:
    return c.finish(c["a"] @ c["b"])


@operation
def outer_product(c: Call) -> Values:
    return c.finish(np.outer(c["x"], c["y"]) + c.inputs.get("a", 0))


@operation
def gemm(c: Call) -> Values:
    return c.finish(c.get("alpha") * (c["a"] @ c["b"]) + c.get("beta") * c["c"])


@operation
def syrk(c: Call) -> Values:
    return np.tril(c.finish(c["a"] @ c["a"].T))


@operation
def triangular_matvec(c: Call) -> Values:
    return c.finish(np.tril(c["a"]) @ c["x"])


@operation
def forward_substitution(c: Call) -> Values:
    lower = np.tril(c["a"], -1) + np.eye(len(c["b"]))
    return np.linalg.solve(lower, c["b"])


# ---- convolution ----


def windows(c: Call, x: Values, axes: int) -> list[tuple[tuple[int, ...], Values]]:
    """For every tap, the slice of the padded input it meets; the last axes are spatial."""
    pad, taps, stride, dilation = (c.get(n) for n in ("pad", "taps", "stride", "dilation"))
    x = np.pad(x, [(0, 0)] * (x.ndim - axes) + [(pad, pad)] * axes)
    places = [(size - dilation * (taps - 1) - 1) // stride + 1 for size in x.shape[-axes:]]
    found = []
    for tap in np.ndindex(*([taps] * axes)):
        cut = tuple(
            slice(t * dilation, t * dilation + (n - 1) * stride + 1, stride)
            for t, n in zip(tap, places, strict=True)
        )
        found.append((tap, x[(..., *cut)]))
    return found


@operation
def conv1d(c: Call) -> Values:
    w = c["weight"]
    if c.get("depthwise"):
        total = sum(w[:, s][:, None] * x for (s,), x in windows(c, c["x"], 1))
    else:
        total = sum(w[:, :, s] @ x for (s,), x in windows(c, c["x"], 1))
    return c.keep(c.finish(np.asarray(total)), "width", 1)


@operation
def conv2d(c: Call) -> Values:
    last = c.get("channels_last")
    x = np.moveaxis(c["x"], 2, 0) if last else c["x"]
    parts = (np.tensordot(c["weight"][:, :, r, s], v, 1) for (r, s), v in windows(c, x, 2))
    total = np.asarray(sum(parts))
    if "bias" in c.inputs:
        total = total + c["bias"][:, None, None]
    total = c.keep(c.finish(total), "height", 1)
    return np.moveaxis(total, 0, 2) if last else total


@operation
def depthwise_conv2d(c: Call) -> Values:
    parts = (c["weight"][:, r, s][:, None, None] * v for (r, s), v in windows(c, c["x"], 2))
    return c.finish(np.asarray(sum(parts)))


@operation
def filter2d(c: Call) -> Values:
    return c.finish(np.asarray(sum(c["weight"][tap] * v for tap, v in windows(c, c["x"], 2))))


@operation
def transposed_conv1d(c: Call) -> Values:
    x, w, stride = c["x"], c["weight"], c.get("stride")
    total = np.zeros(c.shape, dtype=x.dtype)
    for s in range(c.get("taps")):
        end = s + (x.shape[1] - 1) * stride + 1
        total[:, s:end:stride] += w[:, :, s].T @ x
    return c.finish(total)


# ---- pooling ----


def pooled(c: Call, axes: int) -> Values:
    x, k, stride = c["x"], c.get("window"), c.get("stride")
    shape = c.shape[-axes:]
    views = [
        x[(..., *(slice(t, t + (n - 1) * stride + 1, stride) for t, n in zip(tap, shape, strict=True)))]
        for tap in np.ndindex(*([k] * axes))
    ]
    return np.stack(views)


@operation
def max_pool2d(c: Call) -> Values:
    return pooled(c, 2).max(axis=0)


@operation
def max_pool1d(c: Call) -> Values:
    return pooled(c, 1).max(axis=0)


@operation
def average_pool2d(c: Call) -> Values:
    return c.finish(c.mean(pooled(c, 2).sum(axis=0), c.get("window") ** 2))


@operation
def global_average_pool(c: Call) -> Values:
    x = c["x"]
    return c.finish(c.mean(x.sum(axis=(1, 2)), x.shape[1] * x.shape[2]))


@operation
def pyramid_pool(c: Call) -> Values:
    x, b = c["x"], c.get("bins")
    h, w = x.shape[1] // b, x.shape[2] // b
    total = x[:, : h * b, : w * b].reshape(-1, b, h, b, w).sum(axis=(2, 4))
    return c.finish(c.mean(total, h * w))


# ---- normalisation ----


def scaled(c: Call, x: Values, square: Values) -> Values:
    """x over the root of a mean square, both by rows."""
    if c.floating:
        return x / np.sqrt(square + 1e-5)
    return truncated(x * 32, root(square) + 1)


@operation
def layer_norm(c: Call) -> Values:
    x = c["x"]
    n = x.shape[1]
    away = x - c.mean(x.sum(axis=1, keepdims=True), n)
    normal = scaled(c, away, c.mean((away * away).sum(axis=1, keepdims=True), n))
    return c.keep(c.finish(normal * c.inputs.get("gain", 1)), "rows")


@operation
def rms_norm(c: Call) -> Values:
    x = c["x"]
    square = c.mean((x * x).sum(axis=1, keepdims=True), x.shape[1])
    return c.finish(scaled(c, x, square) * c["gain"])


@operation
def batch_norm(c: Call) -> Values:
    x = c["x"]
    mean, scale, offset = (c[r].reshape(-1, *[1] * (x.ndim - 1)) for r in ("mean", "scale", "offset"))
    return c.finish((x - mean) * scale + offset)


@operation
def instance_norm(c: Call) -> Values:
    x = c["x"]
    count = x.shape[1] * x.shape[2]
    away = x - c.mean(x.sum(axis=(1, 2), keepdims=True), count)
    spread = c.mean(np.abs(away).sum(axis=(1, 2), keepdims=True), count) + 1
    return c.finish(away / spread if c.floating else truncated(away * 32, spread))


def exponentials(c: Call, x: Values) -> Values:
    gap = x.max(axis=-1, keepdims=True) - x
    if c.floating:
        return np.exp(-gap)
    return np.where(gap > 55, 0, 64 >> np.minimum(gap >> 3, 31))


@operation
def softmax(c: Call) -> Values:
    n = c.length("length", c["x"].shape[1])
    e = exponentials(c, c["x"][:, :n])
    total = e.sum(axis=1, keepdims=True)
    share = e / total if c.floating else truncated(e * 100, total)
    return np.pad(share, ((0, 0), (0, c.shape[1] - n)))


# ---- attention ----


@operation
def attention(c: Call) -> Values:
    q, key, value = c["q"], c["key"], c["value"]
    heads = c.get("heads")
    width = q.shape[1] // heads
    out = np.zeros(c.shape, dtype=q.dtype)
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        for i in range(len(q)):
            n = i + 1 if c.get("causal") else c.length("length", len(key))
            dot = key[:n, part] @ q[i, part]
            score = dot * width**-0.5 if c.floating else dot >> c.get("score_shift")
            e = exponentials(c, score)
            total = e @ value[:n, part]
            out[i, part] = total / e.sum() if c.floating else truncated(total, e.sum())
    return c.finish(out)


@operation
def linear_attention(c: Call) -> Values:
    context = c["key"].T @ c["value"]
    shift = c.get("context_shift")
    context = context * 2.0**-shift if c.floating else context >> shift
    return c.finish(c["q"] @ context)


@operation
def anchor_scores(c: Call) -> Values:
    keys = c["key"][: c.length("keys", len(c["key"]))]
    return c.finish((c["q"] @ keys.T).max(axis=1))


# ---- pointwise ----


def mapped(function: Callable[[Call, Values], Values]) -> Callable[[Call], Values]:
    def apply(c: Call) -> Values:
        x = c.inputs.get("x", c.inputs.get("a"))
        assert x is not None
        return c.keep(c.finish(function(c, x)), "rows")

    OPERATIONS[function.__name__] = apply
    return apply


@mapped
def relu(c: Call, x: Values) -> Values:
    return np.maximum(x, 0)


@mapped
def leaky_relu(c: Call, x: Values) -> Values:
    shift = c.get("slope_shift")
    return np.where(x > 0, x, x * 2.0**-shift if c.floating else x >> shift)


@mapped
def clipped_relu(c: Call, x: Values) -> Values:
    return np.clip(x, 0, c.get("ceiling"))


@mapped
def sigmoid(c: Call, x: Values) -> Values:
    if c.floating:
        return 1 / (1 + np.exp(-x))
    return np.where(x < -40, 0, np.where(x > 40, 64, 32 + truncated(x * 4, 5)))


@mapped
def hard_sigmoid(c: Call, x: Values) -> Values:
    return np.clip(x / 6 + 0.5, 0, 1) if c.floating else np.clip(x + 48, 0, 96)


@mapped
def tanh(c: Call, x: Values) -> Values:
    if c.floating:
        return np.tanh(x)
    return np.where(x > 64, 64 + ((x - 64) >> 2), np.where(x < -64, -64 + ((x + 64) >> 2), x))


@mapped
def gelu(c: Call, x: Values) -> Values:
    if not c.floating:
        return (x * np.clip(x + 48, 0, 96)) >> 6
    if c.get("form") == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


@mapped
def swish(c: Call, x: Values) -> Values:
    return x / (1 + np.exp(-x)) if c.floating else truncated(x * np.clip(x + 24, 0, 48), 48)


@mapped
def add(c: Call, a: Values) -> Values:
    return a + c["b"]


@mapped
def subtract(c: Call, a: Values) -> Values:
    return a - c["b"]


@mapped
def multiply(c: Call, a: Values) -> Values:
    return a * c["b"]


@mapped
def maximum(c: Call, a: Values) -> Values:
    return np.maximum(a, c["b"])


@mapped
def squared_difference(c: Call, a: Values) -> Values:
    return (a - c["b"]) ** 2


@mapped
def absolute_difference(c: Call, a: Values) -> Values:
    return np.abs(a - c["b"])


@mapped
def scale_and_shift(c: Call, x: Values) -> Values:
    return x * c.get("scale") + c.get("offset")


@mapped
def clip(c: Call, x: Values) -> Values:
    return np.clip(x, c.get("low"), c.get("high"))


@mapped
def axpy(c: Call, x: Values) -> Values:
    return c.get("alpha") * x + c["y"]


@mapped
def bias_add(c: Call, x: Values) -> Values:
    return x + (c["bias"] if c.get("axis") else c["bias"].reshape(-1, *[1] * (x.ndim - 1)))


@mapped
def channel_scale(c: Call, x: Values) -> Values:
    return x * c["scale"].reshape(-1, *[1] * (x.ndim - 1))


@mapped
def quotient(c: Call, a: Values) -> Values:
    divisor = np.abs(c["b"]) + 1
    return a / divisor if c.floating else truncated(a, divisor)


# ---- reductions ----


def reduced(c: Call) -> Values:
    x = np.moveaxis(c["x"], c.get("axis"), 0)
    return x[: c.length("length", len(x))]


@operation
def reduce_sum(c: Call) -> Values:
    return c.finish(reduced(c).sum(axis=0))


@operation
def reduce_mean(c: Call) -> Values:
    x = reduced(c)
    return c.finish(c.mean(x.sum(axis=0), len(x)))


@operation
def reduce_squares(c: Call) -> Values:
    total = (reduced(c) ** 2).sum(axis=0)
    if c.get("root"):
        total = np.sqrt(total) if c.floating else root(total)
    return c.finish(total)


@operation
def reduce_absolute(c: Call) -> Values:
    return c.finish(np.abs(reduced(c)).sum(axis=0))


@operation
def reduce_max(c: Call) -> Values:
    return reduced(c).max(axis=0)


@operation
def reduce_min(c: Call) -> Values:
    return reduced(c).min(axis=0)


@operation
def argmax(c: Call) -> Values:
    x = c["x"]
    return x[:, : c.length("length", x.shape[1])].argmax(axis=1)


@operation
def running_sum(c: Call) -> Values:
    return c.finish(np.cumsum(c["x"], axis=1))


@operation
def pairwise_distance(c: Call) -> Values:
    return c.finish(((c["x"][:, None, :] - c["y"][None, :, :]) ** 2).sum(axis=2))


# ---- stencils ----


def stencil(c: Call, offsets: list[tuple[int, ...]]) -> Values:
    x, reach = c["x"].copy(), c.get("reach")
    inside = tuple(slice(reach, size - reach) for size in x.shape)
    for _ in range(c.length("steps", c.get("steps"))):
        points = [
            x[tuple(slice(reach + d, s - reach + d) for d, s in zip(o, x.shape, strict=True))]
            for o in offsets
        ]
        total = sum(points)
        if c.get("rule") == "mean":
            new = c.mean(np.asarray(total), len(points))
        else:
            power = 4 if len(points) > 4 else 3
            total = total + (2**power - len(points)) * x[inside]
            new = total * 2.0**-power if c.floating else total >> power
        x[inside] = np.array(new)
    return x


@operation
def stencil1d(c: Call) -> Values:
    return stencil(c, [(d,) for d in range(-c.get("reach"), c.get("reach") + 1)])


@operation
def stencil2d(c: Call) -> Values:
    square = c.get("square")
    near = [(d, e) for d in (-1, 0, 1) for e in (-1, 0, 1)]
    return stencil(c, [o for o in near if square or abs(o[0]) + abs(o[1]) < 2])


@operation
def stencil3d(c: Call) -> Values:
    near = [(d, e, f) for d in (-1, 0, 1) for e in (-1, 0, 1) for f in (-1, 0, 1)]
    return stencil(c, [o for o in near if sum(map(abs, o)) < 2])


# ---- movement ----


@operation
def gather_rows(c: Call) -> Values:
    return c.keep(c["x"][c["index"]], "count")


@operation
def gather_elements(c: Call) -> Values:
    return np.take_along_axis(c["x"], c["index"], axis=1)


@operation
def scatter_rows(c: Call) -> Values:
    out = np.zeros_like(c["x"])
    out[c["index"]] = c["x"]
    return out


@operation
def scatter_add(c: Call) -> Values:
    out = np.zeros(c.shape, dtype=c["x"].dtype)
    n = c.length("count", len(c["x"]))
    np.add.at(out, c["index"][:n], c["x"][:n])
    return out


@operation
def histogram(c: Call) -> Values:
    bins = (c["x"] - c.get("low")) // c.get("width")
    return np.bincount(bins.reshape(-1), minlength=c.shape[0])


@operation
def transpose2d(c: Call) -> Values:
    return c["x"].T


@operation
def transpose3d(c: Call) -> Values:
    return c["x"].transpose([int(d) for d in c.get("order")])


def reshaped(c: Call) -> Values:
    return c["x"].reshape(c.shape)


OPERATIONS["flatten"] = OPERATIONS["split_rows"] = reshaped


@operation
def concat(c: Call) -> Values:
    return np.concatenate([c["a"], c["b"]], axis=c.get("axis"))


@operation
def crop(c: Call) -> Values:
    return c["x"][c.get("top") :: c.get("stride"), c.get("left") :: c.get("stride")]


@operation
def flip_rows(c: Call) -> Values:
    return c["x"][:, ::-1]


@operation
def pad(c: Call) -> Values:
    n = c.get("width")
    return np.pad(c["x"], ((0, 0), (n, n), (n, n)))


@operation
def upsample(c: Call) -> Values:
    return c["x"].repeat(2, axis=1).repeat(2, axis=2)


@operation
def pixel_shuffle(c: Call) -> Values:
    channels, height, width = c["x"].shape
    x = c["x"].reshape(channels // 2, 2, height, width)
    return x.transpose(0, 2, 3, 1).reshape(c.shape)


# ---- sorting ----


@operation
def insertion_sort(c: Call) -> Values:
    out = c["x"].copy()
    n = c.length("length", out.shape[1])
    out[:, :n].sort(axis=1)
    return out


def ascending(c: Call) -> Values:
    return np.sort(c["x"], axis=-1)


OPERATIONS["bitonic_sort"] = OPERATIONS["merge_sort"] = ascending


@operation
def top_k(c: Call) -> Values:
    return np.sort(c["x"], axis=1)[:, ::-1][:, : c.shape[1]]


# ---- loops that end on data ----


@operation
def binary_search(c: Call) -> Values:
    return np.searchsorted(c["table"], c["x"], side="left")


@operation
def sparse_intersection(c: Call) -> Values:
    out = np.zeros(c.shape, dtype=np.float64 if c.floating else np.int64)
    p = q = 0
    left, right = c["left"], c["right"]
    while p < len(left) and q < len(right):
        if left[p] < right[q]:
            p += 1
            continue
        if left[p] == right[q]:
            out += c["a"][:, p] * c["b"][q]
            p += 1
        q += 1
    return c.finish(out)


@operation
def graph_walk(c: Call) -> Values:
    level = np.full(c.shape, -1)
    level[0] = 0
    front = [0]
    while front:
        targets = [int(v) for u in front for v in c["target"][c["first"][u] : c["first"][u + 1]]]
        reached = [v for v in dict.fromkeys(targets) if level[v] < 0 and c["x"][v] > 0]
        level[reached] = level[front[0]] + 1
        front = reached
    return level


@operation
def list_walk(c: Call) -> Values:
    place = np.arange(len(c["x"]))
    for _ in range(c.get("most")):
        place = np.where(c["x"][place] <= 0, c["next"][place], place)
    return c["x"][place]


@operation
def string_search(c: Call) -> Values:
    length = len(c["pattern"])
    windows = np.lib.stride_tricks.sliding_window_view(c["x"] > 0, length, axis=1)
    return np.cumprod(windows == c["pattern"], axis=2).sum(axis=2)


@operation
def common_divisor(c: Call) -> Values:
    return np.gcd(c["a"], c["b"])


@operation
def compact(c: Call) -> Values:
    out = np.zeros_like(c["x"])
    for row, kept in zip(out, c["x"], strict=True):
        positive = kept[kept > 0]
        row[: len(positive)] = positive
    return out


@operation
def first_above(c: Call) -> Values:
    above = c["x"] > c.get("limit")
    return np.where(above.any(axis=1), above.argmax(axis=1), above.shape[1])


@operation
def newton_root(c: Call) -> Values:
    magnitude = np.abs(c["x"])
    return np.sqrt(magnitude + 0.0625) if c.floating else np.floor(np.sqrt(magnitude)).astype(np.int64)


@operation
def counting_sort(c: Call) -> Values:
    bins = int(c.get("bins"))
    return np.sort(c["x"] & (bins - 1))


OPERATIONS["bubble_sort"] = ascending


# ---- sparse ----


def compressed(c: Call, columns: int) -> Values:
    rows = c["row"]
    dense = np.zeros((len(rows) - 1, columns), dtype=c["value"].dtype)
    owner = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    np.add.at(dense, (owner, c["column"]), c["value"])
    return dense


@operation
def csr_matvec(c: Call) -> Values:
    return c.finish(compressed(c, len(c["x"])) @ c["x"])


@operation
def csr_matmul(c: Call) -> Values:
    return c.finish(compressed(c, len(c["b"])) @ c["b"])


@operation
def coo_matvec(c: Call) -> Values:
    n = c.length("count", len(c["value"]))
    out = np.zeros(c.shape, dtype=c["x"].dtype)
    np.add.at(out, c["row"][:n], c["value"][:n] * c["x"][c["column"][:n]])
    return c.finish(out)


@operation
def ell_matmul(c: Call) -> Values:
    return c.finish(np.einsum("ip,ipj->ij", c["value"], c["b"][c["column"]]))


@operation
def sampled_product(c: Call) -> Values:
    return c.finish((c["a"][c["row"]] * c["b"][c["column"]]).sum(axis=1))


# ---- graphs ----


def evaluate(
    program: ProgramRow, data: Mapping[str, Values], given: Mapping[str, Values] | None = None
) -> dict[str, Values]:
    """Every result of a program's graph that is not local, by tensor name.

    `given` are results from elsewhere that later nodes read instead of those computed here.
    """
    assert program.graph is not None
    graph = json.loads(program.graph)
    floating = graph["element"] == "float"
    wide = {name: widened(values) for name, values in data.items()}
    found: dict[str, Values] = {}
    for node in graph["nodes"]:
        call = Call(
            inputs={role: wide[name] for role, name in node["inputs"].items()},
            scalars={role: int(data[name]) for role, name in node["scalars"].items()},
            parameters=node["parameters"],
            shape=tuple(graph["tensors"][node["output"]]["shape"]),
            floating=floating,
        )
        result = np.asarray(OPERATIONS[node["operator"]](call))
        assert result.shape == call.shape, node
        name = node["output"]
        found[name] = result
        wide[name] = widened(given[name]) if given and name in given else result
    return {n: v for n, v in found.items() if graph["tensors"][n]["place"] in ("output", "buffer")}


def widened(values: Values) -> Values:
    """In int64 or double."""
    return values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
