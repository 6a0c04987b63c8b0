"""Rows of programs, designs, labels and runs as records, in the cache and in files."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache as once
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from pipelines.cache import ContentCache
from pipelines.identity import content_hash
from pipelines.programs import code_version
from pipelines.records.layout import (
    FEATURES,
    QUANTITIES,
    Completion,
    RecordError,
    write_completion,
    write_prompt,
)
from pipelines.records.prompts import prompt_of
from pipelines.schemas import (
    FORMATS,
    OK,
    DesignRow,
    LabelRow,
    LoopRow,
    ProgramRow,
    RecordRow,
    RunRow,
    SplitRow,
    table_spec,
    write_bytes_atomically,
)
from pipelines.synthesis import TOOL as SYNTHESIS_TOOL

EVALUATION = "evaluation"

DataText = Callable[[ProgramRow, RunRow], Mapping[str, str]]
"""Runtime inputs of a program in a run, by argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRows:
    """The rows records are made of; loops are where directives find their place in the source."""

    programs: Sequence[ProgramRow]
    loops: Sequence[LoopRow]
    designs: Sequence[DesignRow]
    labels: Sequence[LabelRow]
    runs: Sequence[RunRow]
    splits: Sequence[SplitRow]


def make_records(
    rows: LabelledRows,
    *,
    split: str,
    data_text: DataText,
    formats: Iterable[str] = FORMATS,
) -> list[RecordRow]:
    """Records of every design and data set whose program, design, label and run are ok.

    A design of a tool that tells no features of its RTL has no reasoning record. A label that was not asked
    for, power for example, is left out of the completion.

    Args:    split: name of the split that `splits` places programs in; programs of the stage evaluation have
             the part `evaluation` whatever it says.
    Raises:  RecordError: a program without a place, or rows that do not belong together.
    """
    programs = {p.program_id: p for p in rows.programs if p.status == OK}
    labels = {row.design_id: row for row in rows.labels if row.status == OK and row.tool == SYNTHESIS_TOOL}
    runs: defaultdict[str, list[RunRow]] = defaultdict(list)
    for run in rows.runs:
        if run.status == OK:
            runs[run.design_id].append(run)
    parts = {place.program_id: place.part for place in rows.splits if place.split == split}
    loops: defaultdict[str, list[LoopRow]] = defaultdict(list)
    for loop in rows.loops:
        loops[loop.program_id].append(loop)
    forms = tuple(formats)
    records: list[RecordRow] = []
    for design in rows.designs:
        program, label = programs.get(design.program_id), labels.get(design.design_id)
        if design.status != OK or program is None or label is None:
            continue
        part = EVALUATION if program.stage == EVALUATION else parts.get(program.program_id)
        if part is None:
            raise RecordError(
                f"a program must have a place in the split {split}, got none for {program.name}"
            )
        for run in runs[design.design_id]:
            data = data_text(program, run)
            prompt = write_prompt(prompt_of(program, loops[program.program_id], design, data))
            for form in forms:
                completion = completion_of(design, label, run, reasoning=form == "reasoning")
                if completion is None:
                    continue
                records.append(
                    RecordRow(
                        design_id=design.design_id,
                        data_id=run.data_id,
                        format=form,
                        program_id=program.program_id,
                        suite=program.suite,
                        stage=program.stage,
                        split=split,
                        part=part,
                        prompt=prompt,
                        completion=write_completion(completion),
                    )
                )
    return records


def completion_of(design: DesignRow, label: LabelRow, run: RunRow, *, reasoning: bool) -> Completion | None:
    """Labels of a design, and its features for reasoning; None when it has none to reason about."""
    values = {q.column: getattr(run if q.dynamic else label, q.column) for q in QUANTITIES}
    labels = {column: value for column, value in values.items() if value is not None}
    if not reasoning:
        return Completion(labels=labels, features={}, intervals=None)
    if design.initiation_intervals is None or design.state_count is None:
        return None
    features = {column: getattr(design, column) for _, column, _ in FEATURES}
    return Completion(
        labels=labels,
        features={column: value for column, value in features.items() if value is not None},
        intervals=json.loads(design.initiation_intervals),
    )


# ---- cache -----------------------------------------------------------------------------------------


_KIND = "records"
_VERSION = "4f13dc8c2623bd9f8c3ab25f22959da7f79d1e93782d17bd790f2ccf8872fb4e"
"""Raise it when the same tables give other records."""


def cached_records(
    files: Sequence[Path],
    places: Mapping[str, str],
    make: Callable[[], Sequence[RecordRow]],
    *,
    split: str,
    cache: ContentCache,
) -> pa.Table:
    """Records as columns in order of their key, from the cache when the tables did not change.

    Writing a record takes 4 ms, and a run writes those of all designs.

    Args:   files: the tables they are made of; places: part of the split by program, of these programs alone;
            make: makes them from these.
    Raises: what `make` raises. OSError: a file is not there, or the disk is full.
    """
    spec = table_spec("records")
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    key = content_hash(split, hashes, sorted(places.items()), _version())
    stored = cache.get_table(_KIND, key)
    if stored is None or not stored.schema.equals(spec.schema(), check_metadata=False):
        stored = spec.to_arrow(make())
        cache.put_table(_KIND, key, stored)
    return stored


@once
def _version() -> str:
    """Version of this package, and of what reads programs and draws data."""
    return content_hash(_VERSION, code_version())


# ---- files -----------------------------------------------------------------------------------------


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
    """Check that the suffix of a file names a format of records.

    Raises: RecordError: it does not.
    """
    if path.suffix not in SUFFIXES:
        raise RecordError(f"a file of records must end with {' or '.join(SUFFIXES)}, got {path.name}")


def read_records(path: Path) -> list[RecordRow]:
    """Records of a JSON Lines file.

    Raises: RecordError: a line is no record. OSError: not readable.
    """
    names = [f.name for f in fields(RecordRow)]
    rule = f"a line must be a JSON object of the texts {', '.join(names)}"
    records: list[RecordRow] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], 1):
        try:
            value = _TEXTS.validate_json(line, strict=True)
        except ValidationError as error:
            raise RecordError(f"{rule}, got {error.errors()[0]['msg']} ({path}:{number})") from error
        if set(value) != set(names):
            raise RecordError(f"{rule}, got {', '.join(sorted(value))} ({path}:{number})")
        records.append(RecordRow(**value))
    return records


_TEXTS = TypeAdapter(dict[str, str])
