"""What is known of designs: used bits, estimates of power, rows of the tables and their checks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assets.checks import CheckedFile
from assets.steps.design_features import inexact_cycles, other_cycles
from pipelines.base.cache import ContentCache
from pipelines.c.signature import FLOAT
from pipelines.cyclemodel import ControlEstimate, estimate_cycles
from pipelines.dataset.features import density_counts, estimate_design, know_design, know_run
from pipelines.dataset.features.activity import toggle_energies
from pipelines.dataset.features.assumed import assumed_run, toggle_densities
from pipelines.dataset.features.demand import demand_of, unused_register_bits
from pipelines.hls import HlsOptions, block_writers, compile_program, design_row
from pipelines.hls.units.catalogue import float_divider
from pipelines.programs import kernel_programs
from pipelines.schemas import LEVELS, DesignRow, ProgramRow, table_spec

NARROW = """void narrow(signed char x[8], signed char y[8]) {
  int acc[8];
  for (int i = 0; i < 8; i++) acc[i] = 0;
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) acc[i] += x[j] * 1000;
  for (int i = 0; i < 8; i++) y[i] = acc[i] >> 2;
}"""


@pytest.fixture(scope="module")
def gemm() -> tuple[ProgramRow, DesignRow]:
    program = next(
        p for p in kernel_programs(suites=("linear_algebra",), sizes=("small",)) if p.name == "gemm"
    )
    compiled = compile_program(program.source, top=program.top, options=HlsOptions())
    return program, design_row(program, HlsOptions(), compiled, 0.0)


def test_bits_that_no_later_block_uses_need_no_register() -> None:
    design = compile_program(NARROW, top="narrow", options=HlsOptions()).scheduled
    demand = demand_of(design)
    assert demand.arrays["acc"] == 10  # of the stored byte and the two bits that the shift drops
    assert demand.arrays["y"] == 8
    width = next(a.type.width_bits for a in design.graph.function.arrays if a.name == "acc")
    assert unused_register_bits(design, block_writers(design), demand) >= 8 * (width - 10)


def test_features_of_gemm(gemm: tuple[ProgramRow, DesignRow], tmp_path: Path) -> None:
    known = know_design(*gemm, folder=tmp_path)
    run = know_run(*gemm, seed=0, identity="", folder=tmp_path)
    assert known.features.trips_known
    assert known.features.estimated_cycles == run.cycles
    assert [(loop.depth, loop.bounds) for loop in known.loops] == [
        (1, "constant"),
        (2, "constant"),
        (3, "constant"),
    ]
    parts = [getattr(run, f"{part}_power_mw") for part in ("clock", "register", "unit", "operator")]
    assert all(power > 0 for power in parts)
    assert run.estimated_power_mw == pytest.approx(
        sum(v for n, v in vars_of(run).items() if n.endswith("_power_mw") and not n.startswith("estimated")),
        rel=1e-3,
    )
    executions, toggles = json.loads(run.executions or ""), json.loads(run.toggles or "")
    assert executions.keys() == toggles.keys()
    assert known.features.estimated_power_mw == pytest.approx(run.estimated_power_mw, rel=0.5)
    for name, rows in (
        ("features", [known.features]),
        ("loop_profiles", known.loops),
        ("run_features", [run]),
    ):
        assert table_spec(name).violations(table_spec(name).to_arrow(rows)) == []


def test_an_estimate_in_a_process_of_its_own_is_that_of_the_design(
    gemm: tuple[ProgramRow, DesignRow], tmp_path: Path
) -> None:
    cache, known = ContentCache(folder=tmp_path / "cache"), know_design(*gemm, folder=tmp_path)
    for _ in ("made", "cached"):
        estimate = estimate_design(gemm[0], HlsOptions(), cache=cache, timeout_s=60.0)
        assert estimate.cycles == known.features.estimated_cycles
        assert estimate.area_um2 == known.features.estimated_area_um2
        assert estimate.power_mw == known.features.estimated_power_mw
    on_data = estimate_design(gemm[0], HlsOptions(), cache=cache, timeout_s=60.0, on_data=True)
    assert on_data.power_mw != known.features.estimated_power_mw


def test_an_estimate_ends_at_its_time_limit_and_refuses_what_is_no_program(
    gemm: tuple[ProgramRow, DesignRow], tmp_path: Path
) -> None:
    cache = ContentCache(folder=tmp_path)
    late = estimate_design(gemm[0], HlsOptions(), cache=cache, timeout_s=1e-3)
    assert late.cycles is None
    assert late.status in ("timeout", "tool_error")  # the latter where no process starts in time
    assert late.reason
    wrong = replace(gemm[0], program_id="wrong", source="void gemm(int *p) { *p = }")
    refused = estimate_design(wrong, HlsOptions(), cache=cache, timeout_s=60.0)
    assert refused.status == "rejected"
    assert "syntax error" in (refused.reason or "")


def vars_of(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def test_a_run_rejects_other_data(gemm: tuple[ProgramRow, DesignRow], tmp_path: Path) -> None:
    row = know_run(*gemm, seed=0, identity="other", folder=tmp_path)
    assert (row.status, row.reason) == ("rejected", "data must be those of seed 0, got other ones in the run")


def test_every_column_of_knowledge_declares_its_level() -> None:
    for name in ("features", "loop_profiles", "run_features"):
        columns = [c for c in table_spec(name).columns if not c.key]
        assert {c.name for c in columns if c.level is None} <= {"suite", "status", "reason"}
        assert {c.level for c in columns if c.level} <= set(LEVELS)


def test_energies_grow_with_the_width() -> None:
    energies = toggle_energies()
    assert energies.operator("add", 8) < energies.operator("add", 12) < energies.operator("add", 64)
    assert 0.1 < energies.clock < 0.12


def test_an_operand_that_changes_alone_costs_more_per_toggle() -> None:
    energies, divider = toggle_energies(), float_divider(FLOAT)
    together, alone = (energies.unit(divider, toggles) for toggles in ([10.0, 10.0], [20.0, 0.0]))
    assert together == pytest.approx(20 * energies.units["float_divide"][32])
    assert alone == pytest.approx(20 * energies.single["float_divide"][32])
    assert energies.unit(divider, [30.0, 10.0]) == pytest.approx(together + alone)
    assert 1.5 < alone / together < 2.0  # either changes the whole quotient


def test_activity_that_is_assumed_tells_floating_values_apart(tmp_path: Path) -> None:
    text = (
        "void f({0} a[8], {0} y[8]) {{ for (int i = 0; i < 8; i++) y[i] = (a[i] + a[i]) + (a[i] + y[i]); }}"
    )
    densities, counted = toggle_densities(), dict[str, dict[str, int]]()
    for kind in ("float", "int"):
        design = compile_program(text.format(kind), top="f", options=HlsOptions())
        estimate = estimate_cycles(design, folder=tmp_path / kind)
        assert isinstance(estimate, ControlEstimate)
        executions, toggles = density_counts(design, assumed_run(design, estimate))
        assert toggles[key := f"{'float_' * (kind == 'float')}load_32"] == pytest.approx(
            executions[key] * densities[key], rel=0.01
        )
        counted[kind] = executions
    assert counted["float"]["float_port_32"] == 2 * counted["float"]["float_result_32"] > 0
    assert "port_32" not in counted["float"]
    assert densities["float_load_32"] > densities["load_32"]


def test_checks_of_cycles_name_the_deviation() -> None:
    rows = [{"status": "ok", "design_id": "a", "data_id": "d", "cycles": 1000}]
    tables = {
        "features": [{"design_id": "a", "trips_known": True, "estimated_cycles": 1003}],
        "runs": [{"design_id": "a", "data_id": "d", "latency_cycles": 1001}],
    }
    file = cast("CheckedFile", SimpleNamespace(rows=rows, neighbour=tables.__getitem__))
    assert inexact_cycles(file) == [
        "estimated_cycles must be within 0.2% of the counted 1000, got 1003 for design a"
    ]
    assert other_cycles(file) == ["cycles must be those of the run, got 1000 and 1001 for design a"]
    tables["features"][0]["estimated_cycles"] = 1002
    tables["runs"][0]["latency_cycles"] = 1000
    assert inexact_cycles(file) == other_cycles(file) == []
