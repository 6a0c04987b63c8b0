"""Every kernel at every size: defined behaviour, and the result of a NumPy reference."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pipelines.c.signature import INT32, Argument, DataSet, Interface
from pipelines.native import run_native
from pipelines.programs import SIZES, SUITES, draw_data, kernel_programs
from pipelines.programs.catalogue import KERNELS
from pipelines.schemas import ProgramRow

Arrays = dict[str, np.ndarray]
NAMES = [kernel.name for kernel in KERNELS]


@cache
def programs(size: str) -> dict[str, ProgramRow]:
    return {row.name: row for row in kernel_programs(suites=SUITES, sizes=[size])}


def truncated(numerator: np.ndarray, denominator: int) -> np.ndarray:
    """Division as in C: towards zero."""
    return np.sign(numerator) * (np.abs(numerator) // denominator)


def gemm(v: Arrays, _: dict[str, int]) -> None:
    v["C"] = v["alpha"] * v["A"] @ v["B"] + v["beta"] * v["C"]


def two_mm(v: Arrays, _: dict[str, int]) -> None:
    v["D"] = v["alpha"] * v["A"] @ v["B"] @ v["C"] + v["beta"] * v["D"]


def three_mm(v: Arrays, _: dict[str, int]) -> None:
    v["E"], v["F"] = v["A"] @ v["B"], v["C"] @ v["D"]
    v["G"] = v["E"] @ v["F"]


def atax(v: Arrays, _: dict[str, int]) -> None:
    v["y"] = v["A"].T @ (v["A"] @ v["x"])


def bicg(v: Arrays, _: dict[str, int]) -> None:
    v["s"], v["q"] = v["A"].T @ v["r"], v["A"] @ v["p"]


def mvt(v: Arrays, _: dict[str, int]) -> None:
    v["x1"], v["x2"] = v["x1"] + v["A"] @ v["y1"], v["x2"] + v["A"].T @ v["y2"]


def gesummv(v: Arrays, _: dict[str, int]) -> None:
    v["y"] = v["alpha"] * v["A"] @ v["x"] + v["beta"] * v["B"] @ v["x"]


def syrk(v: Arrays, _: dict[str, int]) -> None:
    full = v["alpha"] * v["A"] @ v["A"].T + v["beta"] * v["C"]
    v["C"] = np.tril(full) + np.triu(v["C"], 1)


def doitgen(v: Arrays, _: dict[str, int]) -> None:
    v["A"] = np.einsum("rqs,sp->rqp", v["A"], v["W"])


def trisolv(v: Arrays, size: dict[str, int]) -> None:
    for i in range(size["N"]):
        rest = v["b"][i] - v["L"][i, :i] @ v["x"][:i]
        v["x"][i] = truncated(rest, v["L"][i, i])


def jacobi_1d(v: Arrays, size: dict[str, int]) -> None:
    for _ in range(size["TSTEPS"]):
        for source, target in (("A", "B"), ("B", "A")):
            s = v[source]
            v[target][1:-1] = truncated(s[:-2] + s[1:-1] + s[2:], 3)


def jacobi_2d(v: Arrays, size: dict[str, int]) -> None:
    for _ in range(size["TSTEPS"]):
        for source, target in (("A", "B"), ("B", "A")):
            s = v[source]
            star = s[1:-1, 1:-1] + s[:-2, 1:-1] + s[2:, 1:-1] + s[1:-1, :-2] + s[1:-1, 2:]
            v[target][1:-1, 1:-1] = truncated(star, 5)


def histogram(v: Arrays, size: dict[str, int]) -> int:
    wanted = truncated(v["value"] - v["low"], int(v["width"]))
    bins = np.clip(wanted, 0, size["BINS"] - 1)
    v["count"] = np.bincount(bins, minlength=size["BINS"])
    return int((bins != wanted).sum())


def insertion_sort(v: Arrays, _: dict[str, int]) -> None:
    v["a"] = np.sort(v["a"])


def collatz(v: Arrays, _: dict[str, int]) -> int:
    n = v["start"].copy()
    steps = np.zeros_like(n)
    while (n > 1).any():
        steps += n > 1
        n = np.where(n > 1, np.where(n % 2 == 1, 3 * n + 1, n // 2), n)
    v["steps"] = steps
    return int(steps.max())


def spmv_csr(v: Arrays, size: dict[str, int]) -> None:
    dense = np.zeros((size["ROWS"], size["COLUMNS"]), dtype=np.int64)
    rows = np.repeat(np.arange(size["ROWS"]), np.diff(v["first"]))
    np.add.at(dense, (rows, v["column"]), v["value"])
    v["y"] = dense @ v["x"]


REFERENCES: dict[str, Callable[[Arrays, dict[str, int]], int | None]] = {
    "gemm": gemm,
    "2mm": two_mm,
    "3mm": three_mm,
    "atax": atax,
    "bicg": bicg,
    "mvt": mvt,
    "gesummv": gesummv,
    "syrk": syrk,
    "doitgen": doitgen,
    "trisolv": trisolv,
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
    "histogram": histogram,
    "insertion-sort": insertion_sort,
    "collatz": collatz,
    "spmv-csr": spmv_csr,
}


def interface_of(row: ProgramRow) -> Interface:
    """Arguments read off the C text; every array counts as written, so that all are compared."""
    sizes = json.loads(row.parameters)
    head = re.search(rf"(int|void) {row.top}\((.*?)\)", row.source, re.DOTALL)
    assert head
    arguments: list[Argument] = []
    for text in head[2].split(","):
        declared = re.fullmatch(r"\s*int (\w+)((?:\[[^]]*\])*)\s*", text)
        assert declared, text
        extents = re.findall(r"\[([^]]*)\]", declared[2])
        shape = tuple(sum(sizes.get(t.strip()) or int(t) for t in e.split("+")) for e in extents)
        arguments.append(Argument(name=declared[1], type=INT32, shape=shape, read=True, written=bool(shape)))
    returns = INT32 if head[1] == "int" else None
    return Interface(top=row.top, arguments=tuple(arguments), returns=returns)


def expected(row: ProgramRow, data: DataSet) -> tuple[Arrays, int | None]:
    values = {name: array.astype(np.int64) for name, array in data.items()}
    returned = REFERENCES[row.name](values, json.loads(row.parameters))
    return values, returned


@pytest.mark.sample(5)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_kernel_is_defined_and_equals_its_reference(name: str, size: str, tmp_path: Path) -> None:
    row = programs(size)[name]
    interface = interface_of(row)
    data = draw_data(interface, row.inputs, seed=1)
    before = {name: array.copy() for name, array in data.items()}
    run = run_native(row.source, interface, data, folder=tmp_path)
    assert (run.status, run.reason) == ("ok", None)
    wanted, returned = expected(row, data)
    assert run.returned == returned
    assert set(run.outputs) == {a.name for a in interface.arrays}
    for output, array in run.outputs.items():
        assert array.dtype == np.int32
        np.testing.assert_array_equal(array, wanted[output], err_msg=output)
        np.testing.assert_array_equal(data[output], before[output], err_msg=f"{output} was changed")


@pytest.mark.parametrize("name", NAMES)
def test_kernel_changes_its_outputs(name: str) -> None:
    row = programs("large")[name]
    data = draw_data(interface_of(row), row.inputs, seed=1)
    wanted, _ = expected(row, data)
    assert any(not np.array_equal(wanted[array], data[array]) for array in data)
    assert all(np.abs(array).max() < 2**31 for array in wanted.values())
