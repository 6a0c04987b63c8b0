"""Quantised ONNX models: the layers and operations of the plain networks that they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto

from pipelines.accelerators import AcceleratorError, Hardware, compile_network, network_of, read_network
from pipelines.fabric.onnx_graphs import read_onnx
from tests.onnx_models.small_models import drawn, model_of, node, values_of, write

RANDOM = np.random.default_rng(0)
STEP, ZERO, UNSIGNED_ZERO = np.float32(0.05), np.int8(0), np.uint8(0)


def integers(*shape: int, kind: Any = np.int8) -> Any:
    return RANDOM.integers(-100, 100, shape).astype(kind)


SCALES: Any = np.array([0.01, 0.02, 0.03, 0.04], np.float32)
WEIGHTS, BIAS = integers(4, 2, 3, 3), integers(4, kind=np.int32)
IMAGE_WEIGHTS = WEIGHTS * SCALES[:, None, None, None]
IMAGE = (1, 2, 4, 4)


def _pairs(nodes: list[NodeProto]) -> list[NodeProto]:
    """Every result is quantised and dequantised again."""
    result: list[NodeProto] = []
    for each in nodes:
        inner = f"{each.output[0]}_sum"
        result.append(NodeProto(name=each.name, op_type=each.op_type, input=each.input, output=[inner]))
        result[-1].attribute.extend(each.attribute)
        result.append(node("QuantizeLinear", f"{inner} s z", f"{inner}_q"))
        result.append(node("DequantizeLinear", f"{inner}_q s z", each.output[0]))
    return result


@pytest.mark.parametrize("opset", [13, 21])
def test_pairs_are_read_through(tmp_path: Path, opset: int) -> None:
    plain = [node("Conv", "x w b", "c", pads=[1] * 4), node("Relu", "c", "r"), node("Flatten", "r", "y")]
    weights = [
        node("DequantizeLinear", "wq ws wz", "w", axis=0),
        node("DequantizeLinear", "bq bs", "b", axis=0),
    ]
    quantised = {"wq": WEIGHTS, "ws": SCALES, "wz": np.zeros(4, np.int8), "bq": BIAS, "bs": SCALES * STEP}
    constants = {**quantised, "s": STEP, "z": ZERO}
    path = write(
        tmp_path / "q.onnx", model_of([*weights, *_pairs(plain)], constants, opset=opset, shape=IMAGE)
    )
    same = {"w": IMAGE_WEIGHTS, "b": (BIAS * SCALES * STEP).astype(np.float32)}
    float_model = model_of(plain, same, opset=opset, shape=IMAGE)
    network, x = read_network(path), drawn(1, 2, 4, 4)
    assert [layer.kinds for layer in network.layers] == [("Conv", "Relu"), ("Flatten",)]
    expected = network_of(float_model, "plain")
    np.testing.assert_allclose(values_of(network, x)[0], values_of(expected, x)[0], atol=1e-4)
    blocks = [
        [(block.kind, block.counts) for block in compile_network(each, Hardware()).blocks]
        for each in (network, expected, read_network(path, has_data=False))
    ]
    assert blocks[0] == blocks[1] == blocks[2]
    kinds = [
        [(op.kind, op.work, op.weights) for op in read_onnx(write(tmp_path / "m.onnx", m)).operations]
        for m in (model_of([*weights, *_pairs(plain)], constants, opset=opset, shape=IMAGE), float_model)
    ]
    assert kinds[0] == kinds[1]


def _linear_convolution() -> list[NodeProto]:
    return [
        node("QuantizeLinear", "x s z", "q"),
        node("QLinearConv", "q s z wq ws wz s z bq", "c", pads=[1] * 4),
        node("DequantizeLinear", "c s z", "y"),
    ]


@pytest.mark.parametrize(
    ("zero", "is_cut"), [(np.int8(0), False), (np.uint8(0), True), (np.uint8(128), False)]
)
def test_a_linear_convolution_and_the_relu_that_its_numbers_are(zero: Any, is_cut: bool) -> None:
    constants = {"s": STEP, "z": zero, "wq": WEIGHTS, "ws": SCALES, "wz": np.zeros(4, np.int8), "bq": BIAS}
    network = network_of(model_of(_linear_convolution(), constants, opset=10, shape=IMAGE), "q")
    assert [layer.kinds for layer in network.layers] == [("Conv", "Relu") if is_cut else ("Conv",)]
    x = drawn(1, 2, 4, 4)
    plain = [node("Conv", "x w b", "c", pads=[1] * 4), node("Relu" if is_cut else "Identity", "c", "y")]
    same = {"w": IMAGE_WEIGHTS, "b": (BIAS * SCALES * STEP).astype(np.float32)}
    expected = values_of(network_of(model_of(plain, same, shape=IMAGE), "p"), x)
    np.testing.assert_allclose(values_of(network, x)[0], expected[0], atol=1e-4)


def test_products_and_sums_of_other_tools() -> None:
    unsigned = np.uint8(128)
    vendor = {"domain": "com.microsoft"}
    nodes = [
        node("QuantizeLinear", "x s z", "q"),
        node("QLinearMatMul", "q s z aq columns wz s z", "m"),
        node("QLinearAdd", "m s z q s z s z", "n", **vendor),
        node("QGemm", "n s z cq rows wz bq s z", "g", transB=1, **vendor),
        node("QLinearSigmoid", "g s z s z", "h", **vendor),
        node("QLinearConcat", "s z h s z n s z", "k", axis=1, **vendor),
        node("DequantizeLinear", "k s z", "y"),
    ]
    a, c, b = integers(4, 4), integers(3, 4), integers(3, kind=np.int32)
    columns, rows = SCALES, SCALES[:3] * 2
    constants = {
        "s": STEP,
        "z": unsigned,
        "columns": columns,
        "rows": rows,
        "wz": np.int8(3),
        "aq": a,
        "cq": c,
        "bq": b,
    }
    network, x = network_of(model_of(nodes, constants), "q"), drawn(1, 4)
    n = x @ ((a.astype(float) - 3) * columns) + x
    g = n @ ((c.astype(float) - 3) * rows[:, None]).T + b * STEP * rows
    expected = np.concatenate([1 / (1 + np.exp(-g)), n], axis=1)
    np.testing.assert_allclose(values_of(network, x)[0], expected, rtol=1e-4)
    assert [layer.kind for layer in network.layers] == ["matmul", "add", "matmul", "host", "host"]


def test_integer_products_get_their_unit_and_bias_in_the_layer(tmp_path: Path) -> None:
    nodes = [
        node("DynamicQuantizeLinear", "x", "q qs qz"),
        node("ConvInteger", "q wq qz", "c", pads=[1] * 4),
        node("Cast", "c", "f", to=1),
        node("Mul", "qs ws", "unit"),
        node("Mul", "f unit", "m"),
        node("Add", "m b", "a"),
        node("Relu", "a", "r"),
        node("Flatten", "r", "v"),
        node("DynamicQuantizeLinear", "v", "p ps pz"),
        node("MatMulInteger", "p kq pz kz", "n"),
        node("Cast", "n", "o", to=1),
        node("Mul", "o ks", "t"),
        node("Mul", "t ps", "y"),
    ]
    bias, kernel = drawn(1, 4, 1, 1), integers(64, 3)
    unit = {"ws": np.float32(0.01), "ks": np.array([0.01, 0.02, 0.03], np.float32), "kz": np.int8(1)}
    constants = {**unit, "wq": WEIGHTS, "b": bias, "kq": kernel}
    path = write(tmp_path / "d.onnx", model_of(nodes, constants, opset=11, shape=IMAGE))
    network, x = read_network(path), drawn(1, 2, 4, 4)
    assert [(layer.kind, layer.has_bias) for layer in network.layers] == [
        ("conv", True),
        ("host", False),
        ("matmul", False),
    ]
    plain = [
        node("Conv", "x w b", "c", pads=[1] * 4),
        node("Relu", "c", "r"),
        node("Flatten", "r", "v"),
        node("MatMul", "v k", "y"),
    ]
    same = {
        "w": WEIGHTS.astype(np.float32) * np.float32(0.01),
        "b": bias.reshape(-1),
        "k": (kernel - 1.0).astype(np.float32) * unit["ks"],
    }
    expected = values_of(network_of(model_of(plain, same, shape=IMAGE), "p"), x)
    np.testing.assert_allclose(values_of(network, x)[0], expected[0], rtol=1e-4)
    assert [op.kind for op in read_onnx(path).operations] == ["buffer", "gemm", "relu", "gemm"]


def test_quantised_rejects_channels_last_and_scales_that_do_not_fit() -> None:
    nodes = [
        node("QLinearGlobalAveragePool", "x s z s z", "y", domain="com.microsoft", channels_last=1),
    ]
    with pytest.raises(AcceleratorError, match=r"channels last in QLinearGlobalAveragePool \(node y\)"):
        network_of(model_of(nodes, {"s": STEP, "z": ZERO}, shape=IMAGE), "q")
    constants = {"s": STEP, "z": ZERO, "wq": WEIGHTS, "ws": SCALES[:3], "wz": ZERO, "bq": BIAS}
    with pytest.raises(AcceleratorError, match=r"scales do not fit at QLinearConv \(node c\)"):
        network_of(model_of(_linear_convolution(), constants, opset=10, shape=IMAGE), "q")
