"""C to SystemVerilog through CIRCT: the public functions of this package."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pipelines.circt.calyx_wrapper import calyx_wrapper, wrapper_name
from pipelines.circt.errors import NotLowered
from pipelines.circt.flows import FlowFailed, Session, calyx_verilog, handshake_verilog
from pipelines.circt.handshake_wrapper import handshake_wrapper
from pipelines.circt.preparation import prepare
from pipelines.circt.verilog_text import exported_verilog
from pipelines.circt.writer import BranchingWriter, StructuredWriter, mlir_text
from pipelines.hls import HlsError, interface_of, ir, read_function
from pipelines.interface import DataSet, Interface
from pipelines.rtlsim import MemoryTiming, Port, SimulationResult, module_ports, simulate_design
from pipelines.schemas.status import OK, REJECTED, TOOL_ERROR
from pipelines.tools import ToolMissing

FLOWS = ("calyx", "handshake")
DEFAULT_TIMING = MemoryTiming(read_delay_cycles=2, write_delay_cycles=2)


_VERSION = "b0db2f3f"
"""Raise it when this package gives other Verilog or another status for the same program."""


class CirctError(ValueError):
    """An option is not one of those there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CirctResult:
    """What a flow gave.

    Attributes:
        status: ok, rejected (outside the accepted C, or what the lowering does), timeout or tool_error.
        reason: why it is not ok.
        verilog: SystemVerilog of the design and the module around it; None unless ok.
        module: name of the module around it, which has the ports of the engine's own designs.
        interface: of the C function; None when it could not be read.
        timing: delays of the external memories that the module was made for.
        mlir: what was given to the flow.
        tool: circt-calyx or circt-handshake; tool_version: of the wheel and of this package.
        wall_s: time of the processes in seconds.
    """

    status: str
    reason: str | None
    verilog: str | None
    module: str | None
    interface: Interface | None
    timing: MemoryTiming
    mlir: str | None
    tool: str
    tool_version: str
    wall_s: float


def is_installed() -> bool:
    """Whether the wheel is there."""
    try:
        return bool(version("circt"))
    except PackageNotFoundError:
        return False


@cache
def tool_version() -> str:
    """Version of the wheel and of this package.

    Raises: ToolMissing: the wheel is not installed.
    """
    if not is_installed():
        raise ToolMissing("the Python package circt must be installed, got none; run `make setup`")
    return f"{version('circt')}+{_VERSION}"


def core_name(top: str) -> str:
    """Name of the module that CIRCT makes: never a word of SystemVerilog, which it would rename."""
    return f"{top}_core"


def _ports(verilog: str, module: str) -> dict[str, Port]:
    """Ports of the module that CIRCT made."""
    ports = module_ports(verilog, module)
    if not ports:
        raise FlowFailed(
            TOOL_ERROR, f"CIRCT must export a module {module}, got none with ports of plain types"
        )
    return ports


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """One compilation and what is known so far."""

    flow: str
    timing: MemoryTiming
    session: Session
    interface: Interface | None = None
    mlir: str | None = None

    def verilog(self, source: str, top: str, file: str) -> str:
        self.interface = interface_of(read_function(source, top=top, file=file))
        function = replace(prepare(source, top=top, file=file), name=core_name(top))
        return self.calyx(function) if self.flow == "calyx" else self.handshake(function)

    def calyx(self, function: ir.Function) -> str:
        self.mlir = mlir_text(function, style=StructuredWriter)
        core = exported_verilog(calyx_verilog(self.mlir, function.name, self.session))
        return f"{core}\n{calyx_wrapper(function, _ports(core, function.name), self.timing)}"

    def handshake(self, function: ir.Function) -> str:
        self.mlir = mlir_text(function, style=BranchingWriter)
        core = exported_verilog(handshake_verilog(self.mlir, self.session))
        return f"{core}\n{handshake_wrapper(function, _ports(core, function.name), self.timing)}"

    def result(self, status: str, reason: str | None, verilog: str | None, top: str) -> CirctResult:
        return CirctResult(
            status=status,
            reason=reason,
            verilog=verilog,
            module=None if verilog is None else wrapper_name(core_name(top)),
            interface=self.interface,
            timing=self.timing,
            mlir=self.mlir,
            tool=f"circt-{self.flow}",
            tool_version=tool_version(),
            wall_s=self.session.wall_s,
        )


def compile_with_circt(
    source: str,
    *,
    top: str,
    flow: str,
    folder: Path,
    timeout_s: float,
    timing: MemoryTiming = DEFAULT_TIMING,
    file: str = "program.c",
) -> CirctResult:
    """Compile a C function with CIRCT, by a static schedule (`calyx`) or a dynamic one (`handshake`).

    Args:    source: C text; top: function; flow: one of `FLOWS`; folder: private to this call, made if
             absent; timeout_s: limit of each process in seconds; timing: of the external memories;
             file: name for messages.
    Returns: the design, or the status and reason for which there is none. Directives are ignored.
    Raises:  CirctError: no such flow. ToolMissing: the wheel is not installed.
    """
    if flow not in FLOWS:
        raise CirctError(f"flow must be one of {', '.join(FLOWS)}, got {flow!r}")
    tool_version()
    folder.mkdir(parents=True, exist_ok=True)
    attempt = _Attempt(flow=flow, timing=timing, session=Session(folder=folder, timeout_s=timeout_s))
    try:
        verilog = attempt.verilog(source, top, file)
    except (HlsError, NotLowered) as error:
        return attempt.result(REJECTED, str(error), None, top)
    except FlowFailed as error:
        return attempt.result(error.status, error.reason, None, top)
    return attempt.result(OK, None, verilog, top)


def simulate_circt_design(
    design: CirctResult,
    data: DataSet,
    *,
    folder: Path,
    runtime_folder: Path,
    timeout_s: float = 120.0,
    cycle_limit: int = 50_000_000,
) -> SimulationResult:
    """Run a design in Verilator on one data set.

    Args:    design: one whose status is ok; the rest as for `rtlsim.simulate_design`.
    Returns: latency and outputs, or the status and reason of the step that failed.
    Raises:  CirctError: the design has no Verilog. ToolMissing, SimulatorError: see `simulate_design`.
    """
    if design.verilog is None or design.module is None or design.interface is None:
        raise CirctError(f"a design that is simulated must be ok, got {design.status}")
    return simulate_design(
        design.verilog,
        module=design.module,
        interface=design.interface,
        data=data,
        timing=design.timing,
        folder=folder,
        runtime_folder=runtime_folder,
        timeout_s=timeout_s,
        cycle_limit=cycle_limit,
    )
