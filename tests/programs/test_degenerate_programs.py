"""Degenerate programs, and loops whose iterations follow data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.c import read_function, read_interface
from pipelines.c.signature import same_values
from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs import EVALUATION_WORKLOADS, draw_data, evaluation_workloads, frozen_hashes
from pipelines.programs.control import degeneracy, follows_data, reject_degenerate
from pipelines.programs.dataflow import CONTROL, OPERATORS, DataflowOptions, dataflow_programs
from pipelines.programs.dataflow.program import operators_program
from pipelines.programs.machsuite_catalogue import machsuite_programs
from pipelines.programs.rows import program_row
from pipelines.schemas import OK, REJECTED, ProgramRow


def program(body: str, arguments: str = "int a[8], int n, int out[8]") -> ProgramRow:
    return program_row(
        name="made",
        suite="ast",
        stage="ast",
        size="custom",
        parameters={},
        source=f"void f({arguments}) {{\n{body}\n}}\n",
        top="f",
        inputs={},
    )


COPY = "for (int i = 0; i < 8; i++)\nout[i] = a[i] + n;\n"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (COPY, None),
        (
            "for (int i = 0; i < 8; i++)\nout[i] = 3 * i;",
            "a program must depend on its arguments, got outputs",
        ),
        (
            "for (int i = 0; i < 8; i++)\nout[i] = n;",
            "an array argument must be used, got a without an effect",
        ),
        (
            COPY + "int x = 5;\nif (x < 3) {\nout[0] = a[1];\n}",
            "every body must be reachable and have an effect, got one in line 6",
        ),
        (
            COPY + "for (int i = 4; i < 3; i++)\nout[i] = 1;",
            "every body must be reachable and have an effect, got one in line 5",
        ),
        (COPY + "if (n > 3) {\nout[0] = a[1];\n} else {\nout[1] = 2;\n}", None),
    ],
)
def test_degenerate_programs_have_a_reason(body: str, reason: str | None) -> None:
    row = program(body)
    found = degeneracy(read_function(row.source, top=row.top))
    assert found is None if reason is None else found is not None and found.startswith(reason)
    (judged,) = reject_degenerate([row])
    assert (judged.status, judged.reason) == ((OK, None) if reason is None else (REJECTED, found))


@pytest.mark.slow
def test_evaluation_and_machsuite_programs_are_not_degenerate() -> None:
    rows = [*evaluation_workloads()[::5], *machsuite_programs(sizes=("mini",))]
    assert [r.name for r in reject_degenerate(rows) if r.status != OK] == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (COPY, False),
        ("for (int i = 0; i < n; i++)\nout[i] = a[i];", False),
        ("int i = 0;\nwhile (i < 8) {\nout[i] = a[i];\ni += 1 + (a[i] & 1);\n}", True),
        ("for (int i = 0; i < 8; i++) {\nif (a[i] > 3)\nbreak;\nout[i] = a[i];\n}", True),
        ("for (int i = 0; i < 8; i++) {\nif (a[i] > 3)\ncontinue;\nout[i] = a[i];\n}", False),
        ("int m = n > 2 ? a[0] & 7 : 3;\nfor (int i = 0; i < m; i++)\nout[i] = a[i];", True),
    ],
)
def test_loops_that_follow_data_are_found(body: str, expected: bool) -> None:
    assert follows_data(program(body)) is expected


def test_every_control_operator_follows_data_and_its_hardware_equals_native_c(tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    names = [o.name for o in OPERATORS if o.family == CONTROL]
    options = DataflowOptions(cell_budget=10_000_000, cycle_budget=100_000, local_bits=4096)
    for data_type in ("int8", "float"):
        row = operators_program(names, seed=1, options=replace(options, data_types=(data_type,)))
        assert follows_data(row)
        design = compile_program(row.source, top=row.top, options=HlsOptions())
        data = draw_data(read_interface(row.source, row.top), row.inputs, seed=3)
        folder = tmp_path_factory.mktemp(data_type)
        native = run_native(row.source, design.interface, data, folder=folder / "native")
        assert native.status == OK, native.reason
        counted = count_cycles(design, data, folder=folder / "cycles")
        assert all(same_values(counted.outputs[name], values) for name, values in native.outputs.items())


def test_a_weight_of_the_family_control_draws_it() -> None:
    options = DataflowOptions(control_weight=20.0, maximum_operators=4)
    rows = dataflow_programs(count=12, seed=0, options=options)
    drawn = {name for row in rows for name in row.operators}
    assert len(drawn & {o.name for o in OPERATORS if o.family == CONTROL}) >= 4


def test_the_evaluation_has_24_workloads_of_stated_types() -> None:
    assert len({w.name for w in EVALUATION_WORKLOADS}) == len(EVALUATION_WORKLOADS) == 24
    rows = evaluation_workloads()
    assert len(rows) == sum(len(w.data_types) for w in EVALUATION_WORKLOADS) == 34
    assert {row.ast_hash for row in rows} <= set(frozen_hashes())
    types = [t for w in EVALUATION_WORKLOADS for t in w.data_types]
    for row, data_type in zip(rows, types, strict=True):
        if row.graph is not None:
            assert f'"element":"{data_type}"' in row.graph.replace(" ", "")
        else:
            assert row.name.endswith(f"-{data_type}")
