"""Other tools than the project's own engine, all driven in one way: the flows of CIRCT, and Bambu.

None of them takes directives. A design of CIRCT has the ports of the engine's own designs and is simulated
in the same test bench. Bambu's ports are its own: it simulates its design itself and compares the outputs
with its own native run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pipelines import bambu, circt, hls, rtlsim
from pipelines.bambu import BambuOptions, run_bambu
from pipelines.circt import CirctResult, compile_with_circt, simulate_circt_design
from pipelines.hls import HlsOptions, read_interface
from pipelines.interface import DataSet, Interface
from pipelines.labelling.counting import difference
from pipelines.labelling.options import LabelOptions
from pipelines.rtlsim import MemoryTiming
from pipelines.schemas import OK, TOOL_ERROR, ProgramRow
from pipelines.tools import ToolMissing

CIRCT_TOOLS = tuple(f"circt-{flow}" for flow in circt.FLOWS)
TOOLS = (hls.TOOL, *CIRCT_TOOLS, bambu.TOOL)


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
class Making:
    """What a tool made of a program.

    Attributes:
        rtl: the design; None unless status is ok.
        counts: columns of the design's row that the tool reports in the same sense.
        wall_s: time from source to Verilog in seconds.
    """

    status: str
    reason: str | None
    rtl: Rtl | None
    wall_s: float
    counts: Mapping[str, int | None] = field(default_factory=dict[str, int | None])


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One design on one data set.

    Attributes:
        native: status, returned value and a digest of each output of native C, as `counting` has them.
        folder: empty, private to this trial; runtime_folder: where Verilator's runtime is kept.
    """

    program: ProgramRow
    configuration: HlsOptions
    rtl: Rtl
    interface: Interface
    data: DataSet
    native: Mapping[str, Any]
    folder: Path
    runtime_folder: Path


class Backend(Protocol):
    """One tool: how it makes a design, and how the cycles of the design are counted."""

    @property
    def tool(self) -> str:
        """Name in the column `tool`."""
        ...

    @property
    def engine(self) -> str:
        """Name in the column `engine` of runs."""
        ...

    def version(self) -> str:
        """Version of the tool, and of the code that drives it."""
        ...

    def engine_version(self) -> str:
        """Version of what counts the cycles."""
        ...

    def make(
        self, program: ProgramRow, configuration: HlsOptions, *, folder: Path, options: LabelOptions
    ) -> Making:
        """Compile a program, directives left out.

        Args:   folder: empty, private to this call.
        Raises: ToolMissing: the tool is not installed. HlsError: the interface cannot be read.
        """
        ...

    def run(self, trial: Trial, *, options: LabelOptions) -> dict[str, Any]:
        """Fields of a run's row: status, reason, cycles, whether the outputs equal native C, times.

        Raises: ToolMissing, SimulatorError, BambuError: it cannot be run.
        """
        ...


# ---- CIRCT -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CirctBackend:
    """A flow of CIRCT, simulated in the engine's own test bench."""

    flow: str

    @property
    def tool(self) -> str:
        """Name in the column `tool`."""
        return f"circt-{self.flow}"

    @property
    def engine(self) -> str:
        """Verilator counts the cycles."""
        return rtlsim.ENGINE

    def version(self) -> str:
        """Version of the wheel, of its driver, and of the engine, whose front end it reads C with."""
        return f"{circt.tool_version()}+{hls.tool_version()}"

    def engine_version(self) -> str:
        """Version of Verilator and of the test bench."""
        return rtlsim.engine_version()

    def make(
        self, program: ProgramRow, configuration: HlsOptions, *, folder: Path, options: LabelOptions
    ) -> Making:
        """See `Backend.make`."""
        made = compile_with_circt(
            program.source,
            top=program.top,
            flow=self.flow,
            folder=folder,
            timeout_s=options.tool_timeout_s,
            timing=_timing(configuration),
            file=f"{program.name}.c",
        )
        rtl = None
        if made.verilog is not None and made.module is not None:
            rtl = Rtl(verilog=made.verilog, module=made.module)
        return Making(status=made.status, reason=made.reason, rtl=rtl, wall_s=made.wall_s)

    def run(self, trial: Trial, *, options: LabelOptions) -> dict[str, Any]:
        """See `Backend.run`."""
        simulated = simulate_circt_design(
            self._design(trial),
            trial.data,
            folder=trial.folder,
            runtime_folder=trial.runtime_folder,
            timeout_s=options.verilator_timeout_s,
            cycle_limit=options.cycle_limit,
        )
        fields: dict[str, Any] = {
            "status": simulated.status,
            "reason": simulated.reason,
            "build_wall_s": simulated.build_wall_s,
            "simulate_wall_s": simulated.simulate_wall_s,
        }
        if simulated.status != OK:
            return fields
        differs = difference(trial.native, simulated)
        if differs is not None:
            reason = f"hardware differs from native C in {differs}"
            return fields | {"outputs_equal": False, "status": TOOL_ERROR, "reason": reason}
        widths = {a.name: a.type.width_bits // 8 for a in trial.interface.arrays}
        return fields | {
            "outputs_equal": True,
            "latency_cycles": simulated.latency_cycles,
            "bytes_read": sum(n * widths[a] for a, n in simulated.loads.items()),
            "bytes_written": sum(n * widths[a] for a, n in simulated.stores.items()),
        }

    def _design(self, trial: Trial) -> CirctResult:
        return CirctResult(
            status=OK,
            reason=None,
            verilog=trial.rtl.verilog,
            module=trial.rtl.module,
            interface=trial.interface,
            timing=_timing(trial.configuration),
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


# ---- Bambu -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BambuBackend:
    """Bambu on the PATH; each run synthesises anew, for its simulation is a part of the same command."""

    @property
    def tool(self) -> str:
        """Name in the column `tool`."""
        return bambu.TOOL

    @property
    def engine(self) -> str:
        """Bambu's own simulation counts the cycles."""
        return bambu.ENGINE

    def version(self) -> str:
        """Version of Bambu and of its driver."""
        return bambu.tool_version()

    def engine_version(self) -> str:
        """Version of Bambu, which makes the test bench, and of its driver."""
        return bambu.tool_version()

    def make(
        self, program: ProgramRow, configuration: HlsOptions, *, folder: Path, options: LabelOptions
    ) -> Making:
        """See `Backend.make`."""
        made = run_bambu(
            without_directives(program.source),
            interface=read_interface(program.source, program.top, file=f"{program.name}.c"),
            data=None,
            options=_bambu_options(configuration, simulate=False),
            folder=folder,
            timeout_s=options.tool_timeout_s,
        )
        status, reason = made.status, made.reason
        if status == OK and made.verilog is None:
            status, reason = TOOL_ERROR, f"bambu must write {program.top}.v, got no such file"
        rtl = None
        if status == OK and made.verilog is not None:
            rtl = Rtl(verilog=made.verilog, module=program.top)
        report = made.report
        counts = {
            "state_count": report.state_count if report else None,
            "module_count": report.module_count if report else None,
            "multiplexer_count": report.multiplexer_count if report else None,
        }
        return Making(status=status, reason=reason, rtl=rtl, wall_s=made.wall_s, counts=counts)

    def run(self, trial: Trial, *, options: LabelOptions) -> dict[str, Any]:
        """See `Backend.run`."""
        ran = run_bambu(
            without_directives(trial.program.source),
            interface=trial.interface,
            data=trial.data,
            options=_bambu_options(trial.configuration, simulate=True),
            folder=trial.folder,
            timeout_s=options.tool_timeout_s,
        )
        fields: dict[str, Any] = {"status": ran.status, "reason": ran.reason, "simulate_wall_s": ran.wall_s}
        if ran.status == OK and ran.report is not None:
            return fields | {"outputs_equal": True, "latency_cycles": ran.report.latency_cycles}
        if ran.reason is not None and NOT_EQUAL in ran.reason:
            reason = f"hardware differs from native C: {ran.reason}"
            return fields | {"outputs_equal": False, "status": TOOL_ERROR, "reason": reason}
        return fields


def without_directives(source: str) -> str:
    """C text with every pragma that is a directive made blank; lines keep their numbers."""
    return _DIRECTIVE.sub(lambda found: "\n" * found[0].count("\n"), source)


def _bambu_options(configuration: HlsOptions, *, simulate: bool) -> BambuOptions:
    return BambuOptions(
        memory_read_delay_cycles=configuration.memory_read_delay_cycles,
        memory_write_delay_cycles=configuration.memory_write_delay_cycles,
        clock_period_ns=configuration.clock_period_ns,
        simulate=simulate,
    )


# ---- all of them -----------------------------------------------------------------------------------

_BACKENDS: Mapping[str, Backend] = {
    b.tool: b for b in (*(CirctBackend(flow=flow) for flow in circt.FLOWS), BambuBackend())
}


def backend_of(tool: str) -> Backend:
    """The backend of a name.

    Raises: LabellingError: there is none of this name.
    """
    if tool not in _BACKENDS:
        raise LabellingError(f"a tool must be one of {', '.join(_BACKENDS)}, got {tool!r}")
    return _BACKENDS[tool]


def require_tools(tools: Sequence[str]) -> None:
    """Check that every tool is known and installed, before work begins.

    Raises: LabellingError: a name is not one of `TOOLS`. ToolMissing: a tool is not installed.
    """
    for tool in tools:
        if tool not in TOOLS:
            raise LabellingError(f"a tool must be one of {', '.join(TOOLS)}, got {tool!r}")
        if tool in CIRCT_TOOLS and not circt.is_installed():
            raise ToolMissing(f"{tool} needs the Python package circt, got none; run `make setup`")
        if tool == bambu.TOOL and not bambu.is_installed():
            raise ToolMissing(
                f"{tool} must be on the PATH, got nothing; install it from "
                f"https://github.com/ferrandi/PandA-bambu or leave it out (tools: {', '.join(TOOLS)})"
            )
