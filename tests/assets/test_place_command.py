"""`simfoundry place`: placements, routes and pictures of graphs and ONNX models, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import onnx
import pytest
import yaml
from click.testing import Result
from defusedxml.ElementTree import parse
from invoking import invoke
from onnx import TensorProto, helper, numpy_helper

from assets.settings import CONFIGURATION_FOLDER
from pipelines.fabric import read_fabric
from pipelines.fabric.evaluation import Measured, measure
from simfoundry.cli import options
from simfoundry.commands import place as place_command

GRAPH: dict[str, Any] = {
    "name": "one",
    "nodes": [
        {"name": "x", "kind": "buffer", "stage": 0, "work": 256},
        {"name": "y", "kind": "gemm", "stage": 1, "work": 65536},
        {"name": "z", "kind": "buffer", "stage": 2, "work": 256},
    ],
    "edges": [{"source": "x", "target": "y", "words": 128}, {"source": "y", "target": "z", "words": 128}],
}
FABRIC: dict[str, Any] = {
    "name": "small",
    "rows": 4,
    "columns": 4,
    "pattern": ["CM", "MC"],
    "link_words": 4,
    "port_words": 8,
    "operations": {
        "gemm": {"unit": "compute", "rate": 64, "delay_cycles": 8},
        "relu": {"unit": "compute", "rate": 16},
        "buffer": {"unit": "memory", "rate": 16},
        "weights": {"unit": "memory", "rate": 16},
    },
}


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def in_project(project: Path, engines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project of its own; engines are compiled once for all tests."""
    (project / ".simfoundry").mkdir(exist_ok=True)
    deployment = place_command.find_deployment()
    monkeypatch.setattr(place_command, "find_deployment", lambda: replace(deployment, cache_dir=engines))


def write(path: Path, value: Any) -> str:
    path.write_text(yaml.safe_dump(value) if path.suffix == ".yaml" else json.dumps(value))
    return str(path)


def changed(**changes: Any) -> dict[str, Any]:
    return {**GRAPH, **changes}


def place(*arguments: str) -> Result:
    return invoke("place", *arguments, "--moves", "400")


def mlp(path: Path, *, layers: int = 2, batch: int | str = "batch", operator: str = "Relu") -> str:
    """A perceptron of equal layers."""
    weight = numpy_helper.from_array(np.zeros((64, 64), np.float32), "w")
    nodes: list[onnx.NodeProto] = []
    for layer in range(layers):
        start = f"r{layer - 1}" if layer else "x"
        nodes.append(helper.make_node("MatMul", [start, "w"], [f"p{layer}"], name=f"product{layer}"))
        nodes.append(helper.make_node(operator, [f"p{layer}"], [f"r{layer}"], name=f"rectified{layer}"))
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [batch, 64])]
        for name in ("x", f"r{layers - 1}")
    ]
    graph = helper.make_graph(nodes, "mlp", *ends, initializer=[weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return str(path)


def test_an_answer_is_a_legal_placement_with_its_routes(tmp_path: Path) -> None:
    fabric = write(tmp_path / "f.yaml", FABRIC)
    result = place(write(tmp_path / "g.json", GRAPH), "--fabric", fabric, "--clock", "500", "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.output)
    [graph] = answer["graphs"]
    machine = read_fabric(Path(fabric))
    for entry in graph["placement"]:
        assert machine.unit_types[entry["unit"]] == machine.operation(entry["kind"]).unit
        assert entry["unit"] == entry["row"] * 4 + entry["column"]
    at = {entry["operation"]: [entry["row"], entry["column"]] for entry in graph["placement"]}
    for route in graph["routes"]:
        assert (route["tiles"][0], route["tiles"][-1]) == (at[route["source"]], at[route["target"]])
        steps = zip(route["tiles"], route["tiles"][1:], strict=False)
        assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in steps)
        assert len(route["links"]) == len(route["tiles"]) + 1
    assert graph["slowest_operation_cycles"] == 1024
    assert graph["throughput"] == pytest.approx(1024 / graph["cycles_per_sample"], abs=1e-4)
    assert graph["throughput"] > 0.9
    assert answer["samples_per_second"] == pytest.approx(500e6 / answer["cycles_per_sample"])
    assert graph["bottleneck"].startswith(("operation y (gemm)", "the output buffer of y to z"))
    assert (graph["moves"], answer["cost_model"], graph["picture"]) == (400, "heuristic", None)
    assert 0.5 < graph["heuristic_throughput"] <= 1


def test_the_text_has_placement_routes_and_bottleneck(tmp_path: Path) -> None:
    text = place(write(tmp_path / "g.json", GRAPH)).output
    assert "one on present: 3 operations, 2 edges" in text
    assert "cycles per sample" in text
    assert "samples per second" not in text
    assert "\nbottleneck   " in text
    assert "400 moves by heuristic in" in text
    assert [line.split()[:2] for line in text.splitlines() if line.startswith(("x ", "y "))] == [
        ["x", "buffer"],
        ["y", "gemm"],
        ["x", "y"],
        ["y", "z"],
    ]


def test_one_seed_gives_one_answer_and_the_simulator_can_be_the_cost_model(tmp_path: Path) -> None:
    file = write(tmp_path / "g.json", GRAPH)

    def units(*arguments: str) -> list[int]:
        [graph] = json.loads(place(file, "--json", *arguments).output)["graphs"]
        return [entry["unit"] for entry in graph["placement"]]

    assert units("--seed", "3") == units("--seed", "3") != units("--seed", "4")
    command = ["place", file, "--cost-model", "simulator", "--moves", "16", "--json"]
    answer = json.loads(invoke(*command).output)
    assert answer["cost_model"] == "simulator"
    assert answer["graphs"][0]["moves"] == 16


def test_the_picture_is_svg(tmp_path: Path) -> None:
    name = "<b>&\x1b"
    nodes = [{**GRAPH["nodes"][0], "name": name}, *GRAPH["nodes"][1:]]
    edges = [{**GRAPH["edges"][0], "source": name}, GRAPH["edges"][1]]
    file = write(tmp_path / "g.json", changed(nodes=nodes, edges=edges))
    result = place(file, "--svg", str(tmp_path / "p.svg"))
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    root: Element = parse(tmp_path / "p.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert any(
        str(shape.text).startswith("link from") for shape in root.iter() if shape.tag.endswith("title")
    )


def test_a_network_that_fits_is_one_graph(tmp_path: Path) -> None:
    answer = json.loads(place(mlp(tmp_path / "m.onnx"), "--dimension", "batch=32", "--json").output)
    [graph] = answer["graphs"]
    kinds = [entry["kind"] for entry in graph["placement"]]
    assert sorted(kinds) == sorted(["buffer", "gemm", "weights", "relu", "buffer", "gemm", "weights", "relu"])


def test_a_network_that_does_not_fit_is_cut(tmp_path: Path) -> None:
    fabric = write(tmp_path / "f.yaml", FABRIC)
    file = mlp(tmp_path / "m.onnx", layers=6)
    answer = json.loads(place(file, "--fabric", fabric, "--svg", str(tmp_path / "p.svg"), "--json").output)
    graphs = answer["graphs"]
    assert len(graphs) > 1
    assert [graph["graph"] for graph in graphs] == [f"m.{number}" for number in range(len(graphs))]
    assert answer["cycles_per_sample"] == sum(graph["cycles_per_sample"] for graph in graphs)
    products = [e["operation"] for g in graphs for e in g["placement"] if e["kind"] == "gemm"]
    assert products == [f"product{layer}" for layer in range(6)]
    assert all(Path(graph["picture"]).is_file() for graph in graphs)
    text = place(file, "--fabric", fabric, "--clock", "1000").output
    assert f"{len(graphs)} graphs, one after the other: " in text.splitlines()[-1]


def test_place_says_when_every_placement_deadlocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deadlocked(*arguments: Any, **options: Any) -> list[Measured]:
        return [replace(result, throughput=None) for result in measure(*arguments, **options)]

    monkeypatch.setattr(place_command, "measure", deadlocked)
    result = place(write(tmp_path / "g.json", GRAPH))
    assert result.exit_code == 1
    assert "no placement of one works: all 24 that were simulated ended in a deadlock" in result.stderr


def test_place_rejects_a_cost_model_that_is_not_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place_command, "predictors", lambda: ())
    result = place(write(tmp_path / "g.json", GRAPH), "--cost-model", "pnr-gnn@champion")
    assert (result.exit_code, result.stderr) == (
        1,
        "simfoundry: no predictor pnr-gnn is registered; accepted: heuristic, simulator\n",
    )


def test_place_rejects_networks(tmp_path: Path) -> None:
    result = place(mlp(tmp_path / "m.onnx", operator="Det"))
    assert result.stderr.startswith(
        "simfoundry: operators that are not supported: Det (node rectified0); accepted: "
    )
    for size in ("batch", "batch=0", "batch=two", "=4", "batch=99999999999"):
        result = place(mlp(tmp_path / "m.onnx"), "--dimension", size)
        assert result.stderr.startswith(f"simfoundry: unknown --dimension: {size}; accepted: NAME=SIZE")


def test_the_default_fabric_is_readable() -> None:
    for file in sorted((CONFIGURATION_FOLDER / "fabric").glob("*.yaml")):
        assert read_fabric(file).name == file.stem


def test_place_says_which_part_of_the_search_runs_unless_the_answer_is_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place(write(tmp_path / "h.json", GRAPH), "--moves", "20").stderr == ""  # a short one says nothing
    monkeypatch.setattr(options, "PACE_S", 0.0)
    file, fabric = write(tmp_path / "g.json", GRAPH), write(tmp_path / "f.yaml", FABRIC)
    said = place(file, "--fabric", fabric).stderr.splitlines()
    assert said[:3] == [
        "one: search 1 of 2, 200 moves",
        *(f"one: search 1 of 2, {share} % of the moves" for share in (10, 20)),
    ]
    assert said[-1] == "one: search 2 of 2, simulation of 8 placements"
    assert len(said) == 2 * (1 + 10 + 1)
    assert place(file, "--fabric", fabric, "--json").stderr == ""
