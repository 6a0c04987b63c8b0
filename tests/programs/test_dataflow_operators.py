"""Every operator against NumPy, in its plain loop order and mutated; whole graphs; hardware."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from dataflow_reference import OPERATIONS, evaluate

from pipelines.c import read_interface
from pipelines.c.signature import DataSet, same_values
from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.programs.dataflow import (
    CONTROL,
    OPERATORS,
    DataflowOptions,
    dataflow_program,
    operators_program,
    swept_inputs,
)
from pipelines.programs.dataflow.graph import graph_of
from pipelines.programs.dataflow.operators import BY_NAME
from pipelines.programs.dataflow.program import row_of
from pipelines.schemas import OK, ProgramRow

# Four programs hold all operators; every result of theirs is an argument, so that each is compared.
_PLAIN = [o.name for o in OPERATORS if o.family != CONTROL]
GROUPS = (
    *(tuple(_PLAIN[start::3]) for start in range(3)),
    tuple(o.name for o in OPERATORS if o.family == CONTROL),
)
WIDE = DataflowOptions(cycle_budget=2_000_000, cell_budget=10_000_000, local_bits=65_536, runtime_share=0.5)
NOT_FOR_INTEGERS = {"forward_substitution"}
NOT_FOR_FLOATS = {"histogram", "common_divisor", "counting_sort"}


def outputs_of(row: ProgramRow, folder: Path, *, seed: int) -> tuple[DataSet, DataSet]:
    """Data at one end of the sweep, and what native C gives for it."""
    interface = read_interface(row.source, row.top)
    data = draw_data(interface, swept_inputs(row)[-(seed % 2)], seed=seed)
    run = run_native(row.source, interface, data, folder=folder)
    assert run.status == OK, run.reason
    return data, run.outputs


def compare(row: ProgramRow, data: DataSet, outputs: DataSet) -> None:
    """Every result equals NumPy's from the results before it; floats within their rounding."""
    for name, wanted in evaluate(row, data, given=outputs).items():
        got = outputs[name]
        if got.dtype.kind == "f":
            scale = max(1.0, float(np.abs(wanted).max()))
            np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5 * scale, err_msg=name)
        else:
            np.testing.assert_array_equal(got, wanted, err_msg=name)


def test_every_operator_has_a_reference() -> None:
    assert {o.name for o in OPERATORS} == set(OPERATIONS)


@pytest.mark.sample(9)
@pytest.mark.parametrize("group", range(4))
@pytest.mark.parametrize(
    ("data_type", "mutated"), [("int8", 0.5), ("int16", 0.5), ("int32", 0.0), ("int32", 1.0), ("float", 1.0)]
)
def test_every_operator_equals_numpy(group: int, data_type: str, mutated: float, tmp_path: Path) -> None:
    """In its plain order and mutated; the plain ones of floats are those of the next test."""
    options = replace(WIDE, data_types=(data_type,), mutation_share=mutated, buffers=True)
    row = operators_program(GROUPS[group], seed=group + int(10 * mutated), options=options)
    missing = NOT_FOR_FLOATS if data_type == "float" else NOT_FOR_INTEGERS
    assert set(GROUPS[group]) - set(row.operators) <= missing
    data, outputs = outputs_of(row, tmp_path, seed=group)
    compare(row, data, outputs)


@pytest.mark.slow
@pytest.mark.parametrize("group", range(4))
def test_floating_results_are_the_same_bits_when_sums_keep_their_order(group: int, tmp_path: Path) -> None:
    options = replace(WIDE, data_types=("float",), mutation_share=1.0, reorder_sums=False, buffers=True)
    graph = graph_of(Random(group), options, [BY_NAME[name] for name in GROUPS[group]])
    mutated = row_of("mutated", graph)
    plain = row_of("plain", replace(graph, nodes=tuple(replace(n, body=n.plain) for n in graph.nodes)))
    assert mutated.source != plain.source
    data, outputs = outputs_of(mutated, tmp_path / "mutated", seed=group)
    interface = read_interface(plain.source, plain.top)
    run = run_native(plain.source, interface, data, folder=tmp_path / "plain")
    assert run.status == OK, run.reason
    assert all(same_values(run.outputs[name], values) for name, values in outputs.items())
    assert set(GROUPS[group]) - set(plain.operators) <= NOT_FOR_FLOATS
    compare(plain, data, run.outputs)


@pytest.mark.sample(4)
@pytest.mark.parametrize("number", range(8))
def test_whole_integer_graphs_equal_numpy(number: int, tmp_path: Path) -> None:
    options = DataflowOptions(
        data_types=("int8", "int16", "int32"), minimum_operators=6, cell_budget=60_000, runtime_share=0.6
    )
    row = dataflow_program(number, seed=11, options=options)
    data, outputs = outputs_of(row, tmp_path, seed=number)
    for name, wanted in evaluate(row, data).items():
        np.testing.assert_array_equal(outputs[name], wanted, err_msg=name)


@pytest.mark.sample(2)
@pytest.mark.parametrize("number", range(4))
def test_hardware_equals_native_c(number: int, tmp_path: Path) -> None:
    options = DataflowOptions(maximum_operators=3, cycle_budget=4000)
    row = dataflow_program(number, seed=21, options=options)
    design = compile_program(row.source, top=row.top, options=HlsOptions())
    data, outputs = outputs_of(row, tmp_path / "native", seed=number)
    counted = count_cycles(design, data, folder=tmp_path / "cycles")
    assert counted.status == OK, counted.reason
    assert all(same_values(counted.outputs[name], values) for name, values in outputs.items())
    assert counted.latency_cycles is not None
    assert counted.latency_cycles < 50_000


@pytest.mark.sample(4)
@pytest.mark.parametrize("number", range(20))
def test_the_front_end_accepts_the_programs(number: int) -> None:
    row = dataflow_program(number, seed=31, options=DataflowOptions())
    assert row.graph is not None
    design = compile_program(row.source, top=row.top, options=HlsOptions())
    written = {a.name for a in design.interface.arrays if a.written}
    tensors = json.loads(row.graph)["tensors"]
    assert written == {n for n, t in tensors.items() if t["place"] in ("output", "buffer")}
