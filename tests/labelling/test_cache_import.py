"""Existing rows into the cache: nothing is done again, and rows of other versions have no entry."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling import (
    CacheImport,
    DesignTables,
    LabelContext,
    LabelOptions,
    LabelTables,
    ProgramRows,
    cross_check_designs,
    import_rows,
    label_designs,
    plan_designs,
)
from pipelines.programs import program_from_file
from pipelines.schemas import CrossCheckRow, ProgramRow
from pipelines.silicon.synthesis import Target, find_liberty
from tests.support.labelling import configuration_space, label_options

SUM = """
int total(int A[6])
{
    int s = 0;
    for (int i = 0; i < 6; i++)
        s += A[i];
    return s;
}
"""
SPACE = configuration_space(memory_delay=(2, 3), pipeline=(False,))
OPTIONS = label_options(workers=1, data_seeds=(0, 1), audit_fraction=1.0, cross_check_fraction=1.0)


class Labelled:
    """A program labelled with real tools, and all its rows."""

    def __init__(self, folder: Path, cache: ContentCache) -> None:
        source = folder / "total.c"
        source.write_text(SUM)
        self.program = program_from_file(source, top="total")
        self.target = Target(liberty=find_liberty(None), clock_period_ns=10.0)
        self.cache = cache
        self.designs, self.labels, self.checks = self.label(self.cache)

    def label(
        self, cache: ContentCache, options: LabelOptions = OPTIONS
    ) -> tuple[DesignTables, LabelTables, list[CrossCheckRow]]:
        context = self.context(cache, options)
        designs = plan_designs([self.program], SPACE, context)
        labels = label_designs([self.program], designs.designs, context)
        return designs, labels, cross_check_designs([self.program], designs.designs, labels, context)

    def context(self, cache: ContentCache, options: LabelOptions = OPTIONS) -> LabelContext:
        return LabelContext(target=self.target, cache=cache, options=options)

    def rows(self, **changes: Any) -> ProgramRows:
        given = ProgramRows(
            program=self.program,
            designs=self.designs.designs,
            outcomes=self.designs.directive_outcomes,
            labels=self.labels.labels,
            runs=self.labels.runs,
            loop_runs=self.labels.loop_runs,
            cross_checks=self.checks,
        )
        return replace(given, **changes)

    def imported(
        self, cache: ContentCache, rows: ProgramRows | None = None, options: LabelOptions = OPTIONS
    ) -> CacheImport:
        report = CacheImport()
        import_rows(self.rows() if rows is None else rows, self.context(cache, options), report)
        return report


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory, new_cache: Callable[[Path], ContentCache]) -> Labelled:
    folder = tmp_path_factory.mktemp("labelled")
    return Labelled(folder, new_cache(folder / "cache"))


@pytest.fixture
def fresh(tmp_path: Path, new_cache: Callable[[Path], ContentCache]) -> ContentCache:
    return new_cache(tmp_path / "fresh")


def refuse_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process may start from now on; versions were asked for before."""

    def refuse(*arguments: object, **_: object) -> None:
        raise AssertionError(f"a tool was run: {arguments}")

    monkeypatch.setattr(subprocess, "Popen", refuse)


def ordered(rows: Sequence[Any]) -> list[str]:
    return sorted(str(asdict(row)) for row in rows)


def test_imported_rows_need_no_tool(
    labelled: Labelled, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = labelled.imported(fresh)
    steps = {"run": 4, "loop_runs": 4, "power": 4, "synthesis": 2, "cross_check": 2}
    assert report.stored == {"hls": 2, "labels": 1, **steps}
    assert (report.other, report.different) == ({}, [])
    refuse_tools(monkeypatch)
    designs, labels, checks = labelled.label(fresh)
    assert ordered(designs.designs) == ordered(labelled.designs.designs)
    assert ordered(labels.labels) == ordered(labelled.labels.labels)
    assert ordered(labels.runs) == ordered(labelled.labels.runs)
    assert ordered(checks) == ordered(labelled.checks)


def test_each_step_has_its_entry_when_the_whole_has_none(
    labelled: Labelled, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled.imported(fresh)
    shutil.rmtree(fresh.folder / "labels")
    engines = ("run_native_sets", "count_cycles_of", "simulate_design")
    for name in engines:
        monkeypatch.setattr(f"pipelines.dataset.labelling.runs.{name}", None)
    monkeypatch.setattr("pipelines.dataset.labelling.synthesis.synthesize_design", None)
    monkeypatch.setattr("pipelines.dataset.labelling.synthesis.estimate_power", None)
    _, labels, _ = labelled.label(fresh)
    assert ordered(labels.labels) == ordered(labelled.labels.labels)
    assert ordered(labels.runs) == ordered(labelled.labels.runs)


def test_entries_are_those_that_labelling_itself_made(labelled: Labelled) -> None:
    report = labelled.imported(labelled.cache)
    assert report.stored == {}
    steps = {"run": 4, "loop_runs": 4, "power": 4, "synthesis": 2, "cross_check": 2}
    assert report.present == {"hls": 2, "labels": 1, **steps}
    assert report.different == []


def test_an_entry_that_says_something_else_is_left_alone_and_named(labelled: Labelled) -> None:
    first, *rest = labelled.labels.labels
    wrong = replace(first, area_um2=1.0)
    report = labelled.imported(labelled.cache, labelled.rows(labels=[wrong, *rest]))
    assert report.different == [f"synthesis of label {first.design_id}"]
    assert ordered(labelled.label(labelled.cache)[1].labels) == ordered(labelled.labels.labels)


@pytest.mark.parametrize(
    ("table", "changes", "why"),
    [
        ("designs", {"tool_version": "old"}, "designs of another version of the engine"),
        ("designs", {"tool": "bambu"}, "designs of bambu, whose Verilog is in no table"),
        (
            "labels",
            {"tool_version": "old"},
            "labels of another version of logic synthesis, or another library",
        ),
        ("labels", {"liberty": "osu035"}, "labels of another version of logic synthesis, or another library"),
        ("runs", {"engine_version": "old"}, "runs of another version of the cycle model"),
        ("runs", {"audit_engine_version": "old"}, "runs audited by another version of the simulator"),
        ("runs", {"power_engine_version": "old"}, "runs of another version of the power model"),
        ("runs", {"timed_cycles": 1}, "runs with another kind of power"),
        ("runs", {"audited": False}, "runs with another share of audits"),
        ("runs", {"status": "tool_error"}, "runs in which a tool failed or engines disagreed"),
        ("cross_checks", {"tool_version": "old"}, "cross-checks by another version of a tool"),
    ],
)
def test_rows_that_would_not_be_made_here_have_no_entry(
    labelled: Labelled, fresh: ContentCache, table: str, changes: dict[str, Any], why: str
) -> None:
    rows = labelled.rows()
    changed = replace(rows, **{table: [replace(row, **changes) for row in getattr(rows, table)]})
    report = labelled.imported(fresh, changed)
    assert why in report.other
    kinds = {"designs": "hls", "labels": "synthesis", "runs": "run", "cross_checks": "cross_check"}
    assert report.stored[kinds[table]] == 0
    assert report.stored["labels"] == (table == "cross_checks")


def test_labels_of_cycles_alone_are_no_whole_entry(labelled: Labelled, fresh: ContentCache) -> None:
    rows = labelled.rows()
    unknown = dict.fromkeys(("area_um2", "flip_flop_count", "cell_count", "cells_by_type", "delay_ns"))
    report = labelled.imported(fresh, replace(rows, labels=[replace(row, **unknown) for row in rows.labels]))
    assert report.other["labels with another share of designs mapped to cells"] == len(rows.labels)
    assert (report.stored["synthesis"], report.stored["labels"], report.stored["run"]) == (0, 0, 4)


def test_ids_that_are_not_of_what_rows_say_have_no_entry(labelled: Labelled, fresh: ContentCache) -> None:
    rows = labelled.rows()
    escaping = [replace(d, design_id="../../../escaped") for d in rows.designs]
    report = labelled.imported(fresh, replace(rows, designs=escaping))
    assert (report.stored, report.other) == ({}, {"designs whose id is not theirs": 2})
    foreign = replace(rows.program, source=rows.program.source + "\n")
    report = labelled.imported(fresh, replace(rows, program=foreign))
    assert (report.stored, report.other) == ({}, {"programs whose id is not theirs": 1})


def test_designs_of_another_configuration_are_not_all(labelled: Labelled, fresh: ContentCache) -> None:
    rows = labelled.rows()
    few = replace(rows, designs=rows.designs[:1])
    labelled.imported(fresh, few)
    assert len(labelled.label(fresh)[0].designs) == len(rows.designs)


def test_a_program_of_two_suites_keeps_to_its_own(labelled: Labelled) -> None:
    other = replace(labelled.program, suite="other")
    tables = plan_designs([other], SPACE, labelled.context(labelled.cache))
    assert {design.suite for design in tables.designs} == {"other"}


def test_slots_do_not_change_the_entries(labelled: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_tools(monkeypatch)
    _, labels, _ = labelled.label(labelled.cache, replace(OPTIONS, slots={"verilator": 1}, workers=1))
    assert ordered(labels.runs) == ordered(labelled.labels.runs)


def test_labels_of_other_tools_of_synthesis_do_not_stand_in_the_way(
    labelled: Labelled, fresh: ContentCache
) -> None:
    placed = [replace(label, tool="siliconcompiler", area_um2=1.0) for label in labelled.labels.labels]
    report = labelled.imported(fresh, labelled.rows(labels=[*labelled.labels.labels, *placed]))
    assert report.other == {"labels of other tools of logic synthesis": 2}
    assert (report.stored["labels"], report.stored["synthesis"]) == (1, 2)
    assert ordered(labelled.label(fresh)[1].labels) == ordered(labelled.labels.labels)


def test_rows_under_other_options_have_no_whole_entry(labelled: Labelled, fresh: ContentCache) -> None:
    report = labelled.imported(fresh, options=replace(OPTIONS, data_seeds=(0, 1, 2)))
    assert "designs with other data sets" in report.other
    assert report.stored["labels"] == 0


def test_what_a_failed_tool_left_is_not_kept_as_a_whole(labelled: Labelled, fresh: ContentCache) -> None:
    first, *rest = labelled.labels.labels
    failed = replace(first, status="tool_error", reason="the tool crashed", area_um2=None)
    report = labelled.imported(fresh, labelled.rows(labels=[failed, *rest]))
    assert report.stored["labels"] == 0
    assert report.other["labels in which a tool failed"] == 1


def test_a_program_that_was_refused_is_not_read_again(
    tmp_path: Path, fresh: ContentCache, labelled: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "bad.c"
    source.write_text("int bad(int n) { return n ? 1 + bad(n - 1) : 0; }\n")
    program: ProgramRow = program_from_file(source, top="bad")
    context, other = labelled.context(labelled.cache), labelled.context(fresh)
    planned = plan_designs([program], SPACE, context)
    tables = label_designs([program], planned.designs, context)
    rows = ProgramRows(
        program=program, designs=planned.designs, outcomes=(), labels=tables.labels, runs=tables.runs
    )
    import_rows(rows, other, CacheImport())
    refuse_tools(monkeypatch)
    again = plan_designs([program], SPACE, other)
    assert [row.reason for row in again.designs] == [row.reason for row in planned.designs]
    assert label_designs([program], again.designs, other).labels == tables.labels
