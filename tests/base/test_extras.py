"""Who reads releases or asks for predictions installs a part, and it is enough."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from extras import BASE, closure, extras, installed_bytes

from assets.errors import extras_of

SHARES = {BASE: 0.16, "predict": 0.2}
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
READING = "print(sf.release({folder!r})['pragma_designs'].collect().height)"
ASKING = """
source = "void scale(int x[8]) { for (int i = 0; i < 8; i++) x[i] = 3 * x[i]; }"
answer = sf.predict(source + chr(10))
print(answer["version"], answer["release"], answer["level"], answer["intervals"].split(";")[0])
print(answer["area_um2_low"] < answer["area_um2"] < answer["area_um2_high"])
print(answer["engine_area_um2"])
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
@pytest.mark.parametrize("extra", SHARES)
def test_an_extra_is_a_part_of_the_foundry(extra: str) -> None:
    requirements = (extras()[extra], extras()["foundry"] + extras()["circt"])
    part, whole = (sum(map(installed_bytes, closure(lines))) for lines in requirements)
    assert part <= SHARES[extra] * whole


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
    assert said == "shipped releases/v2 hls made for 90% of labels"
    assert inside == "True"
    assert float(engine) > 0


def test_a_prediction_of_another_model_says_what_is_missing(
    project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(project_folder))
    result = _run("predict", ASKING.replace("chr(10))", 'chr(10), model="tlp@candidate")'), project_folder)
    assert "no model registry: MLflow is not installed" in result.stderr


COMMANDS = """
from click.testing import CliRunner
from simfoundry.cli import simfoundry
for words in {commands!r}:
    answered = CliRunner().invoke(simfoundry, words.split())
    print(answered.exit_code, repr(answered.stderr))
"""
NEEDS_FOUNDRY = (
    "run",
    "stage programs",
    "label f.c",
    "pragmas f.c",
    "sql FROM_labels",
    "records --lengths",
    "report",
    "models",
    "train tenset-mlp --release r",
    "network --pods 4",
    "power n.onnx",
    "explore n.onnx --budget-mw 1",
    "place n.onnx",
    "simulate d.v --top d --cycles 1",
    "verilate d.v --out model",
    "release v1",
    "import v1",
    "ui",
    "mcp",
)


def test_commands_without_their_extra_name_it_on_one_line(project_folder: Path) -> None:
    asked = (*NEEDS_FOUNDRY, "predict f.c --top f")
    result = _run(BASE, COMMANDS.format(commands=asked), project_folder)
    assert result.returncode == 0, result.stderr
    for words, line in zip(asked, result.stdout.splitlines(), strict=True):
        extra = "predict" if words.startswith("predict") else "foundry"
        said = re.fullmatch(
            rf"1 'simfoundry: \w+ is not installed; the extra `{extra}` has it: "
            rf'pip install "\.\[{extra}\]" in the folder of the project\\n\'',
            line,
        )
        assert said, (words, line)


DOCTOR = """
from pathlib import Path
from assets.deployments import find_deployment
from simfoundry.commands import doctor
doctor._version_of = lambda name: None if name == "duckdb" else "1"
doctor._required_packages = lambda: ["duckdb", "polars"]
print(doctor.in_the_way(doctor.examine(find_deployment(), {"ui --port": 0})))
"""


def test_the_doctor_needs_no_extra(project_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(project_folder))
    result = _run(BASE, DOCTOR, project_folder)
    assert result.stdout == "required and missing: duckdb; to mend it: make venv\n", result.stderr


def test_functions_without_their_extra_name_it(project_folder: Path) -> None:
    result = _run(BASE, "sf.label('void f(int a[4]) { a[0] = 1; }')", project_folder)
    assert "ExtraMissing: " in result.stderr
    assert "the extra `foundry` has it" in result.stderr


def test_every_package_that_is_imported_is_of_a_known_extra(repository: Path) -> None:
    own = {"simfoundry", "assets", "models", "pipelines", "conf"}
    imported = re.compile(r"^ *(?:from|import) (\w+)", re.MULTILINE)
    files = (
        path for room in ("simfoundry", "assets", "models") for path in (repository / room).rglob("*.py")
    )
    modules = {name for path in files for name in imported.findall(path.read_text(encoding="utf-8"))}
    third = {name for name in modules - own - sys.stdlib_module_names if find_spec(name)}
    base = {"click", "filelock", "polars", "pyarrow", "pydantic"}
    assert {"yaml", "torch", "lightning"} <= third
    assert {name for name in third if not extras_of(name)} <= base | TRANSITIVE


TRANSITIVE: set[str] = set()


@pytest.fixture
def project_folder(tmp_path: Path) -> Path:
    """A project without a registry."""
    for name in ("dvc.yaml", "workspace.yaml"):
        (tmp_path / name).touch()
    return tmp_path
