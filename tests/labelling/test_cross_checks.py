"""Cross-checks of labelled designs: the sample, the rows, and what becomes of figures that differ."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.base.cache import ContentCache
from pipelines.base.tools import ToolMissing
from pipelines.dataset.labelling import (
    CROSS_CHECK_LIMITS,
    LabelContext,
    LabelTables,
    cross_check_designs,
    cross_checks,
    label_designs,
    plan_designs,
)
from pipelines.programs import program_from_file
from pipelines.schemas import CROSS_CHECKS, CrossCheckRow, DesignRow, LabelRow, ProgramRow, RunRow
from pipelines.silicon.synthesis import Target, find_liberty
from tests.support.labelling import configuration_space, label_options

SCALE = """
void scale(short A[8], int B[8])
{
    for (int i = 0; i < 8; i++)
        B[i] = A[i] * 3 + i;
}
"""
OPTIONS = label_options(workers=1, audit_fraction=0.0, cross_check_fraction=1.0)


class Labelled:
    """One program under one configuration, labelled once for all tests."""

    def __init__(self, folder: Path, cache: ContentCache) -> None:
        path = folder / "scale.c"
        path.write_text(SCALE)
        self.cache = cache
        self.target = Target(liberty=find_liberty(None), clock_period_ns=10.0)
        self.programs: Sequence[ProgramRow] = [program_from_file(path, top="scale")]
        space = configuration_space(memory_delay=(2,), pipeline=(False,))
        self.context = LabelContext(target=self.target, cache=cache, options=OPTIONS)
        self.designs: Sequence[DesignRow] = plan_designs(self.programs, space, self.context).designs
        self.tables = label_designs(self.programs, self.designs, self.context)

    def checks(
        self, tables: LabelTables | None = None, *, cache: ContentCache | None = None, fraction: float = 1.0
    ) -> dict[str, CrossCheckRow]:
        options = replace(OPTIONS, cross_check_fraction=fraction)
        context = replace(self.context, cache=cache or self.cache, options=options)
        rows = cross_check_designs(self.programs, self.designs, tables or self.tables, context)
        return {row.check: row for row in rows}

    def changed(self, *, label: dict[str, object], run: dict[str, object]) -> LabelTables:
        labels: list[LabelRow] = [replace(row, **label) for row in self.tables.labels]  # type: ignore[arg-type]
        runs: list[RunRow] = [replace(row, **run) for row in self.tables.runs]  # type: ignore[arg-type]
        return LabelTables(labels=labels, runs=runs)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory, new_cache: Callable[[Path], ContentCache]) -> Labelled:
    folder = tmp_path_factory.mktemp("labelled")
    return Labelled(folder, new_cache(folder / "cache"))


@pytest.fixture
def fresh(tmp_path: Path, labelled: Labelled, new_cache: Callable[[Path], ContentCache]) -> ContentCache:
    """A cache that knows all but cross-checks."""
    cache = new_cache(tmp_path / "cache")
    ignored = shutil.ignore_patterns("cross_check", "scratch", "runtime", "engines")
    shutil.copytree(labelled.cache.folder, cache.folder, ignore=ignored, dirs_exist_ok=True)
    return cache


def test_every_check_passes_on_a_labelled_design(labelled: Labelled) -> None:
    found = labelled.checks()
    assert tuple(found) == CROSS_CHECKS == tuple(CROSS_CHECK_LIMITS)
    for row in found.values():
        assert (row.status, row.reason, row.passed) == ("ok", None, True)
        assert row.deviation is not None
        assert abs(row.deviation) <= row.allowed == CROSS_CHECK_LIMITS[row.check]
    (label,), (run,) = labelled.tables.labels, labelled.tables.runs
    assert found["area_um2"].value == label.area_um2
    assert found["delay_ns"].value == label.delay_ns
    assert (run.audited, found["latency_cycles"].reference) == (True, run.audit_latency_cycles)
    assert {row.tool for row in found.values()} == {"verilator", "icarus", "yosys", "opensta"}


def test_a_second_pass_runs_no_tool(labelled: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    first = labelled.checks()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a tool was run")

    for name in ("compare_with_opensta", "recount_cells", "simulate_netlist", "simulate_with_icarus"):
        monkeypatch.setattr(cross_checks, name, refuse)
    assert labelled.checks() == first


def test_a_design_outside_the_sample_has_no_rows(labelled: Labelled) -> None:
    assert labelled.checks(fraction=0.0) == {}


@pytest.mark.parametrize(
    ("label", "run", "check"),
    [
        ({"area_um2": 1.0}, {}, "area_um2"),
        ({"flip_flop_count": 1}, {}, "flip_flop_count"),
        ({}, {"audit_latency_cycles": 7}, "latency_cycles"),
        ({}, {"bytes_read": 7}, "netlist_outputs netlist_icarus"),
    ],
)
def test_a_label_that_is_wrong_fails_its_check_alone(
    label: dict[str, object], run: dict[str, object], check: str, labelled: Labelled, fresh: ContentCache
) -> None:
    found = labelled.checks(labelled.changed(label=label, run=run), cache=fresh)
    assert {name for name, row in found.items() if not row.passed} == {*check.split()}
    assert all(found[name].status == "ok" for name in check.split())


@pytest.mark.parametrize(
    ("figure", "factor", "check"),
    [
        ("tool_delay_ns", 1.03, "delay_ns"),
        ("expected_internal_mw", 1.06, "internal_power_mw"),
    ],
)
def test_a_figure_outside_its_limit_fails(
    figure: str,
    factor: float,
    check: str,
    labelled: Labelled,
    fresh: ContentCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = cross_checks.compare_with_opensta

    def wrong(*given: object, **arguments: object) -> object:
        found = real(*given, **arguments)  # type: ignore[arg-type]
        return replace(found, **{figure: getattr(found, figure) * factor})

    monkeypatch.setattr(cross_checks, "compare_with_opensta", wrong)
    found = labelled.checks(cache=fresh)
    assert {name for name, row in found.items() if not row.passed} == {check}


def test_a_missing_tool_is_a_row_and_is_tried_again(
    labelled: Labelled, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ToolMissing("sta: not found on PATH")

    with monkeypatch.context() as patch:
        patch.setattr(cross_checks, "compare_with_opensta", missing)
        found = labelled.checks(cache=fresh)
    lacking = {name for name, row in found.items() if row.status != "ok"}
    assert lacking == {"delay_ns", "switching_power_mw", "internal_power_mw"}
    row = found["delay_ns"]
    assert (row.status, row.reason, row.passed) == (
        "tool_error",
        "sta: not found on PATH",
        None,
    )
    assert all(row.passed for row in labelled.checks(cache=fresh).values())


@pytest.mark.parametrize(
    ("run", "check"),
    [
        ({"status": "tool_error", "reason": "other cycles", "audit_latency_cycles": 7}, "latency_cycles"),
        ({"status": "tool_error", "reason": "other sum", "power_status": "tool_error"}, "netlist_outputs"),
        ({"status": "rejected", "reason": "undefined"}, None),
    ],
)
def test_engines_that_disagree_fail_the_check_that_found_it(
    run: dict[str, object], check: str | None, labelled: Labelled
) -> None:
    given = {"power_status": None, **run}
    found = labelled.checks(labelled.changed(label={"status": run["status"]}, run=given))
    assert tuple(found) == (() if check is None else (check,))
    assert all((row.passed, row.reason) == (False, run["reason"]) for row in found.values())


def test_a_library_without_energies_makes_its_check_infeasible(labelled: Labelled, tmp_path: Path) -> None:
    path = tmp_path / "poor_stdcells.lib"
    path.write_text(labelled.target.liberty.read_text().replace("internal_power", "unknown_group"))
    target = replace(labelled.target, liberty=path)
    context = replace(labelled.context, target=target)
    tables = label_designs(labelled.programs, labelled.designs, context)
    rows = cross_check_designs(labelled.programs, labelled.designs, tables, context)
    found = {row.check: row for row in rows}
    assert {name for name, row in found.items() if not row.passed} == {"internal_power_mw"}
    row = found["internal_power_mw"]
    assert row.status == "infeasible"
    assert "has no internal_power for cells" in (row.reason or "")
