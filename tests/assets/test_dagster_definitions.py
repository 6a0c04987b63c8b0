from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import dagster as dg
import pytest

from assets.configuration import compose_configuration, nightly_hour
from assets.dagster_assets import explained_failures, rules_of
from assets.definitions import build_definitions
from assets.label_settings import label_options
from assets.resources import FoundryResource, ProgressResource
from assets.settings import Nightly, Settings
from assets.steps import STEPS, makers_of, step_named
from pipelines.base.workers import Progress
from pipelines.schemas import TableSpec


@pytest.fixture(scope="module")
def definitions() -> dg.Definitions:
    return build_definitions()


def _specs(definitions: dg.Definitions) -> dict[str, dg.AssetSpec]:
    return {spec.key.to_user_string(): spec for spec in definitions.resolve_all_asset_specs()}


def test_definitions_load(definitions: dg.Definitions) -> None:
    dg.Definitions.validate_loadable(definitions)


def test_one_asset_per_table_in_the_group_of_its_stage(definitions: dg.Definitions) -> None:
    groups = {n: spec.group_name for n, spec in _specs(definitions).items() if n != "inbox"}
    assert groups == {asset: step.stage for step in STEPS for asset in step.assets}


def test_assets_say_what_a_row_is_and_the_unit_of_each_column(definitions: dg.Definitions) -> None:
    assets = _specs(definitions)
    for name in (table for step in STEPS if step.asset is None for table in step.tables):
        asset, spec = assets[name], TableSpec.registry[name]
        assert spec.description in str(asset.description)
        schema = asset.metadata["dagster/column_schema"]
        columns = {c.name: c for c in schema.columns}
        assert list(columns) == [c.name for c in spec.columns]
        for column in spec.columns:
            assert columns[column.name].tags.get("unit") == column.unit


def test_assets_depend_on_what_their_step_reads(definitions: dg.Definitions) -> None:
    specs = _specs(definitions)
    for step in STEPS:
        sources = {maker.asset or table for table in step.reads for maker in makers_of(table)}
        for asset in step.assets:
            assert {d.asset_key.to_user_string() for d in specs[asset].deps} == sources


def test_the_report_is_drawn_from_every_table() -> None:
    assert set(step_named("report").reads) == {table for step in STEPS for table in step.tables}


def test_assets_have_the_partitions_of_their_step(definitions: dg.Definitions, settings: Settings) -> None:
    for step in STEPS:
        for asset in step.assets:
            partitions = definitions.resolve_assets_def(asset).partitions_def
            assert (partitions is None) == step.partitioned.is_whole


def test_every_rule_is_an_asset_check(definitions: dg.Definitions) -> None:
    for step in STEPS:
        specs = list(definitions.resolve_assets_def(step.assets[0]).check_specs)
        partitions = definitions.resolve_assets_def(step.assets[0]).partitions_def
        assert all(spec.partitions_def == partitions for spec in specs)
        checks = {(c.asset_key.to_user_string(), c.name, c.blocking) for c in specs}
        if step.asset is None:
            assert checks == {(t, r.name, r.blocking) for t in step.tables for r in rules_of(t)}
        else:
            assert checks == {
                (step.asset, f"{t}_{r.name}", r.blocking) for t in step.tables for r in rules_of(t)
            }


def test_heavy_steps_are_retried_and_limited_by_pools(definitions: dg.Definitions) -> None:
    pools = {
        "designs": "hls",
        "labels": "synthesis",
        "network_hops": "simulation",
        "pragma_designs": "hls",
        "tenset_mlp": "training",
    }
    for table, pool in pools.items():
        op = definitions.resolve_assets_def(table).op
        assert op.pool == pool
        assert op.retry_policy is not None


def test_the_nightly_schedule_is_at_two(definitions: dg.Definitions) -> None:
    schedule = definitions.resolve_schedule_def("nightly")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("0 2 * * *", "UTC")
    assert schedule.job_name == "everything"


def test_the_nightly_hour_and_time_zone_are_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    nightly = Nightly(hour=23, time_zone="Europe/Zurich")
    monkeypatch.setattr("assets.definitions.nightly_hour", lambda: nightly)
    definitions = build_definitions()
    schedule = definitions.resolve_schedule_def("nightly")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("0 23 * * *", "Europe/Zurich")
    assert "at 23:00 Europe/Zurich" in str(schedule.description)
    source = _specs(definitions)["programs"].automation_condition
    assert source is not None
    assert "0 23 * * *, Europe/Zurich" in str(source.get_label())


def test_the_nightly_hour_is_that_of_the_configuration_of_the_scale() -> None:
    assert (
        nightly_hour() == compose_configuration(["scale=nightly"]).run.nightly == Nightly(budget_core_hours=1)
    )


def test_resources_are_replaced_by_overrides(settings: Settings) -> None:
    own = FoundryResource(project=str(settings.deployment.project), workers=3, slots={"verilator": 1})
    definitions = build_definitions({"foundry": own})
    assert definitions.resources is not None
    assert definitions.resources["foundry"] is own
    assert own.settings().configuration.run.workers == 3
    assert label_options(own.settings()).slots == {"verilator": 1}
    assert own.settings().configuration.hls.memory_delay == (2, 10)


def test_progress_is_logged_by_tenths() -> None:
    lines: list[str] = []
    listen = ProgressResource().listener("labels stencil", lines.append)
    for done in range(1, 101):
        listen(Progress(step="labels", done=done, total=100, failed=2, latest="x"))
    assert len(lines) == 11
    assert lines[-1] == "labels stencil: 100 of 100, 2 failed"


def _raise(error: Exception) -> Any:
    with explained_failures():
        raise error


def test_bad_input_is_not_tried_again() -> None:
    with pytest.raises(dg.Failure) as caught:
        _raise(ValueError("suite must be one of a, b, got 'c'"))
    assert caught.value.description == "suite must be one of a, b, got 'c'"
    assert not caught.value.allow_retries


def test_a_full_disk_is_not_tried_again_and_says_what_to_do() -> None:
    with pytest.raises(dg.Failure) as caught:
        _raise(OSError(28, "No space left on device", "/data/x"))
    assert "the disk must have room, got [Errno 28] No space left on device: '/data/x'" in str(
        caught.value.description
    )


def test_a_crash_is_left_to_the_retry_policy() -> None:
    with pytest.raises(RuntimeError, match="crashed"):
        _raise(RuntimeError("the tool crashed"))


def test_selections_are_parsed_as_on_dagster_s_command_line(definitions: dg.Definitions) -> None:
    chosen = dg.AssetSelection.from_string("labels+").resolve(definitions.resolve_asset_graph())
    names = {key.to_user_string() for key in chosen}
    assert {"labels", "records", "tenset_mlp", "report"} <= names
    assert "programs" not in names


def test_one_table_of_a_step_can_be_chosen(definitions: dg.Definitions) -> None:
    assert all(definitions.resolve_assets_def(step.assets[0]).can_subset for step in STEPS)


def test_assets_have_owner_tags_freshness_and_automation(definitions: dg.Definitions) -> None:
    specs = {spec.key.to_user_string(): spec for spec in definitions.resolve_all_asset_specs()}
    labels, programs = specs["labels"], specs["programs"]
    assert labels.owners == ["team:simfoundry"]
    assert labels.tags["simfoundry/step"] == "labels"
    assert labels.freshness_policy is not None
    assert labels.automation_condition is not None
    assert labels.automation_condition.get_label() == "eager"
    assert programs.automation_condition is not None
    assert "on_cron" in str(programs.automation_condition.get_label())


@pytest.mark.slow
def test_the_nightly_schedule_is_on_when_the_ui_was_asked_for_it() -> None:
    script = (
        "from assets.nightly import nightly_schedule; from assets.settings import Nightly; "
        "print(nightly_schedule(Nightly()).default_status.value)"
    )
    environments = ({}, {"SIMFOUNDRY_NIGHTLY": "1"})
    found = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for own in environments
    ]
    assert found == ["STOPPED", "RUNNING"]
