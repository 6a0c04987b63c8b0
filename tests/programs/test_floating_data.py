"""Input data of floating arguments, and the matrices that solvers need."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pipelines.c.signature import INT32, Argument, Interface, ScalarType
from pipelines.programs import ProgramError, data_id, draw_data, load_data

FLOAT = ScalarType(width_bits=32, floating=True)
DOUBLE = ScalarType(width_bits=64, floating=True)


def argument(*shape: int, kind: ScalarType = FLOAT) -> Argument:
    return Argument(name="a", type=kind, shape=shape, read=True, written=bool(shape))


def interface(one: Argument) -> Interface:
    return Interface(top="f", arguments=(one,), returns=None)


def drawn(one: Argument, **kind: object) -> np.ndarray:
    return draw_data(interface(one), json.dumps({"a": kind} if kind else {}), seed=7)["a"]


def load(text: str, one: Argument, folder: Path) -> np.ndarray:
    path = folder / "d.json"
    path.write_text(text)
    return load_data(path, interface(one))["a"]


@pytest.mark.parametrize("kind", [FLOAT, DOUBLE])
def test_default_of_floating_is_minus_one_to_one(kind: ScalarType) -> None:
    values = drawn(argument(500, kind=kind))
    assert values.dtype == kind.dtype
    assert -1 <= values.min() < -0.9 < 0.9 < values.max() <= 1
    assert len(np.unique(values)) == 500


def test_floating_data_is_fixed_for_all_time() -> None:
    assert drawn(argument(2, kind=DOUBLE)).tolist() == [-0.4844385323284539, 0.1810548323519363]
    assert drawn(argument(2)).tolist() == [-0.48443853855133057, 0.18105483055114746]


def test_uniform_takes_real_bounds() -> None:
    values = drawn(argument(500), kind="uniform", low=0.25, high=2)
    assert 0.25 <= values.min() < 0.3 < 1.9 < values.max() <= 2


def test_constant_sorted_and_permutation_of_floats() -> None:
    assert drawn(argument(), kind="constant", value=0.1) == np.float32(0.1)
    assert drawn(argument(2), kind="constant", value=3).tolist() == [3.0, 3.0]
    assert np.all(np.diff(drawn(argument(50), kind="sorted", low=-1.5, high=1.5)) > 0)
    assert sorted(drawn(argument(9), kind="permutation").tolist()) == list(range(9))


@pytest.mark.parametrize("kind", [INT32, DOUBLE])
def test_positive_definite_has_a_factor_of_moderate_pivots(kind: ScalarType) -> None:
    a = drawn(argument(30, 30, kind=kind), kind="positive_definite", low=-3, high=4).astype(float)
    lower = np.linalg.cholesky(a)
    assert np.array_equal(a, a.T)
    assert np.diag(lower).min() >= 1 - 1e-9
    if kind is INT32:
        np.testing.assert_allclose(lower, np.round(lower), atol=1e-6)


@pytest.mark.parametrize("kind", [INT32, DOUBLE])
def test_lu_product_bounds_elimination_and_substitution(kind: ScalarType) -> None:
    a = drawn(argument(30, 30, kind=kind), kind="lu_product", low=-3, high=4).astype(float)
    for k in range(29):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    lower, upper = np.tril(a, -1), np.triu(a)
    assert np.abs(np.diag(upper)).min() >= 1 - 1e-9
    assert np.abs(lower).max() <= 1 + 1e-9
    assert ((np.abs(lower) > 1e-9).sum(axis=1)[1:] == 1).all()
    right = np.abs(np.triu(upper, 1)).sum(axis=1)
    np.testing.assert_allclose(np.diag(upper), right + 1, rtol=1e-9)
    if kind is INT32:
        np.testing.assert_array_equal(a, np.round(a))


def test_dominant_lower_of_floats() -> None:
    lower = drawn(argument(8, 8, kind=DOUBLE), kind="dominant_lower", low=-1.0, high=1.0)
    np.testing.assert_allclose(np.diag(lower), 1 + np.abs(np.tril(lower, -1)).sum(axis=1))
    assert not np.triu(lower, 1).any()


def test_load_data_reads_floats(tmp_path: Path) -> None:
    values = load('{"a": [[1, -0.5], [1e-40, 3.4028234663852886e38]]}', argument(2, 2), tmp_path)
    assert values.dtype == np.float32
    assert values.tolist() == [[1.0, -0.5], [float(np.float32(1e-40)), 3.4028234663852886e38]]
    assert load('{"a": 0.1}', argument(kind=DOUBLE), tmp_path) == 0.1


def test_data_id_tells_negative_zero_and_width() -> None:
    first, second = np.array([0.0]), np.array([-0.0])
    ids = {data_id({"a": first}), data_id({"a": second}), data_id({"a": first.astype(np.float32)})}
    assert len(ids) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [1, "inf"]}', r"^values of a must be finite numbers in the shape \[2\], got 'inf' \("),
        ('{"a": [1, "nan"]}', r"^values of a must be finite numbers in the shape \[2\], got 'nan' \("),
        ('{"a": [1, Infinity]}', "inputs are not JSON: Infinity, which is no number of JSON"),
        ('{"a": [1, NaN]}', "inputs are not JSON: NaN, which is no number of JSON"),
        ('{"a": [1, 1e999]}', "^values of a must fit float, -3.4.* .. 3.4.*, got inf"),
        ('{"a": [1, -1e39]}', "^values of a must fit float, -3.4.* .. 3.4.*, got -1e.39"),
        ('{"a": [1, null]}', "must be finite numbers .* got None"),
        ('{"a": [1, true]}', "must be finite numbers .* got True"),
        ('{"a": 1.5}', r"must have the shape \[2\], got 1.5 where 2 elements belong"),
    ],
)
def test_load_data_rejects_what_is_no_float(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=message):
        load(text, argument(2), tmp_path)


@pytest.mark.parametrize(
    ("one", "kind", "message"),
    [
        (
            argument(2, kind=INT32),
            {"kind": "uniform", "low": 0, "high": 1.5},
            "^values of a must be integers, got 1.5$",
        ),
        (
            argument(2),
            {"kind": "uniform", "low": 0, "high": 1e39},
            r"^values of a must fit float, .*, got 1e\+39$",
        ),
        (
            argument(2),
            {"kind": "uniform", "low": 1.0, "high": 1.0},
            "low must be below high, got 1.0 and 1.0",
        ),
        (argument(2), {"kind": "constant", "value": "1"}, "'1' at a.constant.value"),
        (
            argument(2),
            {"kind": "csr_rows", "nonzeros": 1},
            "^csr_rows needs an integer type, got a of float$",
        ),
        (
            argument(2, 3),
            {"kind": "lu_product", "low": 0, "high": 1},
            "^lu_product needs a square matrix, got a ",
        ),
        (
            argument(4),
            {"kind": "positive_definite", "low": 0, "high": 1},
            "^positive_definite needs a square matrix",
        ),
        (
            argument(9, 9, kind=ScalarType(width_bits=8)),
            {"kind": "positive_definite", "low": 2, "high": 4},
            "^values of a must fit int8_t, -128 .. 127, got ",
        ),
        (
            argument(9, 9, kind=ScalarType(width_bits=64)),
            {"kind": "positive_definite", "low": 1 << 40, "high": 1 << 41},
            "^values of a must fit int64_t, ",
        ),
    ],
)
def test_draw_data_rejects_a_kind_that_does_not_fit(one: Argument, kind: object, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        draw_data(interface(one), json.dumps({"a": kind}), seed=1)
