"""Rows of the dataflow stage: determinism, graphs, sweeps, bounds, refusals."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from pipelines.c import read_interface
from pipelines.programs import ProgramError, draw_data
from pipelines.programs.dataflow import (
    CONTROL,
    DATA_TYPES,
    FAMILY_WEIGHTS,
    OPERATORS,
    DataflowOptions,
    dataflow_programs,
    operators_program,
    swept_inputs,
)
from pipelines.programs.dataflow.graph import estimated_cells
from pipelines.programs.dataflow.program import draw_graph
from pipelines.programs.dataflow.tree import Statement, walk
from pipelines.schemas import OK, REJECTED, ProgramRow, table_spec
from tests.programs.loop_depths import depth_of

OPTIONS = DataflowOptions()


@cache
def drawn() -> list[ProgramRow]:
    return dataflow_programs(count=40, seed=0, options=OPTIONS)


@cache
def dynamic() -> list[ProgramRow]:
    return dataflow_programs(count=20, seed=3, options=replace(OPTIONS, runtime_share=1.0))


def graph_of(row: ProgramRow) -> dict[str, Any]:
    assert row.graph is not None
    return json.loads(row.graph)


def test_a_program_depends_on_its_number_not_on_how_many_there_are() -> None:
    assert dataflow_programs(count=5, seed=0, options=OPTIONS) == drawn()[:5]


def test_another_seed_gives_other_programs() -> None:
    others = dataflow_programs(count=10, seed=1, options=OPTIONS)
    assert not {r.program_id for r in others} & {r.program_id for r in drawn()}


def test_programs_are_stable(golden: Callable[[str, str], None]) -> None:
    golden("programs/dataflow_ids.txt", "".join(f"{r.name} {r.program_id}\n" for r in drawn()[:12]))


def test_the_text_of_a_program_is_stable(golden: Callable[[str, str], None]) -> None:
    golden("programs/dataflow.c", drawn()[12].source)


def test_rows_fit_the_programs_table_and_differ() -> None:
    table = table_spec("programs").to_arrow(drawn())
    assert table.num_rows == len({r.program_id for r in drawn()}) == 40
    assert {(r.suite, r.stage, r.status) for r in drawn()} == {("dataflow", "dataflow", OK)}


@pytest.mark.slow
def test_all_data_types_and_families_are_drawn() -> None:
    graphs = [graph_of(r) for r in dataflow_programs(count=120, seed=0, options=OPTIONS)]
    assert {g["element"] for g in graphs} == set(DATA_TYPES)
    assert {n["family"] for g in graphs for n in g["nodes"]} == set(FAMILY_WEIGHTS)


def test_every_family_has_operators() -> None:
    assert {o.family for o in OPERATORS} == {*FAMILY_WEIGHTS, CONTROL}
    assert len({o.name for o in OPERATORS}) == len(OPERATORS) >= 70


def test_a_node_reads_only_inputs_and_what_ran_before() -> None:
    for row in drawn():
        graph = graph_of(row)
        known = {n for n, t in graph["tensors"].items() if t["place"] == "input"}
        for node in graph["nodes"]:
            assert set(node["inputs"].values()) <= known
            known.add(node["output"])
        assert known == set(graph["tensors"])


def test_every_result_is_read_or_leaves_the_program() -> None:
    for row in drawn():
        graph = graph_of(row)
        read = {name for node in graph["nodes"] for name in node["inputs"].values()}
        for node in graph["nodes"]:
            place = graph["tensors"][node["output"]]["place"]
            assert (node["output"] in read) == (place in ("local", "buffer")), (row.name, node["name"])


def test_edges_name_makers_readers_and_shapes() -> None:
    for row in drawn():
        graph = graph_of(row)
        makers = {node["output"]: node["name"] for node in graph["nodes"]}
        edges = {(e["tensor"], e["from"], e["to"], e["role"], tuple(e["shape"])) for e in graph["edges"]}
        assert edges == {
            (name, makers.get(name), node["name"], role, tuple(graph["tensors"][name]["shape"]))
            for node in graph["nodes"]
            for role, name in node["inputs"].items()
        }


def test_the_top_calls_the_nodes_in_order() -> None:
    for row in drawn():
        body = row.source[row.source.index(f"void {row.top}(") :]
        calls = re.findall(r"^    (\w+)\(", body, re.MULTILINE)
        assert calls == [node["name"] for node in graph_of(row)["nodes"]]
        assert row.operators == tuple(node["operator"] for node in graph_of(row)["nodes"])


def test_arguments_are_the_tensors_outside_and_the_scalars() -> None:
    for row in drawn():
        graph = graph_of(row)
        interface = read_interface(row.source, row.top)
        outside = {n: tuple(t["shape"]) for n, t in graph["tensors"].items() if t["place"] != "local"}
        assert {a.name: a.shape for a in interface.arrays} == outside
        assert {a.name for a in interface.scalars} == set(graph["scalars"])


def test_parameters_are_the_macros() -> None:
    for row in drawn():
        macros = dict(re.findall(r"^#define (\w+) (\d+)$", row.source, re.MULTILINE))
        assert {k: str(v) for k, v in json.loads(row.parameters).items()} == macros
    shares = {bool(json.loads(r.parameters)) for r in drawn()}
    assert shares == {True, False}


def test_loops_are_deep_and_work_on_arrays() -> None:
    graphs = [draw_graph(k, seed=0, options=OPTIONS) for k in range(60)]
    depths = [max(depth_of(n.body) for n in g.nodes) for g in graphs]
    assert statistics.median(depths) >= 3
    trips = [
        ("[" in node.text, count)
        for g in graphs
        for n in g.nodes
        for node, _, count in walk(n.body)
        if isinstance(node, Statement)
    ]
    assert sum(count for on, count in trips if on) > 0.9 * sum(count for _, count in trips)


def test_programs_stay_in_their_bounds() -> None:
    for k in range(60):
        graph = draw_graph(k, seed=0, options=OPTIONS)
        assert OPTIONS.minimum_cycles <= graph.cycles <= OPTIONS.cycle_budget
        assert 1 <= len(graph.nodes) <= 8
        assert graph.pool.local_bits >= 0
        body = [n for placed in graph.nodes for n in placed.body]
        assert estimated_cells(body, graph.pool.element, local_bits=0) <= OPTIONS.cell_budget


def test_without_mutation_loops_take_single_steps() -> None:
    plain = dataflow_programs(count=10, seed=0, options=replace(OPTIONS, mutation_share=0.0))
    steps = [loop[2] for r in plain for n in graph_of(r)["nodes"] for loop in _loops(n["loops"])]
    assert set(steps) <= {"1", "", "2 * width"}
    mutated = [loop[2] for r in drawn() for n in graph_of(r)["nodes"] for loop in _loops(n["loops"])]
    assert len(set(mutated)) > 3


def _loops(tree: list[Any]) -> list[Any]:
    return [found for loop in tree for found in (loop, *_loops(loop[3]))]


# ---- sweeps ----


def test_a_sweep_moves_scalars_from_half_to_one_and_a_half() -> None:
    swept = [r for r in dynamic() if graph_of(r)["scalars"]]
    assert len(swept) > 10
    for row in swept:
        scalars = graph_of(row)["scalars"]
        values = [json.loads(inputs) for inputs in swept_inputs(row)]
        assert len(values) > 2
        assert row.inputs in swept_inputs(row)
        for name, scalar in scalars.items():
            drawn = [v[name]["value"] for v in values]
            assert drawn == sorted(drawn)
            assert (drawn[0], drawn[-1]) == (scalar["low"], scalar["high"])
            assert abs(drawn[0] - scalar["base"] * 0.5) <= 0.5
            assert abs(drawn[-1] - scalar["base"] * 1.5) <= 0.5


def test_a_sweep_changes_scalars_only() -> None:
    row = next(r for r in dynamic() if graph_of(r)["scalars"])
    interface = read_interface(row.source, row.top)
    first, last = (draw_data(interface, i, seed=1) for i in swept_inputs(row, fractions=(-0.5, 0.5)))
    assert {n for n in first if (first[n] != last[n]).any()} == set(graph_of(row)["scalars"])


def test_a_program_without_scalars_has_one_specification() -> None:
    still = next(r for r in drawn() if not graph_of(r)["scalars"])
    assert swept_inputs(still) == (still.inputs,)


# ---- refusals ----


def test_a_graph_that_cannot_be_filled_is_a_row_with_its_reason() -> None:
    options = replace(OPTIONS, minimum_operators=32, maximum_operators=32, cycle_budget=1000)
    (row,) = dataflow_programs(count=1, seed=0, options=options)
    assert row.status == REJECTED
    assert re.fullmatch(r"a graph must have at least 32 operators, got \d+", str(row.reason))
    assert table_spec("programs").to_arrow([row]).num_rows == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data_types": ()}, r"data_types must name at least one type, got \(\)"),
        ({"data_types": ("half",)}, "unknown data type: half; accepted: int8, int16, int32, float"),
        ({"minimum_operators": 0}, r"operators must be 1 <= minimum <= maximum <= 32, got \(0, 8\)"),
        ({"maximum_operators": 33}, r"operators must be .*, got \(1, 33\)"),
        ({"cycle_budget": 10}, "cycle_budget must be at least 1000, got 10"),
        ({"cell_budget": 10}, "cell_budget must be at least 1000, got 10"),
        ({"minimum_cycles": -1}, "minimum_cycles must be at least 0 and below cycle_budget, got -1"),
        ({"local_bits": -1}, "local_bits must not be negative, got -1"),
        ({"mutation_share": 1.5}, r"mutation_share must be 0 \.\. 1, got 1.5"),
    ],
)
def test_options_rejects_values_out_of_range(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ProgramError, match=f"^{message}$"):
        DataflowOptions(**arguments)


def test_dataflow_programs_rejects_a_negative_count() -> None:
    with pytest.raises(ProgramError, match=r"^a count of programs must not be negative, got -1$"):
        dataflow_programs(count=-1, seed=0, options=OPTIONS)


def test_operators_program_rejects_an_unknown_operator() -> None:
    message = "^unknown operator: fft; accepted: matmul, matvec, .*$"
    with pytest.raises(ProgramError, match=message):
        operators_program(["fft"], seed=0, options=OPTIONS)


def test_swept_inputs_rejects_a_fraction_out_of_range() -> None:
    with pytest.raises(ProgramError, match=r"^a sweep must stay within -0.5 \.\. 0.5, got 0.7$"):
        swept_inputs(drawn()[0], fractions=(0.7,))


def test_swept_inputs_rejects_a_program_without_a_graph() -> None:
    with pytest.raises(ProgramError, match=r"^only a program with a graph can be swept, got dataflow-0-0$"):
        swept_inputs(replace(drawn()[0], graph=None))
