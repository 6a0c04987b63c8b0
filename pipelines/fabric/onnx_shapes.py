"""Shapes of the tensors of an ONNX graph whose inputs have known shapes.

Files compute shapes by operators, for example the ends of a slice from the shape of a tensor. Small
values are therefore computed node by node, with the shapes; `onnx.shape_inference.infer_shapes` does so for
fewer operators, without division.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import (
    ModelProto,
    NodeProto,
    TensorProto,
    TypeProto,
    checker,
    defs,
    helper,
    numpy_helper,
    shape_inference,
)
from onnx.reference import ReferenceEvaluator

from pipelines.fabric.errors import FabricError

VALUE_LIMIT = 1024
"""Most elements of a tensor whose values are computed."""
SHAPE_OPERATORS = frozenset(
    (
        *(
            "Constant",
            "Shape",
            "Size",
            "Gather",
            "Concat",
            "Unsqueeze",
            "Squeeze",
            "Cast",
            "Slice",
            "Reshape",
        ),
        *("Identity", "ConstantOfShape", "Range", "Expand", "Add", "Sub", "Mul", "Div", "Mod", "Neg"),
        *("Max", "Min", "Floor", "Ceil", "Sqrt", "Equal", "Less", "Greater", "Not", "Where", "ReduceProd"),
    )
)
_Values = NDArray[np.generic]
_EVALUATION_ERRORS = (RuntimeError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError)

_INFERENCE_ERRORS = (defs.SchemaError, shape_inference.InferenceError, checker.ValidationError)


def tensor_shapes(model: ModelProto) -> dict[str, tuple[int, ...]]:
    """Shape of every tensor by its name; without those that depend on values of the inputs.

    Args:   model: checked, and every input has a size for each dimension.
    Raises: FabricError: shapes do not fit an operator; the node is named.
    """
    inference = _Inference(model)
    for node in model.graph.node:
        inference.visit(node)
    shapes = {name: dimensions_of(type_) for name, type_ in inference.types.items()}
    return {name: shape for name, shape in shapes.items() if shape is not None}


def dimensions_of(type_: TypeProto) -> tuple[int, ...] | None:
    """The shape of a type; None where a size is not known."""
    tensor = type_.tensor_type
    if not tensor.HasField("shape") or not all(d.HasField("dim_value") for d in tensor.shape.dim):
        return None
    return tuple(d.dim_value for d in tensor.shape.dim)


def _array(tensor: TensorProto) -> _Values:
    try:
        return numpy_helper.to_array(tensor)
    except _EVALUATION_ERRORS as error:
        raise FabricError(f"damaged ONNX model: initialiser {tensor.name} ({error})") from error


class _Inference:
    def __init__(self, model: ModelProto) -> None:
        self.version = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 1)
        self.imports = list(model.opset_import)
        self.types: dict[str, TypeProto] = {value.name: value.type for value in model.graph.input}
        self.values: dict[str, _Values] = {}
        for tensor in model.graph.initializer:
            self.types[tensor.name] = helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
            self.values[tensor.name] = _array(tensor)

    def visit(self, node: NodeProto) -> None:
        inputs = [name for name in node.input if name]
        if node.domain not in ("", "ai.onnx") or any(name not in self.types for name in inputs):
            return
        try:
            self.types |= self._inferred(node, inputs)
            self.values |= self._computed(node, inputs)
        except (*_INFERENCE_ERRORS, *_EVALUATION_ERRORS) as error:
            name = node.name or ", ".join(node.output)
            reason = " ".join(str(error).split())[:200]
            raise FabricError(f"shapes do not fit at {node.op_type} (node {name}): {reason}") from error

    def _inferred(self, node: NodeProto, inputs: Sequence[str]) -> Mapping[str, TypeProto]:
        schema = defs.get_schema(node.op_type, self.version, "")
        types = {name: self.types[name] for name in inputs}
        data = {
            name: numpy_helper.from_array(self.values[name], name) for name in inputs if name in self.values
        }
        return shape_inference.infer_node_outputs(schema, node, types, data, opset_imports=self.imports)

    def _computed(self, node: NodeProto, inputs: Sequence[str]) -> Mapping[str, _Values]:
        """Values of the outputs, where those of the inputs are known and all are small."""
        sizes = [dimensions_of(self.types[name]) if name in self.types else None for name in node.output]
        is_small = all(size is not None and math.prod(size) <= VALUE_LIMIT for size in sizes)
        if node.op_type not in SHAPE_OPERATORS or not is_small:
            return {}
        if node.op_type in ("Shape", "Size"):
            return self._measured(node)
        if any(name not in self.values for name in inputs):
            return {}
        with np.errstate(all="ignore"):
            evaluator: Any = ReferenceEvaluator(node)
            values: list[Any] = evaluator.run(None, {name: self.values[name] for name in inputs})
        return {name: np.asarray(value) for name, value in zip(node.output, values, strict=True)}

    def _measured(self, node: NodeProto) -> Mapping[str, _Values]:
        shape = dimensions_of(self.types[node.input[0]])
        if shape is None:
            return {}
        limits = {attribute.name: attribute.i for attribute in node.attribute}
        part = shape[limits.get("start", 0) : limits.get("end", len(shape))]
        return {node.output[0]: np.array(math.prod(shape) if node.op_type == "Size" else part, np.int64)}
