"""Fixed-point pipelines against sums of integers in plain Python, and their activity against counted bits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from pipelines.accelerators import AcceleratorError, network_of
from pipelines.accelerators.fixed import ACTIVITIES
from pipelines.accelerators.fixed.activity import estimate_activity
from pipelines.accelerators.fixed.labels import drawn_inputs
from pipelines.accelerators.fixed.sharing import compile_core, trace_network, trace_shared
from pipelines.accelerators.fixed.tracing import load_library, uniform_inputs
from tests.onnx_models.small_models import model_of, node

pytest.importorskip("da4ml")

Image = list[list[list[int]]]


def _steps(values: Any) -> Any:
    """Numbers of 1/32: those of the format, as integers."""
    return np.clip(np.round(np.asarray(values) * 32), -128, 127).astype(int).tolist()


def _wrapped(product: int) -> int:
    """A sum of 1/1024 as 8 bits of 1/32, truncated."""
    return ((product >> 5) + 128) % 256 - 128


def _convolved(image: Image, weight: Any, bias: Sequence[int], shape: dict[str, Any]) -> Image:
    """A convolution with ReLU and a pool of 2 by 2, output by output."""
    outputs, per_group, high, wide = np.shape(weight)
    (top, left, bottom, right), (down, along) = shape["pads"], shape["strides"]
    rows = (len(image[0]) + top + bottom - high) // down + 1
    columns = (len(image[0][0]) + left + right - wide) // along + 1
    result: Image = []
    for output in range(outputs):
        first = output // (outputs // shape["group"]) * per_group
        plane = [[0] * columns for _ in range(rows)]
        for row in range(rows):
            for column in range(columns):
                total = bias[output] << 5
                for channel in range(per_group):
                    for y in range(high):
                        for x in range(wide):
                            place = row * down + y - top, column * along + x - left
                            if 0 <= place[0] < len(image[0]) and 0 <= place[1] < len(image[0][0]):
                                pixel = image[first + channel][place[0]][place[1]]
                                total += pixel * weight[output][channel][y][x]
                plane[row][column] = _wrapped(max(total, 0))
        pairs = [range(0, size - 1, 2) for size in (rows, columns)]
        pools = [
            [max(plane[r][c], plane[r][c + 1], plane[r + 1][c], plane[r + 1][c + 1]) for c in pairs[1]]
            for r in pairs[0]
        ]
        result.append(pools)
    return result


@pytest.mark.parametrize(("seed", "reuse_factor"), [(0, 1), (1, 3), (2, 1)])
def test_convolutions_are_sums_of_integers(seed: int, reuse_factor: int) -> None:
    draw = np.random.default_rng(seed)
    group = int(draw.integers(1, 3))
    channels, kernel = 2 * int(draw.integers(1, 3)), tuple(draw.integers(1, 4, 2).tolist())
    attributes = {
        "group": group,
        "pads": draw.integers(0, [size + 1 for size in (*kernel, *kernel)]).tolist(),
        "strides": draw.integers(1, 3, 2).tolist(),
    }
    weight = draw.normal(size=(2 * group, channels // group, *kernel)).astype(np.float32)
    bias = draw.normal(size=2 * group).astype(np.float32)
    nodes = [
        node("Conv", "x w b", "c", **attributes),
        node("Relu", "c", "r"),
        node("MaxPool", "r", "y", kernel_shape=[2, 2], strides=[2, 2]),
    ]
    network = network_of(model_of(nodes, {"w": weight, "b": bias}, shape=(1, channels, 6, 5)), "conv")
    design = trace_shared(network, reuse_factor=reuse_factor)
    values = drawn_inputs(design, 4, seed)
    for sample, result in zip(values, design.expected(values), strict=True):
        image = _steps(sample.reshape(channels, 6, 5))
        expected = _convolved(image, _steps(weight), _steps(bias), attributes)
        assert (result * 32).tolist() == np.reshape(expected, -1).tolist()


@pytest.mark.parametrize("reuse_factor", [1, 2])
def test_a_pool_has_windows_that_lie_in_part_in_the_padding(reuse_factor: int) -> None:
    nodes = [
        node("Conv", "x w b", "c", pads=[1, 1, 0, 0]),
        node("Relu", "c", "r"),
        node("MaxPool", "r", "y", kernel_shape=[2, 2], strides=[2, 2]),
    ]
    constants = {"w": np.full((1, 1, 1, 1), 1.25, np.float32), "b": np.full(1, -0.5, np.float32)}
    network = network_of(model_of(nodes, constants, shape=(1, 1, 1, 1)), "padded")
    design = trace_shared(network, reuse_factor=reuse_factor)
    assert design.expected(np.array([[2.25], [-3.0], [3.75]])).tolist() == [
        [2.3125],
        [0.0],
        [0.0],
    ]  # 4.1875 wraps


def test_a_sum_of_branches_wraps() -> None:
    design = trace_network(network_of(model_of([node("Add", "x x", "y")], shape=(1, 4)), "sum"))
    steps = (uniform_inputs(4, samples=60) * 32).astype(int)
    assert (abs(steps) > 64).any()
    expected = [[_wrapped(2 * step << 5) for step in row] for row in steps.tolist()]
    assert (design.expected(steps / 32) * 32).tolist() == expected


def test_a_product_by_zero_is_refused() -> None:
    model = model_of([node("MatMul", "x w", "y")], {"w": np.zeros((4, 2), np.float32)}, shape=(1, 4))
    with pytest.raises(AcceleratorError, match="every output is the same for all inputs"):
        trace_network(network_of(model, "zero"))


@pytest.mark.parametrize("depth", [1, 5])
def test_activity_is_the_bits_that_change(depth: int) -> None:
    matrix = np.array([[0.5, 1.25], [-0.75, 0.5], [1.5, -1]])

    def function(library: Any, x: Any) -> Any:
        return library.ops.relu(x @ matrix)

    core = compile_core(load_library(), function, 3, name="core", depth=depth, what="outputs are")
    values = uniform_inputs(3, samples=50)
    activity, results = estimate_activity(core.pipeline, values)
    assert (results == np.maximum(values @ matrix, 0)).all()
    assert len(activity) == len(core.stages) == core.latency - 1
    registers = [stage[ACTIVITIES.index("register_changes")] for stage in activity]
    scale = 2 ** max(fraction for _, fraction in core.out_formats)
    steps = (results * scale).astype(int).tolist()
    changed = sum(
        (a ^ b).bit_count() for one, following in pairwise(steps) for a, b in zip(one, following, strict=True)
    )
    assert registers[-1] == pytest.approx(changed / (len(values) - 1))
    still, _ = estimate_activity(core.pipeline, np.repeat(values[:1], 9, axis=0))
    assert not np.any(still)
