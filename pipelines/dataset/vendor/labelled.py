"""A table of the user's own: sources, directives and what Vitis, Genus or another tool made of them.

`LabelledSource` has the columns; a CSV file has them in its first line, an empty cell is no value.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipelines.base.files import open_regular, read_bounded
from pipelines.base.parquet_files import open_parquet
from pipelines.dataset.vendor.errors import VendorError
from pipelines.schemas import OK

FILE_LIMIT_BYTES = 128 << 20
ROW_LIMIT = 200_000
CELL_LIMIT = 1 << 20
"""Characters of a cell, as of a C file."""
CSV, PARQUET = ".csv", ".parquet"
Count = Annotated[int, Field(ge=0, lt=2**63)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class LabelledSource(BaseModel):
    """One row: a program under one configuration, and its labels.

    Attributes:
        source: C text; file: of the program instead, in the folder of the table. name: of the program.
        top: function that becomes hardware; None for the one the program is about.
        directives: JSON list as in the table `designs`.
        tool, tool_version: that made the labels. library: cell library, or FPGA.
        status, reason: outcome of the tool; a failed row has its reason.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Annotated[str, Field(min_length=1)] | None = None
    file: Name | None = None
    name: Name | None = None
    top: Name | None = None
    directives: str = "[]"
    memory_read_delay_cycles: Annotated[int, Field(ge=1, le=1000)] = 2
    memory_write_delay_cycles: Annotated[int, Field(ge=1, le=1000)] = 2
    clock_period_ns: Annotated[float, Field(ge=0.1, le=1000)] = 10.0
    tool: Name
    tool_version: Name = "unknown"
    library: Name = "unknown"
    status: Literal["ok", "timeout", "tool_error", "infeasible", "rejected"] = "ok"
    reason: str | None = None
    area_um2: Amount | None = None
    flip_flop_count: Count | None = None
    cell_count: Count | None = None
    delay_ns: Amount | None = None
    leakage_mw: Amount | None = None
    power_mw: Amount | None = None
    latency_cycles: Count | None = None
    lut_count: Count | None = None
    dsp_count: Count | None = None
    bram_count: Count | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if (self.source is None) == (self.file is None):
            raise ValueError("accepted: either source or file")
        if self.status == OK and all(getattr(self, name) is None for name in RESULTS):
            raise ValueError(f"a row that is ok has one of {', '.join(RESULTS)}")
        if self.status != OK and not self.reason:
            raise ValueError(f"a row of status {self.status} has a reason")
        return self


RESULTS = (
    "area_um2",
    "flip_flop_count",
    "cell_count",
    "delay_ns",
    "leakage_mw",
    "power_mw",
    "latency_cycles",
    "lut_count",
    "dsp_count",
    "bram_count",
)
COLUMNS = tuple(LabelledSource.model_fields)


def is_labelled_table(path: Path) -> bool:
    """Tell whether a file is a table of sources with labels: any CSV file; Parquet with a column for sources.

    Raises: VendorError: damaged.
    """
    if path.suffix == CSV:
        return path.is_file()
    if path.suffix != PARQUET or not path.is_file():
        return False
    with open_regular(path, what="table", most_bytes=FILE_LIMIT_BYTES, error=VendorError) as stream:
        opened = open_parquet(stream, columns=(), most_rows=ROW_LIMIT, error=_damaged(path))
        return bool({"source", "file"} & set(opened.schema_arrow.names))


def read_labelled_table(path: Path) -> list[LabelledSource]:
    """Return the rows of a CSV or Parquet file, in order.

    Raises: VendorError: the file, a column or a value is not acceptable; the message names the row, from 1.
    """
    rows = list(_csv_rows(path) if path.suffix == CSV else _parquet_rows(path))
    if not rows:
        raise VendorError(f"no rows: {path}")
    return [_checked(row, number, path) for number, row in enumerate(rows, 1)]


def _csv_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    content = read_bounded(path, what="table", most_bytes=FILE_LIMIT_BYTES, error=VendorError)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VendorError(f"not UTF-8: {path}: byte {error.start}") from error
    before = csv.field_size_limit(CELL_LIMIT)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        _require_columns(reader.fieldnames or (), path)
        for number, row in enumerate(reader, 1):
            if None in row or None in row.values():
                raise VendorError(f"row {number} has another number of cells than the first line: {path}")
            yield row
    except csv.Error as error:
        raise VendorError(f"not CSV: {path}: {error}") from error
    finally:
        csv.field_size_limit(before)


def _parquet_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    with open_regular(path, what="table", most_bytes=FILE_LIMIT_BYTES, error=VendorError) as stream:
        opened = open_parquet(stream, columns=COLUMNS, most_rows=ROW_LIMIT, error=_damaged(path))
        _require_columns(opened.schema_arrow.names, path)
        try:
            yield from opened.read().to_pylist()
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _damaged(path)(str(error)) from error


def _damaged(path: Path) -> Callable[[str], VendorError]:
    def error(text: str) -> VendorError:
        return VendorError(f"damaged: {path}: {text}")

    return error


def _require_columns(names: Iterable[str], path: Path) -> None:
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise VendorError(f"unknown column: {unknown[0]} ({path}); accepted: {', '.join(COLUMNS)}")
    repeated = [name for name in names if list(names).count(name) > 1]
    if repeated:
        raise VendorError(f"column twice: {repeated[0]} ({path})")


def _checked(row: Mapping[str, Any], number: int, path: Path) -> LabelledSource:
    given = {name: value for name, value in row.items() if value is not None and value != ""}
    try:
        return LabelledSource.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = f"{path}, row {number}"
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing":
            raise VendorError(f"no value for {name} ({where})") from error
        said = first["msg"].removeprefix("Value error, ")
        raise VendorError(
            f"{name}: {said}, got {str(first['input'])[:80]!r} ({where})" if name else f"{said} ({where})"
        ) from error
