"""Data sets of a program by kind: values, ranges, reproduction, and their summary."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest

from pipelines.c import read_interface
from pipelines.programs import (
    ProgramData,
    ProgramError,
    data_sets,
    draw_data,
    find_data_set,
    given_data,
    input_rows,
    program_from_file,
)
from pipelines.programs.dataflow import DataflowOptions, dataflow_programs
from pipelines.schemas import DATA_KINDS, ProgramRow

SOURCE = """
int f(int A[40], float B[16], int order[8], int rows[5], int limit, int n)
{
    int s = 0;
    for (int i = 0; i < 40; i++)
        if (A[i] > limit)
            s += A[i] - 5 > 20;
    for (int i = 0; i < n; i++)
        if (B[i] < 0.25f)
            s += order[i & 7];
    return s + rows[1];
}
"""
INPUTS = {
    "A": {"kind": "uniform", "low": -100, "high": 101},
    "B": {"kind": "uniform", "low": -1.0, "high": 2.0},
    "order": {"kind": "permutation"},
    "rows": {"kind": "csr_rows", "nonzeros": 9},
    "limit": {"kind": "constant", "value": 12},
    "n": {"kind": "uniform", "low": 4, "high": 13},
}
OF_LANGUAGE = ("drawn", "sweep", "uniform", "sorted", "constant")
"""Kinds whose specification `draw_data` reads."""


def made(tmp_path: Path, source: str = SOURCE, inputs: object = INPUTS) -> ProgramRow:
    path = tmp_path / "f.c"
    path.write_text(source)
    return program_from_file(path, top="f", inputs=json.dumps(inputs))


def all_sets(row: ProgramRow, *kinds: str) -> list[ProgramData]:
    return data_sets(row, read_interface(row.source, row.top), kinds or DATA_KINDS)


@pytest.fixture
def program(tmp_path: Path) -> ProgramRow:
    return made(tmp_path)


def one(program: ProgramRow, kind: str) -> ProgramData:
    (data,) = all_sets(program, kind)
    return data


def test_drawn_data_are_those_of_the_specification(program: ProgramRow) -> None:
    data, other = data_sets(program, read_interface(program.source, "f"), ("drawn",), seeds=(0, 1))
    expected = draw_data(read_interface(program.source, "f"), program.inputs, seed=0)
    assert (data.kind, data.seed, data.inputs) == ("drawn", 0, program.inputs)
    assert all(np.array_equal(data.values[name], expected[name]) for name in expected)
    assert other.seed == 1


def test_every_data_set_stays_in_the_range_of_its_specification(program: ProgramRow) -> None:
    sets = all_sets(program)
    assert {data.kind for data in sets} == set(DATA_KINDS)
    assert len({data.identity for data in sets}) == len(sets)
    for data in sets:
        values = data.values
        assert -100 <= values["A"].min() <= values["A"].max() <= 100
        assert -1.0 <= values["B"].min() <= values["B"].max() <= 2.0
        assert sorted(values["order"].tolist()) == list(range(8))
        rows = values["rows"].tolist()
        assert (rows[0], rows[-1], rows) == (0, 9, sorted(rows))
        assert 4 <= values["n"] <= 12
        assert {name: v.dtype.str for name, v in values.items()} == {
            name: "<f4" if name == "B" else "<i4" for name in values
        }


def test_the_same_program_has_the_same_data_sets(program: ProgramRow) -> None:
    assert [d.identity for d in all_sets(program)] == [d.identity for d in all_sets(program)]


def test_specifications_of_the_language_draw_the_same_values(program: ProgramRow) -> None:
    interface = read_interface(program.source, "f")
    for data in all_sets(program, *OF_LANGUAGE):
        again = draw_data(interface, data.inputs, seed=data.seed)
        assert all(np.array_equal(data.values[name], again[name]) for name in again), data.kind


def test_sparse_data_are_mostly_zero(program: ProgramRow) -> None:
    values = one(program, "sparse").values
    assert 0.7 < np.mean(values["A"] == 0) < 1
    assert np.any(values["B"] == 0)
    assert json.loads(one(program, "sparse").inputs)["A"]["zero_share"] == 0.9


def test_sparse_data_of_a_range_without_zero_are_mostly_its_end(tmp_path: Path) -> None:
    positive = made(tmp_path, inputs={"A": {"kind": "uniform", "low": 3, "high": 50}})
    assert np.mean(one(positive, "sparse").values["A"] == 3) > 0.7


def test_sorted_data_ascend(program: ProgramRow) -> None:
    values = one(program, "sorted").values["A"]
    assert np.all(np.diff(values) >= 0)
    assert len(np.unique(values)) > 10


def test_skewed_data_repeat_a_few_values(program: ProgramRow) -> None:
    counts = np.unique(one(program, "skewed").values["A"], return_counts=True)[1]
    uniform = np.unique(one(program, "uniform").values["A"], return_counts=True)[1]
    assert counts.max() >= 3 * uniform.max()


def test_constant_data_have_one_value_per_array(program: ProgramRow) -> None:
    data = one(program, "constant")
    assert len(np.unique(data.values["A"])) == len(np.unique(data.values["B"])) == 1
    assert json.loads(data.inputs)["A"] == {"kind": "constant", "value": data.values["A"][0].item()}


def test_adversarial_data_lie_around_what_the_source_compares_with(program: ProgramRow) -> None:
    data = one(program, "adversarial")
    assert data.values["A"][:6].tolist() == [11, 13, 12, 19, 21, 20]  # limit, and 20 of A[i] - 5 > 20
    quarter = np.float32(0.25)
    assert set(data.values["B"].tolist()) == {
        np.nextafter(quarter, np.float32(-9)).item(),
        np.nextafter(quarter, np.float32(9)).item(),
        0.25,
    }


def test_adversarial_data_descend_without_a_number_to_compare_with(tmp_path: Path) -> None:
    row = made(
        tmp_path,
        "void f(int A[9])\n{\n    for (int i = 0; i < 8; i++)\n"
        "        if (A[i] > A[i + 1]) A[i] = A[i + 1];\n}\n",
        {},
    )
    assert np.all(np.diff(one(row, "adversarial").values["A"]) <= 0)


def test_adversarial_data_follow_variables(tmp_path: Path) -> None:
    row = made(
        tmp_path,
        "int f(int A[4])\n{\n    int s = 0;\n    for (int i = 0; i < 4; i++) {\n        int v = A[i] * 2;\n"
        "        if (v == 7) s++;\n    }\n    return s;\n}\n",
        {},
    )
    assert one(row, "adversarial").values["A"].tolist() == [6, 8, 7, 6]


def test_sweep_moves_uniform_scalars_and_makes_constants_smaller(program: ProgramRow) -> None:
    sets = all_sets(program, "sweep")
    base = one(program, "drawn").values
    assert {int(d.values["limit"]) for d in sets} == {6, 9, 12}
    moved = [int(d.values["n"]) for d in sets]
    n = int(base["n"])
    assert moved == [min(max(round(n * (1 + f)), 4), 12) for f in (-0.5, -0.25, 0, 0.25, 0.5)]
    assert all(np.array_equal(d.values["A"], base["A"]) for d in sets)


def test_sweep_of_a_graph_is_that_of_its_bounds() -> None:
    rows = dataflow_programs(count=40, seed=0, options=DataflowOptions())
    row = next(r for r in rows if r.graph and json.loads(r.graph)["scalars"])
    sets = all_sets(row, "drawn", "sweep")
    assert [d.kind for d in sets].count("drawn") == 1
    for name, scalar in json.loads(row.graph or "")["scalars"].items():
        values = {int(d.values[name]) for d in sets}
        assert scalar["base"] in values
        assert scalar["low"] <= min(values) <= max(values) <= scalar["high"]


def test_equal_data_sets_are_one(tmp_path: Path) -> None:
    row = made(tmp_path, "int f(int n)\n{\n    return n;\n}\n", {"n": {"kind": "constant", "value": 0}})
    assert [d.kind for d in all_sets(row)] == ["drawn"]


def test_a_data_set_is_found_by_the_row_of_its_run(program: ProgramRow) -> None:
    interface = read_interface(program.source, "f")
    for data in all_sets(program):
        found = find_data_set(program, interface, kind=data.kind, seed=data.seed, identity=data.identity)
        assert found.identity == data.identity
        if data.kind in ("drawn", "sweep"):  # as rows of earlier releases
            assert (
                find_data_set(program, interface, kind=None, seed=0, identity=data.identity).values.keys()
                == data.values.keys()
            )


def test_find_data_set_rejects_data_of_another_program(program: ProgramRow) -> None:
    interface = read_interface(program.source, "f")
    with pytest.raises(ProgramError, match="a run must be on data of its program, got data other for f"):
        find_data_set(program, interface, kind="sparse", seed=3, identity="other")


def test_data_sets_rejects_an_unknown_kind(program: ProgramRow) -> None:
    with pytest.raises(ProgramError, match="unknown kind of data: random; accepted: drawn, sweep, "):
        all_sets(program, "random")


def test_rows_of_inputs_summarise_each_argument(program: ProgramRow) -> None:
    values = dict(one(program, "drawn").values)
    values["A"] = np.array([0] * 10 + [7] * 30, np.int32)
    rows = {row.argument: row for row in input_rows(given_data(program, values), "user")}
    a, n = rows["A"], rows["n"]
    assert (a.type, a.shape, a.element_count) == ("int32", "[40]", 40)
    assert (a.minimum, a.maximum, a.mean, a.zero_share, a.distinct_count) == (0, 7, 5.25, 0.25, 2)
    assert a.is_sorted
    assert {type(value) for value in astuple(a)} <= {str, int, float, bool}
    assert json.loads(a.values or "") == values["A"].tolist()
    assert (n.shape, n.element_count, n.values) == ("[]", 1, f"[{int(values['n'])}]")
    assert not rows["order"].is_sorted


def test_values_of_long_arguments_are_not_kept(tmp_path: Path) -> None:
    row = made(tmp_path, "int f(int A[65])\n{\n    return A[64];\n}\n", {})
    (inputs,) = input_rows(one(row, "drawn"), "user")
    assert (inputs.element_count, inputs.values) == (65, None)
    assert replace(inputs, values=None) == inputs
