"""Operator delays of several libraries: which one schedules a design, and what its id depends on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pipelines.hls
from pipelines.hls import (
    HlsOptions,
    compile_program,
    delay_library,
    design_id,
    design_row,
    later_delays,
    measured_files,
    measured_libraries,
    operators,
)
from pipelines.programs import program_from_file
from pipelines.schemas import ProgramRow

SOURCE = "void f(int A[8], int B[8]) { for (int i = 0; i < 8; i++) B[i] = (A[i] + 3) * A[7 - i] - B[i]; }"


@pytest.fixture
def program(tmp_path: Path) -> ProgramRow:
    path = tmp_path / "f.c"
    path.write_text(SOURCE)
    return program_from_file(path, top="f")


def measurements(name: str) -> dict[str, dict[str, dict[str, object]]]:
    folder = Path(pipelines.hls.__file__).parent
    return json.loads((folder / f"operator_delays_{name}.json").read_text())


@pytest.mark.parametrize("name", measured_libraries())
def test_every_measured_library_has_all_operators_units_and_widths(name: str) -> None:
    for kind in ("operators", "units"):
        own, default = measurements(name)[kind], measurements("osu018")[kind]
        assert {n: set(widths) for n, widths in own.items()} == {n: set(w) for n, w in default.items()}


def test_a_design_is_scheduled_with_the_delays_of_its_library(program: ProgramRow) -> None:
    paths: dict[str, float] = {}
    for liberty in ("osu018", "sky130hd_tt", "unmeasured"):
        options = HlsOptions(liberty=liberty, clock_period_ns=5.0)
        compiled = compile_program(program.source, top="f", options=options)
        row = design_row(program, options, compiled, 0.0)
        assert (row.liberty, row.delay_library) == (liberty, delay_library(liberty))
        paths[row.delay_library] = compiled.report.critical_path_ns
    assert set(paths) == {"osu018", "sky130hd_tt"}
    assert paths["osu018"] != paths["sky130hd_tt"]


def test_delays_that_are_measured_later_give_other_ids(
    program: ProgramRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {name: HlsOptions(liberty=name) for name in ("osu018", "osu035")}
    before = {name: design_id(program, own) for name, own in options.items()}
    assert later_delays("osu018") == later_delays("osu035") == ()
    monkeypatch.setattr(operators, "measured_libraries", lambda: ("osu018", "osu035", "sky130hd_tt"))
    monkeypatch.setattr(operators, "_delays_hash", lambda name: f"delays in {name}")
    assert design_id(program, options["osu018"]) == before["osu018"]
    assert design_id(program, options["osu035"]) != before["osu035"]


def test_the_content_of_a_measured_liberty_gives_its_name() -> None:
    digest = str(measurements("sky130hd_tt")["liberty_sha256"])
    assert (len(digest), measured_files()[digest]) == (64, "sky130hd_tt")
