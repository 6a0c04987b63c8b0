"""Folders that engines write to while their results are recorded, and a `sum` that refuses floats."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from engine_outputs import Folders

_SUM = sum


@pytest.fixture
def folders(tmp_path: Path, runtime_folder: Path, engine_folder: Path) -> Folders:
    """A private folder, and the compiled programs that all tests share."""
    return Folders(scratch=tmp_path, runtimes=runtime_folder, engines=engine_folder)


@pytest.fixture(autouse=True)
def no_sums_of_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse floats in every `sum` of an engine: their sum differs between versions of Python."""
    monkeypatch.setattr(builtins, "sum", _sum_without_floats)


def _sum_without_floats(values: Iterable[object], /, start: object = 0) -> object:
    caller = sys._getframe(1)
    if not str(caller.f_globals.get("__name__")).startswith("pipelines."):
        return _SUM(values, start)  # type: ignore[call-overload]
    numbers = [*values]
    if any(isinstance(number, float) for number in (start, *numbers)):
        place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
        raise AssertionError(f"sum of floats ({place}); use pipelines.base.summation.ordered_sum")
    return _SUM(numbers, start)  # type: ignore[call-overload]
