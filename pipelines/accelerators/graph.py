"""ONNX models as layers: products and additions for an accelerator, everything else for the host.

Batch normalisation and constant additions join the product before them; so do ReLU and Clip, as its
activation, and a maximum pool, which an accelerator may or may not take. So do products by constants that
give sums of integers their unit; other ones are the host's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, helper

from pipelines.accelerators.errors import AcceleratorError
from pipelines.onnx_models import (
    RECURRENT,
    OnnxError,
    OnnxModel,
    Shape,
    attributes_of,
    model_of,
    node_name,
    read_model,
)

LAYER_LIMIT = 4096
"""Layers of a network: the power model holds their neighbours as a matrix."""
ELEMENT_LIMIT = 1 << 29
"""Elements of a tensor; the output layer of a large language model has as many weights."""
POSITION_LIMIT = 1 << 22
"""Positions of a product, and sums and outputs of its weights: tiling lists them."""
HOST_OPERATORS = (
    *("AveragePool", "GlobalAveragePool", "MaxPool", "Softmax", "LayerNormalization", "Gelu", "Erf", "Tanh"),
    *("Sigmoid", "Relu", "Clip", "HardSwish", "HardSigmoid", "LeakyRelu", "Add", "Sub", "Mul", "Div", "Pow"),
    *("Sqrt", "ReduceMean", "Transpose", "Reshape", "Flatten", "Concat", "Identity", "Dropout", "Squeeze"),
    *("Unsqueeze", "Split", "Slice", "Gather", "BatchNormalization", "Pad", "Cast", "Where", "Expand"),
    *("Abs", "And", "ArgMax", "ArgMin", "CastLike", "Ceil", "Celu", "Cos", "CumSum", "DepthToSpace", "Elu"),
    *("Equal", "Exp", "Floor", "GatherElements", "GatherND", "GlobalMaxPool", "Greater", "GreaterOrEqual"),
    *("GroupNormalization", "InstanceNormalization", "LRN", "Less", "LessOrEqual", "Log", "LogSoftmax"),
    *("LpNormalization", "LpPool", "Max", "Mean", "Min", "Mish", "Mod", "Neg", "Not", "Or", "PRelu"),
    *("RMSNormalization", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceMax", "ReduceMin", "ReduceProd"),
    *("ReduceSum", "ReduceSumSquare", "Resize", "Round", "ScatterND", "Selu", "Sign", "Sin", "Softplus"),
    *("Softsign", "SpaceToDepth", "Sum", "Swish", "Tile", "TopK", "Trilu", "Upsample"),
)
PRODUCTS = ("Conv", "Gemm", "MatMul")
ACCEPTED = (*PRODUCTS, *RECURRENT, *HOST_OPERATORS)
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer of a network.

    Attributes:
        kind: conv, matmul, add, or host.
        inputs, output: names of tensors that are no constants.
        in_shapes, out_shape: of these.
        weight_shape: conv (outputs, inputs of a group, height, width), matmul (inputs, outputs); () without.
        weight, bias: constants; None where the model has no data, or there is none.
        strides, pads (top, left, bottom, right), groups: of a convolution.
        activation: relu, clip6 or none. pool: (height, width) of a maximum pool behind it.
        node: of a host layer, with its constants; kinds: operators that are in it.
        is_repeated: whether another layer has counted the weights.
        more_outputs: further tensors of a host layer that others read, with their shapes.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    output: str
    in_shapes: tuple[Shape, ...]
    out_shape: Shape
    weight_shape: Shape = ()
    weight: Floats | None = None
    bias: Floats | None = None
    has_bias: bool = False
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    groups: int = 1
    activation: str = "none"
    pool: tuple[int, int] | None = None
    node: NodeProto | None = None
    constants: Mapping[str, NDArray[Any]] = field(default_factory=dict[str, NDArray[Any]])
    kinds: tuple[str, ...] = ()
    is_repeated: bool = False
    more_outputs: Mapping[str, Shape] = field(default_factory=dict[str, Shape])

    @property
    def parameter_count(self) -> int:
        """Weights and biases."""
        if not self.weight_shape or self.is_repeated:
            return 0
        outputs = self.weight_shape[0] if self.kind == "conv" else self.weight_shape[1]
        return prod(self.weight_shape) + (outputs if self.has_bias else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network: layers in order of execution.

    Attributes:
        input: name and shape. more_inputs: of a network of several. outputs: names of tensors.
        notes: what was assumed about the model.
    """

    name: str
    input: str
    input_shape: Shape
    outputs: tuple[str, ...]
    layers: tuple[Layer, ...]
    opset: int = 20
    more_inputs: Mapping[str, Shape] = field(default_factory=dict[str, Shape])
    notes: tuple[str, ...] = ()

    @property
    def executed(self) -> Iterator[Layer]:
        """Every layer, and copies of it that give its further outputs."""
        for layer in self.layers:
            yield layer
            for name, shape in layer.more_outputs.items():
                yield replace(layer, output=name, out_shape=shape, more_outputs={})

    def require_one_input(self) -> None:
        """Check that the network runs on one tensor.

        Raises: AcceleratorError: it has several inputs.
        """
        if self.more_inputs:
            names = ", ".join((self.input, *self.more_inputs))
            raise AcceleratorError(
                f"{1 + len(self.more_inputs)} inputs: {names}; accepted with values of tensors: 1"
            )

    @property
    def parameter_count(self) -> int:
        """Weights and biases of all layers."""
        return sum(layer.parameter_count for layer in self.layers)


def read_network(
    path: Path, *, dimensions: Mapping[str, int] | None = None, has_data: bool = True
) -> Network:
    """Read the layers of an ONNX file.

    Args:   dimensions: sizes of symbolic dimensions; a batch without one is 1.
            has_data: whether values of weights are read; else layers have shapes alone.
    Raises: AcceleratorError: no such file, damaged, operators that are not supported (all are named), a
        dimension without a number.
    """
    model = read_model(
        path,
        error=AcceleratorError,
        accepted=ACCEPTED,
        has_data=has_data,
        dimensions=dimensions,
        is_unrolled=True,
    )
    try:
        return _Reader(model, path.stem).network()
    except (AcceleratorError, OnnxError) as error:
        raise AcceleratorError(f"{error} ({path})") from error


def network_of(model: onnx.ModelProto, name: str) -> Network:
    """Return the layers of a model; tensors without data have shapes alone.

    Raises: AcceleratorError: as `read_network`.
    """
    try:
        return _Reader(model_of(model, accepted=ACCEPTED, is_unrolled=True), name).network()
    except OnnxError as error:
        raise AcceleratorError(str(error)) from error


@dataclass(slots=True)
class _Reader:
    model: OnnxModel
    name: str
    layers: list[Layer] = field(default_factory=list[Layer])
    uses: Counter[str] = field(default_factory=Counter[str])

    def network(self) -> Network:
        model = self.model
        if not model.inputs:
            raise AcceleratorError("no inputs; accepted: 1 or more")
        inputs = {name: self._shape(name) for name in model.inputs}
        self.uses.update(tensor for node in model.nodes for tensor in node.input)
        self.uses.update(model.outputs)
        for node in model.nodes:
            self._add(node)
            if len(self.layers) > LAYER_LIMIT:
                raise AcceleratorError(f"more than {LAYER_LIMIT} layers; accepted: {LAYER_LIMIT} at most")
        first, *others = inputs
        return Network(
            name=self.name,
            input=first,
            input_shape=inputs[first],
            more_inputs={name: inputs[name] for name in others},
            outputs=model.outputs,
            layers=tuple(self.layers),
            opset=model.opset,
            notes=model.notes,
        )

    def _shape(self, name: str) -> Shape:
        shape = self.model.shape(name)
        if any(size <= 0 for size in shape) or prod(shape) > ELEMENT_LIMIT:
            raise AcceleratorError(f"tensor {name} of shape {shape}; accepted: 1 to {ELEMENT_LIMIT} elements")
        return shape

    # ---- layers ------------------------------------------------------------------------------------

    def _add(self, node: NodeProto) -> None:
        dynamic = tuple(name for name in node.input if name and name not in self.model.constants)
        if not dynamic:
            raise AcceleratorError(
                f"{node.op_type} (node {node_name(node)}) has no input; accepted: operators on tensors"
            )
        if self._joins(node, dynamic):
            return
        if node.op_type == "Conv":
            self._add_conv(node, dynamic)
        elif node.op_type in ("Gemm", "MatMul"):
            self.layers.append(self._matmul(node, self._base(node, dynamic)))
        elif node.op_type == "Add" and len(dynamic) == 2 and len(set(map(self._shape, dynamic))) == 1:
            self.layers.append(Layer(kind="add", **self._base(node, dynamic)))
        else:
            self.layers.append(self._host(node, dynamic))

    def _base(self, node: NodeProto, dynamic: tuple[str, ...]) -> dict[str, Any]:
        return {
            "name": node_name(node),
            "inputs": dynamic,
            "output": node.output[0],
            "in_shapes": tuple(map(self._shape, dynamic)),
            "out_shape": self._shape(node.output[0]),
            "kinds": (node.op_type,),
        }

    def _host(self, node: NodeProto, dynamic: tuple[str, ...]) -> Layer:
        values = self.model.values
        return Layer(
            kind="host",
            node=node,
            constants={name: values[name] for name in node.input if name in values},
            more_outputs={name: self._shape(name) for name in node.output[1:] if self.uses[name]},
            **self._base(node, dynamic),
        )

    def _add_conv(self, node: NodeProto, dynamic: tuple[str, ...]) -> None:
        """Add a convolution; one of signals is one of images of a single line."""
        if dynamic != (node.input[0],):
            raise self._refused(node, "computed weights", "constant ones")
        conv = self._conv(node, self._base(node, dynamic))
        if len(conv.out_shape) == 4:
            self.layers.append(conv)
            return
        image, result = (f"{conv.output}:{place}" for place in ("image", "lines"))
        (wide,), full = conv.in_shapes, conv.out_shape
        self.layers += [
            self._reshape(f"{conv.name}:image", (conv.inputs[0], wide), (image, (*wide[:2], 1, *wide[2:]))),
            replace(
                conv,
                inputs=(image,),
                in_shapes=((*wide[:2], 1, *wide[2:]),),
                output=result,
                out_shape=(*full[:2], 1, *full[2:]),
            ),
            self._reshape(f"{conv.name}:lines", (result, (*full[:2], 1, *full[2:])), (conv.output, full)),
        ]

    def _reshape(self, name: str, before: tuple[str, Shape], after: tuple[str, Shape]) -> Layer:
        sizes = f"{after[0]}:sizes"
        return Layer(
            name=name,
            kind="host",
            inputs=(before[0],),
            output=after[0],
            in_shapes=(before[1],),
            out_shape=after[1],
            node=helper.make_node("Reshape", [before[0], sizes], [after[0]], name=name),
            constants={sizes: np.array(after[1], np.int64)},
            kinds=("Reshape",),
        )

    def _refused(self, node: NodeProto, what: str, accepted: str) -> AcceleratorError:
        return AcceleratorError(f"{node.op_type} (node {node_name(node)}) with {what}; accepted: {accepted}")

    def _conv(self, node: NodeProto, base: dict[str, Any]) -> Layer:
        attributes = attributes_of(node)
        shape, image = self.model.shape(node.input[1]), base["in_shapes"][0]
        groups = int(attributes.get("group", 1))
        if len(shape) not in (3, 4) or any(d != 1 for d in attributes.get("dilations", ())):
            accepted = "1 or 2 dimensions, no dilation"
            raise self._refused(node, f"weights {shape}, {attributes.get('dilations', 1)}", accepted)
        if shape[1] * groups != image[1] or shape[0] % groups:
            raise self._refused(
                node,
                f"{groups} groups, {image[1]} channels and weights {shape}",
                "groups that divide channels and outputs",
            )
        strides = tuple(attributes.get("strides", (1,) * (len(shape) - 2)))
        pads = _pads(attributes, image[2:], shape[2:], strides)
        padded = [size + before + after for size, before, after in zip(image[2:], *pads, strict=True)]
        if min(map(min, pads)) < 0 or image[1] * prod(padded) > ELEMENT_LIMIT:
            raise self._refused(
                node, f"pads {(*pads[0], *pads[1])}", f"0 or more, up to {ELEMENT_LIMIT} elements"
            )
        self._require_tiles(node, prod(base["out_shape"][2:]), prod(shape[1:]), shape[0])
        bias = node.input[2] if len(node.input) > 2 else ""
        weight = self.model.values.get(node.input[1])
        if len(shape) == 3:
            shape, weight = (*shape[:2], 1, shape[2]), None if weight is None else weight[:, :, None]
            strides, pads = (1, *strides), ((0, *pads[0]), (0, *pads[1]))
        return Layer(
            kind="conv",
            weight_shape=shape,
            weight=weight,
            bias=self.model.values.get(bias),
            has_bias=bool(bias),
            strides=(strides[0], strides[1]),
            pads=(pads[0][0], pads[0][1], pads[1][0], pads[1][1]),
            groups=groups,
            **base,
        )

    def _require_tiles(self, node: NodeProto, positions: int, depth: int, outputs: int) -> None:
        if max(positions, depth, outputs) > POSITION_LIMIT or depth * outputs > ELEMENT_LIMIT:
            raise self._refused(
                node,
                f"{positions} positions, {depth} products of each, {outputs} outputs",
                f"{POSITION_LIMIT} each at most, and {ELEMENT_LIMIT} weights",
            )

    def _matmul(self, node: NodeProto, base: dict[str, Any]) -> Layer:
        attributes, constants = attributes_of(node), self.model.constants
        if not constants.intersection(node.input[:2]):
            if attributes.get("transA", 0) or len(base["inputs"]) > 2:
                raise self._refused(node, "computed bias or transA", "two computed operands")
            shape, result = base["in_shapes"][0], base["out_shape"]
            positions = shape[-2] if len(shape) > 1 else 1
            self._require_tiles(node, positions, shape[-1], result[-1] if result else 1)
            return Layer(kind="matmul", **base)
        if base["inputs"] != (node.input[0],) or attributes.get("transA", 0):
            raise self._refused(node, "computed second operand, bias or transA", "constant ones, transB")
        weight, transposed = node.input[1], bool(attributes.get("transB", 0))
        shape = self.model.shape(weight)
        if len(shape) != 2:
            raise self._refused(node, f"weights {shape}", "2 dimensions")
        shape = shape[::-1] if transposed else shape
        self._require_tiles(node, prod(base["in_shapes"][0][:-1]), *shape)
        values = self.model.values.get(weight)
        values = values.T if transposed and values is not None else values
        bias = node.input[2] if len(node.input) > 2 else ""
        return Layer(
            kind="matmul",
            weight_shape=shape,
            weight=_scaled(values, attributes.get("alpha", 1.0)),
            bias=_scaled(self._bias(node, bias, shape[1]), attributes.get("beta", 1.0)),
            has_bias=bool(bias),
            is_repeated=node.output[0] in self.model.repeated,
            **base,
        )

    def _bias(self, node: NodeProto, name: str, outputs: int) -> Floats | None:
        values = self.model.values.get(name)
        if not name or values is None:
            return None
        if values.size not in (1, outputs):
            raise self._refused(node, f"bias {values.shape}", f"1 or {outputs} numbers")
        return np.array(np.broadcast_to(values.reshape(-1), (outputs,)))

    # ---- what joins the product before it ----------------------------------------------------------

    def _joins(self, node: NodeProto, dynamic: Sequence[str]) -> bool:
        before = self.layers[-1] if self.layers else None
        if before is None or len(dynamic) != 1 or before.output != dynamic[0] or before.kind == "host":
            return False
        if self.uses[before.output] > 1 or before.pool:
            return False
        joined = self._joined(node, before)
        if joined is None:
            return False
        kinds = (*before.kinds, node.op_type)
        out_shape = self._shape(node.output[0])
        self.layers[-1] = replace(joined, output=node.output[0], out_shape=out_shape, kinds=kinds)
        return True

    def _joined(self, node: NodeProto, before: Layer) -> Layer | None:
        attributes = attributes_of(node)
        is_plain = before.activation == "none"
        if node.op_type == "Relu" and is_plain:
            return replace(before, activation="relu")
        if node.op_type == "Clip" and is_plain and self._bounds(node) == (0.0, 6.0):
            return replace(before, activation="clip6")
        if node.op_type == "BatchNormalization" and before.kind == "conv" and is_plain:
            return self._normalised(node, before, attributes)
        if node.output[0] in self.model.rescaled and before.weight_shape and is_plain:
            return self._rescaled(node, before)
        if node.op_type == "Add" and before.kind == "matmul" and before.weight_shape and is_plain:
            return self._with_bias(node, before)
        if node.op_type == "MaxPool" and before.kind == "conv" and not any(node.output[1:]):
            return _pooled(before, attributes)
        return None

    def _bounds(self, node: NodeProto) -> tuple[float, ...]:
        """Lower and upper bound of a Clip; one of opset 10 and below is the host's."""
        values = (self.model.values.get(name) for name in node.input[1:])
        return tuple(float(value.reshape(-1)[0]) for value in values if value is not None and value.size == 1)

    def _with_bias(self, node: NodeProto, before: Layer) -> Layer | None:
        [name] = [name for name in node.input if name != before.output] or [""]
        if self.model.shapes.get(name) != (before.weight_shape[1],) or before.has_bias:
            return None
        return replace(before, bias=self.model.values.get(name), has_bias=True)

    def _rescaled(self, node: NodeProto, before: Layer) -> Layer | None:
        """Add a factor or an offset to a layer's integer sums, one number or one per output."""
        [name] = [name for name in node.input if name != before.output] or [""]
        outputs = before.weight_shape[0 if before.kind == "conv" else 1]
        shape = self.model.shape(name)
        behind = len(before.out_shape) - 2 if before.kind == "conv" else 0
        place = len(shape) - 1 - behind
        is_vector = 0 <= place < len(shape) and prod(shape) == outputs == shape[place]
        if prod(shape) != 1 and not is_vector:
            return None
        values = self.model.values.get(name)
        if values is not None:
            values = np.broadcast_to(values.reshape(-1), (outputs,)).astype(np.float32)
        bias = before.bias
        if node.op_type == "Add":
            if values is not None and bias is not None:
                values = values + bias
            return replace(before, bias=values, has_bias=True)
        if values is None or before.weight is None:
            return before
        along = values[:, None, None, None] if before.kind == "conv" else values
        return replace(before, weight=before.weight * along, bias=None if bias is None else bias * values)

    def _normalised(self, node: NodeProto, before: Layer, attributes: Mapping[str, Any]) -> Layer:
        values = self.model.values
        if before.weight is None or not all(name in values for name in node.input[1:5]):
            return replace(before, has_bias=True)
        scale, shift, mean, variance = (values[name] for name in node.input[1:5])
        factor = scale / np.sqrt(variance + attributes.get("epsilon", 1e-5))
        bias = (0.0 if before.bias is None else before.bias) * factor + shift - mean * factor
        weight = before.weight * factor[:, None, None, None]
        return replace(before, weight=weight.astype(np.float32), bias=bias.astype(np.float32), has_bias=True)


def _scaled(values: Floats | None, factor: float) -> Floats | None:
    return values if values is None or factor == 1.0 else (values * factor).astype(np.float32)


def _pads(
    attributes: Mapping[str, Any], image: Shape, kernel: Shape, strides: Shape
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return zeros before and behind every dimension of an image."""
    kind = attributes.get("auto_pad", b"NOTSET")
    rank = len(image)
    if kind in (b"SAME_UPPER", b"SAME_LOWER"):
        whole = [
            max((-(-size // step) - 1) * step + taps - size, 0)
            for size, taps, step in zip(image, kernel, strides, strict=True)
        ]
        less = tuple(pad // 2 for pad in whole)
        more = tuple(pad - half for pad, half in zip(whole, less, strict=True))
        return (less, more) if kind == b"SAME_UPPER" else (more, less)
    pads = (0,) * 2 * rank if kind == b"VALID" else tuple(attributes.get("pads", (0,) * 2 * rank))
    return pads[:rank], pads[rank:]


def _pooled(before: Layer, attributes: Mapping[str, Any]) -> Layer | None:
    """Add a pool of windows that do not overlap and are not padded, or return None."""
    window = tuple(attributes.get("kernel_shape", ()))
    if len(window) != 2 or tuple(attributes.get("strides", (1, 1))) != window:
        return None
    if any(attributes.get("pads", ())) or attributes.get("ceil_mode", 0):
        return None
    return replace(before, pool=(int(window[0]), int(window[1])))
