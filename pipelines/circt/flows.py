"""The two flows: which passes in which order, each stage in a process of its own."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.circt import calyx_text, handshake_text
from pipelines.tools import ToolRun, run_tool

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
    """Stages in one folder; adds up the time they take.

    Attributes:
        folder: where the requests and the answers of all stages stay.
        timeout_s: processor time of each stage.
    """

    folder: Path
    timeout_s: float
    wall_s: float = 0.0

    def stage(self, name: str, text: str, steps: Sequence[dict[str, Any]], *, verilog: bool = False) -> str:
        """Run passes on a module in a new process.

        Raises: FlowFailed: a pass failed, the process ended, or its time limit did.
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
    """How a worker ended: MLIR's own error, the signal, or the limit of output, in one line."""
    if run.limit is not None:
        return run.last_words()
    errors = [s.partition("error: ")[2] for s in run.stderr.splitlines() if "error: " in s]
    said = errors[0] if errors else ""
    if run.returncode is not None and run.returncode < 0:
        return f"a crash (signal {-run.returncode}){': ' if said else ''}{said}"[:400]
    kept = [s for s in run.stderr.splitlines() if s.strip() and not _STACK_FRAME.match(s)]
    return (said or (kept[-1].strip() if kept else "no message"))[:400]


def calyx_verilog(mlir: str, top: str, session: Session) -> str:
    """SCF to Calyx to a state machine to SystemVerilog.

    Args:    mlir: of `StructuredWriter`.
    Returns: what the wheel exports.
    Raises:  FlowFailed: a stage failed.
    """
    calyx = session.stage("scf_to_calyx", mlir, [{"passes": _TO_CALYX.format(top=top)}])
    machine = session.stage("calyx_to_fsm", calyx_text.component_text(calyx), [{"passes": _TO_STATES}])
    steps = [
        # pipelined units get registers clocked by a bit, which is not valid until their clock is connected
        {"passes": "builtin.module(lower-calyx-to-hw)", "verify": False},
        {"clocks": True},
        {"passes": _TO_VERILOG},
    ]
    return session.stage("fsm_to_verilog", calyx_text.connect_clocks(machine), steps, verilog=True)


def handshake_verilog(mlir: str, session: Session) -> str:
    """CF to Handshake to SystemVerilog.

    Args:    mlir: of `BranchingWriter`.
    Returns: what the wheel exports.
    Raises:  FlowFailed: a stage failed.
    """
    handshake = session.stage("cf_to_handshake", mlir, [{"passes": _TO_HANDSHAKE}])
    steps = [{"passes": pipeline} for pipeline in _FROM_HANDSHAKE]
    text = handshake_text.memory_channels(handshake)
    return session.stage("handshake_to_verilog", text, steps, verilog=True)
