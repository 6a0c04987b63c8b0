"""The citation, the changelog and the package name one version."""

from __future__ import annotations

import datetime
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

KEYS = {
    "abstract": str,
    "authors": list,
    "cff-version": str,
    "date-released": datetime.date,
    "keywords": list,
    "license": str,
    "message": str,
    "title": str,
    "type": str,
    "version": str,
}
"""Keys of the Citation File Format 1.2 that are used here, with their types."""


@pytest.fixture
def citation(repository: Path) -> dict[str, Any]:
    return yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_citation_has_keys_and_types_of_its_format(citation: dict[str, Any]) -> None:
    assert {key: type(value) for key, value in citation.items()} == KEYS
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    assert citation["authors"] == [{"name": "Simfoundry authors"}]


def test_citation_changelog_and_package_name_one_version(citation: dict[str, Any], repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.+)$", changelog, re.MULTILINE)
    assert heads[:2] == ["Unreleased", f"{citation['version']} ({citation['date-released']})"]
    assert project["version"] == citation["version"]
    assert project["license"] == citation["license"]


def test_security_names_the_newest_version(citation: dict[str, Any], repository: Path) -> None:
    text = (repository / "SECURITY.md").read_text(encoding="utf-8")
    assert f"the newest version, {citation['version'].rpartition('.')[0]}." in text
