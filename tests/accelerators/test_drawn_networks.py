"""ONNX models as layers, drawn networks, and rows of the tables."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from pipelines.accelerators import AcceleratorError, Hardware, compile_network, network_of, read_network
from pipelines.accelerators.dataset import (
    AcceleratorGroup,
    compiled_row,
    drawn_hardware,
    near_default,
    network_named,
    parts_of,
)
from pipelines.accelerators.labels import MemoryModel
from pipelines.accelerators.networks import FAMILIES, drawn_network
from pipelines.accelerators.systolic.quantise import quantise


def _model(operator: str, **attributes: object) -> onnx.ModelProto:
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    node = helper.make_node(operator, ["x"], ["y"], **attributes)
    return helper.make_model(helper.make_graph([node], "one", value[:1], value[1:]))


def test_activations_biases_and_pools_join_the_product() -> None:
    layers = network_of(drawn_network("cnn", "small", 0), "cnn").layers
    assert {layer.kind for layer in layers} == {"conv", "matmul", "host"}
    assert all(layer.has_bias for layer in layers if layer.kind != "host")
    assert any(layer.pool for layer in layers)


def test_an_operator_that_is_not_supported_is_named(tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    onnx.save(_model("Det"), str(file))
    message = r"operators that are not supported: Det \(node y\); accepted: .*Conv.*net\.onnx"
    with pytest.raises(AcceleratorError, match=message):
        read_network(file)


def test_a_damaged_file_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    file.write_bytes(b"\x00 not a model")
    with pytest.raises(AcceleratorError, match=r"net\.onnx"):
        read_network(file)


def test_a_network_without_data_compiles_and_does_not_run() -> None:
    with_data, bare = (
        network_of(drawn_network("bert", "tiny", 2, has_data=d), "bert") for d in (True, False)
    )
    assert compile_network(with_data, Hardware()) == compile_network(bare, Hardware())
    with pytest.raises(AcceleratorError, match="network without data"):
        quantise(bare, Hardware())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_drawn_network_is_the_same_again(family: str) -> None:
    one, other = (drawn_network(family, "tiny", 4) for _ in range(2))
    assert one.SerializeToString() == other.SerializeToString()


def test_large_networks_reach_the_size_of_bert_base() -> None:
    network = network_of(drawn_network("bert", "large", 0, has_data=False), "bert")
    assert network.parameter_count > 80_000_000
    assert compile_network(network, Hardware()).estimated_cycles > 0


def test_hardware_is_drawn_by_number() -> None:
    drawn = [drawn_hardware(1, number, is_small=True) for number in range(8)]
    assert drawn == [drawn_hardware(1, number, is_small=True) for number in range(8)]
    assert len({hardware.accelerator_id for hardware in drawn}) == 8


def test_configurations_near_the_default_are_drawn_by_number() -> None:
    drawn = [near_default(0, number) for number in range(34)]
    assert drawn[0] == Hardware()
    assert len(set(drawn)) == 34
    assert not set(drawn) & {near_default(1, number) for number in range(12)}  # held out in the release
    assert {hardware.accumulator_bits for hardware in drawn} == {32}
    for hardware in drawn:
        changed = hardware.model_dump(exclude={"rows", "columns"}).items() - Hardware().model_dump().items()
        assert len(changed) <= 8


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_exported_networks_compile_and_are_of_their_own(family: str, number: int) -> None:
    group = AcceleratorGroup(
        name="x", families=(family,), exported=(number,), is_near_default=True, part="none"
    )
    [asked] = group.networks_of(5)
    assert asked == (family, "exported", number)
    row = compiled_row(group.hardware_of(5), asked, group.name, group.part)
    assert (row.status, row.scale, row.split_random, row.split_scale) == ("ok", "exported", "none", "none")
    assert quantise(network_named(*asked), group.hardware_of(5)).layers
    others = {compiled_row(group.hardware_of(5), (family, "exported", n), "x").compiled_id for n in range(3)}
    assert len(others) == 3


def test_groups_keep_the_identity_that_they_had() -> None:
    fields = {"name", "hardware", "families", "scales", "networks", "is_labelled", "is_small", "seed"}
    assert AcceleratorGroup(name="x", seed=7).identity.keys() == fields
    near = AcceleratorGroup(name="x", is_near_default=True, exported=(0,), part="train").identity
    assert near.keys() == fields | {"is_near_default", "exported", "part", "files"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"part": "test"}, "part of group x: test; accepted: train, none"),
        ({"families": ("mlp",), "exported": (9,)}, "unknown exported network: mlp_9; accepted: bert_0, "),
    ],
)
def test_a_group_names_what_is_wrong(fields: dict[str, object], message: str) -> None:
    with pytest.raises(AcceleratorError, match=message):
        AcceleratorGroup(name="x", **fields)  # type: ignore[arg-type]


def test_splits_keep_families_apart() -> None:
    assert parts_of("x", "mlp", 100)["arch1"] == "train"
    assert parts_of("x", "resnet", 100)["arch1"] == "test"
    assert parts_of("x", "resnet", 100)["arch2"] == "none"
    row = compiled_row(Hardware(), ("cnn", "tiny", 1), "group")
    assert (row.split_arch2, row.status) == ("train", "ok")
    assert len(row.block_counts) == 20 * len(row.block_kinds)


def test_a_group_rejects_an_unknown_family_and_labels_of_large_networks() -> None:
    with pytest.raises(AcceleratorError, match="unknown family or scale in group g: rnn"):
        AcceleratorGroup(name="g", families=("rnn",))
    with pytest.raises(AcceleratorError, match="labelled scales in group g; accepted: tiny, small"):
        AcceleratorGroup(name="g", scales=("large",), is_labelled=True)


def test_a_memory_costs_more_with_rows_bits_and_writes() -> None:
    def energy(rows: int, bits: int, *, writes: bool = False) -> float:
        return MemoryModel().energy_pj(rows=rows, bits=bits, voltage_v=1.8, writes=writes)

    assert energy(64, 32) < energy(128, 32) < energy(128, 32, writes=True)
    assert energy(64, 32) < energy(64, 64)
