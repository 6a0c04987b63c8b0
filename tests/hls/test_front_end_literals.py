"""Constants of C: types by suffix and value, values to the last bit."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from pipelines.c import ir
from pipelines.c.reading.ctypes import read_character, read_floating, read_integer, read_string
from pipelines.c.signature import DOUBLE, FLOAT, INT32, INT64, UINT16, UINT32, UINT64, ScalarType


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("0", 0, INT32),
        ("2147483647", 2147483647, INT32),
        ("2147483648", 2147483648, INT64),
        ("0x7fffffff", 0x7FFFFFFF, INT32),
        ("0xffffffff", 0xFFFFFFFF, UINT32),
        ("037777777777", 0xFFFFFFFF, UINT32),
        ("0b101", 5, INT32),
        ("010", 8, INT32),
        ("1u", 1, UINT32),
        ("4294967296u", 1 << 32, UINT64),
        ("1l", 1, INT64),
        ("1LL", 1, INT64),
        ("1uLL", 1, UINT64),
        ("1lu", 1, UINT64),
        ("0xffffffffffffffff", (1 << 64) - 1, UINT64),
        ("9223372036854775807", (1 << 63) - 1, INT64),
    ],
)
def test_integer_constant_has_the_first_type_that_fits(text: str, value: int, kind: ScalarType) -> None:
    assert read_integer(text) == ir.Constant(value=value, type=kind)


@pytest.mark.parametrize(
    "text", ["", "08", "1lL", "1uu", "9223372036854775808", "0x1ffffffffffffffff", "1'000"]
)
def test_integer_constant_rejects_what_c11_has_not(text: str) -> None:
    assert read_integer(text) is None


@pytest.mark.parametrize(
    ("text", "bits", "kind"),
    [
        ("1.5", 0x3FF8000000000000, DOUBLE),
        (".5f", 0x3F000000, FLOAT),
        ("3.", 0x4008000000000000, DOUBLE),
        ("1e400", 0x7FF0000000000000, DOUBLE),
        ("1e39f", 0x7F800000, FLOAT),
        ("1e-50F", 0, FLOAT),
        ("0x1.8p1", 0x4008000000000000, DOUBLE),
        ("0x1p-149f", 1, FLOAT),
        ("0x.8p0f", 0x3F000000, FLOAT),
        ("0x1.fffffffp0f", 0x40000000, FLOAT),
        ("1.000000059604644775390625f", 0x3F800000, FLOAT),
        ("1.000000059604644775390626f", 0x3F800001, FLOAT),
        ("1.00000017881393432617187499f", 0x3F800001, FLOAT),
        ("7.006492321624085e-46f", 0, FLOAT),
        ("7.0064923216240854e-46f", 1, FLOAT),
    ],
)
def test_floating_constant_is_rounded_once(text: str, bits: int, kind: ScalarType) -> None:
    assert read_floating(text) == ir.Constant(value=bits, type=kind)


def test_random_float_constants_are_nearest() -> None:
    random = Random(3)
    with localcontext() as context:
        context.prec = 60
        for _ in range(300):
            near = np.float32(random.uniform(-1, 1) * 10.0 ** random.randint(-44, 37))
            towards = np.nextafter(near, np.float32(np.inf))
            middle = (Decimal(float(near)) + Decimal(float(towards))) / 2
            for text in (str(abs(middle)), str(abs(middle) * Decimal("1.00000000000000000001"))):
                read = read_floating(f"{text}f" if "." in text or "E" in text else f"{text}.0f")
                assert read is not None
                exact, value = Fraction(Decimal(text)), np.float32(read.number)
                lower, upper = (
                    np.nextafter(value, np.float32(-np.inf)),
                    np.nextafter(value, np.float32(np.inf)),
                )
                error = abs(Fraction(float(value)) - exact)
                assert error <= min(abs(Fraction(float(n)) - exact) for n in (lower, upper))


@pytest.mark.parametrize("text", ["1.5L", "1.5ff", "0x1.8", "0xp3", "e5", "1" * 5000 + ".0x"])
def test_floating_constant_rejects_long_double_and_nonsense(text: str) -> None:
    assert read_floating(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("'a'", 97), ("'\\n'", 10), ("'\\0'", 0), ("'\\x41'", 65), ("'\\377'", -1), ("'\\''", 39), ("'\"'", 34)],
)
def test_character_constant_is_a_signed_char(text: str, value: int) -> None:
    assert read_character(text) == ir.Constant(value=value)


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("'ab'", 0x6162, INT32),
        ("'é'", 0xC3A9, INT32),
        ("'\\377\\377\\377\\376'", -2, INT32),
        ("L'é'", 0xE9, INT32),
        ("u'a'", 97, UINT16),
        ("U'\\xffffffff'", 0xFFFFFFFF, UINT32),
    ],
)
def test_characters_of_several_bytes_and_wide_ones_are_as_in_gcc(
    text: str, value: int, kind: ScalarType
) -> None:
    assert read_character(text) == ir.Constant(value=value, type=kind)


@pytest.mark.parametrize("text", ["'abcde'", "L'ab'", "u'\\x10000'", "u8'a'", "''", "L''"])
def test_character_constant_rejects_what_gcc_does_not_read_so(text: str) -> None:
    assert read_character(text) is None


def test_string_has_its_final_zero_and_joins_its_parts() -> None:
    assert read_string('"a\\n" "\\x62" "c"') == (97, 10, 98, 99, 0)
    assert read_string('L"a"') is None
