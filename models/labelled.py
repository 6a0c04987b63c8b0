"""Labelled designs on a frozen split: the rows every predictor trains and is judged on."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from pipelines.hls import TOOL
from pipelines.identity import text_sha256
from pipelines.schemas import (
    OK,
    DesignRow,
    LabelRow,
    LoopRow,
    ProgramRow,
    RunRow,
    SplitRow,
    read_table,
    table_spec,
)

PARTS = ("train", "validation", "test", "evaluation")
TARGETS = ("area_um2", "flip_flop_count", "latency_cycles")
TABLES = ("programs", "loops", "designs", "labels", "runs", "splits")


class DatasetError(ValueError):
    """The tables cannot be trained on: one is missing, a split leaks, or a part is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A program under one configuration, before any tool has seen it.

    Attributes:
        source: complete C source.
        top: function that becomes hardware.
        memory_read_delay_cycles: cycles from address to data.
        memory_write_delay_cycles: cycles from a write until a read sees it.
        clock_period_ns: clock period of the schedule.
        directives: JSON list of directives, as in the designs table.
    """

    source: str
    top: str
    memory_read_delay_cycles: int
    memory_write_delay_cycles: int
    clock_period_ns: float
    directives: str = "[]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which labels are learned and on which frozen split.

    Attributes:
        split: name in the splits table.
        tool: logic synthesis tool of the labels; None when the table has only one.
        liberty: cell library of the labels; None when the table has only one.
    """

    split: str = "by_kernel_v1"
    tool: str | None = None
    liberty: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledDesign:
    """One design with its labels and its place in the split.

    Attributes:
        labels: values of TARGETS; latency is the median over the design's input data sets.
        loops: loop nest of the program, in source order.
    """

    design_id: str
    program_id: str
    group: str
    part: str
    query: Query
    loops: tuple[LoopRow, ...]
    labels: Mapping[str, float]


def hash_dataset(data_dir: Path) -> str:
    """Hash of the six tables as they are on disk; equal content has equal bytes.

    Returns: first 32 hexadecimal digits of the SHA-256.
    Raises:  DatasetError: a table is missing.
    """
    digest = hashlib.sha256()
    for name in TABLES:
        for path in _table_files(data_dir, name):
            digest.update(f"{name}/{path.name}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def load_labelled_designs(data_dir: Path, selection: Selection) -> tuple[LabelledDesign, ...]:
    """Designs whose synthesis and every simulation are ok, with labels and part.

    Designs of the project's own engine only: another tool's labels of the same query are others.
    A design with any run that is not ok, or whose outputs differ from native C, is left out: its
    hardware is wrong, so its area and latency mean nothing. Failures stay in their own tables.

    Args:    data_dir: folder that holds `tables/`.
    Returns: designs sorted by program and configuration, so that a new version of a tool, which gives
             other ids, leaves the order as it is.
    Raises:  DatasetError: a table is missing, the split is unknown or leaks, a labelled program has
             no place in it, train or test is empty, or labels of several tools or liberties are mixed.
             SchemaError: a table file is damaged.
    """
    tables = {name: _rows(data_dir, name) for name in TABLES}
    programs: dict[str, ProgramRow] = {p.program_id: p for p in tables["programs"]}
    places = _places(tables["splits"], selection.split)
    labels = _one_kind(tables["labels"], selection)
    latency = _latencies(tables["runs"])
    loops: dict[str, list[LoopRow]] = defaultdict(list)
    for row in tables["loops"]:
        loops[row.program_id].append(row)
    found = [
        _labelled(d, _program(d, programs), loops[d.program_id], places, labels, latency)
        for d in tables["designs"]
        if d.status == OK and d.tool == TOOL and d.design_id in labels and d.design_id in latency
    ]
    designs = tuple(sorted(found, key=_stable_place))
    _refuse_leaks(designs, programs)
    _refuse_empty_parts(designs, selection.split)
    return designs


def _table_files(data_dir: Path, name: str) -> list[Path]:
    folder = data_dir / "tables" / name
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise DatasetError(
            f"table {name} must have Parquet files, got none ({folder}); "
            "make the data first with `simfoundry run`"
        )
    return files


def _rows(data_dir: Path, name: str) -> list[Any]:
    _table_files(data_dir, name)
    return read_table(data_dir, table_spec(name))


def _places(rows: Iterable[SplitRow], split: str) -> dict[str, SplitRow]:
    """Place of every program of one split; a group on two sides is refused."""
    rows = list(rows)
    chosen = {r.program_id: r for r in rows if r.split == split}
    if not chosen:
        known = ", ".join(sorted({r.split for r in rows})) or "none"
        raise DatasetError(f"split must be one of {known}, got {split!r}")
    sides: dict[str, set[str]] = defaultdict(set)
    for row in chosen.values():
        sides[row.group].add(row.part)
    for group, parts in sorted(sides.items()):
        if len(parts) > 1:
            raise DatasetError(
                f"a group must stand on one side of split {split}, got {group} in {', '.join(sorted(parts))}"
            )
    return chosen


def _one_kind(rows: Iterable[LabelRow], selection: Selection) -> dict[str, LabelRow]:
    """Usable labels by design, of one tool and one liberty, so that areas are comparable."""
    usable = [r for r in rows if r.status == OK]
    for name, wanted in (("tool", selection.tool), ("liberty", selection.liberty)):
        kinds = sorted({getattr(r, name) for r in usable})
        if wanted is None and len(kinds) > 1:
            raise DatasetError(f"labels must be of one {name}, got {', '.join(kinds)}; choose one")
        if wanted is not None and wanted not in kinds:
            known = ", ".join(kinds) or "none"
            raise DatasetError(f"{name} of the labels must be one of {known}, got {wanted!r}")
        usable = [r for r in usable if wanted in (None, getattr(r, name))]
    return {r.design_id: r for r in usable if r.area_um2 and r.flip_flop_count}


def _latencies(rows: Iterable[RunRow]) -> dict[str, float]:
    """Median latency in cycles of every design all of whose runs are right."""
    by_design: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        by_design[row.design_id].append(row)
    return {
        design_id: float(median(r.latency_cycles or 0 for r in runs))
        for design_id, runs in by_design.items()
        if all(r.status == OK and r.outputs_equal and r.latency_cycles for r in runs)
    }


def _program(design: DesignRow, programs: Mapping[str, ProgramRow]) -> ProgramRow:
    if design.program_id not in programs:
        raise DatasetError(
            "every design must have its program in the programs table, "
            f"got none for {design.program_id} (design {design.design_id}); run again"
        )
    return programs[design.program_id]


def _labelled(
    design: DesignRow,
    program: ProgramRow,
    loops: Sequence[LoopRow],
    places: Mapping[str, SplitRow],
    labels: Mapping[str, LabelRow],
    latency: Mapping[str, float],
) -> LabelledDesign:
    place = places.get(program.program_id)
    if place is None:
        raise DatasetError(
            "every labelled program must have a place in the split, "
            f"got none for {program.name} ({program.program_id})"
        )
    label = labels[design.design_id]
    return LabelledDesign(
        design_id=design.design_id,
        program_id=program.program_id,
        group=place.group,
        part=place.part,
        query=Query(
            source=program.source,
            top=program.top,
            memory_read_delay_cycles=design.memory_read_delay_cycles,
            memory_write_delay_cycles=design.memory_write_delay_cycles,
            clock_period_ns=design.clock_period_ns,
            directives=design.directives,
        ),
        loops=tuple(sorted(loops, key=lambda r: r.loop_index)),
        labels={
            "area_um2": float(label.area_um2 or 0),
            "flip_flop_count": float(label.flip_flop_count or 0),
            "latency_cycles": latency[design.design_id],
        },
    )


def _stable_place(design: LabelledDesign) -> tuple[str, int, int, float, str, str]:
    query = design.query
    return (
        design.program_id,
        query.memory_read_delay_cycles,
        query.memory_write_delay_cycles,
        query.clock_period_ns,
        query.directives,
        design.design_id,
    )


def _refuse_leaks(designs: Iterable[LabelledDesign], programs: Mapping[str, ProgramRow]) -> None:
    """The same source, or a program and the one it derives from, must be on one side."""
    part_of_source: dict[str, str] = {}
    part_of_program = {d.program_id: d.part for d in designs}
    for program_id, part in sorted(part_of_program.items()):
        program = programs[program_id]
        other = part_of_source.setdefault(text_sha256(program.source), part)
        if other != part:
            raise DatasetError(
                f"one source must stand on one side of the split, got {program.name} in {other} and {part}"
            )
        above = part_of_program.get(program.parent or "", part)
        if above != part:
            raise DatasetError(
                f"a program and its parent must stand on one side of the split, got {program.name} "
                f"in {part} and its parent in {above}"
            )


def _refuse_empty_parts(designs: Sequence[LabelledDesign], split: str) -> None:
    for part in ("train", "test"):  # without validation, training runs all its epochs
        if not any(d.part == part for d in designs):
            raise DatasetError(
                f"part {part} of split {split} must have labelled designs, got none of "
                f"{len(designs)}; label programs of more kernels"
            )
