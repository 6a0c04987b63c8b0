"""Rows of programs, designs, labels and runs as records, in the cache and in files."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache as once
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from pipelines.base.cache import ContentCache
from pipelines.base.files import read_text
from pipelines.base.identity import content_hash
from pipelines.dataset.records.layout import (
    FEATURES,
    LISTS,
    QUANTITIES,
    Completion,
    RecordError,
    write_completion,
)
from pipelines.dataset.records.limits import CONTEXT_LIMIT, fitted
from pipelines.dataset.records.prompts import prompt_of
from pipelines.dataset.splits import EVALUATION, EXCLUDED, design_part
from pipelines.programs import code_version
from pipelines.schemas import (
    FORMATS,
    OK,
    DesignRow,
    LabelRow,
    LoopRow,
    LoopRunRow,
    ProgramFactsRow,
    ProgramRow,
    RecordRow,
    RunRow,
    SplitRow,
    table_spec,
    write_bytes_atomically,
)
from pipelines.silicon.synthesis import TOOL as SYNTHESIS_TOOL

DataText = Callable[[ProgramRow, RunRow], Mapping[str, str]]
"""Runtime inputs of a program in a run, by argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRows:
    """The rows records are made of; loops are where directives find their place in the source."""

    programs: Sequence[ProgramRow]
    loops: Sequence[LoopRow]
    program_facts: Sequence[ProgramFactsRow]
    designs: Sequence[DesignRow]
    labels: Sequence[LabelRow]
    runs: Sequence[RunRow]
    loop_runs: Sequence[LoopRunRow]
    splits: Sequence[SplitRow]


def make_records(
    rows: LabelledRows,
    *,
    split: str,
    data_text: DataText,
    formats: Iterable[str] = tuple(FORMATS),
    limit: int = CONTEXT_LIMIT,
) -> list[RecordRow]:
    """Make the records of every design and data set whose program, design, label and run are ok.

    A design of a tool that tells no features of its RTL has no reasoning record. A label that was not asked
    for, power for example, is left out of the completion. A record has the part of its design, as predictors
    have it (`design_part`); designs of excluded programs have no record.

    Args:    split: name of the split that `splits` places programs in; programs of the stage evaluation have
             the place `evaluation` whatever it says. limit: characters of a prompt; see `fitted`.
    Raises:  RecordError: a program without a place, or rows that do not belong together.
    """
    tables, forms = _Tables.of(rows, split), tuple(formats)
    records: list[RecordRow] = []
    for design in rows.designs:
        program, label = tables.programs.get(design.program_id), tables.labels.get(design.design_id)
        if design.status != OK or program is None or label is None:
            continue
        part = _part(program, design, tables, split)
        if part == EXCLUDED:
            continue
        loops = tables.loops[program.program_id]
        for run in tables.runs[design.design_id]:
            prompt, left_out = fitted(prompt_of(program, loops, design, data_text(program, run)), limit)
            values = {q.column: getattr(run if q.dynamic else label, q.column) for q in QUANTITIES}
            labels = {column: value for column, value in values.items() if value is not None}
            for form in forms:
                completion = _completion(form, labels, design, run, tables)
                if completion is None:
                    continue
                records.append(
                    RecordRow(
                        design_id=design.design_id,
                        data_id=run.data_id,
                        format=form,
                        level=FORMATS[form],
                        program_id=program.program_id,
                        suite=program.suite,
                        stage=program.stage,
                        split=split,
                        part=part,
                        prompt=prompt,
                        completion=write_completion(completion),
                        prompt_characters=len(prompt),
                        left_out=left_out,
                    )
                )
    return records


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    """Rows by what they belong to; programs, labels and runs that are ok."""

    programs: Mapping[str, ProgramRow]
    facts: Mapping[str, ProgramFactsRow]
    labels: Mapping[str, LabelRow]
    parts: Mapping[str, str]
    runs: Mapping[str, list[RunRow]]
    loops: Mapping[str, list[LoopRow]]
    loop_runs: Mapping[tuple[str, str], list[LoopRunRow]]

    @classmethod
    def of(cls, rows: LabelledRows, split: str) -> _Tables:
        runs: defaultdict[str, list[RunRow]] = defaultdict(list)
        loops: defaultdict[str, list[LoopRow]] = defaultdict(list)
        loop_runs: defaultdict[tuple[str, str], list[LoopRunRow]] = defaultdict(list)
        for run in rows.runs:
            if run.status == OK:
                runs[run.design_id].append(run)
        for loop in rows.loops:
            loops[loop.program_id].append(loop)
        for loop_run in rows.loop_runs:
            loop_runs[loop_run.design_id, loop_run.data_id].append(loop_run)
        return cls(
            programs={p.program_id: p for p in rows.programs if p.status == OK},
            facts={f.program_id: f for f in rows.program_facts},
            labels={r.design_id: r for r in rows.labels if r.status == OK and r.tool == SYNTHESIS_TOOL},
            parts={place.program_id: place.part for place in rows.splits if place.split == split},
            runs=runs,
            loops=loops,
            loop_runs=loop_runs,
        )


def _part(program: ProgramRow, design: DesignRow, tables: _Tables, split: str) -> str:
    place = EVALUATION if program.stage == EVALUATION else tables.parts.get(program.program_id)
    if place is None:
        raise RecordError(f"a program must have a place in the split {split}, got none for {program.name}")
    return design_part(split, place, design.memory_read_delay_cycles, design.memory_write_delay_cycles)


_LEVELS = ("static", "hls", "run")


def _completion(
    form: str, labels: Mapping[str, float], design: DesignRow, run: RunRow, tables: _Tables
) -> Completion | None:
    """Return labels, with what the format's level and those below it know; None if the level has nothing."""
    level = FORMATS[form]
    if level not in _LEVELS:
        return Completion(labels=labels)
    known = _LEVELS[: _LEVELS.index(level) + 1]
    loops, facts = tables.loops[design.program_id], tables.facts.get(design.program_id)
    loop_runs = tables.loop_runs.get((design.design_id, run.data_id))
    lacks_hls = design.initiation_intervals is None or design.state_count is None
    if facts is None or ("hls" in known and lacks_hls) or ("run" in known and loop_runs is None):
        return None
    values: dict[str, float | None] = {
        "condition_count": sum(loop.branch_count for loop in loops if loop.parent_index is None)
    }
    for _, name, _, of in FEATURES:
        if name not in values:
            values[name] = getattr(facts if of == "static" else design, name)
    lists: dict[str, Mapping[str, int | None]] = {
        "trip_counts": {loop.loop: loop.trip_count for loop in loops},
        "initiation_intervals": json.loads(design.initiation_intervals or "{}"),
        "iterations": {one.loop: one.iterations for one in loop_runs or ()},
        "branches_taken": {one.loop: one.branches_taken for one in loop_runs or () if one.branches},
    }
    shown = {name: values[name] for _, name, _, of in FEATURES if of in known}
    return Completion(
        labels=labels,
        features={name: value for name, value in shown.items() if value is not None},
        lists={name: lists[name] for _, name, of in LISTS if of in known},
    )


# ---- cache -----------------------------------------------------------------------------------------


_KIND = "records"
_VERSION = "records-6"
"""Raise it when the same tables give other records."""


def cached_records(
    files: Sequence[Path],
    places: Mapping[str, str],
    make: Callable[[], Sequence[RecordRow]],
    *,
    split: str,
    limit: int,
    cache: ContentCache,
) -> pa.Table:
    """Return the records as columns in order of their key, from the cache when the tables did not change.

    Writing a record takes 4 ms, and a run writes records of all designs.

    Args:   files: the tables they are made of; places: part of the split by program, of these programs alone;
            make: makes them from these; limit: characters of a
            prompt.
    Raises: what `make` raises. OSError: a file is not there, or the disk is full.
    """
    spec = table_spec("records")
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    key = content_hash(split, limit, hashes, sorted(places.items()), _version())
    stored = cache.get_table(_KIND, key)
    if stored is None or not stored.schema.equals(spec.schema(), check_metadata=False):
        stored = spec.to_arrow(make())
        cache.put_table(_KIND, key, stored)
    return stored


@once
def _version() -> str:
    """Return the version of this package, and of what reads programs and draws data."""
    return content_hash(_VERSION, code_version())


# ---- files -----------------------------------------------------------------------------------------


SUFFIXES = (".jsonl", ".parquet")
FILE_LIMIT_BYTES = 1 << 30


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
    """Read the records of a JSON Lines file.

    Raises: RecordError: not readable, or a line is no record.
    """
    names = [f.name for f in fields(RecordRow)]
    rule = f"a line must be a JSON object of {', '.join(names)}"
    records: list[RecordRow] = []
    text = read_text(path, what="records", most_bytes=FILE_LIMIT_BYTES, error=RecordError)
    for number, line in enumerate(text.split("\n")[:-1], 1):
        try:
            value: dict[str, Any] = _VALUES.validate_json(line, strict=True)
        except ValidationError as error:
            raise RecordError(f"{rule}, got {error.errors()[0]['msg']} ({path}:{number})") from error
        if set(value) != set(names):
            raise RecordError(f"{rule}, got {', '.join(sorted(value))} ({path}:{number})")
        records.append(RecordRow(**value))
    return records


_VALUES = TypeAdapter(dict[str, str | int | None])
