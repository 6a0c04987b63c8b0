"""Networks in hls4ml's network description, and hls4ml configurations that steer a pipeline.

The layer list is built from `Network`: hls4ml's own reader of ONNX expects files that another package
changed to channels last. Images are channels last in hls4ml, so values behind them have another order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.fixed.tracing import (
    BITS,
    FRACTION,
    INTEGER,
    SIGN,
    VIEWS,
    fixed_values,
    wired_places,
)
from pipelines.accelerators.graph import Layer, Network, Shape
from pipelines.base.files import read_yaml
from pipelines.base.validation import describe_invalid

FORMAT = f"ap_fixed<{BITS},{SIGN + INTEGER},AP_TRN,AP_WRAP,0>"
_PRODUCT_FRACTION = 2 * FRACTION
_TOP, _INPUT = "network", "inputs"
_FORMAT_PATTERN = re.compile(
    rf"(ap_)?fixed<{BITS},{SIGN + INTEGER}(,(AP_)?TRN(,(AP_)?WRAP(,0)?)?)?>", re.IGNORECASE
)
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A network as hls4ml holds it.

    Attributes:
        graph: hls4ml's `ModelGraph`, which writes C++ of a function `network`.
        input_order, output_order: place in our order of every number in hls4ml's.
    """

    graph: Any
    input_order: NDArray[np.int64]
    output_order: NDArray[np.int64]

    def layers(self) -> list[Entry]:
        """Return every layer in plain words: formats of the numbers, and how often its units are shared."""
        return [_plain(layer) for layer in self.graph.get_layers()]


def describe_network(
    network: Network, *, reuse_factor: int = 1, strategy: str = "latency", folder: Path | None = None
) -> Description:
    """Describe a network with data; results of layers have the pipeline's format, accumulators are exact.

    Args:   folder: of the C++ project when one is to be written.
    Raises: AcceleratorError: a layer that is not described here, or no hls4ml.
    """
    try:
        create_config = import_module("hls4ml.utils.config").create_config
        model_graph = import_module("hls4ml.model").ModelGraph
    except ImportError as error:
        raise AcceleratorError("hls4ml is not installed; pip install 'simfoundry[fixed]'") from error
    entries = _Entries(input_name=network.input, opset=network.opset)
    entries.add_input(network.input_shape)
    for layer in network.layers:
        entries.add(layer)
    config = create_config(
        output_dir=str(folder or ""), project_name=_TOP, backend="Vivado", io_type="io_parallel"
    )
    config["HLSConfig"] = {
        "Model": {"Precision": FORMAT, "ReuseFactor": reuse_factor, "Strategy": strategy},
        "LayerName": {name: {"Precision": kinds} for name, kinds in entries.precisions.items()},
    }
    config["WriterConfig"]["WriteWeightsTxt"] = False
    output = entries.names[network.outputs[0]]
    graph = model_graph.from_layer_list(config, entries.entries, [_INPUT], [output])
    return Description(
        graph=graph,
        input_order=entries.orders[network.input],
        output_order=entries.orders[network.outputs[0]],
    )


@dataclass(slots=True)
class _Entries:
    """hls4ml's layer list so far. names, orders: of the tensors of our network."""

    input_name: str
    opset: int
    entries: list[Entry] = field(default_factory=list[Entry])
    precisions: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    names: dict[str, str] = field(default_factory=dict[str, str])
    orders: dict[str, NDArray[np.int64]] = field(default_factory=dict[str, NDArray[np.int64]])

    def add_input(self, shape: Shape) -> None:
        self.entries.append({"name": _INPUT, "class_name": "InputLayer", "input_shape": _last(shape)})
        self.names[self.input_name], self.orders[self.input_name] = _INPUT, _order(shape)

    def add(self, layer: Layer) -> None:
        kind = layer.kinds[0]
        if layer.kind == "host" and kind in VIEWS:
            self._view(layer)
            return
        if layer.activation not in ("none", "relu"):
            raise AcceleratorError(f"not described to hls4ml: activation {layer.activation} ({layer.name})")
        name = f"layer{len(self.names)}"
        parts = self._parts(layer, kind)
        for place, (part, terms) in enumerate(parts):
            is_last = place + 1 == len(parts) or parts[place + 1][0]["class_name"] == "MaxPooling2D"
            part_name = name if place == 0 else f"{name}_{part['class_name'].lower()}"
            inputs = [self.names[x] for x in layer.inputs] if place == 0 else [self.entries[-1]["name"]]
            self.entries.append({"name": part_name, "inputs": inputs, **part})
            self.precisions[part_name] = {
                **({"accum": _exact(terms)} if terms else {}),
                "result": _exact(terms) if terms and not is_last else FORMAT,
            }
        self.names[layer.output] = self.entries[-1]["name"]
        self.orders[layer.output] = _order(layer.out_shape)

    def _view(self, layer: Layer) -> None:
        """Keep the order of flat numbers; hls4ml needs no layer for another shape."""
        (shape,) = layer.in_shapes
        if len(layer.out_shape) == 4 and layer.out_shape != shape:
            raise AcceleratorError(f"not described to hls4ml: {layer.kinds[0]} to an image ({layer.name})")
        self.orders[layer.output] = self.orders[layer.inputs[0]]
        name = self.names[layer.inputs[0]]
        if len(layer.out_shape) != len(shape):
            target = [prod(layer.out_shape)]
            view = {"class_name": "Reshape", "target_shape": target, "inputs": [name]}
            name = f"view{len(self.names)}"
            self.entries.append({"name": name, **view})
        self.names[layer.output] = name

    def _parts(self, layer: Layer, kind: str) -> list[tuple[Entry, int]]:
        """Return the entries of a layer, and of each how many products or numbers it adds."""
        parts: list[tuple[Entry, int]]
        if layer.kind == "host" and kind == "Slice":
            return self._slice(layer)
        if layer.kind == "add":
            self._require_order(layer, self.orders[layer.inputs[0]])
            parts = [({"class_name": "Merge", "op": "add"}, 2)]
        elif layer.kind == "conv":
            parts = [_convolution(layer)]
        elif layer.kind == "matmul" and layer.weight is not None:
            parts = [self._dense(layer)]
        elif kind == "GlobalAveragePool":
            parts = [(_global_average(layer), prod(layer.in_shapes[0][2:]))]
        elif layer.kind == "host" and kind == "Relu":
            return [(_relu(layer.out_shape), 0)]
        else:
            raise AcceleratorError(f"not described to hls4ml: {kind} ({layer.name})")
        if layer.activation == "relu":
            parts.append((_relu(parts[0][0].get("result_shape", layer.out_shape)), 0))
        if layer.pool and layer.kind != "conv":
            raise AcceleratorError(f"not described to hls4ml: MaxPool behind {kind} ({layer.name})")
        if layer.pool:
            parts.append((_pool(layer, layer.pool, parts[0][0]), 0))
        return parts

    def _slice(self, layer: Layer) -> list[tuple[Entry, int]]:
        places = wired_places(layer, self.opset)
        first, count, size = int(places[0]), len(places), prod(layer.in_shapes[0])
        self._require_order(layer, np.arange(size))
        if (places != np.arange(first, first + count)).any():
            raise AcceleratorError(f"not described to hls4ml: Slice with steps ({layer.name})")
        width = {"in_width": size, "out_width": count, "n_chan": 1}
        crop = {"crop_left": first, "crop_right": size - first - count}
        return [
            ({"class_name": "Cropping1D", **width, **crop}, 0),
            ({"class_name": "Reshape", "target_shape": [count]}, 0),
        ]

    def _require_order(self, layer: Layer, order: NDArray[np.int64]) -> None:
        """Refuse a layer on numbers in several orders, for which it has no form."""
        if not all(np.array_equal(self.orders[name], order) for name in layer.inputs):
            raise AcceleratorError(
                f"not described to hls4ml: {layer.kinds[0]} of a flattened image ({layer.name})"
            )

    def _dense(self, layer: Layer) -> tuple[Entry, int]:
        inputs, outputs = layer.weight_shape
        if prod(layer.in_shapes[0]) != inputs:
            raise AcceleratorError(
                f"not described to hls4ml: a product of {layer.in_shapes[0]} ({layer.name})"
            )
        weight = fixed_values(_data(layer))[self.orders[layer.inputs[0]]]
        entry = {"class_name": "Dense", "n_in": inputs, "n_out": outputs, "weight_data": weight}
        return {**entry, **_bias(layer, outputs)}, inputs + 1


def _order(shape: Shape) -> NDArray[np.int64]:
    """Return our place of every number when images are flattened with channels last."""
    places = np.arange(prod(shape)).reshape(shape)
    return (places.transpose(0, 2, 3, 1) if len(shape) == 4 else places).reshape(-1)


def _last(shape: Shape) -> list[int]:
    """Return a shape without the batch, channels last."""
    return [*shape[2:], shape[1]]


def _exact(terms: int) -> str:
    """Return a format that holds a sum of products of two numbers."""
    integer = (terms << 2 * INTEGER).bit_length() + SIGN
    return f"ap_fixed<{integer + _PRODUCT_FRACTION},{integer},AP_TRN,AP_WRAP,0>"


def _data(layer: Layer) -> NDArray[np.float32]:
    if layer.weight is None:
        raise AcceleratorError(f"layer {layer.name} has no data")
    return layer.weight


def _bias(layer: Layer, outputs: int) -> Entry:
    values = np.zeros(outputs) if layer.bias is None else fixed_values(layer.bias)
    return {"bias_data": values, "use_bias": True}


def _relu(shape: Shape) -> Entry:
    return {"class_name": "Activation", "activation": "relu", "n_in": prod(shape)}


def _convolution(layer: Layer) -> tuple[Entry, int]:
    outputs, per_group, high, wide = layer.weight_shape
    _, channels, in_high, in_wide = layer.in_shapes[0]
    is_depthwise = layer.groups == channels == outputs and channels > 1
    if layer.groups != 1 and not is_depthwise:
        raise AcceleratorError(f"not described to hls4ml: {layer.groups} groups ({layer.name})")
    top, left, bottom, right = layer.pads
    out_high = (in_high + top + bottom - high) // layer.strides[0] + 1
    out_wide = (in_wide + left + right - wide) // layer.strides[1] + 1
    weight = fixed_values(_data(layer)).transpose((2, 3, 0, 1) if is_depthwise else (2, 3, 1, 0))
    entry = {
        "class_name": "DepthwiseConv2D" if is_depthwise else "Conv2D",
        "data_format": "channels_last",
        **{"in_height": in_high, "in_width": in_wide, "n_chan": channels, "n_filt": outputs},
        **{"out_height": out_high, "out_width": out_wide, "filt_height": high, "filt_width": wide},
        **{"stride_height": layer.strides[0], "stride_width": layer.strides[1]},
        **{"pad_top": top, "pad_bottom": bottom, "pad_left": left, "pad_right": right},
        **({"depthwise_data": weight} if is_depthwise else {}),
        "weight_data": weight,
        "result_shape": (1, outputs, out_high, out_wide),
    }
    return {**entry, **_bias(layer, outputs)}, per_group * high * wide + 1


def _pool(layer: Layer, window: tuple[int, int], convolution: Entry) -> Entry:
    _, channels, high, wide = layer.out_shape
    return {
        "class_name": "MaxPooling2D",
        "data_format": "channels_last",
        **{"in_height": convolution["out_height"], "in_width": convolution["out_width"]},
        **{"out_height": high, "out_width": wide, "n_filt": channels},
        **{"pool_height": window[0], "pool_width": window[1]},
        **{"stride_height": window[0], "stride_width": window[1]},
        **{"pad_top": 0, "pad_bottom": 0, "pad_left": 0, "pad_right": 0},
    }


def _global_average(layer: Layer) -> Entry:
    _, channels, high, wide = layer.in_shapes[0]
    return {
        "class_name": "GlobalAveragePooling2D",
        "data_format": "channels_last",
        **{"in_height": high, "in_width": wide, "n_filt": channels},
    }


def _plain(layer: Any) -> Entry:
    result = layer.get_output_variable()
    weights = layer.weights
    products = weights["weight"].data_length if "weight" in weights else 0
    if "Conv" in layer.class_name:
        products *= layer.get_attr("out_height") * layer.get_attr("out_width")
    accumulator = layer.get_attr("accum_t")
    return {
        "name": layer.name,
        "class": layer.class_name,
        "inputs": list(layer.inputs) if layer.class_name != "Input" else [],
        "shape": list(result.shape),
        "result": str(result.type.precision),
        "accumulator": str(accumulator.precision) if accumulator is not None else None,
        **{name: str(variable.type.precision) for name, variable in sorted(weights.items())},
        "reuse_factor": layer.get_attr("reuse_factor"),
        "strategy": layer.get_attr("strategy"),
        "products": products,
    }


# ---- configurations of hls4ml ------------------------------------------------------------------------


class _Settings(BaseModel):
    """Settings of the model, a layer or a kind of layers; traces and block memories have no meaning here."""

    model_config = ConfigDict(extra="forbid")

    Precision: str | dict[str, str] = FORMAT
    ReuseFactor: int | None = Field(default=None, ge=1, le=64)
    Strategy: str | None = None
    Trace: bool = False
    TraceOutput: bool = False
    BramFactor: int = 0


class _HlsConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    Model: _Settings = _Settings()
    LayerName: dict[str, _Settings] = {}
    LayerType: dict[str, _Settings] = {}


class _Configuration(BaseModel):
    """What of a configuration concerns the pipeline; other keys name files and the vendor's tools."""

    model_config = ConfigDict(extra="ignore")

    IOType: Literal["io_parallel"] = "io_parallel"
    HLSConfig: _HlsConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class HlsConfiguration:
    """What a configuration of hls4ml says about a pipeline."""

    reuse_factor: int = 1
    strategy: str = "latency"


def read_configuration(path: Path) -> HlsConfiguration:
    """Read the configuration in a YAML file of hls4ml.

    Raises: AcceleratorError: no such file, not YAML, or something that a pipeline cannot do.
    """
    content = read_yaml(path, what="configuration", error=AcceleratorError)
    try:
        settings = _Configuration.model_validate(content).HLSConfig
    except ValidationError as error:
        raise AcceleratorError(describe_invalid(error, _Configuration, path)) from error
    try:
        return _checked(settings)
    except AcceleratorError as error:
        raise AcceleratorError(f"{error} ({path})") from None


def _checked(settings: _HlsConfig) -> HlsConfiguration:
    factor = settings.Model.ReuseFactor or 1
    strategy = (settings.Model.Strategy or "latency").lower()
    accepted = (
        ("latency",) if factor > 1 else ("latency", "distributed_arithmetic")
    )  # others round the factor
    if strategy not in accepted:
        raise AcceleratorError(
            f"HLSConfig.Model.Strategy: {settings.Model.Strategy}; accepted with reuse factor {factor}: "
            f"{', '.join(accepted)}"
        )
    _check_precision("HLSConfig.Model", settings.Model)
    for kind, layers in (("LayerName", settings.LayerName), ("LayerType", settings.LayerType)):
        for name, layer in layers.items():
            place = f"HLSConfig.{kind}.{name}"
            if layer.ReuseFactor not in (None, factor):
                raise AcceleratorError(
                    f"{place}.ReuseFactor: {layer.ReuseFactor}; accepted: the model's, {factor}"
                )
            if layer.Strategy is not None and layer.Strategy.lower() != strategy:
                raise AcceleratorError(
                    f"{place}.Strategy: {layer.Strategy}; accepted: the model's, {strategy}"
                )
            _check_precision(place, layer)
    return HlsConfiguration(reuse_factor=factor, strategy=strategy)


def _check_precision(place: str, settings: _Settings) -> None:
    """Require the pipelines' format everywhere; accumulators are exact, so `auto`."""
    formats = {"": settings.Precision} if isinstance(settings.Precision, str) else settings.Precision
    for name, text in formats.items():
        if name == "accum" and text == "auto":
            continue
        if name == "accum" or not _FORMAT_PATTERN.fullmatch(text.replace(" ", "")):
            accepted = "auto: sums are exact" if name == "accum" else f"ap_fixed<{BITS},{SIGN + INTEGER}>"
            where = ".".join(part for part in (place, "Precision", name) if part)
            raise AcceleratorError(f"{where}: {text}; accepted: {accepted}")
