"""Networks in ONNX files: their operations, what is merged or folded, and what is refused."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from assets.settings import CONFIGURATION_FOLDER
from pipelines.fabric import FabricError, onnx_graphs, read_fabric, require_acyclic, require_room
from pipelines.fabric.layers import Operation, cut

Shape = Sequence[int | str]


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    """A node named after its first output."""
    names = outputs.split()
    return helper.make_node(operator, inputs.split(), names, name=names[0], **attributes)


def write(
    path: Path,
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Shape],
    constants: Mapping[str, Any],
    output: str,
    *,
    opset: int = 17,
) -> Path:
    """A model; a tuple among the constants is the shape of a weight."""
    tensors = [
        numpy_helper.from_array(
            np.zeros(value, np.float32) if isinstance(value, tuple) else np.asarray(value), name
        )
        for name, value in constants.items()
    ]
    graph = helper.make_graph(
        list(nodes),
        "test",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        initializer=tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def read_onnx(path: Path, **options: Any) -> list[Operation]:
    return list(onnx_graphs.read_onnx(path, **options).operations)


def brief(operations: Sequence[Operation]) -> list[tuple[str, str, float, float, float]]:
    return [(op.name, op.kind, op.work, op.words, op.weights) for op in operations]


GELU = [
    node("Div", "u root", "scaled"),
    node("Erf", "scaled", "erf"),
    node("Add", "erf one", "shifted"),
    node("Mul", "u shifted", "twice"),
    node("Mul", "twice half", "g"),
]
TANH_GELU = [
    node("Pow", "u three", "cube"),
    node("Mul", "cube half", "part"),
    node("Add", "u part", "inner"),
    node("Mul", "inner root", "scaled"),
    node("Tanh", "scaled", "tanh"),
    node("Add", "tanh one", "shifted"),
    node("Mul", "u half", "halved"),
    node("Mul", "halved shifted", "g"),
]
SCALARS = {name: np.float32(1.5) for name in ("root", "one", "half", "three")}


def test_products_take_in_constants_and_their_bias(tmp_path: Path) -> None:
    nodes = [
        node("MatMul", "x w", "p"),
        node("Add", "b p", "q"),
        node("Relu", "q", "r"),
        node("Gemm", "r v c", "y", transB=1),
    ]
    constants = {"w": (8, 16), "b": (16,), "v": (4, 16), "c": (4,)}
    operations = read_onnx(write(tmp_path / "mlp.onnx", nodes, {"x": ["batch", 8]}, constants, "y"))
    assert brief(operations) == [
        ("x", "buffer", 8, 8, 0),
        ("p", "gemm", 8 * 16, 16, 8 * 16 + 16),
        ("r", "relu", 16, 16, 0),
        ("y", "gemm", 16 * 4, 4, 16 * 4 + 4),
    ]
    assert [op.inputs for op in operations] == [(), ("x",), ("p",), ("r",)]


def test_a_bias_that_others_bypass_is_an_operation(tmp_path: Path) -> None:
    nodes = [node("MatMul", "x w", "p"), node("Add", "p b", "q"), node("Mul", "p q", "y")]
    path = write(tmp_path / "m.onnx", nodes, {"x": [2, 8]}, {"w": (8, 8), "b": (8,)}, "y")
    assert [op.kind for op in read_onnx(path)] == ["buffer", "gemm", "add", "mul"]


def test_a_dimension_has_the_size_that_is_given(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", [node("Relu", "x", "y")], {"x": ["n", "tokens", 4]}, {}, "y")
    sizes = {"tokens": 5}
    assert read_onnx(path, dimensions=sizes)[1].words == 20
    assert read_onnx(path, dimensions={**sizes, "n": 3})[1].words == 60
    with pytest.raises(FabricError, match=r"dimensions without a number: tokens; give each one: --dim"):
        read_onnx(path)
    with pytest.raises(FabricError, match="unknown dimension: width; the model has: n, tokens"):
        read_onnx(path, dimensions={"width": 1})


def attention_nodes() -> list[NodeProto]:
    """Query, key and value from one product, by slices whose ends are computed from shapes."""
    return [
        node("MatMul", "x w", "qkv"),
        node("Shape", "qkv", "sizes"),
        node("Gather", "sizes two", "width", axis=0),
        node("Div", "width three", "third"),
        node("Unsqueeze", "third zeros", "end"),
        node("Slice", "qkv zeros end twos", "q"),
        node("Split", "qkv parts", "unused k v", axis=2),
        node("Transpose", "k", "kt", perm=[0, 2, 1]),
        node("MatMul", "q kt", "scores"),
        node("Div", "scores root", "scaled"),
        node("Softmax", "scaled", "shares"),
        node("MatMul", "shares v", "context"),
        node("Add", "context x", "y"),
    ]


ATTENTION_CONSTANTS: dict[str, Any] = {
    "w": (64, 192),
    "two": np.int64(2),
    "three": np.int64(3),
    "zeros": np.array([0]),
    "twos": np.array([2]),
    "parts": np.array([64, 64, 64]),
    "root": np.float32(8),
}


def test_attention_reads_shares_of_one_product(tmp_path: Path) -> None:
    path = write(tmp_path / "a.onnx", attention_nodes(), {"x": [1, 16, 64]}, ATTENTION_CONSTANTS, "y")
    operations = {op.name: op for op in read_onnx(path)}
    assert list(operations) == ["x", "qkv", "scores", "shares", "context", "y"]
    scores, context = operations["scores"], operations["context"]
    assert (scores.kind, scores.work, scores.words) == ("matmul", 16 * 16 * 64, 16 * 16)
    assert scores.inputs == ("qkv", "qkv")
    assert context.inputs == ("shares", "qkv")
    assert scores.shares == pytest.approx((1 / 3, 1 / 3))
    assert context.shares == pytest.approx((1, 1 / 3))
    fabric = read_fabric(CONFIGURATION_FOLDER / "fabric" / "present.yaml")
    [graph] = cut("attention", list(operations.values()), fabric)
    require_acyclic(graph)
    require_room(graph, fabric)
    words = {(edge.source, edge.target): edge.words for edge in graph.edges}
    assert words["qkv.buffer", "context"] == pytest.approx(16 * 64)


@pytest.mark.parametrize("nodes", [GELU, TANH_GELU])
def test_gelu_of_several_nodes_is_one_operation(tmp_path: Path, nodes: list[NodeProto]) -> None:
    nodes = [node("MatMul", "x w", "p"), node("Add", "p b", "u"), *nodes, node("MatMul", "g v", "y")]
    constants = {**SCALARS, "w": (8, 32), "b": (32,), "v": (32, 8)}
    operations = read_onnx(write(tmp_path / "g.onnx", nodes, {"x": [4, 8]}, constants, "y"))
    assert [(op.kind, op.work, op.inputs) for op in operations] == [
        ("buffer", 32, ()),
        ("gemm", 4 * 8 * 32, ("x",)),
        ("gelu", 4 * 32, ("p",)),
        ("gemm", 4 * 8 * 32, ("g",)),
    ]


def test_gelu_whose_inside_is_read_stays_apart(tmp_path: Path) -> None:
    nodes = [*GELU, node("Add", "g erf", "y")]
    operations = read_onnx(write(tmp_path / "g.onnx", nodes, {"u": [4, 8]}, SCALARS, "y"))
    assert "gelu" not in {op.kind for op in operations}
    assert len(operations) == 7


@pytest.mark.parametrize("is_centred", [True, False])
def test_normalisation_of_several_nodes_is_one_operation(tmp_path: Path, is_centred: bool) -> None:
    centre = [node("ReduceMean", "x", "mean", axes=[-1]), node("Sub", "x mean", "d")]
    start = "d" if is_centred else "x"
    nodes = [
        *(centre if is_centred else []),
        node("Pow", f"{start} three", "square"),
        node("ReduceMean", "square", "variance", axes=[-1]),
        node("Add", "variance half", "kept"),
        node("Sqrt", "kept", "deviation"),
        node("Div", f"{start} deviation", "normal"),
        node("Mul", "normal gain", "scaled"),
        node("Add", "scaled x", "y"),
    ]
    path = write(tmp_path / "n.onnx", nodes, {"x": [4, 8]}, {**SCALARS, "gain": (8,)}, "y")
    kinds = [(op.kind, op.inputs) for op in read_onnx(path)]
    assert kinds == [("buffer", ()), ("layernorm", ("x",)), ("add", ("scaled", "x"))]


def test_a_convolution_counts_its_multiplications(tmp_path: Path) -> None:
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1], group=2),
        node("BatchNormalization", "c s s s s", "n"),
        node("Relu", "n", "r"),
        node("MaxPool", "r", "m", kernel_shape=[2, 2], strides=[2, 2]),
        node("GlobalAveragePool", "m", "a"),
        node("Flatten", "a", "y"),
    ]
    path = write(tmp_path / "c.onnx", nodes, {"x": ["n", 4, 8, 8]}, {"w": (6, 2, 3, 3), "s": (6,)}, "y")
    assert brief(read_onnx(path)) == [
        ("x", "buffer", 256, 256, 0),
        ("c", "gemm", 6 * 64 * 2 * 9, 384, 6 * 2 * 9 + 4 * 6),
        ("r", "relu", 384, 384, 0),
        ("m", "pool", 6 * 16 * 4, 96, 0),
        ("a", "pool", 96, 6, 0),
    ]


def test_names_have_no_dots_and_differ(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"], name="one.weights")]
    nodes.append(helper.make_node("Relu", ["a"], ["b"], name="one/weights"))
    nodes.append(helper.make_node("Relu", ["b"], ["y"], name="one_weights"))
    names = [op.name for op in read_onnx(write(tmp_path / "m.onnx", nodes, {"x": [4]}, {}, "y"))]
    assert names == ["x", "one_weights", "one/weights", "one_weights:3"]


def test_weights_in_another_file_are_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", [node("MatMul", "x w", "y")], {"x": [1, 8]}, {"w": (8, 8)}, "y")
    model = onnx.load(path)
    [tensor] = model.graph.initializer
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    path.write_bytes(model.SerializeToString())
    network = onnx_graphs.read_onnx(path)
    assert network.operations[1].weights == 64
    assert network.notes == ("no file weights.bin beside the model: its weights are shapes alone",)


def test_onnx_rejects_operators_that_are_not_supported_and_names_each(tmp_path: Path) -> None:
    nodes = [node("Einsum", "x", "h", equation="i"), node("Det", "h", "d"), node("Relu", "d", "y")]
    path = write(tmp_path / "m.onnx", nodes, {"x": [1, 2, 3]}, {}, "y")
    with pytest.raises(FabricError) as caught:
        read_onnx(path)
    message = str(caught.value)
    assert message.startswith(
        "operators that are not supported: Einsum (node h), Det (node d); accepted: Abs, Add,"
    )
    assert message.endswith("m.onnx)")


def test_onnx_rejects_operators_of_other_domains(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", [node("Relu", "x", "y", domain="vendor")], {"x": [4]}, {}, "y")
    with pytest.raises(FabricError, match=r"not supported: vendor\.Relu \(node y\)"):
        read_onnx(path)


def test_onnx_rejects_shapes_that_do_not_fit(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", [node("MatMul", "x w", "y")], {"x": [1, 9]}, {"w": (8, 8)}, "y")
    with pytest.raises(FabricError, match=r"shapes do not fit at MatMul \(node y\).*Incompatible dimensions"):
        read_onnx(path)


def test_onnx_rejects_nodes_that_are_a_cycle(tmp_path: Path) -> None:
    nodes = [node("Add", "x b", "a"), node("Relu", "a", "b")]
    with pytest.raises(FabricError, match=r"damaged ONNX model: .*topologically sorted"):
        read_onnx(write(tmp_path / "m.onnx", nodes, {"x": [4]}, {}, "b"))


def test_onnx_rejects_a_damaged_file(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", attention_nodes(), {"x": [1, 16, 64]}, ATTENTION_CONSTANTS, "y")
    content = path.read_bytes()
    for damaged in (b"", b"\x08", b"no model", content[: len(content) // 2], content[:-3]):
        path.write_bytes(damaged)
        with pytest.raises(FabricError, match=r"damaged ONNX model|not an ONNX model"):
            read_onnx(path)


def test_onnx_survives_any_changed_byte(tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.onnx",
        attention_nodes(),
        {"x": [1, 2, 6]},
        {**ATTENTION_CONSTANTS, "w": (6, 18), "parts": np.array([6, 6, 6])},
        "y",
    )
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for place, value in zip(rng.integers(len(content), size=400), rng.integers(256, size=400), strict=True):
        path.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
        with contextlib.suppress(FabricError):
            assert read_onnx(path)


@pytest.mark.parametrize("shape", [(0, 4), (1 << 40, 1 << 40)])
def test_onnx_rejects_tensors_of_no_or_too_many_elements(tmp_path: Path, shape: Shape) -> None:
    nodes = [node("Reshape", "x sizes", "r"), node("Relu", "r", "y")]
    nodes = [node("ConstantOfShape", "sizes", "zeros"), node("Add", "zeros x", "y")]
    path = write(tmp_path / "m.onnx", nodes, {"x": [1]}, {"sizes": np.array(shape)}, "y")
    with pytest.raises(FabricError, match=r"elements of tensor|unknown shape of tensor"):
        read_onnx(path)


def test_onnx_rejects_a_network_that_only_copies(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", [node("Identity", "x", "y")], {"x": [4]}, {}, "y")
    with pytest.raises(FabricError, match="no operation to place"):
        read_onnx(path)
