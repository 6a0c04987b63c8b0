"""Rows of programs, designs, labels and runs to records."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.hls import parse_directives
from pipelines.records.errors import RecordError
from pipelines.records.layout import (
    Completion,
    OperatorText,
    Prompt,
    write_completion,
    write_prompt,
)
from pipelines.records.numbers import plain_number
from pipelines.records.sources import annotated, prototype, split_source
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
    wanted = tuple(formats)
    found: list[RecordRow] = []
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
            prompt = write_prompt(
                prompt_of(program, loops[program.program_id], design, data_text(program, run))
            )
            for form in wanted:
                completion = completion_of(design, label, run, reasoning=form == "reasoning")
                if completion is None:
                    continue
                found.append(
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
    return found


# ---- prompt ---------------------------------------------------------------------------------------------


def prompt_of(
    program: ProgramRow, loops: Sequence[LoopRow], design: DesignRow, data: Mapping[str, str]
) -> Prompt:
    """The quadruple of a program under a configuration.

    The top function is the graph and what it calls are the operators. A program of one function is one
    operator, and its graph says no more than how it is called.

    Raises: RecordError: the source has no such function.
    """
    text, apart = annotated(program.source, loops, parse_directives(design.directives))
    parts = split_source(text)
    if program.top not in parts.functions:
        raise RecordError(f"a program must define its top function, got no {program.top} in {program.name}")
    others = {name: body for name, body in parts.functions.items() if name != program.top}
    top = parts.functions[program.top]
    graph = top if others else prototype(top)
    dynamic = _dynamic_operators(program)
    return Prompt(
        graph=f"{parts.preamble}\n{graph}" if parts.preamble else graph,
        operators=tuple(
            OperatorText(name=name, text=body, dynamic=dynamic.get(name))
            for name, body in (others or {program.top: top}).items()
        ),
        params={
            "mem-delay-read": str(design.memory_read_delay_cycles),
            "mem-delay-write": str(design.memory_write_delay_cycles),
            "clock-period": plain_number(design.clock_period_ns),
            "liberty": design.liberty,
            "tool": design.tool,
        },
        mapping=apart,
        data=data,
    )


def _dynamic_operators(program: ProgramRow) -> dict[str, bool]:
    """Whether each operator's control flow depends on input data, as far as the graph says."""
    if program.graph is None:
        return {}
    nodes: list[dict[str, Any]] = json.loads(program.graph).get("nodes", [])
    return {n["name"]: n["dynamic"] for n in nodes if isinstance(n.get("dynamic"), bool) and "name" in n}


# ---- completion -----------------------------------------------------------------------------------------


def completion_of(design: DesignRow, label: LabelRow, run: RunRow, *, reasoning: bool) -> Completion | None:
    """What is to be said of a design; None for reasoning about a design without features."""
    features: dict[str, float] = {}
    intervals: dict[str, int] | None = None
    if reasoning:
        if design.initiation_intervals is None or design.state_count is None:
            return None
        told: dict[str, float | None] = {
            "module_count": design.module_count,
            "memory_port_conflict_count": design.memory_port_conflict_count,
            "estimated_area_um2": design.estimated_area_um2,
            "multiplexer_area_um2": design.multiplexer_area_um2,
            "multiplexer_count": design.multiplexer_count,
            "functional_unit_count": design.functional_unit_count,
            "state_count": design.state_count,
            "register_bits": design.register_bits,
            "critical_path_ns": design.critical_path_ns,
        }
        features = {column: value for column, value in told.items() if value is not None}
        intervals = json.loads(design.initiation_intervals)
    measured: dict[str, float | None] = {
        "power_mw": run.power_mw,
        "area_um2": label.area_um2,
        "flip_flop_count": label.flip_flop_count,
        "delay_ns": label.delay_ns,
        "latency_cycles": run.latency_cycles,
        "energy_nj": run.energy_nj,
    }
    labels = {column: value for column, value in measured.items() if value is not None}
    return Completion(labels=labels, features=features, intervals=intervals)
