"""Step `selection`: ranks training designs without area alone, and is not made by default."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from labelled_rows import table_row

from assets.checks import CheckedFile
from assets.configuration import compose_configuration, parameters_text
from assets.deployments import local_deployment
from assets.settings import Settings, ignore_progress
from assets.step import SKIPPED
from assets.steps import selection as step_module
from assets.steps import step_named
from models.labelled import LabelledDesign
from models.query import Query
from models.tasks import TooFewRows
from pipelines.schemas import table_spec, write_table
from pipelines.schemas.columns import ColumnSpec
from pipelines.schemas.selection import SelectionRow

PARTS = ("train", "train", "train", "validation", "test", "evaluation", "unseen_delay")
SOURCE = "void top(int a[4]) { a[0] = 1; }"


def _design(number: int) -> LabelledDesign:
    part = PARTS[number % len(PARTS)]
    labels = {"latency_cycles": 100.0 + number}
    if number % 2:
        labels |= {"area_um2": 1e4 * (1 + number), "power_mw": 0.5 + number}
    return LabelledDesign(
        design_id=f"d{number:03}",
        program_id=f"p{number:03}",
        group=f"g{number}",
        part=part,
        query=Query(
            source=SOURCE,
            top="top",
            inputs="{}",
            directives="[]",
            memory_read_delay_cycles=2,
            memory_write_delay_cycles=2,
            clock_period_ns=10.0,
        ),
        loops=(),
        labels=labels,
        family="ast",
    )


DESIGNS = tuple(_design(number) for number in range(140))


def _row(table: str, **values: Any) -> Any:
    """A row with an empty value, or the first choice, in every other column that cannot be null."""
    columns = [c for c in table_spec(table).columns if not c.nullable and c.name not in values]
    return table_row(table, **values, **{c.name: _empty(c) for c in columns})


def _empty(column: ColumnSpec) -> Any:
    if column.choices:
        return column.choices[0]
    kind = column.arrow_type
    return (
        () if pa.types.is_list(kind) else "" if pa.types.is_string(kind) else pa.scalar(0).cast(kind).as_py()
    )


def _features(data_dir: Path, designs: list[LabelledDesign], level: str) -> list[dict[str, float]]:
    assert level == "hls"
    return [
        {
            "log_estimated_area_um2": math.log(1e4 * (2 + int(design.design_id[1:]))),
            "log_estimated_cycles": math.log(100.0),
            "log_estimated_power_mw": 0.1,
            "state_count": float(int(design.design_id[1:]) % 7),
        }
        for design in designs
    ]


def _settings(folder: Path, *overrides: str) -> Settings:
    configuration = compose_configuration(overrides)
    return Settings(configuration=configuration, deployment=local_deployment(folder))


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with a budget of 0.05 core-hours, and tables of 140 designs of every part."""
    settings = _settings(tmp_path, "selection.budget_core_hours=0.05")
    folder, split = settings.deployment.data_dir, settings.configuration.features.split
    rows: dict[str, list[Any]] = {"programs": [], "designs": [], "splits": []}
    for design in DESIGNS:
        own = {"program_id": design.program_id, "suite": "ast"}
        delay, part = (15, "train") if design.part == "unseen_delay" else (2, design.part)
        delays = {"memory_read_delay_cycles": delay, "memory_write_delay_cycles": delay}
        rows["programs"].append(_row("programs", **own, stage="ast"))
        rows["designs"].append(_row("designs", **own, **delays, design_id=design.design_id))
        place = {"program_id": design.program_id, "group": design.group, "split": split}
        rows["splits"].append(_row("splits", **place, part=part))
    for table, own_rows in rows.items():
        partition = split if table == "splits" else "ast"
        write_table(folder, table_spec(table), own_rows, partition)
    monkeypatch.setattr(step_module, "load_labelled_designs", lambda *_: DESIGNS)
    monkeypatch.setattr(step_module, "table_features", _features)
    return settings


def _selection(settings: Settings) -> list[SelectionRow]:
    return list(step_module.make_selection(settings, "all", ignore_progress).rows["selection"])


def test_only_training_designs_without_area_are_ranked_within_the_budget(tables: Settings) -> None:
    rows = _selection(tables)
    expected = {d.design_id for d in DESIGNS if d.part == "train" and "area_um2" not in d.labels}
    assert {row.design_id for row in rows} == expected
    chosen = [row for row in rows if row.chosen]
    assert 0 < len(chosen) < len(rows)
    assert sum(row.estimated_cost_s for row in chosen) <= 0.05 * 3600
    assert rows == _selection(tables)


def test_the_check_finds_no_design_outside_training(tables: Settings) -> None:
    assert _problems(tables, _selection(tables)) == []


@pytest.mark.parametrize(
    ("design_id", "part"), [("d003", "validation"), ("d004", "test"), ("d006", "unseen_delay")]
)
def test_the_check_rejects_a_design_of_another_part(tables: Settings, design_id: str, part: str) -> None:
    row = SelectionRow(
        design_id=design_id,
        suite="ast",
        rank=1,
        score=1.0,
        uncertainty=1.0,
        feature_distance=1.0,
        coverage=1.0,
        reason="distance",
        estimated_cost_s=1.0,
        chosen=True,
    )
    split = tables.configuration.features.split
    message = f"a ranked design must be in part train of {split}, got {design_id} in {part}"
    assert _problems(tables, [row]) == [message]


def _problems(settings: Settings, rows: list[SelectionRow]) -> list[str]:
    spec = table_spec("selection")
    write_table(settings.deployment.data_dir, spec, rows, "all")
    content = spec.to_arrow(rows)
    file = CheckedFile(settings=settings, table="selection", partition="all", content=content)
    [rule] = step_named("selection").checks["selection"]
    return rule.problems(file)


def test_few_labelled_designs_are_no_basis(tables: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_module, "load_labelled_designs", lambda *_: DESIGNS[:14])
    output = step_module.make_selection(tables, "all", ignore_progress)
    assert output.rows == {"selection": ()}
    assert output.notes == {SKIPPED: "3 labelled and 3 other training designs; accepted: 20 and 1"}


def test_tables_without_a_training_part_are_no_basis(
    tables: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise TooFewRows("no labelled designs in part train")

    monkeypatch.setattr(step_module, "load_labelled_designs", refuse)
    output = step_module.make_selection(tables, "all", ignore_progress)
    assert output.notes == {SKIPPED: "no labelled designs in part train"}


def test_the_step_is_made_with_a_budget_alone_and_params_are_as_before_without(tmp_path: Path) -> None:
    step = step_named("selection")
    without, with_budget = _settings(tmp_path), _settings(tmp_path, "selection.budget_core_hours=1")
    assert (step.is_active(without), step.is_active(with_budget)) == (False, True)
    assert b"\nselection:" not in parameters_text(without.configuration)
    assert b"\nselection:" in parameters_text(with_budget.configuration)
