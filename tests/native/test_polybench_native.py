"""Every PolyBench program: defined behaviour, finite results, and the result of a NumPy reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from program_support import interface_of

from pipelines.c.signature import DataSet
from pipelines.native import run_native
from pipelines.programs import POLYBENCH_KERNELS, draw_data, polybench_program
from pipelines.schemas import ProgramRow

Arrays = dict[str, np.ndarray]
Sizes = dict[str, int]

FRACTION_BITS = {
    "adi": 10,
    "correlation": 10,
    "deriche": 10,
    "durbin": 14,
    "fdtd-2d": 10,
    "gramschmidt": 10,
    "heat-3d": 10,
    "jacobi-1d": 10,
    "jacobi-2d": 10,
}
"""Programs whose int form is fixed point."""


NEAR_THEIR_BOUNDS = (
    "2mm",
    "3mm",
    "adi",
    "correlation",
    "deriche",
    "durbin",
    "fdtd-2d",
    "gemver",
    "gramschmidt",
)
"""Programs whose int form comes nearest to what 32 bits hold."""


class Plain:
    """Division as the data type has it: real, or in integers towards zero."""

    def __init__(self, *, integer: bool) -> None:
        self.integer = integer

    def over(self, numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
        if not self.integer:
            return numerator / denominator
        return np.sign(numerator) * np.sign(denominator) * (np.abs(numerator) // np.abs(denominator))


def two_mm(v: Arrays, s: Sizes, d: Plain) -> None:
    v["tmp"] = v["alpha"] * v["A"] @ v["B"]
    v["D"] = v["tmp"] @ v["C"] + v["beta"] * v["D"]


def three_mm(v: Arrays, s: Sizes, d: Plain) -> None:
    v["E"], v["F"] = v["A"] @ v["B"], v["C"] @ v["D"]
    v["G"] = v["E"] @ v["F"]


def adi(v: Arrays, s: Sizes, d: Plain, *, fixed: bool) -> None:
    n, u, w, p, q = s["N"], v["u"], v["v"], v["p"], v["q"]
    step, time = (1.0, 1.0) if fixed else (1 / n, 1 / s["TSTEPS"])
    a = -time / step**2
    b, d_ = 1 - 2 * a, a / 2
    e = 1 - 2 * d_
    inner = slice(1, -1)
    for _ in range(s["TSTEPS"]):
        w[0, inner], p[inner, 0], q[inner, 0] = 1, 0, 1
        for j in range(1, n - 1):
            below = a * p[inner, j - 1] + b
            p[inner, j] = -a / below
            around = -d_ * u[j, :-2] + (1 + 2 * d_) * u[j, inner] - d_ * u[j, 2:]
            q[inner, j] = (around - a * q[inner, j - 1]) / below
        w[n - 1, inner] = 1
        for j in range(n - 2, 0, -1):
            w[j, inner] = p[inner, j] * w[j + 1, inner] + q[inner, j]
        u[inner, 0], p[inner, 0], q[inner, 0] = 1, 0, 1
        for j in range(1, n - 1):
            below = d_ * p[inner, j - 1] + e
            p[inner, j] = -d_ / below
            around = -a * w[:-2, j] + (1 + 2 * a) * w[inner, j] - a * w[2:, j]
            q[inner, j] = (around - d_ * q[inner, j - 1]) / below
        u[inner, n - 1] = 1
        for j in range(n - 2, 0, -1):
            u[inner, j] = p[inner, j] * u[inner, j + 1] + q[inner, j]


def atax(v: Arrays, s: Sizes, d: Plain) -> None:
    v["tmp"] = v["A"] @ v["x"]
    v["y"] = v["A"].T @ v["tmp"]


def bicg(v: Arrays, s: Sizes, d: Plain) -> None:
    v["s"], v["q"] = v["A"].T @ v["r"], v["A"] @ v["p"]


def cholesky(v: Arrays, s: Sizes, d: Plain) -> None:
    v["A"] = np.tril(np.linalg.cholesky(v["A"].astype(float))) + np.triu(v["A"], 1)


def correlation(v: Arrays, s: Sizes, d: Plain) -> None:
    data = v["data"]
    v["mean"] = data.mean(axis=0)
    v["stddev"] = data.std(axis=0)
    assert (v["stddev"] > 0.2).all()
    v["data"] = (data - v["mean"]) / (np.sqrt(s["N"]) * v["stddev"])
    v["corr"] = v["data"].T @ v["data"]


def covariance(v: Arrays, s: Sizes, d: Plain) -> None:
    v["mean"] = d.over(v["data"].sum(axis=0), v["float_n"])
    v["data"] = v["data"] - v["mean"]
    v["cov"] = d.over(v["data"].T @ v["data"], v["float_n"] - 1)


def deriche(v: Arrays, s: Sizes, d: Plain) -> None:
    alpha = float(v["alpha"])
    less = np.exp(-alpha)
    k = (1 - less) ** 2 / (1 + 2 * alpha * less - np.exp(2 * alpha))
    forward, backward = (k, k * less * (alpha - 1)), (0, k * less * (alpha + 1), -k * less**2)
    b1, b2 = 2**-alpha, -(less**2)

    def filtered(x: np.ndarray, coefficients: tuple[float, ...]) -> np.ndarray:
        y = np.zeros_like(x)
        for t in range(len(x)):
            for lag, c in enumerate(coefficients):
                y[t] += c * x[t - lag] if t >= lag else 0
            y[t] += b1 * y[t - 1] if t >= 1 else 0
            y[t] += b2 * y[t - 2] if t >= 2 else 0
        return y

    image = v["imgIn"].T
    image = (filtered(image, forward) + filtered(image[::-1], backward)[::-1]).T
    v["y1"], v["y2"] = filtered(image, forward), filtered(image[::-1], backward)[::-1]
    v["imgOut"] = v["y1"] + v["y2"]


def doitgen(v: Arrays, s: Sizes, d: Plain) -> None:
    v["A"] = np.einsum("rqs,sp->rqp", v["A"], v["C4"])
    v["sum"] = v["A"][-1, -1]


def durbin(v: Arrays, s: Sizes, d: Plain) -> None:
    r = v["r"]
    lags = np.abs(np.subtract.outer(np.arange(s["N"]), np.arange(s["N"])))
    v["y"] = np.linalg.solve(np.concatenate(([1.0], r))[lags], -r)


def fdtd_2d(v: Arrays, s: Sizes, d: Plain) -> None:
    ex, ey, hz = v["ex"], v["ey"], v["hz"]
    for t in range(s["TMAX"]):
        ey[0] = v["_fict_"][t]
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def floyd_warshall(v: Arrays, s: Sizes, d: Plain) -> None:
    path = v["path"]
    for k in range(s["N"]):
        # row and column k may change in their own step: element (k, k) first counts old, then new
        for i in range(s["N"]):
            for j in range(s["N"]):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


def gemm(v: Arrays, s: Sizes, d: Plain) -> None:
    v["C"] = v["alpha"] * v["A"] @ v["B"] + v["beta"] * v["C"]


def gemver(v: Arrays, s: Sizes, d: Plain) -> None:
    v["A"] = v["A"] + np.outer(v["u1"], v["v1"]) + np.outer(v["u2"], v["v2"])
    v["x"] = v["x"] + v["beta"] * v["A"].T @ v["y"] + v["z"]
    v["w"] = v["w"] + v["alpha"] * v["A"] @ v["x"]


def gesummv(v: Arrays, s: Sizes, d: Plain) -> None:
    v["tmp"] = v["A"] @ v["x"]
    v["y"] = v["alpha"] * v["tmp"] + v["beta"] * v["B"] @ v["x"]


def gramschmidt(v: Arrays, s: Sizes, d: Plain) -> None:
    """Only where the columns are independent: beyond M of them there is nothing but rounding."""
    rank = s["M"] // 2
    q, r = np.linalg.qr(v["A"])
    sign = np.sign(np.diag(r))
    v["Q"][:, :rank] = (q * sign)[:, :rank]
    v["R"][:rank] = (np.triu((r.T * sign).T) + np.tril(v["R"], -1)[: s["M"]])[:rank]


def heat_3d(v: Arrays, s: Sizes, d: Plain) -> None:
    inner = (slice(1, -1),) * 3
    for _ in range(s["TSTEPS"]):
        for source, target in (("A", "B"), ("B", "A")):
            a = v[source]
            total = a[inner].copy()
            for axis in range(3):
                ahead, behind = np.roll(a, -1, axis)[inner], np.roll(a, 1, axis)[inner]
                total += 0.125 * (ahead - 2 * a[inner] + behind)
            v[target][inner] = total


def jacobi_1d(v: Arrays, s: Sizes, d: Plain) -> None:
    for _ in range(s["TSTEPS"]):
        for source, target in (("A", "B"), ("B", "A")):
            a = v[source]
            v[target][1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])


def jacobi_2d(v: Arrays, s: Sizes, d: Plain) -> None:
    for _ in range(s["TSTEPS"]):
        for source, target in (("A", "B"), ("B", "A")):
            a = v[source]
            star = a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
            v[target][1:-1, 1:-1] = 0.2 * star


def factored(a: np.ndarray, d: Plain) -> np.ndarray:
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] = d.over(a[k + 1 :, k], a[k, k])
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def lu(v: Arrays, s: Sizes, d: Plain) -> None:
    v["A"] = factored(v["A"], d)


def ludcmp(v: Arrays, s: Sizes, d: Plain) -> None:
    a = v["A"] = factored(v["A"], d)
    for i in range(s["N"]):
        v["y"][i] = v["b"][i] - a[i, :i] @ v["y"][:i]
    for i in reversed(range(s["N"])):
        v["x"][i] = d.over(v["y"][i] - a[i, i + 1 :] @ v["x"][i + 1 :], a[i, i])


def mvt(v: Arrays, s: Sizes, d: Plain) -> None:
    v["x1"], v["x2"] = v["x1"] + v["A"] @ v["y_1"], v["x2"] + v["A"].T @ v["y_2"]


def nussinov(v: Arrays, s: Sizes, d: Plain) -> None:
    n, seq, table = s["N"], v["seq"], v["table"]
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            pair = int(span > 1 and seq[i] + seq[j] == 3)
            best = max(table[i, j - 1], table[i + 1, j], table[i + 1, j - 1] + pair)
            table[i, j] = max([best, *(table[i, k] + table[k + 1, j] for k in range(i + 1, j))])


def seidel_2d(v: Arrays, s: Sizes, d: Plain) -> None:
    a = v["A"]
    for _ in range(s["TSTEPS"]):
        for i in range(1, s["N"] - 1):
            for j in range(1, s["N"] - 1):
                a[i, j] = d.over(a[i - 1 : i + 2, j - 1 : j + 2].sum(), a.dtype.type(9))


def symm(v: Arrays, s: Sizes, d: Plain) -> None:
    whole = np.tril(v["A"]) + np.tril(v["A"], -1).T
    v["C"] = v["alpha"] * whole @ v["B"] + v["beta"] * v["C"]


def syr2k(v: Arrays, s: Sizes, d: Plain) -> None:
    full = v["alpha"] * (v["A"] @ v["B"].T + v["B"] @ v["A"].T) + v["beta"] * v["C"]
    v["C"] = np.tril(full) + np.triu(v["C"], 1)


def syrk(v: Arrays, s: Sizes, d: Plain) -> None:
    full = v["alpha"] * v["A"] @ v["A"].T + v["beta"] * v["C"]
    v["C"] = np.tril(full) + np.triu(v["C"], 1)


def trisolv(v: Arrays, s: Sizes, d: Plain) -> None:
    for i in range(s["N"]):
        v["x"][i] = d.over(v["b"][i] - v["L"][i, :i] @ v["x"][:i], v["L"][i, i])


def trmm(v: Arrays, s: Sizes, d: Plain) -> None:
    unit = np.tril(v["A"], -1) + np.eye(s["M"], dtype=v["A"].dtype)
    v["B"] = v["alpha"] * unit.T @ v["B"]


REFERENCES: dict[str, Callable[..., None]] = {
    "2mm": two_mm,
    "3mm": three_mm,
    "adi": adi,
    "atax": atax,
    "bicg": bicg,
    "cholesky": cholesky,
    "correlation": correlation,
    "covariance": covariance,
    "deriche": deriche,
    "doitgen": doitgen,
    "durbin": durbin,
    "fdtd-2d": fdtd_2d,
    "floyd-warshall": floyd_warshall,
    "gemm": gemm,
    "gemver": gemver,
    "gesummv": gesummv,
    "gramschmidt": gramschmidt,
    "heat-3d": heat_3d,
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
    "lu": lu,
    "ludcmp": ludcmp,
    "mvt": mvt,
    "nussinov": nussinov,
    "seidel-2d": seidel_2d,
    "symm": symm,
    "syr2k": syr2k,
    "syrk": syrk,
    "trisolv": trisolv,
    "trmm": trmm,
}


def run(row: ProgramRow, folder: Path) -> tuple[DataSet, DataSet]:
    interface = interface_of(row)
    data = draw_data(interface, row.inputs, seed=1)
    native = run_native(row.source, interface, data, folder=folder)
    assert (native.status, native.reason) == ("ok", None)
    assert all(np.isfinite(values).all() for values in native.outputs.values())
    return data, native.outputs


def expected(name: str, row: ProgramRow, data: DataSet, scale: int) -> Arrays:
    """What the reference makes of the data, in int64 or in double; fixed point is scaled to real."""
    integer = scale == 1 and not any(a.dtype.kind == "f" for a in data.values())
    values = {k: a.astype(np.int64) if integer else a / scale for k, a in data.items()}
    extra = {"fixed": scale > 1} if name == "adi" else {}
    REFERENCES[name](values, json.loads(row.parameters), Plain(integer=integer), **extra)
    return values


def checked_part(name: str, array: str, values: np.ndarray, row: ProgramRow) -> np.ndarray:
    """What a reference can know: of gramschmidt the first columns, before rounding is all there is."""
    if name != "gramschmidt":
        return values
    rank = json.loads(row.parameters)["M"] // 2
    return {"R": values[:rank], "Q": values[:, :rank], "A": values[:0]}[array]


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", REFERENCES)
def test_double_program_equals_its_reference(name: str, tmp_path: Path) -> None:
    row = polybench_program(name, size="mini", data_type="double")
    data, outputs = run(row, tmp_path)
    wanted = expected(name, row, data, 1)
    for array, values in outputs.items():
        found, true = (checked_part(name, array, a, row) for a in (values, wanted[array]))
        np.testing.assert_allclose(found, true, rtol=1e-9, atol=1e-11, err_msg=array)
    assert any(not np.array_equal(outputs[array], data[array]) for array in outputs)


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", [n for n in REFERENCES if n not in FRACTION_BITS])
def test_int_program_equals_its_reference(name: str, tmp_path: Path) -> None:
    row = polybench_program(name, size="mini", data_type="int")
    data, outputs = run(row, tmp_path)
    wanted = expected(name, row, data, 1)
    for array, values in outputs.items():
        np.testing.assert_array_equal(values, wanted[array], err_msg=array)
    assert any(not np.array_equal(outputs[array], data[array]) for array in outputs)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", FRACTION_BITS)
def test_fixed_point_program_is_near_its_reference(name: str, tmp_path: Path) -> None:
    row = polybench_program(name, size="mini", data_type="int")
    data, outputs = run(row, tmp_path)
    scale = 1 << FRACTION_BITS[name]
    wanted = expected(name, row, data, scale)
    for array, values in outputs.items():
        found, true = (checked_part(name, array, a, row) for a in (values / scale, wanted[array]))
        np.testing.assert_allclose(found, true, rtol=0.02, atol=0.12, err_msg=array)
    assert any(not np.array_equal(outputs[array], data[array]) for array in outputs)


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", REFERENCES)
def test_float_program_is_defined(name: str, tmp_path: Path) -> None:
    _, outputs = run(polybench_program(name, size="mini", data_type="float"), tmp_path)
    assert any(values.dtype == np.float32 for values in outputs.values())


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", NEAR_THEIR_BOUNDS)
def test_small_int_program_is_defined(name: str, tmp_path: Path) -> None:
    run(polybench_program(name, size="small", data_type="int"), tmp_path)


def test_every_program_has_a_reference() -> None:
    assert list(REFERENCES) == [k.name for k in POLYBENCH_KERNELS]
