"""Whoever meets a public name of an engine can read what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _undocumented(path: Path) -> Iterator[str]:
    module = ast.parse(path.read_text(encoding="utf-8"))
    if not ast.get_docstring(module):
        yield f"{path}:1 the module"
    for node in module.body:
        if isinstance(node, Documented) and not node.name.startswith("_"):
            if not ast.get_docstring(node):
                yield f"{path}:{node.lineno} {node.name}"
            if isinstance(node, ast.ClassDef):
                yield from _undocumented_members(path, node)


def _undocumented_members(path: Path, owner: ast.ClassDef) -> Iterator[str]:
    for node in owner.body:
        if not isinstance(node, Documented) or node.name.startswith(("_", "visit_")):
            continue
        if not ast.get_docstring(node):
            yield f"{path}:{node.lineno} {owner.name}.{node.name}"


@pytest.mark.slow
def test_public_names_of_engines_have_docstrings(repository: Path) -> None:
    files = sorted((repository / "pipelines").rglob("*.py"))
    assert len(files) > 10
    missing = [found for path in files for found in _undocumented(path)]
    assert not missing, "\n".join(missing)


def test_a_name_without_docstring_is_found(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        '"""Module."""\n'
        "def f(): ...\n"
        "def _g(): ...\n"
        'class C:\n    """Class."""\n    def h(self): ...\n    def visit_For(self): ...\n'
    )
    assert list(_undocumented(path)) == [f"{path}:2 f", f"{path}:6 C.h"]
