"""Programs that are compiled once: found again whole, compiled again when damaged."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from pipelines.base.sealing import build_once


def compiler(log: list[Path]):
    def build(folder: Path) -> Path:
        log.append(folder)
        program = folder / "program"
        program.write_bytes(b"#!/bin/true\n")
        program.chmod(0o755)
        return program

    return build


def test_a_program_is_built_once_and_stays_executable(tmp_path: Path) -> None:
    builds: list[Path] = []
    first = build_once(tmp_path / "engines", "simulator-1", compiler(builds))
    assert build_once(tmp_path / "engines", "simulator-1", compiler(builds)) == first
    assert len(builds) == 1
    assert first.stat().st_mode & stat.S_IXUSR
    assert [path.name for path in (tmp_path / "engines").iterdir()] == [first.name]


def test_a_damaged_program_is_said_and_built_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    builds: list[Path] = []
    first = build_once(tmp_path, "simulator-1", compiler(builds))
    whole = first.read_bytes()
    first.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    again = build_once(tmp_path, "simulator-1", compiler(builds))
    assert again.read_bytes() == whole
    assert len(builds) == 2
    assert caplog.messages == [f"damaged file, made again: {first} (its content does not have its hash)"]


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> Path:
        (folder / "half").write_bytes(b"1")
        raise ValueError("no compiler")

    with pytest.raises(ValueError, match="no compiler"):
        build_once(tmp_path, "simulator-1", fail)
    assert list(tmp_path.iterdir()) == []
