"""The evaluation workloads: every operator against NumPy, at every value of the dynamic parameters."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from evaluation_reference import REFERENCES, expected

from pipelines.c import read_interface
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.programs.dataflow import swept_inputs
from pipelines.programs.evaluation import evaluation_programs, modern_workloads, stationary_program
from pipelines.programs.evaluation.programs import STATIONARY_OPERANDS, STATIONARY_TYPES
from pipelines.schemas import OK, ProgramRow

MODERN = list(modern_workloads())


@cache
def programs(suite: str) -> dict[str, ProgramRow]:
    return {row.name: row for row in evaluation_programs(suite)}


@pytest.mark.sample(5)
@pytest.mark.parametrize("fraction", [-0.5, 0.0, 0.5])
@pytest.mark.parametrize("workload", MODERN)
def test_workload_equals_its_reference(workload: str, fraction: float, tmp_path: Path) -> None:
    row = programs("modern")[workload]
    interface = read_interface(row.source, row.top)
    data = draw_data(interface, swept_inputs(row, fractions=[fraction])[0], seed=7)
    ran = run_native(row.source, interface, data, folder=tmp_path)
    assert ran.status == OK, ran.reason
    wanted = expected(row, data)
    for name, values in ran.outputs.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(values, wanted[name], rtol=1e-4, atol=1e-4, err_msg=name)
        else:
            np.testing.assert_array_equal(values, wanted[name], err_msg=name)


@pytest.mark.parametrize("data_type", STATIONARY_TYPES)
@pytest.mark.parametrize("operand", STATIONARY_OPERANDS)
def test_stationary_product_equals_numpy(operand: str, data_type: str, tmp_path: Path) -> None:
    row = stationary_program(operand, data_type)
    interface = read_interface(row.source, row.top)
    data = draw_data(interface, row.inputs, seed=3)
    ran = run_native(row.source, interface, data, folder=tmp_path)
    assert ran.status == OK, ran.reason
    wanted = data["alpha"] * (data["A"] @ data["B"]) + data["beta"] * data["C"]
    np.testing.assert_allclose(ran.outputs["C"], wanted, rtol=1e-5, atol=1e-4)


def test_every_operator_is_in_a_workload_and_has_a_reference() -> None:
    used = {name for row in programs("modern").values() for name in row.operators}
    assert used == set(REFERENCES)


@pytest.mark.parametrize("workload", MODERN)
def test_the_graph_names_what_the_program_has(workload: str) -> None:
    row = programs("modern")[workload]
    graph = json.loads(row.graph or "")
    interface = read_interface(row.source, row.top)
    arguments = {a.name: a for a in interface.arguments}
    assert set(arguments) == set(graph["tensors"]) | set(graph["scalars"])
    for name, tensor in graph["tensors"].items():
        assert list(arguments[name].shape) == tensor["shape"]
        assert arguments[name].written == (tensor["place"] != "input")
    assert [node["operator"] for node in graph["nodes"]] == list(row.operators)
    assert any(node["scalars"] for node in graph["nodes"])
    assert graph["scalars"], "a modern workload has dynamic parameters"


def test_the_dynamic_parameters_sweep_half_up_and_down() -> None:
    for workload in modern_workloads().values():
        for ends in workload["graph"]["scalars"].values():
            base = ends["base"]
            assert ends == {"base": base, "low": -(-base // 2), "high": base + base // 2}


def test_a_stationary_product_holds_a_tile_of_its_operand() -> None:
    for operand, held in (("weight", "= B["), ("input", "= alpha * A["), ("output", "= 0")):
        source = stationary_program(operand, "int").source
        assert f"held[{'k' if operand == 'weight' else 'i'}]" in source
        assert held in source
