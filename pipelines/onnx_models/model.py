"""A model whose shapes are known and whose constants are folded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import NDArray
from onnx import NodeProto, helper

Shape: TypeAlias = tuple[int, ...]
Values: TypeAlias = NDArray[Any]


class OnnxError(Exception):
    """A model is not acceptable; the readers of files say it in the words of their package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxModel:
    """A model as its operators on variable tensors.

    Attributes:
        nodes: that depend on inputs, in topological order. inputs, outputs: names of tensors.
        shapes: of every tensor whose shape depends on no values of inputs.
        constants: names of tensors that are known before the network runs.
        values: of constants; without `has_data` of small ones alone, and never where the file has none.
        rescaled: products by constants that give integer sums their unit again.
        repeated: results of products whose weights another product has, too: steps of a recurrent layer.
        opset: of the model. notes: what was assumed, one sentence each.
    """

    nodes: tuple[NodeProto, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    shapes: Mapping[str, Shape]
    constants: frozenset[str]
    values: Mapping[str, Values]
    rescaled: frozenset[str]
    repeated: frozenset[str]
    opset: int
    notes: tuple[str, ...] = ()

    def shape(self, name: str) -> Shape:
        """Return the sizes of a tensor.

        Raises: OnnxError: they depend on values of the inputs.
        """
        if name not in self.shapes:
            raise OnnxError(f"unknown shape of tensor {name}: it depends on values of the inputs")
        return self.shapes[name]


def node_name(node: NodeProto) -> str:
    """Return the name of a node for a message: its own, or that of its first output."""
    return node.name or next(iter(node.output), "")


def attributes_of(node: NodeProto) -> dict[str, Any]:
    """Return the values of a node's attributes by name.

    Raises: OnnxError: one has no type.
    """
    try:
        return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    except ValueError as error:
        raise OnnxError(f"damaged ONNX model: attribute of {node_name(node)}: {error}") from error


def is_constant(node: NodeProto, constants: set[str]) -> bool:
    """Tell whether a node's outputs are known before the network runs, given the shapes of its inputs."""
    inputs = [name for name in node.input if name]
    return node.op_type in ("Constant", "Shape", "Size") or (
        bool(inputs) and constants.issuperset(inputs) and not _has_graph(node)
    )


def _has_graph(node: NodeProto) -> bool:
    return any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)
