"""Columns of numbers of a CSV or Parquet file of a user: packets of a trace, flows of a matrix."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from pipelines.base.parquet_files import open_parquet
from pipelines.network.errors import NetworkError
from pipelines.network.topology.graph import first_ids

ENDINGS = (".csv", ".parquet")
COLUMN_LIMIT = 1000
HOSTS = ("source", "destination")
_HEADER_BYTES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a file has.

    Attributes:
        what: the file is; row: what a row of it is.
        required: columns that are there. optional: others, with the value of a file without them.
        choices: optional columns of texts, with the accepted ones; read as their places among these.
        numbers: columns of numbers; the others are whole numbers of 32 bits, or ids of hosts in HOSTS.
    """

    what: str
    row: str
    required: Sequence[str]
    optional: Mapping[str, float] = field(default_factory=dict[str, float])
    numbers: Sequence[str] = ()
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    most_rows: int

    def kind(self, name: str) -> Any:
        """Return the type of a column."""
        return pa.float64() if name in self.numbers else pa.int32()


@contextmanager
def naming_file(path: Path, what: str) -> Generator[None]:
    """Name the file in what is said of it. Raises: NetworkError: it cannot be read, or is refused."""
    try:
        yield
    except NetworkError as error:
        raise NetworkError(f"{error} ({path})") from error
    except UnicodeDecodeError as error:
        raise NetworkError(f"a {what}'s column names are not UTF-8: {error.reason} ({path})") from error
    except pa.ArrowException as error:
        kind = "CSV" if path.suffix == ".csv" else "Parquet"
        reason = _printable(str(error).splitlines()[0])
        raise NetworkError(f"damaged {kind}: {reason} ({path})") from error
    except OSError as error:
        raise NetworkError(f"cannot read the {what}: {error.strerror or error} ({path})") from error


def read_columns(
    file: BinaryIO, path: Path, form: Form, host_ids: Sequence[str] = ()
) -> dict[str, NDArray[Any]]:
    """Return the columns of an open file, (rows,) each; others of the file are left out.

    Args:   host_ids: of the network file, in the order of the hosts' numbers: in columns of HOSTS a value is
            one of them, or else a number.
    Raises: NetworkError: a column is lacking or has no number; the message names the row, from 1.
            pa.ArrowException, UnicodeDecodeError: the file is damaged.
    """
    if path.suffix == ".csv":
        names, batches = _csv(file, form)
    else:
        names, batches = _parquet(file, form, texts=(*(HOSTS if host_ids else ()), *form.choices))
    ids = pa.array(host_ids, pa.string())
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    count = 0
    for batch in batches:
        for name in parts:
            values = batch.column(name)
            if host_ids and name in HOSTS:
                values = _host_numbers(values, ids)
            if name in form.choices:
                values = _places(values, name, count, form)
            parts[name].append(_numbers(values, name, count, form, host_ids))
        count += batch.num_rows
        if count > form.most_rows:
            raise NetworkError(f"a {form.what} has more than {form.most_rows} {form.row}s")
    if count == 0:
        raise NetworkError(f"a {form.what} has no {form.row}s")
    columns = {name: np.concatenate(pieces) for name, pieces in parts.items()}
    for name, value in form.optional.items():
        whole = np.full(count, value)
        columns.setdefault(name, whole if name in form.numbers else whole.astype(np.int32))
    return columns


def _csv(file: BinaryIO, form: Form) -> tuple[list[str], Iterator[Any]]:
    """Return parts of a CSV file as text: its numbers are parsed here, so that a message can name the row."""
    header = file.read(_HEADER_BYTES).lstrip(b"\r\n")
    count = re.split(rb"[\r\n]", header, maxsplit=1)[0].count(b",") + 1
    if count > COLUMN_LIMIT:  # a thousand bytes of memory for each byte of a header
        raise NetworkError(f"a {form.what} must have at most {COLUMN_LIMIT} columns, got {count} or more")
    with pa_csv.open_csv(_native(file)) as reader:
        names = _known(reader.schema.names, form)
    options = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), include_columns=names, strings_can_be_null=False
    )
    return names, pa_csv.open_csv(_native(file), convert_options=options)


def _native(file: BinaryIO) -> pa.NativeFile:
    """Return the same open file for Arrow's threads.

    A thread that still reads a file of Python's when the interpreter ends aborts the process.
    """
    return pa.OSFile(f"/proc/self/fd/{file.fileno()}")


def _parquet(file: BinaryIO, form: Form, texts: Sequence[str]) -> tuple[list[str], Iterator[Any]]:
    """Return the columns of a Parquet file: numbers, those of `texts` also strings."""
    columns = (*form.required, *form.optional)
    content = open_parquet(
        file,
        columns=columns,
        most_rows=form.most_rows,
        error=lambda problem: NetworkError(f"a {form.what} has {problem}"),
    )
    schema = content.schema_arrow
    names = _known(schema.names, form)
    for name in names:
        kind = schema.field(name).type
        is_number = name in form.numbers
        is_text = name in texts and (pa.types.is_string(kind) or pa.types.is_large_string(kind))
        if not (is_text or pa.types.is_integer(kind) or (is_number and pa.types.is_floating(kind))):
            accepted = "numbers" if is_number else "whole numbers"
            accepted += " or texts" if name in texts else ""
            raise NetworkError(f"a {form.what}'s column {name} must be of {accepted}, got {kind}")
    return names, content.iter_batches(columns=names)


def _known(names: list[str], form: Form) -> list[str]:
    """Return the columns of a form that a file has."""
    own = [name for name in form.optional if name in names]
    if any(names.count(name) != 1 for name in (*form.required, *own)):
        more = f"; {', '.join(form.optional)} may be there" if form.optional else ""
        raise NetworkError(
            f"columns of a {form.what}: {_printable(', '.join(names)[:200])}; accepted: each of "
            f"{', '.join(form.required)} once{more}"
        )
    return [*form.required, *own]


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)


def _places(values: Any, name: str, rows_before: int, form: Form) -> Any:
    """Return the places of texts among the accepted ones."""
    texts = pc.utf8_lower(pc.utf8_trim_whitespace(pc.cast(values, pa.string())))
    places = pc.index_in(texts, value_set=pa.array(form.choices[name]))
    if places.null_count:
        row = pc.index(pc.is_null(places), True).as_py()
        raise NetworkError(
            f"a {form.row}'s {name} is {repr(values[row].as_py())[:60]} in row {rows_before + row + 1}; "
            f"accepted: {', '.join(form.choices[name])}"
        )
    return places


def _host_numbers(values: Any, ids: Any) -> Any:
    """Return the numbers of hosts as text; a value that is no id stays as it is."""
    values = pc.utf8_trim_whitespace(pc.cast(values, pa.string()))
    return pc.coalesce(pc.cast(pc.index_in(values, value_set=ids), pa.string()), values)


def _numbers(values: Any, name: str, rows_before: int, form: Form, host_ids: Sequence[str]) -> NDArray[Any]:
    """Return a part of a column, of text or numbers, as float64 or int32."""
    kind = form.kind(name)
    if pa.types.is_string(values.type):
        values = pc.utf8_trim_whitespace(values)
    if values.null_count or not _casts(values, kind):
        row = _first_wrong(values, kind)
        accepted = "a number" if name in form.numbers else "a whole number of 32 bits"
        if host_ids and name in HOSTS:
            accepted = f"the id of a host ({first_ids(host_ids)}) or {accepted}"
        raise NetworkError(
            f"a {form.row}'s {name} must be {accepted}, got {repr(values[row].as_py())[:60]} in row "
            f"{rows_before + row + 1}"
        )
    return pc.cast(values, kind).to_numpy(zero_copy_only=False)


def _casts(values: Any, kind: Any) -> bool:
    try:
        pc.cast(values, kind)
    except pa.ArrowInvalid:
        return False
    return True


def _first_wrong(values: Any, kind: Any) -> int:
    """Return the index of the first value that is null or not a number, by bisection."""
    right, wrong = 0, len(values)  # the first `right` values are valid, the first `wrong` are not
    while wrong - right > 1:
        middle = (right + wrong) // 2
        part = values.slice(right, middle - right)
        if part.null_count == 0 and _casts(part, kind):
            right = middle
        else:
            wrong = middle
    return right
