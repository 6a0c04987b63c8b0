"""Small ONNX models by hand, and what a network of layers computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from pipelines.accelerators import Network
from pipelines.accelerators.systolic.quantise import float_layer

Shape = Sequence[int | str]
Floats = NDArray[np.float32]


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    """A node named after its first output; `-` stands for an input that is left out."""
    names = outputs.split()
    sources = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(operator, sources, names, name=names[0], **attributes)


def model_of(
    nodes: Sequence[NodeProto],
    constants: Mapping[str, Any] | None = None,
    *,
    shape: Shape = (1, 4),
    outputs: str = "y",
    opset: int = 17,
    kind: int = TensorProto.FLOAT,
) -> ModelProto:
    """A model of one input x."""
    graph = helper.make_graph(
        list(nodes),
        "small",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs.split()],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def write(path: Path, model: ModelProto) -> Path:
    path.write_bytes(model.SerializeToString())
    return path


def drawn(*shape: int, seed: int = 0) -> Floats:
    return np.random.default_rng((seed, *shape)).normal(size=shape).astype(np.float32)


def values_of(network: Network, x: NDArray[Any]) -> list[NDArray[Any]]:
    """Outputs of a network by its layers in floating point."""
    values = {network.input: x}
    for layer in network.executed:
        values[layer.output] = float_layer(layer, [values[name] for name in layer.inputs], network.opset)
    return [values[name] for name in network.outputs]


def expected_of(model: ModelProto, x: NDArray[Any]) -> list[NDArray[Any]]:
    """Outputs of a model by ONNX's own evaluator."""
    evaluator: Any = ReferenceEvaluator(model)
    return evaluator.run(None, {"x": x})
