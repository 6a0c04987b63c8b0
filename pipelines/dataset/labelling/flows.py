"""Designs from source to Verilog and through runs: by the project's own engine, or by another tool.

A design of another tool has the delays, clock and library of its configuration and no directives: those of
the source and of the configuration are outcomes that were not applied. `delay_library` is `none` and
`engine_options` are empty, for nothing of the engine shaped the design.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipelines.base.cache import ContentCache, json_value
from pipelines.base.identity import canonical_json, content_hash, text_sha256
from pipelines.base.tools import stopwatch
from pipelines.c import HlsError, directive_json, ir, read_function
from pipelines.c.signature import DataSet, Interface
from pipelines.dataset.labelling.external_tools import HlsResult, Rtl, SimulationJob, external_tool
from pipelines.dataset.labelling.options import LabelContext, ToolContext
from pipelines.dataset.labelling.runs import (
    Run,
    RunIdentity,
    RunRequest,
    RunResult,
    cached_run,
    native_result,
    run_designs,
)
from pipelines.dataset.labelling.synthesis import add_power
from pipelines.hls import (
    TOOL,
    CompiledDesign,
    HlsOptions,
    check_program,
    compile_program,
    design_id,
    design_row,
    options_of,
    outcome_rows,
    program_rules,
)
from pipelines.native import native_version
from pipelines.programs import ProgramData
from pipelines.schemas import DRAWN, OK, REJECTED, TOOL_ERROR, DesignRow, DirectiveOutcomeRow, ProgramRow

NO_DELAY_LIBRARY = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class HlsRows:
    """Rows of one attempt at high-level synthesis, by any tool."""

    design: DesignRow
    outcomes: tuple[DirectiveOutcomeRow, ...] = ()


def compile_design(
    program: ProgramRow, tool: str, configuration: HlsOptions, context: ToolContext
) -> HlsRows:
    """Compile a program with a tool.

    Raises: LabellingError: no such tool. ToolMissing: it is not installed.
    """
    if tool == TOOL:
        return compile_natively(program, configuration, context.cache)[0]
    design = _external_row(program, tool, configuration, _external(program, tool, configuration, context))
    return HlsRows(design=design, outcomes=_unapplied(program, design, configuration))


# ---- the project's own engine --------------------------------------------------------------------------


def compile_natively(
    program: ProgramRow, configuration: HlsOptions, cache: ContentCache
) -> tuple[HlsRows, CompiledDesign | None]:
    """Compile a program with the engine.

    Returns: its rows, and the compiled design when it was not in the cache.
    """
    compiled: list[CompiledDesign] = []

    def make() -> HlsRows:
        start = stopwatch()
        try:
            design = compile_program(
                program.source, top=program.top, options=configuration, file=f"{program.name}.c"
            )
        except HlsError as error:
            failure = (REJECTED, str(error))
        except Exception as error:  # a fault of the engine costs one design, not the run, and is tried again
            failure = (TOOL_ERROR, f"the engine failed: {type(error).__name__}: {error}")
        else:
            compiled.append(design)
            row = design_row(program, configuration, design, stopwatch() - start)
            return HlsRows(design=row, outcomes=tuple(outcome_rows(program, configuration, design)))
        return HlsRows(design=design_row(program, configuration, failure, stopwatch() - start))

    rows = cached_rows(program, configuration, cache)
    if rows is None:
        rows = make()
        cache.keep("hls", design_id(program, configuration), json_value(rows), rows.design.status)
    return rows, compiled[0] if compiled else None


def cached_rows(program: ProgramRow, configuration: HlsOptions, cache: ContentCache) -> HlsRows | None:
    """Return the stored rows of a design of the engine, of whatever suite its program was.

    Returns: None without any, and for a refusal of an earlier engine that the present one does not repeat.
    """
    stored = cache.get("hls", design_id(program, configuration))
    if stored is None:
        return None
    rows = _stored_rows(stored, program)
    if rows.design.status == REJECTED and not _is_refused(program, configuration):
        return None
    return rows


def _is_refused(program: ProgramRow, configuration: HlsOptions) -> bool:
    try:
        check_program(program.source, top=program.top, options=configuration, file=f"{program.name}.c")
    except HlsError:
        return True
    return False


LATER_COLUMNS: dict[str, Any] = {"is_constant": None}
"""Columns of a design that entries of before lack; they are null there."""


def _stored_rows(stored: dict[str, Any], program: ProgramRow) -> HlsRows:
    return HlsRows(
        design=replace(DesignRow(**(LATER_COLUMNS | stored["design"])), suite=program.suite),
        outcomes=tuple(DirectiveOutcomeRow(**outcome) for outcome in stored["outcomes"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeFlow:
    """A design of the engine, compiled when something needs its Verilog.

    Attributes:
        interface: of the program.
        compiled: the compiled design, once there is one.
    """

    program: ProgramRow
    design: DesignRow
    interface: Interface
    context: ToolContext
    compiled: list[CompiledDesign] = field(default_factory=list[CompiledDesign])

    def rtl(self) -> CompiledDesign:
        """Return the compiled design.

        Raises: HlsError: the engine gives other Verilog than the row says.
        """
        if not self.compiled:
            self.compiled.append(recompile(self.program, self.design))
        return self.compiled[0]

    def request(self, data: DataSet, *, seed: int, builds: Path, kind: str | None = DRAWN) -> RunRequest:
        """Return the design on one data set."""
        return RunRequest(
            program=self.program,
            design=self.design,
            compiled=self.rtl,
            interface=self.interface,
            data=data,
            builds=builds,
            seed=seed,
            kind=kind,
        )

    def run(self, data_sets: Sequence[ProgramData], *, builds: Path) -> list[Run]:
        """Count its cycles on data sets.

        Args:   builds: folder for what is built once for all data sets.
        Raises: ToolMissing, SimulatorError, HlsError, OSError, UnknownReference: a tool cannot be run.
        """
        requests = [
            self.request(one.values, seed=one.seed, builds=builds, kind=one.kind) for one in data_sets
        ]
        return run_designs(requests, self.context)

    def add_power(self, run: Run, data: DataSet, *, builds: Path, context: LabelContext) -> Run:
        """Return a run that is ok, with the power of the mapped netlist on the same data; see `add_power`."""
        return add_power(run, self.request(data, seed=run.identity.seed, builds=builds), context)


def recompile(program: ProgramRow, design: DesignRow) -> CompiledDesign:
    """Return the compiled design of a row.

    Raises: HlsError: the engine gives other Verilog than the row says.
    """
    compiled = compile_program(
        program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
    )
    sha256 = text_sha256(compiled.verilog)
    if sha256 != design.rtl_sha256:
        raise HlsError(f"a design must compile to the Verilog {design.rtl_sha256}", sha256)
    return compiled


# ---- other tools ---------------------------------------------------------------------------------------


def _external_id(program: ProgramRow, tool: str, configuration: HlsOptions) -> str:
    """Return the hash of the program, the part of the configuration that a tool sees, and its version."""
    visible = {
        "memory_read_delay_cycles": configuration.memory_read_delay_cycles,
        "memory_write_delay_cycles": configuration.memory_write_delay_cycles,
        "clock_period_ns": configuration.clock_period_ns,
        "liberty": configuration.liberty,
    }
    version = external_tool(tool).version()
    return content_hash(program.program_id, visible, tool, version, *program_rules(program))


def _external(program: ProgramRow, tool: str, configuration: HlsOptions, context: ToolContext) -> HlsResult:
    key = content_hash(_external_id(program, tool, configuration), context.options.tool_timeout_s)

    def make() -> HlsResult:
        with context.tool_folder(tool) as folder:
            return external_tool(tool).compile(program, configuration, folder=folder, options=context.options)

    try:
        return context.cache.cached(
            "other", key, make, _stored_result, statuses=lambda result: (result.status,)
        )
    except HlsError as error:  # not stored: the front end may learn to read it
        return HlsResult(status=REJECTED, reason=str(error), rtl=None, wall_s=0.0)


def _stored_result(stored: dict[str, Any]) -> HlsResult:
    rtl = stored.pop("rtl")
    return HlsResult(**stored, rtl=None if rtl is None else Rtl(**rtl))


def rtl_of(program: ProgramRow, design: DesignRow, context: ToolContext) -> Rtl:
    """Return the Verilog of a design of another tool.

    Raises: HlsError: the tool gives other Verilog than the row says. ToolMissing: it is not installed.
    """
    result = _external(program, design.tool, _configuration_of(design), context)
    sha256 = None if result.rtl is None else text_sha256(result.rtl.verilog)
    if result.rtl is None or sha256 != design.rtl_sha256:
        rule = f"{design.tool} must give the Verilog {design.rtl_sha256} again"
        raise HlsError(rule, sha256 or f"{result.status}: {result.reason}")
    return result.rtl


def _configuration_of(design: DesignRow) -> HlsOptions:
    """Return the configuration of a row, as far as another tool sees it."""
    return HlsOptions(
        memory_read_delay_cycles=design.memory_read_delay_cycles,
        memory_write_delay_cycles=design.memory_write_delay_cycles,
        clock_period_ns=design.clock_period_ns,
        liberty=design.liberty,
    )


def refused_row(program: ProgramRow, tool: str, configuration: HlsOptions, reason: str) -> DesignRow:
    """Return the row of a program that the front end, which all tools share, cannot read."""
    if tool == TOOL:
        return design_row(program, configuration, (REJECTED, reason), 0.0)
    result = HlsResult(status=REJECTED, reason=reason, rtl=None, wall_s=0.0)
    return _external_row(program, tool, configuration, result)


def _external_row(program: ProgramRow, tool: str, configuration: HlsOptions, result: HlsResult) -> DesignRow:
    plain = replace(configuration, directives=())
    verilog = result.rtl.verilog if result.rtl else None
    return replace(
        design_row(program, plain, (result.status, result.reason or ""), result.wall_s),
        design_id=_external_id(program, tool, configuration),
        delay_library=NO_DELAY_LIBRARY,
        engine_options=canonical_json({}),
        tool=tool,
        tool_version=external_tool(tool).version(),
        reason=result.reason,
        rtl_sha256=None if verilog is None else text_sha256(verilog),
        rtl_bytes=None if verilog is None else len(verilog.encode()),
        **result.counts,
    )


def _unapplied(
    program: ProgramRow, design: DesignRow, configuration: HlsOptions
) -> tuple[DirectiveOutcomeRow, ...]:
    """Return a row for each directive that the tool of a design was not given."""
    if design.status != OK:
        return ()
    function = read_function(program.source, top=program.top, file=f"{program.name}.c")
    loops = [s for s in ir.walk_statements(function.body) if isinstance(s, ir.For | ir.While)]
    of_loops = [directive for loop in loops for directive in loop.directives]
    directives = (*configuration.directives, *function.directives, *of_loops)
    return tuple(
        DirectiveOutcomeRow(
            design_id=design.design_id,
            directive=directive,
            applied=False,
            reason=f"{design.tool} is given no directives",
        )
        for directive in sorted({directive_json(directive) for directive in directives})
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalFlow:
    """A design of another tool.

    Attributes:
        interface: of the program.
    """

    program: ProgramRow
    design: DesignRow
    interface: Interface
    context: ToolContext

    def rtl(self) -> Rtl:
        """Return the Verilog of the row; raises what `rtl_of` raises."""
        return rtl_of(self.program, self.design, self.context)

    def run(self, data_sets: Sequence[ProgramData], *, builds: Path) -> list[Run]:
        """Simulate it on data sets and compare its outputs with native C.

        Raises: ToolMissing, SimulatorError, BambuError, HlsError, OSError: a tool cannot be run.
        """
        del builds  # each simulation is built with its data
        return [self._run(one) for one in data_sets]

    def _run(self, data: ProgramData) -> Run:
        tool, options = external_tool(self.design.tool), self.context.options
        identity = RunIdentity(
            design_id=self.design.design_id,
            data_id=data.identity,
            suite=self.design.suite,
            engine=tool.engine,
            engine_version=tool.engine_version(),
            seed=data.seed,
            data_kind=data.kind,
        )
        key = content_hash(
            [identity.design_id, self.design.rtl_sha256, identity.data_id],
            [identity.engine, identity.engine_version, native_version()],
            [options.tool_timeout_s, options.verilator_timeout_s, options.native_timeout_s],
            options.cycle_limit,
        )
        result = cached_run(key, lambda: self._simulate(data.values), self.context)
        return Run(identity=identity, result=result)

    def add_power(self, run: Run, data: DataSet, *, builds: Path, context: LabelContext) -> Run:
        """Return the run as it is: netlists of other tools are not simulated."""
        del data, builds, context
        return run

    def _simulate(self, data: DataSet) -> RunResult:
        context = self.context
        native = native_result(self.program, self.interface, data, context)
        if native.status != OK:
            return native.failed_run(self.program)
        rtl = self.rtl()
        with context.tool_folder(self.design.tool) as folder:
            job = SimulationJob(
                program=self.program,
                configuration=_configuration_of(self.design),
                rtl=rtl,
                interface=self.interface,
                data=data,
                native=native.digests,
                native_wall_s=native.wall_s,
                folder=folder,
                runtime_folder=context.runtime_folder,
            )
            return external_tool(self.design.tool).run(job, options=context.options)
