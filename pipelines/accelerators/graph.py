"""ONNX models as layers: products and additions for an accelerator, everything else for the host.

Batch normalisation and constant additions join the product before them; so do ReLU and Clip, as its
activation, and a maximum pool, which an accelerator may or may not take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper, shape_inference

from pipelines.accelerators.errors import AcceleratorError
from pipelines.files import read_bounded

FILE_LIMIT_BYTES = 1 << 30
NODE_LIMIT = 20_000
HOST_OPERATORS = (
    *("AveragePool", "GlobalAveragePool", "MaxPool", "Softmax", "LayerNormalization", "Gelu", "Erf", "Tanh"),
    *("Sigmoid", "Relu", "Clip", "HardSwish", "HardSigmoid", "LeakyRelu", "Add", "Sub", "Mul", "Div", "Pow"),
    *("Sqrt", "ReduceMean", "Transpose", "Reshape", "Flatten", "Concat", "Identity", "Dropout", "Squeeze"),
    *("Unsqueeze", "Split", "Slice", "Gather", "BatchNormalization", "Pad", "Cast", "Where", "Expand"),
)
PRODUCTS = ("Conv", "Gemm", "MatMul")
ACCEPTED = tuple(sorted({*PRODUCTS, *HOST_OPERATORS, "Constant"}))
Floats = NDArray[np.float32]
Shape = tuple[int, ...]


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

    @property
    def parameter_count(self) -> int:
        """Weights and biases."""
        if not self.weight_shape:
            return 0
        outputs = self.weight_shape[0] if self.kind == "conv" else self.weight_shape[1]
        return prod(self.weight_shape) + (outputs if self.has_bias else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network: layers in order of execution.

    Attributes: input: name and shape; outputs: names of tensors.
    """

    name: str
    input: str
    input_shape: Shape
    outputs: tuple[str, ...]
    layers: tuple[Layer, ...]
    opset: int = 20

    @property
    def parameter_count(self) -> int:
        """Weights and biases of all layers."""
        return sum(layer.parameter_count for layer in self.layers)


def read_network(path: Path) -> Network:
    """The layers of an ONNX file.

    Raises: AcceleratorError: no such file, damaged, operators that are not supported (all are named), a
        dimension
        without a number.
    """
    content = read_bounded(path, what="ONNX model", most_bytes=FILE_LIMIT_BYTES, error=AcceleratorError)
    try:
        return network_of(onnx.load_model_from_string(content), path.stem)
    except DecodeError as error:
        raise AcceleratorError(f"damaged ONNX model: it cannot be decoded ({path})") from error
    except AcceleratorError as error:
        raise AcceleratorError(f"{error} ({path})") from error


def network_of(model: onnx.ModelProto, name: str) -> Network:
    """The layers of a model; tensors without data have shapes alone."""
    return _Reader(model, name).network()


@dataclass(slots=True)
class _Reader:
    model: onnx.ModelProto
    name: str
    data: dict[str, NDArray[Any]] = field(default_factory=dict[str, NDArray[Any]])
    shapes: dict[str, Shape] = field(default_factory=dict[str, Shape])
    layers: list[Layer] = field(default_factory=list[Layer])
    uses: Counter[str] = field(default_factory=Counter[str])

    def network(self) -> Network:
        graph = self.model.graph
        self._require()
        self._read_constants()
        inputs = [value for value in graph.input if value.name not in self.shapes]
        if len(inputs) != 1:
            names = ", ".join(value.name for value in inputs) or "none"
            raise AcceleratorError(f"{len(inputs)} inputs: {names}; accepted: 1")
        self._infer(inputs[0])
        self.uses.update(tensor for node in graph.node for tensor in node.input)
        self.uses.update(value.name for value in graph.output)
        for node in graph.node:
            if node.op_type != "Constant":
                self._add(node)
        opset = max((entry.version for entry in self.model.opset_import if not entry.domain), default=20)
        return Network(
            name=self.name,
            input=inputs[0].name,
            input_shape=self.shapes[inputs[0].name],
            outputs=tuple(value.name for value in graph.output),
            layers=tuple(self.layers),
            opset=opset,
        )

    def _require(self) -> None:
        nodes = self.model.graph.node
        if not 0 < len(nodes) <= NODE_LIMIT:
            raise AcceleratorError(f"{len(nodes)} operators; accepted: 1 to {NODE_LIMIT}")
        alien = sorted({node.op_type for node in nodes} - set(ACCEPTED))
        if alien:
            raise AcceleratorError(
                f"operators not supported: {', '.join(alien)}; accepted: {', '.join(ACCEPTED)}"
            )

    def _read_constants(self) -> None:
        for tensor in self.model.graph.initializer:
            self.shapes[tensor.name] = tuple(tensor.dims)
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                self.data[tensor.name] = numpy_helper.to_array(tensor)
        for node in self.model.graph.node:
            if node.op_type == "Constant":
                [value] = [a for a in node.attribute if a.name == "value"] or [None]
                if value is None:
                    raise AcceleratorError(f"constant without a tensor: {node.output[0]}")
                self.data[node.output[0]] = numpy_helper.to_array(value.t)
                self.shapes[node.output[0]] = self.data[node.output[0]].shape

    def _infer(self, value: onnx.ValueInfoProto) -> None:
        """Shapes of all tensors; a first dimension of the input without a number is 1."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        [copied] = [v for v in model.graph.input if v.name == value.name]
        dimensions = copied.type.tensor_type.shape.dim
        if dimensions and not dimensions[0].HasField("dim_value"):
            dimensions[0].dim_value = 1
        try:
            known = shape_inference.infer_shapes(model, data_prop=True, strict_mode=True).graph
        except shape_inference.InferenceError as error:
            reason = " ".join(str(error).split())[:200]
            raise AcceleratorError(f"shapes do not fit: {reason}") from error
        for entry in (*known.input, *known.value_info, *known.output):
            sizes = [d.dim_value for d in entry.type.tensor_type.shape.dim]
            if any(size <= 0 for size in sizes):
                raise AcceleratorError(f"dimension without a number: {entry.name}; accepted: fixed shapes")
            self.shapes[entry.name] = tuple(sizes)

    # ---- layers ------------------------------------------------------------------------------------

    def _add(self, node: NodeProto) -> None:
        dynamic = tuple(
            name for name in node.input if name and name not in self.data and not self._is_bare(name)
        )
        if not dynamic:
            raise AcceleratorError(f"operator of constants: {node.op_type} ({node.output[0]}); fold it first")
        if self._joins(node, dynamic):
            return
        base: dict[str, Any] = {
            "name": node.name or node.output[0],
            "inputs": dynamic,
            "output": node.output[0],
            "in_shapes": tuple(self.shapes[name] for name in dynamic),
            "out_shape": self.shapes[node.output[0]],
            "kinds": (node.op_type,),
        }
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Conv":
            self.layers.append(self._conv(node, attributes, base))
        elif node.op_type in ("Gemm", "MatMul"):
            self.layers.append(self._matmul(node, attributes, base))
        elif node.op_type == "Add" and len(dynamic) == 2 and len(set(base["in_shapes"])) == 1:
            self.layers.append(Layer(kind="add", **base))
        else:
            constants = {name: self.data[name] for name in node.input if name in self.data}
            self.layers.append(Layer(kind="host", node=node, constants=constants, **base))

    def _is_bare(self, name: str) -> bool:
        """Whether a tensor is an initializer without data."""
        return name in self.shapes and any(t.name == name for t in self.model.graph.initializer)

    def _conv(self, node: NodeProto, attributes: Mapping[str, Any], base: dict[str, Any]) -> Layer:
        weight = node.input[1]
        if len(self.shapes[weight]) != 4 or any(d != 1 for d in attributes.get("dilations", (1, 1))):
            raise AcceleratorError(
                f"convolution {base['name']}: {self.shapes[weight]}; accepted: 2 dimensions, no dilation"
            )
        if attributes.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
            raise AcceleratorError(f"automatic padding of {base['name']}; accepted: pads as numbers")
        bias = node.input[2] if len(node.input) > 2 else ""
        return Layer(
            kind="conv",
            weight_shape=self.shapes[weight],
            weight=self.data.get(weight),
            bias=self.data.get(bias),
            has_bias=bool(bias),
            strides=tuple(attributes.get("strides", (1, 1))),
            pads=tuple(attributes.get("pads", (0, 0, 0, 0))),
            groups=int(attributes.get("group", 1)),
            **base,
        )

    def _matmul(self, node: NodeProto, attributes: Mapping[str, Any], base: dict[str, Any]) -> Layer:
        if len(base["inputs"]) == 2:
            return Layer(kind="matmul", **base)
        if node.input[0] not in base["inputs"] or attributes.get("transA", 0):
            raise AcceleratorError(
                f"product {base['name']} with a constant first operand; accepted: the second"
            )
        weight, transposed = node.input[1], bool(attributes.get("transB", 0))
        shape = self.shapes[weight]
        if len(shape) != 2:
            raise AcceleratorError(
                f"product {base['name']} with weights of shape {shape}; accepted: 2 dimensions"
            )
        values = self.data.get(weight)
        bias = node.input[2] if len(node.input) > 2 else ""
        return Layer(
            kind="matmul",
            weight_shape=shape[::-1] if transposed else shape,
            weight=values.T if transposed and values is not None else values,
            bias=self.data.get(bias),
            has_bias=bool(bias),
            **base,
        )

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
        out_shape = self.shapes[node.output[0]]
        self.layers[-1] = replace(joined, output=node.output[0], out_shape=out_shape, kinds=kinds)
        return True

    def _joined(self, node: NodeProto, before: Layer) -> Layer | None:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        is_plain = before.activation == "none"
        if node.op_type == "Relu" and is_plain:
            return replace(before, activation="relu")
        if node.op_type == "Clip" and is_plain and self._bounds(node) == (0.0, 6.0):
            return replace(before, activation="clip6")
        if node.op_type == "BatchNormalization" and before.kind == "conv" and is_plain:
            return self._normalised(node, before, attributes)
        if node.op_type == "Add" and before.kind == "matmul" and before.weight_shape and is_plain:
            return self._with_bias(node, before)
        if node.op_type == "MaxPool" and before.kind == "conv":
            return _pooled(before, attributes)
        return None

    def _bounds(self, node: NodeProto) -> tuple[float, ...]:
        return tuple(float(self.data[name]) for name in node.input[1:] if name in self.data)

    def _with_bias(self, node: NodeProto, before: Layer) -> Layer | None:
        [name] = [name for name in node.input if name != before.output] or [""]
        if self.shapes.get(name) != (before.weight_shape[1],) or before.has_bias:
            return None
        return replace(before, bias=self.data.get(name), has_bias=True)

    def _normalised(self, node: NodeProto, before: Layer, attributes: Mapping[str, Any]) -> Layer:
        if before.weight is None or node.input[1] not in self.data:
            return replace(before, has_bias=True)
        scale, shift, mean, variance = (self.data[name] for name in node.input[1:5])
        factor = scale / np.sqrt(variance + attributes.get("epsilon", 1e-5))
        bias = (0.0 if before.bias is None else before.bias) * factor + shift - mean * factor
        weight = before.weight * factor[:, None, None, None]
        return replace(before, weight=weight.astype(np.float32), bias=bias.astype(np.float32), has_bias=True)


def _pooled(before: Layer, attributes: Mapping[str, Any]) -> Layer | None:
    """With a pool of windows that do not overlap and are not padded."""
    window = tuple(attributes.get("kernel_shape", ()))
    if len(window) != 2 or tuple(attributes.get("strides", (1, 1))) != window:
        return None
    if any(attributes.get("pads", ())) or attributes.get("ceil_mode", 0):
        return None
    return replace(before, pool=(int(window[0]), int(window[1])))
