"""Input data: drawn from a specification, read from a file, identified by content."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from pipelines.c.signature import (
    DOUBLE,
    FLOAT,
    INT32,
    UINT64,
    Argument,
    DataSet,
    Interface,
    ScalarType,
)
from pipelines.programs import ProgramError, data_id, draw_data, load_data

UINT8 = ScalarType(width_bits=8, signed=False)


def argument(name: str, *shape: int, kind: ScalarType = INT32, read: bool = True) -> Argument:
    return Argument(name=name, type=kind, shape=shape, read=read, written=bool(shape))


def interface(*arguments: Argument) -> Interface:
    return Interface(top="f", arguments=arguments, returns=None)


def drawn(one: Argument, **kind: object) -> np.ndarray:
    return draw_data(interface(one), json.dumps({one.name: kind}), seed=7)[one.name]


def test_draw_data_has_shape_type_and_default_range() -> None:
    data = draw_data(interface(argument("n"), argument("A", 30, 40)), "{}", seed=1)
    assert data["n"].shape == ()
    assert data["A"].shape == (30, 40)
    assert data["A"].dtype == np.int32
    assert (data["A"].min(), data["A"].max()) == (-16, 15)


def test_draw_data_default_of_unsigned_is_not_negative() -> None:
    data = draw_data(interface(argument("u", 500, kind=UINT8)), "{}", seed=1)
    assert data["u"].dtype == np.uint8
    assert (data["u"].min(), data["u"].max()) == (0, 15)


def test_draw_data_same_seed_same_data() -> None:
    two = interface(argument("A", 9), argument("B", 9))
    first, again, other = (draw_data(two, "{}", seed=s) for s in (1, 1, 2))
    assert data_id(first) == data_id(again) != data_id(other)
    assert not np.array_equal(first["A"], first["B"])


def test_draw_data_of_an_argument_does_not_depend_on_the_others() -> None:
    alone = draw_data(interface(argument("B", 9)), "{}", seed=1)
    reordered = draw_data(interface(argument("B", 9), argument("A", 3)), "{}", seed=1)
    both = draw_data(interface(argument("A", 3), argument("B", 9)), "{}", seed=1)
    assert alone["B"].tolist() == reordered["B"].tolist() == both["B"].tolist()


def test_draw_data_is_fixed_for_all_time() -> None:
    data = draw_data(interface(argument("A", 6)), "{}", seed=1)
    assert data["A"].tolist() == [13, -14, -2, -1, 5, 8]


def test_uniform_excludes_high() -> None:
    values = drawn(argument("a", 400), kind="uniform", low=3, high=6)
    assert set(values.tolist()) == {3, 4, 5}


def test_uniform_reaches_the_ends_of_the_type() -> None:
    values = drawn(argument("a", 4000, kind=UINT8), kind="uniform", low=0, high=256)
    assert (values.min(), values.max()) == (0, 255)


def test_constant_is_everywhere() -> None:
    assert drawn(argument("a", 2, 2), kind="constant", value=-5).tolist() == [[-5, -5], [-5, -5]]
    assert drawn(argument("n"), kind="constant", value=9) == 9


def test_permutation_has_each_once() -> None:
    values = drawn(argument("a", 5, 6), kind="permutation")
    assert sorted(values.reshape(-1).tolist()) == list(range(30))
    assert values.reshape(-1).tolist() != list(range(30))


def test_sorted_ascends_within_its_range() -> None:
    values = drawn(argument("a", 50), kind="sorted", low=-5, high=5)
    assert np.all(np.diff(values) >= 0)
    assert set(values.tolist()) <= set(range(-5, 5))
    assert len(set(values.tolist())) > 5


def test_csr_rows_ascend_from_zero_to_the_nonzeros() -> None:
    values = drawn(argument("first", 13), kind="csr_rows", nonzeros=48)
    assert (values[0], values[-1]) == (0, 48)
    assert np.all(np.diff(values) >= 0)
    assert drawn(argument("first", 2), kind="csr_rows", nonzeros=3).tolist() == [0, 3]


def test_dominant_lower_bounds_forward_substitution() -> None:
    L = drawn(argument("L", 20, 20), kind="dominant_lower", low=-3, high=4)  # noqa: N806
    left = np.tril(L, -1)
    assert np.array_equal(np.diag(L), 1 + np.abs(left).sum(axis=1))
    assert not np.triu(L, 1).any()
    assert np.abs(np.linalg.solve(L, np.full(20, 1000))).max() <= 1000 + 1e-6


def test_values_are_taken_as_they_are() -> None:
    values = drawn(argument("a", 2, 3), kind="values", values=[[1, 2, 3], [4, 5, -6]])
    assert values.tolist() == [[1, 2, 3], [4, 5, -6]]
    assert drawn(argument("n"), kind="values", values=4) == 4


@pytest.mark.parametrize(
    ("one", "kind", "message"),
    [
        (argument("a", 4), {"kind": "normal"}, "at a .*expected tags.*accepted: .*csr_rows"),
        (argument("a", 4), {"low": 1}, "Unable to extract tag.*accepted: "),
        (argument("a", 4), 3, "invalid input specification: 3 at a .*accepted: "),
        (argument("a", 4), {"kind": "uniform", "low": 1}, "at a.uniform.high .Field required"),
        (argument("a", 4), {"kind": "permutation", "seed": 1}, "1 at a.permutation.seed"),
        (argument("a", 4), {"kind": "constant", "value": 1.0}, "^values of a must be integers, got 1.0$"),
        (argument("a", 4), {"kind": "constant", "value": True}, "True at a.constant.value"),
        (argument("a", 4), {"kind": "uniform", "low": 3, "high": 3}, "low must be below high, got"),
        (
            argument("a", 4),
            {"kind": "uniform", "low": 0, "high": 2**31 + 1},
            "^values of a must fit int32_t, -2147483648 .. 2147483647, got 2147483648$",
        ),
        (
            argument("a", 4),
            {"kind": "constant", "value": 10**50},
            "^values of a must fit int32_t, .* got a huge integer$",
        ),
        (
            argument("a", 300, kind=UINT8),
            {"kind": "permutation"},
            "^values of a must fit uint8_t, 0 .. 255, got 299$",
        ),
        (
            argument("a", 4, 4),
            {"kind": "csr_rows", "nonzeros": 3},
            r"^csr_rows needs one dimension of rows \+ 1 elements, got a of shape \[4\]\[4\]$",
        ),
        (
            argument("a", 4, 5),
            {"kind": "dominant_lower", "low": 0, "high": 2},
            r"^dominant_lower needs a square matrix, got a of shape \[4\]\[5\]$",
        ),
        (
            argument("n"),
            {"kind": "csr_rows", "nonzeros": 3},
            "^csr_rows needs .*, got n of shape one integer$",
        ),
        (
            argument("a", 2, 2),
            {"kind": "values", "values": [[1, 2], [3]]},
            r"^values of a must have the shape \[2\]\[2\], got a list of 1 where 2 elements",
        ),
        (
            argument("a", 2),
            {"kind": "values", "values": [1, "2"]},
            r"^values of a must be integers in the shape \[2\], got '2'$",
        ),
    ],
)
def test_draw_data_rejects_a_kind_that_does_not_fit(one: Argument, kind: object, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        draw_data(interface(one), json.dumps({one.name: kind}), seed=1)


def test_draw_data_rejects_an_unknown_argument() -> None:
    inputs = '{"B": {"kind": "permutation"}}'
    message = "unknown argument of f: B; accepted: n, A"
    with pytest.raises(ProgramError, match=f"^{re.escape(message)}$"):
        draw_data(interface(argument("n"), argument("A", 3)), inputs, seed=1)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("", "inputs are not JSON: Expecting value"),
        ("[]", r"inputs are not a JSON object: \[\]"),
        ("[" * 100_000, "inputs are not JSON: values nested too deep"),
        ('{"a": 1, "a": 2}', "inputs are not JSON: the name 'a' twice in one object"),
    ],
)
def test_draw_data_rejects_what_is_no_json_object(inputs: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        draw_data(interface(), inputs, seed=1)


def loaded(path: Path, content: str, *arguments: Argument) -> DataSet:
    path.write_text(content)
    return load_data(path, interface(*arguments))


def test_load_data_reads_arrays_and_scalars(tmp_path: Path) -> None:
    content = '{"A": [[1, 2], [3, -4]], "n": 5}'
    data = loaded(tmp_path / "d.json", content, argument("n"), argument("A", 2, 2))
    assert list(data) == ["n", "A"]
    assert data["A"].tolist() == [[1, 2], [3, -4]]
    assert (data["n"].shape, data["n"].dtype, int(data["n"])) == ((), np.int32, 5)


def test_load_data_fills_an_array_that_is_only_written(tmp_path: Path) -> None:
    data = loaded(tmp_path / "d.json", "{}", argument("y", 3, read=False))
    assert data["y"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", r"data has no value for argument a, which is read \(.*d\.json\)"),
        ('{"a": [1, 2], "b": 1}', r"unknown argument of f: b; accepted: a \(.*d\.json\)"),
        ('{"a": [1]}', r"must have the shape \[2\], got a list of 1 .* \(.*d\.json\)"),
        (
            '{"a": 1}',
            r"must have the shape \[2\], got 1 where 2 .*; #pragma simfoundry size a=N sets .* \(.*d\.json\)",
        ),
        ('{"a": [1, 1.5]}', r"must be integers in the shape \[2\], got 1\.5 \(.*d\.json\)"),
        ('{"a": [1, NaN]}', r"inputs are not JSON: NaN, which is no number of JSON \(.*d\.json\)"),
        ('{"a": [1, true]}', r"must be integers in the shape \[2\], got True \(.*d\.json\)"),
        ('{"a": [1, [2]]}', r"must be integers in the shape \[2\], got \[2\] \(.*d\.json\)"),
        ('{"a": [1, 2147483648]}', r"must fit int32_t, .* got 2147483648 \(.*d\.json\)"),
        ("not json", r"inputs are not JSON: Expecting value.* \(.*d\.json\)"),
        ("", r"empty data file: .*d\.json"),
    ],
)
def test_load_data_rejects(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        loaded(tmp_path / "d.json", content, argument("a", 2))


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400, "1" + "0" * 5000]
)
def test_numbers_beyond_a_type_are_refused_in_data_and_in_specifications(number: str, tmp_path: Path) -> None:
    kinds = [
        f'"values", "values": {number}',
        f'"constant", "value": {number}',
        f'"csr_rows", "nonzeros": {number}',
    ]
    kinds += [
        f'"{kind}", "low": {low}, "high": {high}'
        for kind in ("uniform", "sorted", "dominant_lower", "positive_definite", "lu_product")
        for low, high in ((number, 1), (-1, number))
    ]
    for kind in (INT32, UINT64, FLOAT, DOUBLE):
        one = argument("a", 2, 2, kind=kind)
        with pytest.raises(ProgramError):
            loaded(tmp_path / "d.json", f'{{"a": [[1, 2], [3, {number}]]}}', one)
        for text in kinds:
            with pytest.raises(ProgramError):
                draw_data(interface(one), f'{{"a": {{"kind": {text}}}}}', seed=1)


def test_ranges_that_no_generator_draws_from_are_refused() -> None:
    wide = {"kind": "uniform", "low": -1e308, "high": 1e308}
    message = r"^values of a must span what a double holds, got -1e\+308 to 1e\+308$"
    with pytest.raises(ProgramError, match=message):
        draw_data(interface(argument("a", kind=DOUBLE)), json.dumps({"a": wide}), seed=1)
    many = {"kind": "csr_rows", "nonzeros": 1 << 63}
    with pytest.raises(ProgramError, match=r"9223372036854775808 at a\.csr_rows\.nonzeros"):
        draw_data(interface(argument("a", 4, kind=UINT64)), json.dumps({"a": many}), seed=1)


def test_load_data_rejects_what_is_not_a_regular_file_and_a_large_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    for path, kind in {
        Path("/dev/zero"): "a character device",
        tmp_path / "pipe": "a pipe",
        tmp_path: "a folder",
        tmp_path / "large": f"{1 << 40} bytes",
    }.items():
        message = f"cannot read the data file {path}: {kind}; accepted: a regular file of at most 48 MiB"
        with pytest.raises(ProgramError, match=f"^{message}$"):
            load_data(path, interface(argument("a", 2)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"a": [' + "{}," * 100_000 + "{}]}", "'{', got 100002"),
        ('{"a": [' + "[]," * 100_000 + "[]]}", "'[', got 100002"),
        ('{"a": [' + "1," * 100_001 + "1]}", "',', got 100001"),
    ],
)
def test_load_data_counts_values_before_they_take_memory(content: str, said: str, tmp_path: Path) -> None:
    message = rf"^data of f has 2 values in 1 lists, so at most \d times {re.escape(said)} \(.*d\.json\)$"
    with pytest.raises(ProgramError, match=message):
        loaded(tmp_path / "d.json", content, argument("a", 2))


def test_data_id_is_of_content() -> None:
    one = {"a": np.arange(6, dtype=np.int32), "b": np.array(1, np.int32)}
    same = {"b": one["b"].copy(), "a": one["a"].astype(">i4").astype(np.int32)}
    assert data_id(one) == data_id(same)
    changed = one["a"].copy()
    changed[5] = 7
    others = [changed, one["a"].reshape(2, 3), one["a"].astype(np.int64), one["a"].astype("u4")]
    assert len({data_id({**one, "a": a}) for a in others} | {data_id(one)}) == 5


def test_text_is_letters_and_then_zeros() -> None:
    values = drawn(argument("s", 40), kind="text")
    count = int(np.argmin(values))
    assert values[-1] == 0
    assert not values[count:].any()
    assert all(chr(value).islower() for value in values[:count])


def test_text_rejects_several_dimensions() -> None:
    with pytest.raises(ProgramError, match="text"):
        drawn(argument("s", 4, 5), kind="text")
