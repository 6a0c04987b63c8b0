"""Yosys and abc as processes: what they see, what ends them, and how that reads."""

from __future__ import annotations

import ast
import signal
from pathlib import Path

import pytest
from sample_designs import ADDER

from pipelines.schemas import TIMEOUT, TOOL_ERROR
from pipelines.silicon.synthesis import Target, synthesize_design, yosys
from pipelines.silicon.synthesis.yosys import YosysFailed, run_yosys

REAL_WORKER = yosys._WORKER  # pyright: ignore[reportPrivateUsage]


def run_worker(
    code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, timeout_s: float = 60.0
) -> tuple[str, str]:
    """Status and reason of a run in which other code takes the place of yosys."""
    worker = folder / "worker.py"
    worker.write_text(code)
    monkeypatch.setattr(yosys, "_WORKER", worker)
    with pytest.raises(YosysFailed) as failure:
        run_yosys([], files={}, outputs=["out"], folder=folder / "run", timeout_s=timeout_s)
    return failure.value.status, str(failure.value)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (signal.SIGSEGV, "yosys ended by SIGSEGV (segmentation fault): in pass abc"),
        (signal.SIGABRT, "yosys ended by SIGABRT (aborted): in pass abc"),
        (signal.SIGKILL, "yosys: SIGKILL from outside, as when memory runs out"),
    ],
)
def test_a_signal_is_named(number: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"import os; print('in pass abc', flush=True); os.kill(os.getpid(), {int(number)})"
    assert run_worker(code, tmp_path, monkeypatch) == (TOOL_ERROR, reason)


@pytest.mark.parametrize(
    ("ending", "status", "reason"),
    [
        ("kill -SEGV $$", TOOL_ERROR, "abc ended by SIGSEGV (segmentation fault): mapping"),
        ("kill -ABRT $$", TOOL_ERROR, "abc ended by SIGABRT (aborted): mapping"),
        ("exit 3", TOOL_ERROR, "abc ended with status 3: mapping"),
        ("kill -XCPU $$", TIMEOUT, "yosys or abc took more than 60 s of processor time"),
    ],
)
def test_the_end_of_abc_is_named(
    ending: str,
    status: str,
    reason: str,
    osu018: Target,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    abc = tmp_path / "abc"
    abc.write_text(f"#!/bin/sh\necho mapping\n{ending}\n")
    abc.chmod(0o755)
    worker = tmp_path / "worker.py"
    worker.write_text(
        f"import runpy, sys, pyosys\nsys._pyosys_abc = {str(abc)!r}\n"
        f"runpy.run_path({str(REAL_WORKER)!r}, run_name='__main__')\n"
    )
    readable = yosys._readable()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(yosys, "_WORKER", worker)
    monkeypatch.setattr(yosys, "_readable", lambda: [*readable, worker, abc])
    result = synthesize_design(ADDER, top="adder", target=osu018, folder=tmp_path / "run", timeout_s=60)
    assert (result.status, result.reason) == (status, reason)


def test_processor_time_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run_worker("while True: pass", tmp_path, monkeypatch, timeout_s=1.0)
    assert outcome == (TIMEOUT, "yosys or abc took more than 1 s of processor time")


def test_yosys_sees_neither_other_files_nor_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret")
    code = f"""import socket, sys
outcomes = []
for name in ({str(secret)!r}, {__file__!r}, "/etc/passwd"):
    try: outcomes.append(open(name).read())
    except OSError as error: outcomes.append(type(error).__name__)
try: outcomes.append(socket.create_connection(("127.0.0.1", 1)))
except OSError as error: outcomes.append(type(error).__name__)
sys.exit(repr(outcomes))"""
    expected = "['FileNotFoundError', 'FileNotFoundError', 'FileNotFoundError', 'PermissionError']"
    assert run_worker(code, tmp_path, monkeypatch) == (TOOL_ERROR, f"yosys ended with status 1: {expected}")


def test_an_output_that_is_a_link_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run_worker("import os; os.symlink('/etc/passwd', 'out')", tmp_path, monkeypatch)
    assert outcome[0] == TOOL_ERROR
    assert outcome[1].startswith("output is not a regular file: ")


def test_the_worker_has_the_constants_of_its_caller() -> None:
    # it runs in the interpreter of pyosys and cannot import them
    tree = ast.parse(REAL_WORKER.read_text())
    constants = {
        target.id: ast.literal_eval(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    both = {name for name in constants if hasattr(yosys, name)}
    assert both >= {"DERIVE_INSTANCES", "REQUIRE_REGISTERS", "WIDER_PORT", "MEMORY_BITS", "WAS_READ"}
    assert {name: constants[name] for name in both} == {name: getattr(yosys, name) for name in both}
