"""Networks of six families as ONNX models, with drawn sizes and drawn weights, or with shapes alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Protocol

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

from pipelines.accelerators.errors import AcceleratorError

_OPSET = 20


@dataclass(slots=True)
class Builder:
    """Collects nodes and weights; without data, weights have shapes alone."""

    seed: int
    has_data: bool = True
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    tensors: list[TensorProto] = field(default_factory=list[TensorProto])

    def weight(self, *shape: int, fan_in: int = 0) -> str:
        """Return a weight drawn from a normal distribution of variance 2 / fan_in."""
        name = f"w{len(self.tensors)}"
        if self.has_data:
            generator = np.random.default_rng((self.seed, len(self.tensors)))
            scale = (2.0 / fan_in) ** 0.5 if fan_in else 0.1
            values = generator.normal(0.0, scale, shape).astype(np.float32)
            self.tensors.append(numpy_helper.from_array(values, name))
        else:
            tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
            tensor.data_location = TensorProto.EXTERNAL
            self.tensors.append(tensor)
        return name

    def constant(self, values: Any, kind: Any) -> str:
        """Return a tensor that is always there."""
        name = f"c{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.array(values, kind), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        output = f"t{len(self.nodes)}"
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], name=name, **attributes))
        return output

    def conv(
        self, x: str, channels: tuple[int, int], kernel: int = 3, stride: int = 1, groups: int = 1
    ) -> str:
        """Add a convolution that keeps the size at stride 1; return its output."""
        fan_in = channels[0] // groups * kernel * kernel
        weight = self.weight(channels[1], channels[0] // groups, kernel, kernel, fan_in=fan_in)
        pad = kernel // 2
        return self.add(
            "Conv",
            *(x, weight, self.weight(channels[1])),
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[pad] * 4,
            group=groups,
        )

    def dense(self, x: str, sizes: tuple[int, int]) -> str:
        """Add a product with constant weights, and a bias; return its output."""
        return self.add(
            "Add", self.add("MatMul", x, self.weight(*sizes, fan_in=sizes[0])), self.weight(sizes[1])
        )

    def model(self, name: str, shape: Sequence[int], output: str) -> onnx.ModelProto:
        """Return the model of one input."""
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            self.tensors,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=9)


Sizes = Mapping[str, int]
SCALES = ("tiny", "small", "medium", "large")
"""Scales of drawn networks: tiny ones take seconds at gate level, large ones reach 100 million parameters."""


def _mlp(b: Builder, draw: Random, scale: int) -> tuple[str, list[int]]:
    widths = [draw.choice(((8, 12, 16), (32, 64, 128), (256, 512, 1024), (1024, 2048, 4096))[scale])]
    for _ in range(draw.randint(2, 4)):
        widths.append(draw.choice(((4, 8, 12, 16), (32, 64, 96), (256, 384, 512), (2048, 3072, 4096))[scale]))
    x = "x"
    for place in range(len(widths) - 1):
        x = b.dense(x, (widths[place], widths[place + 1]))
        if place < len(widths) - 2:
            x = b.add("Relu", x)
    return x, [1, widths[0]]


def _image(draw: Random, scale: int) -> tuple[int, int, int]:
    """Return size, channels of the image, channels of the first layer."""
    size = draw.choice(((4, 6, 8), (8, 12, 16), (28, 32), (56, 112))[scale])
    return (
        size,
        draw.choice(((1, 2), (1, 3), (3,), (3,))[scale]),
        draw.choice(((4, 6), (8, 12), (16, 32), (64, 96))[scale]),
    )


def _cnn(b: Builder, draw: Random, scale: int) -> tuple[str, list[int]]:
    size, channels, width = _image(draw, scale)
    shape = [1, channels, size, size]
    x = "x"
    for _ in range(draw.randint(1, 2 + scale)):
        x = b.add("Relu", b.conv(x, (channels, width), kernel=draw.choice((1, 3, 3) if scale else (1, 3))))
        channels = width
        if size >= 4 and size % 2 == 0 and draw.random() < 0.7:
            x = b.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
            size //= 2
            width = width if scale == 0 else 2 * width
    x = b.add("Flatten", x)
    return b.dense(x, (channels * size * size, draw.choice((4, 10)))), shape


def _resnet(b: Builder, draw: Random, scale: int) -> tuple[str, list[int]]:
    size, channels, width = _image(draw, scale)
    shape = [1, channels, size, size]
    x = b.add("Relu", b.conv("x", (channels, width)))
    for stage in range(1 if scale == 0 else draw.randint(2, 2 + scale)):
        wide = width if stage == 0 else 2 * width
        for block in range(1 if scale == 0 else draw.randint(1, 3)):
            stride = 2 if stage and block == 0 else 1
            y = b.add("Relu", b.conv(x, (width, wide), stride=stride))
            y = b.conv(y, (wide, wide))
            if stride > 1 or width != wide:
                x = b.conv(x, (width, wide), kernel=1, stride=stride)
            x, width = b.add("Relu", b.add("Add", y, x)), wide
    x = b.add("Flatten", b.add("GlobalAveragePool", x))
    return b.dense(x, (width, draw.choice((4, 10)))), shape


def _mobilenet(b: Builder, draw: Random, scale: int) -> tuple[str, list[int]]:
    size, channels, width = _image(draw, scale)
    shape = [1, channels, size, size]
    low, high = b.constant(0.0, np.float32), b.constant(6.0, np.float32)
    x = b.add("Clip", b.conv("x", (channels, width), stride=2 if scale else 1), low, high)
    for _ in range(1 if scale == 0 else draw.randint(2, 3 + 2 * scale)):
        stride, wide = draw.choice((1, 1, 2)) if scale else 1, width * draw.choice((1, 2) if scale else (1,))
        expanded = width * draw.choice((1, 2) if scale == 0 else (2, 4, 6))
        y = b.add("Clip", b.conv(x, (width, expanded), kernel=1), low, high)
        y = b.add("Clip", b.conv(y, (expanded, expanded), stride=stride, groups=expanded), low, high)
        y = b.conv(y, (expanded, wide), kernel=1)
        x = b.add("Add", x, y) if stride == 1 and wide == width else y
        width = min(wide, 512)
        if width != wide:
            x = b.conv(x, (wide, width), kernel=1)
    x = b.add("Flatten", b.add("GlobalAveragePool", x))
    return b.dense(x, (width, draw.choice((4, 10)))), shape


def _attention(b: Builder, x: str, tokens: int, width: int, heads: int) -> str:
    size = width // heads
    shape, back = b.constant([1, tokens, heads, size], np.int64), b.constant([1, tokens, width], np.int64)
    q, k, v = (b.add("Reshape", b.dense(x, (width, width)), shape) for _ in range(3))
    q, v = (b.add("Transpose", t, perm=[0, 2, 1, 3]) for t in (q, v))
    k = b.add("Transpose", k, perm=[0, 2, 3, 1])
    scores = b.add("Mul", b.add("MatMul", q, k), b.constant(size**-0.5, np.float32))
    mixed = b.add("MatMul", b.add("Softmax", scores, axis=-1), v)
    mixed = b.add("Reshape", b.add("Transpose", mixed, perm=[0, 2, 1, 3]), back)
    return b.dense(mixed, (width, width))


def _norm(b: Builder, x: str, width: int) -> str:
    ones, zeros = b.constant(np.ones(width), np.float32), b.constant(np.zeros(width), np.float32)
    return b.add("LayerNormalization", x, ones, zeros, axis=-1)


def _encoder(b: Builder, sizes: tuple[int, int, int, int, int], activation: str) -> tuple[str, list[int]]:
    layers, tokens, width, heads, inner = sizes
    x = "x"
    for _ in range(layers):
        x = _norm(b, b.add("Add", x, _attention(b, x, tokens, width, heads)), width)
        y = b.dense(b.add(activation, b.dense(x, (width, inner))), (inner, width))
        x = _norm(b, b.add("Add", x, y), width)
    return x, [1, tokens, width]


def _transformer(b: Builder, draw: Random, scale: int) -> tuple[str, list[int]]:
    width = draw.choice(((8,), (32, 64), (128, 256), (512, 768))[scale])
    heads = draw.choice((1, 2) if scale == 0 else (2, 4, 8))
    tokens = draw.choice(((4, 6), (8, 16), (32, 64), (64, 128))[scale])
    layers = 1 if scale == 0 else draw.randint(1, (0, 2, 4, 6)[scale])
    return _encoder(
        b, (layers, tokens, width, heads, width * draw.choice((1, 2) if scale == 0 else (2, 4))), "Relu"
    )


def _bert(b: Builder, draw: Random, scale: int) -> tuple[str, list[int]]:
    width = draw.choice(((8, 12), (32, 48), (128, 256), (768,))[scale])
    tokens = draw.choice(((4, 8), (8, 16), (32, 64), (64, 128))[scale])
    layers = 1 if scale == 0 else draw.choice(((1,), (1, 2), (2, 4), (6, 12))[scale])
    heads = 2 if scale == 0 else max(1, width // (16 if scale == 1 else 64))
    return _encoder(b, (layers, tokens, width, heads, (2 if scale == 0 else 4) * width), "Gelu")


FAMILIES: Mapping[str, Callable[[Builder, Random, int], tuple[str, list[int]]]] = {
    "mlp": _mlp,
    "cnn": _cnn,
    "resnet": _resnet,
    "mobilenet": _mobilenet,
    "transformer": _transformer,
    "bert": _bert,
}


def drawn_network(family: str, scale: str, seed: int, *, has_data: bool = True) -> onnx.ModelProto:
    """Return a network of a family; the same arguments give the same model.

    Args:   has_data: whether weights are drawn; else they have shapes alone.
    Raises: AcceleratorError: unknown family or scale.
    """
    if family not in FAMILIES or scale not in SCALES:
        accepted = f"{', '.join(FAMILIES)}; {', '.join(SCALES)}"
        raise AcceleratorError(f"unknown family or scale: {family}, {scale}; accepted: {accepted}")
    builder = Builder(seed=seed, has_data=has_data)
    output, shape = FAMILIES[family](builder, Random(f"{family} {scale} {seed}"), SCALES.index(scale))  # noqa: S311
    return builder.model(f"{family}_{scale}_{seed}", shape, output)


EXPORTED = "exported"
"""Scale of networks that were trained and exported by torch; their seed is the number of a file."""
EXPORTED_FOLDER = Path(__file__).parent / "exported"
"""Files family_number.onnx, made by `python -m tests.benchmarks.exported_networks`."""


def exported_network(family: str, number: int) -> onnx.ModelProto:
    """Return a network as torch exports it.

    Raises: AcceleratorError: there is no such file.
    """
    path = EXPORTED_FOLDER / f"{family}_{number}.onnx"
    if not path.is_file():
        names = ", ".join(sorted(file.stem for file in EXPORTED_FOLDER.glob("*.onnx")))
        raise AcceleratorError(f"unknown exported network: {path.stem}; accepted: {names}")
    return onnx.load_model_from_string(path.read_bytes())


# ---- networks that are unrolled in space -----------------------------------------------------------


def _fixed_mlp(b: Builder, draw: Random, *, is_large: bool) -> tuple[str, list[int]]:
    low, high = (8, 16) if is_large else (3, 12)
    widths = [
        draw.randint(low, 16),
        *(draw.randint(low, high) for _ in range(draw.randint(1, 2 if is_large else 3))),
    ]
    x = "x"
    for place, sizes in enumerate(pairwise(widths)):
        x = b.dense(x, sizes)
        if place < len(widths) - 2:
            x = b.add("Relu", x)
    return x, [1, widths[0]]


def _fixed_image(draw: Random, *, is_large: bool) -> tuple[int, int, int]:
    if is_large:
        return draw.choice((4, 6)), draw.choice((1, 2, 3)), draw.choice((3, 4))
    return draw.choice((3, 4)), draw.choice((1, 1, 2)), draw.choice((1, 2))


def _fixed_cnn(b: Builder, draw: Random, *, is_large: bool) -> tuple[str, list[int]]:
    size, channels, width = draw.choice((4, 5)), 1, draw.choice((1, 2))
    if is_large:
        size, channels, width = _fixed_image(draw, is_large=True)
    shape = [1, channels, size, size]
    x = b.add("Relu", b.conv("x", (channels, width), kernel=draw.choice((1, 3))))
    if is_large or (size == 4 and draw.random() < 0.6):
        x, size = b.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), size // 2
    if size < 4 and draw.random() < 0.5:
        x = b.add("Relu", b.conv(x, (width, width), kernel=3 if is_large else 1))
    return b.dense(b.add("Flatten", x), (width * size * size, draw.randint(2, 4))), shape


def _fixed_resnet(b: Builder, draw: Random, *, is_large: bool) -> tuple[str, list[int]]:
    size, channels, width = _fixed_image(draw, is_large=is_large)
    x = b.add("Relu", b.conv("x", (channels, width), kernel=1))
    y = b.add("Relu", b.conv(x, (width, width), kernel=3 if width == 1 or is_large else 1))
    kernel = draw.choice((1, 3)) if size == 3 or is_large else 1
    x = b.add("Relu", b.add("Add", b.conv(y, (width, width), kernel=kernel), x))
    x = b.add("Flatten", b.add("GlobalAveragePool", x) if draw.random() < 0.5 or is_large else x)
    return b.dense(
        x, (width if b.nodes[-2].op_type == "GlobalAveragePool" else width * size * size, draw.randint(2, 4))
    ), [1, channels, size, size]


def _fixed_mobilenet(b: Builder, draw: Random, *, is_large: bool) -> tuple[str, list[int]]:
    size, channels, width = _fixed_image(draw, is_large=is_large)
    expanded = width * draw.choice((2, 3) if is_large else (1, 2))
    x = b.add("Relu", b.conv("x", (channels, width), kernel=1))
    y = b.add("Relu", b.conv(x, (width, expanded), kernel=1))
    y = b.add("Relu", b.conv(y, (expanded, expanded), groups=expanded, stride=draw.choice((1, 2))))
    x = b.conv(y, (expanded, width), kernel=1)
    x = b.add("Flatten", b.add("GlobalAveragePool", x))
    return b.dense(x, (width, draw.randint(2, 4))), [1, channels, size, size]


def _fixed_rnn(b: Builder, draw: Random, *, is_large: bool) -> tuple[str, list[int]]:
    steps, inputs = draw.randint(2, 4), draw.randint(2, 4)
    hidden = draw.randint(6, 10) if is_large else draw.randint(2, 6)
    own, back, bias = (
        b.weight(inputs, hidden, fan_in=inputs),
        b.weight(hidden, hidden, fan_in=hidden),
        b.weight(hidden),
    )
    state = ""
    for step in range(steps):
        places = [b.constant([place], np.int64) for place in (step * inputs, (step + 1) * inputs, 1)]
        x = b.add("Add", b.add("MatMul", b.add("Slice", "x", *places), own), bias)
        state = b.add("Relu", b.add("Add", x, b.add("MatMul", state, back)) if state else x)
    return b.dense(state, (hidden, draw.randint(2, 4))), [1, steps * inputs]


class _FixedFamily(Protocol):
    def __call__(self, b: Builder, draw: Random, *, is_large: bool) -> tuple[str, list[int]]: ...


FIXED_SCALES = ("small", "large")
"""Large ones have some 100 to 500 weights, and share units over several cycles."""
FIXED_FAMILIES: Mapping[str, _FixedFamily] = {
    "mlp": _fixed_mlp,
    "cnn": _fixed_cnn,
    "resnet": _fixed_resnet,
    "mobilenet": _fixed_mobilenet,
    "rnn": _fixed_rnn,
}
"""Networks so small that every product has its own adders; the recurrent one is unrolled over its steps."""


def drawn_fixed_network(family: str, seed: int, scale: str = "small") -> onnx.ModelProto:
    """Return a network of a family of `FIXED_FAMILIES`; the same arguments give the same model.

    Raises: AcceleratorError: unknown family or scale.
    """
    if family not in FIXED_FAMILIES or scale not in FIXED_SCALES:
        accepted = f"{', '.join(FIXED_FAMILIES)}; {', '.join(FIXED_SCALES)}"
        raise AcceleratorError(f"unknown family or scale: {family}, {scale}; accepted: {accepted}")
    builder = Builder(seed=seed)
    is_large = scale == "large"
    output, shape = FIXED_FAMILIES[family](builder, Random(f"fixed {family} {seed}"), is_large=is_large)  # noqa: S311
    return builder.model(f"fixed_{family}_{seed}", shape, output)
