"""A step leaves alone what it wrote of the same inputs, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets.settings import Settings, ignore_progress
from assets.step import keep_written
from assets.steps import designs as designs_step
from assets.steps import features as features_step
from assets.steps import step_named
from pipelines.schemas import read_arrow, read_table, table_path, table_spec, write_table

TABLES = ("program_facts", "loops", "cdfg_nodes", "cdfg_edges")


@pytest.fixture
def extractions(settings: Settings, engines: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry an extraction; the tables of stencil are made already."""
    found: list[str] = []
    extract = features_step.extract_features

    def counted(*given: Any, **named: Any) -> Any:
        found.append("extracted")
        return extract(*given, **named)

    monkeypatch.setattr(features_step, "extract_features", counted)
    for name in ("programs", "designs", "features"):
        step_named(name).make(settings, "stencil", ignore_progress)
    return found


def _again(settings: Settings) -> Mapping[str, int]:
    return step_named("features").make(settings, "stencil", ignore_progress).rows


def _file(settings: Settings, table: str) -> Path:
    return table_path(settings.deployment.data_dir, table_spec(table), "stencil")


def test_files_of_the_same_inputs_are_left_and_counted(settings: Settings, extractions: list[str]) -> None:
    before = {table: _file(settings, table).stat().st_mtime_ns for table in TABLES}
    first = _again(settings)
    assert extractions == ["extracted"]
    assert {table: _file(settings, table).stat().st_mtime_ns for table in TABLES} == before
    _file(settings, "loops").unlink()
    assert _again(settings) == first
    assert extractions == ["extracted", "extracted"]


def test_a_file_with_other_descriptions_of_columns_is_made_again(
    settings: Settings, extractions: list[str]
) -> None:
    path = _file(settings, "loops")
    before = path.read_bytes()
    content = read_arrow(path)
    bare = pa.schema([field.remove_metadata() for field in content.schema])
    pq.write_table(content.cast(bare), path)
    key = step_named("features").inputs_key(settings, "stencil")
    keep_written(settings, key, TABLES, "stencil")
    _again(settings)
    assert extractions == ["extracted", "extracted"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("table", TABLES)
def test_a_changed_file_is_made_anew(settings: Settings, extractions: list[str], table: str) -> None:
    before = _file(settings, table).read_bytes()
    _file(settings, table).write_bytes(before + b"x")
    _again(settings)
    assert extractions == ["extracted", "extracted"]
    assert _file(settings, table).read_bytes() == before


def test_other_inputs_or_another_version_are_made_anew(
    settings: Settings, extractions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _file(settings, "designs")
    path.write_bytes(_file(settings, "designs").read_bytes())
    _again(settings)
    assert len(extractions) == 1
    monkeypatch.setattr(features_step, "feature_version", lambda: "another")
    _again(settings)
    assert len(extractions) == 2


def test_designs_of_the_same_programs_are_left_and_their_failures_counted(
    settings: Settings, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    step_named("programs").make(settings, "stencil", ignore_progress)
    first = step_named("designs").make(settings, "stencil", ignore_progress)
    monkeypatch.setattr(designs_step, "plan_designs", None)
    assert step_named("designs").make(settings, "stencil", ignore_progress) == first
    measured = table_path(settings.deployment.data_dir, table_spec("designs"), "stencil", measured=True)
    measured.unlink()
    with pytest.raises(TypeError):
        step_named("designs").make(settings, "stencil", ignore_progress)


def test_designs_with_a_failure_are_made_again(
    settings: Settings, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = designs_step.plan_designs

    def failing(*given: Any, **named: Any) -> Any:
        made = plan(*given, **named)
        first = replace(made.designs[0], status="tool_error", reason="no space")
        return replace(made, designs=[first, *made.designs[1:]])

    step_named("programs").make(settings, "stencil", ignore_progress)
    monkeypatch.setattr(designs_step, "plan_designs", failing)
    failed = step_named("designs").make(settings, "stencil", ignore_progress)
    assert sum(failed.failures.values()) == 1
    monkeypatch.setattr(designs_step, "plan_designs", plan)
    assert not step_named("designs").make(settings, "stencil", ignore_progress).failures


NO_FIGURES = {"area_um2": None, "flip_flop_count": None, "cell_count": None, "lut_count": None}


def test_features_of_runs_are_of_designs_with_figures_or_power(settings: Settings, engines: Any) -> None:
    for name in ("programs", "designs", "labels", "design_features", "run_features"):
        step_named(name).make(settings, "stencil", ignore_progress)

    def known() -> set[str]:
        rows: list[Any] = read_table(settings.deployment.data_dir, table_spec("run_features"), ["stencil"])
        return {row.design_id for row in rows}

    def without(table: str, design_id: str, **changes: None) -> None:
        data, spec = settings.deployment.data_dir, table_spec(table)
        rows: list[Any] = read_table(data, spec, ["stencil"])
        kept = [replace(row, **changes) if row.design_id == design_id else row for row in rows]
        write_table(data, spec, kept, "stencil")
        step_named("run_features").make(settings, "stencil", ignore_progress)

    before = known()
    lost = min(before)
    without("labels", lost, **NO_FIGURES)
    assert known() == before
    without("runs", lost, power_mw=None)
    assert known() == before - {lost}
