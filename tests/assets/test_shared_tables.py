"""Machines that share a catalogue: what one wrote the others read, and a kill changes no table."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from foundry_fakes import FEW_OVERRIDES

import simfoundry as sf
from assets import materialise
from assets import step as step_module
from assets.configuration import compose_configuration
from assets.deployments import Deployment, find_deployment, local_deployment
from assets.errors import FoundryError
from assets.materialise import prune_partitions, run_everything, stale_rows
from assets.resources import ProgressResource
from assets.settings import Settings, ignore_progress
from assets.shared_tables import CATALOGUE_FILE, open_catalogue, publish_shards, pull_tables, write_version
from assets.steps import STEPS as ALL_STEPS
from assets.steps import designs as designs_step
from assets.steps import step_named
from assets.suites import BY_SUITE
from pipelines.schemas import table_path, table_spec
from simfoundry.commands.store import store_status, sweep_store

pytestmark = pytest.mark.skipif(find_spec("pyiceberg") is None, reason="needs the extra cluster")
STEPS = ("programs", "designs", "labels")


@pytest.fixture
def variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue of this test in the environment."""
    monkeypatch.setenv("SIMFOUNDRY_STORE", f"file://{tmp_path}/store")
    monkeypatch.setenv("SIMFOUNDRY_CATALOGUE", f"sqlite:///{tmp_path}/catalogue.db")


@pytest.fixture
def machine(settings: Settings, variables: None, tmp_path: Path) -> Callable[[str], Settings]:
    """Settings of a machine with a data folder and a cache of its own."""

    def machine(name: str) -> Settings:
        folder = tmp_path / name
        deployment = replace(find_deployment(), data_dir=folder / "data", cache_dir=folder / "cache")
        return replace(settings, deployment=deployment)

    return machine


def _make(settings: Settings, *names: str, partition: str = "stencil") -> None:
    for name in names or STEPS:
        step_named(name).make(settings, partition, ignore_progress)


def _tables(deployment: Deployment, room: str = "tables") -> dict[str, bytes]:
    root = deployment.data_dir / room
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*.parquet"))}


def test_another_machine_makes_no_step_again(
    machine: Callable[[str], Settings], engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = machine("one"), machine("other")
    _make(one)
    for name in ("plan_designs",):
        monkeypatch.setattr(designs_step, name, lambda *_, **__: pytest.fail("made again"))
    _make(other)
    assert _tables(other.deployment) == _tables(one.deployment)
    assert _tables(other.deployment, "measured") == _tables(one.deployment, "measured")


def test_a_step_reads_what_another_machine_published(
    machine: Callable[[str], Settings], engines: Any, tmp_path: Path
) -> None:
    one, other = machine("one"), machine("other")
    _make(one, "programs", "designs")
    assert not other.deployment.data_dir.exists()
    _make(other, "labels")
    assert "labels/stencil.parquet" in _tables(other.deployment)
    catalogue = open_catalogue(one.deployment)
    assert catalogue is not None
    assert set(catalogue.states()) >= {"programs", "designs", "labels", "runs"}


@pytest.mark.parametrize("moment", ["write_output", "publish_shards", "keep_written"])
def test_a_step_that_was_killed_gives_the_same_tables(
    machine: Callable[[str], Settings], engines: Any, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    class Killed(BaseException):
        pass

    def kill(*_: Any) -> None:
        raise Killed

    one, other = machine("one"), machine("other")
    with monkeypatch.context() as patched:
        patched.setattr(step_module, moment, kill)
        with pytest.raises(Killed):
            _make(one, "programs")
    _make(one)
    assert pull_tables(other.deployment) > 0
    assert _tables(other.deployment) == _tables(one.deployment)


def test_a_file_of_before_the_kill_gives_way_to_the_published_one(
    machine: Callable[[str], Settings], engines: Any
) -> None:
    one, other = machine("one"), machine("other")
    _make(one)
    before = _tables(one.deployment)
    path = table_path(one.deployment.data_dir, table_spec("labels"), "stencil")
    path.write_bytes(b"half of another version")
    path.with_name("irregular.parquet").unlink(missing_ok=True)
    _make(one, "labels")
    assert _tables(one.deployment) == before
    assert pull_tables(other.deployment) == pull_tables(one.deployment) + len(before) + len(
        _tables(one.deployment, "measured")
    )


def test_shards_that_the_configuration_leaves_out_leave_the_catalogue(
    machine: Callable[[str], Settings], engines: Any
) -> None:
    one, other = machine("one"), machine("other")
    _make(one)
    configuration = compose_configuration([*FEW_OVERRIDES, "programs.suites=[irregular]"])
    less = replace(other, configuration=configuration)
    pull_tables(less.deployment)
    notes = prune_partitions(less, [step_named(name) for name in STEPS])
    assert any(note.startswith("labels: removed stencil") for note in notes)
    catalogue = open_catalogue(one.deployment)
    assert catalogue is not None
    assert catalogue.state("labels").shards == {}
    assert catalogue.state("labels", measured=True).shards == {}


def test_a_machine_without_tables_reads_the_catalogue(
    machine: Callable[[str], Settings], engines: Any, deployment: Deployment
) -> None:
    assert sf.table("labels").collect().height == 0
    assert sf.sql("SELECT count(*) AS n FROM labels")["n"].to_list() == [0]
    one = machine("one")
    _make(one)
    assert not (deployment.data_dir / "tables").exists()
    local = sf.table("labels", folder=one.deployment.data_dir).collect()
    assert sf.table("labels").collect().equals(local)
    assert local.height == 4
    query = "SELECT status, count(*) AS n, count(synthesis_wall_s) AS timed FROM labels GROUP BY ALL"
    assert sf.sql(query).rows() == [("ok", 4, 4)]
    joined = "SELECT count(*) AS n FROM LABELS JOIN query_table('designs') USING (design_id)"
    assert sf.sql(joined)["n"].to_list() == [4]
    assert sf.sql("SELECT table_name FROM failures").height == 0
    with pytest.raises(FoundryError, match="unknown table"):
        sf.sql("SELECT * FROM lables")


def test_a_query_over_a_damaged_object_says_so(machine: Callable[[str], Settings], engines: Any) -> None:
    one = machine("one")
    _make(one)
    catalogue = open_catalogue(one.deployment)
    assert catalogue is not None
    path = Path(catalogue.state("labels").files["stencil"].removeprefix("file://"))
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)
    with pytest.raises(FoundryError, match=r"\.parquet is damaged: its content does not have its hash"):
        sf.sql("SELECT * FROM labels")
    assert sf.sql("SELECT count(*) AS n FROM designs")["n"].to_list() == [4]


@pytest.mark.slow
def test_a_run_names_the_version_of_the_catalogue(
    settings: Settings, variables: None, engines: Any, tmp_path: Path
) -> None:
    deployment = find_deployment()
    configuration = compose_configuration([*FEW_OVERRIDES, "programs.suites=[stencil]"])

    def run() -> list[str]:
        with dg.DagsterInstance.ephemeral() as instance:
            report = run_everything(configuration, deployment, instance=instance, progress=ProgressResource())
        assert report.problems == []
        assert report.hashes == {}  # DVC does not track shards
        return report.notes

    notes = run()
    content = json.loads((deployment.data_dir / CATALOGUE_FILE).read_text())
    assert f"catalogue version: {content['version']}" in notes
    status = store_status()
    assert status.version == content["version"]
    assert status.tables["labels"] == (1, 4)
    tables = _tables(deployment)
    assert {f"{table}/{shard}.parquet" for table, own in content["tables"].items() for shard in own} == set(
        tables
    )
    for path in sorted((deployment.data_dir / "tables").rglob("*.parquet")):
        path.unlink()
    assert any(note.startswith("fetched from the catalogue: ") for note in run())
    same = {name: own for name, own in _tables(deployment).items() if not name.startswith("report")}
    assert same == {name: own for name, own in tables.items() if name in same}
    assert sweep_store(hours=24, delete=True).objects == ()


@pytest.mark.slow
def test_files_of_before_there_was_a_catalogue_are_published_by_a_run(
    settings: Settings, engines: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = compose_configuration([*FEW_OVERRIDES, "programs.suites=[stencil]"])
    with dg.DagsterInstance.ephemeral() as instance:
        for is_shared in (False, True):
            if is_shared:
                monkeypatch.setenv("SIMFOUNDRY_STORE", f"file://{tmp_path}/store")
                monkeypatch.setenv("SIMFOUNDRY_CATALOGUE", f"sqlite:///{tmp_path}/catalogue.db")
            report = run_everything(
                configuration, find_deployment(), instance=instance, progress=ProgressResource()
            )
            assert report.problems == []
    assert store_status().tables["labels"] == (1, 4)


def test_a_sample_is_made_again_apart_from_the_catalogue(
    machine: Callable[[str], Settings], engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = compose_configuration([*FEW_OVERRIDES, "programs.suites=[stencil]", "network.groups={}"])
    one = replace(machine("one"), configuration=configuration)
    _make(one, *(step.name for step in ALL_STEPS if step.partitioned.name == BY_SUITE.name))
    catalogue = open_catalogue(one.deployment)
    assert catalogue is not None
    version = catalogue.version()
    monkeypatch.setattr(materialise, "_simulated_again", lambda *_: iter(()))
    stale_rows(one, fraction=0.5, seed=1)
    assert catalogue.version() == version


def test_a_release_names_the_catalogue(machine: Callable[[str], Settings], engines: Any) -> None:
    from pipelines.dataset.releases.manifest import Manifest, Toolset, manifest_bytes

    one = machine("one")
    _make(one)
    version = write_version(one.deployment)
    named = {
        "format": 1, "name": "r", "toolset": Toolset(tools={}, liberties={}), "rows": {}, "left_out": {},
        "files": (),
    }  # fmt: skip
    assert json.loads(manifest_bytes(Manifest(**named, catalogue=version)))["catalogue"] == version
    assert "catalogue" not in json.loads(manifest_bytes(Manifest(**named)))


def test_a_run_in_a_folder_is_not_published(machine: Callable[[str], Settings], tmp_path: Path) -> None:
    apart = machine("one").deployment.in_folder(tmp_path / "apart")
    assert apart.store is not None
    assert open_catalogue(apart) is None
    assert publish_shards(apart, {"labels": ("stencil",)}) == pull_tables(apart) == 0


def test_a_deployment_without_the_variables_is_as_before(deployment: Deployment) -> None:
    assert find_deployment() == local_deployment(deployment.project)
    assert open_catalogue(deployment) is None
    with pytest.raises(FoundryError, match="this deployment has no catalogue; SIMFOUNDRY_STORE"):
        store_status()


@pytest.mark.parametrize(
    ("store", "catalogue", "message"),
    [
        (
            "file:///s",
            None,
            "not set: SIMFOUNDRY_CATALOGUE; SIMFOUNDRY_STORE needs it, accepted: both or neither",
        ),
        (None, "sqlite:////c", "not set: SIMFOUNDRY_STORE; SIMFOUNDRY_CATALOGUE needs it"),
        ("file:///s", "mysql://u:geheim@h/d", "not the URL of a catalogue: mysql:... .SIMFOUNDRY_CATALOGUE."),
        ("gs://s", "sqlite:////c", "not the URL of a store: gs://s"),
    ],
)
def test_a_deployment_rejects_half_a_catalogue(
    project: Path, store: str | None, catalogue: str | None, message: str
) -> None:
    variables = {"SIMFOUNDRY_STORE": store, "SIMFOUNDRY_CATALOGUE": catalogue}
    with pytest.raises(FoundryError, match=message) as error:
        find_deployment({name: value for name, value in variables.items() if value}, project)
    assert "geheim" not in str(error.value)


def test_a_deployment_tells_no_password(project: Path) -> None:
    variables = {
        "SIMFOUNDRY_STORE": "s3://bucket/team/",
        "SIMFOUNDRY_CATALOGUE": "postgresql://user:geheim@host/db",
    }
    deployment = find_deployment(variables, project)
    assert deployment.store == "s3://bucket/team"
    assert "geheim" not in repr(deployment)
    assert not deployment.is_versioned


def test_a_damaged_present_object_stops_what_reads_it(
    machine: Callable[[str], Settings], engines: Any
) -> None:
    from pipelines.schemas import SchemaError

    one, other = machine("one"), machine("other")
    _make(one, "programs")
    catalogue = open_catalogue(one.deployment)
    assert catalogue is not None
    Path(catalogue.state("programs").files["stencil"].removeprefix("file://")).write_bytes(b"damaged")
    with pytest.raises(SchemaError, match="is damaged"):
        _make(other, "designs")
