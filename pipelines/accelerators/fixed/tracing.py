"""A network's layers as fixed-point operations of da4ml: of the whole network, or of one layer's units.

Every linear layer is traced position by position as a constant matrix; da4ml turns it into adders and shifts.
Values are ap_fixed<8,3>: sign, two integer and five fractional bits, wrapped and truncated as hls4ml does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.graph import Layer, Network
from pipelines.accelerators.systolic.quantise import float_layer

SIGN, INTEGER, FRACTION = 1, 2, 5
BITS = SIGN + INTEGER + FRACTION
VIEWS = ("Flatten", "Reshape", "Identity", "Dropout", "Squeeze", "Unsqueeze")
WIRES = ("Slice", "Transpose", "Split", "Gather", "Concat", "Expand", "Tile", "DepthToSpace", "SpaceToDepth")
"""Operators that give numbers of their operands at other places."""
_AFFINE = (
    *("AveragePool", "GlobalAveragePool", "ReduceMean", "ReduceSum", "BatchNormalization", "Add", "Sub"),
    *("Mul", "Div", "Neg"),
)
"""Operators whose results are sums of products by constants, as long as one operand alone is computed."""
ACCEPTED = ("Conv", "Gemm", "MatMul", *VIEWS, *WIRES, *_AFFINE, "Relu", "MaxPool behind Conv")
_SCALE = 1 << FRACTION


PRODUCT_LIMIT = 20_000
"""Of a network: a product takes some 60 cells, and some milliseconds of da4ml."""
MATRIX_LIMIT = 1 << 26
"""Inputs times outputs of a layer that is traced as a matrix."""


Traced = Callable[[Any, Any], Any]
"""Traced results of the library and of traced inputs."""


def require_size(network: Network) -> None:
    """Refuse a network that is too large for a fixed-point pipeline.

    Raises: AcceleratorError: too many products or numbers, or several inputs.
    """
    network.require_one_input()
    products = sum(map(_products, network.layers))
    if products > PRODUCT_LIMIT:
        raise AcceleratorError(
            f"{products:,} products per inference in {network.name}; accepted as a fixed-point pipeline: "
            f"up to {PRODUCT_LIMIT:,}"
        )
    largest = max([prod(network.input_shape), *(prod(layer.out_shape) for layer in network.layers)])
    if largest > PRODUCT_LIMIT:
        raise AcceleratorError(
            f"a tensor of {largest:,} numbers in {network.name}; accepted as a fixed-point pipeline: up to "
            f"{PRODUCT_LIMIT:,}"
        )


def _products(layer: Layer) -> int:
    """Return the products with weights: every position of a layer has its own."""
    if not layer.weight_shape:
        return 0
    if layer.kind == "conv":
        return prod(layer.weight_shape) * prod(_full_size(layer))
    return prod(layer.in_shapes[0]) * layer.weight_shape[1]


class _Library:
    def __init__(self) -> None:
        self.trace = import_module("da4ml.trace")
        self.ops = import_module("da4ml.trace.ops")
        self.verilog = import_module("da4ml.codegen.rtl.verilog")
        folder = Path(str(self.verilog.__file__)).parent / "source"
        paths = [path for path in sorted(folder.glob("*.v")) if path.name != "lookup_table.v"]
        self.modules = {path.name: path.read_text(encoding="utf-8") for path in paths}


def uniform_inputs(inputs: int, samples: int = 48, seed: int = 1) -> NDArray[np.float64]:
    """Return (samples, inputs) uniform over the format, on its steps."""
    limit = 1 << (INTEGER + FRACTION)
    return np.random.default_rng(seed).integers(-limit, limit, (samples, inputs)) / float(_SCALE)


def load_library() -> Any:
    """Load the parts of da4ml that tracing uses.

    Raises: AcceleratorError: it is not installed.
    """
    try:
        return _Library()
    except ImportError as error:
        raise AcceleratorError("da4ml is not installed; pip install 'simfoundry[fixed]'") from error


def quantised(library: Any, values: Any) -> Any:
    """Return the traced values in the format, truncated and wrapped."""
    return library.ops.quantize(values, SIGN, INTEGER, FRACTION)


def trace_layers(library: Any, inputs: Any, *, network: Network) -> Any:
    """Trace a network; return the flat array of its results."""
    values = {network.input: inputs}
    for layer in network.executed:
        operands = [values[name] for name in layer.inputs]
        values[layer.output] = trace_layer(library, layer, operands, network.opset)
    return values[network.outputs[0]]


def trace_layer(library: Any, layer: Layer, operands: list[Any], opset: int) -> Any:
    """Return the flat array of a layer's results."""
    if layer.activation == "clip6":
        raise _refused(layer, "Clip to 6")
    if is_wired(layer):
        return np.concatenate(operands)[wired_places(layer, opset)]
    if layer.kind == "add":
        result = operands[0] + operands[1]
    elif layer.kind == "host" and layer.kinds[0] == "Relu":
        result = operands[0]
    elif layer.kinds[0] == "Sub" and layer.in_shapes == (layer.out_shape,) * 2:
        result = operands[0] - operands[1]
    elif layer.weight_shape or _is_affine(layer):
        result = _linear(layer, operands[0], opset)
    else:
        raise _refused(layer, layer.kinds[0])
    result = activated(library, layer, result)
    return pooled(library, layer, result) if layer.pool else result


def activated(library: Any, layer: Layer, result: Any) -> Any:
    """Return a layer's results in the format, after its activation."""
    has_relu = layer.activation != "none" or layer.kinds[0] == "Relu"
    return quantised(library, library.ops.relu(result) if has_relu else result)


def _refused(layer: Layer, operator: str) -> AcceleratorError:
    return AcceleratorError(
        f"operator without a fixed-point form: {operator} ({layer.name}); accepted: {', '.join(ACCEPTED)}"
    )


def _is_affine(layer: Layer) -> bool:
    is_divisor = layer.kinds[0] == "Div" and layer.node is not None and layer.node.input[0] != layer.inputs[0]
    return layer.kinds[0] in _AFFINE and len(layer.inputs) == 1 and not is_divisor


def is_wired(layer: Layer) -> bool:
    """Tell whether a layer gives numbers of its operands at other places."""
    is_placed = layer.node is not None and layer.inputs == tuple(layer.node.input[: len(layer.inputs)])
    is_wire = layer.kinds[0] in VIEWS or (layer.kinds[0] in WIRES and is_placed)
    return layer.kind == "host" and is_wire


def wired_places(layer: Layer, opset: int) -> NDArray[np.int64]:
    """Return the places that a layer takes its numbers from, in its operands one behind the other."""
    if layer.kinds[0] in VIEWS:
        return np.arange(prod(layer.in_shapes[0]))
    ends = np.cumsum([0, *map(prod, layer.in_shapes)])
    numbered = [
        np.arange(first, last, dtype=np.float32).reshape(shape)
        for shape, (first, last) in zip(layer.in_shapes, pairwise(ends), strict=True)
    ]
    return float_layer(layer, numbered, opset).reshape(-1).astype(np.int64)


def _linear(layer: Layer, values: Any, opset: int) -> Any:
    """Return rows of the layer's matrix by position: outputs that read the same inputs share a product."""
    matrix, bias = linear_map(layer, opset)
    readers: dict[tuple[int, ...], list[int]] = {}
    for column in range(matrix.shape[1]):
        readers.setdefault(tuple(np.flatnonzero(matrix[:, column]).tolist()), []).append(column)
    parts: list[Any] = []
    for rows, columns in readers.items():
        chosen = list(rows) or [0]
        parts.append(values[chosen] @ matrix[np.ix_(chosen, columns)] + bias[columns])
    order = np.argsort([column for columns in readers.values() for column in columns])
    return np.concatenate(parts)[order]


def linear_map(layer: Layer, opset: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the matrix (inputs, outputs) and offset (outputs,) of a layer without activation and pool."""
    plain = replace(layer, activation="none", pool=None)
    shape = layer.in_shapes[0]
    if prod(shape) * prod(plain.out_shape) > MATRIX_LIMIT:
        raise AcceleratorError(
            f"layer {layer.name} from {prod(shape):,} to {prod(layer.out_shape):,} numbers; accepted as a "
            f"fixed-point pipeline: a product of up to {MATRIX_LIMIT:,}"
        )
    zero = float_layer(plain, [np.zeros(shape, np.float32)], opset).reshape(-1).astype(np.float64)
    basis = np.eye(prod(shape), dtype=np.float32)
    rows = [float_layer(plain, [unit.reshape(shape)], opset).reshape(-1) - zero for unit in basis]
    return fixed_values(np.array(rows)), fixed_values(zero)


def fixed_values(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the values rounded to the format and clipped to its range."""
    limit = 2.0**INTEGER
    return np.clip(np.round(values * _SCALE) / _SCALE, -limit, limit - 1 / _SCALE).astype(np.float64)


def pooled(library: Any, layer: Layer, values: Any) -> Any:
    """Return the largest of every window of flat (channels, height, width).

    The largest of 0 and a number is its ReLU: da4ml 0.6.0 gives wrong values for `maximum` of 0 and a number
    that wraps behind a ReLU.
    """
    _, channels, high, wide = layer.out_shape
    window = layer.pool or (1, 1)
    full_high, full_wide = _full_size(layer)
    image = np.arange(channels * full_high * full_wide).reshape(channels, full_high, full_wide)
    kept = image[:, : high * window[0], : wide * window[1]]
    places = kept.reshape(channels, high, window[0], wide, window[1]).transpose(0, 1, 3, 2, 4)
    windows = places.reshape(channels * high * wide, window[0] * window[1])
    zeros = np.array([value.low == value.high == 0 for value in values])
    if not (zeros[windows].any(axis=1) & ~zeros[windows].all(axis=1)).any():
        return np.amax(np.stack([values[place] for place in windows.T], axis=0), axis=0)
    largest: list[Any] = []
    for places_of_window in windows:
        others = [place for place in places_of_window if not zeros[place]]
        some = np.amax(values[others or places_of_window[:1]].reshape(-1, 1), axis=0)
        largest.append(library.ops.relu(some) if 0 < len(others) < len(places_of_window) else some)
    return np.concatenate(largest)


def _full_size(layer: Layer) -> tuple[int, int]:
    _, _, height, width = layer.in_shapes[0]
    top, left, bottom, right = layer.pads
    return (
        (height + top + bottom - layer.weight_shape[2]) // layer.strides[0] + 1,
        (width + left + right - layer.weight_shape[3]) // layer.strides[1] + 1,
    )


# ---- parts of a network ------------------------------------------------------------------------------


Source = int | float
"""What a unit reads: the place of a value, or a constant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A layer or its pool.

    Attributes: inputs, output: names of values. kind: shared (by units), wired (no hardware), pool or plain.
    """

    layer: Layer
    inputs: tuple[str, ...]
    output: str
    kind: str = "plain"

    @property
    def group(self) -> str:
        """Neighbours of one group are one pipeline."""
        return "pipeline" if self.kind in ("plain", "pool") else f"{self.kind} {self.output}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What one unit computes, and for which positions.

    Attributes:
        function: traced results of traced inputs. size: inputs.
        sources: of every position, size of them. places: of its results in the layer's output.
    """

    function: Traced
    size: int
    sources: tuple[tuple[Source, ...], ...]
    places: tuple[tuple[int, ...], ...]


def parts_of(network: Network) -> list[Part]:
    """Return the layers in order; a pool is a part of its own behind shared units."""
    result: list[Part] = []
    for layer in network.executed:
        if not layer.weight_shape:
            kind = "wired" if is_wired(layer) else "plain"
            result.append(Part(layer=layer, inputs=layer.inputs, output=layer.output, kind=kind))
            continue
        inner = f"{layer.output}, before the pool" if layer.pool else layer.output
        result.append(Part(layer=layer, inputs=layer.inputs, output=inner, kind="shared"))
        if layer.pool:
            result.append(Part(layer=layer, inputs=(inner,), output=layer.output, kind="pool"))
    return result


def trace_parts(library: Any, parts: Sequence[Part], values: dict[str, Any], opset: int) -> None:
    """Add the traced results of parts to traced values by name."""
    for part in parts:
        operands = [values[name] for name in part.inputs]
        if part.kind == "pool":
            values[part.output] = pooled(library, part.layer, operands[0])
        else:
            values[part.output] = trace_layer(library, part.layer, operands, opset)


def kernels_of(layer: Layer) -> list[Kernel]:
    """Return what the units of a layer with weights compute."""
    return _convolved(layer) if layer.kind == "conv" else [_multiplied(layer)]


def _bias(layer: Layer, outputs: int) -> Any:
    return np.zeros(outputs) if layer.bias is None else fixed_values(layer.bias.reshape(-1))


def _convolved(layer: Layer) -> list[Kernel]:
    """Return a constant matrix per group of channels; places outside the image read 0."""
    _, channels, height, width = layer.in_shapes[0]
    outputs, per_group, high, wide = layer.weight_shape
    top, left, bottom, right = layer.pads
    rows = range((height + top + bottom - high) // layer.strides[0] + 1)
    columns = range((width + left + right - wide) // layer.strides[1] + 1)
    weights, bias = fixed_values(np.asarray(layer.weight)), _bias(layer, outputs)
    share = outputs // layer.groups

    def source(channel: int, y: int, x: int) -> Source:
        is_inside = 0 <= y < height and 0 <= x < width
        return (channel * height + y) * width + x if is_inside else 0.0

    def kernel(group: int) -> Kernel:
        own = slice(group * share, (group + 1) * share)
        matrix = weights[own].reshape(share, -1).T
        offset = bias[own]
        starts = [(r * layer.strides[0] - top, c * layer.strides[1] - left) for r in rows for c in columns]
        taps = [
            (group * per_group + i, y, x) for i in range(per_group) for y in range(high) for x in range(wide)
        ]
        return Kernel(
            function=lambda library, x: activated(library, layer, x @ matrix + offset),
            size=len(taps),
            sources=tuple(tuple(source(i, y + dy, x + dx) for i, dy, dx in taps) for y, x in starts),
            places=tuple(
                tuple(o * len(starts) + place for o in range(own.start, own.stop))
                for place in range(len(starts))
            ),
        )

    return [kernel(group) for group in range(channels // per_group)]


def _multiplied(layer: Layer) -> Kernel:
    """Return a row of multipliers; weights and bias are inputs."""
    size, outputs = layer.weight_shape
    rows = prod(layer.in_shapes[0]) // size
    weights, bias = fixed_values(np.asarray(layer.weight)), _bias(layer, outputs)

    def function(library: Any, x: Any) -> Any:
        return activated(library, layer, np.sum(x[:size] * x[size:-1], keepdims=True) + x[-1:])

    places = [(row, column) for row in range(rows) for column in range(outputs)]
    return Kernel(
        function=function,
        size=2 * size + 1,
        sources=tuple(
            (*range(row * size, (row + 1) * size), *map(float, weights[:, column]), float(bias[column]))
            for row, column in places
        ),
        places=tuple((row * outputs + column,) for row, column in places),
    )
