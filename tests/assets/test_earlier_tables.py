"""What a run says of the tables that it replaces, keeping them, and folders of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foundry_fakes import FEW_OVERRIDES
from invoking import invoke

from assets.configuration import compose_configuration, sweep, write_parameters
from assets.deployments import Deployment
from assets.materialise import RunReport, shrunk_tables
from assets.replaced_tables import keep_tables, lines_before
from assets.settings import Settings, ignore_progress
from assets.steps import step_named
from simfoundry.commands import run as run_command


def _smaller(settings: Settings) -> Settings:
    overrides = [*FEW_OVERRIDES, "programs.suites=[irregular]"]
    return Settings(configuration=compose_configuration(overrides), deployment=settings.deployment)


def test_a_run_that_takes_tables_away_says_so_before(settings: Settings) -> None:
    step_named("programs").make(settings, "stencil", ignore_progress)
    assert lines_before(settings) == []
    assert lines_before(_smaller(settings)) == [
        "programs: 2 rows of stencil will be removed",
        "tables of an earlier run will be replaced: "
        "programs.suites: ['linear_algebra', 'stencil', 'irregular'] -> ['irregular']",
        "`--keep` keeps them beside the new ones, `--into FOLDER` leaves them as they are",
    ]


def test_kept_tables_have_the_bytes_and_the_parameters_of_the_earlier_run(settings: Settings) -> None:
    step_named("programs").make(settings, "stencil", ignore_progress)
    path = settings.deployment.data_dir / "tables" / "programs" / "stencil.parquet"
    content = path.read_bytes()
    kept = keep_tables(settings.deployment)
    assert kept is not None
    path.unlink()
    assert (kept / "tables" / "programs" / "stencil.parquet").read_bytes() == content
    assert (kept / "params.yaml").read_bytes() == (settings.deployment.project / "params.yaml").read_bytes()


def test_nothing_is_kept_of_an_empty_folder(deployment: Deployment) -> None:
    assert keep_tables(deployment) is None


def test_a_table_that_lost_rows_is_named() -> None:
    assert shrunk_tables({"labels": 3243, "runs": 4}, {"labels": 128, "runs": 4}) == [
        "labels: 3,243 rows before this run, 128 now"
    ]


def test_run_says_before_it_begins_what_it_replaces(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    step_named("programs").make(settings, "stencil", ignore_progress)
    told: list[str] = []

    def run(*_: Any, **__: Any) -> RunReport:
        told.append("begun")
        return RunReport(notes=["labels: 3,243 rows before this run, 128 now"])

    monkeypatch.setattr(run_command, "run_everything", run)
    monkeypatch.setattr(run_command, "lines_before", lambda _: told.append("said") or ["x will be removed"])
    result = invoke("run", "programs.suites=[irregular]", "--keep")
    assert told == ["said", "begun"]
    assert result.exit_code == 0, result.stderr
    assert "tables of the earlier run are kept: " in result.stderr
    assert "3,243 rows before this run" in result.stdout


@pytest.fixture
def runs(project: Path, monkeypatch: pytest.MonkeyPatch) -> list[Deployment]:
    """Deployments of the runs that were asked for, none of which is made."""
    asked: list[Deployment] = []

    def run(configuration: Any, deployment: Deployment, **_: Any) -> RunReport:
        asked.append(deployment)
        return RunReport()

    monkeypatch.setattr(run_command, "run_everything", run)
    return asked


def test_multirun_gives_every_combination_a_folder(runs: list[Deployment]) -> None:
    result = invoke("run", "-m", "scale=smoke", "hls.memory_delay=[2],[5]")
    assert result.exit_code == 0, result.stderr
    assert [d.data_dir.name for d in runs] == ["hls.memory_delay=_2_", "hls.memory_delay=_5_"]
    assert {d.data_dir.parent.name for d in runs} == {"sweeps"}
    assert not any(d.is_versioned for d in runs)
    assert {d.parameters_folder for d in runs} == {d.data_dir for d in runs}


def test_a_sweep_is_the_product_of_its_values_in_order() -> None:
    runs = sweep(["scale=smoke", "hls.memory_delay=[2],[5]", "ast.seed=1,2", "~llm.count"])
    assert [values for values, _ in runs] == [
        {"hls.memory_delay": delay, "ast.seed": seed} for delay in ("[2]", "[5]") for seed in ("1", "2")
    ]
    assert runs[0][1] == ("scale=smoke", "hls.memory_delay=[2]", "ast.seed=1", "~llm.count")


def test_cfg_prints_the_configuration_and_runs_nothing(runs: list[Deployment]) -> None:
    result = invoke("run", "--cfg", "job", "hls.memory_delay=[7]")
    assert result.exit_code == 0
    assert "memory_delay:\n  - 7\n" in result.stdout
    assert runs == []


@pytest.mark.parametrize("override", ["hydra.sweeper=x", "+hydra.run.dir=y", "hydra/launcher=joblib"])
def test_run_rejects_settings_of_hydra(runs: list[Deployment], override: str) -> None:
    key = override.lstrip("+").partition("=")[0]
    result = invoke("run", override)
    assert result.exit_code == 1
    assert result.stderr == (
        f"simfoundry: unknown key: {key} ({override}); "
        "accepted: keys of the configuration, --cfg job, --multirun\n"
    )
    assert runs == []


@pytest.mark.parametrize(
    ("arguments", "where", "accepted"),
    [
        (["stage", "paint", "--json"], "simfoundry stage", "programs"),
        (["network", "--json", "--estimate", "x"], "simfoundry network --estimate", "tree"),
        (["run", "--json", "hydra.x=1"], "simfoundry run", "--multirun"),
        (["predict", "--json", "none.c", "--top", "f", "--model", "x"], "simfoundry predict", ""),
    ],
)
def test_an_error_under_json_is_one_json_object(
    project: Path, arguments: list[str], where: str, accepted: str
) -> None:
    result = invoke(*arguments)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    problem = json.loads(result.stderr)
    assert set(problem) == {"error", "where", "accepted"}
    assert problem["where"] == where
    assert not accepted or accepted in problem["accepted"]


def test_problems_of_a_run_under_json_are_one_json_object(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = RunReport(problems=["designs stencil: a (k.c:3)", "records was not made"])
    monkeypatch.setattr(run_command, "run_everything", lambda *_, **__: report)
    problem = json.loads(invoke("run", "--json").stderr)
    assert problem["where"] == "k.c:3"
    assert [one["error"] for one in problem["problems"]] == report.problems


def test_a_stage_says_what_it_removes(settings: Settings, engines: Any) -> None:
    for suite in ("stencil", "irregular"):
        step_named("programs").make(settings, suite, ignore_progress)
    write_parameters(settings.deployment.project, _smaller(settings).configuration)
    result = invoke("stage", "programs")
    assert result.exit_code == 0, result.stderr
    assert "simfoundry: programs: 2 rows of stencil will be removed" in result.stderr
