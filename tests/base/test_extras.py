"""Who reads releases or asks for predictions installs a tenth, and it is enough."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from extras import BASE, closure, extras, installed_bytes

SHARE = 0.1
BLOCKED = """
import sys
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions
allowed = set({allowed!r})
class Installed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        owners = owned.get(name.split(".")[0], [])
        if owners and not allowed & {{owner.lower().replace("_", "-") for owner in owners}}:
            return None
        return PathFinder.find_spec(name, path, target)
owned = packages_distributions()
sys.meta_path[sys.meta_path.index(PathFinder)] = Installed
import simfoundry as sf
"""
READING = "print(sf.release({folder!r}).arrow('pragma_designs').num_rows)"
ASKING = """
source = "void scale(int x[8]) { for (int i = 0; i < 8; i++) x[i] = 3 * x[i]; }"
answer = sf.predict(source + chr(10), "scale")
print(answer["version"], answer["release"], answer["level"], answer["intervals"].split(";")[0])
print(answer["area_um2_low"] < answer["area_um2"] < answer["area_um2_high"])
print(answer["engine_reason"])
"""


def _run(extra: str, script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    allowed = sorted(closure(extras()[extra]) | {"simfoundry"})
    return subprocess.run(
        [sys.executable, "-c", BLOCKED.format(allowed=allowed) + script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize("extra", [BASE, "predict"])
def test_an_extra_is_a_tenth_of_the_foundry(extra: str) -> None:
    requirements = (extras()[extra], extras()["foundry"] + extras()["circt"])
    part, whole = (sum(map(installed_bytes, closure(lines))) for lines in requirements)
    assert part <= SHARE * whole


def test_tools_of_developers_are_no_run_time_dependencies() -> None:
    tools = {"pytest", "ruff", "pyright", "hypothesis", "playwright", "nbclient", "import-linter"}
    assert not tools & {r.name for r in extras()["foundry"]}
    assert tools <= {r.name for r in extras()["dev"]}


def test_a_release_is_read_with_the_base_alone(repository: Path, tmp_path: Path) -> None:
    result = _run(BASE, READING.format(folder=str(repository / "releases" / "pragmas-v1")), tmp_path)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 4000


def test_a_prediction_is_given_with_its_extra_alone(
    project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(project_folder))
    result = _run("predict", ASKING, project_folder)
    assert result.returncode == 0, result.stderr
    said, inside, engine = result.stdout.splitlines()
    assert said == "shipped releases/v2 static made for 90% of labels"
    assert inside == "True"
    assert "the extra `foundry` has it" in engine


def test_a_prediction_of_another_model_says_what_is_missing(
    project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(project_folder))
    result = _run("predict", ASKING.replace('"scale")', '"scale", model="tlp@candidate")'), project_folder)
    assert "no model registry: MLflow is not installed" in result.stderr


@pytest.fixture
def project_folder(tmp_path: Path) -> Path:
    """A project without a registry."""
    for name in ("dvc.yaml", "workspace.yaml"):
        (tmp_path / name).touch()
    return tmp_path
