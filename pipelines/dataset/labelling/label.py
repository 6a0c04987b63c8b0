"""Labelling: a program under a configuration through every step, and whole tables of designs.

What follows from the inputs is cached: success, a rejected program, a time limit that was passed, hardware
that differs from native C. A tool that failed, or is missing, or met a full disk makes a row but is not
cached: the next run tries again. Designs of a table are worked on in any order, always with the same rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pipelines.bambu import BambuError
from pipelines.base.cache import ContentCache
from pipelines.base.tools import ToolMissing
from pipelines.base.workers import Outcome, ProgressCallback, run_all, silent
from pipelines.c import HlsError, read_interface
from pipelines.c.signature import DataSet
from pipelines.dataset.labelling.cache import label_cache
from pipelines.dataset.labelling.configurations import (
    ConfigurationSpace,
    EngineFault,
    plain_configurations,
    program_configurations,
    refused_configuration,
)
from pipelines.dataset.labelling.external_tools import require_tools
from pipelines.dataset.labelling.flows import (
    ExternalFlow,
    HlsRows,
    NativeFlow,
    cached_rows,
    compile_design,
    compile_natively,
    refused_row,
)
from pipelines.dataset.labelling.options import LabelContext, LabelOptions, ToolContext
from pipelines.dataset.labelling.runs import (
    Run,
    UnknownReference,
    fails_label,
    is_fully_powered,
    is_synthesised,
    most_cycles,
)
from pipelines.dataset.labelling.synthesis import (
    SYNTHESIS_TOOL,
    LabelFigures,
    LabelTables,
    lacking_figures,
    lacking_power,
    synthesise,
)
from pipelines.dataset.labelling.targets import LabelTarget
from pipelines.hls import TOOL, CompiledDesign, HlsOptions, design_row
from pipelines.power import PowerError
from pipelines.programs import ProgramData, ProgramError, data_sets, given_data
from pipelines.rtl.simulation import SimulatorError
from pipelines.schemas import (
    OK,
    REJECTED,
    TOOL_ERROR,
    DesignRow,
    DirectiveOutcomeRow,
    LabelRow,
    LoopRunRow,
    ProgramRow,
    RunRow,
)
from pipelines.silicon.synthesis import SynthesisError
from pipelines.silicon.synthesis import tool_version as synthesis_version

# ---- one design ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledDesign:
    """All rows of one attempt."""

    design: DesignRow
    outcomes: tuple[DirectiveOutcomeRow, ...]
    label: LabelRow
    runs: tuple[RunRow, ...]
    loop_runs: tuple[LoopRunRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignLabels:
    """Rows of one design after high-level synthesis."""

    label: LabelRow
    runs: tuple[RunRow, ...] = ()
    loop_runs: tuple[LoopRunRow, ...] = ()


def label_design(
    program: ProgramRow,
    configuration: HlsOptions,
    context: LabelContext,
    *,
    tool: str = TOOL,
    data: DataSet | None = None,
) -> LabelledDesign:
    """Label one program under one configuration.

    Args:    tool: one of `TOOLS`; those that are not the engine leave directives out. data: values of every
             argument; None draws them from the program's specification.
    Returns: the design's row, its directives' outcomes, its label, its runs and their loops; a failure
             is a status.
    Raises:  LabellingError: no such tool. ToolMissing: it is not installed.
    """
    rows = compile_design(program, tool, configuration, context)
    labels = label_compiled(program, rows.design, context, data=data)
    return LabelledDesign(
        design=rows.design,
        outcomes=rows.outcomes,
        label=labels.label,
        runs=labels.runs,
        loop_runs=labels.loop_runs,
    )


def label_compiled(
    program: ProgramRow, design: DesignRow, context: LabelContext, *, data: DataSet | None = None
) -> DesignLabels:
    """Run the truth checks, then logic synthesis, of a design after high-level synthesis.

    Args:    data: one data set instead of the options' data sets.
    Returns: the label row, one run row per data set, and rows of their loops. The label is ok only
             when every run on drawn or given data is, and no engine failed on other data.
    """
    if design.status != OK:
        figures = LabelFigures(status=design.status, reason=f"high-level synthesis: {design.reason}")
        return DesignLabels(label=figures.row(design, context.liberty))
    flow = _flow(program, design, context)
    steps = _Steps(flow=flow, context=context)
    try:
        figures = steps.label(data)
    except ProgramError as error:
        figures = LabelFigures(status=REJECTED, reason=str(error))
    except _FAILURES as error:
        figures = LabelFigures(status=TOOL_ERROR, reason=str(error))
    except Exception as error:  # a fault of an engine costs one design, not the run, and is tried again
        reason = f"an engine failed: {type(error).__name__}: {error}"
        figures = LabelFigures(status=TOOL_ERROR, reason=reason)
    return DesignLabels(
        label=figures.row(design, context.liberty),
        runs=tuple(run.row() for run in steps.runs),
        loop_runs=tuple(row for run in steps.runs for row in run.loop_rows()),
    )


_FAILURES = (
    *(ToolMissing, SimulatorError, SynthesisError, HlsError, BambuError, PowerError, UnknownReference),
    OSError,
)


def _flow(
    program: ProgramRow, design: DesignRow, context: ToolContext, compiled: CompiledDesign | None = None
) -> NativeFlow | ExternalFlow:
    interface = read_interface(program.source, program.top)
    if design.tool != TOOL:
        return ExternalFlow(program=program, design=design, interface=interface, context=context)
    return NativeFlow(
        program=program,
        design=design,
        interface=interface,
        context=context,
        compiled=[] if compiled is None else [compiled],
    )


@dataclass(slots=True, kw_only=True)
class _Steps:
    """The steps of one design after high-level synthesis.

    Attributes:
        runs: those so far; inputs: their data sets.
    """

    flow: NativeFlow | ExternalFlow
    context: LabelContext
    runs: list[Run] = field(default_factory=list[Run])
    inputs: list[ProgramData] = field(default_factory=list[ProgramData])

    def label(self, data: DataSet | None) -> LabelFigures:
        """Run the design on each data set; then the label, unless a run fails it."""
        options, flow = self.context.options, self.flow
        inputs = self._data_sets() if data is None else [given_data(flow.program, data)]
        with self.context.scratch_folder() as builds:
            self.runs += flow.run(inputs, builds=builds)
            self.inputs += inputs
            failure = self._failure()
            if failure is not None:
                return failure
            cycles = most_cycles(run.row() for run in self.runs)[flow.design.design_id]
            if not (options.mapped and is_synthesised(flow.design, cycles, options.synthesis)):
                return LabelFigures(status=OK, reason=None)
            figures = synthesise(flow.design, flow.rtl, self.context)
            if figures.status == OK and options.power:
                self._add_power(builds, cycles)
            return self._failure() or figures

    def _data_sets(self) -> list[ProgramData]:
        options, flow = self.context.options, self.flow
        return data_sets(flow.program, flow.interface, options.data_kinds, seeds=options.data_seeds)

    def _add_power(self, builds: Path, cycles: int) -> None:
        """Add the power of the run on the first data set; in the sample, of every run that is ok."""
        whole = is_fully_powered(self.flow.design, cycles, self.context.options)
        for index, (run, data) in enumerate(zip(self.runs, self.inputs, strict=True)):
            if run.result.status == OK and (whole or index == 0):
                self.runs[index] = self.flow.add_power(run, data.values, builds=builds, context=self.context)

    def _failure(self) -> LabelFigures | None:
        """Return the label of a design with a run that fails it."""
        rows = (run.row() for run in self.runs)
        return next((LabelFigures(status=r.status, reason=r.reason) for r in rows if fails_label(r)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedDesign:
    """Rows of high-level synthesis and of one run; `run` is None when there is no design to run."""

    design: DesignRow
    outcomes: tuple[DirectiveOutcomeRow, ...]
    run: RunRow | None
    loop_runs: tuple[LoopRunRow, ...] = ()


def count_design(program: ProgramRow, configuration: HlsOptions, context: ToolContext) -> CountedDesign:
    """Compile a program under one configuration and count its cycles on the first data set.

    That is what a search for directives asks for: checked against native C, without logic synthesis.

    Returns: rows; a failure is a status. The run is ok only when every output equals native C.
    Raises:  ProgramError, ToolMissing, SimulatorError, OSError: the data or a tool are not there.
    """
    rows, compiled = compile_natively(program, configuration, context.cache)
    if rows.design.status != OK:
        return CountedDesign(design=rows.design, outcomes=rows.outcomes, run=None)
    flow = _flow(program, rows.design, context, compiled)
    seed = context.options.data_seeds[0]
    data = data_sets(program, flow.interface, seeds=(seed,))
    with context.scratch_folder() as builds:
        (run,) = flow.run(data, builds=builds)
    return CountedDesign(
        design=rows.design,
        outcomes=rows.outcomes,
        run=run.row(),
        loop_runs=tuple(run.loop_rows()),
    )


# ---- table designs -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignTables:
    """Rows of the tables that high-level synthesis makes."""

    designs: list[DesignRow]
    directive_outcomes: list[DirectiveOutcomeRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """One design to be compiled."""

    program: ProgramRow
    tool: str
    configuration: HlsOptions


def plan_designs(
    programs: Sequence[ProgramRow],
    space: ConfigurationSpace,
    context: LabelContext,
    *,
    on_progress: ProgressCallback = silent,
) -> DesignTables:
    """Compile every program under every configuration of a space, with every tool of the options.

    Returns: one design row per attempt; a program that the front end refuses has one rejected row per tool.
             Programs that are not ok themselves have none.
    Raises:  LabellingError: a tool has no such name. ToolMissing: a tool is not installed.
    """
    require_tools(context.options.tools)
    whole = [program for program in programs if program.status == OK]
    plans = run_all(
        "configurations",
        whole,
        partial(_plan, space=space, context=context),
        workers=context.options.workers,
        cost=lambda program: len(program.source),
        on_progress=on_progress,
    )
    items = [item for plan in plans for item in plan]
    planned = [item for item in items if isinstance(item, _Planned)]
    cached = context.cache.read_each(partial(_cached, cache=context.cache), planned)
    compiled = run_all(
        "designs",
        [item for item, rows in zip(planned, cached, strict=True) if rows is None],
        partial(_compile, context=context),
        workers=context.options.workers,
        cost=lambda item: len(item.program.source) * (1 + len(item.configuration.directives)),
        on_progress=on_progress,
    )
    attempts = [*(rows for rows in cached if rows is not None), *compiled]
    refused = [item for item in items if isinstance(item, DesignRow)]
    return DesignTables(
        designs=[rows.design for rows in attempts] + refused,
        directive_outcomes=[outcome for rows in attempts for outcome in rows.outcomes],
    )


def _plan(
    program: ProgramRow, space: ConfigurationSpace, context: LabelContext
) -> Outcome[list[_Planned] | list[DesignRow]]:
    rows = _designs_of(program, space, context)
    failed = any(isinstance(row, DesignRow) for row in rows)
    return Outcome(result=rows, failed=failed, name=program.name)


def _designs_of(
    program: ProgramRow, space: ConfigurationSpace, context: LabelContext
) -> list[_Planned] | list[DesignRow]:
    """Return every design of a program, or its rejected row of each tool."""
    liberty = context.liberty
    own = program_configurations(program, space, liberty=liberty, cache=context.cache)
    refused = refused_configuration(space, liberty=liberty)
    if isinstance(own, str):
        return [refused_row(program, tool, refused, own) for tool in context.options.tools]
    if isinstance(own, EngineFault):
        return [design_row(program, refused, (TOOL_ERROR, own.reason), 0.0)]
    plain = plain_configurations(space, liberty=liberty)
    return [
        _Planned(program=program, tool=tool, configuration=configuration)
        for tool in context.options.tools
        for configuration in (own if tool == TOOL else plain)
    ]


def _cached(item: _Planned, *, cache: ContentCache) -> HlsRows | None:
    return cached_rows(item.program, item.configuration, cache) if item.tool == TOOL else None


def _compile(item: _Planned, *, context: LabelContext) -> Outcome[HlsRows]:
    rows = compile_design(item.program, item.tool, item.configuration, context)
    return Outcome(result=rows, failed=rows.design.status != OK, name=item.program.name)


# ---- tables labels and runs ----------------------------------------------------------------------------


_Pair = tuple[ProgramRow, DesignRow]


def label_designs(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    context: LabelContext,
    *,
    on_progress: ProgressCallback = silent,
) -> LabelTables:
    """Simulate, check and synthesise every design.

    Returns: one label row per design, one run row per design and data set.
    """
    by_id = {program.program_id: program for program in programs}
    groups: dict[str, list[DesignRow]] = {}
    for design in designs:
        groups.setdefault(design.program_id, []).append(design)
    entries = label_cache(designs, context)
    cached = context.cache.read_each(lambda name: entries.get(by_id[name], groups[name]), groups)
    present = {name: labels for name, labels in zip(groups, cached, strict=True) if labels is not None}
    missing = [(by_id[d.program_id], d) for d in designs if d.program_id not in present]
    rows = run_all(
        "labels",
        missing,
        partial(_label, context=context),
        workers=context.options.workers,
        cost=lambda item: item[1].estimated_area_um2 or 0.0,
        on_progress=on_progress,
    )
    new = _by_program(missing, rows)
    for identity, labels in new.items():
        entries.keep(by_id[identity], groups[identity], labels)
    every = [*present.values(), *new.values()]
    return LabelTables(
        labels=[row for own in every for row in own.labels],
        runs=[row for own in every for row in own.runs],
        loop_runs=[row for own in every for row in own.loop_runs],
    )


def _label(item: _Pair, *, context: LabelContext) -> Outcome[DesignLabels]:
    program, design = item
    labels = label_compiled(program, design, context)
    return Outcome(result=labels, failed=labels.label.status != OK, name=program.name)


def _by_program(items: Sequence[_Pair], rows: Sequence[DesignLabels]) -> dict[str, LabelTables]:
    """Return the labels and runs of each program's designs, which stand in the same order."""
    tables: dict[str, LabelTables] = {}
    for (program, _), one in zip(items, rows, strict=True):
        own = tables.setdefault(program.program_id, LabelTables())
        own.labels.append(one.label)
        own.runs.extend(one.runs)
        own.loop_runs.extend(one.loop_runs)
    return tables


class CellTarget(LabelTarget):
    """Cycles, the cells of the project's own synthesis, and power, checked against native C."""

    name = SYNTHESIS_TOOL

    @classmethod
    def chosen(cls, options: LabelOptions) -> Sequence[LabelTarget]:
        """Return the target, whatever the options are."""
        del options
        return [cls()]

    def version(self) -> str:
        """Return the version of the project's own synthesis."""
        return synthesis_version()

    def lacking(
        self, designs: Sequence[DesignRow], tables: LabelTables, options: LabelOptions
    ) -> Collection[str]:
        """Return the ids of designs without figures of synthesis, or power, that they are to have."""
        figures = lacking_figures(designs, tables.labels, tables.runs, options)
        return {*figures, *lacking_power(designs, tables.labels, tables.runs, options)}

    def label(
        self,
        programs: Sequence[ProgramRow],
        designs: Sequence[DesignRow],
        tables: LabelTables,
        context: LabelContext,
        *,
        on_progress: ProgressCallback = silent,
    ) -> LabelTables:
        """Label every design."""
        del tables
        return label_designs(programs, designs, context=context, on_progress=on_progress)
