"""The set-up scripts: when all is there, when something is missing, and who may install.

apt-get, dpkg-query, id and sudo are played by small scripts on a PATH of our own; nothing is
installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

NEEDED = ["verilator", "qflow-tech-osu018", "qflow-tech-osu035", "qflow-tech-osu050"]
NEEDED += ["opensta", "yosys", "iverilog", "g++", "gcc", "make"]
NEEDED += ["bubblewrap", "python3-venv", "git"]
REAL = ("bash", "env", "grep", "cat", "dirname", "sha256sum", "rm")

System = Callable[..., subprocess.CompletedProcess[str]]


def _executable(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def fakes(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in REAL:
        found = shutil.which(tool)
        assert found
        (folder / tool).symlink_to(found)
    return folder


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def system(fakes: Path, log: Path, repository: Path) -> System:
    def run(*, installed: list[str], uid: int = 0, sudo: bool = False, **variables: str):
        listing = "".join(f"installed {name}\\n" for name in installed)
        absent = len(installed) < len(NEEDED)
        _executable(fakes / "dpkg-query", f"printf '{listing}'; exit {int(absent)}")
        _executable(fakes / "apt-get", f'echo "apt-get $*" >> "{log}"; {variables.pop("apt", "")}')
        _executable(fakes / "id", f"[ $1 = -u ] && echo {uid} || echo someone")
        if sudo:
            _executable(fakes / "sudo", f'echo "sudo" >> "{log}"; exec "$@"')
        return subprocess.run(
            [str(repository / "setup" / "system.sh")],
            env={"PATH": str(fakes), **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_system_installs_nothing_when_all_is_there(system: System, log: Path) -> None:
    result = system(installed=NEEDED)
    assert result.returncode == 0
    assert result.stdout == "system packages: all 13 already there\n"
    assert not log.exists()


def test_system_installs_only_what_is_missing(system: System, log: Path) -> None:
    result = system(installed=[p for p in NEEDED if p not in ("opensta", "g++")])
    assert result.returncode == 0, result.stderr
    assert log.read_text() == "apt-get -q install -y --no-install-recommends opensta g++\n"


def test_system_refreshes_the_lists_only_after_a_failure(system: System, log: Path) -> None:
    flaky = f'[ "$(grep -c install "{log}")" -gt 1 ] || [ "$2" = update ]'
    result = system(installed=[], apt=flaky)
    assert result.returncode == 0, result.stderr
    verbs = [line.split()[2] for line in log.read_text().splitlines()]
    assert verbs == ["install", "update", "install"]


def test_system_uses_sudo_when_not_root(system: System, log: Path) -> None:
    result = system(installed=NEEDED[1:], uid=1000, sudo=True)
    assert result.returncode == 0, result.stderr
    assert log.read_text().splitlines()[0] == "sudo"
    assert log.read_text().splitlines()[1].endswith("--no-install-recommends verilator")


def test_system_rejects_a_user_who_may_not_install(system: System, log: Path) -> None:
    result = system(installed=[NEEDED[1], *NEEDED[3:]], uid=1000)
    assert result.returncode == 1
    assert "needs root or sudo, got user someone and no sudo" in result.stderr
    assert "apt-get install --no-install-recommends verilator qflow-tech-osu035\n" in result.stderr
    assert "SYSTEM=skip" in result.stderr
    assert not log.exists()


def test_system_rejects_packages_that_cannot_be_installed(system: System) -> None:
    result = system(installed=NEEDED[1:], apt='[ "$2" = update ]')
    assert result.returncode == 1
    assert "apt-get could not install them" in result.stderr


def test_system_rejects_a_machine_that_is_not_debian(fakes: Path, repository: Path) -> None:
    result = subprocess.run(
        [str(repository / "setup" / "system.sh")],
        env={"PATH": str(fakes)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "needs Debian or Ubuntu" in result.stderr
    assert "verilator qflow-tech-osu018" in result.stderr


def test_system_can_be_skipped(system: System, log: Path) -> None:
    result = system(installed=[], SYSTEM="skip")
    assert result.returncode == 0
    assert result.stdout == "system packages: skipped (SYSTEM=skip)\n"
    assert not log.exists()


@pytest.fixture
def checkout(tmp_path: Path, repository: Path) -> Path:
    """A copy of what venv.sh reads, in a folder with a space in its name."""
    folder = tmp_path / "a check out"
    (folder / "setup").mkdir(parents=True)
    for name in ("requirements.txt", "pyproject.toml", "setup/venv.sh"):
        shutil.copy(repository / name, folder / name)
    return folder


def _venv(checkout: Path, python: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(checkout / "setup" / "venv.sh")],
        env={**os.environ, "PYTHON": python},
        capture_output=True,
        text=True,
        check=False,
    )


def _play_python(path: Path, log: Path, version: str) -> None:
    """An interpreter that has a version, copies itself as an environment, and notes pip's work."""
    minor = int(version.split(".")[1])
    _executable(
        path,
        'case "$*" in\n'
        f"*print*) echo {version};;\n"
        f'*"(3, 11)"*) exit {int(minor < 11)};;\n'
        f'"-c import sys, pip"*) [ "$3" = {version} ];;\n'
        f'"-m venv"*) echo "venv" >> "{log}"; mkdir -p .venv/bin; cp "$0" .venv/bin/python;;\n'
        f'"-m pip"*) shift 3; echo "pip $*" >> "{log}";;\n'
        "esac",
    )


def test_venv_installs_torch_first_and_then_the_lock_without_resolving(
    checkout: Path, tmp_path: Path, log: Path
) -> None:
    _play_python(tmp_path / "python", log, "3.11")
    result = _venv(checkout, str(tmp_path / "python"))
    assert result.returncode == 0, result.stderr
    assert log.read_text().splitlines() == [
        "venv",
        "pip install -q -c requirements.txt pip setuptools",
        "pip install -q --no-compile -c requirements.txt torch",
        "pip install -q --no-compile --no-deps --no-build-isolation -r requirements.txt",
        "pip install -qq --no-deps --no-build-isolation -e .",
        "pip install -q --no-deps --target .venv/antlr-4.13 --upgrade antlr4-python3-runtime==4.13.2",
        "pip check",
    ]


def test_venv_does_nothing_until_a_requirement_changes(checkout: Path, tmp_path: Path, log: Path) -> None:
    _play_python(tmp_path / "python", log, "3.11")
    _venv(checkout, str(tmp_path / "python"))
    log.unlink()
    again = _venv(checkout, str(tmp_path / "python"))
    assert again.stdout == "virtual environment: .venv is up to date\n"
    assert not log.exists()
    with (checkout / "requirements.txt").open("a") as stream:
        stream.write("extra==1.0\n")
    assert _venv(checkout, str(tmp_path / "python")).returncode == 0
    assert "venv" not in log.read_text().splitlines(), "a sound environment is kept"
    assert "pip check" in log.read_text()


def test_venv_is_made_again_after_the_checkout_moved(checkout: Path, tmp_path: Path, log: Path) -> None:
    _play_python(tmp_path / "python", log, "3.11")
    _venv(checkout, str(tmp_path / "python"))
    log.unlink()
    moved = checkout.rename(tmp_path / "elsewhere")
    assert _venv(moved, str(tmp_path / "python")).returncode == 0
    assert "pip check" in log.read_text()


def test_venv_starts_anew_for_another_python(checkout: Path, tmp_path: Path, log: Path) -> None:
    for version in ("3.11", "3.12"):
        _play_python(tmp_path / f"python{version}", log, version)
    _venv(checkout, str(tmp_path / "python3.11"))
    (checkout / "requirements.txt").write_text("extra==1.0\n")
    log.unlink()
    _venv(checkout, str(tmp_path / "python3.12"))
    assert log.read_text().splitlines()[0] == "venv"


def test_venv_rejects_an_old_python(checkout: Path, tmp_path: Path, log: Path) -> None:
    _play_python(tmp_path / "python", log, "3.9")
    result = _venv(checkout, str(tmp_path / "python"))
    assert result.returncode == 1
    assert "Python must be 3.11 or newer, got 3.9" in result.stderr
    assert "make PYTHON=/path/to/python3.11" in result.stderr
    assert not log.exists()


def test_venv_rejects_what_is_no_python(checkout: Path) -> None:
    result = _venv(checkout, "no-such-python")
    assert result.returncode == 1
    assert "PYTHON must be a Python interpreter, got no-such-python" in result.stderr
