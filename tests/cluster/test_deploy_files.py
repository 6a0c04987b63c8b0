"""Files of deploy/: what they name is there, settings are those of a team, secrets have no default."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

from assets.deployments import MLFLOW_PORT
from simfoundry.commands.team import DATABASES, Ports, Secrets, Team
from simfoundry.commands.team_servers import BUCKET

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
SECRETS = ("SIMFOUNDRY_POSTGRES_PASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, dict):
        for value in content.values():
            yield from _texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value)
    else:
        yield str(content)


def test_services_name_files_volumes_and_services_that_are_there(compose: Any) -> None:
    for name, service in compose["services"].items():
        assert service.get("image"), name
        for mount in service.get("volumes", ()):
            source = mount.partition(":")[0]
            assert (DEPLOY / source).is_file() if source.startswith("./") else source in compose["volumes"]
        assert set(service.get("depends_on", ())) <= set(compose["services"])
        if build := service.get("build"):
            assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()


def test_commands_of_services_are_installed(compose: Any) -> None:
    scripts = {script.name for script in entry_points(group="console_scripts")}
    for service in compose["services"].values():
        if "build" in service:
            program, *words = service["command"]
            is_file = (ROOT / program).is_file()
            assert (
                program in scripts or program == Path(sys.executable).name or program == "python" or is_file
            )
            assert "-m" not in words or words[words.index("-m") + 1] == "simfoundry.commands.dagster_ui"


def test_secrets_and_addresses_have_no_default(compose: Any) -> None:
    variables = [v for text in _texts(compose) for v in re.findall(r"\$\{([^}]*)\}", text)]
    assert {variable.rstrip(":?") for variable in variables} == {"TEAM_ADDRESS", *SECRETS}
    assert all(variable.endswith(":?") for variable in variables)


def test_services_have_the_variables_of_a_team(compose: Any, tmp_path: Path) -> None:
    team = Team(folder=tmp_path, project=ROOT, ports=Ports(), secrets=Secrets(password="", key="", secret=""))
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    in_image = set(re.findall(r"(\w+)=\S", dockerfile.partition("\nENV ")[2].partition("\nVOLUME")[0]))
    environment = set(compose["x-foundry"]["environment"])
    assert in_image | environment >= {*team.variables, *team.choices}
    assert compose["x-foundry"]["environment"]["SIMFOUNDRY_STORE"] == team.variables["SIMFOUNDRY_STORE"]
    created = re.findall(r"CREATE DATABASE (\w+);", (DEPLOY / "databases.sql").read_text())
    assert tuple(created) == DATABASES
    assert compose["services"]["bucket"]["command"][-1].endswith(f"/{BUCKET}")
    [location] = yaml.safe_load((DEPLOY / "workspace.yaml").read_text())["load_from"]
    team.write_files()
    [own] = yaml.safe_load((team.home / "workspace.yaml").read_text())["load_from"]
    assert location == own
    assert f"--port={MLFLOW_PORT}" in compose["services"]["mlflow"]["command"]


def test_dagster_reads_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from dagster._core.instance.config import dagster_instance_config

    shutil.copy(DEPLOY / "dagster.yaml", tmp_path / "dagster.yaml")
    named = re.findall(r"env: (\w+)", (DEPLOY / "dagster.yaml").read_text())
    for name in named:
        monkeypatch.setenv(name, "5432")
    content, _ = dagster_instance_config(str(tmp_path))
    assert content["storage"]["postgres"]["postgres_db"]["db_name"] in DATABASES


@pytest.mark.parametrize("script", ["ray.sbatch", "code.sh"])
def test_scripts_are_bash(script: str) -> None:
    text = (DEPLOY / script).read_text()
    assert text.startswith("#!/bin/bash\n")
    assert "set -euo pipefail" in text
    subprocess.run(["bash", "-n", str(DEPLOY / script)], check=True)


def test_the_image_is_built_from_what_is_there() -> None:
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    instructions = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    assert instructions[0][0] == "FROM"
    for word, rest in instructions:
        assert word in ("FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "VOLUME", "CMD")
        if word == "COPY":
            assert (ROOT / rest.split()[0]).exists()
        for script in re.findall(r"setup/\w+\.sh", rest):
            assert (ROOT / script).is_file()
    assert [rest for word, rest in instructions if word == "USER"] == ["10001"]
