"""The golden-file fixture compares, updates, and says what to do when a file is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from golden_files import compare_with_golden

Compare = Callable[..., None]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "x.txt"


def test_update_writes_what_a_later_run_accepts(file: Path) -> None:
    compare_with_golden(file, "one\r\nµ\n", update=True, rerun="again")
    compare_with_golden(file, "one\r\nµ\n", update=False, rerun="again")


def test_comparison_rejects_another_text(file: Path) -> None:
    compare_with_golden(file, "one\n", update=True, rerun="again")
    with pytest.raises(AssertionError, match=r"differs from .*x\.txt; if that is right: again"):
        compare_with_golden(file, "two\n", update=False, rerun="again")
    assert file.read_text() == "one\n"


def test_comparison_rejects_a_missing_file_and_says_how_to_make_it(file: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"x\.txt is missing; make it with: again"):
        compare_with_golden(file, "one\n", update=False, rerun="again")
    assert not file.exists()
