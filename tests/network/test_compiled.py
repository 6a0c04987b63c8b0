"""Loops in C: compiled once, checked arguments, the user's folder where an installation is read-only."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import numpy as np
import pytest

from pipelines.network.compiled import compiled_folder, kernels
from pipelines.network.errors import NetworkError

SOURCE = """
static double half(double value) { return value / 2.0; }

/* Half of every value, from the place begin. */
void halve(int64_t count, const double *values,
           int64_t begin, double *halves) {
    for (int64_t n = begin; n < count; n++) halves[n] = half(values[n]);
}

int64_t next(int64_t number) {
    return number + 1;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.c"
    path.write_text(f"#include <stdint.h>\n{SOURCE}")
    return path


def test_functions_of_a_file_are_compiled_and_called_with_arrays(source: Path) -> None:
    halves = np.zeros(3)
    kernels(source).halve(3, np.array([1.0, 3.0, 5.0]), 1, halves)
    assert halves.tolist() == [0.0, 1.5, 2.5]
    assert kernels(source).next(1 << 40) == (1 << 40) + 1
    assert [path.parent.name for path in source.parent.rglob("*-kernels-*")] == ["__pycache__"]


def test_functions_reject_arrays_of_another_type_or_layout(source: Path) -> None:
    for values in (np.zeros(3, np.float32), np.zeros(6)[::2]):
        with pytest.raises(ctypes.ArgumentError, match="argument 2: TypeError: array must have"):
            kernels(source).halve(3, values, 0, np.zeros(3))


def test_a_file_that_gcc_rejects_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "broken.c"
    path.write_text("void broken(int64_t count) {\n")
    with pytest.raises(NetworkError, match=r"^gcc failed to compile the .*-broken: "):
        kernels(path)


def test_a_read_only_installation_uses_the_users_folder(
    source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert compiled_folder(source) == source.parent / "__pycache__"
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert compiled_folder(source) == tmp_path / "home" / ".cache" / "simfoundry"
