"""Records as files: JSON Lines and Parquet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from pipelines.records.errors import RecordError
from pipelines.schemas import RecordRow, table_spec, write_bytes_atomically

SUFFIXES = (".jsonl", ".parquet")


def write_records(path: Path, records: Sequence[RecordRow]) -> None:
    """Write records to a file, sorted by design, data and format; the suffix says how.

    Raises: RecordError: another suffix. OSError: not writable.
    """
    require_suffix(path)
    ordered = sorted(records, key=lambda r: (r.design_id, r.data_id, r.format))
    if path.suffix == ".parquet":
        sink = pa.BufferOutputStream()
        pq.write_table(table_spec("records").to_arrow(ordered), sink, compression="zstd")
        write_bytes_atomically(path, sink.getvalue().to_pybytes())
        return
    lines = (json.dumps(asdict(record), ensure_ascii=False) + "\n" for record in ordered)
    write_bytes_atomically(path, "".join(lines).encode())


def require_suffix(path: Path) -> None:
    """Refuse a file whose suffix says no known format.

    Raises: RecordError: so.
    """
    if path.suffix not in SUFFIXES:
        raise RecordError(f"a file of records must end with {' or '.join(SUFFIXES)}, got {path.name}")


def read_records(path: Path) -> list[RecordRow]:
    """Records of a JSON Lines file.

    Raises: RecordError: a line is no record. OSError: not readable.
    """
    names = [f.name for f in fields(RecordRow)]
    rule = f"a line must be a JSON object of the texts {', '.join(names)}"
    found: list[RecordRow] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], 1):
        try:
            value = _TEXTS.validate_json(line, strict=True)
        except ValidationError as error:
            raise RecordError(f"{rule}, got {error.errors()[0]['msg']} ({path}:{number})") from error
        if set(value) != set(names):
            raise RecordError(f"{rule}, got {', '.join(sorted(value))} ({path}:{number})")
        found.append(RecordRow(**value))
    return found


_TEXTS = TypeAdapter(dict[str, str])
