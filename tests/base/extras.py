"""Size of what each extra installs, from the packages of this environment.

.venv/bin/python -m tests.base.extras
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BASE = "base"
SHOWN = (BASE, "predict", "foundry", "dev")


def requirement_lines(path: Path) -> list[Requirement]:
    """Requirements of a file of plain requirements and comment lines."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@cache
def extras() -> dict[str, list[Requirement]]:
    """Requirements by extra; those of everybody are `base`, and part of every other one."""
    files = PROJECT["tool"]["setuptools"]["dynamic"]["optional-dependencies"]
    base = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
    own = {
        name: [r for file in entry["file"] for r in requirement_lines(ROOT / file)]
        for name, entry in files.items()
    }
    return {BASE: base, **{name: [*base, *lines] for name, lines in own.items()}}


def closure(requirements: list[Requirement]) -> set[str]:
    """Distributions that requirements install, each with its own; those that are not here are left out."""
    names: set[str] = set()
    waiting = [(canonicalize_name(r.name), frozenset(r.extras)) for r in requirements]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        name, chosen = one
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        names.add(name)
        for line in map(Requirement, lines):
            environments = [{"extra": extra} for extra in (*chosen, "")]
            if line.marker is None or any(line.marker.evaluate(e) for e in environments):
                waiting.append((canonicalize_name(line.name), frozenset(line.extras)))
    return names


def installed_bytes(name: str) -> int:
    """Bytes of the files of a distribution."""
    files = distribution(name).files or []
    return sum(p.stat().st_size for f in files if (p := Path(str(f.locate()))).is_file())


def main() -> None:
    """Print a table."""
    print("| extra | packages | installed, MB |\n| --- | --- | --- |")
    for name in SHOWN:
        packages = closure(extras()[name])
        print(f"| {name} | {len(packages)} | {sum(map(installed_bytes, packages)) / 1e6:,.0f} |")


if __name__ == "__main__":
    main()
