"""Comparison of a text with a golden file; the fixture `golden` of conftest.py is how tests use it."""

from __future__ import annotations

from pathlib import Path

import pytest


def compare_with_golden(path: Path, text: str, *, update: bool, rerun: str) -> None:
    """Fail unless a golden file holds the text; write it instead when updating."""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return
    if not path.is_file():
        pytest.fail(f"golden file {path} is missing; make it with: {rerun}", pytrace=False)
    expected = path.read_bytes().decode("utf-8")
    assert text == expected, f"differs from {path}; if that is right: {rerun}"
