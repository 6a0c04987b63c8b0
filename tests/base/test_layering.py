"""Imports go from simfoundry to assets to models to pipelines and never back, and engines stay pure.

The contracts themselves stand in pyproject.toml; here they are run, and run against code that
breaks them, so that a contract which cannot fail is noticed.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

CLOCKS = {"time", "datetime"}
SHARED_BY_ENGINES = {"base", "c", "schemas"}
_SIDES = ("layers", "source_modules", "forbidden_modules")
GROUPS = {"dataset", "rtl", "silicon"}


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def lint_tree(tmp_path: Path, repository: Path) -> Iterator[object]:
    """Run our contracts over a tree of files given as {path: text}."""

    def lint(files: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        config = (repository / "pyproject.toml").read_text(encoding="utf-8")
        for module, text in _named_modules(config).items():
            folder = tmp_path.joinpath(*module.split("."))
            folder.mkdir(parents=True, exist_ok=True)
            for parent in (folder, *folder.parents)[: module.count(".") + 1]:
                (parent / "__init__.py").touch()
            (folder / "__init__.py").write_text(text)
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        (tmp_path / "pyproject.toml").write_text(config, encoding="utf-8")
        return _lint(tmp_path)

    return lint


def _named_modules(config: str) -> dict[str, str]:
    """Return the text of each module of ours that contracts name: the imports that they ignore."""
    settings = tomllib.loads(config)["tool"]["importlinter"]
    contracts = settings["contracts"]
    named = [m for contract in contracts for key in _SIDES for m in contract.get(key, ())]
    ours = [m for m in named if m.split(".")[0] in settings["root_packages"]]
    ignored = (line.split(" -> ") for contract in contracts for line in contract.get("ignore_imports", ()))
    return dict.fromkeys(ours, "") | {importer: f"import {imported}\n" for importer, imported in ignored}


def test_contracts_hold(repository: Path) -> None:
    result = _lint(repository)
    assert result.returncode == 0, result.stdout + result.stderr


def test_contracts_accept_the_allowed_direction(lint_tree) -> None:
    result = lint_tree(
        {
            "pipelines/engine.py": "import pyarrow\n",
            "models/mlp.py": "import torch\nimport pipelines.engine\n",
            "assets/all.py": "import dagster\nimport models.mlp\nimport pipelines.engine\n",
        }
    )
    assert result.returncode == 0, result.stdout + result.stderr


BREACHES = {
    "pipelines/engine.py imports models": {"pipelines/engine.py": "import models\n"},
    "assets/all.py imports simfoundry": {"assets/all.py": "import simfoundry\n"},
    "pipelines/engine.py imports assets": {"pipelines/engine.py": "import assets\n"},
    "models/mlp.py imports assets": {"models/mlp.py": "import assets\n"},
    "pipelines/engine.py imports torch": {"pipelines/engine.py": "import torch\n"},
    "pipelines/engine.py imports dagster": {"pipelines/engine.py": "from dagster import asset\n"},
    "pipelines/engine.py imports lightning": {"pipelines/engine.py": "import lightning\n"},
    "pipelines/engine.py imports mlflow": {"pipelines/engine.py": "def f():\n    import mlflow\n"},
    "pipelines/engine.py imports hydra": {"pipelines/engine.py": "import hydra\n"},
    "models/mlp.py imports dagster": {"models/mlp.py": "import dagster\n"},
    "models/mlp.py imports hls": {"models/mlp.py": "import pipelines.hls\n"},
    "pipelines/programs/ast.py imports hls through an engine": {
        "pipelines/programs/ast.py": "import pipelines.engine\n",
        "pipelines/engine.py": "from pipelines import hls\n",
    },
}


@pytest.mark.parametrize("files", BREACHES.values(), ids=BREACHES.keys())
def test_contracts_reject_a_breach(lint_tree, files: Mapping[str, str]) -> None:
    result = lint_tree(files)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "BROKEN" in result.stdout


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module, node.lineno


def test_engines_read_no_clock(repository: Path) -> None:
    pipelines = repository / "pipelines"
    found = [
        f"{path.relative_to(repository)}:{line} imports {name}"
        for path in sorted(pipelines.rglob("*.py"))
        if path != pipelines / "base" / "tools.py"
        for name, line in _imports(path)
        if name.split(".")[0] in CLOCKS
    ]
    assert not found, "only pipelines/base/tools.py reads a clock"


@pytest.mark.slow
def test_engines_read_no_environment_and_no_global_randomness(repository: Path) -> None:
    pipelines = repository / "pipelines"
    found = [
        f"{path.relative_to(repository)}:{node.lineno} uses {ast.unparse(node)}"
        for path in sorted(pipelines.rglob("*.py"))
        if path != pipelines / "base" / "tools.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and _is_impure(ast.unparse(node))
    ]
    assert not found


def _is_impure(dotted: str) -> bool:
    if dotted in ("os.environ", "os.getenv"):
        return True
    module, _, name = dotted.rpartition(".")
    return (module == "random" and name != "Random") or (
        module in ("np.random", "numpy.random") and name[0].islower() and name != "default_rng"
    )


@pytest.mark.slow
def test_an_engine_sees_another_only_through_its_package(repository: Path) -> None:
    pipelines = repository / "pipelines"
    found = [
        f"{path.relative_to(repository)}:{line} imports {name}"
        for path in sorted(pipelines.rglob("*.py"))
        for name, line in _imports(path)
        if name.startswith("pipelines.")
        and name.split(".")[1] not in SHARED_BY_ENGINES
        and name.startswith(f"{_engine(name)}.")
        and _engine(name) != _engine(".".join(path.relative_to(repository).with_suffix("").parts))
    ]
    assert not found


def _engine(module: str) -> str:
    """The package of the engine that a module belongs to."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[1] in GROUPS else 2])
