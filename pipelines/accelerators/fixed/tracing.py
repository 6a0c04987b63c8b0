"""A network's layers as fixed-point operations of da4ml, a pipeline of them, and its Verilog.

Every linear layer is traced position by position as a constant matrix; da4ml turns it into adders and shifts.
Values are ap_fixed<8,3>: sign, two integer and five fractional bits, wrapped and truncated as hls4ml does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.fixed.activity import estimate_activity
from pipelines.accelerators.graph import Layer, Network
from pipelines.accelerators.systolic.quantise import float_layer

SIGN, INTEGER, FRACTION = 1, 2, 5
BITS = SIGN + INTEGER + FRACTION
TOP = "fixed_network"
_WORD = 64
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
_PORTS = 2
_LEAVES = (-1, 5)
"""Codes of da4ml's operations without operands: inputs and constants."""


PRODUCT_LIMIT = 20_000
"""Products of a network: one takes some 60 cells, and some milliseconds of da4ml."""
MATRIX_LIMIT = 1 << 26
"""Inputs times outputs of a layer that is traced as a matrix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOperation:
    """An operation of da4ml: its code, places of operands in the stage, bits of the result."""

    code: int
    operands: tuple[int, ...]
    bits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedDesign:
    """A network as a pipeline.

    Attributes:
        verilog: module `fixed_network`: clk, inputs in_0, in_1, ..., outputs out_0, ... of at most 64 bits.
        inputs, outputs: numbers. input_bits, output_bits: of all of them together.
        latency_cycles: from an input to its output. stages: operations of every stage, operands first.
        register_bits: that every stage passes on.
        model: da4ml's, which computes what the Verilog does.
        input_formats, output_formats: bits and fractional bits of every number.
        interval_cycles: between two inputs; port `start` is 1 in the first of them when there are several.
        repeats: how often the operations of every stage are executed per inference.
        activity: of every stage, values of `fixed.ACTIVITIES` per inference.
    """

    verilog: str
    inputs: int
    outputs: int
    input_bits: int
    output_bits: int
    latency_cycles: int
    stages: tuple[tuple[StageOperation, ...], ...]
    register_bits: tuple[int, ...]
    model: Any
    input_formats: tuple[tuple[int, int], ...]
    output_formats: tuple[tuple[int, int], ...]
    repeats: tuple[int, ...]
    activity: tuple[tuple[float, ...], ...]
    interval_cycles: int = 1

    def expected(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (samples, outputs) of (samples, inputs), bit by bit as the hardware."""
        return np.asarray(self.model.predict(values))


def trace_network(network: Network, *, depth: int = 5) -> FixedDesign:
    """Trace a network with data.

    Args:   depth: adders between two registers, at most.
    Raises: AcceleratorError: an operator has no fixed-point form here, there is no data, or no da4ml.
    """
    library = load_library()
    network.require_one_input()
    products = sum(map(_products, network.layers))
    if products > PRODUCT_LIMIT:
        raise AcceleratorError(
            f"{products:,} products per inference in {network.name}; accepted as a fixed-point pipeline: "
            f"up to {PRODUCT_LIMIT:,}"
        )
    size = prod(network.input_shape)
    largest = max([size, *(prod(layer.out_shape) for layer in network.layers)])
    if largest > PRODUCT_LIMIT:
        raise AcceleratorError(
            f"a tensor of {largest:,} numbers in {network.name}; accepted as a fixed-point pipeline: up to "
            f"{PRODUCT_LIMIT:,}"
        )
    inputs = library.trace.FixedVariableArrayInput(size)
    values = {network.input: quantised(library, inputs)}
    for layer in network.executed:
        values[layer.output] = trace_layer(
            library, layer, [values[name] for name in layer.inputs], network.opset
        )
    combinational = library.trace.comb_trace(inputs, values[network.outputs[0]])
    pipeline = library.trace.to_pipeline(combinational, depth, verbose=False)
    texts = core_verilog(library, pipeline, TOP + "_core")
    return _design("\n".join(texts.values()), combinational, pipeline, size)


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


def trace_layer(library: Any, layer: Layer, operands: list[Any], opset: int) -> Any:
    """Return the flat array of a layer's results."""
    if layer.kind == "host" and layer.kinds[0] in VIEWS:
        return operands[0]
    if layer.activation == "clip6":
        raise _refused(layer, "Clip to 6")
    if is_wired(layer):
        places = wired_places(layer, opset)
        return np.concatenate(operands)[places]
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
    if layer.activation != "none" or layer.kinds[0] == "Relu":
        result = library.ops.relu(result)
    result = quantised(library, result)
    return pooled(layer, result) if layer.pool else result


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
    return layer.kind == "host" and layer.kinds[0] in WIRES and is_placed


def wired_places(layer: Layer, opset: int) -> NDArray[np.int64]:
    """Return the places that a layer takes its numbers from, in its operands one behind the other."""
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


def pooled(layer: Layer, values: Any) -> Any:
    """Return the largest of every window of flat (channels, height, width)."""
    _, channels, high, wide = layer.out_shape
    window = layer.pool or (1, 1)
    full_high, full_wide = _full_size(layer)
    image = np.arange(channels * full_high * full_wide).reshape(channels, full_high, full_wide)
    kept = image[:, : high * window[0], : wide * window[1]]
    places = kept.reshape(channels, high, window[0], wide, window[1]).transpose(2, 4, 0, 1, 3)
    members = [values[place.reshape(-1)] for place in places.reshape(-1, channels, high, wide)]
    return np.amax(np.stack(members, axis=0), axis=0)


def _full_size(layer: Layer) -> tuple[int, int]:
    _, _, height, width = layer.in_shapes[0]
    top, left, bottom, right = layer.pads
    return (
        (height + top + bottom - layer.weight_shape[2]) // layer.strides[0] + 1,
        (width + left + right - layer.weight_shape[3]) // layer.strides[1] + 1,
    )


# ---- Verilog ---------------------------------------------------------------------------------------


def core_verilog(library: Any, pipeline: Any, name: str) -> dict[str, str]:
    """Return a pipeline's Verilog by file; files of da4ml's modules have the same name for all pipelines."""
    return {
        **{
            f"{part}.v": text
            for part, text in sorted(library.verilog.pipeline_logic_gen(pipeline, name).items())
        },
        **library.modules,
    }


def _design(core: str, model: Any, pipeline: Any, inputs: int) -> FixedDesign:
    widths = re.search(rf"module {TOP}_core \((.*?)\);", core, re.DOTALL)
    if widths is None:
        raise AcceleratorError("da4ml gave no module")
    bits = [int(high) + 1 for high in re.findall(r"\[(\d+):0\]", widths[1])]
    if len(bits) < _PORTS:
        raise AcceleratorError("every output is the same for all inputs")
    in_bits, out_bits = bits
    return FixedDesign(
        verilog=core + _top(in_bits, out_bits),
        inputs=inputs,
        outputs=pipeline.shape[1],
        input_bits=in_bits,
        output_bits=out_bits,
        latency_cycles=len(pipeline.solutions) + 1,
        stages=tuple(stage_operations(stage) for stage in pipeline.solutions),
        register_bits=tuple(sum(bits for bits, _ in formats(stage.out_qint)) for stage in pipeline.solutions),
        repeats=(1,) * len(pipeline.solutions),
        activity=tuple(tuple(stage) for stage in estimate_activity(pipeline, uniform_inputs(inputs))[0]),
        input_formats=tuple(formats(model.inp_qint)),
        output_formats=tuple(formats(model.out_qint)),
        model=model,
    )


def stage_operations(stage: Any) -> tuple[StageOperation, ...]:
    """Return the operations of a stage; one of code -1 reads its inputs, which are no operands."""
    widths = formats([op.qint for op in stage.ops])
    return tuple(
        StageOperation(
            code=int(op.opcode),
            operands=() if op.opcode in _LEAVES else tuple(i for i in (op.id0, op.id1) if i >= 0),
            bits=bits,
        )
        for op, (bits, _) in zip(stage.ops, widths, strict=True)
    )


def formats(intervals: Sequence[Any]) -> list[tuple[int, int]]:
    """Return bits and fractional bits of every number: the fewest for its interval (least, largest, step)."""
    result: list[tuple[int, int]] = []
    for least, largest, step in intervals:
        if least == largest == 0:
            result.append((0, 0))
            continue
        fraction = round(-np.log2(step))
        steps = (round(least / step), round(largest / step))
        magnitude = max(max(steps[1], 0).bit_length(), (-steps[0] - 1).bit_length() if steps[0] < 0 else 0)
        result.append((magnitude + (steps[0] < 0), fraction))
    return result


def word_widths(bits: int) -> list[int]:
    """Return the widths of the ports that carry so many bits."""
    return [min(_WORD, bits - start) for start in range(0, bits, _WORD)]


def top_ports(in_bits: int, out_bits: int) -> tuple[str, tuple[str, str]]:
    """Return declarations of the ports in_0, ..., out_0, ..., and their names joined, the highest first."""
    ports = [f"input [{w - 1}:0] in_{i}" for i, w in enumerate(word_widths(in_bits))]
    ports += [f"output [{w - 1}:0] out_{i}" for i, w in enumerate(word_widths(out_bits))]
    words, outs = (
        ", ".join(f"{name}_{i}" for i in reversed(range(len(word_widths(bits)))))
        for name, bits in (("in", in_bits), ("out", out_bits))
    )
    return ", ".join(ports), (words, outs)


def _top(in_bits: int, out_bits: int) -> str:
    ports, (words, outs) = top_ports(in_bits, out_bits)
    return (
        f"\nmodule {TOP} (input clk, {ports});\n"
        f"  {TOP}_core core (.clk(clk), .model_inp({{{words}}}), .model_out({{{outs}}}));\n"
        "endmodule\n"
    )
