"""C to SystemVerilog through CIRCT: the public functions of this package."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pipelines.base.tools import ToolMissing, ToolRun, run_tool
from pipelines.c import HlsError, interface_of, ir, read_function, require_outputs
from pipelines.c.signature import DataSet, Interface
from pipelines.circt.calyx import calyx_wrapper, component_text, connect_clocks, wrapper_name
from pipelines.circt.expressions import NotLowered
from pipelines.circt.handshake import handshake_wrapper, memory_channels
from pipelines.circt.preparation import prepare
from pipelines.circt.verilog import exported_verilog
from pipelines.circt.writer import BranchingWriter, StructuredWriter, mlir_text
from pipelines.rtl.simulation import (
    MemoryTiming,
    Port,
    SimulationResult,
    module_ports,
    simulate_design,
)
from pipelines.schemas.columns import OK, REJECTED, TOOL_ERROR

_WORKER = Path(__file__).with_name("worker.py")
_STACK_FRAME = re.compile(r"^\s*#\d+ ")

_TO_CALYX = "builtin.module(cse,lower-scf-to-calyx{{top-level-function={top}}},cse,canonicalize)"
_TO_STATES = (
    "builtin.module(calyx.component(lower-calyx-to-fsm,canonicalize,materialize-calyx-to-fsm,canonicalize,"
    "calyx-remove-groups-fsm),cse,canonicalize)"
)
_TO_VERILOG = (
    "builtin.module(canonicalize,convert-fsm-to-sv,canonicalize,cse,lower-seq-to-sv,canonicalize,cse,"
    "hw.module(hw-cleanup,prettify-verilog))"
)
_TO_HANDSHAKE = "builtin.module(lower-cf-to-handshake{disable-task-pipelining})"
_FROM_HANDSHAKE = (
    "builtin.module(handshake.func(handshake-materialize-forks-sinks),canonicalize)",
    "builtin.module(handshake.func(handshake-remove-block-structure,"
    "handshake-insert-buffers{strategy=cycles buffer-size=2}))",
    "builtin.module(lower-handshake-to-hw,canonicalize)",
    "builtin.module(lower-esi-types,lower-esi-ports,lower-esi-to-hw,canonicalize,cse)",
    "builtin.module(hw.module(lower-seq-hlmem,lower-seq-fifo),lower-seq-to-sv,canonicalize,cse)",
)


class FlowFailed(Exception):
    """A stage did not succeed: its status (`timeout` or `tool_error`) and its reason."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(slots=True, kw_only=True)
class Session:
    """Stages in one folder; adds up their time.

    Attributes:
        folder: folder of the requests and results of all stages.
        timeout_s: processor time of each stage.
    """

    folder: Path
    timeout_s: float
    wall_s: float = 0.0

    def stage(self, name: str, text: str, steps: Sequence[dict[str, Any]], *, verilog: bool = False) -> str:
        """Run passes on a module in a new process.

        Raises: FlowFailed: a pass failed, or the process crashed or exceeded its time limit.
        """
        request, result = f"{name}.json", f"{name}.out"
        content = {"text": text, "steps": list(steps), "verilog": verilog}
        (self.folder / request).write_text(json.dumps(content), "utf-8")
        (self.folder / result).unlink(missing_ok=True)
        argv = [sys.executable, "-I", str(_WORKER), request, result]
        run = run_tool(argv, folder=self.folder, timeout_s=self.timeout_s, of_processor=True)
        self.wall_s += run.wall_s
        if run.timed_out and run.machine_fault is None:
            raise FlowFailed(
                "timeout", f"CIRCT took more than {self.timeout_s:g} s of processor time in {name}"
            )
        if run.returncode != 0:
            raise FlowFailed("tool_error", f"CIRCT must succeed in {name}, got {ending(run)}")
        return (self.folder / result).read_text("utf-8")


def ending(run: ToolRun) -> str:
    """Describe in one line how a worker ended: MLIR's own error, the signal, or the limit of output."""
    if run.limit is not None:
        return run.last_words()
    errors = [s.partition("error: ")[2] for s in run.stderr.splitlines() if "error: " in s]
    said = errors[0] if errors else ""
    if run.returncode is not None and run.returncode < 0:
        return f"a crash (signal {-run.returncode}){': ' if said else ''}{said}"[:400]
    kept = [s for s in run.stderr.splitlines() if s.strip() and not _STACK_FRAME.match(s)]
    return (said or (kept[-1].strip() if kept else "no message"))[:400]


def calyx_verilog(mlir: str, top: str, session: Session) -> str:
    """Lower SCF to Calyx, to a state machine, to SystemVerilog.

    Args:    mlir: of `StructuredWriter`.
    Returns: Verilog that the wheel exports.
    Raises:  FlowFailed: a stage failed.
    """
    calyx = session.stage("scf_to_calyx", mlir, [{"passes": _TO_CALYX.format(top=top)}])
    machine = session.stage("calyx_to_fsm", component_text(calyx), [{"passes": _TO_STATES}])
    steps = [
        # pipelined units get registers clocked by a bit, which is not valid until their clock is connected
        {"passes": "builtin.module(lower-calyx-to-hw)", "verify": False},
        {"clocks": True},
        {"passes": _TO_VERILOG},
    ]
    return session.stage("fsm_to_verilog", connect_clocks(machine), steps, verilog=True)


def handshake_verilog(mlir: str, session: Session) -> str:
    """Lower CF to Handshake, to SystemVerilog.

    Args:    mlir: of `BranchingWriter`.
    Returns: Verilog that the wheel exports.
    Raises:  FlowFailed: a stage failed.
    """
    handshake = session.stage("cf_to_handshake", mlir, [{"passes": _TO_HANDSHAKE}])
    steps = [{"passes": pipeline} for pipeline in _FROM_HANDSHAKE]
    text = memory_channels(handshake)
    return session.stage("handshake_to_verilog", text, steps, verilog=True)


FLOWS = ("calyx", "handshake")
DEFAULT_TIMING = MemoryTiming(read_delay_cycles=2, write_delay_cycles=2)


_VERSION = "b0db2f3f"
"""Raise it when this package gives other Verilog or another status for the same program."""


NEEDED = "need the extra circt, which has wheels for Python 3.11 and 3.13: pip install 'simfoundry[circt]'"
"""What a flow says without the wheel, after its name."""


class CirctError(ValueError):
    """Unknown option, or a design that cannot be simulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CirctResult:
    """Result of a flow.

    Attributes:
        status: ok, rejected (outside the accepted C, or not lowered), timeout or tool_error.
        reason: why the status is not ok.
        verilog: SystemVerilog of the design and the module around it; None unless ok.
        module: name of the module around it, which has the ports of the engine's own designs.
        interface: of the C function; None when it could not be read.
        timing: delays of the external memories of the module.
        mlir: input of the flow.
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
    """Tell whether the wheel is installed."""
    try:
        return bool(version("circt"))
    except PackageNotFoundError:
        return False


@cache
def tool_version() -> str:
    """Return the version of the wheel and of this package.

    Raises: ToolMissing: the wheel is not installed.
    """
    if not is_installed():
        raise ToolMissing(f"the flows of CIRCT {NEEDED}")
    return f"{version('circt')}+{_VERSION}"


def core_name(top: str) -> str:
    """Return the name of CIRCT's module: never a keyword of SystemVerilog, which CIRCT would rename."""
    return f"{top}_core"


def _ports(verilog: str, module: str) -> dict[str, Port]:
    ports = module_ports(verilog, module)
    if not ports:
        raise FlowFailed(TOOL_ERROR, f"CIRCT exported no module {module} with ports of plain types")
    return ports


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """One compilation and its results so far."""

    flow: str
    timing: MemoryTiming
    session: Session
    interface: Interface | None = None
    mlir: str | None = None

    def verilog(self, source: str, top: str, file: str) -> str:
        self.interface = interface_of(read_function(source, top=top, file=file))
        require_outputs(self.interface, file)
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

    Args:    source: C text; top: function; flow: one of `FLOWS`; folder: private to this call, created if
             absent; timeout_s: limit of each process in seconds; timing: of the external memories;
             file: name for messages.
    Returns: the design, or the status and reason for which there is none. Directives are ignored.
    Raises:  CirctError: no such flow. ToolMissing: the wheel is not installed.
    """
    if flow not in FLOWS:
        raise CirctError(f"unknown flow: {flow}; accepted: {', '.join(FLOWS)}")
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

    Args:    design: one whose status is ok; the rest as for `pipelines.rtl.simulation.simulate_design`.
    Returns: latency and outputs, or the status and reason of the step that failed.
    Raises:  CirctError: the design has no Verilog. ToolMissing, SimulatorError: see `simulate_design`.
    """
    if design.verilog is None or design.module is None or design.interface is None:
        raise CirctError(f"only a design with status ok can be simulated, got {design.status}")
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
