"""Requirements: everything imported is declared, everything declared is locked, torch is exact."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from extras import extras
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = {"pipelines", "models", "assets", "conf", "simfoundry", "tests"}


def _requirements(path: Path) -> dict[str, Requirement]:
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    parsed = (Requirement(line) for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(r.name): r for r in parsed}


@pytest.fixture(scope="module")
def declared() -> dict[str, Requirement]:
    return {canonicalize_name(r.name): r for name in ("base", "foundry", "dev") for r in extras()[name]}


@pytest.fixture(scope="module")
def locked(repository: Path) -> dict[str, Requirement]:
    return _requirements(repository / "requirements.txt")


def test_every_declared_package_is_locked_at_a_version_that_fits(
    declared: dict[str, Requirement], locked: dict[str, Requirement]
) -> None:
    for name, wanted in declared.items():
        (exact,) = locked[name].specifier
        assert exact.operator == "=="
        assert wanted.specifier.contains(exact.version), f"{wanted} against {locked[name]}"


def test_the_lock_is_exact_and_free_of_local_builds(locked: dict[str, Requirement]) -> None:
    for requirement in locked.values():
        assert re.fullmatch(r"==[^+*,]+", str(requirement.specifier)), str(requirement)
        assert requirement.url is None
    assert str(locked["torch"].specifier) == "==2.13.0"


def test_the_lock_names_circt_per_version_of_python_as_its_extra_does(repository: Path) -> None:
    lines = (repository / "requirements.txt").read_text(encoding="utf-8").splitlines()
    extra = (repository / "setup" / "extras" / "circt.in").read_text(encoding="utf-8").splitlines()
    assert sorted(line for line in lines if line.startswith("circt==")) == sorted(
        line for line in extra if not line.startswith("#")
    )


def test_the_lock_with_hashes_is_the_lock(repository: Path) -> None:
    lines = (repository / "requirements.hashed.txt").read_text(encoding="utf-8").splitlines()
    hashed = {line.partition(" --hash")[0]: line for line in lines if not line.startswith("#")}
    assert all(re.search(r"( --hash=sha256:[0-9a-f]{64})+$", line) for line in hashed.values())
    plain = (repository / "requirements.txt").read_text(encoding="utf-8").splitlines()
    exact = {str(Requirement(line)) for line in plain if not line.startswith("#")}
    assert not exact - {str(Requirement(text)) for text in hashed}
    others = {text for text in hashed if str(Requirement(text)) not in exact}
    assert all(re.match(r"(nvidia|cuda)-|triton==", text) for text in others)


def test_requirement_files_name_no_index_and_no_place(repository: Path) -> None:
    files = [
        repository / name
        for name in ("requirements.in", "requirements.txt", "requirements.hashed.txt", "pyproject.toml")
    ]
    for name in (*files, *(repository / "setup" / "extras").glob("*.in")):
        text = name.read_text(encoding="utf-8")
        assert not re.search(r"https?://|file:|--(extra-)?index-url|--find-links", text), name


@pytest.mark.slow
def test_everything_imported_is_declared(repository: Path, declared: dict[str, Requirement]) -> None:
    known = packages_distributions()
    ours = OURS | {path.stem for path in (repository / "tests").rglob("*.py")}
    optional = {canonicalize_name(r.name) for lines in extras().values() for r in lines}
    missing: set[str] = set()
    for room in ("pipelines", "models", "assets", "simfoundry", "tests"):
        for path in (repository / room).rglob("*.py"):
            for module in _top_level_imports(path) - ours - sys.stdlib_module_names:
                owners = {canonicalize_name(d) for d in known.get(module, [module])}
                if not owners & {*declared, *optional}:
                    missing.add(f"{path.relative_to(repository)} imports {module}")
    assert not sorted(missing), "declare in requirements.in or setup/extras/dev.in, then make lock"


def _top_level_imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names
