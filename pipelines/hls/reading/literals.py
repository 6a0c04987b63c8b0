"""Constants of C: their types by suffix and value, their values to the last bit."""

from __future__ import annotations

import re
from fractions import Fraction

from pipelines.hls import ir
from pipelines.interface import DOUBLE, FLOAT, INT32, INT64, UINT32, UINT64, ScalarType

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)([uUlL]*)$")
_SUFFIXES = {"": (False, 32), "u": (True, 32), "l": (False, 64), "ll": (False, 64)} | dict.fromkeys(
    ("ul", "lu", "ull", "llu"), (True, 64)
)
_DECIMAL = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?$")
_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$")
_SIMPLE_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "e": 27}
_CHARACTER = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|(.))|([^\\])", re.DOTALL)
_STRING_PART = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_LARGEST_EXPONENT = 100_000


def read_integer(text: str) -> ir.Constant | None:
    """An integer constant; None when it is malformed or fits no type (C11 6.4.4.1)."""
    found = _INTEGER.match(text)
    if found is None or found[2].lower() not in _SUFFIXES or "lL" in found[2] or "Ll" in found[2]:
        return None
    digits = found[1]
    decimal = digits[0] != "0"
    octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    value = int(digits, 8) if octal else int(digits, 0)
    unsigned, width_bits = _SUFFIXES[found[2].lower()]
    for kind in (INT32, UINT32, INT64, UINT64):
        if kind.width_bits < width_bits or (unsigned and kind.signed):
            continue
        if decimal and not unsigned and not kind.signed:
            continue
        if value < 1 << (kind.width_bits - kind.signed):
            return ir.Constant(value=value, type=kind)
    return None


def read_floating(text: str) -> ir.Constant | None:
    """A floating constant, rounded once to its type; None when malformed or long double."""
    kind = DOUBLE
    digits = text
    hexadecimal = text[:2] in ("0x", "0X")
    if text[-1:] in "fF" and (not hexadecimal or "p" in text.lower()):
        kind, digits = FLOAT, text[:-1]
    elif text[-1:] in "lL":
        return None
    if hexadecimal:
        return _read_hexadecimal(digits, kind)
    found = _DECIMAL.match(digits)
    if found is None:
        return None
    near = float(digits)
    exponent = int((found[1] or "0")[:7])
    if kind == DOUBLE or near == 0.0 or abs(exponent) > 400:
        return ir.float_constant(near, kind)
    return _rounded(Fraction(digits), kind)


def _read_hexadecimal(digits: str, kind: ScalarType) -> ir.Constant | None:
    found = _HEXADECIMAL.match(digits)
    if found is None or not found[1] + found[2]:
        return None
    exponent = int(found[3])
    mantissa = int(found[1] + found[2], 16)
    if abs(exponent) > _LARGEST_EXPONENT:
        return ir.float_constant(float("inf") if exponent > 0 and mantissa else 0.0, kind)
    return _rounded(Fraction(mantissa) * Fraction(2) ** (exponent - 4 * len(found[2])), kind)


def _rounded(exact: Fraction, kind: ScalarType) -> ir.Constant:
    """A number of at least zero rounded once, to nearest even, to a floating type."""
    if exact == 0:
        return ir.Constant(value=0, type=kind)
    precision, lowest, highest = (24, -149, 127) if kind == FLOAT else (53, -1074, 1023)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if Fraction(2) ** exponent > exact:
        exponent -= 1
    unit = max(exponent - precision + 1, lowest)
    mantissa = round(exact / Fraction(2) ** unit)
    if mantissa.bit_length() + unit > highest + 1:
        return ir.float_constant(float("inf"), kind)
    return ir.float_constant(float(mantissa * Fraction(2) ** unit), kind)


def _character_values(text: str) -> list[int] | None:
    """Values of the characters of a quoted text, as bytes."""
    values: list[int] = []
    for found in _CHARACTER.finditer(text):
        octal, hexadecimal, simple, plain = found.groups()
        if octal is not None:
            values.append(int(octal, 8))
        elif hexadecimal is not None:
            values.append(int(hexadecimal, 16))
        elif simple is not None:
            values.append(_SIMPLE_ESCAPES.get(simple, ord(simple)))
        else:
            values.extend(plain.encode())
    return values if all(v < 256 for v in values) else None


def read_character(text: str) -> ir.Constant | None:
    """A character constant: an int with the value of a signed char; None when it is not one byte."""
    values = _character_values(text[1:-1]) if text[:1] == "'" else None
    if values is None or len(values) != 1:
        return None
    return ir.Constant(value=values[0] - 256 if values[0] > 127 else values[0])


def read_string(text: str) -> tuple[int, ...] | None:
    """Bytes of a string with its final zero, as signed chars; None for wide or malformed strings."""
    parts = _STRING_PART.findall(text)
    if not text.startswith('"') or _STRING_PART.sub("", text).strip():
        return None
    values: list[int] = []
    for part in parts:
        found = _character_values(part)
        if found is None:
            return None
        values.extend(found)
    return tuple(v - 256 if v > 127 else v for v in (*values, 0))
