"""Quantised operators as the plain ones that they stand for.

A tensor of integers is the tensor of real numbers that they mean: what quantises or dequantises it gives it
another name. Weights are dequantised. Sums of integers get their unit by products behind them, which stay.
Quantisation to numbers of which none is negative is a ReLU, which tools therefore leave out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, TypeProto, helper

from pipelines.onnx_models.evaluation import Inference, dimensions_of
from pipelines.onnx_models.model import OnnxError, Values, attributes_of, node_name

VENDOR = "com.microsoft"
"""Domain of quantised operators that ONNX Runtime's tools write."""
_VIEWS = ("QuantizeLinear", "DequantizeLinear")
_DYNAMIC = "DynamicQuantizeLinear"
_POSITIVE = ("Relu", "Sigmoid", "Softmax", "HardSigmoid")
_KEEPING = (
    *(
        "MaxPool",
        "AveragePool",
        "GlobalAveragePool",
        "Flatten",
        "Reshape",
        "Transpose",
        "Squeeze",
        "Unsqueeze",
    ),
    *("Concat", "Identity", "Slice", "Split", "Add", "Mul", "Dropout", "Resize", "ReduceMean"),
)
"""Operators whose result has no negative number when no operand has."""
_OTHER_ATTRIBUTES = ("channels_last", "opset")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operand:
    """Places of an operand, its scale and its zero point among the inputs of a node."""

    value: int
    scale: int | None = None
    zero: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """A plain operator.

    Attributes: bias: place of one. is_float: it is not scaled. is_sum: the result has no unit yet.
        zero: place of the zero point of the result.
    """

    operator: str
    operands: tuple[_Operand, ...]
    bias: int | None = None
    is_float: bool = False
    is_sum: bool = False
    zero: int | None = None


def _three(*firsts: int) -> tuple[_Operand, ...]:
    return tuple(_Operand(value=first, scale=first + 1, zero=first + 2) for first in firsts)


_PLAIN: Mapping[str, _Plain] = {
    "QLinearConv": _Plain(operator="Conv", operands=_three(0, 3), bias=8, zero=7),
    "QLinearMatMul": _Plain(operator="MatMul", operands=_three(0, 3), zero=7),
    "QGemm": _Plain(operator="Gemm", operands=_three(0, 3), bias=6, zero=8),
    "ConvInteger": _Plain(
        operator="Conv", operands=(_Operand(value=0, zero=2), _Operand(value=1, zero=3)), is_sum=True
    ),
    "MatMulInteger": _Plain(
        operator="MatMul", operands=(_Operand(value=0, zero=2), _Operand(value=1, zero=3)), is_sum=True
    ),
    "MatMulIntegerToFloat": _Plain(
        operator="MatMul",
        operands=(_Operand(value=0, scale=2, zero=4), _Operand(value=1, scale=3, zero=5)),
        bias=6,
        is_float=True,
    ),
    "DynamicQuantizeMatMul": _Plain(
        operator="MatMul",
        operands=(_Operand(value=0), _Operand(value=1, scale=2, zero=3)),
        bias=4,
        is_float=True,
    ),
    "QLinearAdd": _Plain(operator="Add", operands=_three(0, 3), zero=7),
    "QLinearMul": _Plain(operator="Mul", operands=_three(0, 3), zero=7),
    **{
        f"QLinear{operator}": _Plain(operator=operator, operands=_three(0), zero=4)
        for operator in ("AveragePool", "GlobalAveragePool", "LeakyRelu", "Sigmoid", "Softmax")
    },
}
_CONCAT = "QLinearConcat"
QUANTISED = (*_VIEWS, _DYNAMIC, *_PLAIN, _CONCAT)


@dataclass(slots=True, kw_only=True)
class Dequantiser:
    """Replaces the operators of a graph one by one.

    Attributes:
        names: tensors that are others under another name. rescaled: see `OnnxModel`.
        sums: of integer products, without a unit yet.
        positive: tensors of which no number is negative, and inputs.
    """

    inference: Inference
    names: dict[str, str] = field(default_factory=dict[str, str])
    rescaled: set[str] = field(default_factory=set[str])
    sums: set[str] = field(default_factory=set[str])
    positive: set[str] = field(default_factory=set[str])

    def plain_nodes(self, node: NodeProto) -> Iterator[NodeProto]:
        """Yield the equivalent nodes without quantisation; none for another name."""
        for plain in self._plain_nodes(self._renamed(node)):
            self._follow_signs(plain)
            yield plain

    def _plain_nodes(self, node: NodeProto) -> Iterator[NodeProto]:
        if self.inference.constants.issuperset(name for name in node.input if name):
            yield node if node.op_type not in _VIEWS else self._standard(node)
        elif node.op_type == _VIEWS[0] and self._cuts(node, 2, node.input[:1]):
            yield helper.make_node("Relu", [self._variable(node.input[0])], node.output[:1])
        elif node.op_type in _VIEWS or (node.op_type == "Cast" and node.input[0] in self.sums):
            self._rename(node.output[0], node.input[0])
        elif node.op_type == _DYNAMIC:
            self._rename(node.output[0], node.input[0])
            for name, value in zip(node.output[1:], (np.float32(1), np.uint8(0)), strict=False):
                self.inference.add_constant(name, np.asarray(value), ())
        elif node.op_type == _CONCAT:
            inputs = [self._operand(node, part, None) for part in _three(*range(2, len(node.input), 3))]
            yield self._node(node, "Concat", inputs)
        elif node.op_type in _PLAIN:
            yield from self._product(node, _PLAIN[node.op_type])
        else:
            self._follow(node)
            yield node

    def _renamed(self, node: NodeProto) -> NodeProto:
        if not any(name in self.names for name in node.input):
            return node
        renamed = NodeProto()
        renamed.CopyFrom(node)
        renamed.input[:] = [self.names.get(name, name) for name in node.input]
        return renamed

    def _standard(self, node: NodeProto) -> NodeProto:
        standard = NodeProto()
        standard.CopyFrom(node)
        standard.domain = ""
        return standard

    def _rename(self, name: str, source: str) -> None:
        self.names[name] = self._variable(source)
        if source in self.sums:
            self.sums.add(source)

    def _variable(self, name: str) -> str:
        """Return a variable tensor as real numbers."""
        if name in self.inference.types:
            type_ = TypeProto()
            type_.CopyFrom(self.inference.types[name])
            type_.tensor_type.elem_type = TensorProto.FLOAT
            self.inference.types[name] = type_
        return name

    def _cuts(self, node: NodeProto, zero: int | None, sources: Sequence[str]) -> bool:
        """Tell whether quantisation makes negative numbers zero, and there may be some."""
        value = self._value(node, zero)
        if value is None or value.dtype.kind not in "iu" or (value != np.iinfo(value.dtype).min).any():
            return False
        return not self.positive.issuperset(sources)

    def _follow_signs(self, node: NodeProto) -> None:
        variable = [name for name in node.input if name and name not in self.inference.constants]
        is_kept = node.op_type in _KEEPING and len(variable) == len(node.input)
        if node.op_type == "Clip" and len(node.input) > 1:
            low = self._value(node, 1)
            is_kept = low is not None and bool((low >= 0).all())
            variable = [] if is_kept else variable
        if node.op_type in _POSITIVE or (is_kept and self.positive.issuperset(variable)):
            self.positive.update(node.output)

    def _follow(self, node: NodeProto) -> None:
        """Mark products and sums by constants behind a sum of integer products."""
        variable = [name for name in node.input if name and name not in self.inference.constants]
        if len(variable) != 1 or len(node.input) != len(variable) + 1:
            return
        is_scaled = variable[0] in self.rescaled
        if (node.op_type == "Mul" and variable[0] in self.sums) or (
            node.op_type in ("Mul", "Add") and is_scaled
        ):
            self.rescaled.add(node.output[0])

    def _product(self, node: NodeProto, plain: _Plain) -> Iterator[NodeProto]:
        axis = {"Conv": 0, "MatMul": -1}.get(plain.operator)
        if plain.operator == "Gemm":
            axis = 0 if attributes_of(node).get("transB", 0) else -1
        inputs = [self._operand(node, part, axis if i else None) for i, part in enumerate(plain.operands)]
        bias = self._bias(node, plain)
        is_added = bool(bias) and plain.is_float
        if bias and not is_added:
            inputs.append(bias)
        steps = [self._node(node, plain.operator, inputs)]
        if plain.is_sum:
            self.sums.add(node.output[0])
        if is_added:
            steps.append(NodeProto(op_type="Add", input=["", bias], output=node.output))
        is_signed = plain.operator not in _POSITIVE and not (
            plain.operator in _KEEPING and self.positive.issuperset(inputs)
        )
        if is_signed and self._cuts(node, plain.zero, node.output):
            steps.append(NodeProto(op_type="Relu", input=[""], output=node.output))
        for number, (step, after) in enumerate(pairwise(steps)):
            step.output[0] = after.input[0] = f"{node.output[0]}:{number}"
        yield from steps

    def _node(self, node: NodeProto, operator: str, inputs: list[str]) -> NodeProto:
        result = NodeProto(name=node.name, op_type=operator, input=inputs, output=list(node.output[:1]))
        result.attribute.extend(a for a in node.attribute if a.name not in _OTHER_ATTRIBUTES)
        if attributes_of(node).get("channels_last", 0):
            raise OnnxError(f"channels last in {node.op_type} (node {node_name(node)}); accepted: first")
        return result

    def _operand(self, node: NodeProto, part: _Operand, axis: int | None) -> str:
        """Return the operand as a tensor of real numbers; axis: that scales of a vector belong to."""
        name = self._input(node, part.value)
        if name not in self.inference.constants:
            return self._variable(name)
        scale, zero = (self._value(node, place) for place in (part.scale, part.zero))
        value = self.inference.values.get(name)
        if value is not None:
            try:
                value = value.astype(np.float32)
                value = (value - _along(zero, axis, value, 0)) * _along(scale, axis, value, 1)
            except ValueError as error:
                raise OnnxError(
                    f"scales do not fit at {node.op_type} (node {node_name(node)}): {error}"
                ) from error
        shape = dimensions_of(self.inference.types[name]) or ()
        return self.inference.add_constant(f"{node.output[0]}:{name}", value, shape)

    def _bias(self, node: NodeProto, plain: _Plain) -> str:
        name = "" if plain.bias is None else self._input(node, plain.bias)
        if not name or plain.is_float:
            return name
        first, second = (self._value(node, part.scale) for part in plain.operands)
        value = self.inference.values.get(name)
        if value is not None and first is not None and second is not None:
            value = (value.reshape(-1) * (first * second).reshape(-1)).astype(np.float32)
        shape = dimensions_of(self.inference.types[name]) or ()
        return self.inference.add_constant(f"{node.output[0]}:{name}", value, shape)

    def _input(self, node: NodeProto, index: int) -> str:
        return node.input[index] if index < len(node.input) else ""

    def _value(self, node: NodeProto, index: int | None) -> Values | None:
        return None if index is None else self.inference.values.get(self._input(node, index))


def _along(values: Values | None, axis: int | None, of: Values, default: int) -> Any:
    """Return the scales or zero points in the shape that fits a tensor; one number fits any."""
    if values is None:
        return default
    plain = values.astype(np.float32)
    if plain.size == 1 or axis is None:
        return plain.reshape(-1)[0] if plain.size == 1 else plain
    shape = [1] * of.ndim
    shape[axis] = -1
    return plain.reshape(shape)
