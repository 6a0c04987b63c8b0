"""ONNX files from elsewhere: what is folded and assumed, and one line for what is not acceptable."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from pipelines.accelerators import AcceleratorError, Hardware, compile_network, network_of, read_network
from pipelines.accelerators.systolic.quantise import quantise
from pipelines.fabric import FabricError
from pipelines.fabric.onnx_graphs import read_onnx
from pipelines.onnx_models.reading import NODE_LIMIT
from simfoundry.cli import simfoundry
from tests.onnx_models.small_models import drawn, expected_of, model_of, node, values_of, write

WEIGHT = drawn(4, 3)
DENSE = [node("MatMul", "x w", "y")]


# ---- hostile files -----------------------------------------------------------------------------------


def _conv(**attributes: Any) -> ModelProto:
    return model_of([node("Conv", "x w", "y", **attributes)], {"w": drawn(1, 1, 3, 3)}, shape=(1, 1, 4, 4))


def _external(location: str) -> TensorProto:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=WEIGHT.shape)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def _constant_outside() -> ModelProto:
    return model_of([node("Constant", "", "w", value=_external("../../dev/zero")), *DENSE])


def _chain(count: int) -> ModelProto:
    names = ["x", *(f"t{number}" for number in range(count - 1)), "y"]
    return model_of([node("Relu", *pair) for pair in pairwise(names)])


def _functions(count: int) -> ModelProto:
    """Each function calls the one before twice."""
    model = model_of([node("f0", "x", "y", domain="own")])
    model.opset_import.append(helper.make_opsetid("own", 1))
    for number in range(count):
        inner, domain = (f"f{number + 1}", "own") if number + 1 < count else ("Relu", "")
        body = [node(inner, "a", "b", domain=domain), node(inner, "b", "c", domain=domain)]
        model.functions.append(
            helper.make_function("own", f"f{number}", ["a"], ["c"], body, model.opset_import)
        )
    return model


def _calls_itself() -> ModelProto:
    model = _functions(1)
    model.functions[0].node[0].op_type, model.functions[0].node[0].domain = "f0", "own"
    return model


HOSTILE = {
    "outside": (
        _constant_outside,
        "weights of initialiser w in ../../dev/zero; accepted: a file beside the model",
    ),
    "group": (lambda: _conv(group=0), r"group of Conv \(node y\): 0; accepted: 1 to"),
    "pads": (lambda: _conv(pads=[10**9] * 4), r"tensor y"),
    "kernel": (lambda: _conv(strides=[0, 1]), r"strides of Conv \(node y\): 0; accepted: 1 to"),
    "shape": (lambda: model_of([node("Relu", "x", "y")], shape=(1 << 62, 1 << 62)), r"tensor [xy]"),
    "nodes": (
        lambda: _chain(NODE_LIMIT + 1),
        f"too many operators: {NODE_LIMIT + 1}; accepted: {NODE_LIMIT}",
    ),
    "cycle": (
        lambda: model_of([node("Add", "x b", "a"), node("Relu", "a", "b")], outputs="b"),
        "damaged ONNX model: .*topologically sorted",
    ),
    "functions": (lambda: _functions(15), "too many operators with functions: 32768; accepted:"),
    "recursion": (_calls_itself, "function f0 calls itself; accepted: functions without recursion"),
    "opset": (lambda: model_of(DENSE, {"w": WEIGHT}, opset=99), "opset 99; accepted: up to"),
    "huge constant": (
        lambda: model_of(
            [node("ConstantOfShape", "s", "z"), node("Add", "x z", "y")],
            {"s": np.array([1 << 30, 1 << 30])},
            shape=(1, 1),
        ),
        r"constant too large|elements of tensor",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_model_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    make, message = HOSTILE[case]
    path = write(tmp_path / "m.onnx", make())
    for read, error in ((read_network, AcceleratorError), (read_onnx, FabricError)):
        with pytest.raises(error, match=message) as caught:
            read(path)
        assert str(caught.value).endswith(f"({path})")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("words", [["power"], ["power", "--flow", "fixed"], ["explore"]])
def test_commands_answer_a_hostile_model_in_one_line(tmp_path: Path, words: Sequence[str]) -> None:
    path = write(tmp_path / "m.onnx", HOSTILE["cycle"][0]())
    more = ["--budget-mw", "10"] if words == ["explore"] else []
    result = CliRunner().invoke(simfoundry, [*words, str(path), *more])
    assert result.exit_code == 1
    assert result.stderr.startswith("simfoundry: damaged ONNX model: ")
    assert result.stderr.count("\n") == 1


def test_a_network_of_too_many_layers_is_refused() -> None:
    with pytest.raises(AcceleratorError, match="more than 4096 layers; accepted: 4096 at most"):
        network_of(_chain(4097), "chain")


def test_a_graph_without_edges_is_refused(tmp_path: Path) -> None:
    nodes = [{"name": name, "kind": "buffer", "stage": 0, "work": 8} for name in "ab"]
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"name": "one", "nodes": nodes, "edges": []}))
    result = CliRunner().invoke(simfoundry, ["place", str(path)])
    assert (result.exit_code, result.stderr) == (
        1,
        f"simfoundry: graph one has no edges; accepted: 1 or more ({path})\n",
    )


def test_power_survives_any_changed_byte(tmp_path: Path) -> None:
    nodes = [
        node("QuantizeLinear", "x s z", "q"),
        node("DequantizeLinear", "q s z", "d"),
        node("Conv", "d w", "c", pads=[1, 1, 1, 1]),
        node("Shape", "c", "n"),
        node("Reshape", "c n", "r"),
        node("Relu", "r", "y"),
    ]
    constants = {"s": np.float32(0.1), "z": np.int8(0), "w": drawn(2, 1, 3, 3)}
    content = model_of(nodes, constants, shape=(1, 1, 4, 4)).SerializeToString()
    rng = np.random.default_rng(0)
    path = tmp_path / "m.onnx"
    for place, value in zip(rng.integers(len(content), size=200), rng.integers(256, size=200), strict=True):
        path.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
        with contextlib.suppress(AcceleratorError):
            assert compile_network(read_network(path), Hardware()).blocks


# ---- files of weights --------------------------------------------------------------------------------


def _model_with_weights(folder: Path, location: str, **entries: int) -> Path:
    tensor = _external(location)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    model = model_of(DENSE)
    model.graph.initializer.append(tensor)
    return write(folder / "m.onnx", model)


def test_weights_beside_the_model_are_read(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "w.bin").write_bytes(b"12345678" + WEIGHT.tobytes())
    path = _model_with_weights(tmp_path, "parts/w.bin", offset=8, length=WEIGHT.nbytes)
    x = drawn(1, 4)
    np.testing.assert_allclose(values_of(read_network(path), x)[0], x @ WEIGHT, rtol=1e-5)


def test_a_missing_file_of_weights_leaves_shapes_and_a_note(tmp_path: Path) -> None:
    network = read_network(_model_with_weights(tmp_path, "w.bin"))
    assert compile_network(network, Hardware()).estimated_cycles > 0
    assert network.notes == ("no file w.bin beside the model: its weights are shapes alone",)
    with pytest.raises(AcceleratorError, match="network without data"):
        quantise(network, Hardware())


def test_a_pipeline_names_the_missing_file_of_weights(tmp_path: Path) -> None:
    path = str(_model_with_weights(tmp_path, "w.bin"))
    result = CliRunner().invoke(simfoundry, ["power", path, "--flow", "fixed"])
    said = f"no file w.bin beside the model; --flow fixed needs the weights ({path})"
    assert (result.exit_code, result.stderr) == (1, f"simfoundry: {said}\n")


@pytest.mark.parametrize("is_training", [False, True])
def test_a_dropout_in_training_mode_is_a_note(is_training: bool, tmp_path: Path) -> None:
    constants = {"w": WEIGHT, "r": np.float32(0.5), "t": np.array(is_training)}
    nodes = [node("MatMul", "x w", "h"), node("Dropout", "h r t", "y")]
    network = read_network(write(tmp_path / "m.onnx", model_of(nodes, constants)))
    note = "Dropout in training mode taken as at inference, it keeps all values: y"
    assert network.notes == ((note,) if is_training else ())


@pytest.mark.parametrize("location", ["../w.bin", "/dev/zero", "out.bin", "", "parts/../../w.bin", "pipe"])
def test_weights_elsewhere_are_refused(tmp_path: Path, location: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes())
    (folder / "out.bin").symlink_to(tmp_path / "w.bin")
    os.mkfifo(folder / "pipe")
    path = _model_with_weights(folder, location)
    with pytest.raises(AcceleratorError, match=r"accepted: a file beside the model|accepted: a regular file"):
        read_network(path)


@pytest.mark.parametrize("entries", [{"offset": 8}, {"length": 1 << 40}, {"offset": -4}])
def test_weights_beyond_their_file_are_refused(tmp_path: Path, entries: dict[str, int]) -> None:
    (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes())
    path = _model_with_weights(tmp_path, "w.bin", **entries)
    with pytest.raises(AcceleratorError, match=r"of w\.bin for initialiser w; accepted: 0 to 48 "):
        read_network(path)


# ---- what is folded and assumed ------------------------------------------------------------------------


def _computed_shapes(opset: int) -> list[NodeProto]:
    zero = node("Unsqueeze", "n", "u", axes=[0]) if opset < 13 else node("Unsqueeze", "n zero", "u")
    return [
        node("Identity", "w", "v"),
        node("MatMul", "x v", "p"),
        node("Shape", "p", "sizes"),
        node("Gather", "sizes first", "n"),
        zero,
        *([node("Mod", "ten seven", "three")] if opset > 9 else [node("Identity", "seven", "three")]),
        node("Concat", "u three", "target", axis=0),
        node("ConstantOfShape", "target", "ones", value=numpy_helper.from_array(np.ones(1, np.float32))),
        node("Reshape", "p target", "r"),
        node("Add", "r ones", "y"),
    ]


@pytest.mark.parametrize("opset", [9, 11, 13, 17, 21])
def test_constants_and_shapes_are_folded_with_the_models_own_opset(tmp_path: Path, opset: int) -> None:
    constants = {
        "w": WEIGHT,
        "first": np.int64(0),
        "zero": np.array([0]),
        "ten": np.array([10]),
        "seven": np.array([7 if opset > 9 else 3]),
    }
    model = model_of(_computed_shapes(opset), constants, shape=("batch", 4), opset=opset)
    path, x = write(tmp_path / "m.onnx", model), drawn(1, 4)
    network = read_network(path)
    assert [layer.kinds for layer in network.layers] == [("MatMul",), ("Reshape",), ("Add",)]
    np.testing.assert_allclose(values_of(network, x)[0], x @ WEIGHT + 1, rtol=1e-5)
    assert network.notes == ("dimension batch has no number: 1 is assumed",)
    assert [op.kind for op in read_onnx(path).operations] == ["buffer", "gemm"]
    bare = read_network(path, has_data=False)
    assert compile_network(bare, Hardware()) == compile_network(network, Hardware())


def test_the_answers_say_what_was_assumed(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", model_of(DENSE, {"w": WEIGHT}, shape=("batch", 4)))
    note = "dimension batch has no number: 1 is assumed"
    for words in (
        ["power"],
        ["explore", "--budget-mw", "1000", "--candidates", "2"],
        ["place", "--moves", "8"],
    ):
        command = [words[0], str(path), *words[1:]]
        assert json.loads(CliRunner().invoke(simfoundry, [*command, "--json"]).output)["notes"] == [note]
        assert note in CliRunner().invoke(simfoundry, command).output
        output = CliRunner().invoke(simfoundry, [*command, "--dimension", "batch=3", "--json"]).output
        assert json.loads(output)["notes"] == []


def test_power_takes_the_size_of_a_dimension(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", model_of(DENSE, {"w": WEIGHT}, shape=(1, "tokens", 4)))
    assert read_network(path, dimensions={"tokens": 5}).input_shape == (1, 5, 4)
    with pytest.raises(
        AcceleratorError, match="without a number: tokens; give each one: --dimension tokens="
    ):
        read_network(path)


def test_a_network_that_only_moves_values_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", model_of([node("Identity", "x", "y")]))
    for words in (["power"], ["explore", "--budget-mw", "20", "--candidates", "2"]):
        result = CliRunner().invoke(simfoundry, [words[0], str(path), *words[1:]])
        assert result.exit_code == 1
        assert "no layer of m runs on the accelerator; accepted: products or sums" in result.stderr


def test_a_negative_dimension_is_refused_and_weights_must_be_finite(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", model_of(DENSE, {"w": WEIGHT}, shape=(-4, 4)))
    with pytest.raises(AcceleratorError, match=r"^dimension x.0 is -4; accepted: 1 or more \(.*m.onnx\)$"):
        read_network(path)
    path = write(tmp_path / "n.onnx", model_of(DENSE, {"w": WEIGHT * np.float32("nan")}))
    result = CliRunner().invoke(simfoundry, ["power", str(path), "--flow", "fixed"])
    assert result.exit_code == 1
    assert "that are not finite; accepted: finite ones" in result.stderr


def test_a_dropout_keeps_all_and_its_mask_is_not_read(tmp_path: Path) -> None:
    nodes = [node("MatMul", "x w", "h"), node("Dropout", "h half yes", "d mask"), node("Relu", "d", "y")]
    constants = {"w": WEIGHT, "half": np.float32(0.5), "yes": np.bool_(True)}
    path, x = write(tmp_path / "m.onnx", model_of(nodes, constants)), drawn(1, 4)
    np.testing.assert_allclose(values_of(read_network(path), x)[0], np.maximum(x @ WEIGHT, 0), rtol=1e-5)
    assert [op.kind for op in read_onnx(path).operations] == ["buffer", "gemm", "relu"]


def test_functions_of_a_model_are_its_operators(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", _functions(3))
    assert [op.kind for op in read_onnx(path).operations] == ["buffer", *["relu"] * 8]


@pytest.mark.parametrize("padding", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("size", [(6, 7), (9,)])
def test_convolutions_of_images_and_signals_with_automatic_padding(
    padding: str, size: tuple[int, ...]
) -> None:
    nodes = [
        node("Conv", "x w b", "c", auto_pad=padding, strides=[2] * len(size), group=2),
        node("Relu", "c", "y"),
    ]
    constants = {"w": drawn(4, 1, *[3] * len(size)), "b": drawn(4)}
    model, x = model_of(nodes, constants, shape=(1, 2, *size)), drawn(1, 2, *size)
    np.testing.assert_allclose(values_of(network_of(model, "c"), x)[0], expected_of(model, x)[0], atol=1e-5)


def test_further_outputs_and_factors_of_products_are_kept() -> None:
    nodes = [
        node("Split", "x parts", "a b", axis=1),
        node("Gemm", "b w c", "g", alpha=2.0, beta=3.0, transB=1),
        node("Concat", "g a", "y", axis=1),
    ]
    constants = {"parts": np.array([2, 2]), "w": drawn(3, 2), "c": drawn(1, 3)}
    model, x = model_of(nodes, constants), drawn(1, 4)
    network = network_of(model, "split")
    np.testing.assert_allclose(values_of(network, x)[0], expected_of(model, x)[0], rtol=1e-5)
    assert quantise(network, Hardware()).layers


def test_values_of_several_inputs_are_refused_and_shapes_are_not() -> None:
    model = model_of([node("Add", "x z", "y")])
    model.graph.input.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 4]))
    network = network_of(model, "two")
    assert compile_network(network, Hardware()).estimated_cycles > 0
    with pytest.raises(AcceleratorError, match="2 inputs: x, z; accepted with values of tensors: 1"):
        quantise(network, Hardware())
