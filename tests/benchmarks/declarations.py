"""What is declared more than once: tables named in constants, and classes that mirror each other; lines.

    python -m tests.benchmarks.declarations [--root FOLDER] [--record]

A constant counts when it is outside `pipelines/schemas/` and names two tables or more. Two classes mirror
each other when each has six fields or more and the other has 70 % of the smaller one's, by name; rows of
tables do not count.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assets.figures import Figure
from tests.benchmarks.recording import add_record_option, record

ROOMS = ("pipelines", "assets", "models", "simfoundry")
LEAST_FIELDS = 6
SHARED = 0.7
_TABLE = re.compile(r"""^@table\(\s*["'](\w+)["']""", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A constant of a module that names tables."""

    path: str
    line: int
    name: str
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """A class with annotated fields."""

    path: str
    line: int
    name: str
    fields: frozenset[str]
    is_row: bool


def sources(root: Path, rooms: Sequence[str] = ROOMS) -> list[str]:
    """Python files of the rooms that git tracks, or would."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *rooms],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [name for name in listed.stdout.splitlines() if name.endswith(".py") and (root / name).exists()]


def table_names(root: Path) -> frozenset[str]:
    """Names in `@table(...)` of the schemas."""
    files = (root / "pipelines/schemas").glob("*.py")
    return frozenset(name for file in files for name in _TABLE.findall(file.read_text()))


def table_constants(root: Path) -> Iterator[Constant]:
    """Constants outside the schemas that name two tables or more."""
    tables = table_names(root)
    for path in sources(root):
        if path.startswith("pipelines/schemas/"):
            continue
        for node in ast.parse((root / path).read_text()).body:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            texts = {n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant)}
            listed = sorted(tables & {text for text in texts if isinstance(text, str)})
            if len(listed) > 1 and isinstance(target, ast.Name) and target.id != "__all__":
                yield Constant(path=path, line=node.lineno, name=target.id, tables=tuple(listed))


def _classes(root: Path) -> Iterator[Fields]:
    for path in sources(root):
        for node in ast.parse((root / path).read_text()).body:
            if isinstance(node, ast.ClassDef):
                fields = frozenset(
                    n.target.id
                    for n in node.body
                    if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
                )
                is_row = any(
                    isinstance(d, ast.Call) and ast.unparse(d.func) == "table" for d in node.decorator_list
                )
                if len(fields) >= LEAST_FIELDS:
                    yield Fields(path=path, line=node.lineno, name=node.name, fields=fields, is_row=is_row)


def mirrored(root: Path) -> Iterator[tuple[Fields, Fields]]:
    """Pairs of classes most of whose fields are the same."""
    for one, other in itertools.combinations(_classes(root), 2):
        least = min(len(one.fields), len(other.fields))
        if not (one.is_row or other.is_row) and len(one.fields & other.fields) >= SHARED * least:
            yield one, other


def lines(root: Path, rooms: Sequence[str]) -> int:
    """Lines of the Python files of some folders."""
    return sum((root / path).read_bytes().count(b"\n") for path in sources(root, rooms))


GOALS = {
    "constants outside the schemas that name two tables or more": None,
    "pairs of classes that mirror each other": None,
    "lines of source": 138_495,
    "lines of tests and benchmarks": 77_681,
}
"""Figures, with their goals at the end of the reordering of the code (docs/decisions/026)."""


def main() -> None:
    """Print the constants, the pairs and the lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    add_record_option(parser)
    options = parser.parse_args()
    root: Path = options.root
    constants, pairs = list(table_constants(root)), list(mirrored(root))
    for constant in constants:
        print(f"{constant.path}:{constant.line} {constant.name}: {', '.join(constant.tables)}")
    print(f"constants that name tables: {len(constants)}\n")
    for one, other in pairs:
        both = len(one.fields & other.fields)
        print(f"{one.path}:{one.line} {one.name} ({len(one.fields)}), "
              f"{other.path}:{other.line} {other.name} ({len(other.fields)}): {both}")  # fmt: skip
    print(f"pairs of classes that mirror each other: {len(pairs)}\n")
    source, tests = lines(root, ROOMS), lines(root, ("tests",))
    print(f"lines of source: {source:,}; of tests and benchmarks: {tests:,}")
    if options.record:
        for (figure, goal), value in zip(
            GOALS.items(), (len(constants), len(pairs), source, tests), strict=True
        ):
            new = Figure(
                figure=figure,
                area="size",
                section="Declarations and lines",
                value=value,
                goal="" if goal is None else f"{goal:,}",
                command="python -m tests.benchmarks.declarations",
                commit="",
                machine="",
                date="",
            )
            record("size", figure, value, missed=goal is not None and value > goal, new=new)


if __name__ == "__main__":
    main()
