"""Whole tables: many designs at a time, in any order, always with the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pipelines.cache import ContentCache
from pipelines.hls import TOOL, HlsOptions, design_row, read_interface
from pipelines.labelling.attempts import attempt_design, label_attempt, liberty_name
from pipelines.labelling.backends import require_tools
from pipelines.labelling.configurations import (
    ConfigurationSpace,
    EngineFault,
    plain_configurations,
    program_configurations,
    refused_configuration,
)
from pipelines.labelling.options import LabelOptions, ProgressCallback, silent
from pipelines.labelling.other_designs import refused_by_front_end
from pipelines.labelling.own_designs import HlsAttempt, recall_hls
from pipelines.labelling.pool import Outcome, run_all
from pipelines.labelling.recalling import ProgramLabels, recollection
from pipelines.schemas import (
    OK,
    REJECTED,
    TOOL_ERROR,
    DesignRow,
    DirectiveOutcomeRow,
    LabelRow,
    ProgramRow,
    RunRow,
)
from pipelines.synthesis import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignTables:
    """Rows of the tables that high-level synthesis makes."""

    designs: list[DesignRow]
    directive_outcomes: list[DirectiveOutcomeRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTables:
    """Rows of the tables that simulation and logic synthesis make."""

    labels: list[LabelRow]
    runs: list[RunRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """One design to be made."""

    program: ProgramRow
    tool: str
    configuration: HlsOptions


def _plan(
    program: ProgramRow, space: ConfigurationSpace, liberty: str, cache: ContentCache
) -> list[_Planned] | list[DesignRow]:
    """Every design of a program, or its rejected row of each tool."""
    own = program_configurations(program, space, liberty=liberty, cache=cache)
    if isinstance(own, str):
        return [_refused(program, tool, space, liberty, own) for tool in space.tools]
    if isinstance(own, EngineFault):
        options = refused_configuration(space, liberty=liberty)
        return [design_row(program, options, (TOOL_ERROR, own.reason), 0.0)]
    plain = plain_configurations(space, liberty=liberty)
    return [
        _Planned(program=program, tool=tool, configuration=configuration)
        for tool in space.tools
        for configuration in (own if tool == TOOL else plain)
    ]


def _refused(
    program: ProgramRow, tool: str, space: ConfigurationSpace, liberty: str, reason: str
) -> DesignRow:
    options = refused_configuration(space, liberty=liberty)
    if tool == TOOL:
        return design_row(program, options, (REJECTED, reason), 0.0)
    return refused_by_front_end(program, tool, options, reason)


def _make(item: _Planned, *, cache: ContentCache, options: LabelOptions) -> Outcome[HlsAttempt]:
    attempt = attempt_design(item.program, item.tool, item.configuration, cache=cache, options=options)
    return Outcome(result=attempt, failed=attempt.design.status != OK, name=item.program.name)


def plan_designs(
    programs: Sequence[ProgramRow],
    space: ConfigurationSpace,
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> DesignTables:
    """Compile every program under every configuration of a space, with every tool of it.

    Returns: one design row an attempt; a program that the front end refuses has one rejected row a tool.
             Programs that are not ok themselves have none.
    Raises:  LabellingError: a tool has no such name. ToolMissing: a tool is not installed.
    """
    require_tools(space.tools)
    rejected: list[DesignRow] = []
    planned: list[_Planned] = []
    for program in programs:
        if program.status != OK:
            continue
        for item in _plan(program, space, liberty_name(target), cache):
            if isinstance(item, DesignRow):
                rejected.append(item)
            else:
                planned.append(item)

    known = [recall_hls(p.program, p.configuration, cache) if p.tool == TOOL else None for p in planned]
    missing = [item for item, there in zip(planned, known, strict=True) if there is None]
    made = run_all(
        "designs",
        missing,
        partial(_make, cache=cache, options=options),
        workers=options.workers,
        cost=lambda item: len(item.program.source) * (1 + len(item.configuration.directives)),
        on_progress=on_progress,
    )
    attempts = [*(there for there in known if there is not None), *made]
    return DesignTables(
        designs=[a.design for a in attempts] + rejected,
        directive_outcomes=[o for a in attempts for o in a.outcomes],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unlabelled:
    """One design to be labelled."""

    program: ProgramRow
    design: DesignRow


def _label(
    item: _Unlabelled, *, target: Target, cache: ContentCache, options: LabelOptions
) -> Outcome[tuple[LabelRow, tuple[RunRow, ...]]]:
    program, design = item.program, item.design
    is_made = design.status == OK
    label, runs = label_attempt(
        program,
        design,
        read_interface(program.source, program.top) if is_made else None,
        target=target,
        cache=cache,
        options=options,
    )
    return Outcome(result=(label, runs), failed=label.status != OK, name=program.name)


def label_designs(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> LabelTables:
    """Simulate, check and synthesise every design.

    Returns: one label row a design, one run row a design and data set.
    """
    by_id = {p.program_id: p for p in programs}
    groups: dict[str, list[DesignRow]] = {}
    for design in designs:
        groups.setdefault(design.program_id, []).append(design)
    entries = recollection(designs, target=target, cache=cache, options=options)
    known = {identity: entries.recall(by_id[identity], group) for identity, group in groups.items()}
    recalled = {identity: found for identity, found in known.items() if found is not None}
    missing = [d for d in designs if d.program_id not in recalled]
    found = run_all(
        "labels",
        [_Unlabelled(program=by_id[d.program_id], design=d) for d in missing],
        partial(_label, target=target, cache=cache, options=options),
        workers=options.workers,
        cost=lambda item: item.design.estimated_area_um2 or 0.0,
        on_progress=on_progress,
    )
    made = _by_program(missing, found)
    for identity, labels in made.items():
        entries.keep(by_id[identity], groups[identity], labels)
    every = [*recalled.values(), *made.values()]
    return LabelTables(labels=[x for e in every for x in e.labels], runs=[x for e in every for x in e.runs])


def _by_program(
    designs: Sequence[DesignRow], found: Sequence[tuple[LabelRow, tuple[RunRow, ...]]]
) -> dict[str, ProgramLabels]:
    """Labels and runs of each program's designs, which stand in the same order."""
    labels: dict[str, list[LabelRow]] = {}
    runs: dict[str, list[RunRow]] = {}
    for design, (label, own) in zip(designs, found, strict=True):
        labels.setdefault(design.program_id, []).append(label)
        runs.setdefault(design.program_id, []).extend(own)
    return {k: ProgramLabels(labels=tuple(labels[k]), runs=tuple(runs[k])) for k in labels}
