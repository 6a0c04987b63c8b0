"""Rows back into the cache: nothing is done again, and what would not be found is not pretended."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.cache import ContentCache
from pipelines.labelling import (
    ConfigurationSpace,
    DesignTables,
    LabelOptions,
    LabelTables,
    ProgramRows,
    Remembered,
    cross_check_designs,
    label_designs,
    plan_designs,
    remember,
)
from pipelines.programs import program_from_file
from pipelines.schemas import CrossCheckRow, ProgramRow
from pipelines.synthesis import Target, find_liberty

SUM = """
int total(int A[6])
{
    int s = 0;
    for (int i = 0; i < 6; i++)
        s += A[i];
    return s;
}
"""
SPACE = ConfigurationSpace(memory_delays=(2, 3), pipeline=(False,))
OPTIONS = LabelOptions(workers=1, data_seeds=(0, 1), audit_fraction=1.0, cross_check_fraction=1.0)


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
        shared: dict[str, Any] = {"target": self.target, "cache": cache, "options": options}
        designs = plan_designs([self.program], SPACE, **shared)
        labels = label_designs([self.program], designs.designs, **shared)
        return designs, labels, cross_check_designs([self.program], designs.designs, labels, **shared)

    def rows(self, **changes: Any) -> ProgramRows:
        given = ProgramRows(
            program=self.program,
            designs=self.designs.designs,
            outcomes=self.designs.directive_outcomes,
            labels=self.labels.labels,
            runs=self.labels.runs,
            cross_checks=self.checks,
        )
        return replace(given, **changes)

    def remember(
        self, cache: ContentCache, rows: ProgramRows | None = None, options: LabelOptions = OPTIONS
    ) -> Remembered:
        found = Remembered()
        chosen = self.rows() if rows is None else rows
        remember(chosen, SPACE, target=self.target, cache=cache, options=options, into=found)
        return found


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


def test_remembered_rows_are_found_without_any_tool(
    labelled: Labelled, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = labelled.remember(fresh)
    assert found.stored == {"hls": 2, "run": 4, "power": 4, "synthesis": 2, "cross_check": 2, "labels": 1}
    assert (found.other, found.different) == ({}, [])
    refuse_tools(monkeypatch)
    designs, labels, checks = labelled.label(fresh)
    assert ordered(designs.designs) == ordered(labelled.designs.designs)
    assert ordered(labels.labels) == ordered(labelled.labels.labels)
    assert ordered(labels.runs) == ordered(labelled.labels.runs)
    assert ordered(checks) == ordered(labelled.checks)


def test_each_step_is_found_when_the_whole_is_not(
    labelled: Labelled, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled.remember(fresh)
    shutil.rmtree(fresh.folder / "labels")
    engines = ("run_native", "count_cycles", "simulate_design")
    for name in engines:
        monkeypatch.setattr(f"pipelines.labelling.counting.{name}", None)
    monkeypatch.setattr("pipelines.labelling.netlists.synthesize_design", None)
    monkeypatch.setattr("pipelines.labelling.netlist_power.estimate_power", None)
    _, labels, _ = labelled.label(fresh)
    assert ordered(labels.labels) == ordered(labelled.labels.labels)
    assert ordered(labels.runs) == ordered(labelled.labels.runs)


def test_entries_are_those_that_labelling_itself_made(labelled: Labelled) -> None:
    found = labelled.remember(labelled.cache)
    assert found.stored == {}
    assert found.present == {"hls": 2, "run": 4, "power": 4, "synthesis": 2, "cross_check": 2, "labels": 1}
    assert found.different == []


def test_an_entry_that_says_something_else_is_left_alone_and_named(labelled: Labelled) -> None:
    first, *rest = labelled.labels.labels
    wrong = replace(first, area_um2=1.0)
    found = labelled.remember(labelled.cache, labelled.rows(labels=[wrong, *rest]))
    assert found.different == [f"synthesis of label {first.design_id}"]
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
    found = labelled.remember(fresh, changed)
    assert why in found.other
    kinds = {"designs": "hls", "labels": "synthesis", "runs": "run", "cross_checks": "cross_check"}
    assert found.stored[kinds[table]] == 0
    assert found.stored["labels"] == (table == "cross_checks")


def test_ids_that_are_not_of_what_rows_say_have_no_entry(labelled: Labelled, fresh: ContentCache) -> None:
    rows = labelled.rows()
    escaping = [replace(d, design_id="../../../escaped") for d in rows.designs]
    found = labelled.remember(fresh, replace(rows, designs=escaping))
    assert (found.stored, found.other) == ({}, {"designs whose id is not theirs": 2})
    foreign = replace(rows.program, source=rows.program.source + "\n")
    found = labelled.remember(fresh, replace(rows, program=foreign))
    assert (found.stored, found.other) == ({}, {"programs whose id is not theirs": 1})


def test_designs_of_another_configuration_are_not_all(labelled: Labelled, fresh: ContentCache) -> None:
    rows = labelled.rows()
    few = replace(rows, designs=rows.designs[:1])
    assert "programs whose designs are not those of the configuration" in labelled.remember(fresh, few).other
    assert len(labelled.label(fresh)[0].designs) == len(rows.designs)


def test_a_program_of_two_suites_keeps_to_its_own(labelled: Labelled) -> None:
    other = replace(labelled.program, suite="other")
    shared: dict[str, Any] = {"target": labelled.target, "cache": labelled.cache, "options": OPTIONS}
    assert {d.suite for d in plan_designs([other], SPACE, **shared).designs} == {"other"}


def test_slots_do_not_change_what_is_found(labelled: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_tools(monkeypatch)
    _, labels, _ = labelled.label(labelled.cache, replace(OPTIONS, slots={"verilator": 1}, workers=1))
    assert ordered(labels.runs) == ordered(labelled.labels.runs)


def test_labels_of_other_tools_of_synthesis_do_not_stand_in_the_way(
    labelled: Labelled, fresh: ContentCache
) -> None:
    placed = [replace(label, tool="siliconcompiler", area_um2=1.0) for label in labelled.labels.labels]
    found = labelled.remember(fresh, labelled.rows(labels=[*labelled.labels.labels, *placed]))
    assert found.other == {"labels of other tools of logic synthesis": 2}
    assert (found.stored["labels"], found.stored["synthesis"]) == (1, 2)
    assert ordered(labelled.label(fresh)[1].labels) == ordered(labelled.labels.labels)


def test_rows_under_other_options_have_no_whole_entry(labelled: Labelled, fresh: ContentCache) -> None:
    found = labelled.remember(fresh, options=replace(OPTIONS, data_seeds=(0, 1, 2)))
    assert "designs with other data sets" in found.other
    assert found.stored["labels"] == 0


def test_what_a_failed_tool_left_is_not_kept_as_a_whole(labelled: Labelled, fresh: ContentCache) -> None:
    first, *rest = labelled.labels.labels
    failed = replace(first, status="tool_error", reason="the tool crashed", area_um2=None)
    found = labelled.remember(fresh, labelled.rows(labels=[failed, *rest]))
    assert found.stored["labels"] == 0
    assert found.other["labels in which a tool failed"] == 1


def test_a_program_that_was_refused_is_not_read_again(
    tmp_path: Path, fresh: ContentCache, labelled: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "bad.c"
    source.write_text("int bad(int n) { return n ? bad(n - 1) : 0; }\n")
    program: ProgramRow = program_from_file(source, top="bad")
    shared: dict[str, Any] = {"target": labelled.target, "options": OPTIONS}
    planned = plan_designs([program], SPACE, cache=labelled.cache, **shared)
    made = label_designs([program], planned.designs, cache=labelled.cache, **shared)
    rows = ProgramRows(
        program=program, designs=planned.designs, outcomes=(), labels=made.labels, runs=made.runs
    )
    remember(rows, SPACE, target=labelled.target, cache=fresh, options=OPTIONS, into=Remembered())
    refuse_tools(monkeypatch)
    again = plan_designs([program], SPACE, cache=fresh, **shared)
    assert [row.reason for row in again.designs] == [row.reason for row in planned.designs]
    assert label_designs([program], again.designs, cache=fresh, **shared).labels == made.labels
