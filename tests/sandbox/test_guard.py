"""Confined runs whose process SIGKILL ends before bubblewrap is bound to it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from attack_support import left_running

from pipelines.base.sandbox import run_confined
from pipelines.base.sandbox.guard import guarded
from pipelines.base.sandbox.supervision import Supervision


def kill_with_bubblewrap_stopped(run: Supervision) -> None:
    """End this process while bubblewrap stands still at its start; only its guardian can end it then."""
    os.kill(run._process.pid, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGKILL)


def test_run_confined_leaves_no_process_when_it_is_killed_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Supervision, "wait", kill_with_bubblewrap_stopped)
    child = os.fork()
    if child == 0:
        try:
            run_confined(("/usr/bin/sleep", "600"), folder=tmp_path / "box")
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    while left_running(tmp_path):  # the guardian looks for it as soon as the child has ended
        time.sleep(0.05)


def test_guarded_starts_another_guardian_when_the_first_one_was_ended() -> None:
    with guarded() as first, guarded() as same:
        assert first == same
        guardian = next(p for p in Path("/proc").glob("[0-9]*") if is_guardian(p, first[-1]))
        os.kill(int(guardian.name), signal.SIGKILL)
        while is_running(guardian):
            time.sleep(0.01)
        with guarded() as second:
            assert second != first
    with guarded() as third:
        assert third == second


def is_running(process: Path) -> bool:
    """Whether it has not ended; a zombie has closed its pipes, a process that ends perhaps not yet."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def is_guardian(process: Path, mark: str) -> bool:
    """Tell whether a process guards a mark; bubblewrap's arguments have it, too."""
    try:
        arguments = (process / "cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return False
    return mark in arguments and any(Path(argument).name == "guardian.py" for argument in arguments)
