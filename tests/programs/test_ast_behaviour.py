"""What programs of the AST stage do: defined behaviour, every statement live, hardware equal to native C."""

from __future__ import annotations

import json
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


@pytest.fixture(scope="module")
def programs() -> list[GeneratedProgram]:
    return [generate_program(seed=6, number=k, options=AstOptions()) for k in range(12)]


def test_behaviour_is_defined_and_results_are_finite(
    programs: list[GeneratedProgram], tmp_path: Path
) -> None:
    for number, generated in enumerate(programs):
        interface = interface_of(generated.program)
        data = draw_data(interface, json.dumps(generated.inputs), seed=1 + number % 2)
        run = run_native(generated.source, interface, data, folder=tmp_path / str(number))
        assert (run.status, run.reason) == ("ok", None), generated.source
        for values in run.outputs.values():
            assert np.isfinite(values).all(), generated.source


def test_values_stay_in_the_ranges_they_are_promised(
    programs: list[GeneratedProgram], tmp_path: Path
) -> None:
    for number, generated in enumerate(programs):
        folder = tmp_path / str(number)
        folder.mkdir()
        built = Instrumented(generated.program, folder)
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


def test_the_front_end_accepts_all_and_hardware_equals_native_c(
    programs: list[GeneratedProgram], tmp_path: Path
) -> None:
    for number, generated in enumerate(programs):
        top = generated.program.top.name
        compiled = compile_program(generated.source, top=top, options=HlsOptions())
        if number >= 4:
            continue
        data = draw_data(compiled.interface, json.dumps(generated.inputs), seed=number)
        native = run_native(generated.source, compiled.interface, data, folder=tmp_path / f"native{number}")
        folder = tmp_path / f"model{number}"
        folder.mkdir()
        (counted,) = count_cycles_of(compiled, [data], folder=folder)
        assert (native.status, counted.status) == ("ok", "ok")
        assert counted.latency_cycles is not None
        assert counted.latency_cycles <= AstOptions().max_cycles
        assert counted.returned == native.returned
        for name, values in native.outputs.items():
            assert same_values(values, counted.outputs[name]), name
