"""`simfoundry power` and `simfoundry explore`: figures of an ONNX file, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from invoking import invoke
from onnx import TensorProto, helper

from pipelines.accelerators.networks import drawn_fixed_network, drawn_network
from simfoundry.commands.power import pareto_front


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("networks") / "net.onnx"
    onnx.save(drawn_network("resnet", "tiny", 5), str(path))
    return path


def test_an_answer_has_figures_with_intervals_and_layers(network: Path, tmp_path: Path) -> None:
    hardware = tmp_path / "h.yaml"
    hardware.write_text("rows: 2\ncolumns: 2\naccumulator_bits: 20\nscratchpad_rows: 64\n")
    result = invoke("power", str(network), "--hardware", str(hardware), "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.output)
    assert answer["power_low_mw"] <= answer["power_mw"] <= answer["power_high_mw"]
    assert answer["energy_low_nj"] <= answer["energy_nj"] <= answer["energy_high_nj"]
    assert answer["cycles"] > 0
    layers = sum(layer["energy_nj"] for layer in answer["layers"])
    assert layers == pytest.approx(answer["energy_nj"], rel=0.01)
    assert sum(answer["shares"].values()) == pytest.approx(1.0, abs=0.01)
    assert answer["measured"] is None


def test_the_text_names_the_layers(network: Path) -> None:
    output = invoke("power", str(network)).output
    assert "mW (" in output
    assert "conv_0" in output


def test_hardware_and_sizes_outside_of_the_labels_are_named(network: Path, tmp_path: Path) -> None:
    inside = json.loads(invoke("power", str(network), "--json").output)
    assert inside["outside"] == []
    assert "outside what was labelled" not in invoke("power", str(network)).output
    hardware = tmp_path / "h.yaml"
    hardware.write_text("rows: 64\ncolumns: 64\nscratchpad_rows: 1024\naccumulator_rows: 256\n")
    options = ("power", str(network), "--hardware", str(hardware))
    answer = json.loads(invoke(*options, "--json").output)
    named = {column["column"]: column for column in answer["outside"]}
    assert set(named) == {"rows", "columns"}
    assert named["rows"] == {"column": "rows", "value": 64, "labelled": [2, 16]}
    factor, least = (a["power_high_mw"] / a["power_mw"] for a in (answer, inside))
    assert factor > least
    assert "outside what was labelled: rows 64 (2 to 16); columns 64 (2 to 16)" in invoke(*options).output


def test_a_large_network_is_outside_of_the_labels(tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    onnx.save(drawn_network("mlp", "medium", 0, has_data=False), str(file))
    answer = json.loads(invoke("power", str(file), "--json").output)
    assert {"parameters", "multiplications"} <= {column["column"] for column in answer["outside"]}
    output = invoke("explore", str(file), "--budget-mw", "100000", "--candidates", "4").output
    assert "outside what was labelled" in output.splitlines()[2]
    assert all("parameters" in line for line in output.splitlines()[4:])


def test_explore_lists_what_no_other_configuration_beats(network: Path) -> None:
    result = invoke("explore", str(network), "--budget-mw", "100000", "--candidates", "20", "--json")
    assert result.exit_code == 0, result.stderr
    front = json.loads(result.output)["front"]
    powers, times = ([row[name] for row in front] for name in ("power_mw", "latency_ms"))
    assert powers == sorted(powers)
    assert times == sorted(times, reverse=True)


def test_explore_says_when_the_budget_is_too_small(network: Path) -> None:
    result = invoke("explore", str(network), "--budget-mw", "0.0001", "--candidates", "3")
    assert result.exit_code == 1
    assert "no configuration within 0.0001 mW; the least power is" in result.stderr


def test_power_names_the_operator_that_is_not_supported(tmp_path: Path) -> None:
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Det", ["x"], ["y"])], "one", value[:1], value[1:])
    file = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph), str(file))
    result = invoke("power", str(file))
    assert result.exit_code == 1
    assert result.stderr.startswith("simfoundry: operators that are not supported: Det (node y); accepted: ")


def test_a_front_has_no_row_that_another_beats() -> None:
    rows = [{"power_mw": p, "latency_ms": t} for p, t in ((1, 9), (2, 9), (2, 5), (3, 6), (4, 1), (1, 10))]
    assert [(row["power_mw"], row["latency_ms"]) for row in pareto_front(rows)] == [(1, 9), (2, 5), (4, 1)]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("networks") / "pipeline.onnx"
    onnx.save(drawn_fixed_network("cnn", 4), str(path))
    return path


def test_a_pipeline_has_figures_with_intervals_and_stages(pipeline: Path) -> None:
    pytest.importorskip("da4ml")
    result = invoke("power", str(pipeline), "--flow", "fixed", "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.output)
    assert answer["power_low_mw"] <= answer["power_mw"] <= answer["power_high_mw"]
    assert sum(answer["stages"]) == pytest.approx(answer["energy_nj"], rel=0.01)
    assert answer["energy_nj"] == pytest.approx(answer["power_mw"] * 20e-3, rel=0.2)
    assert answer["outside"] == []
    slow = invoke("power", str(pipeline), "--flow", "fixed", "--reuse-factor", "64", "--json").output
    assert [column["column"] for column in json.loads(slow)["outside"]] == ["reuse_factor"]
    output = invoke("power", str(pipeline), "--flow", "fixed", "--reuse-factor", "4").output
    assert "an inference every 80 ns" in output


def test_a_configuration_of_hls4ml_steers_a_pipeline_and_its_description(
    pipeline: Path, tmp_path: Path
) -> None:
    pytest.importorskip("da4ml")
    pytest.importorskip("hls4ml")
    config = tmp_path / "hls4ml.yml"
    config.write_text("HLSConfig:\n  Model:\n    Precision: ap_fixed<8,3>\n    ReuseFactor: 4\n")
    options = ("power", str(pipeline), "--flow", "fixed", "--hls-config", str(config), "--describe")
    answer = json.loads(invoke(*options, "--json").output)
    assert answer["reuse_factor"] == 4
    assert {layer["reuse_factor"] for layer in answer["description"]} == {4}
    assert answer["description"][0]["class"] == "Input"
    output = invoke(*options).output
    assert "an inference every 80 ns" in output
    assert "fixed<8,3,TRN,WRAP,0>" in output


def test_a_pipeline_names_what_it_cannot_be(tmp_path: Path) -> None:
    pytest.importorskip("da4ml")
    for family, scale, message in (
        ("bert", "tiny", "operator without a fixed-point form: "),
        ("mobilenet", "tiny", "operator without a fixed-point form: Clip to 6 (conv_0)"),
        ("mlp", "small", " products per inference in mlp; accepted as a fixed-point pipeline: up to 20,000"),
    ):
        file = tmp_path / f"{family}.onnx"
        onnx.save(drawn_network(family, scale, 1), str(file))
        result = invoke("power", str(file), "--flow", "fixed")
        assert result.exit_code == 1
        assert message in result.stderr
