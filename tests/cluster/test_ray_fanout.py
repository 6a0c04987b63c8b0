"""The Ray fan-out: results, faults that are named, and what an end leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="the extra `cluster` is not installed")

from ray_nodes import add_node, kill_node, ray_cluster

from assets.cluster.ray_fanout import RayFanout, connected, node_state
from assets.errors import FoundryError
from assets.settings import Cluster
from pipelines.base.workers import Outcome, Progress, fanning_out, run_all

SMALL = {"memory_gib": 0.25, "batch_s": 0.5, "retries": 1}


def square(item: int, *, bad: int = -1) -> Outcome[tuple[int, int]]:
    if item == bad:
        raise ValueError(f"an item must not be {bad}, got it")
    return Outcome(result=(item * item, os.getpid()), failed=item % 2 == 1, name=f"item {item}")


def wait(item: int, *, seconds: float, folder: Path, ending: int = 0) -> Outcome[int]:
    """Wait; an item on the node whose process is `ending` leaves its name and has no end of its own."""
    if os.getppid() == ending:
        (folder / str(item)).touch()
        time.sleep(600)
    time.sleep(seconds)
    return Outcome(result=item, failed=False, name=str(item))


def end_once(item: int, *, folder: Path, times: int) -> Outcome[int]:
    """End the worker at item 3, so many times."""
    if item == 3 and len(list(folder.iterdir())) < times:
        (folder / f"{time.monotonic_ns()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(result=item, failed=False, name=str(item))


def dawdle(item: int, *, folder: Path) -> Outcome[int]:
    """Take long at item 0, the first time."""
    mark = folder / "first"
    if item == 0 and not mark.exists():
        mark.touch()
        time.sleep(60)
    return Outcome(result=item, failed=False, name=str(item))


def test_an_address_where_nobody_answers_is_one_error() -> None:
    cluster = Cluster(kind="ray", address="127.0.0.1:9")
    with (
        pytest.raises(FoundryError, match=r"^no Ray cluster answers at 127\.0\.0\.1:9: "),
        connected(cluster),
    ):
        pass


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with ray_cluster(2) as nodes, connected(Cluster(kind="ray", address=nodes.address, **SMALL)):
        yield nodes


@pytest.fixture
def fanout(cluster: Any) -> Iterator[RayFanout]:
    with connected(Cluster(kind="ray", address=cluster.address, **SMALL)) as fanout, fanning_out(fanout):
        yield fanout


@pytest.mark.slow
def test_results_are_in_order_and_every_node_has_its_load(fanout: RayFanout) -> None:
    said: list[Progress] = []
    squares = run_all("squares", range(60), square, workers=1, on_progress=said.append)
    assert [value for value, _ in squares] == [i * i for i in range(60)]
    assert os.getpid() not in {pid for _, pid in squares}
    assert [p.done for p in said] == list(range(1, 61))
    assert said[-1].failed == 30
    assert sum(load.items for load in fanout.loads.values()) == 60
    assert len(fanout.loads) == 2
    assert fanout.notes()["nodes"].count("\n") == 3
    assert "faults" not in fanout.notes()


def test_no_items_need_no_cluster(fanout: RayFanout) -> None:
    assert run_all("squares", [], square, workers=1) == []


def test_what_an_item_raises_is_raised_here(fanout: RayFanout) -> None:
    with pytest.raises(ValueError, match="an item must not be 7, got it"):
        run_all("squares", range(20), partial(square, bad=7), workers=1)
    assert len(run_all("squares", range(5), square, workers=1)) == 5


def test_a_worker_that_ends_is_named_and_its_items_are_repeated(fanout: RayFanout, tmp_path: Path) -> None:
    work = partial(end_once, folder=tmp_path, times=1)
    assert run_all("ends", range(8), work, workers=1) == list(range(8))
    assert fanout.faults == ["ends: a worker ended"]
    assert "a worker ended" in fanout.notes()["faults"]


@pytest.mark.slow
def test_an_item_that_ends_every_worker_is_an_error_that_names_it(fanout: RayFanout, tmp_path: Path) -> None:
    work = partial(end_once, folder=tmp_path, times=99)
    with pytest.raises(FoundryError, match=r"^ends: item 4 of 8 ended its worker 2 times, last by: a worker"):
        run_all("ends", range(8), work, workers=1)


def test_a_late_batch_is_handed_over_twice(
    fanout: RayFanout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assets.cluster.ray_fanout.LATE_LEAST_S", 1.0)
    start = time.monotonic()
    assert run_all("late", range(4), partial(dawdle, folder=tmp_path), workers=1) == [0, 1, 2, 3]
    assert time.monotonic() - start < 60
    assert fanout.faults == ["late: a batch is late and was handed over twice"]


def test_another_tool_on_a_node_is_refused(fanout: RayFanout, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {**node_state(), "pyosys": "0.1"}
    monkeypatch.setattr("assets.cluster.ray_fanout.node_state", lambda: here)
    message = r"^node .* differs from this process: pyosys \S+ there, 0\.1 here; accepted: one"
    with pytest.raises(FoundryError, match=message):
        run_all("squares", range(3), square, workers=1)


def test_a_killed_node_is_named_and_the_others_go_on(cluster: Any, fanout: RayFanout, tmp_path: Path) -> None:
    node = add_node(cluster)
    [raylet] = node.all_processes["raylet"]
    killed: list[str] = []

    def kill_at_work(progress: Progress) -> None:
        """End the node once an item is under way on it."""
        del progress
        if not killed and (begun := [path.name for path in tmp_path.iterdir()]):
            killed.extend(begun)
            kill_node(node)

    work = partial(wait, seconds=0.5, folder=tmp_path, ending=raylet.process.pid)
    items = range(100, 148)
    assert run_all("waits", items, work, workers=1, on_progress=kill_at_work) == list(items)
    assert killed
    assert fanout.faults
    assert all(fault.startswith("waits: ") for fault in fanout.faults)


def test_an_item_for_which_no_node_has_room_is_one_error(cluster: Any) -> None:
    large = Cluster(kind="ray", address=cluster.address, memory_gib=1000)
    message = r"^no node of the cluster has 1 CPU and 1000 GiB for an item \(cluster.memory_gib\); it has "
    with pytest.raises(FoundryError, match=message), connected(large):
        pass


DRIVER = """
import sys
from functools import partial
from pathlib import Path
sys.path[:0] = [{tests!r}]
from test_ray_fanout import wait_for_tool
from assets.cluster.ray_fanout import connected
from assets.settings import Cluster
from pipelines.base.workers import fanning_out, run_all
with connected(Cluster(kind="ray", address={address!r}, memory_gib=0.25)) as fanout, fanning_out(fanout):
    run_all("tools", range(6), partial(wait_for_tool, folder=Path({folder!r})), workers=1)
"""


def wait_for_tool(item: int, *, folder: Path) -> Outcome[int]:
    """Run a tool that would take ten minutes; its file has its process id."""
    from pipelines.base.tools import run_tool

    script = f"import os, pathlib, time; pathlib.Path('{folder}/{item}').write_text(str(os.getpid()))"
    run_tool([sys.executable, "-c", f"{script}; time.sleep(600)"], folder=folder, timeout_s=600)
    return Outcome(result=item, failed=False, name=str(item))


@pytest.mark.slow
def test_ctrl_c_ends_the_tools_on_all_nodes(cluster: Any, tmp_path: Path, repository: Path) -> None:
    code = DRIVER.format(tests=str(Path(__file__).parent), address=cluster.address, folder=str(tmp_path))
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE) as driver:
        try:
            pids = wait_for_pids(tmp_path, 2)
            driver.send_signal(signal.SIGINT)
            _, said = driver.communicate(timeout=60)
        finally:
            driver.kill()
    assert b"KeyboardInterrupt" in said
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


class Interruption(BaseException):
    """As Dagster's: no KeyboardInterrupt, and no Exception."""


def test_an_interruption_of_dagster_ends_the_handing_over(fanout: RayFanout, tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise Interruption

    former = signal.signal(signal.SIGUSR1, interrupt)
    sender = threading.Timer(3.0, os.kill, (os.getpid(), signal.SIGUSR1))
    sender.start()
    try:
        with pytest.raises(Interruption):
            run_all("waits", range(4), partial(wait, seconds=30, folder=tmp_path), workers=1)
    finally:
        sender.cancel()
        signal.signal(signal.SIGUSR1, former)


def wait_for_pids(folder: Path, count: int) -> list[int]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        texts = [path.read_text() for path in folder.iterdir() if path.is_file()]
        if len([text for text in texts if text]) >= count:
            return [int(text) for text in texts if text]
        time.sleep(0.1)
    raise AssertionError("no tool has begun")
