"""Shapes and constants of a graph, node by node, with the model's own opset.

Files compute shapes by operators, for example the ends of a slice from the shape of a tensor, and weights,
for example from integers and their scale. `onnx.shape_inference.infer_shapes` follows fewer operators,
without division, and names no node where shapes do not fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from onnx import (
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

from pipelines.onnx_models.model import OnnxError, Shape, Values, attributes_of, node_name

VALUE_LIMIT = 1024
"""Most elements of a tensor whose values are always computed: shapes are among them."""
FOLDED_LIMIT = 1 << 24
"""Most elements of all computed constants together, besides twice the file's."""
SIZE_LIMIT = (1 << 31) - 1
"""Limit on strides, paddings and so on."""
_FOLDED = frozenset(
    (
        *(
            "Shape",
            "Size",
            "Gather",
            "Concat",
            "Unsqueeze",
            "Squeeze",
            "Cast",
            "CastLike",
            "Slice",
            "Reshape",
        ),
        *("Identity", "ConstantOfShape", "Range", "Expand", "Add", "Sub", "Mul", "Div", "Mod", "Neg"),
        *("Max", "Min", "Floor", "Ceil", "Sqrt", "Equal", "Less", "Greater", "Not", "Where", "ReduceProd"),
        *("Transpose", "Flatten", "Tile", "Split", "Abs", "And", "Or", "Pow", "Exp", "Log", "Reciprocal"),
        *("GreaterOrEqual", "LessOrEqual", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "Clip"),
        *(
            "Trilu",
            "CumSum",
            "Sin",
            "Cos",
            "Relu",
            "Round",
            "Sign",
            "GatherElements",
            "GatherND",
            "ScatterND",
        ),
        *("DequantizeLinear", "QuantizeLinear", "MatMul", "Dropout"),
    )
)
"""Operators that are computed on constants: what they hold on their way is no larger than what they give."""
_SINCE = {"DequantizeLinear": 21, "QuantizeLinear": 21, "GreaterOrEqual": 16, "LessOrEqual": 16}
"""Opsets from which ONNX infers and computes an operator; its earlier forms mean the same."""
_SAME_SHAPE = ("GroupNormalization", "MeanVarianceNormalization")
"""Operators without inference in ONNX, whose result is like their first operand."""
_COUNTED = ("strides", "dilations", "kernel_shape", "group")
_SIZED = ("pads", "output_padding", "output_shape")
_EVALUATION_ERRORS = (
    *(RuntimeError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(AssertionError, NotImplementedError),
)
_INFERENCE_ERRORS = (defs.SchemaError, shape_inference.InferenceError, checker.ValidationError)


def evaluator(node: NodeProto, opset: int) -> Any:
    """Return ONNX's own evaluator of one node; for a node alone it would take the latest opset.

    Raises: OnnxError: it knows no such operator.
    """
    kind = TensorProto.FLOAT if node.op_type in _SAME_SHAPE else TensorProto.UNDEFINED
    inputs = [helper.make_tensor_value_info(n, kind, None) for n in node.input if n]
    outputs = [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in node.output if n]
    graph = helper.make_graph([node], "node", inputs, outputs)
    opset = max(opset, _SINCE.get(node.op_type, 1))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    try:
        return ReferenceEvaluator(model)
    except _EVALUATION_ERRORS as error:
        raise _not_computed(node, error) from error


def run(evaluator: Any, node: NodeProto, operands: Mapping[str, Values]) -> dict[str, Values]:
    """Return the values of a node's outputs.

    Raises: OnnxError: they cannot be computed.
    """
    try:
        with np.errstate(all="ignore"):
            values: list[Any] = evaluator.run(None, dict(operands))
    except _EVALUATION_ERRORS as error:
        raise _not_computed(node, error) from error
    return dict(zip((name for name in node.output if name), map(np.asarray, values), strict=True))


def _not_computed(node: NodeProto, error: Exception) -> OnnxError:
    reason = " ".join(str(error).split())[:200]
    return OnnxError(f"{node.op_type} (node {node_name(node)}) cannot be computed: {reason}")


def dimensions_of(type_: TypeProto) -> Shape | None:
    """Return the shape of a type; None where a size is not known."""
    tensor = type_.tensor_type
    if not tensor.HasField("shape") or not all(d.HasField("dim_value") for d in tensor.shape.dim):
        return None
    return tuple(d.dim_value for d in tensor.shape.dim)


@dataclass(slots=True, kw_only=True)
class Inference:
    """What is known of the tensors of a graph; types and values of inputs and constants are there first.

    Attributes:
        constants: names of tensors that are known before the network runs.
        has_data: whether constants that are no shapes are computed, too.
        repeated: results of products whose weights another product has counted.
        budget: elements of constants that may still be computed.
    """

    opset: int
    types: dict[str, TypeProto]
    values: dict[str, Values]
    constants: set[str]
    has_data: bool
    repeated: set[str] = field(default_factory=set[str])
    budget: int = FOLDED_LIMIT
    imports: list[Any] = field(default_factory=list[Any])

    def add_constant(self, name: str, value: Values | None, shape: Shape) -> str:
        """Add a constant, without a value if it follows from one without; return its name."""
        kind = TensorProto.FLOAT if value is None else helper.np_dtype_to_tensor_dtype(value.dtype)
        self.constants.add(name)
        self.types[name] = helper.make_tensor_type_proto(kind, shape if value is None else value.shape)
        if value is not None:
            self.values[name] = value
        return name

    def visit(self, node: NodeProto) -> None:
        """Infer and compute the outputs of a node whose inputs were visited.

        Raises: OnnxError: shapes do not fit, or a number of the node is not acceptable.
        """
        if node.domain not in ("", "ai.onnx") or any(name and name not in self.types for name in node.input):
            return
        _check_numbers(node)
        inputs = [name for name in node.input if name]
        try:
            self.types |= self._inferred(node, inputs)
        except (*_INFERENCE_ERRORS, *_EVALUATION_ERRORS) as error:
            reason = " ".join(str(error).split())[:200]
            raise OnnxError(
                f"shapes do not fit at {node.op_type} (node {node_name(node)}): {reason}"
            ) from error
        for name in node.output:
            shape = dimensions_of(self.types[name]) if name in self.types else None
            if shape is not None and any(size < 0 for size in shape):
                raise OnnxError(
                    f"shapes do not fit at {node.op_type} (node {node_name(node)}): output of shape {shape}"
                )
        self.values |= self._computed(node, inputs)

    def _inferred(self, node: NodeProto, inputs: Sequence[str]) -> Mapping[str, TypeProto]:
        if node.op_type in _SAME_SHAPE:
            return {node.output[0]: self.types[node.input[0]]}
        schema = defs.get_schema(node.op_type, max(self.opset, _SINCE.get(node.op_type, 1)), "")
        types = {name: self.types[name] for name in inputs}
        data = {
            name: numpy_helper.from_array(self.values[name], name)
            for name in inputs
            if name in self.values and self.values[name].size <= VALUE_LIMIT
        }
        return shape_inference.infer_node_outputs(schema, node, types, data, opset_imports=self.imports)

    def _computed(self, node: NodeProto, inputs: Sequence[str]) -> Mapping[str, Values]:
        """Compute the outputs if the inputs are known and all are small enough."""
        names = [name for name in node.output if name]
        if node.op_type not in _FOLDED or any(name not in self.types for name in names):
            return {}
        shapes = [dimensions_of(self.types[name]) for name in names]
        if any(shape is None for shape in shapes):
            return {}
        size = max(math.prod(shape or ()) for shape in shapes)
        if node.op_type in ("Shape", "Size"):
            return self._measured(node)
        if any(name not in self.values for name in inputs) or not (self.has_data or size <= VALUE_LIMIT):
            return {}
        self.budget -= size
        if self.budget < 0:
            raise OnnxError(
                f"constant too large: {size} elements of {node.op_type} (node {node_name(node)}); "
                f"accepted: {FOLDED_LIMIT} computed elements in all, besides those of the file"
            )
        return run(evaluator(node, self.opset), node, {name: self.values[name] for name in inputs})

    def _measured(self, node: NodeProto) -> Mapping[str, Values]:
        shape = dimensions_of(self.types[node.input[0]])
        if shape is None:
            return {}
        limits = attributes_of(node)
        part = shape[limits.get("start", 0) : limits.get("end", len(shape))]
        return {node.output[0]: np.array(math.prod(shape) if node.op_type == "Size" else part, np.int64)}


def _check_numbers(node: NodeProto) -> None:
    """Refuse numbers that ONNX divides by or allocates by without looking at them."""
    given = attributes_of(node)
    for names, least in ((_COUNTED, 1), (_SIZED, -SIZE_LIMIT)):
        for name in names:
            value: Any = given.get(name, [])
            numbers = cast("list[Any]", value if isinstance(value, list) else [value])
            for number in numbers:
                if not isinstance(number, int) or not least <= number <= SIZE_LIMIT:
                    raise OnnxError(
                        f"{name} of {node.op_type} (node {node_name(node)}): {number}; "
                        f"accepted: {least} to {SIZE_LIMIT}"
                    )
