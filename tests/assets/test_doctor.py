"""What a machine has: each thing that is missing is named with what mends it, and completion in the shell."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from invoking import invoke

import pipelines.base.sandbox
from assets.deployments import Deployment
from pipelines.base.sandbox import SandboxError
from simfoundry.commands import doctor
from simfoundry.commands.doctor import Check, examination_text, examine, in_the_way


@pytest.fixture
def without_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_tools", lambda _: iter(()))
    monkeypatch.setattr(doctor, "_simulators", lambda: iter(()))


def _named(checks: list[Check], name: str) -> Check:
    [check] = [check for check in checks if check.name == name]
    return check


def test_doctor_names_tools_packages_ports_and_room_of_this_machine() -> None:
    result = invoke("doctor", "--json")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["ready"]) == (0, True), result.stderr
    parts = ["python", "packages", "tools", "sandbox", "ports", "disk", "memory", "processors"]
    assert list(dict.fromkeys(check["part"] for check in answer["checks"])) == parts
    checks = {check["name"]: check for check in answer["checks"]}
    assert checks["gcc"]["is_required"]
    assert not checks["ns3"]["is_required"]
    assert checks["team --port, ui --port"]["part"] == "ports"
    assert all(check["mend"] for check in checks.values() if check["state"] != "ok")


def test_doctor_rejects_a_machine_without_tools(tmp_path: Path, repository: Path) -> None:
    path = ":".join(filter(None, [str(repository), *sys.path]))
    environment = {"PATH": str(tmp_path), "PYTHONPATH": path, "SIMFOUNDRY_PROJECT": str(repository)}
    words = [sys.executable, "-m", "simfoundry.cli", "doctor"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    [said] = done.stderr.splitlines()
    assert said.startswith("simfoundry: required and missing: gcc, iverilog, ")
    assert "to mend it: make setup; bwrap not found on PATH; " in said
    assert "yosys" in said
    assert "verilator " in done.stdout


@pytest.mark.usefixtures("without_tools")
def test_doctor_rejects_a_missing_package_and_shows_another_version(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {"duckdb": None, "polars": "0.1", "pyarrow": "25.0.1+local"}
    (deployment.project / "requirements.txt").write_text("polars==2.1.0\npyarrow==25.0.1\nduckdb==2.0.0\n")
    monkeypatch.setattr(doctor, "_required_packages", lambda: list(here))
    monkeypatch.setattr(doctor, "_version_of", here.get)
    checks = examine(deployment, {})
    assert _named(checks, "extra foundry").here == "1 of 3 as locked"
    assert (_named(checks, "polars").state, _named(checks, "polars").here) == (
        "other version",
        "0.1, not 2.1.0",
    )
    assert in_the_way(checks) == "required and missing: duckdb; to mend it: make venv"
    monkeypatch.setitem(here, "duckdb", "2.0.0")
    assert in_the_way(examine(deployment, {})) == ""


def test_doctor_rejects_a_machine_without_sandbox(
    deployment: Deployment, without_tools: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise SandboxError("cannot confine a program: no namespaces")

    monkeypatch.setattr(pipelines.base.sandbox, "run_confined", refuse)
    checks = examine(deployment, {})
    assert (
        in_the_way(checks)
        == "required and missing: bubblewrap; to mend it: cannot confine a program: no namespaces"
    )
    assert "bubblewrap" in examination_text(checks)


def test_doctor_rejects_another_python(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor._python().state == "ok"
    monkeypatch.setattr(doctor, "NEWEST", (3, 10))
    assert doctor._python().is_in_the_way
    assert "make PYTHON=" in doctor._python().mend


def test_doctor_accepts_the_versions_of_python_that_the_set_up_does(repository: Path) -> None:
    text = (repository / "setup" / "venv.sh").read_text(encoding="utf-8")
    assert f"not {doctor.OLDEST} <= sys.version_info[:2] <= {doctor.NEWEST}" in text


@pytest.mark.usefixtures("without_tools")
def test_a_taken_port_and_little_room_are_shown_and_not_in_the_way(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2**29))
        (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    1048576 kB\n")
        monkeypatch.setattr(doctor, "MEMINFO", tmp_path / "meminfo")
        checks = examine(deployment, {"ui --port": other.getsockname()[1]})
    assert _named(checks, "ui --port").state == "taken"
    disk, memory = (next(c for c in checks if c.part == part) for part in ("disk", "memory"))
    assert (disk.state, disk.here, disk.mend) == ("low", "0.5 GiB", "make room: 2 GiB or more")
    assert (memory.state, memory.here) == ("low", "1.0 GiB")
    assert in_the_way(checks) == ""


# ---- completion ----------------------------------------------------------------------------------------


def _completed(**variables: str) -> str:
    """What the command answers to a shell, which calls it under its name."""
    script = "from simfoundry.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path)), **variables}
    words = [sys.executable, "-c", script]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script_of_completion(shell: str) -> None:
    script = _completed(_SIMFOUNDRY_COMPLETE=f"{shell}_source")
    assert "_SIMFOUNDRY_COMPLETE" in script
    assert f"{shell}_complete" in script


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("simfoundry net", "plain,network"),
        ("simfoundry network --pro", "plain,--protocol"),
        ("simfoundry network --protocol t", "plain,tcp"),
    ],
)
def test_commands_options_and_choices_are_completed(words: str, answer: str) -> None:
    count = len(words.split()) - 1
    said = _completed(_SIMFOUNDRY_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(count))
    assert said.splitlines() == [answer]
