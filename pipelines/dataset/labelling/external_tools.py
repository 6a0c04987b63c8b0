"""Other high-level synthesis tools than the project's own engine: the flows of CIRCT, and Bambu.

None of them takes directives. A design of CIRCT has the ports of the engine's own designs and is simulated
in the same test bench. Bambu's ports are its own: it simulates its design itself and compares the outputs
with its own native run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipelines import bambu, circt, hls
from pipelines.bambu import BambuOptions, BambuResult, run_bambu
from pipelines.base.tools import ToolMissing
from pipelines.c import HlsError, read_interface, require_outputs
from pipelines.c.signature import DataSet, Interface
from pipelines.circt import CirctResult, compile_with_circt, simulate_circt_design
from pipelines.dataset.labelling.options import CIRCT_TOOLS, TOOLS, LabelOptions
from pipelines.dataset.labelling.runs import OutputDigests, RunResult, moved_bytes
from pipelines.hls import HlsOptions
from pipelines.rtl import simulation
from pipelines.rtl.simulation import MemoryTiming
from pipelines.schemas import OK, TOOL_ERROR, ProgramRow

NOT_EQUAL = "Simulation not correct"
"""What Bambu says when an output differs from its native run."""

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?:HLS|ACCEL|omp|clang)\b(?:\\\n|[^\n])*", re.M | re.I)


class LabellingError(ValueError):
    """A tool that labelling does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rtl:
    """Verilog and the name of its top module."""

    verilog: str
    module: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HlsResult:
    """The design that a tool makes of a program.

    Attributes:
        rtl: None unless status is ok.
        wall_s: time from source to Verilog in seconds.
        counts: columns of the design's row that the tool reports in the same sense.
    """

    status: str
    reason: str | None
    rtl: Rtl | None
    wall_s: float
    counts: Mapping[str, int | None] = field(default_factory=dict[str, int | None])


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationJob:
    """One design to be run on one data set.

    Attributes:
        native, native_wall_s: what native C gave, and its time.
        folder: empty, private to this job; runtime_folder: where Verilator's runtime is kept.
    """

    program: ProgramRow
    configuration: HlsOptions
    rtl: Rtl
    interface: Interface
    data: DataSet
    native: OutputDigests
    native_wall_s: float
    folder: Path
    runtime_folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CirctTool:
    """A flow of CIRCT, simulated in the engine's own test bench.

    Attributes:
        engine: name in the column `engine` of runs.
    """

    flow: str
    engine: str = simulation.ENGINE

    @property
    def tool(self) -> str:
        """Name in the column `tool`."""
        return f"circt-{self.flow}"

    def version(self) -> str:
        """Return version of the wheel, of its driver, and of the engine, whose front end it reads C with."""
        return f"{circt.tool_version()}+{hls.tool_version()}"

    def engine_version(self) -> str:
        """Return the version of Verilator and of the test bench."""
        return simulation.engine_version()

    def compile(
        self, program: ProgramRow, configuration: HlsOptions, *, folder: Path, options: LabelOptions
    ) -> HlsResult:
        """Compile a program, directives left out.

        Args:   folder: empty, private to this call.
        Raises: ToolMissing: the tool is not installed. HlsError: the interface cannot be read.
        """
        compiled = compile_with_circt(
            program.source,
            top=program.top,
            flow=self.flow,
            folder=folder,
            timeout_s=options.tool_timeout_s,
            timing=_timing(configuration),
            file=f"{program.name}.c",
        )
        rtl = None
        if compiled.verilog is not None and compiled.module is not None:
            rtl = Rtl(verilog=compiled.verilog, module=compiled.module)
        return HlsResult(status=compiled.status, reason=compiled.reason, rtl=rtl, wall_s=compiled.wall_s)

    def run(self, job: SimulationJob, *, options: LabelOptions) -> RunResult:
        """Count the cycles of a design and compare its outputs with native C.

        Raises: ToolMissing, SimulatorError: it cannot be run.
        """
        simulated = simulate_circt_design(
            self._design(job),
            job.data,
            folder=job.folder,
            runtime_folder=job.runtime_folder,
            timeout_s=options.verilator_timeout_s,
            cycle_limit=options.cycle_limit,
        )
        result = RunResult(
            status=simulated.status,
            reason=simulated.reason,
            build_wall_s=simulated.build_wall_s,
            simulate_wall_s=simulated.simulate_wall_s,
            native_wall_s=job.native_wall_s,
        )
        if simulated.status != OK:
            return result
        differs = job.native.difference(simulated)
        if differs is not None:
            return result.failed(f"hardware differs from native C in {differs}", equal=False)
        return replace(
            result,
            outputs_equal=True,
            latency_cycles=simulated.latency_cycles,
            bytes_read=moved_bytes(job.interface, simulated.loads),
            bytes_written=moved_bytes(job.interface, simulated.stores),
        )

    def _design(self, job: SimulationJob) -> CirctResult:
        return CirctResult(
            status=OK,
            reason=None,
            verilog=job.rtl.verilog,
            module=job.rtl.module,
            interface=job.interface,
            timing=_timing(job.configuration),
            mlir=None,
            tool=self.tool,
            tool_version=self.version(),
            wall_s=0.0,
        )


def _timing(configuration: HlsOptions) -> MemoryTiming:
    return MemoryTiming(
        read_delay_cycles=configuration.memory_read_delay_cycles,
        write_delay_cycles=configuration.memory_write_delay_cycles,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BambuTool:
    """Bambu on the PATH; each run synthesises anew, for its simulation is a part of the same command.

    Attributes:
        tool, engine: names in the columns `tool` and, of runs, `engine`.
    """

    tool: str = bambu.TOOL
    engine: str = bambu.ENGINE

    def version(self) -> str:
        """Return the version of Bambu and of its driver."""
        return bambu.tool_version()

    def engine_version(self) -> str:
        """Return the version of Bambu, which makes the test bench, and of its driver."""
        return bambu.tool_version()

    def compile(
        self, program: ProgramRow, configuration: HlsOptions, *, folder: Path, options: LabelOptions
    ) -> HlsResult:
        """See `CirctTool.compile`."""
        file = f"{program.name}.c"
        interface = read_interface(program.source, program.top, file=file)
        require_outputs(interface, file)
        for argument in interface.arguments:
            if argument.static is not None:
                rule = "Bambu passes arguments only, so a program must not use objects of static storage"
                raise HlsError(rule, argument.static.name, file=file)
        run = _run_bambu(program, configuration, interface, None, folder=folder, options=options)
        status, reason, rtl, report = run.status, run.reason, None, run.report
        if status == OK and run.verilog is None:
            status, reason = TOOL_ERROR, f"bambu wrote no {program.top}.v"
        elif status == OK and run.verilog is not None:
            rtl = Rtl(verilog=run.verilog, module=program.top)
        counts = {
            "state_count": report.state_count if report else None,
            "module_count": report.module_count if report else None,
            "multiplexer_count": report.multiplexer_count if report else None,
        }
        return HlsResult(status=status, reason=reason, rtl=rtl, wall_s=run.wall_s, counts=counts)

    def run(self, job: SimulationJob, *, options: LabelOptions) -> RunResult:
        """See `CirctTool.run`; raises ToolMissing or BambuError."""
        run = _run_bambu(
            job.program, job.configuration, job.interface, job.data, folder=job.folder, options=options
        )
        result = RunResult(
            status=run.status, reason=run.reason, simulate_wall_s=run.wall_s, native_wall_s=job.native_wall_s
        )
        if run.status == OK and run.report is not None:
            return replace(result, outputs_equal=True, latency_cycles=run.report.latency_cycles)
        if run.reason is not None and NOT_EQUAL in run.reason:
            return result.failed(f"hardware differs from native C: {run.reason}", equal=False)
        return result


def _run_bambu(
    program: ProgramRow,
    configuration: HlsOptions,
    interface: Interface,
    data: DataSet | None,
    *,
    folder: Path,
    options: LabelOptions,
) -> BambuResult:
    """Synthesise a program, and simulate it on data if there are any."""
    return run_bambu(
        without_directives(program.source),
        interface=interface,
        data=data,
        options=BambuOptions(
            memory_read_delay_cycles=configuration.memory_read_delay_cycles,
            memory_write_delay_cycles=configuration.memory_write_delay_cycles,
            clock_period_ns=configuration.clock_period_ns,
            simulate=data is not None,
        ),
        folder=folder,
        timeout_s=options.tool_timeout_s,
    )


def without_directives(source: str) -> str:
    """Return C text with every pragma that is a directive made blank; lines keep their numbers."""
    return _DIRECTIVE.sub(lambda match: "\n" * match[0].count("\n"), source)


ExternalTool = CirctTool | BambuTool

_EXTERNAL: Mapping[str, ExternalTool] = {
    tool.tool: tool for tool in (*(CirctTool(flow=flow) for flow in circt.FLOWS), BambuTool())
}


def external_tool(name: str) -> ExternalTool:
    """Return the tool of a name.

    Raises: LabellingError: there is none of this name.
    """
    if name not in _EXTERNAL:
        raise LabellingError(f"unknown tool: {name}; accepted: {', '.join(_EXTERNAL)}")
    return _EXTERNAL[name]


def require_tools(names: Sequence[str]) -> None:
    """Check that every tool is known and installed, before work begins.

    Raises: LabellingError: a name is not one of `TOOLS`. ToolMissing: a tool is not installed.
    """
    for name in names:
        if name not in TOOLS:
            raise LabellingError(f"unknown tool: {name}; accepted: {', '.join(TOOLS)}")
        if name in CIRCT_TOOLS and not circt.is_installed():
            raise ToolMissing(f"{name}: the flows of CIRCT {circt.NEEDED}")
        if name == bambu.TOOL and not bambu.is_installed():
            raise ToolMissing(
                f"{name}: not found on PATH; install it from https://github.com/ferrandi/PandA-bambu "
                f"or choose other tools ({', '.join(TOOLS)})"
            )
