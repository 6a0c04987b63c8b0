"""Designs of other tools than the project's own engine: made, and run on data.

A row has the delays, clock and library of its configuration and no directives: those of the source and of
the configuration are outcomes that were not applied. `delay_library` is `none` and `engine_options` are
empty, for nothing of the engine shaped the design. The same things are remembered as for the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pipelines.cache import ContentCache
from pipelines.hls import (
    HlsError,
    HlsOptions,
    design_row,
    directive_json,
    ir,
    read_program,
)
from pipelines.identity import canonical_json, content_hash, text_sha256
from pipelines.interface import DataSet, Interface
from pipelines.labelling.backends import Making, Rtl, Trial, backend_of
from pipelines.labelling.counting import attempt_native, compared_status, empty_run, native_failure
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.own_designs import HlsAttempt
from pipelines.labelling.scratch import tool_folder
from pipelines.native import native_version
from pipelines.schemas import (
    OK,
    REJECTED,
    DesignRow,
    DirectiveOutcomeRow,
    ProgramRow,
    RunRow,
)
from pipelines.synthesis import Target

NO_DELAY_LIBRARY = "none"


def other_design_id(program: ProgramRow, tool: str, configuration: HlsOptions) -> str:
    """Hash of the program, what a tool sees of the configuration, and the version of the tool."""
    seen = {
        "memory_read_delay_cycles": configuration.memory_read_delay_cycles,
        "memory_write_delay_cycles": configuration.memory_write_delay_cycles,
        "clock_period_ns": configuration.clock_period_ns,
        "liberty": configuration.liberty,
    }
    return content_hash(program.program_id, seen, tool, backend_of(tool).version())


# ---- high-level synthesis --------------------------------------------------------------------------


def attempt_other(
    program: ProgramRow, tool: str, configuration: HlsOptions, *, cache: ContentCache, options: LabelOptions
) -> HlsAttempt:
    """Compile a design with another tool, or find what became of it before.

    Raises: LabellingError: no such tool. ToolMissing: it is not installed.
    """
    making = _making(program, tool, configuration, cache=cache, options=options)
    design = _row(program, tool, configuration, making)
    return HlsAttempt(design=design, outcomes=_outcomes(program, design, configuration))


def refused_by_front_end(program: ProgramRow, tool: str, configuration: HlsOptions, reason: str) -> DesignRow:
    """The row of a program that the front end, which all tools here share, cannot read."""
    making = Making(status=REJECTED, reason=reason, rtl=None, wall_s=0.0)
    return _row(program, tool, configuration, making)


def _making(
    program: ProgramRow, tool: str, configuration: HlsOptions, *, cache: ContentCache, options: LabelOptions
) -> Making:
    key = content_hash(other_design_id(program, tool, configuration), options.tool_timeout_s)
    stored = cache.get("other", key)
    if stored is not None:
        rtl = stored.pop("rtl")
        return Making(**stored, rtl=None if rtl is None else Rtl(**rtl))
    with tool_folder(cache, tool, options) as folder:
        try:
            making = backend_of(tool).make(program, configuration, folder=folder, options=options)
        except HlsError as error:  # not remembered: the front end may learn to read it
            return Making(status=REJECTED, reason=str(error), rtl=None, wall_s=0.0)
    cache.keep("other", key, asdict(making), making.status)
    return making


def rtl_of(program: ProgramRow, design: DesignRow, *, cache: ContentCache, options: LabelOptions) -> Rtl:
    """The Verilog of a design that another tool made.

    Raises: HlsError: the tool gives other Verilog than the row says. ToolMissing: it is not installed.
    """
    making = _making(program, design.tool, configuration_of(design), cache=cache, options=options)
    found = None if making.rtl is None else text_sha256(making.rtl.verilog)
    if making.rtl is None or found != design.rtl_sha256:
        rule = f"{design.tool} must give the Verilog {design.rtl_sha256} again"
        raise HlsError(rule, found or f"{making.status}: {making.reason}")
    return making.rtl


def configuration_of(design: DesignRow) -> HlsOptions:
    """The configuration a row was made with, as far as another tool sees it."""
    return HlsOptions(
        memory_read_delay_cycles=design.memory_read_delay_cycles,
        memory_write_delay_cycles=design.memory_write_delay_cycles,
        clock_period_ns=design.clock_period_ns,
        liberty=design.liberty,
    )


def _row(program: ProgramRow, tool: str, configuration: HlsOptions, making: Making) -> DesignRow:
    plain = replace(configuration, directives=())
    verilog = making.rtl.verilog if making.rtl else None
    return replace(
        design_row(program, plain, (making.status, making.reason or ""), making.wall_s),
        design_id=other_design_id(program, tool, configuration),
        delay_library=NO_DELAY_LIBRARY,
        engine_options=canonical_json({}),
        tool=tool,
        tool_version=backend_of(tool).version(),
        reason=making.reason,
        rtl_sha256=None if verilog is None else text_sha256(verilog),
        rtl_bytes=None if verilog is None else len(verilog.encode()),
        **making.counts,
    )


def _outcomes(
    program: ProgramRow, design: DesignRow, configuration: HlsOptions
) -> tuple[DirectiveOutcomeRow, ...]:
    """A row that says so for each directive left out, of a design that was made."""
    if design.status != OK:
        return ()
    function = read_program(program.source, top=program.top, file=f"{program.name}.c")
    statements = ir.walk_statements(function.body)
    loops = [s for s in statements if isinstance(s, ir.For | ir.While)]
    given = (*configuration.directives, *function.directives, *(d for s in loops for d in s.directives))
    return tuple(
        DirectiveOutcomeRow(
            design_id=design.design_id,
            directive=directive,
            applied=False,
            reason=f"{design.tool} is given no directives",
        )
        for directive in sorted({directive_json(d) for d in given})
    )


# ---- runs ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherDesign:
    """A design of another tool.

    Attributes:
        interface: of the program.
    """

    program: ProgramRow
    design: DesignRow
    interface: Interface
    cache: ContentCache
    options: LabelOptions

    def rtl(self) -> Rtl:
        """The Verilog of the row; raises what `rtl_of` raises."""
        return rtl_of(self.program, self.design, cache=self.cache, options=self.options)

    def run(self, data: DataSet, *, seed: int, builds: Path) -> RunRow:
        """Simulate it on one data set and compare its outputs with native C.

        Raises: ToolMissing, SimulatorError, BambuError, HlsError, OSError: a tool cannot be run.
        """
        del builds  # each simulation is built with its data
        backend = backend_of(self.design.tool)
        engine_version = backend.engine_version()
        empty = empty_run(self.design, data, seed=seed, engine=backend.engine, engine_version=engine_version)
        options = self.options
        key = content_hash(
            [empty.design_id, self.design.rtl_sha256, empty.data_id],
            [backend.engine, engine_version, native_version()],
            [options.tool_timeout_s, options.verilator_timeout_s, options.native_timeout_s],
            options.cycle_limit,
        )
        stored = self.cache.get("run", key)
        if stored is not None:
            return replace(empty, **stored)
        fields = self._run(data)
        self.cache.keep("run", key, fields, compared_status(fields))
        return replace(empty, **fields)

    def power(self, row: RunRow, data: DataSet, *, target: Target, builds: Path) -> RunRow:
        """The row as it is: netlists of other tools are not simulated."""
        del data, target, builds
        return row

    def _run(self, data: DataSet) -> dict[str, Any]:
        native = attempt_native(self.program, self.interface, data, cache=self.cache, options=self.options)
        fields: dict[str, Any] = {"native_wall_s": native["wall_s"]}
        if native["status"] != OK:
            return fields | native_failure(self.program, native)
        return fields | self._simulate(data, native)

    def _simulate(self, data: DataSet, native: Mapping[str, Any]) -> dict[str, Any]:
        rtl = self.rtl()
        with tool_folder(self.cache, self.design.tool, self.options) as folder:
            trial = Trial(
                program=self.program,
                configuration=configuration_of(self.design),
                rtl=rtl,
                interface=self.interface,
                data=data,
                native=native,
                folder=folder,
                runtime_folder=self.cache.folder / "runtime",
            )
            return backend_of(self.design.tool).run(trial, options=self.options)
