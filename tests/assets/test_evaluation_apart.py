"""The blocking check that no program for training equals an evaluation program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dagster as dg
import pytest
from foundry_fakes import FEW_OVERRIDES

from assets.checks import open_file
from assets.configuration import compose_configuration
from assets.dagster_assets import rules_of
from assets.deployments import Deployment
from assets.materialise import run_everything
from assets.resources import ProgressResource
from assets.settings import Settings, ignore_progress
from assets.steps import programs as programs_step
from assets.steps import step_named
from assets.steps.splits import mixed_evaluation_programs
from pipelines.programs import kernel_programs
from pipelines.programs.evaluation import evaluation_programs
from pipelines.schemas import ProgramRow, read_table, table_path, table_spec, write_table

SUITE = "stencil"
SPLIT = "by_kernel_v2"
TWIN = replace(evaluation_programs("stationary")[0], suite=SUITE, stage="ast", name="planted")


@pytest.fixture
def settings(deployment: Deployment) -> Settings:
    """One suite, two designs a program."""
    configuration = compose_configuration([*FEW_OVERRIDES, f"programs.suites=[{SUITE}]"])
    return Settings(configuration=configuration, deployment=deployment)


def programs(*planted: ProgramRow) -> list[ProgramRow]:
    return [*kernel_programs(suites=(SUITE,), sizes=("small",)), *planted]


def written(settings: Settings, *planted: ProgramRow) -> Settings:
    """Programs of one suite and their places."""
    write_table(settings.deployment.data_dir, table_spec("programs"), programs(*planted), SUITE)
    step_named("splits").make(settings, SPLIT, ignore_progress)
    return settings


def problems(settings: Settings, table: str, partition: str) -> list[str]:
    return mixed_evaluation_programs(open_file(settings, table, partition))


@pytest.mark.parametrize("table", ["programs", "splits"])
def test_the_check_blocks(table: str) -> None:
    assert {rule.name: rule.blocking for rule in rules_of(table)}["evaluation_apart"]


@pytest.mark.parametrize(("table", "partition"), [("programs", SUITE), ("splits", SPLIT)])
def test_a_planted_duplicate_is_found(settings: Settings, table: str, partition: str) -> None:
    assert problems(written(settings), table, partition) == []
    assert problems(written(settings, TWIN), table, partition) == [
        f"a training program must differ from every evaluation program, got planted ({TWIN.program_id}), "
        "which equals stationary/weight-stationary-int/custom by its syntax tree"
    ]


def test_an_evaluation_program_among_those_for_training_is_found(settings: Settings) -> None:
    program = replace(evaluation_programs("stationary")[0], suite=SUITE)
    written(settings, program)
    assert problems(settings, "splits", SPLIT) == []
    places = read_table(settings.deployment.data_dir, table_spec("splits"), [SPLIT])
    moved = [replace(p, part="train") if p.program_id == program.program_id else p for p in places]
    write_table(settings.deployment.data_dir, table_spec("splits"), moved, SPLIT)
    assert problems(settings, "splits", SPLIT) == [
        f"an evaluation program must be in part evaluation, got {program.name} in train"
    ]


@pytest.mark.slow
def test_a_planted_duplicate_stops_what_reads_the_programs(
    settings: Settings, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(*_: Any, **__: Any) -> list[ProgramRow]:
        return programs(TWIN)

    monkeypatch.setattr(programs_step, "cached_programs", planted)
    with dg.DagsterInstance.ephemeral() as instance:
        found = run_everything(
            settings.configuration, settings.deployment, instance=instance, progress=ProgressResource()
        ).problems
    assert "evaluation_apart" in found[0]
    assert any("was not made, because" in problem for problem in found[1:])
    assert not table_path(settings.deployment.data_dir, table_spec("designs"), SUITE).exists()
