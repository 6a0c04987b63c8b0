"""Many items at a time: order, progress, failures, and what an end leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from pipelines.base.sandbox import MachineFault
from pipelines.base.workers import PROCESSES_FROM, ChildProcess, Outcome, Progress, run_all

MANY = PROCESSES_FROM


def square(item: int, *, bad: int = -1) -> Outcome[tuple[int, int]]:
    if item == bad:
        raise ValueError(f"an item must not be {bad}, got it")
    return Outcome(result=(item * item, os.getpid()), failed=item % 2 == 1, name=f"item {item}")


def touch(item: int, *, folder: Path) -> Outcome[None]:
    (folder / f"{item}-{time.monotonic_ns()}").touch()
    return Outcome(result=None, failed=False, name="")


@pytest.mark.parametrize("count", [0, 1, MANY - 1, MANY])
def test_results_come_in_the_order_of_items(count: int) -> None:
    said: list[Progress] = []
    found = run_all("squares", range(count), square, workers=2, on_progress=said.append)
    assert [value for value, _ in found] == [i * i for i in range(count)]
    assert [p.done for p in said] == list(range(1, count + 1))
    assert not said or said[-1].failed == count // 2


def test_many_items_go_to_other_processes_a_few_do_not() -> None:
    assert os.getpid() not in {pid for _, pid in run_all("squares", range(MANY), square, workers=2)}
    assert {pid for _, pid in run_all("squares", range(3), square, workers=2)} == {os.getpid()}


def test_what_costs_most_is_begun_first(tmp_path: Path) -> None:
    run_all("touch", range(5), partial(touch, folder=tmp_path), workers=1, cost=lambda item: float(item))
    begun = sorted(tmp_path.iterdir(), key=lambda path: int(path.name.split("-")[1]))
    assert [path.name.split("-")[0] for path in begun] == ["4", "3", "2", "1", "0"]


@pytest.mark.parametrize("count", [4, MANY])
def test_run_all_rejects_what_an_item_raises(count: int) -> None:
    with pytest.raises(ValueError, match="an item must not be 2, got it"):
        run_all("squares", range(count), partial(square, bad=2), workers=2)


PARENT = """
import sys, time
from pathlib import Path
from pipelines.base.workers import run_all
from test_workers import wait_for
if __name__ == "__main__":
    from functools import partial
    run_all("waits", range(16), partial(wait_for, folder=Path(sys.argv[1])), workers=2)
"""


PLAIN_SCRIPT = """
from pipelines.base.workers import run_all
from test_workers import square
print("begun", flush=True)
print([value for value, _ in run_all("squares", range(16), square, workers=2)])
"""
OWN_FUNCTION = """
from pipelines.base.workers import run_all
def work(item):
    return item
run_all("own", range(16), work, workers=2)
"""


def run_script(script: Path) -> subprocess.CompletedProcess[str]:
    folders = (Path(__file__).parent, Path(__file__).parents[2], script.parent)
    path = os.pathsep.join(map(str, folders))  # that the first one of the processes begins with
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, str(script)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_workers_do_not_run_the_script_that_starts_them(tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text(PLAIN_SCRIPT)
    done = run_script(script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["begun", str([i * i for i in range(16)])]


def test_workers_reject_a_function_of_the_main_file(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text(OWN_FUNCTION)
    done = run_script(script)
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1
    assert done.stderr.splitlines()[-1] == (
        "ValueError: worker processes cannot import work of the main file; "
        "accepted: functions and classes of a module"
    )


INTERRUPTED = """
import multiprocessing, os
from pipelines.base.workers import ChildProcess
from slow_to_import import serve
os.environ["STARTED_BY"] = str(os.getpid())
try:
    ChildProcess(serve)
except KeyboardInterrupt:
    print(multiprocessing.active_children())
"""
SLOW_TO_IMPORT = """
import os, signal, time
if os.environ.get("STARTED_BY") == str(os.getppid()):  # in the process from which others are started
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(1.0)
def serve(connection):
    connection.send(None)
"""


def test_an_interrupt_while_a_child_process_starts_leaves_none(tmp_path: Path) -> None:
    (tmp_path / "slow_to_import.py").write_text(SLOW_TO_IMPORT)
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    done = run_script(script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def wait_for(item: int, *, folder: Path) -> Outcome[None]:
    (folder / f"pid-{os.getpid()}").touch()
    time.sleep(60)
    return Outcome(result=None, failed=False, name="")


def test_workers_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    folder = tmp_path / "pids"
    folder.mkdir()
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[2])])
    parent = subprocess.Popen(
        [sys.executable, str(script), str(folder)], env={**os.environ, "PYTHONPATH": path}
    )
    while len(list(folder.iterdir())) < 2:
        assert parent.poll() is None
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    workers = {int(path.name.removeprefix("pid-")) for path in folder.iterdir()}
    while any(Path(f"/proc/{pid}/exe").exists() for pid in workers):
        time.sleep(0.05)


def echo(connection: Connection) -> None:
    """Send back each value, or end at one that is None."""
    while (value := connection.recv()) is not None:
        connection.send(value)


def burn(connection: Connection) -> None:
    del connection
    while True:
        pass


def test_a_child_process_answers_what_it_is_sent() -> None:
    child = ChildProcess(echo)
    try:
        child.send("a")
        assert child.receive(60.0) == "a"
        child.send([1, 2])
        assert child.receive() == [1, 2]
    finally:
        child.end()


def test_a_child_process_that_ends_without_an_answer_is_a_fault_of_the_machine() -> None:
    child = ChildProcess(echo)
    try:
        child.send(None)
        with pytest.raises(MachineFault, match=r"^the process ended without an answer$"):
            child.receive(60.0)
    finally:
        child.end(1.0)


def test_a_child_process_has_so_much_processor_time() -> None:
    child = ChildProcess(burn)
    try:
        with pytest.raises(TimeoutError, match=r"^more than 0\.2 s of processor time$"):
            child.receive(0.2)
    finally:
        child.end()
