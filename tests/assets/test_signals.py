"""Signals end a command with all that it has started, and leave nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

END_LIMIT_S = 600
"""Far above what the end of a command takes, on a busy machine too."""

COMMAND = Path(__file__).with_name("long_tools.py")
SAID = {
    signal.SIGINT: "simfoundry: interrupted; run again to resume\n",
    signal.SIGTERM: "simfoundry: ended by SIGTERM; run again to resume\n",
    signal.SIGHUP: "simfoundry: ended by SIGHUP; run again to resume\n",
}


def running(text: str) -> list[str]:
    """Command lines that hold a text."""
    lines: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line:
            lines.append(line)
    return lines


def tools_running(seconds: str) -> int:
    return sum(line.startswith(("/usr/bin/sleep", "sleep")) for line in running(seconds))


def await_(condition: Callable[[], bool]) -> None:
    """Wait for what takes a moment, on a crowded machine minutes."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("nothing happened for ten minutes")


_CLOSED_PIPE = "Exception ignored in: <module 'threading'"
"""CPython 3.11 may say this when a pool of processes ends: its pipe can close between a check and a write."""


def started(kind: str, folder: Path) -> tuple[subprocess.Popen[str], str]:
    """The command when its two tools run, and the seconds that they take, which no other test's tools do."""
    seconds = f"3600.{os.getpid()}{time.monotonic_ns()}"
    process = subprocess.Popen(
        [sys.executable, str(COMMAND), kind, str(folder), seconds],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    await_(lambda: tools_running(seconds) == 2 or process.poll() is not None)
    return process, seconds


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "number", "send"),
    [
        ("threads", signal.SIGINT, os.kill),
        ("dagster", signal.SIGTERM, os.kill),
        ("step", signal.SIGTERM, os.kill),
        ("processes", signal.SIGHUP, os.kill),
        ("processes", signal.SIGTERM, os.killpg),  # as `timeout` does, to every process
    ],
)
def test_a_signal_ends_a_command_and_its_tools(
    kind: str, number: signal.Signals, send: Callable[[int, int], None], tmp_path: Path
) -> None:
    process, seconds = started(kind, tmp_path)
    try:
        send(process.pid, number)
        _, said = process.communicate(timeout=END_LIMIT_S)
    finally:
        process.kill()
    before = "simfoundry: a step failed\n" if kind == "step" else ""
    said = said.partition(_CLOSED_PIPE)[0]
    assert (said, process.returncode) == (before + SAID[number], 128 + number)
    await_(lambda: running(seconds) == [])  # workers of a pool end after the command


PROBE = """
from simfoundry.cli import entry

def interrupted(**_):
    entry.end_on_signals(resumes={resumes})
    exec("import os, signal; os.kill(os.getpid(), signal.SIGTERM)\\nwhile True: pass")

entry.simfoundry.main = interrupted
entry.main([])
"""


@pytest.mark.parametrize(("resumes", "end"), [(True, "resume"), (False, "begin anew")])
def test_a_signal_in_an_executed_text_has_its_own_status(resumes: bool, end: str, tmp_path: Path) -> None:
    """As while dataclasses are made; `python -m` would end with status 130."""
    (tmp_path / "probe.py").write_text(PROBE.format(resumes=resumes))
    argv = [sys.executable, "-m", "probe"]
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    ended = subprocess.run(
        argv,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=END_LIMIT_S,
        check=False,
    )
    said = f"simfoundry: ended by SIGTERM; run again to {end}\n"
    assert (ended.stderr, ended.returncode) == (said, 128 + signal.SIGTERM)


REMOVED = """
import os, signal
from simfoundry.cli import entry

class Removed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass

def interrupted(**_):
    entry.end_on_signals(resumes=True)
    Removed()
    while True:
        pass

entry.simfoundry.main = interrupted
entry.main([])
"""


def test_a_signal_while_an_object_is_removed_is_not_lost() -> None:
    path = str(Path(__file__).parents[2])
    ended = subprocess.run(
        [sys.executable, "-c", REMOVED],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=END_LIMIT_S,
        check=False,
    )
    assert (ended.stderr, ended.returncode) == (SAID[signal.SIGTERM], 128 + signal.SIGTERM)


ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"
QUERY = """
import sys
from pathlib import Path
from simfoundry.commands import sql

answer = sql._reading_statement

def reading_statement(*arguments):
    statement = answer(*arguments)
    print("begins", flush=True)
    return statement

sql._reading_statement = reading_statement
from simfoundry.cli import main
main(["sql", sys.argv[1]])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_an_endless_query(number: signal.Signals, project: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", QUERY, ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.5)  # the query computes in DuckDB by then
        process.send_signal(number)
        _, said = process.communicate(timeout=END_LIMIT_S)
    finally:
        process.kill()
    assert said == SAID[number].replace("to resume", "to begin anew")
    assert process.returncode == 128 + number


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_nothing_outlives_a_command_that_is_killed(kind: str, tmp_path: Path) -> None:
    process, seconds = started(kind, tmp_path)
    process.kill()
    await_(lambda: running(seconds) == [])
    process.communicate(timeout=END_LIMIT_S)
