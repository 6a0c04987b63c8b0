"""A short form of the campaign of faults; its long form is `tests/benchmarks/cluster_faults.py`."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="the extra `cluster` is not installed")

from ray_nodes import AUTH_MODE, ray_cluster
from test_ray_fanout import DRIVER, SMALL, wait_for_pids

from assets.cluster.ray_fanout import connected
from assets.settings import Cluster
from pipelines.base import sealing
from pipelines.base.workers import Outcome, fanning_out, run_all
from tests.benchmarks.cluster_faults import CASES, Hashes, make_expected, run_case, run_on_hosts
from tests.support.hosts import can_make_hosts
from tests.support.servers import has_postgres, has_rclone


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with ray_cluster(1) as nodes:
        yield nodes


def warn(item: int) -> Outcome[int]:
    """Log what an engine would, and what is of others."""
    logging.getLogger("pipelines.base.sealing").warning("entry %s is damaged", item)
    logging.getLogger("other").warning("entry %s is of no interest", item)
    return Outcome(result=item, failed=False, name=str(item))


@pytest.mark.slow
def test_what_engines_warn_of_on_a_node_is_said_by_the_driver(cluster: Any) -> None:
    settings = Cluster(kind="ray", address=cluster.address, **SMALL)
    with connected(settings) as fanout, fanning_out(fanout):
        assert run_all("warns", range(2), warn, workers=1) == [0, 1]
    assert sorted(fanout.faults) == ["warns: entry 0 is damaged", "warns: entry 1 is damaged"]


@pytest.mark.slow
def test_an_item_that_lacked_memory_gets_a_whole_node_with_processors(cluster: Any) -> None:
    import ray

    with connected(Cluster(kind="ray", address=cluster.address, **SMALL)) as fanout:
        [finished] = ray.get([fanout.submit(warn, [7], is_large=True)], timeout=30)
    assert [outcome.result for outcome in finished.outcomes] == [7]


def _driver(cluster: Any, folder: Path, repository: Path, **variables: str) -> subprocess.Popen[bytes]:
    code = DRIVER.format(tests=str(Path(__file__).parent), address=cluster.address, folder=str(folder))
    environment = {**os.environ, "PYTHONPATH": str(repository), **variables}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_tools_on_nodes_end_when_the_driver_is_killed(cluster: Any, tmp_path: Path, repository: Path) -> None:
    with _driver(cluster, tmp_path, repository) as driver:
        try:
            pids = wait_for_pids(tmp_path, 1)
        finally:
            driver.kill()
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.mark.slow
def test_a_driver_that_its_nodes_cannot_reach_says_so(cluster: Any, tmp_path: Path, repository: Path) -> None:
    with _driver(cluster, tmp_path, repository, **{AUTH_MODE: "token", "RAY_AUTH_TOKEN": "a" * 64}) as driver:
        try:
            _, said = driver.communicate(timeout=60)
        finally:
            driver.send_signal(signal.SIGKILL)
    message = b"FoundryError: the nodes of the cluster cannot reach this process: it sends a token"
    assert message in said


def test_a_store_that_was_away_is_named(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("obstore")
    with sealing.answering("s3://foundry/cache", slow_s=0.0):
        time.sleep(0.01)
    assert caplog.messages == ["s3://foundry/cache: the object store answered after 0 s"]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Hashes:
    if not (has_postgres() and has_rclone()):
        pytest.skip("needs PostgreSQL and an S3 server")
    return make_expected(tmp_path_factory.mktemp("expected") / "project")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_tables_are_those_of_one_machine(case: str, expected: Hashes, server_folder: Path) -> None:
    if case == "hosts" and not can_make_hosts():
        pytest.skip("needs root: network namespaces")
    run = run_on_hosts if case == "hosts" else partial(run_case, case)
    assert list(run(server_folder / case, expected, 15.0).problems) == []
