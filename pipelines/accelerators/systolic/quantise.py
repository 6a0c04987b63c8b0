"""Integer networks: scales by calibration, and what every layer computes.

A product is sum(a w) in the accumulator's two's complement, plus a bias, times factor / 2**shift rounded half
up, clipped. Tensors have one scale and no zero point. Layers of the host are computed in floating point by
ONNX's reference evaluator between dequantisation and quantisation; those that only move values keep integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.graph import Layer, Network
from pipelines.accelerators.systolic.hardware import Hardware
from pipelines.accelerators.systolic.instructions import Scale
from pipelines.onnx_models import OnnxError, evaluator, run

Integers = NDArray[np.int64]
Values = Mapping[str, NDArray[Any]]
MOVES = (
    "Transpose",
    "Reshape",
    "Flatten",
    "Concat",
    "Identity",
    "Squeeze",
    "Unsqueeze",
    "Slice",
    "Gather",
    "MaxPool",
)
"""Operators of the host that keep values and their scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerLayer:
    """A layer with integer parameters.

    Attributes:
        in_scales, out_scale: value of one step.
        weights: (k, outputs), k in the order height, width, channel; None when both operands are computed.
        bias: (outputs,). scale: rescaling of the accumulator.
    """

    layer: Layer
    in_scales: tuple[float, ...]
    out_scale: float
    weights: Integers | None = None
    bias: Integers | None = None
    scale: Scale = field(default_factory=Scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerNetwork:
    """A network of integer layers, and an input: integers, and value of one step."""

    network: Network
    layers: tuple[IntegerLayer, ...]
    sample: Integers
    input_scale: float


def quantise(network: Network, hardware: Hardware, *, seed: int = 0) -> IntegerNetwork:
    """Return the integer parameters for hardware, from one drawn input.

    Raises: AcceleratorError: the model has no data.
    """
    _require_data(network)
    sample = np.random.default_rng(seed).normal(size=network.input_shape).astype(np.float32)
    most = hardware.largest
    values: dict[str, NDArray[Any]] = {network.input: sample}
    scales = {network.input: _scale_of(sample, most)}
    layers: list[IntegerLayer] = []
    for layer in network.executed:
        operands = [values[name] for name in layer.inputs]
        values[layer.output] = float_layer(layer, operands, network.opset)
        in_scales = tuple(scales[name] for name in layer.inputs)
        keeps = layer.kind == "host" and layer.kinds[0] in MOVES and len(set(in_scales)) == 1
        scale = in_scales[0] if keeps else _scale_of(values[layer.output], most)
        if layer.activation == "clip6":
            scale = 6.0 / most
        scales[layer.output] = scale
        layers.append(_integer(layer, in_scales, scale, hardware))
    input_scale = scales[network.input]
    return IntegerNetwork(
        network=network,
        layers=tuple(layers),
        sample=_rounded(sample / input_scale, most),
        input_scale=input_scale,
    )


def _require_data(network: Network) -> None:
    network.require_one_input()
    for layer in network.layers:
        node = layer.node or NodeProto()
        has_constants = all(name in (*layer.inputs, *layer.constants, "") for name in node.input)
        if (layer.weight_shape and layer.weight is None) or not has_constants:
            raise AcceleratorError("network without data; accepted: a model with its weights")
        if layer.kinds[0] == "Gemm" and not layer.weight_shape:
            raise AcceleratorError(
                f"Gemm of two computed operands ({layer.name}); accepted with values of tensors: MatMul"
            )


def _scale_of(values: NDArray[Any], most: int) -> float:
    largest = float(np.abs(values).max(initial=0.0))
    return largest / most if largest > 0 else 1.0


def _rounded(values: NDArray[Any], most: int) -> Integers:
    return np.clip(np.floor(values + 0.5), -most, most).astype(np.int64)


def _integer(
    layer: Layer, in_scales: tuple[float, ...], out_scale: float, hardware: Hardware
) -> IntegerLayer:
    plain = IntegerLayer(layer=layer, in_scales=in_scales, out_scale=out_scale)
    most = hardware.largest
    low = -most if layer.activation == "none" else 0
    if layer.kind == "host":
        return plain
    if layer.kind == "add":
        unit = max(in_scales) / most
        factors = [max(1, round(scale / unit)) for scale in in_scales]
        channels = layer.out_shape[1] if len(layer.out_shape) == 4 else layer.out_shape[-1]
        weights = np.concatenate([np.eye(channels, dtype=np.int64) * factor for factor in factors])
        return replace(plain, weights=weights, scale=_factor(unit / out_scale, low, hardware))
    if not layer.weight_shape:
        step = in_scales[0] * in_scales[1]
        return replace(plain, scale=_factor(step / out_scale, low, hardware))
    matrix = weight_matrix(layer)
    weight_scale = _scale_of(matrix, most)
    step = in_scales[0] * weight_scale
    limit = (1 << (hardware.accumulator_bits - 1)) - 1
    bias = None if layer.bias is None else _rounded(layer.bias.astype(np.float64) / step, limit)
    weights = _rounded(matrix / weight_scale, most)
    return replace(plain, weights=weights, bias=bias, scale=_factor(step / out_scale, low, hardware))


def _factor(ratio: float, low: int, hardware: Hardware) -> Scale:
    """Return the factor and shift nearest to a ratio."""
    most = hardware.largest
    bits = hardware.scale_bits
    if bits == 0:
        shift = min(63, max(0, round(-np.log2(ratio))))
        return Scale(1, shift, low, most)
    _, exponent = frexp(ratio)
    shift = min(31, max(0, bits - exponent))
    factor = min((1 << bits) - 1, max(1, round(ratio * 2.0**shift)))
    return Scale(factor, shift, low, most)


def weight_matrix(layer: Layer) -> NDArray[np.float64]:
    """Return the weights (k, outputs), k by height, width, channel; groups are blocks, zero outside."""
    if layer.weight is None:
        raise AcceleratorError(
            f"no values of the weights of {layer.name}; accepted: in the model or beside it"
        )
    if not np.isfinite(layer.weight).all():
        raise AcceleratorError(f"weights of {layer.name} that are not finite; accepted: finite ones")
    if layer.kind == "matmul":
        return layer.weight.astype(np.float64)
    outputs, size, high, wide = layer.weight.shape
    matrix = np.zeros((high, wide, size * layer.groups, outputs))
    per_group = outputs // layer.groups
    for group in range(layer.groups):
        own = slice(group * per_group, (group + 1) * per_group)
        part = layer.weight[own].transpose(2, 3, 1, 0)
        matrix[:, :, group * size : (group + 1) * size, own] = part
    return matrix.reshape(-1, outputs)


# ---- what layers compute ---------------------------------------------------------------------------


def padded(layer: Layer, values: NDArray[Any]) -> NDArray[Any]:
    """Return an image with the zeros of a convolution around it."""
    top, left, bottom, right = layer.pads
    return np.pad(values, ((0, 0), (0, 0), (top, bottom), (left, right)))


def _patches(layer: Layer, values: NDArray[Any]) -> NDArray[Any]:
    """Return (height, width, k): what every position of a convolution reads."""
    image = padded(layer, values)[0]  # (channels, height, width)
    window = np.lib.stride_tricks.sliding_window_view(image, layer.weight_shape[2:], axis=(1, 2))
    window = window[:, :: layer.strides[0], :: layer.strides[1]]  # (channels, lines, columns, kh, kw)
    lines, columns = window.shape[1:3]
    return window.transpose(1, 2, 3, 4, 0).reshape(lines, columns, -1)


def _pool(values: NDArray[Any], pool: tuple[int, int]) -> NDArray[Any]:
    """Return the largest of every window; values: (1, channels, height, width)."""
    high, wide = (size // window for size, window in zip(values.shape[2:], pool, strict=True))
    kept = values[:, :, : high * pool[0], : wide * pool[1]]
    return kept.reshape(1, -1, high, pool[0], wide, pool[1]).max(axis=(3, 5))


def _product(layer: Layer, weights: NDArray[Any] | None, operands: list[NDArray[Any]]) -> NDArray[np.float64]:
    """Return the sums of a layer before bias, pool and activation; exact for integers below 2**53."""
    if layer.kind == "add":
        channels = len(weights) // 2 if weights is not None else 0
        if weights is None:
            return (operands[0] + operands[1]).astype(np.float64)
        factors = weights[0, 0], weights[channels, 0]
        return (operands[0] * factors[0] + operands[1] * factors[1]).astype(np.float64)
    if weights is None:
        return operands[0].astype(np.float64) @ operands[1].astype(np.float64)
    if layer.kind == "conv":
        sums = _patches(layer, operands[0]).astype(np.float64) @ weights
        return sums.transpose(2, 0, 1)[None]
    return operands[0].astype(np.float64) @ weights


def _with_bias(layer: Layer, sums: NDArray[Any], bias: NDArray[Any] | None) -> NDArray[Any]:
    if bias is None:
        return sums
    return sums + (bias[:, None, None] if layer.kind == "conv" else bias)


def float_layer(layer: Layer, operands: list[NDArray[Any]], opset: int) -> NDArray[Any]:
    """Return the layer in floating point."""
    if layer.kind == "host":
        return host_layer(layer, operands, opset)
    weights = weight_matrix(layer) if layer.weight_shape else None
    values = _with_bias(layer, _product(layer, weights, operands), layer.bias)
    if layer.activation != "none":
        values = np.clip(values, 0.0, 6.0 if layer.activation == "clip6" else None)
    return (_pool(values, layer.pool) if layer.pool else values).astype(np.float32)


def integer_layer(
    integer: IntegerLayer, operands: list[Integers], hardware: Hardware, opset: int
) -> Integers:
    """Return the layer in integers, as the accelerator computes it."""
    layer = integer.layer
    if layer.kind == "host":
        return _integer_host(integer, operands, hardware, opset)
    sums = np.rint(_product(layer, integer.weights, list(operands))).astype(np.int64)
    half = 1 << (hardware.accumulator_bits - 1)
    sums = (sums + half) % (2 * half) - half
    if layer.pool:
        sums = _pool(sums, layer.pool)
    scale = integer.scale
    biased = _with_bias(layer, sums, integer.bias)
    rounding = 1 << (scale.shift - 1) if scale.shift else 0
    return np.clip(biased * scale.factor + rounding >> scale.shift, scale.low, scale.high)


def _integer_host(
    integer: IntegerLayer, operands: list[Integers], hardware: Hardware, opset: int
) -> Integers:
    layer = integer.layer
    floats = [o.astype(np.float32) * np.float32(s) for o, s in zip(operands, integer.in_scales, strict=True)]
    return _rounded(host_layer(layer, floats, opset) / integer.out_scale, hardware.largest)


def host_layer(layer: Layer, operands: list[NDArray[Any]], opset: int) -> NDArray[Any]:
    """Return a layer of the host, by ONNX's reference evaluator."""
    if layer.node is None:
        raise AcceleratorError(f"layer without an operator: {layer.name}")
    feeds = dict(zip(layer.inputs, (o.astype(np.float32) for o in operands), strict=True))
    try:
        return run(
            _evaluator(layer.node.SerializeToString(), opset), layer.node, {**feeds, **layer.constants}
        )[layer.output]
    except OnnxError as error:
        raise AcceleratorError(f"layer of the host: {error}") from error


@lru_cache(maxsize=1024)
def _evaluator(content: bytes, opset: int) -> Any:
    return evaluator(NodeProto.FromString(content), opset)


def run_integer(integer: IntegerNetwork, hardware: Hardware) -> dict[str, Integers]:
    """Return all tensors of the network on its sample."""
    network = integer.network
    values: dict[str, Integers] = {network.input: integer.sample}
    for layer in integer.layers:
        operands = [values[name] for name in layer.layer.inputs]
        values[layer.layer.output] = integer_layer(layer, operands, hardware, network.opset)
    return values
