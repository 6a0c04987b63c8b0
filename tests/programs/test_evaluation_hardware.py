"""Evaluation workloads through high-level synthesis: the design computes what native C does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.c.signature import same_values
from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.programs.dataflow import swept_inputs
from pipelines.programs.evaluation import modern_program, modern_workloads, stationary_program
from pipelines.programs.evaluation.programs import STATIONARY_OPERANDS, STATIONARY_TYPES
from pipelines.schemas import OK, ProgramRow

CYCLE_BOUND = 50_000


@pytest.mark.sample(11)
@pytest.mark.parametrize(
    "program",
    [
        *((modern_program, name) for name in modern_workloads()),
        *((stationary_program, o, t) for o in STATIONARY_OPERANDS for t in STATIONARY_TYPES),
    ],
    ids=lambda program: "-".join(map(str, program[1:])),
)
def test_hardware_equals_native_and_is_within_its_cycles(program: tuple[Any, ...], tmp_path: Path) -> None:
    make, *arguments = program
    row: ProgramRow = make(*arguments)
    design = compile_program(row.source, top=row.top, options=HlsOptions())
    data = draw_data(design.interface, row.inputs, seed=1)
    native = run_native(row.source, design.interface, data, folder=tmp_path / "native")
    counted = count_cycles(design, data, folder=tmp_path / "cycles")
    assert native.status == counted.status == OK, (native.reason, counted.reason)
    assert [n for n, v in native.outputs.items() if not same_values(v, counted.outputs[n])] == []
    assert 1_000 < (counted.latency_cycles or 0) < CYCLE_BOUND


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["image-norm-cnn", "anchor-roialign", "albert", "llama"])
def test_dynamic_parameters_change_the_cycles(name: str, tmp_path: Path) -> None:
    row = modern_program(name)
    design = compile_program(row.source, top=row.top, options=HlsOptions())
    cycles: list[int] = []
    for inputs in swept_inputs(row, fractions=(-0.5, 0.0, 0.5)):
        folder = tmp_path / str(len(cycles))
        counted = count_cycles(design, draw_data(design.interface, inputs, seed=1), folder=folder)
        assert counted.status == OK, counted.reason
        cycles.append(counted.latency_cycles or 0)
    assert len(json.loads(row.graph or "")["scalars"]) >= 1
    assert cycles[0] * 1.5 < cycles[1]
    assert cycles[1] * 1.3 < cycles[2]
