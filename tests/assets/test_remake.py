"""A sample of rows is made again, and rows that the present engines make otherwise are found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assets.materialise import stale_rows
from assets.settings import Settings
from assets.steps import STEPS
from pipelines.dataset.labelling import label as label_module
from pipelines.schemas import read_table, table_spec, write_table

SUITE = "stencil"


@pytest.fixture
def tables(settings: Settings, engines: Any) -> Settings:
    """Tables of one suite and of the networks."""
    programs = settings.configuration.programs.model_copy(update={"suites": (SUITE,)})
    one = replace(settings, configuration=settings.configuration.model_copy(update={"programs": programs}))
    for step in STEPS:
        if not step.partitioned.is_whole:
            for partition in step.partitions(one)[:1]:
                step.make(one, partition)
    return one


def _rows(settings: Settings, table: str) -> list[Any]:
    return read_table(settings.deployment.data_dir, table_spec(table), [SUITE])


def test_tables_of_the_present_engines_have_no_stale_row(tables: Settings) -> None:
    assert stale_rows(tables, fraction=1.0, seed=1) == []


def test_a_stale_label_is_found(tables: Settings) -> None:
    first, *others = _rows(tables, "labels")
    changed = replace(first, area_um2=1.5, reason="any")
    write_table(tables.deployment.data_dir, table_spec("labels"), [changed, *others], SUITE)
    (problem,) = stale_rows(tables, fraction=1.0, seed=1)
    assert problem == (
        f"labels stencil: design_id={first.design_id}, tool=pyosys is stale: area_um2 1.5 -> {first.area_um2}"
    )


def test_a_row_that_is_no_longer_made_is_found(tables: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    make = label_module.label_designs

    def renamed(*arguments: Any, **options: Any) -> Any:
        made = make(*arguments, **options)
        runs = [replace(run, data_id="d1") for run in made.runs]
        return type(made)(labels=made.labels, runs=runs)

    monkeypatch.setattr(label_module, "label_designs", renamed)
    problems = stale_rows(tables, fraction=0.01, seed=3)
    assert {problem.split()[0] for problem in problems} == {"runs", "run_features"}
    assert all("data_id=d1 is stale: absent from the table" in problem for problem in problems)


def test_a_failure_of_a_tool_is_not_compared(tables: Settings) -> None:
    first, *others = _rows(tables, "labels")
    failed = replace(first, status="tool_error", reason="killed", area_um2=None)
    write_table(tables.deployment.data_dir, table_spec("labels"), [failed, *others], SUITE)
    assert stale_rows(tables, fraction=1.0, seed=1) == []


def test_the_configured_tables_are_left_as_they_are(tables: Settings) -> None:
    before = {p: p.read_bytes() for p in tables.deployment.data_dir.rglob("*.parquet")}
    stale_rows(tables, fraction=1.0, seed=2)
    assert {p: p.read_bytes() for p in tables.deployment.data_dir.rglob("*.parquet")} == before
