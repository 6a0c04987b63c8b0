"""Fixed-point pipelines of networks with wires, differences and sums of constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipelines.accelerators import AcceleratorError, network_of
from pipelines.accelerators.fixed.sharing import trace_network, trace_shared
from pipelines.accelerators.fixed.tracing import FRACTION, uniform_inputs
from tests.onnx_models.small_models import model_of, node

NODES = [
    node("Reshape", "x sizes", "i"),
    node("Transpose", "i", "t", perm=[0, 2, 1]),
    node("Split", "t parts", "a b", axis=1),
    node("Sub", "a b", "d"),
    node("Concat", "d a", "c", axis=1),
    node("Mul", "c half", "m"),
    node("ReduceSum", "m last", "s", keepdims=0),
    node("MatMul", "s w", "y"),
]
CONSTANTS: dict[str, Any] = {
    "sizes": np.array([1, 2, 4]),
    "parts": np.array([2, 2]),
    "half": np.float32(0.5),
    "last": np.array([2]),
    "w": np.array([[0.5, -1], [1, 0.25], [-0.5, 1], [0.25, 0.5]], np.float32),
}


def _wrapped(values: Any) -> Any:
    steps = np.floor(values * (1 << FRACTION)).astype(np.int64)
    return ((steps + 128) % 256 - 128) / (1 << FRACTION)


@pytest.mark.parametrize("reuse_factor", [1, 2])
def test_wires_differences_and_sums_are_computed(reuse_factor: int) -> None:
    pytest.importorskip("da4ml")
    design = trace_shared(
        network_of(model_of(NODES, CONSTANTS, shape=(1, 8)), "w"), reuse_factor=reuse_factor
    )
    x = uniform_inputs(8, samples=30)
    turned = x.reshape(-1, 2, 4).transpose(0, 2, 1)
    first, second = turned[:, :2], turned[:, 2:]
    joined = np.concatenate([_wrapped(first - second), first], axis=1)
    sums = _wrapped(_wrapped(joined * 0.5).sum(axis=2))
    assert (design.expected(x) == _wrapped(sums @ CONSTANTS["w"])).all()


def test_pipelines_reject_large_tensors_and_name_what_they_accept() -> None:
    pytest.importorskip("da4ml")
    large = model_of([node("Add", "x one", "y")], {"one": np.float32(1)}, shape=(1, 9000))
    pool = node("GlobalAveragePool", "x", "y")
    with pytest.raises(AcceleratorError, match=r"a tensor of 30,000 numbers in p; accepted .* up to 20,000"):
        trace_network(network_of(model_of([pool], shape=(1, 3, 100, 100)), "p"))
    with pytest.raises(
        AcceleratorError, match=r"layer y from 9,000 to 9,000 numbers; accepted as a fixed-point"
    ):
        trace_network(network_of(large, "a"))
    with pytest.raises(
        AcceleratorError, match=r"fixed-point form: Tanh \(y\); accepted: Conv, Gemm, MatMul, "
    ):
        trace_network(network_of(model_of([node("Tanh", "x", "y")]), "t"))
