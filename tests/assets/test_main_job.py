from __future__ import annotations

import re
import signal
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from io import StringIO
from types import SimpleNamespace
from typing import Any

import dagster as dg
import foundry_fakes
import pytest
from foundry_fakes import FEW_OVERRIDES

from assets import dagster_assets, materialise
from assets.configuration import compose_configuration
from assets.definitions import build_definitions
from assets.deployments import Deployment, writing_to
from assets.engines import ROOT, Constant
from assets.errors import FoundryError
from assets.instance import PROCESS_TAG, open_instance, process_tag, release_dead_runs
from assets.materialise import RUN_TAG, RunReport, run_everything
from assets.overview import survey
from assets.progress import PlainProgress
from assets.refresh import model_decisions, read_refreshes, refresh_page
from assets.resources import ProgressResource
from assets.settings import Settings, ignore_progress
from assets.steps import designs as designs_step
from assets.steps import predictors as predictors_step
from assets.steps import step_named
from models.catalogue import PredictorSpec, predictor_named
from models.tasks import TooFewRows
from pipelines.dataset.labelling import label as label_module
from pipelines.programs import kernel_programs
from pipelines.schemas import PromotionRow, read_table, table_path, table_spec, write_table


@pytest.fixture
def instance() -> Any:
    """Run storage in memory: most of a run's time with small engines is run storage."""
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


@pytest.fixture
def unrecorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs without DVC, which takes a second per run, for tests that look at no hash."""
    monkeypatch.setattr(materialise, "record_stages", lambda *_: {})


@pytest.fixture
def instance_on_disk(deployment: Deployment) -> Any:
    with open_instance(deployment) as opened:
        yield opened


@pytest.fixture
def settings(deployment: Deployment) -> Settings:
    """One suite, two designs a program."""
    return _settings(deployment, "stencil")


@pytest.fixture
def two_suites(deployment: Deployment) -> Settings:
    return _settings(deployment, "stencil,irregular")


def _settings(deployment: Deployment, suites: str) -> Settings:
    overrides = [*FEW_OVERRIDES, f"programs.suites=[{suites}]"]
    return Settings(configuration=compose_configuration(overrides), deployment=deployment)


def _run(settings: Settings, instance: dg.DagsterInstance) -> RunReport:
    return run_everything(
        settings.configuration, settings.deployment, instance=instance, progress=ProgressResource()
    )


def _contents(deployment: Deployment) -> dict[str, bytes]:
    root = deployment.data_dir / "tables"
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*.parquet"))}


def _check_first_run(
    report: RunReport, settings: Settings, instance: dg.DagsterInstance, engines: Any
) -> None:
    """Check that a run made every table and recorded it."""
    assert report.problems == []
    overview = survey(settings.deployment)
    assert overview.rows["labels"] == overview.rows["designs"] == 4
    assert overview.failures == {}
    assert overview.errors == {("tenset-mlp", "area_um2"): 0.25}
    trained = {"promotions", "leaderboard", "workload_errors", "predictor_costs"}
    assert set(report.hashes) == {f"data/tables/{t}" for t in overview.rows.keys() - trained}
    assert engines.data_versions["data/tables/labels"] == report.hashes["data/tables/labels"]
    labels = instance.get_latest_materialization_event(dg.AssetKey("labels"))
    assert labels is not None
    assert labels.asset_materialization is not None
    plot = labels.asset_materialization.metadata["distribution of area_um2"].value
    assert str(plot).startswith("![distribution of area_um2](data:image/svg+xml,")
    model = instance.get_latest_materialization_event(dg.AssetKey("tenset_mlp"))
    assert model is not None
    assert model.asset_materialization is not None
    metadata = model.asset_materialization.metadata
    assert metadata["reference_error"].value == 0.0625
    assert metadata["champion_reference_error"].value == 0.125
    assert metadata["mlflow_run"].value == (
        "[run 01234567](http://127.0.0.1:5000/#/experiments/1/runs/0123456789)"
    )
    seen = instance.fetch_observations(dg.AssetKey("labels"), limit=1).records[0]
    assert seen.asset_observation is not None
    assert seen.asset_observation.metadata["dvc_hash"].value == report.hashes["data/tables/labels"]


def test_the_leaderboard_ranks_the_newest_champions_of_a_task(settings: Settings) -> None:
    row = PromotionRow(
        model="tlp", version="9", compared_with=None, reference_set=None, row_count=0, error=0.25,
        champion_error=None, baseline_error=0.5, interval_low=None, interval_high=None,
        decision="promoted", reason="first",
    )  # fmt: skip
    rows = [
        row,
        replace(row, version="10", error=0.125),
        replace(row, version="11", error=0.0625, decision="refused"),
        replace(row, model="loop-rules", error=None, version="1"),
    ]
    leaderboard = step_named("leaderboard")
    assert leaderboard.run(settings, "all", ignore_progress).notes == {
        "champions": "none: no version of a model was judged"
    }
    write_table(settings.deployment.data_dir, table_spec("promotions"), rows, "all")
    notes = leaderboard.run(settings, "all", ignore_progress).notes
    task = predictor_named("tlp").task.name
    assert notes[task].splitlines()[2:] == ["| tlp 10 | 12.5% |", "| baseline | 50.0% |"]
    assert "| loop-rules 1 | not scored |" in notes[predictor_named("loop-rules").task.name]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """State of the model registry, which the engines of these tests do not write."""
    state = ["first"]
    monkeypatch.setattr(predictors_step, "registry_state", lambda *_: state[0])
    return state


def _selected(instance: dg.DagsterInstance, before: int) -> set[str]:
    """Assets that runs after the first ones were started for."""
    runs = instance.get_runs()[: instance.get_runs_count() - before]
    return {key.to_user_string() for run in runs for key in run.asset_selection or ()}


def test_a_run_makes_and_records_every_table_and_a_second_one_leaves_the_same_bytes(
    settings: Settings,
    instance: dg.DagsterInstance,
    engines: Any,
    registered: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deployment = settings.deployment
    first = _run(settings, instance)
    _check_first_run(first, settings, instance, engines)
    tables, before = _contents(deployment), instance.get_runs_count()
    half = deployment.data_dir / "tables" / "labels" / ".stencil.parquet.abc123"
    half.write_bytes(b"what a killed run leaves is not part of a version")
    second = _run(settings, instance)
    assert second.hashes == first.hashes
    assert _contents(deployment) == tables
    note = re.fullmatch(
        r"unchanged and left as they are: (\d+) of (\d+) partitions of steps", second.notes[0]
    )
    assert note is not None
    assert int(note[1]) == int(note[2]) > 10
    assert instance.get_runs_count() == before
    seen = instance.fetch_observations(dg.AssetKey("report"), limit=1).records[0].asset_observation
    assert seen is not None
    assert seen.metadata["unchanged"].value == int(note[1])
    first_refresh, second_refresh = read_refreshes(deployment)
    changes = {change.table: change for change in first_refresh.changes}
    assert (changes["labels"].new, changes["labels"].changed) == (4, 0)
    assert not any(change.is_change for change in second_refresh.changes)
    assert "Nothing new" in refresh_page(deployment).read_text()
    assert not (deployment.data_dir / ".before").exists()
    monkeypatch.setattr(materialise, "record_stages", lambda *_: {})
    registered[0] = "moved away"
    _run(settings, instance)
    assert _selected(instance, before) == {"tenset_mlp", "promotions", "leaderboard", "report"}
    with dg.DagsterInstance.ephemeral() as new_history:
        _run(settings, new_history)
        assert new_history.get_latest_materialization_event(dg.AssetKey("labels")) is not None
        assert new_history.get_runs_count() == before


@pytest.mark.slow
@pytest.mark.usefixtures("unrecorded", "engines", "registered")
def test_what_changed_is_made_with_all_that_reads_it(
    settings: Settings, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(settings, instance)
    before = instance.get_runs_count()
    table_path(settings.deployment.data_dir, table_spec("run_features"), "stencil").unlink()
    _run(settings, instance)
    assert _selected(instance, before) == {"run_features", "report"}
    before = instance.get_runs_count()
    raised = Constant("pipelines/dataset/records/records.py", "_VERSION")
    monkeypatch.setattr(Constant, "value", property(lambda c: "new" if c == raised else c.read(ROOT)))
    _run(settings, instance)
    assert _selected(instance, before) == {"records", "report"}


def test_models_are_promoted_or_kept_with_the_reason() -> None:
    row = PromotionRow(
        model="tlp", version="1", compared_with=None, reference_set=None, row_count=0, error=None,
        champion_error=None, baseline_error=None, interval_low=None, interval_high=None,
        decision="promoted", reason="first",
    )  # fmt: skip
    new = replace(row, version="2", decision="candidate", reason="not better by more than the noise")
    (first,) = model_decisions([], [row])
    assert (first.decision, first.reason) == ("promoted", "first")
    (kept,) = model_decisions([row], [row])
    assert (kept.version, kept.decision) == ("1", "kept")
    (later,) = model_decisions([row], [row, new])
    assert (later.version, later.decision) == ("2", "candidate")


@pytest.mark.slow
def test_a_sample_is_made_again_once_for_the_same_code_and_tables(
    settings: Settings, instance: dg.DagsterInstance, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled: list[int] = []
    monkeypatch.setattr(materialise, "stale_rows", lambda *_, **__: sampled.append(1) or [])
    run = settings.configuration.run.model_copy(update={"remade_fraction": 0.5})
    settings = replace(settings, configuration=settings.configuration.model_copy(update={"run": run}))
    _run(settings, instance)
    again = _run(settings, instance)
    assert len(sampled) == 1
    assert "sample not made again: code and tables are those of an earlier sample" in again.notes


@pytest.mark.slow
def test_a_failure_stops_only_what_reads_it(
    two_suites: Settings,
    instance: dg.DagsterInstance,
    engines: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(programs: Any, designs: Any, **_: Any) -> Any:
        if designs[0].suite == "stencil":
            raise ValueError("a label must be made, got none")
        return foundry_fakes.label_designs(programs, designs)

    monkeypatch.setattr(label_module, "label_designs", refuse)
    report = _run(two_suites, instance)
    assert report.problems == [
        "labels stencil: a label must be made, got none",
        "tenset_mlp was not made, because labels failed",
        "records was not made, because labels failed",
    ]
    made = _contents(two_suites.deployment)
    assert {"labels/irregular.parquet", "loops/stencil.parquet", "splits/by_kernel_v2.parquet"} <= set(made)
    assert "labels/stencil.parquet" not in made
    assert "data/tables/labels" not in report.hashes
    assert "data/tables/designs" in report.hashes


@pytest.mark.usefixtures("unrecorded")
def test_a_predictor_of_too_few_programs_is_skipped_and_the_run_says_why(
    settings: Settings, instance: dg.DagsterInstance, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise TooFewRows("no labelled designs in part test")

    monkeypatch.setattr(PredictorSpec, "train", refuse)
    report = _run(settings, instance)
    assert report.problems == []
    assert "tenset_mlp was skipped: no labelled designs in part test" in report.notes
    assert survey(settings.deployment).rows["leaderboard"] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("unrecorded")
def test_on_a_cluster_predictors_are_trained_at_once_when_their_tables_are_there(
    settings: Settings,
    instance: dg.DagsterInstance,
    engines: Any,
    unrecorded: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ahead: list[list[str]] = []

    def train_ahead(settings: Settings, steps: Any, listen: Any) -> None:
        ahead.append(sorted(step.name for step in steps))
        tables = settings.deployment.data_dir / "tables"
        assert all(list((tables / name).glob("*.parquet")) for step in steps for name in step.reads)
        assert not list((tables / "leaderboard").glob("*.parquet"))

    overrides = [*FEW_OVERRIDES, "programs.suites=[stencil]", "cluster=ray"]
    trained = compose_configuration([*overrides, "models.trained=[tenset-mlp,loop-rules]"])
    for module in (materialise, dagster_assets):
        monkeypatch.setattr(module, "fanout_of", lambda _: nullcontext(SimpleNamespace(notes=dict)))
    monkeypatch.setattr(materialise, "train_ahead", train_ahead)
    report = _run(Settings(configuration=trained, deployment=settings.deployment), instance)
    assert report.problems == []
    assert ahead == [["loop_rules", "tenset_mlp"]]
    assert {row.predictor for row in _leaderboard(settings)} == {"loop-rules", "tenset-mlp"}


def _leaderboard(settings: Settings) -> list[Any]:
    return read_table(settings.deployment.data_dir, table_spec("leaderboard"))


def test_an_unexpected_failure_names_its_cause_and_place_where_it_fails(
    settings: Settings,
    instance: dg.DagsterInstance,
    engines: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = StringIO()
    monkeypatch.setattr(designs_step, "plan_designs", lambda *_, **__: {}["tool"])
    monkeypatch.setattr(dagster_assets, "TOOL_RETRY", None)
    monkeypatch.setenv("SIMFOUNDRY_DEBUG", "1")
    report = run_everything(
        settings.configuration, settings.deployment, instance=instance, progress=PlainProgress(lines)
    )
    cause = r"unexpected KeyError: 'tool' \(assets/steps/designs\.py:\d+\); --debug shows the traceback"
    assert re.fullmatch(rf"designs stencil: {cause}", report.problems[0])
    assert re.search(rf"^designs stencil: failed after \d+\.\d s: {cause}$", lines.getvalue(), re.MULTILINE)
    assert "Stack Trace" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("unrecorded")
def test_a_breach_of_a_blocking_check_stops_what_reads_the_table(
    settings: Settings,
    instance: dg.DagsterInstance,
    engines: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def differ(programs: Any, designs: Any, **_: Any) -> Any:
        made = foundry_fakes.label_designs(programs, designs)
        runs = [foundry_fakes.make_run(d, outputs_equal=False) for d in designs]
        return type(made)(labels=made.labels, runs=runs)

    monkeypatch.setattr(label_module, "label_designs", differ)
    problems = _run(settings, instance).problems
    assert "equals_native_c" in problems[0]
    readers = ("tenset_mlp", "records")
    assert problems[1:] == [f"{step} was not made, because labels failed" for step in readers]
    assert _run(settings, instance).problems == problems


@pytest.mark.usefixtures("unrecorded")
def test_an_interruption_ends_the_run_at_once(
    settings: Settings,
    instance: dg.DagsterInstance,
    engines: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries: list[str] = []

    def interrupted(*_: Any, **__: Any) -> Any:
        tries.append("plan")
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(designs_step, "plan_designs", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _run(settings, instance)
    assert tries == ["plan"]
    assert "designs/stencil.parquet" not in _contents(settings.deployment)


@pytest.mark.slow
@pytest.mark.usefixtures("unrecorded")
def test_a_crashed_tool_is_tried_again(
    settings: Settings,
    instance: dg.DagsterInstance,
    engines: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries: list[str] = []

    def crash_once(programs: Any, space: Any, **rest: Any) -> Any:
        tries.append(programs[0].suite)
        if len(tries) == 1:
            raise RuntimeError("the tool crashed")
        return foundry_fakes.plan_designs(programs, space, **rest)

    monkeypatch.setattr(designs_step, "plan_designs", crash_once)
    monkeypatch.setattr(dagster_assets, "TOOL_RETRY", dg.RetryPolicy(max_retries=2, delay=0.01))
    assert _run(settings, instance).problems == []
    assert tries[:2] == ["stencil", "stencil"]


@pytest.mark.slow
@pytest.mark.usefixtures("unrecorded")
def test_files_of_suites_left_out_are_removed(
    two_suites: Settings, instance: dg.DagsterInstance, engines: Any
) -> None:
    _run(two_suites, instance)
    programs = two_suites.configuration.programs.model_copy(update={"suites": ("irregular",)})
    configuration = two_suites.configuration.model_copy(update={"programs": programs})
    fewer = Settings(configuration=configuration, deployment=two_suites.deployment)
    report = _run(fewer, instance)
    assert "labels: removed stencil, not in this configuration" in report.notes
    assert not any("stencil" in name for name in _contents(two_suites.deployment))


@pytest.mark.slow
@pytest.mark.usefixtures("unrecorded")
def test_a_damaged_table_of_a_run_is_made_anew(
    settings: Settings, instance: dg.DagsterInstance, engines: Any
) -> None:
    _run(settings, instance)
    before = _contents(settings.deployment)
    for table, partition in (("designs", "stencil"), ("splits", "by_kernel_v2")):
        table_path(settings.deployment.data_dir, table_spec(table), partition).write_bytes(b"PAR1")
    assert len(survey(settings.deployment).damaged) == 2
    assert _run(settings, instance).problems == []
    assert _contents(settings.deployment) == before


@pytest.mark.slow
@pytest.mark.usefixtures("unrecorded")
def test_a_killed_run_gives_its_pool_slot_back(
    settings: Settings, instance_on_disk: dg.DagsterInstance, engines: Any
) -> None:
    instance = instance_on_disk
    killed = instance.create_run_for_job(
        dg.job(_nothing, name="killed"), status=dg.DagsterRunStatus.STARTED, tags={PROCESS_TAG: "999999:1"}
    )
    alive = instance.create_run_for_job(
        dg.job(_nothing, name="alive"), status=dg.DagsterRunStatus.STARTED, tags={PROCESS_TAG: process_tag()}
    )
    instance.event_log_storage.set_concurrency_slots("synthesis", 1)
    claim = instance.event_log_storage.claim_concurrency_slot("synthesis", killed.run_id, "make_labels")
    assert claim.is_claimed
    assert release_dead_runs(instance) == 1
    assert instance.event_log_storage.get_concurrency_info("synthesis").active_slot_count == 0
    assert instance.get_run_by_id(killed.run_id).status == dg.DagsterRunStatus.CANCELED
    assert instance.get_run_by_id(alive.run_id).status == dg.DagsterRunStatus.STARTED
    assert _run(settings, instance).problems == []


def _nothing() -> None:
    return


def test_run_rejects_a_second_writer(settings: Settings, instance: dg.DagsterInstance, engines: Any) -> None:
    with (
        writing_to(settings.deployment.data_dir),
        pytest.raises(FoundryError, match=r"^process \d+ is writing to .*data; "),
    ):
        _run(settings, instance)


def test_reasons_that_blame_the_machine_are_problems(
    settings: Settings, engines: Any, deployment: Deployment
) -> None:
    from assets.settings import ignore_progress
    from pipelines.schemas import write_table

    step_named("programs").make(settings, "stencil", ignore_progress)
    step_named("designs").make(settings, "stencil", ignore_progress)
    design = read_table(deployment.data_dir, table_spec("designs"))[0]
    missing = "verilator not found on PATH"
    label = foundry_fakes.make_label(design, status="tool_error", reason=missing)
    write_table(deployment.data_dir, table_spec("labels"), [label], "stencil")
    assert survey(deployment).environment_problems == [f"1 labels failed: {missing}"]


def test_runs_without_their_power_are_failures_of_the_summary(
    settings: Settings, engines: Any, deployment: Deployment
) -> None:
    from assets.settings import ignore_progress
    from pipelines.schemas import write_table

    step_named("programs").make(settings, "stencil", ignore_progress)
    step_named("designs").make(settings, "stencil", ignore_progress)
    design = read_table(deployment.data_dir, table_spec("designs"))[0]
    run = foundry_fakes.make_run(design, power_status="timeout", power_reason="120 s", power_mw=None)
    write_table(deployment.data_dir, table_spec("runs"), [run], "stencil")
    assert survey(deployment).failures == {("runs", "timeout", "power: 120 s"): 1}


@pytest.mark.slow
def test_the_nightly_job_does_what_the_command_does(
    deployment: Deployment, instance: dg.DagsterInstance, engines: Any
) -> None:
    job = build_definitions().resolve_job_def("everything")
    config = {"ops": {"choose_programs": {"config": {"scale": "smoke"}}}}
    assert job.execute_in_process(instance=instance, run_config=config).success
    assert survey(deployment).rows["designs"] == 64
    runs = instance.get_runs()
    counts = Counter(run.job_name for run in runs)
    by_partition = {"by_suite": 3, "by_group": 1, "by_placements": 1, "by_simulations": 1}
    by_partition["by_accelerators"] = 2
    assert counts == {"everything": 1, **by_partition, "everything_else": 1}
    assert len({run.tags[RUN_TAG] for run in runs if run.job_name != "everything"}) == 1


def test_a_stage_with_rows_that_blame_the_machine_fails(
    settings: Settings, engines: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from assets.step import Output
    from simfoundry.commands.stage import run_stage

    program = kernel_programs(suites=("stencil",), sizes=("small",))[0]
    full = {"status": "tool_error", "reason": "[Errno 28] No space left on device"}
    labels = [foundry_fakes.make_label(foundry_fakes.make_design(program, d), **full) for d in (1, 2)]
    step = replace(step_named("programs"), run=lambda *_: Output(rows={"labels": labels}))
    monkeypatch.setattr("simfoundry.commands.stage.steps_of", lambda name: [step])
    assert not run_stage("programs", as_json=False)
    assert "2 labels failed: [Errno 28] No space left on device" in capsys.readouterr().err
