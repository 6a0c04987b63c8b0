"""Databases of Merlin and Vitis HLS results: a Parquet file of attempts, and a JSON file of the kernels.

The Parquet file has one row an attempt: kernel, toolchain, the stage that ended it (`transform`, Merlin's
source transformation, or `hls`), outcome, directives as a JSON object of named places, latency and resources.
The JSON file, by `<suite>/<kernel>`, has the loops with the names of their places.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, StrictInt, StrictStr, TypeAdapter, ValidationError

from pipelines.base.arithmetic import whole_number
from pipelines.base.files import open_regular, read_bounded
from pipelines.base.identity import canonical_json
from pipelines.base.parquet_files import open_parquet
from pipelines.dataset.vendor.csynth import VendorReport
from pipelines.dataset.vendor.errors import VendorError
from pipelines.schemas import OK, REJECTED, TIMEOUT, TOOL_ERROR, VendorDesignRow, VendorLoopRow

JSON_LIMIT_BYTES = 64 << 20
FILE_LIMIT_BYTES = 256 << 20
TEXT_LIMIT_BYTES = 128 << 20
ROW_LIMIT = 200_000
LOOP_LIMIT = 100_000
"""The public database has 20,177 rows with 3.3 MiB of text, and 31 kernels with 146 loops."""
STATUSES: Mapping[str, tuple[str, str | None]] = {
    "ok": (OK, None),
    "duplicate": (OK, "the tool found it to be a duplicate of another point"),
    "early_reject": (REJECTED, "the tool rejected the directives before HLS"),
    "timeout": (TIMEOUT, "the tool ran past its time limit"),
    "analysis_error": (TOOL_ERROR, "the tool could not analyse the source"),
    "unavailable": (TOOL_ERROR, "the tool gave no result"),
}
"""The format's outcomes as status and reason of a row."""

_TEXTS = ("suite", "kernel", "tool", "stage", "status", "directives")
_COUNTS = ("latency_cycles", "dsp_count", "bram_count", "lut_count", "ff_count")
_SHARES = ("dsp_utilization", "bram_utilization", "lut_utilization", "ff_utilization")
_COLUMNS = (*_TEXTS, *_COUNTS, *_SHARES, "fits")
_BATCH_ROWS = 256
_STAGES = ("transform", "hls")
_KINDS = {"pipeline": "pipeline", "tile": "tile", "parallel": "parallel"}
_STEP = re.compile(r"\+\+|--|([+-])=\s*(\d{1,18})$|=\s*\w+\s*([+-])\s*(\d{1,18})$")
_CAST = re.compile(r"\(\s*(?:unsigned|signed|char|short|int|long|\s)+\)")


class _Loop(BaseModel):
    """A loop of a kernel as the JSON file has it."""

    model_config = ConfigDict(extra="allow", frozen=True)

    parent: int | None
    iterator: str
    lower: str
    cmp: str
    upper: str
    step: str
    pipeline: str | None = None
    tile: str | None = None
    parallel: str | None = None


class _Kernel(BaseModel):
    """A kernel as the JSON file has it."""

    model_config = ConfigDict(extra="allow", frozen=True)

    loops: tuple[_Loop, ...]


Kernels = Mapping[str, _Kernel]
_DIRECTIVES: TypeAdapter[dict[str, StrictStr | StrictInt]] = TypeAdapter(dict[str, StrictStr | StrictInt])
_KERNELS: TypeAdapter[dict[str, _Kernel]] = TypeAdapter(dict[str, _Kernel])


def read_merlin(path: Path, *, kernels: Path | None = None) -> VendorReport:
    """Read a database.

    Args:    path: the Parquet file; kernels: the JSON file, None for none.
    Returns: one design row an attempt, whatever became of it, and the loops of the kernels.
    Raises:  VendorError: a file is not readable or breaks the format; the message has the row.
    """
    known: Kernels = {} if kernels is None else read_kernels(kernels)
    designs = [_design(record, f"{path}, row {n}", known) for n, record in enumerate(_records(path))]
    return VendorReport(designs=tuple(designs), loops=tuple(_loop_rows(known)))


def read_kernels(path: Path) -> Kernels:
    """Read the JSON file of the kernels.

    Raises: VendorError: not readable, larger than 64 MiB, not JSON, or not of this form.
    """
    content = read_bounded(path, what="kernels", most_bytes=JSON_LIMIT_BYTES, error=VendorError)
    if content.count(b"{") > LOOP_LIMIT or content.count(b",") > 20 * LOOP_LIMIT:
        raise VendorError(
            f"kernels must have at most {LOOP_LIMIT} JSON objects of 20 fields, got more ({path})"
        )
    try:
        kernels = _KERNELS.validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(p) for p in first["loc"]) or "the file"
        raise VendorError(
            f"kernels must be JSON objects with loops, got at {place}: {first['msg']} ({path})"
        ) from error
    for name, kernel in kernels.items():
        for index, loop in enumerate(kernel.loops):
            if loop.parent is not None and not 0 <= loop.parent < index:
                rule = f"the parent of loop {index} of {name} must be an earlier loop"
                raise VendorError(f"{rule}, got {loop.parent} ({path})")
    return kernels


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of the Parquet file, its columns and their types checked."""

    def refused(problem: str) -> VendorError:
        return VendorError(f"a database has {problem} ({path})")

    with open_regular(path, what="database", most_bytes=FILE_LIMIT_BYTES, error=VendorError) as file:
        try:
            content = open_parquet(file, columns=_COLUMNS, most_rows=ROW_LIMIT, error=refused, encoded=_TEXTS)
            names = _column_names(content.schema_arrow, path)
            text_bytes = 0
            for batch in content.iter_batches(batch_size=_BATCH_ROWS, columns=names):
                text_bytes += sum(_text_bytes(batch.column(name)) for name in _TEXTS)
                if text_bytes > TEXT_LIMIT_BYTES:
                    raise refused(f"more than {TEXT_LIMIT_BYTES >> 20} MiB of text in all rows")
                yield from batch.to_pylist()
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            first = (str(error).splitlines() or ["nothing"])[0]
            raise VendorError(f"a database must be a readable Parquet file, got {first} ({path})") from error


def _column_names(schema: pa.Schema, path: Path) -> list[str]:
    for name in (*_TEXTS, *_COUNTS):
        if name not in schema.names:
            got = ", ".join(schema.names[:20]) or "none"
            raise VendorError(f"a database must have the column {name}, got {got} ({path})")
    for name in (n for n in (*_TEXTS, *_COUNTS, *_SHARES) if n in schema.names):
        kind = schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        is_number = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)
        if not (is_text if name in _TEXTS else is_number):
            expected = "text" if name in _TEXTS else "a number"
            raise VendorError(f"column {name} must be {expected}, got {kind} ({path})")
    return [name for name in _COLUMNS if name in schema.names]


def _text_bytes(column: pa.DictionaryArray) -> int:
    """Return the bytes of a column's texts when each row has its own."""
    return pc.sum(pc.take(pc.binary_length(column.dictionary), column.indices)).as_py() or 0


# ---- one attempt -----------------------------------------------------------------------------------


def _design(record: Mapping[str, Any], where: str, kernels: Kernels) -> VendorDesignRow:
    for name in _TEXTS:
        if record[name] is None:
            raise VendorError(f"{name} must have a value, got nothing ({where})")
    stage, word, toolchain = record["stage"], record["status"], record["tool"]
    if stage not in _STAGES:
        raise VendorError(f"stage must be one of {', '.join(_STAGES)}, got {stage[:40]!r} ({where})")
    if word not in STATUSES:
        raise VendorError(f"status must be one of {', '.join(STATUSES)}, got {word[:40]!r} ({where})")
    directives = _directives(record["directives"], where)
    counts = {name: _count(record[name], name, where) for name in _COUNTS}
    status, reason = _outcome(word, stage, counts)
    kernel = kernels.get(f"{record['suite']}/{record['kernel']}")
    return VendorDesignRow(
        kernel=record["kernel"],
        tool=toolchain if stage == "hls" else f"merlin-{toolchain}",
        directives=canonical_json(directives),
        suite=record["suite"],
        source="merlin_vitis",
        toolchain=toolchain,
        tool_version=toolchain.rpartition("-")[2],
        stage=stage,
        vendor_status=word,
        status=status,
        reason=reason,
        directives_by_loop=None if kernel is None else canonical_json(_by_loop(directives, kernel)),
        fits=record.get("fits") if isinstance(record.get("fits"), bool) else None,
        part=None,
        clock_period_ns=None,
        clock_uncertainty_ns=None,
        estimated_clock_period_ns=None,
        latency_best_cycles=None,
        latency_average_cycles=None,
        interval_min_cycles=None,
        interval_max_cycles=None,
        uram_count=None,
        dsp_available=None,
        bram_available=None,
        lut_available=None,
        ff_available=None,
        uram_available=None,
        latency_cycles=counts["latency_cycles"],
        dsp_count=counts["dsp_count"],
        bram_count=counts["bram_count"],
        lut_count=counts["lut_count"],
        ff_count=counts["ff_count"],
        dsp_utilization=_share(record, "dsp_utilization", where),
        bram_utilization=_share(record, "bram_utilization", where),
        lut_utilization=_share(record, "lut_utilization", where),
        ff_utilization=_share(record, "ff_utilization", where),
    )


def _outcome(word: str, stage: str, counts: Mapping[str, int | None]) -> tuple[str, str | None]:
    """Return the status and reason; a duplicate without numbers was not evaluated."""
    status, reason = STATUSES[word]
    if status == OK and counts["latency_cycles"] is None:
        reason = f"{reason}; no latency" if reason else "the database has no latency of it"
        return (REJECTED if word == "duplicate" else OK), reason
    return status, reason if status == OK or reason is None else f"{stage}: {reason}"


def _directives(text: str, where: str) -> dict[str, str | int]:
    try:
        return _DIRECTIVES.validate_json(text)
    except ValidationError as error:
        raise VendorError(
            f"directives must be a JSON object of texts and whole numbers, got {text[:60]!r} ({where})"
        ) from error


def _number(value: Any) -> float | None:
    """Return the number, None for null and for not a number, which is how the format leaves one out."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _count(value: Any, name: str, where: str) -> int | None:
    number = _number(value)
    if number is None:
        return None
    if not (0 <= number < 2**63 and number == math.floor(number)):
        raise VendorError(f"{name} must be a whole number of at least 0, got {value} ({where})")
    return int(number)


def _share(record: Mapping[str, Any], name: str, where: str) -> float | None:
    number = _number(record.get(name))
    if number is not None and not 0 <= number < math.inf:
        raise VendorError(f"{name} must be a number of at least 0, got {number} ({where})")
    return None if number is None else float(number)


# ---- places and loops ------------------------------------------------------------------------------


def _by_loop(directives: Mapping[str, str | int], kernel: _Kernel) -> list[dict[str, str | int]]:
    """Return the directives at each loop: kind, loop index, and the value as the database has it."""
    return [
        {"kind": kind, "loop_index": index, "value": directives[place]}
        for index, loop in enumerate(kernel.loops)
        for kind in _KINDS
        if (place := getattr(loop, kind)) is not None and place in directives
    ]


def _loop_rows(kernels: Kernels) -> list[VendorLoopRow]:
    return [
        row for name, kernel in kernels.items() for row in _loops_of(name.rpartition("/")[2], kernel.loops)
    ]


def _loops_of(kernel: str, loops: Sequence[_Loop]) -> list[VendorLoopRow]:
    depths: list[int] = []
    rows: list[VendorLoopRow] = []
    for index, loop in enumerate(loops):
        depths.append(1 if loop.parent is None else depths[loop.parent] + 1)
        trips = _trip_count(loop)
        rows.append(
            VendorLoopRow(
                kernel=kernel,
                tool="merlin",
                directives=canonical_json({}),
                loop_index=index,
                module=kernel,
                loop=loop.iterator,
                parent_index=loop.parent,
                depth=depths[index],
                trip_count_min=trips,
                trip_count_max=trips,
                latency_min_cycles=None,
                latency_max_cycles=None,
                iteration_latency_cycles=None,
                interval_cycles=None,
                pipeline_depth_cycles=None,
                pipelined=None,
                pipeline_directive=loop.pipeline,
                tile_directive=loop.tile,
                parallel_directive=loop.parallel,
            )
        )
    return rows


def _trip_count(loop: _Loop) -> int | None:
    """Return the iterations of a loop whose bounds and step are numbers; None for others, and from 2^63."""
    lower, upper = (whole_number(_CAST.sub("", text)) for text in (loop.lower, loop.upper))
    step = _step(loop.step)
    if lower is None or upper is None or not step or loop.cmp not in ("<", "<=", ">", ">="):
        return None
    if (step > 0) != (loop.cmp in ("<", "<=")):
        return None
    distance = (upper - lower) * (1 if step > 0 else -1) + (1 if loop.cmp in ("<=", ">=") else 0)
    trips = max(0, -(-distance // abs(step)))
    return trips if trips < 2**63 else None


def _step(text: str) -> int | None:
    match = _STEP.search(text.strip())
    if match is None:
        return None
    sign, amount = match[1] or match[3], match[2] or match[4]
    if sign is None:
        return 1 if "++" in match[0] else -1
    return int(f"{sign}{amount}")
