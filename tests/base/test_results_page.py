"""The page of measured figures: every script that it names exists, and no placeholder is left."""

from __future__ import annotations

import re
from pathlib import Path

from models.catalogue import predictors
from simfoundry.cli import simfoundry


def test_commands_of_the_results_exist(repository: Path) -> None:
    text = (repository / "docs" / "results.md").read_text()
    assert re.findall(r"^[A-Z_]{4,}$", text, re.MULTILINE) == []
    files = set(re.findall(r"tests/[\w/]+\.py", text))
    files |= {name.replace(".", "/") + ".py" for name in re.findall(r"-m (tests\.[\w.]+)", text)}
    assert [name for name in sorted(files) if not (repository / name).is_file()] == []
    assert set(re.findall(r"bin/simfoundry (\w+)", text)) <= set(simfoundry.commands)
    assert set(re.findall(r"simfoundry train ([\w-]+)", text)) <= {spec.name for spec in predictors()}
