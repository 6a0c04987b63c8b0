"""The comparison of tables of two machines, and what the script of Debian 13 refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def _compare(repository: Path, one: Path, other: Path) -> subprocess.CompletedProcess[str]:
    script = repository / "tests" / "machines" / "compare_tables.py"
    command = [sys.executable, str(script), str(one), str(other)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two machines with two tables each, whose tools have other versions."""
    for name, version in (("one", "1"), ("other", "2")):
        (tmp_path / name).mkdir()
        rows = {"tool_version": [version, "0"], "power_mw": [0.1, float("nan")]}
        pq.write_table(pa.table(rows), tmp_path / name / "labels.parquet")
        pq.write_table(pa.table({"name": ["scale"]}), tmp_path / name / "programs.parquet")
    return tmp_path / "one", tmp_path / "other"


def test_versions_of_tools_may_differ(repository: Path, folders: tuple[Path, Path]) -> None:
    result = _compare(repository, *folders)
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        "1 of 2 table files are equal byte by byte",
        "labels.parquet: tool_version: 1 of 2 rows, first 1 against 2",
    ]


def test_values_may_not_differ(repository: Path, folders: tuple[Path, Path]) -> None:
    rows = {"tool_version": ["2", "0"], "power_mw": [0.1 + 2**-56, float("nan")]}
    pq.write_table(pa.table(rows), folders[1] / "labels.parquet")
    result = _compare(repository, *folders)
    assert result.returncode == 1
    assert "labels.parquet: power_mw: 1 of 2 rows, first 0.1 against 0.10000000000000002" in result.stdout


def test_a_missing_file_is_a_difference(repository: Path, folders: tuple[Path, Path]) -> None:
    (folders[1] / "programs.parquet").unlink()
    result = _compare(repository, *folders)
    assert result.returncode == 1
    assert "programs.parquet: in one of the folders alone" in result.stdout


def test_the_script_of_debian_13_rejects_a_missing_folder(repository: Path) -> None:
    script = repository / "tests" / "machines" / "debian13.sh"
    result = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == ("debian13: no folder; accepted: FOLDER [--tables REFERENCE] [-- COMMAND ...]\n")
