"""The catalogue in PostgreSQL and its files on S3: a race of publications, an outage, credentials.

All tests with servers stand in this file, so that one worker starts them.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from assets.catalogue import Catalogue, CatalogueError
from assets.stores import open_sealed
from pipelines.base.cache import ContentCache
from pipelines.base.sealing import StoreError
from pipelines.schemas import SplitRow, table_path, table_spec, write_table
from simfoundry.commands.sql import run_query
from tests.benchmarks.publication_race import Race, run_race
from tests.support.servers import PostgresServer, S3Server, end

SPEC = table_spec("splits")
SECRETS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture
def variables(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3.variables.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def databases(postgres_server: PostgresServer) -> PostgresServer:
    return postgres_server


def _write(folder: Path, shard: str, count: int = 3) -> Path:
    rows = [SplitRow(split="s", program_id=f"p{k}", group="g", part="test") for k in range(count)]
    write_table(folder, SPEC, rows, shard)
    return table_path(folder, SPEC, shard)


@pytest.mark.slow
@pytest.mark.usefixtures("variables")
def test_racers_double_and_lose_no_shard(databases: PostgresServer, tmp_path: Path) -> None:
    race = Race(
        store="s3://foundry/race",
        database=databases.database("race"),
        folder=tmp_path,
        racers=2,
        shards=5,
        rows=20,
        rounds=2,
    )
    outcome = run_race(race)
    assert outcome.problems(race) == []
    assert outcome.commits + 2 >= 10  # the racer that was killed told nothing of its own
    assert outcome.calls == 20


@pytest.mark.usefixtures("variables")
def test_a_machine_without_tables_answers_from_the_store(
    databases: PostgresServer, s3: S3Server, tmp_path: Path
) -> None:
    catalogue = Catalogue("s3://foundry/read", databases.database("read"))
    for shard in ("a", "b"):
        catalogue.publish(SPEC, shard, _write(tmp_path, shard))
    query = "SELECT count(*), count(DISTINCT program_id) FROM splits JOIN splits AS other USING (program_id)"
    assert run_query(tmp_path / "empty", query, catalogue).rows == ((12, 3),)
    assert catalogue.sweep().names == ()
    stored = b"".join(p.read_bytes() for p in (s3.folder / "foundry/read").rglob("*") if p.is_file())
    assert len(stored) > 1000
    for secret in (*(s3.variables[name] for name in SECRETS), databases.url.split(":")[2].split("@")[0]):
        assert secret.encode() not in stored
        assert secret not in repr(catalogue)


@pytest.mark.usefixtures("variables")
def test_the_sealed_cache_is_shared_on_s3(tmp_path: Path) -> None:
    one, other = (
        ContentCache(folder=tmp_path / name, shared=open_sealed("s3://foundry/cache")) for name in ("a", "b")
    )
    one.put("labels", "ab12", {"area": 1.5})
    assert other.get("labels", "ab12") == {"area": 1.5}
    assert other.get("labels", "ab13") is None
    one.put("labels", "ab12", {"area": 1.5})


def test_a_server_refuses_wrong_credentials(
    s3: S3Server, databases: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in s3.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret-of-32-characters-")
    with pytest.raises(StoreError, match="s3://foundry/wrong: the object store refuses"):
        open_sealed("s3://foundry/wrong").read("labels/ab/labels-ab12.json")
    url = databases.database("wrong").replace(databases.url.split(":")[2].split("@")[0], "geheim")
    with pytest.raises(CatalogueError, match="password authentication failed") as error:
        Catalogue(f"file://{tmp_path}", url)
    assert "geheim" not in str(error.value)


def test_an_outage_of_the_database_is_waited_for(
    databases: PostgresServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    catalogue = Catalogue(f"file://{tmp_path}/store", databases.database("outage"))
    catalogue.publish(SPEC, "a", _write(tmp_path, "a"))
    end(databases.process, signal.SIGQUIT)  # as a crash does
    outcome: list[bool] = []
    publishing = threading.Thread(
        target=lambda: outcome.append(catalogue.publish(SPEC, "a", _write(tmp_path, "a", 5)))
    )
    publishing.start()
    time.sleep(0.5)
    assert outcome == []
    again = databases.started_again().process
    try:
        publishing.join(30)
        assert outcome == [True]
        assert catalogue.state("splits").rows == 5
    finally:
        end(again, signal.SIGINT)
        assert os.getpid() != again.pid
