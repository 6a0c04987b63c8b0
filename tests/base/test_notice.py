"""NOTICE states the licence of every locked package, as the installed packages do."""

from __future__ import annotations

import re
import runpy
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest


@pytest.fixture
def stated(repository: Path) -> dict[str, str]:
    lines = (repository / "NOTICE").read_text(encoding="utf-8").splitlines()
    return dict(line.strip().split(": ", 1) for line in lines if line.startswith("  "))


def test_notice_is_what_the_lock_and_the_installed_packages_say(
    repository: Path, stated: dict[str, str]
) -> None:
    script = runpy.run_path(str(repository / "setup" / "notice.py"))
    assert sorted(script["locked_names"]()) == sorted(stated)
    for name, licence in stated.items():
        try:
            assert script["stated_licence"](name) == licence, "run setup/notice.py"
        except PackageNotFoundError:
            assert name == "circt", "only CIRCT has no wheel for some versions of Python"


def test_notice_groups_the_licences_with_duties(repository: Path) -> None:
    text = (repository / "NOTICE").read_text(encoding="utf-8")
    groups = {
        part.splitlines()[0].strip(): re.findall(r"^  (\S+):", part, re.MULTILINE)
        for part in re.split(r"\n(?=\S.*:\n\n)", text)
    }
    assert groups["GNU General Public License:"] == ["grandalf", "pygit2"]
    assert "da4ml" in groups["GNU Lesser General Public License:"]
    assert groups["No licence stated in the metadata:"] == ["circt", "huey"]


def test_the_licence_names_its_owner(repository: Path) -> None:
    text = (repository / "LICENSE").read_text(encoding="utf-8")
    assert "   Copyright 2026 The Simfoundry authors\n" in text
    assert "[yyyy]" not in text
