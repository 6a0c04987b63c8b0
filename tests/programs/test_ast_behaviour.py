"""What programs of the AST stage do: defined behaviour, every statement live, hardware equal to native C."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from ast_support import Instrumented, interface_of, silent_sites

from pipelines.c.signature import same_values
from pipelines.cyclemodel import count_cycles_of
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.programs.ast import AstOptions, GeneratedProgram, generate_program

SMALL = AstOptions(statements=(2, 6))
DATA_SEEDS = (1, 2, 3, 4)


FIRST_FEW = pytest.mark.parametrize(
    "number", [n if n < 4 else pytest.param(n, marks=pytest.mark.slow) for n in range(12)]
)


@cache
def program(number: int) -> GeneratedProgram:
    return generate_program(seed=6, number=number, options=AstOptions())


@FIRST_FEW
def test_behaviour_is_defined_and_results_are_finite(number: int, tmp_path: Path) -> None:
    generated = program(number)
    interface = interface_of(generated.program)
    data = draw_data(interface, json.dumps(generated.inputs), seed=1 + number % 2)
    run = run_native(generated.source, interface, data, folder=tmp_path)
    assert (run.status, run.reason) == ("ok", None), generated.source
    for values in run.outputs.values():
        assert np.isfinite(values).all(), generated.source


@FIRST_FEW
def test_values_stay_in_the_ranges_they_are_promised(number: int, tmp_path: Path) -> None:
    generated = program(number)
    built = Instrumented(generated.program, tmp_path)
    for seed in DATA_SEEDS:
        built.run(draw_data(built.interface, json.dumps(generated.inputs), seed=seed))
        assert built.broken is None, generated.source


def test_a_change_of_an_assignment_changes_an_output(tmp_path: Path) -> None:
    """Each assigned value is changed within its range; nearly all changes must be seen.

    Not all: a condition on a scalar may never hold on eight data sets, and values may cancel.
    """
    sites = silent = 0
    for number in range(20):
        generated = generate_program(seed=8, number=number, options=SMALL)
        folder = tmp_path / str(number)
        folder.mkdir()
        built = Instrumented(generated.program, folder)
        specification = json.dumps(generated.inputs)
        data_sets = [draw_data(built.interface, specification, seed=s) for s in range(8)]
        sites += len(built.sites)
        silent += len(list(silent_sites(built, data_sets)))
    assert sites > 100
    assert silent / sites < 0.05


@FIRST_FEW
def test_the_front_end_accepts_all_and_hardware_equals_native_c(number: int, tmp_path: Path) -> None:
    generated = program(number)
    compiled = compile_program(generated.source, top=generated.program.top.name, options=HlsOptions())
    data = draw_data(compiled.interface, json.dumps(generated.inputs), seed=number)
    native = run_native(generated.source, compiled.interface, data, folder=tmp_path)
    (counted,) = count_cycles_of(compiled, [data], folder=tmp_path)
    assert (native.status, counted.status) == ("ok", "ok")
    assert counted.latency_cycles is not None
    assert counted.latency_cycles <= AstOptions().max_cycles
    assert counted.returned == native.returned
    for name, values in native.outputs.items():
        assert same_values(values, counted.outputs[name]), name
