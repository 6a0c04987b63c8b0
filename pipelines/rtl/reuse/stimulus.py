"""Inputs of a run from a CSV or Parquet file: one column per port, one row per cycle."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import BufferedReader, TextIOWrapper
from pathlib import Path

import numpy as np

from pipelines.base.files import open_regular, shown
from pipelines.base.parquet_files import open_parquet
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.ir import LIMB, mask
from pipelines.rtl.reuse.simulator import Ports, Words
from pipelines.rtl.reuse.structure import words_of

_MOST_BYTES, _MOST_ROWS = 16 << 30, 1 << 32
_MOST_DIGITS = 4000
"""Digits of a decimal number; Python converts some more."""
_TOO_LONG = -1
_DECIMAL, _HEXADECIMAL = re.compile(r"[0-9]+"), re.compile(r"0x[0-9a-fA-F]+")
_BATCH = 65_536  # rows of a Parquet file in memory


def read_stimulus(path: Path, ports: Ports, cycles: int) -> Words:
    """Read the inputs of the first cycles, from a Parquet file if it is called so, else from a CSV file.

    Values are decimal, or hexadecimal behind 0x; a port without a column is 0. Parquet columns are whole
    numbers, or such text for ports of more than 64 bits.

    Returns: (cycles, words, 1).
    Raises:  RtlError: not readable, an unknown port, a value that does not fit, or too few rows.
    """
    words = words_of(ports.inputs)
    inputs = np.zeros((cycles, len(words), 1), np.uint64)
    rows = _parquet_rows(path, ports, cycles) if path.suffix == ".parquet" else _csv_rows(path)
    try:
        _, header = next(rows, (1, list[str]()))
        _require_ports(header, ports, path)
        count = 0
        for line, row in rows:
            if count == cycles:
                return inputs
            values = _values(row, header, ports, f"{path}:{line}")
            for i, (port, limb, _) in enumerate(words):
                inputs[count, i, 0] = values.get(port, 0) >> (LIMB * limb) & mask(LIMB)
            count += 1
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise RtlError(f"inputs are not text in UTF-8: byte 0x{byte:02x} ({path})") from error
    except (OSError, csv.Error) as error:
        raise RtlError(
            f"cannot read the inputs {path}: {getattr(error, 'strerror', None) or error}"
        ) from error
    if count < cycles:
        raise RtlError(f"too few rows: {count} for {cycles} cycles ({path})")
    return inputs


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the names of columns, then the rows, with their lines."""
    with TextIOWrapper(_opened(path), newline="", encoding="utf-8") as stream:
        reader = csv.reader(stream)
        for row in reader:
            if row or reader.line_num == 1:
                yield reader.line_num, [text.strip() for text in row]


def _parquet_rows(path: Path, ports: Ports, most: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a Parquet file; row 1 are the names."""

    def damaged(problem: str) -> RtlError:
        return RtlError(f"cannot read the inputs {path}: {problem}")

    with _opened(path) as stream:
        stored = open_parquet(stream, columns=tuple(ports.inputs), most_rows=_MOST_ROWS, error=damaged)
        names = stored.schema_arrow.names
        yield 1, names
        count = 0
        for batch in stored.iter_batches(batch_size=min(most, _BATCH)):
            for row in zip(*(batch.column(i).to_pylist() for i in range(len(names))), strict=True):
                yield count + 2, [str(value) for value in row]
                count += 1


def _opened(path: Path) -> BufferedReader:
    return open_regular(path, what="inputs", most_bytes=_MOST_BYTES, error=RtlError)


def _require_ports(header: list[str], ports: Ports, path: Path) -> None:
    for name in header:
        if name not in ports.inputs:
            raise RtlError(f"unknown input: {name} ({path}:1); accepted: {', '.join(ports.inputs) or 'none'}")
    if len(set(header)) < len(header):
        raise RtlError(f"a port has two columns ({path}:1)")


def _upto(largest: int) -> str:
    bits = largest.bit_length()
    return f"0 to {largest}" if bits <= LIMB else f"0 to 2^{bits}-1"


def _number(text: str) -> int | None:
    """Return the number that a text is, in the digits of C; None when it is none."""
    if _DECIMAL.fullmatch(text):
        digits = text.lstrip("0")
        return int(digits or "0") if len(digits) <= _MOST_DIGITS else _TOO_LONG
    return int(text, 16) if _HEXADECIMAL.fullmatch(text) else None


def _values(row: list[str], header: list[str], ports: Ports, place: str) -> dict[str, int]:
    if len(row) != len(header):
        raise RtlError(f"{len(row)} values ({place}); accepted: {len(header)}, as in the first row")
    values: dict[str, int] = {}
    for port, text in zip(header, row, strict=True):
        largest = mask(ports.inputs[port])
        value = _number(text.strip())
        if value is None or not 0 <= value <= largest:
            is_form = value is None or (value == _TOO_LONG and largest >= 10**_MOST_DIGITS)
            form = f", decimal of {_MOST_DIGITS} digits or hexadecimal behind 0x" if is_form else ""
            problem = f"value of {port}: {shown(text.strip())!r} ({place})"
            raise RtlError(f"{problem}; accepted: {_upto(largest)}{form}")
        values[port] = value
    return values
