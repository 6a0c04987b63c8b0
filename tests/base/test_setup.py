"""The set-up scripts: when all is there, when something is missing, and who may install.

apt-get, apt-cache, dpkg, dpkg-query, id and sudo are played by small scripts on a PATH of our own; nothing is
installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

CELLS = ["qflow-tech-osu018", "qflow-tech-osu035", "qflow-tech-osu050"]
NEEDED = ["verilator", "opensta", "yosys", "iverilog", "g++", "gcc", "make"]
NEEDED += ["bubblewrap", "python3-venv", "git", *CELLS]
REAL = ("bash", "env", "grep", "cat", "dirname", "sha256sum", "rm", "head", "mktemp", "mkdir")
MIRROR = "http://mirror/debian/"

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
def scripts(tmp_path: Path, repository: Path) -> Path:
    """A copy of the scripts, so that what they unpack is not in the checkout."""
    folder = tmp_path / "a check out" / "setup"
    folder.mkdir(parents=True)
    for name in (
        "system.sh",
        "liberty.sh",
        "venv.sh",
        "antlr.txt",
        "language_model.sh",
        "language_model.txt",
    ):
        shutil.copy(repository / "setup" / name, folder / name)
    return folder


@pytest.fixture
def system(fakes: Path, log: Path, scripts: Path) -> System:
    def run(
        *,
        installed: list[str],
        uid: int = 0,
        sudo: bool = False,
        known: bool = True,
        mirror: str = MIRROR,
        **variables: str,
    ):
        listing = "".join(f"installed {name}\\n" for name in installed)
        absent = len(installed) < len(NEEDED)
        _executable(fakes / "dpkg-query", f"printf '{listing}'; exit {int(absent)}")
        # The package lists: where they are from, and whether they have the standard cells.
        lists = f"""case "$*" in
            *Label*) echo "{mirror}"; exit;;
            *indextargets) echo main; exit;;
        esac"""
        apt = f"""case "$*" in
            *"update") grep . "${{3#*=}}" >> "{log}";;
            *"download"*) echo "apt-get download ${{*: -3}}" >> "{log}"; echo > cells.deb;;
            *) echo "apt-get $*" >> "{log}";;
        esac"""
        apt = apt if not known else f'echo "apt-get $*" >> "{log}"; {variables.pop("apt", "")}'
        _executable(fakes / "apt-get", f"{lists}\n{apt}")
        _executable(fakes / "apt-cache", f"exit {int(not known)}")
        _executable(fakes / "dpkg", 'mkdir -p "$3/usr/share"')
        _executable(fakes / "id", f"[ $1 = -u ] && echo {uid} || echo someone")
        if sudo:
            _executable(fakes / "sudo", f'echo "sudo" >> "{log}"; exec "$@"')
        return subprocess.run(
            [str(scripts / "system.sh")],
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
    result = system(installed=[p for p in NEEDED if p not in ("verilator", CELLS[1])], uid=1000)
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
    assert "needed: verilator opensta" in result.stderr


def test_system_can_be_skipped(system: System, log: Path) -> None:
    result = system(installed=[], SYSTEM="skip")
    assert result.returncode == 0
    assert result.stdout == "system packages: skipped (SYSTEM=skip)\n"
    assert not log.exists()


def test_system_unpacks_cells_of_debian_12_where_the_release_has_none(
    system: System, scripts: Path, log: Path
) -> None:
    result = system(installed=NEEDED[1:-3], known=False)
    assert result.returncode == 0, result.stderr
    assert log.read_text().splitlines() == [
        f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {MIRROR} bookworm main",
        f"apt-get download {' '.join(CELLS)}",
        "apt-get -q install -y --no-install-recommends verilator",
    ]
    assert (scripts.parent / ".setup" / "liberty" / "usr").is_dir()
    log.unlink()
    again = system(installed=NEEDED[:-3], known=False)
    assert again.stdout == "system packages: all 10 already there\n"
    assert not log.exists()


def test_system_needs_no_root_to_unpack_cells(system: System) -> None:
    result = system(installed=NEEDED[:-3], known=False, uid=1000)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "system packages: all others already there"


def test_system_rejects_a_release_without_cells_and_without_a_mirror_of_debian(
    system: System, log: Path
) -> None:
    result = system(installed=NEEDED[:-3], known=False, mirror="")
    assert result.returncode == 1
    assert result.stderr == (
        "liberty files: this release has no package qflow-tech-osu018 and no mirror of Debian; "
        "SYSTEM=skip needs *_stdcells.lib of these packages below .setup/liberty\n"
    )


@pytest.fixture
def checkout(scripts: Path, repository: Path) -> Path:
    """A copy of what venv.sh reads, in a folder with a space in its name."""
    folder = scripts.parent
    for name in ("requirements.txt", "requirements.hashed.txt", "pyproject.toml"):
        shutil.copy(repository / name, folder / name)
    return folder


def _venv(checkout: Path, python: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(checkout / "setup" / "venv.sh")],
        env={**os.environ, "PYTHON": python, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


QUIET = "--no-compile --progress-bar off"
LAST = (
    "pip install -qq --no-deps --no-build-isolation -e .",
    "pip install -q --no-deps --target .venv/antlr-4.13 --upgrade --require-hashes -r setup/antlr.txt",
    "pip check",
)


def _play_python(path: Path, log: Path, version: str, pip: str = "", imports: str = "") -> None:
    """An interpreter that has a version, copies itself as an environment, and notes pip's work."""
    minor = int(version.split(".")[1])
    _executable(
        path,
        'case "$*" in\n'
        f"*print*) echo {version};;\n"
        f'*"(3, 11)"*) exit {int(not 11 <= minor <= 13)};;\n'
        f'"-c import sys, pip"*) [ "$3" = {version} ];;\n'
        f'"-m venv"*) echo "venv" >> "{log}"; mkdir -p .venv/bin; cp "$0" .venv/bin/python;;\n'
        f'"-W ignore"*) echo "compile" >> "{log}.compiled"; {imports};;\n'
        f'"-m pip"*) shift 3; echo "pip $*" >> "{log}"; {pip};;\n'
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
        f"pip install {QUIET} -c requirements.txt torch",
        f"pip install {QUIET} --no-deps --no-build-isolation -r requirements.txt",
        *LAST,
    ]
    assert len(Path(f"{log}.compiled").read_text().splitlines()) == 3, "torch, the rest of learning, Dagster"


def test_venv_with_hashes_installs_nothing_without_one(checkout: Path, tmp_path: Path, log: Path) -> None:
    _play_python(tmp_path / "python", log, "3.13")
    result = _venv(checkout, str(tmp_path / "python"), HASHED="1")
    assert result.returncode == 0, result.stderr
    assert log.read_text().splitlines() == [
        "venv",
        "pip install -q --no-deps --require-hashes -r .venv/first.txt",
        f"pip install {QUIET} --no-deps --require-hashes --no-build-isolation -r requirements.hashed.txt",
        *LAST,
    ]
    first = (checkout / ".venv" / "first.txt").read_text().splitlines()
    assert [line.split("==")[0] for line in first] == ["pip", "setuptools"]
    assert "installing requirements.txt" in _venv(checkout, str(tmp_path / "python")).stdout


def test_language_model_is_installed_once_and_by_hash(checkout: Path, log: Path) -> None:
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    _play_python(python, log, "3.11", pip="mkdir -p .venv/language-model")
    script = [str(checkout / "setup" / "language_model.sh")]
    assert "ready" in subprocess.run(script, check=True, capture_output=True, text=True).stdout
    assert "up to date" in subprocess.run(script, check=True, capture_output=True, text=True).stdout
    [line] = log.read_text().splitlines()
    assert "install -q --no-deps --no-compile --only-binary :all: --require-hashes" in line
    assert line.endswith("--target .venv/language-model -r setup/language_model.txt")


def test_language_model_whose_packages_cannot_be_installed_fails(checkout: Path, log: Path) -> None:
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    _play_python(python, log, "3.11", pip="exit 1")
    result = subprocess.run(
        [str(checkout / "setup" / "language_model.sh")], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert "pip could not install setup/language_model.txt" in result.stderr
    assert not (checkout / ".venv" / "language-model").exists()


def test_venv_shows_what_pip_does(checkout: Path, tmp_path: Path, log: Path) -> None:
    pip = 'case "$*" in *requirements.txt) echo Collecting numpy==2.0; echo Collecting polars==2.0;; esac'
    _play_python(tmp_path / "python", log, "3.11", pip=pip)
    (checkout / "requirements.txt").write_text("numpy==2.0\npolars==2.0\n")
    result = _venv(checkout, str(tmp_path / "python"))
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert any(line.endswith("2 packages found, 0 in .venv: Collecting polars==2.0") for line in lines)
    assert not any(line.startswith("Collecting") for line in lines)


def test_venv_gives_the_words_of_a_pip_that_fails(checkout: Path, tmp_path: Path, log: Path) -> None:
    _play_python(tmp_path / "python", log, "3.11", pip='case "$*" in *torch) echo no wheel; exit 1;; esac')
    result = _venv(checkout, str(tmp_path / "python"))
    assert result.returncode == 1
    assert result.stderr == "no wheel\nvirtual environment: pip could not install requirements.txt\n"


def test_venv_fails_where_a_package_cannot_be_imported(checkout: Path, tmp_path: Path, log: Path) -> None:
    _play_python(tmp_path / "python", log, "3.11", imports="exit 1")
    assert _venv(checkout, str(tmp_path / "python")).returncode == 1
    assert "pip check" not in log.read_text()


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
    assert "Python must be 3.11, 3.12 or 3.13, got 3.9" in result.stderr
    assert "make PYTHON=/path/to/python3.11" in result.stderr
    assert not log.exists()


def test_venv_rejects_what_is_no_python(checkout: Path) -> None:
    result = _venv(checkout, "no-such-python")
    assert result.returncode == 1
    assert "PYTHON must be a Python interpreter, got no-such-python" in result.stderr
