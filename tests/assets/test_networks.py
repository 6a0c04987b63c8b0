"""Simulated networks in the house: their step, groups, main job, rules and releases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import foundry_fakes
import pyarrow.parquet as pq
import pytest
import yaml
from foundry_fakes import FEW_OVERRIDES, fill_tables, make_network_flow, make_network_hop, make_network_run
from invoking import invoke

import pipelines.network.runs
from assets.checks import CheckedFile, dangling_references, open_file
from assets.configuration import (
    compose_configuration,
    parameters_text,
    read_parameters,
    read_parameters_file,
    write_parameters,
)
from assets.dagster_assets import build_asset, check_results, rules_of
from assets.deployments import Deployment, local_deployment
from assets.errors import FoundryError
from assets.materialise import prune_partitions, run_everything
from assets.overview import survey
from assets.releases.importing import import_release
from assets.releases.writing import release_tables
from assets.resources import FoundryResource, ProgressResource
from assets.settings import Settings, ignore_progress
from assets.step import StepSummary
from assets.steps import designs as designs_step
from assets.steps import predictors as predictors_step
from assets.steps import step_named
from assets.steps.network import Network, require_groups
from assets.steps.predictors import registry_store
from assets.versions import record_stages
from models import registry
from models.catalogue import predictor_named
from models.registry import mlflow_at
from pipelines.base.cache import ContentCache
from pipelines.network import NetworkError
from pipelines.network.runs import RunGroup, runs_of, simulate_runs
from pipelines.schemas import read_table, table_path, table_spec, write_table

GROUP = "small-16"
TABLES = ("network_runs", "network_flows", "network_hops")
TWO_GROUPS = ("+network.groups.other={pods: 4, samples: 2}",)
NO_GROUPS = ("~network.groups.small-16",)


def _with(settings: Settings, *overrides: str) -> Settings:
    """Other overrides in the same project, written to params.yaml."""
    configuration = compose_configuration([*FEW_OVERRIDES, *overrides])
    write_parameters(settings.deployment.project, configuration)
    return replace(settings, configuration=configuration)


def _make(settings: Settings, group: str = GROUP) -> StepSummary:
    return step_named("network").make(settings, group, ignore_progress)


def _files(settings: Settings) -> dict[str, bytes]:
    root = settings.deployment.data_dir / "tables"
    found = sorted(p for table in TABLES for p in (root / table).glob("*.parquet"))
    return {str(p.relative_to(root)): p.read_bytes() for p in found}


# ---- groups ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["default", "laptop", "release"])
def test_every_choice_of_networks_is_acceptable(settings: Settings, choice: str) -> None:
    groups = _with(settings, f"network={choice}").group(Network).groups
    runs = [run.configuration() for group in groups.values() for run in runs_of(group)]
    assert len(set(runs)) == len(runs)
    assert len(runs) == {"default": 6, "laptop": 76, "release": 750}[choice]


def test_the_release_has_the_published_grid_at_every_size(settings: Settings) -> None:
    groups = _with(settings, "network=release").group(Network).groups
    for pods, seeds, sizes in ((4, 2, 2), (8, 2, 2), (12, 1, 2), (16, 1, 1)):
        runs = runs_of(groups[f"grid-{pods**3 // 4}"])
        assert len(runs) == 3 * 2 * sizes * 3 * seeds
        assert {run.topology().host_count for run in runs[:1]} == {pods**3 // 4}
        assert {run.pattern.load for run in runs} == {0.25, 0.5, 0.75}
        assert {run.arrivals.scv for run in runs} == {1.0, 4.0}


def test_parameters_bring_groups_back(settings: Settings) -> None:
    wide = _with(settings, *TWO_GROUPS)
    assert read_parameters(settings.deployment.project).network == wide.configuration.network
    assert list(wide.group(Network).groups) == [GROUP, "other"]
    assert wide.group(Network).groups["other"].samples == 2


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "network.groups.small-16.network=ring",
            r"unknown network of a group: ring .*; accepted: fat_tree, two_tier, drawn",
        ),
        ("network.groups.small-16.pods=3", r"got 3"),
        ("network.groups.small-16.loads=[9]", r"got 9"),
        ("network.groups.small-16.warm_up_s=2", r"warm-up must be shorter than the run, got 2 of 0\.5 s"),
    ],
)
def test_groups_rejects_what_no_network_can_be(
    settings: Settings, engines: Any, override: str, message: str
) -> None:
    with pytest.raises((FoundryError, NetworkError), match=message):
        require_groups(_with(settings, override))
    before = (settings.deployment.project / "params.yaml").read_bytes()
    result = invoke("run", override)
    assert result.exit_code == 1
    assert result.stderr.startswith("simfoundry: ")
    assert len(result.stderr.splitlines()) == 1
    assert (settings.deployment.project / "params.yaml").read_bytes() == before
    assert not (settings.deployment.data_dir / "tables").exists()


# ---- the step --------------------------------------------------------------------------------------


def test_a_group_is_simulated_into_three_tables(settings: Settings) -> None:
    """By the real engine: two short runs."""
    overrides = ("network.groups.small-16.patterns=[incast]", "network.groups.small-16.duration_s=0.2")
    small = _with(settings, *overrides)
    summary = _make(small)
    assert summary.failures == {}
    assert summary.rows == {
        "network_runs": 2,
        "network_flows": 30,
        "network_hops": summary.rows["network_hops"],
    }
    for table in TABLES:
        results = check_results(open_file(small, table, GROUP))
        assert {r.check_name for r in results if r.asset_key == dg.AssetKey(table)} == {
            rule.name for rule in rules_of(table)
        }
        assert [r.description for r in results if not r.passed] == []
    direct = simulate_runs(
        small.group(Network).groups[GROUP],
        cache=ContentCache(folder=settings.deployment.project / "elsewhere"),
        workers=1,
        timeout_s=60.0,
        on_progress=ignore_progress,
    )
    path = table_path(small.deployment.data_dir, table_spec("network_hops"), GROUP)
    assert pq.read_table(path, partitioning=None).equals(direct.hops.combine_chunks())


def test_a_group_is_left_as_it_is_until_something_changes(
    settings: Settings, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, made = _make(settings), _files(settings)
    assert sorted(made) == [f"{table}/{GROUP}.parquet" for table in sorted(TABLES)]
    tries: list[str] = []

    def counted(group: RunGroup, **given: Any) -> Any:
        tries.append(group.name)
        return foundry_fakes.simulate_runs(group, **given)

    monkeypatch.setattr(pipelines.network.runs, "simulate_runs", counted)
    assert _make(settings) == first
    assert tries == []
    _make(_with(settings, "network.groups.small-16.loads=[0.6]"))
    assert len(tries) == 1
    monkeypatch.setattr(pipelines.network.runs, "runs_version", lambda: "another")
    _make(settings)
    assert len(tries) == 2
    table_path(settings.deployment.data_dir, table_spec("network_hops"), GROUP).unlink()
    _make(settings)
    assert len(tries) == 3
    assert _files(settings) == made


def _failing(group: RunGroup, **given: Any) -> Any:
    """The fake engine, with one run that was not simulated."""
    made = foundry_fakes.simulate_runs(group, **given)
    nothing = {"packet_count": None, "drop_count": None, "rtt_mean_ns": None, "offered_utilisation": None}
    failed = replace(made.runs[0], status="tool_error", reason="ns-3 must be there", **nothing)
    kept = [made.runs[1].run_id]
    flows, hops = ([r for r in t.to_pylist() if r["run_id"] in kept] for t in (made.flows, made.hops))
    return replace(
        made,
        runs=[failed, made.runs[1]],
        flows=made.flows.from_pylist(flows, schema=made.flows.schema),
        hops=made.hops.from_pylist(hops, schema=made.hops.schema),
    )


def test_failed_runs_are_rows_and_tried_again(
    settings: Settings, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipelines.network.runs, "simulate_runs", _failing)
    summary = _make(settings)
    assert summary.failures == {("network_runs", "tool_error", "ns-3 must be there"): 1}
    broken = {
        table: [r.name for r in rules_of(table) if r.problems(open_file(settings, table, GROUP))]
        for table in TABLES
    }
    assert broken == {"network_runs": ["failure_rate"], "network_flows": [], "network_hops": []}
    monkeypatch.setattr(pipelines.network.runs, "simulate_runs", foundry_fakes.simulate_runs)
    assert _make(settings).failures == {}


def test_the_step_rejects_a_group_of_another_configuration(settings: Settings, engines: Any) -> None:
    with pytest.raises(FoundryError, match=r"unknown group: other; accepted: sm"):
        _make(settings, "other")


# ---- the main job ----------------------------------------------------------------------------------


@pytest.fixture
def instance() -> Any:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


def _run(settings: Settings, instance: dg.DagsterInstance) -> Any:
    return run_everything(
        settings.configuration, settings.deployment, instance=instance, progress=ProgressResource()
    )


@pytest.mark.slow
def test_a_group_that_fails_stops_no_other_table(
    settings: Settings, instance: dg.DagsterInstance, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(group: RunGroup, **given: Any) -> Any:
        if group.name == GROUP:
            raise ValueError("a network must be made, got none")
        return foundry_fakes.simulate_runs(group, **given)

    monkeypatch.setattr(pipelines.network.runs, "simulate_runs", refuse)
    report = _run(_with(settings, "programs.suites=[stencil]", *TWO_GROUPS), instance)
    assert report.problems == [
        f"network {GROUP}: a network must be made, got none",
    ]
    overview = survey(settings.deployment)
    assert overview.rows["network_runs"] == 2
    assert overview.rows["leaderboard"] == 1
    recorded = {path.rpartition("/")[2] for path in report.hashes}
    trained = {"promotions", "leaderboard", "workload_errors", "predictor_costs"}
    assert recorded == set(overview.rows) - {*TABLES, *trained}


@pytest.mark.slow
def test_networks_do_not_wait_for_programs(
    settings: Settings, instance: dg.DagsterInstance, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise ValueError("a design must be made, got none")

    monkeypatch.setattr(designs_step, "plan_designs", refuse)
    report = _run(_with(settings, "programs.suites=[stencil]"), instance)
    assert report.problems[0] == "designs stencil: a design must be made, got none"
    assert f"data/tables/{TABLES[0]}" in report.hashes
    assert survey(settings.deployment).rows["network_hops"] == 8
    assert engines.shipped == 1


@pytest.mark.slow
def test_shipped_weights_are_registered_once(
    settings: Settings, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into a real registry; all weights are in tests/models/test_registry.py."""
    monkeypatch.setattr(registry, "predictors", lambda: [predictor_named("queue-correction")])
    resources = {
        "foundry": FoundryResource(project=str(settings.deployment.project)),
        "progress": ProgressResource(),
    }
    asset = build_asset(step_named("promotions"), None)
    for _ in range(2):
        assert dg.materialize([asset], resources=resources, instance=instance).success
    with mlflow_at(registry_store(settings)) as client:
        assert client.get_model_version_by_alias("queue-correction", "champion").version == 1
        assert len(client.search_model_versions("name = 'queue-correction'")) == 1
    rows = read_table(settings.deployment.data_dir, table_spec("promotions"))
    assert {(row.model, row.version, row.decision) for row in rows} >= {("queue-correction", "1", "promoted")}


@pytest.mark.slow
def test_a_registry_that_cannot_be_reached_is_a_problem_of_the_run(
    settings: Settings, instance: dg.DagsterInstance, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(store: Any) -> None:
        raise FileNotFoundError("no such registry")

    monkeypatch.setattr(predictors_step, "promotion_rows", refuse)
    report = _run(_with(settings, "programs.suites=[stencil]"), instance)
    assert report.problems == ["promotions: no such registry"]
    assert survey(settings.deployment).rows["leaderboard"] == 1


def test_files_of_groups_left_out_are_removed_and_none_is_recorded(settings: Settings, engines: Any) -> None:
    wide = _with(settings, *TWO_GROUPS)
    for group in wide.group(Network).groups:
        _make(wide, group)
    assert len(_files(wide)) == 6
    steps = [step_named("network")]
    assert prune_partitions(_with(settings), steps) == [
        f"{table}: removed other, not in this configuration" for table in TABLES
    ]
    assert sorted(_files(settings)) == [f"{table}/{GROUP}.parquet" for table in sorted(TABLES)]
    nothing = _with(settings, *NO_GROUPS)
    prune_partitions(nothing, steps)
    assert _files(nothing) == {}
    measured = nothing.deployment.data_dir / "measured" / "network_runs"
    assert list(measured.glob("*")) == []
    assert set(record_stages(nothing.deployment, ["network"])) == {f"data/tables/{table}" for table in TABLES}


def test_a_project_without_networks_is_recorded(settings: Settings, engines: Any) -> None:
    _with(settings, *NO_GROUPS)
    assert invoke("stage", "network").exit_code == 0
    assert len(record_stages(settings.deployment, ["network"])) == 3


def test_the_stage_makes_every_group_and_sql_sees_it(settings: Settings, engines: Any) -> None:
    _with(settings, *TWO_GROUPS)
    result = invoke("stage", "network", "--json")
    assert result.exit_code == 0, result.stderr
    assert [s["partition"] for s in json.loads(result.stdout)] == [GROUP, "other"]
    query = (
        'SELECT r."group", count(*) AS hops, sum(wall_s) AS s FROM network_runs r '
        "JOIN network_flows USING (run_id) JOIN network_hops USING (run_id, flow) GROUP BY ALL ORDER BY ALL"
    )
    rows = json.loads(invoke("sql", "--json", query).stdout)
    assert rows == [{"group": name, "hops": 8, "s": 4.0} for name in ("other", GROUP)]


# ---- rules -----------------------------------------------------------------------------------------

RUN = "0" * 32


def _rewritten(settings: Settings, table: str, rows: Sequence[Any], group: str = GROUP) -> CheckedFile:
    write_table(settings.deployment.data_dir, table_spec(table), rows, group)
    return open_file(settings, table, group)


def _written(
    settings: Settings,
    run: dict[str, Any] | None = None,
    flow: dict[str, Any] | None = None,
    hop: dict[str, Any] | None = None,
) -> dict[str, CheckedFile]:
    """One run of two flows of two hops; changes are of the run, of flow 1 and of its hop 1."""
    flows = [make_network_flow(RUN, 0), make_network_flow(RUN, 1, **(flow or {}))]
    places = ((0, 0), (0, 1), (1, 0))
    hops = [*(make_network_hop(RUN, *p) for p in places), make_network_hop(RUN, 1, 1, **(hop or {}))]
    rows = {
        "network_runs": [make_network_run(RUN, **(run or {}))],
        "network_flows": flows,
        "network_hops": hops,
    }
    return {table: _rewritten(settings, table, found) for table, found in rows.items()}


def _broken(files: dict[str, CheckedFile]) -> dict[str, list[str]]:
    found = {f"{t}.{rule.name}": rule.problems(file) for t, file in files.items() for rule in rules_of(t)}
    return {name: problems for name, problems in found.items() if problems}


@pytest.mark.parametrize("table", TABLES)
def test_network_rules_block_but_theory_and_failures(table: str) -> None:
    warns = {rule.name for rule in rules_of(table) if not rule.blocking}
    assert warns == ({"theory_agrees", "failure_rate"} if table == "network_runs" else set())


def test_sound_networks_break_no_rule(settings: Settings) -> None:
    assert _broken(_written(settings)) == {}


@pytest.mark.parametrize(
    ("changes", "rule", "message"),
    [
        (
            {"run": {"flow_count": 3}},
            "network_runs.complete",
            f"a run with status ok must have 3 flows with their hops, got 2 flows, 2 of hops, for run {RUN}",
        ),
        (
            {"run": {"packet_count": None}},
            "network_runs.complete",
            f"no packet_count in an ok run: {RUN}",
        ),
        (
            {"run": {"drop_count": 21}},
            "network_runs.drops_below_packets",
            f"drops must be 0 to the packets, got 21 of 20 for run {RUN}",
        ),
        (
            {"flow": {"drop_count": 11}},
            "network_flows.drops_below_packets",
            f"drops must be 0 to the packets, got 11 of 10 for run {RUN} flow 1",
        ),
        (
            {"hop": {"drop_count": -1}},
            "network_hops.drops_below_packets",
            f"drops must be 0 to the packets, got -1 of 10 for run {RUN} flow 1 hop 1",
        ),
        (
            {"flow": {"rtt_mean_ns": 983}},
            "network_flows.not_early",
            f"a mean time must be at least 1000 ns, the time without waits, got 983 for run {RUN} flow 1",
        ),
        (
            {"run": {"is_acknowledged": False, "delay_mean_ns": 1500.0}, "flow": {"delay_mean_ns": 983}},
            "network_flows.not_early",
            f"a mean time must be at least 1000 ns, the time without waits, got 700 for run {RUN} flow 0",
        ),
        (
            {"hop": {"wait_mean_ns": -1}},
            "network_hops.waits_positive",
            f"wait_mean_ns must be at least 0, got -1 for run {RUN} flow 1 hop 1",
        ),
        (
            {"hop": {"tree_wait_ns": -3}},
            "network_hops.waits_positive",
            f"tree_wait_ns must be at least 0, got -3 for run {RUN} flow 1 hop 1",
        ),
        (
            {"run": {"arrivals": "ge", "rtt_mean_ns": 900.0}},
            "network_runs.theory_agrees",
            "theory must be within a factor of 1.5 of the mean 900 ns, got 1400 at utilisation 0.50 for "
            f"run {RUN}",
        ),
        (
            {"run": {"arrivals": "on_off", "rtt_mean_ns": 6000.0}},
            "network_runs.theory_agrees",
            "theory must be within a factor of 4 of the mean 6000 ns, got 1400 at utilisation 0.50 for "
            f"run {RUN}",
        ),
    ],
)
def test_network_rules_rejects_a_row(
    settings: Settings, changes: dict[str, Any], rule: str, message: str
) -> None:
    broken = _broken(_written(settings, **changes))
    assert list(broken) == [rule]
    assert broken[rule][0] == message


def test_times_may_be_short_when_packets_of_a_flow_are_small_by_chance(settings: Settings) -> None:
    early = {"flow": {"rtt_mean_ns": 700}}
    assert _broken(_written(settings, run={"size_scv": 0.04}, **early)) == {}
    assert list(_broken(_written(settings, run={"size_scv": 0.01}, **early))) == ["network_flows.not_early"]


def test_theory_may_differ_in_overload_and_of_tcp(settings: Settings) -> None:
    for change in ({"offered_utilisation": 0.95}, {"protocol": "tcp"}):
        assert _broken(_written(settings, run={"rtt_mean_ns": 90000.0, **change})) == {}


def test_flows_without_hops_and_failed_runs_with_flows_are_rejected(settings: Settings) -> None:
    files = _written(settings)
    files["network_hops"] = _rewritten(settings, "network_hops", [make_network_hop(RUN, 0, 0)])
    message = f"a run with status ok must have 2 flows with their hops, got 2 flows, 1 of hops, for run {RUN}"
    assert _broken(files) == {"network_runs.complete": [message]}
    files = _written(settings, run={"status": "timeout", "reason": "late"})
    problems = _broken(files)["network_runs.complete"]
    assert problems == [
        message.replace("ok", "timeout").replace("2 flows w", "0 flows w").replace("1 of", "2 of")
    ]


def test_references_rejects_flows_and_hops_of_nothing(settings: Settings) -> None:
    files = _written(settings)
    stray = _rewritten(settings, "network_flows", [make_network_flow("1" * 32, 0)])
    assert dangling_references(stray) == [f"('run_id',) {('1' * 32,)} is not in table network_runs"]
    assert dangling_references(files["network_hops"]) == [
        f"('run_id', 'flow') {(RUN, flow)} is not in table network_flows" for flow in (0, 1)
    ]


def test_runs_rejects_a_run_of_two_groups(settings: Settings) -> None:
    files = _written(settings)
    _rewritten(settings, "network_runs", [make_network_run(RUN)], group="other")
    assert _broken(files) == {
        "network_runs.runs_once": [f"a run must be in one group, got {RUN} in other, too"]
    }


STALE = r"table network_runs of small-16 must be made under params\.yaml, got other rows"

# ---- releases --------------------------------------------------------------------------------------


@pytest.fixture
def filled(settings: Settings, engines: Any, kept_tables: Path) -> Settings:
    return fill_tables(settings, kept_tables, without=("tenset_mlp", "promotions"))


@pytest.fixture
def other(tmp_path: Path) -> Deployment:
    (tmp_path / "other").mkdir()
    return local_deployment(tmp_path / "other")


def test_a_release_brings_networks_back_and_nothing_is_simulated_again(
    filled: Settings, other: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = release_tables(filled.deployment, "v2", releases=tmp_path)
    assert {table: written.manifest.rows[table] for table in TABLES} == dict(
        zip(TABLES, (2, 4, 8), strict=True)
    )
    card = (written.folder / "README.md").read_text()
    assert "| small-16 | fat-tree-16 | udp | 2 | 2 ok |" in card
    assert "`network.groups.small-16.routing_seeds`" in card
    found = import_release(other, written.folder)
    assert found.remembered.stored["networks"] == 1
    imported = replace(filled, deployment=other)
    assert _files(imported) == _files(filled)
    monkeypatch.setattr(pipelines.network.runs, "simulate_runs", None)
    assert _make(imported).rows == _make(filled).rows


def test_an_import_of_another_version_is_simulated_again(
    filled: Settings, other: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = release_tables(filled.deployment, "v2", releases=tmp_path).folder
    for module in ("importing", "versions"):
        monkeypatch.setattr(f"assets.releases.{module}.runs_version", lambda: "another")
    found = import_release(other, folder)
    assert "networks" not in found.remembered.stored
    assert any(note.startswith("networks is another, the release was made with ") for note in found.notes)


def test_a_release_rejects_networks_of_another_configuration(filled: Settings, tmp_path: Path) -> None:
    _with(filled, "network.groups.small-16.seeds=[7]")
    with pytest.raises(FoundryError, match=STALE):
        release_tables(filled.deployment, "v2", releases=tmp_path)


def test_a_release_rejects_networks_of_another_version(filled: Settings, tmp_path: Path) -> None:
    _rewritten(filled, "network_runs", _asked(filled, status="ok"))
    with pytest.raises(FoundryError, match=STALE):
        release_tables(filled.deployment, "v2", releases=tmp_path)


def _asked(settings: Settings, **changes: Any) -> list[Any]:
    """A row for each run that the configuration asks for; the first have the ids of the flows."""
    rows: list[Any] = read_table(settings.deployment.data_dir, table_spec("network_runs"))
    runs = runs_of(settings.group(Network).groups[GROUP])
    ids = [*(row.run_id for row in rows), *(character * 32 for character in "abcdef")]
    return [
        make_network_run(ids[place], configuration=run.configuration(), **changes)
        for place, run in enumerate(runs)
    ]


def test_a_release_has_failed_runs_of_its_configuration_alone(
    filled: Settings, tmp_path: Path, other: Deployment
) -> None:
    failed = _asked(filled, status="tool_error", reason="no space")
    _rewritten(filled, "network_runs", failed)
    folder = release_tables(filled.deployment, "v2", releases=tmp_path).folder
    assert "networks" not in import_release(other, folder).remembered.stored
    _rewritten(filled, "network_runs", failed[1:])
    with pytest.raises(FoundryError, match=STALE):
        release_tables(filled.deployment, "v2", releases=tmp_path)


def test_a_release_without_networks_says_nothing_of_them(
    filled: Settings, other: Deployment, tmp_path: Path
) -> None:
    _with(filled, *NO_GROUPS)
    written = release_tables(filled.deployment, "v2", releases=tmp_path)
    assert not {t for t in written.manifest.rows if t.startswith("network")}
    assert "\nnetwork:" not in (written.folder / "params.yaml").read_text()
    assert "networks" not in written.manifest.toolset.tools
    assert "network_runs" not in (written.folder / "README.md").read_text()
    assert "networks" not in import_release(other, written.folder).remembered.stored


def test_committed_releases_have_the_parameters_that_they_would_have_now(repository: Path) -> None:
    for path in sorted((repository / "releases").glob("*/params.yaml")):
        configuration = read_parameters_file(path)
        groups = yaml.safe_load(path.read_bytes())
        later = ("network", "placements", "pragmas", "records", "simulations", "accelerators", "fixed")
        without = [name for name in later if name not in groups]
        assert parameters_text(configuration, without=without) == path.read_bytes()
