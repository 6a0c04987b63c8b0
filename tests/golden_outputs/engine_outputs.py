"""Recorded result values of an engine and the constant that states their version."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from golden_files import compare_with_golden
from value_hash import value_hash

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "tests" / "golden" / "outputs"

Output = tuple[str, object]
"""Name of an input and the result values of the engine for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """Where an engine writes.

    Attributes: scratch: empty and private; runtimes, engines: compiled programs that all tests share.
    """

    scratch: Path
    runtimes: Path
    engines: Path


def outcome(call: Callable[[], object]) -> object:
    """The values of a call, or that its input was rejected."""
    try:
        return call()
    except (ValueError, RuntimeError):
        return "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An engine whose results are recorded.

    Attributes:
        package: folder of its code, relative to the root.
        constants: names of its version constants, each `name` in a module of the package or `path:name`.
        outputs: results for all inputs.
        variant: suffix of its record, where results differ between versions of its tool.
        installed: whether its tool is installed; if not, its test is skipped.
    """

    name: str
    package: str
    constants: tuple[str, ...] = ("_VERSION",)
    outputs: Callable[[Folders], Iterator[Output]]
    variant: Callable[[], str] = lambda: ""
    installed: Callable[[], bool] = lambda: True


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionConstant:
    """A constant: its name, the file that has it, and its value."""

    name: str
    file: Path
    value: str


def version_constants(engine: Engine, root: Path = ROOT) -> tuple[VersionConstant, ...]:
    """The version constants of an engine, read from its text, so that a moved one is found.

    Raises: LookupError: a constant is missing, or several modules have it.
    """
    return tuple(_constant(engine, constant, root) for constant in engine.constants)


def _constant(engine: Engine, constant: str, root: Path) -> VersionConstant:
    path, _, name = constant.rpartition(":")
    place = root / (path or engine.package)
    files = [place] if place.is_file() else sorted(place.rglob("*.py"), key=lambda p: (len(p.parts), p))
    constants = [c for file in files if (c := _constant_of(file, name)) is not None]
    nearest = [c for c in constants if len(c.file.parts) == len(constants[0].file.parts)]
    if len(nearest) != 1:
        places = ", ".join(str(c.file.relative_to(root)) for c in nearest) or "none"
        raise LookupError(
            f"modules of {place.relative_to(root)} with a constant {name}: {places}; accepted: one"
        )
    return nearest[0]


def _constant_of(path: Path, name: str) -> VersionConstant | None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            try:
                value = ast.literal_eval(node.value)
            except (ValueError, RuntimeError):
                return None
            parts = value.values() if isinstance(value, dict) else value
            text = value if isinstance(value, str) else " ".join(parts)
            return VersionConstant(name=name, file=path, value=text)
    return None


def check_outputs(
    engine: Engine, outputs: Mapping[str, str], *, update: bool, records: Path = RECORDS, root: Path = ROOT
) -> None:
    """Fail unless an engine's results are the recorded ones; write them instead when updating.

    Results of a recorded input that changed while the version did not are refused also when updating.
    """
    constants = version_constants(engine, root)
    version = " ".join(c.value for c in constants)
    record = records / f"{engine.name}{engine.variant()}.json"
    recorded = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    rerun = f"pytest tests/golden_outputs -k '{engine.name}' --update-golden"
    known = recorded.get("outputs", {})
    changed = [name for name, value in outputs.items() if known.get(name, value) != value]
    places = " or ".join(f"{c.name} in {c.file.relative_to(root)}" for c in constants)
    if changed and version == recorded["version"]:
        pytest.fail(
            f"results of {engine.name} changed for {len(changed)} of {len(known)} inputs "
            f"({', '.join(changed[:5])}) but not its version: raise {places}, then {rerun}. "
            "An input that was edited needs a new name instead",
            pytrace=False,
        )
    if recorded and version != recorded["version"] and not update:
        pytest.fail(
            f"the version of {engine.name} changed ({places}): record its results with {rerun}", False
        )
    text = json.dumps({"version": version, "outputs": dict(sorted(outputs.items()))}, indent=1)
    compare_with_golden(record, f"{text}\n", update=update, rerun=rerun)


def hashed_outputs(engine: Engine, folders: Folders) -> dict[str, str]:
    """Hash of the result values for every input.

    Raises: ValueError: two inputs have one name.
    """
    hashes: dict[str, str] = {}
    for name, value in engine.outputs(folders):
        if name in hashes:
            raise ValueError(f"inputs of {engine.name} with one name: {name}")
        hashes[name] = value_hash(value)
    return hashes
