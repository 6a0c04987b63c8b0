"""Recurrent layers: unrolled for accelerators, as operations of all steps on a fabric."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper

from assets.settings import CONFIGURATION_FOLDER
from pipelines.accelerators import AcceleratorError, Hardware, compile_network, network_of, read_network
from pipelines.accelerators.systolic.quantise import quantise
from pipelines.fabric import FabricError, read_fabric, require_acyclic
from pipelines.fabric.layers import cut
from pipelines.fabric.onnx_graphs import read_onnx
from tests.onnx_models.small_models import drawn, expected_of, model_of, node, values_of, write

STEPS, BATCH, WIDTH, STATES = 4, 2, 3, 5
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(
    kind: str, *, direction: str = "forward", start: bool = False, opset: int = 17, **attributes: Any
) -> ModelProto:
    count = 2 if direction == "bidirectional" else 1
    rows = GATES[kind] * STATES
    constants: dict[str, Any] = {
        "w": drawn(count, rows, WIDTH),
        "r": drawn(count, rows, STATES),
        "b": drawn(count, 2 * rows),
    }
    if start:
        constants["h"] = drawn(count, BATCH, STATES)
    outputs = "y last cell" if kind == "LSTM" else "y last"
    inputs = f"x w r b {'- h' if start else ''}"
    cell = node(kind, inputs, outputs, hidden_size=STATES, direction=direction, **attributes)
    return model_of([cell], constants, shape=(STEPS, BATCH, WIDTH), outputs=outputs, opset=opset)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(
    ("kind", "more"),
    [("RNN", {}), ("GRU", {}), ("GRU", {"linear_before_reset": 1}), ("LSTM", {}), ("LSTM", {"start": True})],
)
def test_steps_compute_what_the_operator_does(kind: str, more: dict[str, Any], direction: str) -> None:
    for opset in (9, 21):
        model = recurrent(kind, direction=direction, opset=opset, **more)
        network, x = network_of(model, kind), drawn(STEPS, BATCH, WIDTH)
        for result, expected in zip(values_of(network, x), expected_of(model, x), strict=True):
            np.testing.assert_allclose(result, expected, atol=1e-5)


def test_weights_of_all_steps_count_once_and_integers_are_there(tmp_path: Path) -> None:
    path = write(tmp_path / "l.onnx", recurrent("LSTM"))
    network, rows = read_network(path), 4 * STATES
    assert network.parameter_count == rows * (WIDTH + STATES + 1)
    products = [layer for layer in network.layers if layer.kind == "matmul"]
    assert [layer.in_shapes[0] for layer in products] == [
        (STEPS, BATCH, WIDTH),
        *[(1, BATCH, STATES)] * (STEPS - 1),
    ]
    assert quantise(network, Hardware()).layers
    assert compile_network(network, Hardware()) == compile_network(
        read_network(path, has_data=False), Hardware()
    )


@pytest.mark.parametrize(("kind", "updates"), [("RNN", 0), ("GRU", 1), ("LSTM", 1)])
def test_a_recurrent_layer_is_operations_of_all_steps(tmp_path: Path, kind: str, updates: int) -> None:
    path = write(tmp_path / "r.onnx", recurrent(kind, direction="bidirectional"))
    operations = list(read_onnx(path).operations)
    kinds = ["gemm", "buffer", "gemm", "add", "elementwise", *["elementwise"] * updates]
    assert [op.kind for op in operations] == ["buffer", *kinds, *kinds, "buffer"]
    rows = GATES[kind] * STATES
    inner, _, outer = operations[1:4]
    assert (inner.work, inner.words) == (STEPS * BATCH * rows * WIDTH, STEPS * BATCH * rows)
    assert (inner.weights, outer.weights) == (rows * WIDTH + 2 * rows, rows * STATES)
    assert outer.work == STEPS * BATCH * rows * STATES
    assert operations[-1].words == 2 * STEPS * BATCH * STATES
    fabric = read_fabric(CONFIGURATION_FOLDER / "fabric" / "present.yaml")
    for graph in cut("r", operations, fabric):
        require_acyclic(graph)


def test_a_fabric_rejects_more_directions_than_two(tmp_path: Path) -> None:
    model = recurrent("LSTM")
    for tensor in model.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(np.repeat(numpy_helper.to_array(tensor), 3, 0), tensor.name))
    with pytest.raises(FabricError, match=r"3 directions of LSTM \(node y\); accepted: 1, 2"):
        read_onnx(write(tmp_path / "m.onnx", model))


def test_recurrent_rejects_what_it_does_not_unroll() -> None:
    model = recurrent("LSTM", clip=1.0)
    with pytest.raises(
        AcceleratorError, match=r"LSTM \(node y\) with clip; accepted: up to 512 steps, constant"
    ):
        network_of(model, "l")
    model = recurrent("GRU", activations=["Tanh", "Tanh"])
    with pytest.raises(
        AcceleratorError, match=r"GRU \(node y\) with activations Tanh, Tanh; accepted: .*Sigmoid"
    ):
        network_of(model, "g")
    model = recurrent("RNN")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 513
    with pytest.raises(AcceleratorError, match=r"RNN \(node y\) with 513 steps; accepted"):
        network_of(model, "r")
